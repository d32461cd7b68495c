"""The sentences of a promotion's pull request in both languages, with places to fill."""

from __future__ import annotations

from touchstone.render.words import Words

SAID: dict[str, tuple[str, str]] = {
    "head": (
        "{pack}: {runs} of {date} become the reference",
        "{pack}: {runs} vom {date} werden die Referenz",
    ),
    "head_one": (
        "{pack}: one run of {date} becomes the reference",
        "{pack}: ein Lauf vom {date} wird die Referenz",
    ),
    "first": ("the first one there is", "die erste überhaupt"),
    "replaces": ("in place of that of {date}", "anstelle der vom {date}"),
    "measured": (
        (
            "Measured: pack {pack}, version {version}, {prompts}; models: {models}; variants: {variants}; "
            "{judge}."
        ),
        (
            "Gemessen: Pack {pack}, Version {version}, {prompts}; Modelle: {models}; Varianten: {variants}; "
            "{judge}."
        ),
    ),
    "against": ("Against the reference it replaces: {status}", "Gegen die ersetzte Referenz: {status}"),
    "reason": ("Reason: {reason}", "Grund: {reason}"),
    "known": ("To be known first", "Vorab zu wissen"),
    "known_diffs": ("To be known first, in full", "Vorab zu wissen, im Wortlaut"),
    "cells": ("Results, old → new", "Ergebnisse, alt → neu"),
    "old": ("Old", "Alt"),
    "new": ("New", "Neu"),
    "difference": ("Difference", "Unterschied"),
    "diffs": ("Texts that changed", "Geänderte Texte"),
    "rows": ("Rows that moved, worst first", "Bewegte Zeilen, schlechteste zuerst"),
    "moved_by": ("Moved by", "Bewegt durch"),
    "runs": ("The runs, and why this one", "Die Läufe, und warum dieser"),
    "run": ("Run", "Lauf"),
    "middle": ("In the middle", "In der Mitte"),
    "total": ("Total", "Gesamt"),
    "tokens": ("Tokens", "Tokens"),
    "calls": ("Calls", "Aufrufe"),
    "by_votes": (
        "{run} is shown: most often in the middle.",
        "Gezeigt wird {run}: am häufigsten in der Mitte.",
    ),
    "by_tokens": (
        "{run} is shown: tied in the middle, fewest tokens.",
        "Gezeigt wird {run}: gleich oft in der Mitte, die wenigsten Tokens.",
    ),
    "by_calls": (
        "{run} is shown: tied in the middle, fewest calls.",
        "Gezeigt wird {run}: gleich oft in der Mitte, die wenigsten Aufrufe.",
    ),
    "by_age": (
        "{run} is shown: tied in the middle and in cost, the oldest.",
        "Gezeigt wird {run}: gleich oft in der Mitte und gleich teuer, der älteste.",
    ),
    "all_same": ("All {n} rows are the same in every run.", "Alle {n} Zeilen sind in jedem Lauf gleich."),
    "all_kept": (
        "The verdicts of every run are kept and tested against.",
        "Die Urteile aller Läufe sind aufbewahrt, und gegen alle wird geprüft.",
    ),
    "single": ("A single run: its noise is unknown.", "Ein einziger Lauf: sein Rauschen ist unbekannt."),
    "outlier": (
        "⚠ Its total is not the middle one of the totals.",
        "⚠ Sein Gesamtwert ist nicht der mittlere der Gesamtwerte.",
    ),
    "same_launch": (
        "⚠ At least two runs come from one launch of the engine.",
        "⚠ Mindestens zwei Läufe stammen aus einem Start der Engine.",
    ),
    "replaced": ("Difference to the replaced reference", "Unterschied zur ersetzten Referenz"),
    "field": ("Field", "Feld"),
    "no_ruler": (
        "Not comparable with the replaced reference; these differ:",
        "Nicht vergleichbar mit der ersetzten Referenz; es unterscheiden sich:",
    ),
    "answers": ("Both answers of the moved rows", "Beide Antworten der bewegten Zeilen"),
    "more": ("… and {n} more, in the file.", "… und {n} weitere, in der Datei."),
    "cut": ("… cut here; the file has all of it.", "… hier gekürzt; die Datei hat alles."),
    "left_out": (
        "Left out for length: {names}. The file has it all.",
        "Der Länge wegen ausgelassen: {names}. Die Datei hat alles.",
    ),
    "foot": (
        "A merge makes these answers the ones every later change is held against. The exact prompt: {show}",
        (
            "Ein Merge macht diese Antworten zu denen, an denen jede spätere Änderung gemessen wird. "
            "Der genaue Prompt: {show}"
        ),
    ),
}


class Said:
    """The sentences in one language."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def __call__(self, key: str, **values: object) -> str:
        """A sentence with its places filled."""
        return SAID[key][self.words.language == "de"].format(**values)
