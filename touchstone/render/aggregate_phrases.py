"""The sentences of an aggregate in both languages."""

from __future__ import annotations

from touchstone.render.words import Words

AGGREGATE: dict[str, tuple[str, str]] = {
    "title": ("Runs side by side", "Läufe nebeneinander"),
    "column": ("J{n}", "J{n}"),
    "score_of": ("J{n}: score", "J{n}: Wert"),
    "safety_of": ("J{n}: safety", "J{n}: Sicherheit"),
    "decoding": ("Tokens/s", "Tokens/s"),
    "first_token": ("First token", "Erstes Token"),
    "answer_tokens": ("Answer tokens", "Antwort-Tokens"),
    "machine": ("Machine", "Maschine"),
    "not_measured": ("not measured", "nicht gemessen"),
    "runs_between": ("{runs}, {low} to {high}", "{runs}, {low} bis {high}"),
    "scored_of": ("{scored} of {runs} scored", "{scored} von {runs} mit Wert"),
    "judged_of": ("{judged}/{planned} judged", "{judged}/{planned} bewertet"),
    "another_judge": ("different judge, not comparable", "anderer Judge, nicht vergleichbar"),
    "another_instrument": ("another instrument, not comparable", "anderes Instrument, nicht vergleichbar"),
    "other_cases": ("other cases, not comparable", "andere Fälle, nicht vergleichbar"),
    "beside_first": ("beside J1: {why}", "gegenüber J1: {why}"),
    "order": (
        (
            "Rows stand in the order of their names. Scores compare within one column; scores of different "
            "judges or packs are neither added up nor ranked."
        ),
        (
            "Zeilen stehen in der Reihenfolge ihrer Namen. Werte sind innerhalb einer Spalte vergleichbar; "
            "Werte verschiedener Judges oder Packs werden weder verrechnet noch gereiht."
        ),
    ),
    "speed": (
        "Times and lengths are medians; those of different systems stand side by side and without a verdict.",
        "Zeiten und Längen sind Mediane; die verschiedener Systeme stehen nebeneinander und ohne Urteil.",
    ),
    "rules_differ": (
        "The runs drew their lines differently (thresholds, knock-out rule): safety is each run's own.",
        "Die Läufe zogen ihre Linien verschieden (Schwellen, K.-o.-Regel): Sicherheit gilt je Lauf.",
    ),
    "agreement": ("The judges on the same answers", "Die Judges über dieselben Antworten"),
    "nothing_shared": (
        "J{first} and J{second}: no answer that both have scored",
        "J{first} und J{second}: keine Antwort, die beide bewertet haben",
    ),
    "difference": (
        "J{second} − J{first}: {points} points on average, {rows}",
        "J{second} − J{first}: im Mittel {points} Punkte, {rows}",
    ),
    "answer": ("1 answer", "1 Antwort"),
    "answers": ("{n} answers", "{n} Antworten"),
    "ko": (
        "knock-out: agreed on {agreed} of {of} (both {both}, only J{first} {one}, only J{second} {other})",
        "K.-o.: einig bei {agreed} von {of} (beide {both}, nur J{first} {one}, nur J{second} {other})",
    ),
    "ko_unknown": (
        "knock-out: nothing both could say",
        "K.-o.: nichts, wozu beide etwas sagen konnten",
    ),
}  # fmt: skip


def aggregate_phrase(words: Words, key: str, **values: object) -> str:
    """A sentence in the reader's language, its places filled."""
    return AGGREGATE[key][words.language == "de"].format(**values)
