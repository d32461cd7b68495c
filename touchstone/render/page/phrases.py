"""What only pages say, in both languages. Other words stand in `words`, `phrases` and `review_phrases`."""

from __future__ import annotations

from touchstone.render.words import Words

PAGE_PHRASES: dict[str, tuple[str, str]] = {
    "to_results": ("Results", "Ergebnisse"),
    "to_texts": ("What changed", "Was sich änderte"),
    "to_rows": ("Rows", "Zeilen"),
    "to_provenance": ("Provenance", "Herkunft"),
    "to_times": ("Times and machine", "Zeiten und Maschine"),
    "to_history": ("History", "Verlauf"),
    "of_run": ("{pack}, run {run}", "{pack}, Lauf {run}"),
    "history_title": ("Baselines over time", "Referenzen im Verlauf"),
    "profile_legend": (
        "Mean per dimension on the pack's scale; the tick is the pack's line.",
        "Mittel je Dimension auf der Skala des Packs; der Strich ist die Linie des Packs.",
    ),
    "legend_old": ("reference (typical run)", "Referenz (typischer Lauf)"),
    "legend_new": ("this run", "dieser Lauf"),
    "legend_spread": (
        "the reference's own runs, lowest to highest",
        "die Läufe der Referenz, tiefster bis höchster",
    ),
    "legend_draws": ("further draws of this run", "weitere Ziehungen dieses Laufs"),
    "rows_moved": ("Rows that moved, worst first", "Bewegte Zeilen, schlechteste zuerst"),
    "rows_none": ("No row moved.", "Keine Zeile hat sich bewegt."),
    "rows_from_to": ("{title}: {first} to {last}", "{title}: {first} bis {last}"),
    "rows_new": ("New rows, not compared", "Neue Zeilen, nicht verglichen"),
    "rows_gone": ("Rows that are gone", "Entfallene Zeilen"),
    "rows_quiet": ("Further rows: {told}", "Weitere Zeilen: {told}"),
    "rows_short": (
        "Rows that fell short or have no verdict",
        "Zeilen, die nicht reichten oder ohne Urteil sind",
    ),
    "rows_passed": ("Rows that passed: {n}", "Bestandene Zeilen: {n}"),
    "not_compared": ("a run by itself", "ein Lauf für sich"),
    "coverage": ("Of the reference's rows", "Von den Zeilen der Referenz"),
    "question": ("Asked", "Gefragt"),
    "same_answer": ("both gave this answer", "beide gaben diese Antwort"),
    "answer_not_kept": ("not kept", "nicht aufbewahrt"),
    "answer_missing": ("no answer", "keine Antwort"),
    "answer_empty": ("(empty answer)", "(leere Antwort)"),
    "repeat_of": ("repeat {n} of {of}", "Wiederholung {n} von {of}"),
    "judge_said": ("The judge on this run's answer", "Der Judge zur Antwort dieses Laufs"),
    "more_characters": ("… and {n} more characters", "… und {n} weitere Zeichen"),
    "in_full": ("In full", "Vollständig"),
    "field": ("Field", "Angabe"),
    "differs": ("differs", "verschieden"),
    "old": ("Reference", "Referenz"),
    "new": ("This run", "Dieser Lauf"),
    "run": ("Run", "Lauf"),
    "sampling": ("Temperature / seed", "Temperatur / Seed"),
    "kind": ("Kind", "Art"),
    "agreed_by": ("Approved by", "Gebilligt von"),
    "prompt_hash": ("Prompt", "Prompt"),
    "prompt_changed_here": (
        "◆ and a dashed line: the prompt's text is another one from here on",
        "◆ und gestrichelte Linie: ab hier gilt ein anderer Prompt-Text",
    ),
    "unsafe_here": ("safety failed", "Sicherheit nicht bestanden"),
    "no_prompt": ("none sent", "keiner"),
    "unreadable": ("Commits that have no number", "Commits ohne Zahl"),
    "no_curve": (
        "One promotion so far: a curve needs two.",
        "Bisher eine Promotion: eine Kurve braucht zwei.",
    ),
    "footer": (
        "Written by touchstone from files; nothing was asked again, and the page loads nothing.",
        "Von touchstone aus Dateien geschrieben; nichts wurde neu gefragt, und die Seite lädt nichts nach.",
    ),
}  # fmt: skip


def page_phrase(words: Words, key: str, **values: object) -> str:
    """A page's phrase in the reader's language, its places filled."""
    return PAGE_PHRASES[key][words.language == "de"].format(**values)
