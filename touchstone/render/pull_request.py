"""The text of a promotion's pull request: what a reviewer agrees to by merging it.

In this order: what was measured and how it stands to the reference it replaces, the reason, what should be
known first, cells old → new, the prompt's diff, rows that moved, the runs and why this one, provenance,
what else differs from the replaced reference, both answers of the moved rows. A merge may turn all of it
into a commit's message, where fences mean nothing; so inside them, too, nothing names a person, an issue or
an address. Over the budget the least important sections go, and are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from touchstone.baseline.comparison import ComparedRow, Comparison
from touchstone.baseline.promote import Note
from touchstone.baseline.schema import Baseline, KeptCell, KeptRun
from touchstone.render import numbers
from touchstone.render.budget import Lines, Part, fitted, size_of
from touchstone.render.comings import COMINGS, comings
from touchstone.render.comparison import (
    difference_words,
    moved_rows,
    moves_words,
    state_words,
    status_line,
    value_words,
)
from touchstone.render.markdown import block, code, escaped, folded, html_code, table
from touchstone.render.phrases import counted, phrase
from touchstone.render.plain import one_line
from touchstone.render.pull_request_phrases import Said
from touchstone.render.words import Language, Words
from touchstone.result.select import Selection

BUDGET = 60_000
"""Bytes a text may have; GitHub refuses one of more than 65,536 characters."""
CELLS_MAX = 40
ROWS_MAX = 50
FIELDS_MAX = 40
DIFF_LINES_MAX = 150
DIFF_WIDTH_MAX = 500
ANSWERS_MAX = 10
ANSWER_CHARS_MAX = 2_000
NAME_MAX = 80
REASON_MAX = 2_000

_GAP = "\u200b"
_ACTED_ON = re.compile(
    r"(?i)@(?=\w)|#(?=\d)|\bgh-(?=\d)|:(?=//)|-by(?=:)|\[(?=(?:skip|no|ci|actions)\b)|\bskip-checks(?=:)|"
    r"^\s*:(?=:)|##(?=\[)"
)
"""What is acted on in a commit's message or a log: mentions, closing words' numbers, addresses, trailers,
skips, a runner's commands."""

_Key = tuple[str, str, str]
_MARKS = {True: "✓", False: "✗", None: "–"}


@dataclass(frozen=True)
class Promotion:
    """What a promotion's text is made of. `comparison` is null where there is nothing to compare with."""

    baseline: Baseline
    replaces: Baseline | None
    comparison: Comparison | None
    notes: Sequence[Note]
    selection: Selection | None


def pull_request_markdown(promotion: Promotion, language: Language = "en", budget: int = BUDGET) -> str:
    """The whole text, within the budget in bytes."""
    said = Said(Words(language))
    baseline = promotion.baseline
    parts = [
        _part(0, "", [*_head(promotion, said), *_reason(baseline, said)]),
        *_notes(promotion.notes, said),
        _part(1, said("cells"), _cells(promotion, said)),
        _part(5, said("diffs"), _diffs(promotion.comparison, said)),
        _part(4, said("rows"), _rows(promotion.comparison, said)),
        _part(2, said("runs"), _runs(baseline, promotion.selection, said)),
        _part(3, said.words["provenance"], _provenance(baseline, said)),
        _part(2, said("replaced"), _replaced(promotion, said)),
        _part(7, said("answers"), _answers(promotion, said)),
    ]
    return _fitted([part for part in parts if part.versions[0]], _foot(baseline, said), budget, said)


def _part(rank: int, title: str, lines: Lines) -> Part:
    head = [f"## {title}", ""] if title and lines else []
    return Part(rank, title, [[*head, *map(_inert, lines)]])


def _fitted(parts: Sequence[Part], foot: Lines, budget: int, said: Said) -> str:
    every = said("left_out", names=", ".join(part.kind for part in parts))
    lines, left_out = fitted(parts, budget - size_of([every, "", *foot]))
    told = [said("left_out", names=", ".join(left_out)), ""] if left_out else []
    return "\n".join([*lines, *told, *foot]) + "\n"


def _head(promotion: Promotion, said: Said) -> Iterator[str]:
    baseline, replaces, comparison = promotion.baseline, promotion.replaces, promotion.comparison
    runs = counted(said.words, "runs", len(baseline.runs))
    head = said(
        "head_one" if len(baseline.runs) == 1 else "head",
        pack=_named(baseline),
        runs=runs,
        date=baseline.date,
    )
    of_old = said("first") if replaces is None else said("replaces", date=replaces.date)
    yield f"**{head}**, {of_old}."
    yield ""
    models = dict.fromkeys(cell.model for cell in baseline.cells)
    yield said(
        "measured",
        pack=code(baseline.pack.id),
        version=baseline.pack.version,
        prompts=counted(said.words, "cases", len(baseline.cases)),
        models=_listed(_model(model) for model in models),
        variants=_listed(code(variant) for variant in baseline.variants),
        judge=_judge(baseline, said),
    )
    if comparison is not None and replaces is not None:
        yield ""
        yield said("against", status=f"**{escaped(status_line(comparison, said.words))}**")


def _named(baseline: Baseline) -> str:
    """The pack, with tenant and target where they are not the usual ones."""
    place = [baseline.tenant] if baseline.tenant != "default" else []
    return " · ".join([baseline.pack.id, *place, *([baseline.target] if baseline.target else [])])


def _judge(baseline: Baseline, said: Said) -> str:
    judge, words = baseline.judge, said.words
    if judge is None:
        return words["judge_not_needed"]
    version = escaped(judge.version) if judge.version else words["na"]
    seed = words["na"] if judge.seed is None else judge.seed
    name = escaped(one_line(judge.model, NAME_MAX))
    return f"{words['judge']}: {name} {version}, T={judge.temperature:g}, seed={seed}"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:FIELDS_MAX]) + (" …" if len(every) > FIELDS_MAX else "")


def _reason(baseline: Baseline, said: Said) -> list[str]:
    if not baseline.reason:
        return []
    return ["", f"> **{escaped(said('reason', reason=one_line(baseline.reason, REASON_MAX)))}**"]


def _notes(notes: Sequence[Note], said: Said) -> Iterator[Part]:
    lines = [f"- {escaped(one_line(note.what, REASON_MAX))}" for note in notes]
    yield _part(1, said("known"), _capped(lines, FIELDS_MAX, said))
    diffs = [line for note in notes if note.lines for line in [*_diff(note.lines, said), ""]]
    yield _part(6, said("known_diffs"), diffs)


def _cells(promotion: Promotion, said: Said) -> list[str]:
    baseline, replaces, comparison = promotion.baseline, promotion.replaces, promotion.comparison
    words = said.words
    was = {(cell.model, cell.variant): cell for cell in replaces.cells} if replaces else {}
    compared = {(cell.model, cell.variant): cell for cell in comparison.cells} if comparison else {}
    header = [words["model"], words["variant"], said("old"), said("new"), said("difference"), words["level"],
              words["safety"], words["below_line"], words["answer_tokens"]]  # fmt: skip
    rows = []
    for cell in baseline.cells[:CELLS_MAX]:
        key = (cell.model, cell.variant)
        told = difference_words(compared[key], words).strip() if key in compared and replaces else ""
        rows.append([*_cell(cell, was.get(key), words), told])
    ordered = [[*row[:4], row[-1] or "–", *row[4:-1]] for row in rows]
    return [*table(header, ordered), *_more(len(baseline.cells) - CELLS_MAX, said)]


def _cell(cell: KeptCell, before: KeptCell | None, words: Words) -> list[str]:
    quality = cell.quality
    old = numbers.percent(before.quality.pct, words) if before else "–"
    level = words[quality.rubric_level] if quality.rubric_level else "–"
    if before and before.quality.rubric_level not in {None, quality.rubric_level}:
        level = f"{words[str(before.quality.rubric_level)]} → {level}"
    safety = [
        _MARKS[quality.safety_passed],
        *(words.safety_reason(reason) for reason in quality.safety_reason),
    ]
    lengths = [each.answer_tokens_med for each in (before, cell) if each]
    return [
        _model(cell.model), code(cell.variant), old, numbers.percent(quality.pct, words),
        level, escaped(one_line(" ".join(safety), NAME_MAX)), numbers.number(cell.counts.below_line, words),
        " → ".join(numbers.number(length, words) for length in lengths),
    ]  # fmt: skip


def _diffs(comparison: Comparison | None, said: Said) -> list[str]:
    lines: list[str] = []
    for diff in comparison.diffs if comparison else []:
        lines += [
            escaped(phrase(said.words, f"diff_{diff.kind}", id=diff.id)),
            "",
            *_diff(diff.lines, said),
            "",
        ]
    return lines[:-1]


def _diff(lines: Sequence[str], said: Said) -> list[str]:
    cut = [line[:DIFF_WIDTH_MAX] for line in lines[:DIFF_LINES_MAX]]
    return [*block("\n".join(cut), "diff"), *(["", said("cut")] if cut != list(lines) else [])]


def _model(name: str) -> str:
    return code(one_line(name, NAME_MAX))


def _inert(line: str) -> str:
    """A line in which nothing is acted on, not even where Markdown means nothing."""
    return _ACTED_ON.sub(lambda found: found[0] + _GAP, line)


def _rows(comparison: Comparison | None, said: Said) -> list[str]:
    if comparison is None or comparison.status == "no_reference":
        return []
    words = said.words
    moved = moved_rows(comparison)
    header = [
        words["prompt"],
        words["variant"],
        words["model"],
        words["score"],
        words["state"],
        said("moved_by"),
    ]
    lines = table(header, [_row(row, words) for row in moved[:ROWS_MAX]]) if moved else []
    lines += _more(len(moved) - ROWS_MAX, said)
    for state in COMINGS:
        if ids := comings(comparison, state, words):
            lines += ["", f"{words[state]}: {_listed(code(id_) for id_ in ids)}"]
    return lines


def _row(row: ComparedRow, words: Words) -> list[str]:
    scores = f"{numbers.percent(row.old, words)} → {numbers.percent(row.new, words)}"
    moves = escaped(one_line(moves_words(row, words), REASON_MAX)) or "–"
    return [
        code(row.prompt),
        code(row.variant),
        _model(row.model),
        scores,
        state_words(row, words),
        moves,
    ]


def _runs(baseline: Baseline, selection: Selection | None, said: Said) -> list[str]:
    words = said.words
    header = [
        "",
        said("run"),
        words["date"],
        words["commit"],
        said("middle"),
        said("total"),
        said("tokens"),
        said("calls"),
    ]
    rows = [
        [*_run(run, words), *_votes(run, selection, words), numbers.number(run.tokens, words), str(run.calls)]
        for run in baseline.runs
    ]
    return [*table(header, rows), "", " ".join(_choice(baseline, selection, said))]


def _run(run: KeptRun, words: Words) -> list[str]:
    clean = {True: words["clean"], False: words["dirty"], None: words["clean_unknown"]}[run.clean]
    commit = f"{code(run.commit[:12])}, {clean}" if run.commit else words["na"]
    return ["→" if run.typical else "", code(run.id), run.day, commit]


def _votes(run: KeptRun, selection: Selection | None, words: Words) -> list[str]:
    if selection is None or run.id not in selection.runs:
        return ["–", "–"]
    index = selection.runs.index(run.id)
    return [
        f"{selection.tally[index]}/{len(selection.rows)}",
        numbers.percent(selection.totals[index], words),
    ]


def _choice(baseline: Baseline, selection: Selection | None, said: Said) -> Iterator[str]:
    if selection is None:
        yield said("single")
        return
    if not selection.rows:
        yield said("all_same", n=selection.rows_compared)
    yield said(f"by_{selection.decided_by}", run=code(next(run.id for run in baseline.runs if run.typical)))
    yield said("all_kept")
    if selection.outlier_total:
        yield said("outlier")
    if selection.same_launch:
        yield said("same_launch")


def _provenance(baseline: Baseline, said: Said) -> list[str]:
    words, made = said.words, baseline.provenance
    engine = " ".join(filter(None, [made.engine, made.engine_version]))
    quants = [f"{model}: {quant or words['na']}" for model, quant in made.quant.items()]
    clean = {True: words["clean"], False: words["dirty"], None: words["clean_unknown"]}[baseline.git.clean]
    commit = f"{code(baseline.git.commit[:12])}, {clean}" if baseline.git.commit else words["na"]
    rows = [
        (words["engine"], engine),
        (words["runtime"], made.runtime),
        (words["quant"], "; ".join(quants)),
        (words["chip"], made.chip),
        (words["ram"], numbers.number(made.ram_gb, words, 0, "GB")),
        (words["os"], made.os),
    ]
    shown = [[label, escaped(one_line(value or words["na"], REASON_MAX))] for label, value in rows]
    return table(["", ""], [[words["commit"], commit], *shown])


def _replaced(promotion: Promotion, said: Said) -> list[str]:
    baseline, replaces, comparison = promotion.baseline, promotion.replaces, promotion.comparison
    if replaces is None:
        return []
    lines = [f"{code(replaces.digest)} → {code(baseline.digest)}"]
    if comparison is None:
        return lines
    others = [moved for moved in comparison.moved if moved.kind not in {"prompt", "case"}]
    fields = [*comparison.not_comparable, *others]
    if comparison.not_comparable:
        lines += ["", said("no_ruler")]
    header = [said("field"), said("old"), said("new"), ""]
    rows = [
        [escaped(one_line(moved.field, NAME_MAX)), escaped(value_words(moved.old, said.words)),
         escaped(value_words(moved.new, said.words)), phrase(said.words, f"kind_{moved.kind}")]
        for moved in fields[:FIELDS_MAX]
    ]  # fmt: skip
    return [*lines, *(["", *table(header, rows)] if rows else []), *_more(len(fields) - FIELDS_MAX, said)]


def _answers(promotion: Promotion, said: Said) -> list[str]:
    baseline, replaces, comparison = promotion.baseline, promotion.replaces, promotion.comparison
    if replaces is None or comparison is None:
        return []
    old, new = _texts(replaces), _texts(baseline)
    lines: list[str] = []
    shown = [row for row in moved_rows(comparison) if row.same_answer is False and _key(row) in new]
    for row in shown[:ANSWERS_MAX]:
        inner = [
            line
            for name, texts in ((said("old"), old.get(_key(row))), (said("new"), new[_key(row)]))
            for line in _told(name, texts, said)
        ]
        name = f"{row.prompt} · {row.variant} · {one_line(row.model, NAME_MAX)}"
        lines += [*folded(html_code(name), inner[:-1]), ""]
    return lines[:-1]


def _told(name: str, texts: Sequence[str] | None, said: Said) -> list[str]:
    lines = [f"{name}:", ""]
    for text in texts or []:
        cut = text[:ANSWER_CHARS_MAX]
        lines += [*block(cut), "", *([said("cut"), ""] if cut != text else [])]
    return lines if texts else [f"{name}: {said.words['na']}", ""]


def _texts(baseline: Baseline) -> Mapping[_Key, list[str]]:
    return {(kept.model, kept.variant, kept.prompt): kept.texts for kept in baseline.answers or []}


def _key(row: ComparedRow) -> _Key:
    return row.model, row.variant, row.prompt


def _capped(lines: list[str], most: int, said: Said) -> list[str]:
    return [*lines[:most], *_more(len(lines) - most, said)]


def _more(left: int, said: Said) -> list[str]:
    return ["", said("more", n=left)] if left > 0 else []


def _foot(baseline: Baseline, said: Said) -> Lines:
    variant = next(iter(baseline.variants), "none")
    show = code(f"touchstone show {baseline.pack.id} --variant {variant}")
    return ["---", "", said("foot", show=show)]
