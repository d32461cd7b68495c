"""Packs, baselines and runs, a line each."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.gate.inventory import BaselineEntry, Inventory, RunEntry, Score
from touchstone.render import numbers
from touchstone.render.phrases import counted, phrase
from touchstone.render.plain import one_line, visible
from touchstone.render.words import Language, Words

RUNS_SHOWN_MAX = 20


def inventory_text(inventory: Inventory, language: Language = "en", runs_max: int | None = None) -> str:
    """Packs, then baselines, then the newest runs, newest last."""
    shown = inventory.runs[-(runs_max or RUNS_SHOWN_MAX) :]
    words = Words(language)
    lines = [
        f"{pack.id} {pack.version}  {counted(words, 'prompts', pack.prompts)}  {one_line(pack.title, 50)}"
        f"  ({pack.file})"
        for pack in inventory.packs
    ]
    lines += [_baseline(baseline, words) for baseline in inventory.baselines]
    older = len(inventory.runs) - len(shown)
    if older:
        lines.append(phrase(words, "older_runs", runs=counted(words, "older_runs", older)))
    lines += [_run(run, words) for run in shown]
    return "".join(visible(line) + "\n" for line in lines)


def _baseline(baseline: BaselineEntry, words: Words) -> str:
    if baseline.fault is not None:
        return f"{baseline.file}  {phrase(words, 'unusable', fault=one_line(baseline.fault))}"
    runs = counted(words, "runs", baseline.runs or 0)
    return f"{baseline.file}  {baseline.date}  {runs}  {_scores(baseline.cells, words)}"


def _run(run: RunEntry, words: Words) -> str:
    if run.fault is not None:
        return f"{run.id}  {phrase(words, 'unusable', fault=one_line(run.fault))}"
    parts = [run.id, phrase(words, "draw", n=run.draw)]
    if run.filter is not None:
        parts.append(one_line(run.filter, 40))
    if run.shard is not None:
        parts.append(phrase(words, "shard", shard=run.shard))
    parts.append(_scores(run.cells, words) if run.judged else phrase(words, "not_judged_yet"))
    return "  ".join(parts)


def _scores(cells: Sequence[Score], words: Words) -> str:
    return ", ".join(f"{cell.model} · {cell.variant} {numbers.percent(cell.pct, words)}" for cell in cells)
