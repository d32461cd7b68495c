"""The words a reader sees, in both languages. Files keep canonical values whatever is shown.

A word stands here once; a renderer asks for it by key. Missing values have one form each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from touchstone.result.schema import SafetyReason

Language = Literal["en", "de"]

WORDS: dict[str, tuple[str, str]] = {
    # states and statuses
    "worse": ("worse", "schlechter"),
    "better": ("better", "besser"),
    "unchanged": ("unchanged", "unverändert"),
    "within_noise": ("within noise", "im Rauschen"),
    "suspect": ("suspect, not confirmed", "verdächtig, nicht bestätigt"),
    "rule_changed": ("rule changed", "Regel geändert"),
    "new": ("new", "neu"),
    "gone": ("gone", "entfallen"),
    "not_judged": ("could not be judged", "nicht beurteilbar"),
    "not_comparable": ("not comparable", "nicht vergleichbar"),
    "no_reference": ("no reference yet", "noch keine Referenz"),
    "promotion": ("promotion", "Promotion"),
    "refused": ("refused", "verweigert"),
    "pass": ("pass", "bestanden"),
    "fail": ("fail", "nicht bestanden"),
    "error": ("error", "Fehler"),
    "unscored": ("unscored", "nicht bewertet"),
    "empty": ("empty", "leer"),
    "reasoning_only": ("reasoning only", "nur Denktext"),
    "truncated": ("truncated", "abgeschnitten"),
    "ok": ("ok", "ok"),
    # rubric levels; the canonical values are German
    "hoch": ("high", "hoch"),
    "solide": ("solid", "solide"),
    "teilweise": ("partial", "teilweise"),
    "ungenügend": ("insufficient", "ungenügend"),
    # headings and labels
    "na": ("n/a", "n. v."),
    "model": ("Model", "Modell"),
    "judge": ("Judge", "Judge"),
    "judge_not_recorded": ("Judge: not recorded", "Judge: nicht erfasst"),
    "judge_not_needed": ("Judge: none, checks only", "Judge: keiner, nur Checks"),
    "provenance": ("Provenance", "Herkunft"),
    "chip": ("Chip", "Chip"),
    "ram": ("RAM", "RAM"),
    "os": ("OS", "Betriebssystem"),
    "engine": ("Engine", "Engine"),
    "runtime": ("Runtime", "Laufzeit"),
    "quant": ("Quant", "Quant"),
    "pack": ("Pack", "Pack"),
    "date": ("Date", "Datum"),
    "commit": ("Commit", "Commit"),
    "concurrency": ("Concurrency", "Parallelität"),
    "clean": ("clean", "sauber"),
    "dirty": ("with uncommitted changes", "mit uncommitteten Änderungen"),
    "clean_unknown": ("cleanliness unknown", "Sauberkeit unbekannt"),
    "cells": ("Results", "Ergebnisse"),
    "variant": ("Variant", "Variante"),
    "level": ("Rubric level", "Rubrik-Stufe"),
    "score": ("Score", "Wert"),
    "safety": ("Safety", "Sicherheit"),
    "judged": ("Judged", "Bewertet"),
    "checks": ("Checks", "Checks"),
    "answer_tokens": ("Answer tokens (median)", "Antwort-Tokens (Median)"),
    "answer_length": ("Answer length (median)", "Antwortlänge (Median)"),
    "characters": ("characters", "Zeichen"),
    "below_line": ("Below the line", "Unter der Linie"),
    "labels": ("Labels", "Labels"),
    "dimensions": ("Dimensions", "Dimensionen"),
    "dimension": ("Dimension", "Dimension"),
    "categories": ("Categories", "Kategorien"),
    "category": ("Category", "Kategorie"),
    "honesty": ("What this can see", "Was das sehen kann"),
    "the_run": ("The run", "Der Lauf"),
    "rows": ("Rows, worst first", "Zeilen, schlechteste zuerst"),
    "prompt": ("Prompt", "Prompt"),
    "state": ("State", "Zustand"),
    "what_failed": ("What fell short", "Was nicht reichte"),
    "answer": ("Answer", "Antwort"),
    "not_assessed": ("not assessed", "nicht beurteilt"),
    "all_rows_pass": ("every row passes", "alle Zeilen bestanden"),
    "speed": ("Timing", "Zeiten"),
    "machine": ("Machine meanwhile", "Maschine währenddessen"),
    "ttft_p50": ("First token (median)", "Erstes Token (Median)"),
    "ttft_p95": ("First token (p95)", "Erstes Token (p95)"),
    "decode_med": ("Decoding, tokens/s (median)", "Dekodieren, Tokens/s (Median)"),
    "e2e_med": ("Whole answer (median)", "Ganze Antwort (Median)"),
    "throughput": ("Throughput, tokens/s", "Durchsatz, Tokens/s"),
    "cold_ttft": ("Cold start, first token", "Kaltstart, erstes Token"),
    "cached_share": ("Prompt from cache", "Prompt aus dem Cache"),
    "left_out": ("Left out", "Ausgelassen"),
    "peak_ram": ("System memory, peak", "Systemspeicher, Spitze"),
    "model_delta": ("Above the first reading", "Über der ersten Messung"),
    "pressure": ("Memory pressure", "Speicherdruck"),
    "thermal": ("Thermal level", "Thermik"),
    "power": ("Power", "Strom"),
    "timing_left_out": (
        (
            "{cell}: {left_out} of {answered} answers are left out of the timing medians "
            "({cold} cold start{seen}{unseen})."
        ),
        (
            "{cell}: {left_out} von {answered} Antworten fehlen in den Zeit-Medianen "
            "({cold} Kaltstart{seen}{unseen})."
        ),
    ),
    "timing_seen": (", {unfit} while the machine {what}", ", {unfit}, während die Maschine {what}"),
    "timing_unseen": ("; n/a whether the machine {what}", "; n. v., ob die Maschine {what}"),
    "throttled": ("throttled", "drosselte"),
    "on_battery": ("ran on battery", "auf Akku lief"),
    "slept": ("slept", "schlief"),
    "or": ("or", "oder"),
    # the choice of the typical run
    "row": ("row", "Zeile"),
    "run": ("run", "Lauf"),
    "in_the_middle": ("in the middle", "in der Mitte"),
    "total": ("total", "gesamt"),
    "tokens": ("tokens", "Tokens"),
    "calls": ("calls", "Aufrufe"),
    "ttft_left_out": (
        (
            "{cell}: the first token of {left_out} more does not count, because a tenth or more of the "
            "prompt came from the engine's cache, or the engine does not tell."
        ),
        (
            "{cell}: das erste Token von {left_out} weiteren zählt nicht, weil ein Zehntel des Prompts "
            "oder mehr aus dem Cache der Engine kam, oder weil sie es nicht sagt."
        ),
    ),
    "speed_one_system": ("speed", "Tempo"),
    "speed_two_systems": (
        "speed of two systems, side by side and without a verdict",
        "Tempo zweier Systeme, nebeneinander und ohne Urteil",
    ),
    "speed_not_comparable": ("speed not comparable", "Tempo nicht vergleichbar"),
    "not_known": ("not known", "nicht bekannt"),
    "first_token": ("first token", "erstes Token"),
    "decoding": ("decoding", "Dekodieren"),
    "tokens_per_s": ("tokens/s", "Tokens/s"),
    "timing_overlaps": (
        "{concurrency} requests were in flight at once, so no answer has a time of its own.",
        "{concurrency} Anfragen liefen gleichzeitig, deshalb hat keine Antwort eine eigene Zeit.",
    ),
    "answered": ("{answered} of {planned} answered", "{answered} von {planned} beantwortet"),
    "not_judged_yet": ("not judged yet", "noch nicht bewertet"),
    "incomplete": (
        "This run is not complete: {answered} of {planned} answered.",
        "Dieser Lauf ist nicht vollständig: {answered} von {planned} beantwortet.",
    ),
    "incomplete_judged": (
        "This run is not complete: {judged} of {planned} judged.",
        "Dieser Lauf ist nicht vollständig: {judged} von {planned} bewertet.",
    ),
    "rebuilt": (
        "This run has no result.json; every number here was computed anew from its lines.",
        "Dieser Lauf hat keine result.json; jede Zahl hier ist neu aus seinen Zeilen berechnet.",
    ),
    "length_pair": ("{model}, beside »{variant}«", "{model}, gegenüber »{variant}«"),
    "by_characters": (
        "measured in characters, because tokens were not counted",
        "gemessen in Zeichen, weil Tokens nicht gezählt wurden",
    ),
    "length_confound": (
        (
            "⚠ possible length confound: the higher-scored variant »{variant}« is {percent} % longer; "
            "LLM judges are known to favour length"
        ),
        (
            "⚠ Längen-Confound möglich: höher bewertete Variante »{variant}« ist {percent} % länger; "
            "LLM-Judges haben bekannten Längen-Bias"
        ),
    ),
    "judged_again": (
        "Stored answers, judged again: to be compared, never promoted.",
        "Gespeicherte Antworten, neu bewertet: zum Vergleichen, nie zum Promoten.",
    ),
    "verdicts_reused": (
        "Verdicts reused from another run: {count}. To be compared, never promoted.",
        "Aus einem anderen Lauf übernommene Urteile: {count}. Zum Vergleichen, nie zum Promoten.",
    ),
    "judge_moved": (
        "Today's judge on the stored answers",
        "Der heutige Judge über die gespeicherten Antworten",
    ),
    "set_up_not_model": (
        "reasoning only: the set-up, not the model, left no visible answer",
        "nur Denktext: die Einrichtung, nicht das Modell, ließ keine sichtbare Antwort",
    ),
}

_NOUNS = frozenset({"prompt", "safety"})
"""Headings that are nouns in German too and are used within a line."""

_SAFETY: dict[str, tuple[str, str]] = {
    "curated_red_flag": ("red flag on {ids} (curated)", "Red-Flag bei {ids} (kuratiert)"),
    "red_flag": (
        "red flag at {ids} (judge's safety mark)",
        "Red-Flag bei {ids} (Judge-Sicherheitsmarkierung)",
    ),
    "floor": ("{0} ≤ {1}", "{0} ≤ {1}"),
    "floor_answer": ("{0} ≤ {1} at {rest}", "{0} ≤ {1} bei {rest}"),
    "unscored_critical": ("not assessed: {ids} unscored", "nicht beurteilt: {ids} nicht bewertet"),
    "unscored_answers": ("not assessed: {0} of {1} unscored", "nicht beurteilt: {0} von {1} nicht bewertet"),
    "unscored_floor": ("not assessed: {0} unscored", "nicht beurteilt: {0} nicht bewertet"),
    "no_gate": ("no safety gate", "keine Sicherheitsprüfung"),
}


class Words:
    """The vocabulary of one language."""

    def __init__(self, language: Language = "en") -> None:
        self.language = language
        self._index = 1 if language == "de" else 0

    def __getitem__(self, key: str) -> str:
        return WORDS[key][self._index]

    def inline(self, key: str) -> str:
        """The word within a line: English begins small, a German noun keeps its capital."""
        word = self[key]
        return word if self.language == "de" and key in _NOUNS else word[:1].lower() + word[1:]

    def filled(self, key: str, **values: object) -> str:
        """A sentence with its places filled."""
        return self[key].format(**values)

    def either(self, keys: Sequence[str]) -> str:
        """Some words as a choice: `a`, `a or b`, `a, b or c`."""
        *first, last = [self[key] for key in keys]
        return f"{', '.join(first)} {self['or']} {last}" if first else last

    def safety_reason(self, reason: SafetyReason) -> str:
        """A safety reason in words, e.g. `red flag at C4 (judge's safety mark)` or `Q6 ≤ 2`."""
        template = _SAFETY[reason.code][self._index]
        return template.format(*reason.ids, ids=", ".join(reason.ids), rest=", ".join(reason.ids[2:]))
