"""A baseline verifies itself: its parts fit together, and everything derived is what it is derived from.

This guards against accident and against a number edited by hand. Who edits every number that hangs on
it, digest included, is caught by review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from touchstone.baseline.differences import first_difference
from touchstone.baseline.kept import RowKey, counting, draws_of, rubric_lines, suite_of, variant_text
from touchstone.baseline.schema import Baseline, KeptCase, KeptCell, KeptVariant, KeptVerdict
from touchstone.errors import BadInputError
from touchstone.files import canonical, digest_of, sha256_of
from touchstone.pack.digest import hashes_of
from touchstone.pack.suite import Suite
from touchstone.records import AnyRecord
from touchstone.result.labels import label_report
from touchstone.result.rows import CellKey, rows_by_cell
from touchstone.result.schema import Row
from touchstone.result.scorecard import cell_counts, cell_quality
from touchstone.result.timing import length_medians

_SHOWN_CHARS = 80


def content_digest(value: Mapping[str, Any]) -> str:
    """The digest over a baseline's JSON value, its own digest left out."""
    return digest_of({key: item for key, item in value.items() if key != "digest"})


def hand_edit_hint(source: str) -> str:
    """What to do about a baseline that was edited; `source` is a file, or REF:PATH."""
    rule = "A baseline is made by `touchstone promote`, never by hand."
    if ":" in source:
        return f"{rule} Undo the commit that changed it; or remove the file, commit that, and promote anew."
    return f"{rule} Restore it: git checkout -- {source} (committed like that: undo that commit)"


def check(baseline: Baseline, source: str) -> None:
    """Raise BadInputError naming the first thing that does not fit or is not what it is derived from."""
    hint = hand_edit_hint(source)
    suite = suite_of(baseline, source)
    for problem in _misfits(baseline, suite):
        raise BadInputError(f"{source}: {problem}", hint)
    for place, kept, derived in _derived(baseline, suite):
        difference = None if kept == derived else first_difference(_plain(kept), _plain(derived), place)
        if difference is not None:
            where, says, recomputed = difference
            raise BadInputError(
                f"{source}: {where}: file says {_shown(says)}, recomputed {_shown(recomputed)}", hint
            )


def _misfits(baseline: Baseline, suite: Suite) -> Iterator[str]:
    yield from _run_misfits(baseline)
    keys = [(kept.model, kept.variant, kept.prompt) for kept in baseline.verdicts]
    yield from _cell_misfits(baseline, suite)
    yield from _key_misfits("verdicts", keys, _due_keys(baseline))
    yield from _key_misfits("answer_hashes", [_key(kept) for kept in baseline.answer_hashes], keys)
    if baseline.answers is not None:
        yield from _key_misfits("answers", [_key(kept) for kept in baseline.answers], keys)
    for number, kept in enumerate(baseline.verdicts):
        place = f"verdicts[{number}]"
        yield from _length_misfits(kept, len(baseline.runs), place)
        yield from _content_misfits(kept, suite, place)
    yield from _answer_misfits(baseline)


def _run_misfits(baseline: Baseline) -> Iterator[str]:
    marked = sum(run.typical for run in baseline.runs)
    if marked != 1:
        yield f"runs: {marked} runs are marked as the typical one, it must be 1"
    if len(baseline.runs) % 2 == 0:
        yield f"runs: {len(baseline.runs)} runs; the number must be odd"
    if len({run.id for run in baseline.runs}) != len(baseline.runs):
        yield "runs: one run stands there twice"


def _cell_misfits(baseline: Baseline, suite: Suite) -> Iterator[str]:
    cells = [(cell.model, cell.variant) for cell in baseline.cells]
    if len(set(cells)) != len(cells):
        yield "cells: one cell stands there twice"
    models = dict.fromkeys(cell.model for cell in baseline.cells)
    if set(cells) != {(model, variant) for model in models for variant in suite.variants}:
        yield "cells: not every model has every variant, or one that is not in `variants`"


def _due_keys(baseline: Baseline) -> list[RowKey]:
    return [(cell.model, cell.variant, prompt) for cell in baseline.cells for prompt in baseline.cases]


def _key_misfits(field: str, found: Sequence[RowKey], due: Sequence[RowKey]) -> Iterator[str]:
    have, wanted = Counter(found), Counter(due)
    for key in wanted - have:
        yield f"{field}: no line for {' · '.join(key)}"
    for key in have - wanted:
        yield f"{field}: one line too many for {' · '.join(key)}"


def _length_misfits(kept: KeptVerdict, runs: int, place: str) -> Iterator[str]:
    for field in ("state", "pct"):
        yield from _length_misfit(getattr(kept, field), runs, f"{place}.{field}", f"{runs} runs")
    due, words = runs * kept.repeats, f"{runs} runs × {kept.repeats} repeats"
    for field in ("flags", "labels", "status", "chars", "prompt_tokens", "completion_tokens"):
        yield from _length_misfit(getattr(kept, field), due, f"{place}.{field}", words)
    for field in ("scores", "checks"):
        for name, values in getattr(kept, field).items():
            yield from _length_misfit(values, due, f"{place}.{field}.{name}", words)


def _length_misfit(values: Sequence[object], due: int, place: str, words: str) -> Iterator[str]:
    if len(values) != due:
        yield f"{place}: {len(values)} values for {words}"


def _content_misfits(kept: KeptVerdict, suite: Suite, place: str) -> Iterator[str]:
    rubric = suite.cases[kept.prompt].rubric
    if kept.repeats != rubric.repeats:
        yield f"{place}.repeats: {kept.repeats}, but the prompt is asked {rubric.repeats} times"
    if set(kept.scores) != set(rubric.dimensions):
        yield f"{place}.scores: not the dimensions this prompt is asked for ({', '.join(rubric.dimensions)})"
    if set(kept.checks) != set(counting(suite, kept.prompt)):
        yield f"{place}.checks: not the checks of this prompt"
    if "error" in kept.status:
        yield f"{place}.status: an error is not a state to keep"
    yield from _value_misfits(kept, suite, place)


def _value_misfits(kept: KeptVerdict, suite: Suite, place: str) -> Iterator[str]:
    for dimension, scores in kept.scores.items():
        for number, score in enumerate(scores):
            if score not in suite.instrument.scale:
                yield f"{place}.scores.{dimension}[{number}]: {score} is not on the scale"
    for id_, values in kept.checks.items():
        for number, value in enumerate(values):
            if value is not None and not 0 <= value <= 1:
                yield f"{place}.checks.{id_}[{number}]: {value} is not between 0 and 1"


def _answer_misfits(baseline: Baseline) -> Iterator[str]:
    repeats = {_key(kept): kept.repeats for kept in baseline.verdicts}
    hashes = {_key(kept): kept.sha256 for kept in baseline.answer_hashes}
    for number, kept in enumerate(baseline.answer_hashes):
        due = len(baseline.runs) * repeats[_key(kept)]
        yield from _length_misfit(kept.sha256, due, f"answer_hashes[{number}].sha256", f"{due} answers")
    typical = next(number for number, run in enumerate(baseline.runs) if run.typical)
    for number, texts in enumerate(baseline.answers or ()):
        key, start = _key(texts), typical * repeats[_key(texts)]
        due_hashes = hashes[key][start : start + repeats[key]]
        for place, (text, due_hash) in enumerate(zip(texts.texts, due_hashes, strict=False)):
            if sha256_of(text) != due_hash:
                yield f"answers[{number}].texts[{place}]: not the answer whose hash is kept"
        yield from _length_misfit(
            texts.texts, repeats[key], f"answers[{number}].texts", f"{repeats[key]} repeats"
        )


def _key(kept: Any) -> RowKey:
    return (kept.model, kept.variant, kept.prompt)


def _derived(baseline: Baseline, suite: Suite) -> Iterator[tuple[str, object, object]]:
    """(place, as kept, computed anew from what it is derived from), in the order of the file."""
    run = next(run for run in baseline.runs if run.typical)
    yield "date", baseline.date, run.day
    yield "git", baseline.git, baseline.git.model_copy(update={"commit": run.commit, "clean": run.clean})
    yield "hashes", baseline.hashes, hashes_of(suite)
    for id_, variant in baseline.variants.items():
        yield f"variants.{id_}", variant, _derived_variant(variant)
    for prompt, case in baseline.cases.items():
        yield f"cases.{prompt}", case, _derived_case(case, suite, prompt)
    yield from _derived_from_rows(baseline, suite)


def _derived_from_rows(baseline: Baseline, suite: Suite) -> Iterator[tuple[str, object, object]]:
    states: list[list[str | None]] = []
    pcts: list[list[float | None]] = []
    cells: Mapping[CellKey, Sequence[Row]] = {}
    for run, rows in zip(baseline.runs, draws_of(baseline, suite), strict=True):
        states.append([row.state for row in rows])
        pcts.append([row.pct for row in rows])
        if run.typical:
            cells = rows_by_cell(rows)
    for number, cell in enumerate(baseline.cells):
        yield f"cells[{number}]", cell, _derived_cell(cell, cells[cell.model, cell.variant], suite)
    for number, kept in enumerate(baseline.verdicts):
        yield f"verdicts[{number}].state", kept.state, [run[number] for run in states]
        yield f"verdicts[{number}].pct", kept.pct, [run[number] for run in pcts]


def _plain(value: object) -> object:
    return canonical(value.to_json() if isinstance(value, AnyRecord) else value)


def _derived_cell(cell: KeptCell, rows: Sequence[Row], suite: Suite) -> KeptCell:
    tokens, chars = length_medians(rows)
    return cell.model_copy(
        update={
            "quality": cell_quality(rows, suite),
            "labels": label_report(rows, suite),
            "counts": cell_counts(rows),
            "answer_tokens_med": tokens,
            "answer_chars_med": chars,
        }
    )


def _derived_variant(kept: KeptVariant) -> KeptVariant:
    text = variant_text(kept).text
    return kept.model_copy(update={"sha256": None if text is None else sha256_of(text)})


def _derived_case(kept: KeptCase, suite: Suite, prompt: str) -> KeptCase:
    case = suite.cases[prompt]
    return kept.replaced(
        label=case.rubric.label,
        input_sha256=sha256_of(case.input),
        rubric_sha256=digest_of(case.rubric.to_json()),
        rubric=rubric_lines(case.rubric),
    )


def _shown(value: Any) -> str:
    text = f"{value!r}" if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
