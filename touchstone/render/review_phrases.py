"""The sentences of a pull request's comment, summary and annotations, in both languages."""

from __future__ import annotations

from touchstone.render.words import Words

REVIEW: dict[str, tuple[str, str]] = {
    "packs": ("{n} packs", "{n} Packs"),
    "no_packs": ("No pack is left: nothing was checked", "Kein Pack ist übrig: Nichts wurde geprüft"),
    "earlier": (
        "⚠ An earlier attempt at this commit said: {status}. A new attempt does not undo it.",
        "⚠ Ein früherer Versuch mit diesem Commit sagte: {status}. Ein neuer Versuch hebt das nicht auf.",
    ),
    "left_out": (
        "Left out here for length: {parts}. All of it is in {where}.",
        "Hier aus Platzgründen ausgelassen: {parts}. Alles steht in {where}.",
    ),
    "the_summary": ("the step summary", "der Schritt-Zusammenfassung"),
    "the_run": ("the run's folder (comparison.json)", "dem Ordner des Laufs (comparison.json)"),
    "kind_status": ("status lines: {n}", "Statuszeilen: {n}"),
    "kind_head": ("references: {n}", "Referenzen: {n}"),
    "kind_cells": ("result tables: {n}", "Ergebnistabellen: {n}"),
    "kind_diff": ("text diffs: {n}", "Textdiffs: {n}"),
    "kind_rows": ("row tables: {n}", "Zeilentabellen: {n}"),
    "kind_notes": ("notes: {n}", "Hinweise: {n}"),
    "kind_answers": ("pairs of answers: {n}", "Antwortpaare: {n}"),
    "kind_commands": ("commands: {n}", "Befehle: {n}"),
    "more": ("… and {n} more", "… und {n} weitere"),
    "more_characters": ("… and {n} more characters", "… und {n} weitere Zeichen"),
    "model_variant": ("Model · variant", "Modell · Variante"),
    "old_new": ("Score, old → new", "Wert, alt → neu"),
    "difference": ("Difference", "Abstand"),
    "same_answers": ("Same answers", "Gleiche Antworten"),
    "length": ("Answer length", "Antwortlänge"),
    "classes": ("Classes right", "Klassen richtig"),
    "moved": ("What moved", "Was sich bewegt hat"),
    "prompt_changed": ("Prompt of variant {id}, old → new", "Prompt der Variante {id}, alt → neu"),
    "input_changed": ("Question {id}, old → new", "Frage {id}, alt → neu"),
    "rubric_changed": ("Rubric of {id}, old → new", "Bewertungsregeln von {id}, alt → neu"),
    "not_comparable": ("Not comparable, because these differ:", "Nicht vergleichbar, weil dies abweicht:"),
    "else_moved": ("What else moved:", "Was sich noch bewegt hat:"),
    "against_own": (
        "Against the baseline in this pull request: {status}",
        "Gegen die Referenz in diesem Pull Request: {status}",
    ),
    "commands": ("Reproduce this, or accept it", "Nachstellen oder annehmen"),
    "to_reproduce": ("the same check", "dieselbe Prüfung"),
    "to_promote": ("make it the reference", "zur Referenz machen"),
    "the_typical": ("the one select names", "der von select genannte"),
    "why_accepted": ("why this is accepted", "warum das angenommen wird"),
    "head": ("head {sha}", "Head {sha}"),
    "run": ("run {id}", "Lauf {id}"),
    "attempt": ("attempt {n}", "Versuch {n}"),
    "tenant": ("tenant {name}", "Mandant {name}"),
    "target": ("target {name}", "Ziel {name}"),
    "gone_ids": ("gone: {ids}", "entfallen: {ids}"),
    "new_ids": ("new: {ids}", "neu: {ids}"),
    "title": ("touchstone: {pack}", "touchstone: {pack}"),
    "unnamed": (
        "{n} more findings are in the step summary",
        "{n} weitere Befunde stehen in der Schritt-Zusammenfassung",
    ),
}


def review_phrase(words: Words, key: str, **values: object) -> str:
    """A sentence in the reader's language, its places filled."""
    return REVIEW[key][words.language == "de"].format(**values)


def more(left: int, words: Words, key: str = "more") -> list[str]:
    """How many more there are than are shown; nothing where all are."""
    return [review_phrase(words, key, n=left)] if left > 0 else []
