"""`report.md`: one run to read, on GitHub or in Obsidian. Decides nothing; every number is the result's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

from touchstone.render import numbers
from touchstone.render.against import against_lines
from touchstone.render.comparison import honesty_lines
from touchstone.render.flavour import GITHUB, Callout, Flavour
from touchstone.render.markdown import escaped, sentence, table
from touchstone.render.phrases import counted, phrase
from touchstone.render.reading import Reading
from touchstone.render.report_rows import answer_lines, category_tables, dimension_tables, row_table
from touchstone.render.tables import Table, table_section
from touchstone.render.timing import timing_tables
from touchstone.render.words import Language, Words
from touchstone.result.schema import Cell, ResultDoc, Tally

LENGTH_CONFOUND_RATIO = 1.2


def report_text(reading: Reading, language: Language = "en", flavour: Flavour = GITHUB) -> str:
    """Counts, judge, provenance, cells, notices, rows, timing, what this can see: the order every renderer
    keeps. What the run is held against comes first, where it is.
    """
    words, result = Words(language), reading.result
    lines = [
        *flavour.head(result),
        *against_lines(reading, words, flavour),
        counts_line(result, words),
        "",
        judge_line(result, words, flavour),
        "",
        *_notices(reading, words, flavour),
        f"## {words['provenance']}",
        "",
        *table(["", ""], [[label, escaped(value)] for label, value in provenance(result, words)]),
        "",
        f"## {words['cells']}",
        "",
        *cell_table(result, words),
        "",
        *length_lines(result, words, flavour),
        *_tables([*category_tables(result, words), *dimension_tables(result, words)]),
        f"## {words['rows']}",
        "",
        *row_table(result, words),
        "",
        *answer_lines(reading, words, flavour),
        *_tables(timing_tables(result, words)),
        *_honesty(reading, words),
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
        rest.append(f"{total['judged']}/{total['planned']} {words.inline('judged')}")
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


def judge_line(result: ResultDoc, words: Words, flavour: Flavour = GITHUB) -> str:
    """Model and judge side by side; a missing judge is loud."""
    models = ", ".join(flavour.name(model) for model in dict.fromkeys(cell.model for cell in result.cells))
    judge = judge_words(result, words)
    if result.judge is not None:
        known = f"{words['judge']}: {result.judge.model}"
        rest = escaped(judge.removeprefix(known))
        judge = f"{words['judge']}: {flavour.name(result.judge.model)} {rest}"
    elif judge == words["judge_not_recorded"]:
        judge = f"**{judge}**"
    return f"{words['model']}: {models} · {judge}"


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


def length_words(cell: Cell, words: Words) -> str:
    """The median answer's length: in tokens, in characters where those were not counted."""
    if cell.answer_tokens_med is None and cell.answer_chars_med is not None:
        return numbers.number(cell.answer_chars_med, words, unit=words["characters"])
    return numbers.number(cell.answer_tokens_med, words)


def length_notices(result: ResultDoc, words: Words) -> list[str]:
    """One sentence for every pair of one model's variants where the higher-scored is much longer."""
    return [
        told
        for high, low in permutations(result.cells, 2)
        if high.model == low.model
        and _scored_higher(high, low)
        and (told := _length_notice(high, low, result, words)) is not None
    ]


def incomplete_notice(result: ResultDoc, words: Words, flavour: Flavour = GITHUB) -> list[str]:
    """One sentence where something is still to be asked or judged."""
    return [line for kind, told in shortcomings(result, words) for line in flavour.notice(kind, told)]


def shortcomings(result: ResultDoc, words: Words) -> list[tuple[Callout, str]]:
    """What a reader must know of a run before its numbers: a sentence each, and how grave it is."""
    told: list[tuple[Callout, str]] = [("info", sentence) for sentence in unpromotable(result, words)]
    if result.run.complete:
        return told
    counts = {
        name: sum(getattr(cell.counts, name) for cell in result.cells)
        for name in ("planned", "answered", "judged")
    }
    key = "incomplete_judged" if counts["answered"] == counts["planned"] else "incomplete"
    return [*told, ("warning", words.filled(key, **counts))]


def unpromotable(result: ResultDoc, words: Words) -> list[str]:
    """A sentence for each reason why the verdicts are not this run's own."""
    told = [words["judged_again"]] if result.run.rejudged else []
    if result.run.reused_verdicts:
        told.append(words.filled("verdicts_reused", count=result.run.reused_verdicts))
    return told


def cell_table(result: ResultDoc, words: Words) -> list[str]:
    """A line per model and variant."""
    has_labels = any(cell.labels for cell in result.cells)
    header = [
        words["model"], words["variant"], words["level"], words["safety"], words["judged"],
        words["checks"], words["answer_tokens"], words["below_line"],
    ]  # fmt: skip
    rows = [_cell_row(cell, result, words) for cell in result.cells]
    if has_labels:
        header.append(words["labels"])
        for cell, row in zip(result.cells, rows, strict=True):
            row.append(numbers.labels(cell.labels, words) if cell.labels else words["na"])
    return table(header, rows)


def _cell_row(cell: Cell, result: ResultDoc, words: Words) -> list[str]:
    gated = bool(result.instrument.dimensions)
    checks = cell.quality.checks if cell.quality else Tally(passed=0, of=0)
    return [
        escaped(cell.model),
        escaped(cell.variant),
        level_and_score(cell, words),
        words["not_assessed"] if gated and cell.quality is None else escaped(safety_mark(cell, words)),
        f"{cell.counts.judged}/{cell.counts.planned}",
        numbers.tally(checks) if checks.of else "–",
        length_words(cell, words),
        numbers.number(cell.counts.below_line, words),
    ]


def length_lines(result: ResultDoc, words: Words, flavour: Flavour = GITHUB) -> list[str]:
    """The length notices."""
    return [line for told in length_notices(result, words) for line in flavour.notice("warning", told)]


def _notices(reading: Reading, words: Words, flavour: Flavour) -> list[str]:
    rebuilt = flavour.notice("info", words["rebuilt"]) if reading.rebuilt else []
    return [*rebuilt, *incomplete_notice(reading.result, words, flavour)]


def run_honesty_lines(result: ResultDoc, words: Words) -> list[str]:
    """How little a run by itself can say."""
    cases = counted(words, "cases", len({row.prompt for row in result.rows}))
    judged = [phrase(words, "under_this_judge")] if result.judge is not None else []
    return [phrase(words, "one_run_says", cases=cases), *judged]


def _tables(tables: Iterable[Table]) -> list[str]:
    return [line for shown in tables for line in table_section(shown)]


def _honesty(reading: Reading, words: Words) -> list[str]:
    """How little a run alone can say; with a comparison, how small a drop that can see."""
    compared = reading.comparison
    told = honesty_lines(compared, words) if compared is not None else []
    told = told or run_honesty_lines(reading.result, words)
    return [f"## {words['honesty']}", "", *(line for one in told for line in (sentence(one), ""))]


def _scored_higher(high: Cell, low: Cell) -> bool:
    if high.quality is None or low.quality is None:
        return False
    return high.quality.pct is not None and low.quality.pct is not None and high.quality.pct > low.quality.pct


def _length_notice(high: Cell, low: Cell, result: ResultDoc, words: Words) -> str | None:
    """By tokens where both are counted, by characters otherwise, and says so."""
    by_tokens = None not in (high.answer_tokens_med, low.answer_tokens_med)
    name = "answer_tokens_med" if by_tokens else "answer_chars_med"
    long, short = getattr(high, name), getattr(low, name)
    if long is None or not short or long / short < LENGTH_CONFOUND_RATIO:
        return None
    percent = f"{(long / short - 1) * 100:.0f}"
    told = words.filled("length_confound", variant=high.variant, percent=percent)
    if len(result.cells) > 2:
        told += f" ({words.filled('length_pair', model=high.model, variant=low.variant)})"
    return told if by_tokens else f"{told} ({words['by_characters']})"
