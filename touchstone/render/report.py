"""`report.md`: one run to read, in plain GitHub Markdown. Decides nothing; every number is the result's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from touchstone.render import numbers
from touchstone.render.markdown import block, code, escaped, folded, table
from touchstone.render.plain import one_line
from touchstone.render.timing import timing_section
from touchstone.render.words import Language, Words
from touchstone.result.schema import Cell, Repeat, ResultDoc, Row, Tally

LENGTH_CONFOUND_RATIO = 1.2
ANSWERS_SHOWN_MAX = 20

Answers = Mapping[tuple[str, str, str], Sequence[str]]
"""Per row key the answers of its repeats."""

_STATE_ORDER = {"error": 0, "fail": 1, None: 2, "pass": 3}


def report_markdown(result: ResultDoc, answers: Answers | None = None, language: Language = "en") -> str:
    """Counts, judge, provenance, cells, notices, rows: the order every renderer keeps; then timing."""
    words = Words(language)
    lines = [
        counts_line(result, words),
        "",
        judge_line(result, words),
        "",
        *incomplete_notice(result, words),
        f"## {words['provenance']}",
        "",
        *table(["", ""], [[label, escaped(value)] for label, value in provenance(result, words)]),
        "",
        f"## {words['cells']}",
        "",
        *cell_table(result, words),
        "",
        *_dimension_table(result, words),
        *length_lines(result, words),
        f"## {words['rows']}",
        "",
        *_row_table(result, words),
        "",
        *_answers(result, answers or {}, words),
        *timing_section(result, words),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def counts_line(result: ResultDoc, words: Words) -> str:
    """Rows that pass, fail and could not be judged; then what else there is, where it is not 0."""
    total = {
        name: sum(getattr(cell.counts, name) for cell in result.cells)
        for name in (
            "passed", "failed", "error", "unscored", "empty", "reasoning_only", "truncated",
            "planned", "answered", "judged",
        )
    }  # fmt: skip
    if all(cell.quality is None for cell in result.cells):
        return _answered_line(result, words)
    states = (("passed", "pass"), ("failed", "fail"), ("error", "error"))
    head = " · ".join(f"{total[name]} {words[word]}" for name, word in states)
    rest = [
        f"{total[name]} {words[name]}"
        for name in ("unscored", "empty", "reasoning_only", "truncated")
        if total[name]
    ]
    if total["judged"] < total["planned"]:
        rest.append(f"{total['judged']}/{total['planned']} {words['judged'].lower()}")
    return " · ".join([f"**{head}**", *rest])


def _answered_line(result: ResultDoc, words: Words) -> str:
    """Before judging only this is known: how many answered, and how many failed to."""
    repeats = [repeat for row in result.rows for repeat in row.repeats]
    planned = sum(cell.counts.planned for cell in result.cells)
    failed = sum(repeat.status == "error" for repeat in repeats)
    answered = sum(repeat.status not in {None, "error"} for repeat in repeats)
    head = words.filled("answered", answered=answered, planned=planned)
    told = [f"{failed} {words['error']}"] + [
        f"{count} {words[status]}"
        for status in ("empty", "reasoning_only", "truncated")
        if (count := sum(repeat.status == status for repeat in repeats))
    ]
    return " · ".join([f"**{head}**", *told, words["not_judged_yet"]])


def judge_line(result: ResultDoc, words: Words) -> str:
    """Model and judge side by side; a missing judge is loud."""
    models = ", ".join(dict.fromkeys(cell.model for cell in result.cells))
    judge = judge_words(result, words)
    judge = f"**{judge}**" if judge == words["judge_not_recorded"] else escaped(judge)
    return f"{words['model']}: {escaped(models)} · {judge}"


def judge_words(result: ResultDoc, words: Words) -> str:
    """`Judge: <model> <version or n/a> · T=… · seed=…`, or what stands in its place."""
    judge = result.judge
    if judge is not None:
        seed = words["na"] if judge.seed is None else judge.seed
        return (
            f"{words['judge']}: {judge.model} {judge.version or words['na']}"
            f" · T={judge.temperature:g} · seed={seed}"
        )
    return words["judge_not_needed"] if not result.instrument.dimensions else words["judge_not_recorded"]


def provenance(result: ResultDoc, words: Words) -> list[tuple[str, str]]:
    """(label, value) of everything that produced the answers; what nothing told reads n/a."""
    known, run, na = result.provenance, result.run, words["na"]
    clean = {True: words["clean"], False: words["dirty"], None: words["clean_unknown"]}[run.clean]
    engine = " ".join(filter(None, [known.engine, known.engine_version])) or na
    if known.engine and not known.engine_version:
        engine = f"{known.engine} ({na})"
    quants = ", ".join(
        dict.fromkeys(f"{cell.quant} ({cell.quant_origin})" if cell.quant else na for cell in result.cells)
    )
    return [
        (words["pack"], f"{known.pack_id} {known.pack_version}"),
        (words["date"], known.date),
        (words["commit"], f"{run.commit[:12]}, {clean}" if run.commit else na),
        (words["engine"], engine),
        (words["runtime"], known.runtime or na),
        (words["quant"], quants),
        (words["chip"], known.chip or na),
        (words["ram"], numbers.number(known.ram_gb, words, 0, "GB")),
        (words["os"], known.os or na),
        ("T / seed", f"{known.temperature:g} / {na if known.seed is None else known.seed}"),
        (words["concurrency"], str(known.concurrency)),
    ]


def level_and_score(cell: Cell, words: Words) -> str:
    """Rubric level and percentage; a pack without dimensions has no level."""
    if cell.quality is None:
        return words["na"]
    if cell.quality.pct is None:
        return words["not_assessed"]
    level = words[cell.quality.rubric_level] + " · " if cell.quality.rubric_level else ""
    return level + numbers.percent(cell.quality.pct, words)


def safety_mark(cell: Cell, words: Words) -> str:
    """✓, ✗ or – with the reasons."""
    if cell.quality is None:
        return "–"
    mark = {True: "✓", False: "✗", None: "–"}[cell.quality.safety_passed]
    reasons = [words.safety_reason(r) for r in cell.quality.safety_reason if r.code != "no_gate"]
    return " ".join([mark, "; ".join(reasons)]).strip()


def length_notices(result: ResultDoc, words: Words) -> list[str]:
    """One sentence for every pair of one model's variants where the higher-scored is much longer."""
    notices = []
    for high, low in permutations(result.cells, 2):
        if high.model != low.model or not _scored_higher(high, low):
            continue
        longer = _length_ratio(high, low)
        if longer is not None and longer >= LENGTH_CONFOUND_RATIO:
            percent = f"{(longer - 1) * 100:.0f}"
            notices.append(words.filled("length_confound", variant=high.variant, percent=percent))
    return notices


def fallen_short(row: Row, result: ResultDoc) -> list[str]:
    """What kept a row from passing: checks by id, dimensions with their score, red flags."""
    return list(dict.fromkeys(word for repeat in row.repeats for word in _short_of(repeat, result)))


def rows_worst_first(result: ResultDoc) -> list[Row]:
    """Errors, then failures, then the rest, each from the lowest score up."""
    return sorted(
        result.rows, key=lambda row: (_STATE_ORDER[row.state], -1.0 if row.pct is None else row.pct)
    )


def incomplete_notice(result: ResultDoc, words: Words) -> list[str]:
    """One sentence where something is still to be asked or judged."""
    lines = [words["judged_again"], ""] if result.run.rejudged else []
    if result.run.complete:
        return lines
    planned = sum(cell.counts.planned for cell in result.cells)
    answered = sum(cell.counts.answered for cell in result.cells)
    return [*lines, words.filled("incomplete", planned=planned, answered=answered), ""]


def cell_table(result: ResultDoc, words: Words) -> list[str]:
    """A line per model and variant."""
    has_labels = any(cell.labels for cell in result.cells)
    header = [
        words["model"], words["variant"], words["level"], words["safety"], words["judged"],
        words["checks"], words["answer_tokens"], words["below_line"],
    ]  # fmt: skip
    rows = [_cell_row(cell, words) for cell in result.cells]
    if has_labels:
        header.append(words["labels"])
        for cell, row in zip(result.cells, rows, strict=True):
            row.append(numbers.labels(cell.labels, words) if cell.labels else words["na"])
    return table(header, rows)


def _cell_row(cell: Cell, words: Words) -> list[str]:
    checks = cell.quality.checks if cell.quality else Tally(passed=0, of=0)
    return [
        escaped(cell.model),
        escaped(cell.variant),
        level_and_score(cell, words),
        escaped(safety_mark(cell, words)),
        f"{cell.counts.judged}/{cell.counts.planned}",
        numbers.tally(checks) if checks.of else "–",
        numbers.number(cell.answer_tokens_med, words),
        str(cell.counts.below_line) if cell.quality else words["na"],
    ]


def _dimension_table(result: ResultDoc, words: Words) -> list[str]:
    if not result.instrument.dimensions or not any(cell.quality for cell in result.cells):
        return []
    header = [words["dimension"], *(f"{escaped(c.model)} · {escaped(c.variant)}" for c in result.cells)]
    rows = [
        [
            f"{escaped(dimension.id)} {escaped(dimension.name)}",
            *(
                numbers.number(cell.quality.dim_means.get(dimension.id) if cell.quality else None, words, 2)
                for cell in result.cells
            ),
        ]
        for dimension in result.instrument.dimensions
    ]
    return [f"## {words['dimensions']}", "", *table(header, rows), ""]


def length_lines(result: ResultDoc, words: Words) -> list[str]:
    """The length notices as Markdown quotes."""
    return [line for notice in length_notices(result, words) for line in (f"> {escaped(notice)}", "")]


def _row_table(result: ResultDoc, words: Words) -> list[str]:
    header = [words["prompt"], words["variant"], words["state"], words["score"], words["what_failed"]]
    if len({cell.model for cell in result.cells}) > 1:
        header.insert(0, words["model"])
    rows = []
    for row in rows_worst_first(result):
        cells = [
            code(row.prompt),
            escaped(row.variant),
            words[row.state] if row.state else words["na"],
            numbers.percent(row.pct, words),
            escaped(", ".join(fallen_short(row, result))) or "–",
        ]
        rows.append([escaped(row.model), *cells] if len(header) > len(cells) else cells)
    return table(header, rows)


def _answers(result: ResultDoc, answers: Answers, words: Words) -> list[str]:
    lines: list[str] = []
    short = [row for row in rows_worst_first(result) if row.state in {"error", "fail"} and row.key in answers]
    for row in short[:ANSWERS_SHOWN_MAX]:
        texts = answers[row.key]
        shown = [line for text in texts for line in [*block(text), ""]][:-1]
        lines += [*folded(f"{words['answer']}: {summary_name(row)}", shown), ""]
    return lines


def summary_name(row: Row) -> str:
    """A row's name for an HTML summary: ids only, and ids hold no special character."""
    return f"{row.prompt} · {row.variant}"


def _short_of(repeat: Repeat, result: ResultDoc) -> list[str]:
    if repeat.status == "error" or repeat.verdict in {"error", "unscored"}:
        return [one_line(": ".join(filter(None, [repeat.reason or "error", repeat.detail])), 120)]
    words = [
        f"{dimension} {score}"
        for dimension, score in repeat.scores.items()
        if (line := result.rules.dimensions[dimension].threshold) is not None and score < line
    ]
    words += [name for name, check in repeat.checks.items() if check.status != "pass"]
    return words + (["red flag"] if repeat.red_flag else [])


def _scored_higher(high: Cell, low: Cell) -> bool:
    if high.quality is None or low.quality is None:
        return False
    return high.quality.pct is not None and low.quality.pct is not None and high.quality.pct > low.quality.pct


def _length_ratio(high: Cell, low: Cell) -> float | None:
    """By tokens where both are counted, by characters otherwise."""
    for name in ("answer_tokens_med", "answer_chars_med"):
        long, short = getattr(high, name), getattr(low, name)
        if long is not None and short:
            return float(long) / float(short)
    return None
