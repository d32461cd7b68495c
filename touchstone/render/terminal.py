"""What a person reads on the terminal: a comparison, a result, a selection. Plain text, 80 columns.

Nothing is coloured here and nothing is decided: the comparison says what is worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from touchstone.baseline.comparison import ComparedCell, ComparedRow, Comparison, Moved, TextDiff
from touchstone.render import numbers
from touchstone.render.plain import one_line, visible
from touchstone.render.rejudged import judge_moved_lines
from touchstone.render.report import (
    counts_line,
    judge_words,
    length_notices,
    level_and_score,
    provenance,
    safety_mark,
)
from touchstone.render.sentences import note_sentence, reason_words
from touchstone.render.speed import speed_lines
from touchstone.render.timing import left_out_sentence
from touchstone.render.words import Language, Words
from touchstone.result.schema import ResultDoc

ROWS_SHOWN_MAX = 12
DIFF_LINES_MAX = 40

_ROW_ORDER = (
    "worse", "not_judged", "suspect", "rule_changed", "better", "new", "gone", "within_noise", "unchanged",
)  # fmt: skip
_QUIET = frozenset({"unchanged", "within_noise"})


def comparison_text(comparison: Comparison, language: Language = "en") -> str:
    """Status line, reference, what moved, cells old → new, speed, prompt diff, rows worst first, honesty."""
    words = Words(language)
    sections = [
        [status_line(comparison, words), *_reference_lines(comparison, words)],
        _moved_lines(comparison, words),
        _cell_lines(comparison, words),
        judge_moved_lines(comparison.judge_moved, words),
        speed_lines(comparison.speed, words),
        _diff_lines(comparison.diffs),
        _row_lines(comparison, words),
        _named_lines(comparison, words),
        [f"note: {note_sentence(note, words)}" for note in comparison.notes],
        _honesty_lines(comparison, words),
        _next_lines(comparison),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def status_line(comparison: Comparison, words: Words) -> str:
    """The verdict, why, and how many rows it rests on."""
    counts = comparison.counts
    told = [
        f"{getattr(counts, state)} {words[state]}"
        for state in ("worse", "better", "suspect", "rule_changed", "new", "gone", "not_judged")
        if getattr(counts, state)
    ]
    why = reason_words(comparison, words)
    head = words[comparison.status].upper() + (f" ({why})" if why else "")
    return f"{comparison.pack}: {head}" + (f" · {', '.join(told)}" if told else "")


def result_text(result: ResultDoc, language: Language = "en") -> str:
    """A run's result in a few lines."""
    words = Words(language)
    known = dict(provenance(result, words))
    models = ", ".join(dict.fromkeys(cell.model for cell in result.cells))
    lines = [
        counts_line(result, words).replace("**", ""),
        f"{words['model']}: {models} · {judge_words(result, words)}",
        " · ".join(f"{words[key]} {known[words[key]]}" for key in ("engine", "quant", "chip")),
    ]
    width = max(len(f"{cell.model} · {cell.variant}") for cell in result.cells)
    for cell in result.cells:
        parts = [level_and_score(cell, words)]
        if cell.quality and cell.quality.checks.of:
            parts.append(f"{words['checks'].lower()} {numbers.tally(cell.quality.checks)}")
        if cell.quality and cell.quality.safety_passed is not None:
            parts.append(f"{words['safety'].lower()} {safety_mark(cell, words)}")
        if cell.labels:
            parts.append(numbers.labels(cell.labels, words))
        parts.append(f"{cell.counts.below_line} {words['below_line'].lower()}")
        lines.append(f"  {f'{cell.model} · {cell.variant}':<{width}}  {' · '.join(parts)}")
    lines += length_notices(result, words)
    lines += _unfit_sentences(result, words)
    return "\n".join(visible(line) for line in lines) + "\n"


def _unfit_sentences(result: ResultDoc, words: Words) -> list[str]:
    """Cells of which the machine spoiled times; a cold start alone is nothing to tell."""
    told = [
        left_out_sentence(cell, f"{cell.model} · {cell.variant}", words)
        for cell in result.cells
        if cell.perf.unfit
    ]
    return [sentence for sentence in told if sentence]


def _reference_lines(comparison: Comparison, words: Words) -> list[str]:
    reference = comparison.reference
    if reference is None:
        return []
    parts = [reference.day or words["na"], (reference.commit or words["na"])[:12], f"{reference.runs} runs"]
    if reference.approved_by:
        parts.append(f"approved by {one_line(reference.approved_by, 40)}")
    if reference.age_days is not None:
        parts.append(f"age {_age(reference.age_days)}")
    return [f"reference: {', '.join(parts)} ({one_line(reference.file)})"]


def _age(days: int) -> str:
    months = days // 30
    return f"{days} days" if months < 2 else f"{months} months"


def _moved_lines(comparison: Comparison, words: Words) -> list[str]:
    lines = []
    if comparison.not_comparable:
        lines.append(f"{words['not_comparable']}:")
        lines += [f"  {_moved(moved)}" for moved in comparison.not_comparable]
    others = [moved for moved in comparison.moved if moved.kind not in {"prompt", "case"}]
    if others:
        lines.append("what else moved:")
        lines += [f"  {_moved(moved)} [{moved.kind}]" for moved in others]
    return lines


def _moved(moved: Moved) -> str:
    return f"{moved.field}: {_shown_value(moved.old)} → {_shown_value(moved.new)}"


def _shown_value(value: object) -> str:
    if value is None:
        return "not set"
    return one_line(f"{value:g}" if isinstance(value, float) else str(value), 60)


def _cell_lines(comparison: Comparison, words: Words) -> list[str]:
    return [line for cell in comparison.cells for line in _cell(cell, words)]


def _cell(cell: ComparedCell, words: Words) -> list[str]:
    difference = "" if cell.difference is None else f"  {numbers.points(cell.difference, words)} points"
    interval = ""
    if cell.interval is not None:
        low, high = (numbers.points(value, words) for value in cell.interval)
        interval = f", could be {low} to {high}"
    head = (
        f"{cell.model} · {cell.variant}: {numbers.percent(cell.old, words)} → "
        f"{numbers.percent(cell.new, words)}{difference}{interval}  {words[cell.state]}"
    )
    facts = []
    if cell.state != "new":
        facts.append(f"identical answers in {cell.identical} of {cell.shared} rows")
    facts.append(f"{words['below_line'].lower()} {_from_to(cell.old_below, cell)}{cell.new_below}")
    if cell.safety != (None, None):
        marks = [{True: "✓", False: "✗", None: "–"}[value] for value in cell.safety]
        facts.append(f"{words['safety'].lower()} {' → '.join(marks)}")
    if cell.new_labels is not None:
        facts.append(f"{cell.old_labels or words['na']} → {cell.new_labels}")
    if None not in cell.length:
        lengths = " → ".join(numbers.number(value, words) for value in cell.length)
        facts.append(f"{words['answer_tokens'].lower()} {lengths}")
    return [visible(head), "  " + " · ".join(facts)]


def _from_to(old: int, cell: ComparedCell) -> str:
    return "" if cell.state == "new" else f"{old} → "


def _diff_lines(diffs: Sequence[TextDiff]) -> list[str]:
    return [line for diff in diffs for line in _diff(diff)]


def _diff(diff: TextDiff) -> list[str]:
    lines = [f"{diff.kind} {diff.id}:"] + [f"  {visible(line)}" for line in diff.lines[:DIFF_LINES_MAX]]
    if len(diff.lines) > DIFF_LINES_MAX:
        lines.append(f"  … and {len(diff.lines) - DIFF_LINES_MAX} more lines")
    return lines


def _moved_rows(comparison: Comparison) -> list[ComparedRow]:
    """Rows worth a look, worst first."""
    return sorted(
        (row for row in comparison.rows if row.state not in _QUIET | {"new", "gone"} or row.moved_by),
        key=lambda row: (_ROW_ORDER.index(row.state), _fall(row)),
    )


def _row_lines(comparison: Comparison, words: Words) -> list[str]:
    moved = _moved_rows(comparison)
    if not moved:
        return []
    lines = [_row(row, words) for row in moved[:ROWS_SHOWN_MAX]]
    if len(moved) > ROWS_SHOWN_MAX:
        lines.append(f"  … and {len(moved) - ROWS_SHOWN_MAX} more rows (--json has them all)")
    return ["rows that moved:", *lines]


def _fall(row: ComparedRow) -> float:
    return 0.0 if row.old is None or row.new is None else row.new - row.old


def _row(row: ComparedRow, words: Words) -> str:
    by = f"  [{', '.join(row.moved_by)}]" if row.moved_by else ""
    scores = f"{numbers.percent(row.old, words)} → {numbers.percent(row.new, words)}"
    return visible(f"  {row.prompt} · {row.variant}: {scores}  {words[row.state]}{by}")


def _named_lines(comparison: Comparison, words: Words) -> list[str]:
    lines = []
    for state in ("new", "gone"):
        ids = _unique(row.prompt for row in comparison.rows if row.state == state)
        if ids:
            lines.append(f"{words[state]}: {', '.join(ids)}")
    return lines


def _unique(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def _honesty_lines(comparison: Comparison, words: Words) -> list[str]:
    honesty = comparison.honesty
    if honesty is None:
        return []
    parts = [f"{honesty.cases} cases", f"{honesty.baseline_runs} baseline runs"]
    if honesty.noise_per_case is not None:
        parts.append(f"noise {numbers.number(honesty.noise_per_case, words, 1)} points per case")
    else:
        parts.append("noise per case unknown")
    if honesty.suite_drop is not None:
        parts.append(
            f"a suite drop of {numbers.number(honesty.suite_drop, words, 1)} points is found 4 times in 5"
        )
    if honesty.case_drop is not None:
        parts.append(f"a single case's of {numbers.number(honesty.case_drop, words)} points")
    if honesty.cases_for_3_points is not None:
        parts.append(f"{honesty.cases_for_3_points} cases would be needed to see 3 points")
    return ["what this suite can see: " + " · ".join(parts)]


def _next_lines(comparison: Comparison) -> list[str]:
    """What a person would type now."""
    pack = comparison.pack
    if comparison.status == "no_reference":
        return [
            f"Make the first reference: touchstone measure --pack {pack} --times 3",
            "then: touchstone select RUN RUN RUN, and promote the one it names.",
        ]
    worst = next(
        (row for row in _moved_rows(comparison) if row.state in {"worse", "suspect", "not_judged"}), None
    )
    if worst is not None:
        return [f"Read both answers: touchstone show {comparison.candidate.run} {worst.prompt}"]
    if _judge_differs(comparison) and comparison.reference and not comparison.judge_moved:
        return [f"See what the judge itself moved: touchstone rejudge {comparison.reference.file}"]
    if comparison.status == "better" or comparison.counts.rule_changed or comparison.counts.new:
        return [f"Keep this as the reference: touchstone measure --pack {pack} --times 3, select, promote"]
    return []


def _judge_differs(comparison: Comparison) -> bool:
    return any(moved.field.startswith("judge") for moved in comparison.not_comparable)
