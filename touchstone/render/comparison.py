"""A comparison as a person reads it on the terminal: plain text, about 80 columns, no colours.

The order is that of every renderer: status, reference, gone and new, what else moved, cells, the prompt's
diff, rows worst first, notes, what the suite can see, the next command. Nothing is decided here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from touchstone.baseline.comparability import MACHINE_FIELDS
from touchstone.baseline.comparison import (
    ComparedCell,
    ComparedRow,
    Comparison,
    Honesty,
    Moved,
    ReferenceInfo,
    Suspicion,
    TextDiff,
)
from touchstone.render import numbers
from touchstone.render.columns import side_by_side, wrapped_line
from touchstone.render.comings import COMINGS, comings
from touchstone.render.note_lines import note_lines, open_lines
from touchstone.render.phrases import counted, phrase
from touchstone.render.plain import one_line, visible
from touchstone.render.reasons import verdict_reason
from touchstone.render.rejudged import judge_moved_lines
from touchstone.render.sentences import reason_words
from touchstone.render.speed import speed_lines
from touchstone.render.words import Language, Words

ROWS_SHOWN_MAX = 12
DIFF_LINES_MAX = 40
ANSWERS_SHOWN_MAX = 3
ANSWER_LINES_MAX = 8
COLUMN = 37
REASON_WIDTH = 200
DAYS_PER_MONTH = 30.44
FULL_SPAN = 100.0
"""Points; no score can fall further."""

Answers = Mapping[tuple[str, str, str], tuple[Sequence[str], Sequence[str]]]
"""Row key → the reference's and the run's answers, one per repeat."""

_CHECK_MOVE = re.compile(r"(.+) (pass|fail|error) → (pass|fail|error)")
_LINE_MOVE = re.compile(r"(\S+) line (\S+) → (\S+)")

ROW_ORDER = (
    "worse", "not_judged", "suspect", "rule_changed", "better", "new", "gone", "within_noise", "unchanged",
)  # fmt: skip
_QUIET = frozenset({"unchanged", "within_noise"})
SAFETY_MARKS = {True: "✓", False: "✗", None: "–"}


def comparison_text(comparison: Comparison, language: Language = "en", answers: Answers | None = None) -> str:
    """The whole text; `answers` puts old and new side by side under the worst rows whose answer changed."""
    words = Words(language)
    rows = moved_rows(comparison)
    sections = [
        [
            status_line(comparison, words),
            *safety_warnings(comparison, words),
            *_head_lines(comparison, words),
            *_named_lines(comparison, words),
        ],
        _moved_lines(comparison, words),
        [line for cell in comparison.cells for line in _cell(cell, words)],
        judge_moved_lines(comparison.judge_moved, words),
        speed_lines(comparison.speed, words),
        [line for diff in comparison.diffs for line in _diff(diff, words)],
        _row_lines(comparison, rows, words),
        _answer_lines(rows, answers or {}, words, several=_has_several_models(comparison)),
        [
            visible(phrase(words, "note", sentence=told))
            for told in note_lines(comparison, words, variants=True)
        ],
        honesty_lines(comparison, words),
        _next_lines(comparison, rows, words),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def status_line(comparison: Comparison, words: Words) -> str:
    """The verdict, why, and how many rows it rests on; a warning sign where safety is in doubt."""
    told = _counted_states(comparison, words)
    warned = "⚠ " if safety_warnings(comparison, words) else ""
    if comparison.status == "promotion":
        told += _accepted(comparison, words)
        head = f"{warned}{comparison.pack}: {words['promotion'].upper()}"
        return head + (f": {', '.join(told)}" if told else "")
    state = "rule_changed" if comparison.reason == "judge_moved" else comparison.status
    why = reason_words(comparison, words)
    if why and "judge_not_ruled_out" in comparison.notes:
        why = f"{why}; {phrase(words, 'not_ruled_out')}"
    head = words[state].upper() + (f" ({why})" if why else "")
    return f"{warned}{comparison.pack}: {head}" + (f" · {', '.join(told)}" if told else "")


def _counted_states(comparison: Comparison, words: Words) -> list[str]:
    states = ("worse", "better", "suspect", "rule_changed", "new", "gone", "not_judged")
    numbers_of = {state: getattr(comparison.counts, state) for state in states}
    return [f"{number} {words[state]}" for state, number in numbers_of.items() if number]


def _accepted(comparison: Comparison, words: Words) -> list[str]:
    """What a promotion accepts, and why; nothing where it accepts nothing."""
    if comparison.accepted is None:
        return []
    told = phrase(words, "accepted", reason=one_line(comparison.accepted, REASON_WIDTH))
    return [told] if comparison.counts.worse else [words["worse"], told]


def safety_warnings(comparison: Comparison, words: Words) -> list[str]:
    """A line for every red flag and every fall to the threshold that nothing confirmed or cleared."""
    lines = (_safety_warning(suspicion, words) for suspicion in comparison.suspicions)
    return list(dict.fromkeys(line for line in lines if line))


def moved_rows(comparison: Comparison) -> list[ComparedRow]:
    """Rows worth a look, worst first: their state says so, a score moved, or an engine that repeats itself
    said something else."""
    repeats = {(cell.model, cell.variant) for cell in comparison.cells if cell.deterministic}

    def is_told(row: ComparedRow) -> bool:
        other = row.same_answer is False and (row.model, row.variant) in repeats
        return row.state not in _QUIET | {"new", "gone"} or bool(row.moved_by) or other

    return sorted(filter(is_told, comparison.rows), key=lambda row: (ROW_ORDER.index(row.state), _fall(row)))


def _safety_warning(suspicion: Suspicion, words: Words) -> str | None:
    if suspicion.rule == "floor":
        return visible(phrase(words, "at_floor", dimension=suspicion.detail))
    if suspicion.rule != "flag":
        return None
    hits, _, of = suspicion.detail.partition("/")
    key = "once_of" if hits == "1" else "times_of"
    told = phrase(words, key, hits=hits, judgements=counted(words, "judgements", of))
    return visible(phrase(words, "flagged", of=told, prompt=suspicion.prompt or words["na"]))


def reference_lines(comparison: Comparison, words: Words) -> list[str]:
    """What was held against what; nothing where there is no reference."""
    if comparison.reference is None:
        return []
    candidate = comparison.candidate
    parts = [candidate.run, phrase(words, "commit", commit=_short(candidate.commit, words))]
    if candidate.clean is not True:
        parts.append(words["clean_unknown" if candidate.clean is None else "dirty"])
    parts.append(counted(words, "draws", candidate.draws))
    return [_reference(comparison.reference, words), phrase(words, "candidate", parts=", ".join(parts))]


def _reference(reference: ReferenceInfo, words: Words) -> str:
    parts = [
        reference.day or words["na"],
        phrase(words, "commit", commit=_short(reference.commit, words)),
        counted(words, "runs", reference.runs),
    ]
    if reference.approved_by:
        parts.append(phrase(words, "approved_by", author=one_line(reference.approved_by, 40)))
    if reference.age_days is not None:
        parts.append(phrase(words, "age", age=_age(reference.age_days, words)))
    return phrase(words, "reference", parts=", ".join(parts), file=one_line(reference.file))


def _short(commit: str | None, words: Words) -> str:
    return words["na"] if commit is None else commit[:12]


def _age(days: int, words: Words) -> str:
    """In months, once there are two."""
    months = math.floor(days / DAYS_PER_MONTH)
    return counted(words, "days", days) if months < 2 else counted(words, "months", months)


def _head_lines(comparison: Comparison, words: Words) -> list[str]:
    """What was held against what; the first of them says which other model or engine answered."""
    if comparison.reference is None:
        return []
    first, *rest = reference_lines(comparison, words)
    told = [_moved(moved, words) for moved in comparison.moved if _is_of_the_model(moved)]
    if "prompt_cut" in comparison.notes:
        told.append(phrase(words, "prompt_cut"))
    return [" · ".join([first, *told]), *rest]


def _is_of_the_model(moved: Moved) -> bool:
    return moved.kind == "provenance" and moved.field not in MACHINE_FIELDS


# What moved


def _moved_lines(comparison: Comparison, words: Words) -> list[str]:
    lines = []
    if comparison.not_comparable:
        lines.append(f"{words['not_comparable']}:")
        lines += [f"  {_moved(moved, words)}" for moved in comparison.not_comparable]
    others = [
        moved
        for moved in comparison.moved
        if moved.kind not in {"prompt", "case"} and not _is_of_the_model(moved)
    ]
    if others:
        lines.append(phrase(words, "what_moved"))
        lines += [f"  {_moved(moved, words)} [{phrase(words, f'kind_{moved.kind}')}]" for moved in others]
    return lines


def _moved(moved: Moved, words: Words) -> str:
    return f"{visible(moved.field)}: {value_words(moved.old, words)} → {value_words(moved.new, words)}"


def value_words(value: object, words: Words) -> str:
    """One of the values of a field that moved."""
    if value is None:
        return phrase(words, "not_set")
    return one_line(f"{value:g}" if isinstance(value, float) else str(value), 60)


# Cells


def _cell(cell: ComparedCell, words: Words) -> list[str]:
    scores = f"{numbers.percent(cell.old, words)} → {numbers.percent(cell.new, words)}"
    told = "  ".join(filter(None, [scores, difference_words(cell, words), words[cell.state]]))
    head = f"{cell.model} · {cell.variant}: {told}"
    head += f" ({over_words(cell, words)})" if cell.over else ""
    return [visible(head), "  " + " · ".join(_facts(cell, words))]


def over_words(cell: ComparedCell, words: Words) -> str:
    """Over which rows the two numbers are, where the reference's own is another; else empty."""
    return phrase(words, "over", n=cell.over) if cell.over is not None else ""


def length_words(cell: ComparedCell, words: Words, first: int = 0) -> str:
    """Median answer length, old → new, in characters where tokens were not counted."""
    told = from_to([numbers.number(value, words) for value in cell.length][first:])
    return f"{told} {words['characters']}" if cell.length_unit == "characters" else told


def difference_words(cell: ComparedCell, words: Words) -> str:
    """How far a cell moved and how far it could have; empty where that is not known."""
    if cell.difference is None:
        return ""
    told = phrase(words, "points", points=numbers.points(cell.difference, words))
    if cell.interval is None:
        return told
    low, high = cell.interval
    if high - low > FULL_SPAN:
        return f"{told}, {phrase(words, 'no_telling', cases=counted(words, 'of_cases', cell.shared))}"
    ends = {"low": numbers.points(low, words), "high": numbers.points(high, words)}
    told = f"{told}, {phrase(words, 'could_be', **ends)}"
    # The interval is of 90 %; a verdict wants more, and says so where the two seem to disagree.
    unsure = cell.state == "within_noise" and not low <= 0 <= high
    return f"{told}, {phrase(words, 'too_unsure')}" if unsure else told


def _facts(cell: ComparedCell, words: Words) -> list[str]:
    compared = cell.state != "new"
    facts = []
    if compared:
        facts.append(
            phrase(words, "identical", identical=cell.identical, rows=counted(words, "rows", cell.shared))
        )
    if compared and cell.coverage < 1:
        facts.append(phrase(words, "coverage", percent=numbers.percent(100 * cell.coverage, words)))
    if cell.level[1] is not None:
        facts.append(from_to([words[level] if level else words["na"] for level in cell.level]))
    if cell.safety != (None, None):
        facts.append(f"{words.inline('safety')} {from_to([SAFETY_MARKS[mark] for mark in cell.safety])}")
    below = [numbers.number(count, words) for count in (cell.old_below, cell.new_below)]
    facts.append(f"{words.inline('below_line')} {from_to(below if compared else below[1:])}")
    if cell.new_labels is not None:
        old = cell.old_labels or words["na"]
        facts.append(phrase(words, "classes_right", old=old, new=cell.new_labels))
    if None not in cell.length:
        heading = words["answer_tokens" if cell.length_unit == "tokens" else "answer_length"]
        facts.append(f"{heading} {length_words(cell, words)}")
    return facts


def from_to(values: Sequence[str]) -> str:
    """Old → new, or the one value both are."""
    return " → ".join(values if len(set(values)) > 1 else values[:1])


# Texts that changed


def _diff(diff: TextDiff, words: Words) -> list[str]:
    shown = [f"  {visible(line)}" for line in diff.lines[:DIFF_LINES_MAX]]
    if len(diff.lines) > DIFF_LINES_MAX:
        shown.append("  " + _more_lines(len(diff.lines) - DIFF_LINES_MAX, words))
    return [visible(phrase(words, f"diff_{diff.kind}", id=diff.id)), *shown]


# Rows


def _row_lines(comparison: Comparison, rows: Sequence[ComparedRow], words: Words) -> list[str]:
    if not rows:
        return []
    several = _has_several_models(comparison)
    lines = [f"  {_row(row, words, several=several)}" for row in rows[:ROWS_SHOWN_MAX]]
    if len(rows) > ROWS_SHOWN_MAX:
        left = phrase(words, "more_rows", n=len(rows) - ROWS_SHOWN_MAX, file="comparison.json")
        lines.append(f"  {left}")
    return [phrase(words, "rows_moved"), *lines]


def _fall(row: ComparedRow) -> float:
    return 0.0 if row.old is None or row.new is None else row.new - row.old


def _row(row: ComparedRow, words: Words, *, several: bool) -> str:
    scores = f"{numbers.percent(row.old, words)} → {numbers.percent(row.new, words)}"
    by = f"  [{moves_words(row, words)}]" if row.moved_by else ""
    by += f"  {phrase(words, 'prompt_cut')}" if row.reason == "prompt_cut" else ""
    return visible(f"{_name(row, several=several)}: {scores}  {state_words(row, words)}{by}")


def state_words(row: ComparedRow, words: Words) -> str:
    """A row's state, why there is none, and what it rests on where that is more than one draw."""
    state = words[row.state]
    if row.state == "not_judged":
        why = verdict_reason(row.reason, words) if row.reason else words["not_judged_yet"]
        state += f": {one_line(why, REASON_WIDTH)}"
    if row.confirmed:
        state += f", {phrase(words, 'confirmed')}"
    if row.draws > 1:
        state += f" {phrase(words, 'drawn', draws=row.draws)}"
    return state


def moves_words(row: ComparedRow, words: Words) -> str:
    """The dimensions and checks that moved in a row."""
    return ", ".join(_move(move, words) for move in row.moved_by)


def _move(move: str, words: Words) -> str:
    """What is ours of a move in the reader's language; a class is the pack's word and stays."""
    if move.startswith("label "):
        return move
    if move == "truncated":
        return words["truncated"]
    if move.startswith("red_flag"):
        return phrase(words, "red_flag" if move == "red_flag" else "red_flag_gone")
    if found := _CHECK_MOVE.fullmatch(move):
        return f"{found[1]} {words[found[2]]} → {words[found[3]]}"
    if found := _LINE_MOVE.fullmatch(move):
        return phrase(words, "line_moved", id=found[1], old=found[2], new=found[3])
    return move


def _has_several_models(comparison: Comparison) -> bool:
    return len({row.model for row in comparison.rows}) > 1


def _name(row: ComparedRow, *, several: bool) -> str:
    return f"{row.prompt} · {row.variant}" + (f" · {row.model}" if several else "")


def _answer_lines(rows: Iterable[ComparedRow], answers: Answers, words: Words, *, several: bool) -> list[str]:
    lines: list[str] = []
    shown = 0
    for row in rows:
        old, new = answers.get((row.model, row.variant, row.prompt), ((), ()))
        if row.same_answer is not False or not old or not new or shown == ANSWERS_SHOWN_MAX:
            continue
        shown += 1
        lines.append(visible(phrase(words, "both_answers", row=_name(row, several=several))))
        lines.append(side_by_side(phrase(words, "old_answer"), phrase(words, "new_answer"), COLUMN))
        lines += [side_by_side(*pair, COLUMN) for pair in _columns(first_change(old, new), words)]
    return lines


def first_change(old: Sequence[str], new: Sequence[str]) -> tuple[str, str]:
    """The first repeat whose answers differ."""
    pairs = list(zip(old, new, strict=False))
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def _columns(pair: tuple[str, str], words: Words) -> list[tuple[str, str]]:
    old, new = pair
    lines = list(zip_longest(_wrapped(old), _wrapped(new), fillvalue=""))
    if len(lines) <= ANSWER_LINES_MAX:
        return lines
    return [*lines[:ANSWER_LINES_MAX], (_more_lines(len(lines) - ANSWER_LINES_MAX, words), "")]


def _more_lines(number: int, words: Words) -> str:
    return phrase(words, "more_lines", lines=counted(words, "more_lines", number))


def _wrapped(text: str) -> list[str]:
    lines = visible(text).expandtabs(4).split("\n")
    return [part for line in lines for part in wrapped_line(line, COLUMN)]


def _named_lines(comparison: Comparison, words: Words) -> list[str]:
    named = {words[state]: comings(comparison, state, words) for state in COMINGS}
    return [f"{state}: {', '.join(names)}" for state, names in named.items() if names]


# What it can see, and what to do now


def honesty_lines(comparison: Comparison, words: Words) -> list[str]:
    """How small a drop this suite can see, on one line."""
    honesty = comparison.honesty
    if honesty is None:
        return []
    parts = [counted(words, "cases", honesty.cases), counted(words, "baseline_runs", honesty.baseline_runs)]
    if honesty.noise_per_case is None:
        parts.append(phrase(words, "noise_unknown"))
    else:
        parts.append(phrase(words, "noise", points=numbers.number(honesty.noise_per_case, words, 1)))
    if honesty.suite_drop is not None and honesty.suite_drop > FULL_SPAN:
        parts.append(phrase(words, "no_drop"))
    elif honesty.suite_drop is not None:
        points = numbers.number(honesty.suite_drop, words, 1)
        parts.append(phrase(words, "suite_drop", points=points, cases=_in_cases(comparison, honesty, words)))
    if honesty.case_drop is not None:
        parts.append(phrase(words, "case_drop", points=numbers.number(honesty.case_drop, words)))
    if honesty.cases_for_3_points is not None:
        needed = counted(words, "cases", honesty.cases_for_3_points)
        parts.append(phrase(words, "cases_needed", cases=needed))
    if honesty.trials:
        parts.append(phrase(words, "trials", worse=honesty.trials_worse, trials=honesty.trials))
    return [phrase(words, "can_see", parts=" · ".join(parts))]


def _in_cases(comparison: Comparison, honesty: Honesty, words: Words) -> str:
    """Points of a labelled pack mean so many cases."""
    if honesty.suite_drop is None or not any(cell.new_labels for cell in comparison.cells):
        return ""
    cases = min(honesty.cases, math.ceil(honesty.suite_drop * honesty.cases / 100))
    return phrase(words, "in_cases", n=cases, cases=counted(words, "of_cases", honesty.cases))


def _next_lines(comparison: Comparison, rows: Sequence[ComparedRow], words: Words) -> list[str]:
    """What a person would type now."""
    run, reference = one_line(comparison.candidate.run), comparison.reference
    if comparison.status == "no_reference":
        first = phrase(words, "first_reference", pack=comparison.pack)
        return [first, phrase(words, "then_promote")]
    if comparison.status == "not_judged":
        return [visible(line) for line in open_lines(comparison, words)]
    if _judge_differs(comparison) and reference and not comparison.judge_moved:
        return [phrase(words, "see_judge", file=one_line(reference.file))]
    worst = next((row for row in rows if row.state in {"worse", "suspect", "not_judged"}), None)
    changed = next((row for row in rows if row.same_answer is False), None)
    if (told := worst or changed) is not None and comparison.status != "better":
        return [visible(phrase(words, "read_both", run=run, prompt=told.prompt))]
    if _may_be_kept(comparison) or comparison.counts.rule_changed or comparison.counts.new:
        return [phrase(words, "keep", pack=comparison.pack)]
    return []


def _may_be_kept(comparison: Comparison) -> bool:
    return comparison.status == "better" and comparison.reason != "judge_alone"


def _judge_differs(comparison: Comparison) -> bool:
    """It is another one, or gave the same answers other scores."""
    other = any(moved.field.startswith("judge") for moved in comparison.not_comparable)
    return other or comparison.reason == "judge_alone"
