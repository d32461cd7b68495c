"""Codes of a comparison as words. Every code of `touchstone.baseline.notes` and of an outcome stands here."""

from __future__ import annotations

from touchstone.baseline.comparison import Comparison
from touchstone.baseline.notes import NOTES
from touchstone.render.words import Words

REASONS: dict[str, tuple[str, str]] = {
    "suite": ("the whole suite moved", "die ganze Suite hat sich bewegt"),
    "judge_alone": (
        "only the judge moved: fresh verdicts on identical answers",
        "nur der Judge hat sich bewegt: neue Urteile über gleiche Antworten",
    ),
    "red_flag": ("a red flag", "eine Red-Flag"),
    "judge_reads_otherwise": (
        "the judge reads the same answer otherwise",
        "der Judge liest dieselbe Antwort anders",
    ),
    "red_flag_not_compared": ("a red flag on a new row", "eine Red-Flag in einer neuen Zeile"),
    "floor": ("the knock-out dimension", "die K.-o.-Dimension"),
    "check_flip": ("a check that always passed fails", "ein Check, der immer bestand, schlägt fehl"),
    "row_lower": ("a single row is lower", "eine einzelne Zeile ist niedriger"),
    "case_fell": ("a single case fell", "ein einzelner Fall ist gefallen"),
    "dimension_fell": ("a dimension fell beyond its tolerance", "eine Dimension fiel über ihre Toleranz"),
    "not_judged": ("too many rows without a verdict", "zu viele Zeilen ohne Urteil"),
    "critical_not_judged": (
        "a safety-critical row without a verdict",
        "eine sicherheitskritische Zeile ohne Urteil",
    ),
    "instrument": ("another instrument", "ein anderes Messinstrument"),
    "judge_moved": ("the judge moved", "der Judge hat sich bewegt"),
    "gone_safety": ("a safety-critical prompt is gone", "ein sicherheitskritischer Prompt ist entfallen"),
    "gone_model": (
        "a model is gone; one that only has another name now says so with was: in the settings",
        "ein Modell ist entfallen; eines, das nur anders heißt, sagt das mit was: in den Einstellungen",
    ),
    "gone_variant": ("a variant is gone", "eine Variante ist entfallen"),
    "changed_safety": (
        "a safety-critical prompt or its rules changed, so nothing tells how it stands",
        "ein sicherheitskritischer Prompt oder seine Regeln haben sich geändert, sein Stand ist unbekannt",
    ),
    "coverage": ("too little in common", "zu wenig gemeinsam"),
    "too_few_cases": ("too few cases to say more", "zu wenige Fälle für mehr"),
    "interval": ("", ""),
    "same_answers": ("identical answers", "identische Antworten"),
    "inside_margin": ("", ""),
    "no_reference": ("", ""),
    "own_baseline": (
        "it does not keep to the baseline it brings",
        "sie hält die Referenz nicht ein, die sie mitbringt",
    ),
    "unexplained": ("a promotion without a reason", "eine Promotion ohne Begründung"),
}

NOTES_DE: dict[str, str] = {
    "engine_repeats_itself": "diese Engine wiederholt sich; wie sehr kleine Änderungen sie bewegen, "
    "ist daran abgelesen, wie verschieden sich die Zeilen bewegt haben",
    "engine_moved": "die Antworten kommen von anderem Modell, anderer Quantisierung oder Engine, wo "
    "Beinahe-Gleichstände kippen; der Fehler ist um die Streuung der Zeilen erweitert",
    "machine_moved": "die Antworten kommen von einer anderen Maschine; Qualität wird verglichen, Tempo nicht",
    "rules_moved": "die Regeln haben sich bewegt; verglichen wird unter denen der Referenz",
    "one_baseline_run": "die Referenz ruht auf einem Lauf, ihr Rauschen ist unbekannt",
    "too_few_cases": "zu wenige Fälle, um einen kleinen Abfall zu sehen",
    "prompt_cut": "die Engine las mindestens ein Zehntel weniger Prompt-Tokens eines unveränderten Prompts: "
    "er wurde wohl gekürzt",
    "judge_not_ruled_out": "schlechter nach Punkten, und die aufbewahrten Antworten wurden nicht erneut "
    "bewertet: ein veränderter Judge ist nicht ausgeschlossen",
    "judge_moved": "der heutige Judge bewertet auch die aufbewahrten Antworten niedriger",
    "typical_differs": "der Abstand zum typischen Lauf ist nicht der zum Mittel aller Läufe",
    "longer_answers": "der Wert stieg und die Antworten sind mindestens ein Fünftel länger; LLM-Judges haben "
    "bekannten Längen-Bias",
    "longer_variant": "die Antworten der höher bewerteten Variante sind mindestens ein Fünftel länger; "
    "LLM-Judges haben bekannten Längen-Bias",
    "length_in_chars": "Länge in Zeichen, weil Tokens nicht gezählt wurden",
    "red_flag_unconfirmed": "eine Red-Flag wurde gesetzt und nicht bestätigt",
    "judge_reads_otherwise": "eine Antwort, die die Referenz ohne Red-Flag hat, hat nun eine: der Judge hat "
    "sich bewegt, nicht die Antwort; lies sie",
    "red_flag_not_compared": "eine Red-Flag an einem Prompt, zu dem die Referenz keine vergleichbare "
    "Zeile hat",
    "floor_unconfirmed": "die K.-o.-Dimension fiel auf ihre Schwelle, und das wurde nicht bestätigt",
    "safety_not_assessed": "die Sicherheit konnte nicht beurteilt werden, bei der Referenz konnte sie es",
    "rows_new": "Zeilen, die die Referenz nicht hat, sind genannt und nicht verglichen",
    "rows_gone": "Zeilen der Referenz fehlen im Lauf",
    "lower_one_draw": "Zeilen sind in ihrer einen Ziehung niedriger; lies beide Antworten",
    "lower_asked_again": "Zeilen sind niedriger, deren Punkte allein nichts belegen; lies beide Antworten",
    "check_reruns_too_many": "ein Check kippte, dessen Bestätigung mehr Ziehungen bräuchte, als sie wert ist",
    "fail_on_suspect": "die Referenz sagt fail_on: suspect, deshalb endet Verdächtiges mit Exit-Code 1",
    "narrowed": "nur ein Teil des Packs wurde gefragt, und nur der ist verglichen",
    "models_left_out": "nicht jedes eingestellte Modell wurde gefragt, und nur die gefragten sind verglichen",
    "over_budget": "nicht alles Verdächtige wurde noch einmal gemessen: max_calls oder max_minutes ließ es "
    "nicht zu",
}


def reason_words(comparison: Comparison, words: Words) -> str:
    """Why the status is what it is, in a few words; empty where the status says it all."""
    if comparison.reason not in REASONS:
        return comparison.reason.replace("_", " ")
    return REASONS[comparison.reason][1 if words.language == "de" else 0]


def note_sentence(code: str, words: Words) -> str:
    """A note as one sentence."""
    if words.language == "de":
        return NOTES_DE.get(code, code)
    return NOTES.get(code, code)
