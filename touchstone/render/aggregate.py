"""Many runs in one table per pack. Rows stand in the order of names, and nothing is called best.

The numbers of a column belong to its judge; a score under another judge is another thing, and it says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from touchstone.baseline.aggregate import (
    Aggregate,
    Agreement,
    JudgeColumn,
    PackTable,
    System,
    SystemRow,
    SystemScore,
)
from touchstone.baseline.comparison import Moved
from touchstone.files import json_line
from touchstone.render import numbers
from touchstone.render.aggregate_phrases import aggregate_phrase
from touchstone.render.comparison import value_words
from touchstone.render.csv import Value, table_csv
from touchstone.render.markdown import escaped, sentence, table
from touchstone.render.phrases import counted
from touchstone.render.plain import one_line
from touchstone.render.words import Language, Words

NAME_WIDTH = 80
FIELDS_TOLD_MAX = 12


@dataclass(frozen=True)
class Sheet:
    """A pack's table as plain text, for a renderer to set: legend, table, what is said below it."""

    pack: str
    legend: Sequence[str]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    agreements: Sequence[str]
    notes: Sequence[str]


def aggregate_markdown(found: Aggregate, language: Language = "en") -> str:
    """A section per pack."""
    words = Words(language)
    lines = [f"# {aggregate_phrase(words, 'title')}", "", aggregate_phrase(words, "order"), ""]
    for sheet in sheets(found, words):
        lines += [f"## {words['pack']} {escaped(sheet.pack)}", ""]
        lines += [*(f"- {sentence(line)}" for line in sheet.legend), ""]
        lines += table(sheet.header, [[escaped(cell) for cell in row] for row in sheet.rows])
        lines += [""]
        if sheet.agreements:
            lines += [f"**{aggregate_phrase(words, 'agreement')}**", ""]
            lines += [*(f"- {sentence(line)}" for line in sheet.agreements), ""]
        lines += [line for note in sheet.notes for line in (f"> {sentence(note)}", "")]
    return "\n".join(lines).rstrip("\n") + "\n"


def aggregate_csv(found: Aggregate) -> str:
    """A line per pack, system and column; canonical values in any language."""
    return table_csv(
        [
            _csv_line(pack, row, number, score)
            for pack in found.packs
            for row in pack.rows
            for number, score in enumerate(row.scores)
            if score is not None
        ]
    )


def sheets(found: Aggregate, words: Words) -> list[Sheet]:
    """Every pack's table in words."""
    return [_sheet(pack, words) for pack in found.packs]


def _sheet(pack: PackTable, words: Words) -> Sheet:
    gated = [any(_has_gate(row.scores[place]) for row in pack.rows) for place in range(len(pack.columns))]
    return Sheet(
        pack=one_line(pack.pack, NAME_WIDTH),
        legend=[_legend(number, column, words) for number, column in enumerate(pack.columns, 1)],
        header=_header(gated, words),
        rows=[_row(row, gated, words) for row in pack.rows],
        agreements=[_agreement(one, words) for one in pack.agreements],
        notes=list(_notes(pack, words)),
    )


def _has_gate(score: SystemScore | None) -> bool:
    return score is not None and score.safety_gate


def _notes(pack: PackTable, words: Words) -> Iterator[str]:
    if len(pack.rows) > 1:
        yield aggregate_phrase(words, "speed")
    if pack.rules_differ:
        yield aggregate_phrase(words, "rules_differ")


# Columns


def _legend(number: int, column: JudgeColumn, words: Words) -> str:
    parts = [
        f"{aggregate_phrase(words, 'column', n=number)}: {_judge(column, words)}",
        counted(words, "cases", column.cases),
        counted(words, "runs", len(column.runs)),
    ]
    why = list(_why_apart(column, words))
    if why:
        parts.append(aggregate_phrase(words, "beside_first", why="; ".join(why)))
    return " · ".join(parts)


def _judge(column: JudgeColumn, words: Words) -> str:
    judge = column.judge
    if judge is None:
        return words["judge_not_recorded" if column.needs_judge else "judge_not_needed"]
    seed = words["na"] if judge.seed is None else judge.seed
    return (
        f"{one_line(judge.model, NAME_WIDTH)} {one_line(judge.version or words['na'], NAME_WIDTH)} "
        f"· T={judge.temperature:g} · seed={seed}"
    )


def _why_apart(column: JudgeColumn, words: Words) -> Iterator[str]:
    """What keeps a column from the first one, with both values of each field."""
    if column.differs:
        judge_alone = all(moved.field.split(".")[0] == "judge" for moved in column.differs)
        key = "another_judge" if judge_alone else "another_instrument"
        fields = ", ".join(_moved(moved, words) for moved in column.differs[:FIELDS_TOLD_MAX])
        yield f"{aggregate_phrase(words, key)} ({fields})"
    if column.case_sets_differ:
        yield aggregate_phrase(words, "other_cases")


def _moved(moved: Moved, words: Words) -> str:
    return f"{moved.field}: {value_words(moved.old, words)} → {value_words(moved.new, words)}"


def _header(gated: Sequence[bool], words: Words) -> list[str]:
    header = [words[key] for key in ("model", "variant", "quant")]
    for number, gate in enumerate(gated, 1):
        header.append(aggregate_phrase(words, "score_of", n=number))
        header += [aggregate_phrase(words, "safety_of", n=number)] if gate else []
    header += [words["engine"], aggregate_phrase(words, "machine")]
    return header + [aggregate_phrase(words, key) for key in ("decoding", "first_token", "answer_tokens")]


# Rows


def _row(row: SystemRow, gated: Sequence[bool], words: Words) -> list[str]:
    system, speed, na = row.system, row.speed, words["na"]
    cells = [_model(system), _variant(system), one_line(system.quant or na, NAME_WIDTH)]
    for score, gate in zip(row.scores, gated, strict=True):
        cells.append(_score(score, words))
        cells += [_safety(score, words)] if gate else []
    return [
        *cells,
        _engine(system, words),
        f"{one_line(system.chip or na, NAME_WIDTH)}, {numbers.number(system.ram_gb, words, 0, 'GB')}",
        numbers.number(speed.decode_med, words, 1),
        numbers.number(speed.ttft_p50, words, 3, "s"),
        numbers.number(speed.answer_tokens_med, words),
    ]


def _model(system: System) -> str:
    told = one_line(system.model, NAME_WIDTH)
    return (
        told if system.extra_body is None else f"{told} {one_line(json_line(system.extra_body), NAME_WIDTH)}"
    )


def _variant(system: System) -> str:
    """With the beginning of its text's hash: two texts can go by one name."""
    told = one_line(system.variant, NAME_WIDTH)
    if system.variant_sha256 is None:
        return told
    return f"{told} {system.variant_sha256.removeprefix('sha256:')[:6]}"


def _engine(system: System, words: Words) -> str:
    parts = [system.engine or words["na"], system.engine_version or words["na"], system.runtime]
    return one_line(" ".join(part for part in parts if part), NAME_WIDTH)


def _score(score: SystemScore | None, words: Words) -> str:
    if score is None:
        return aggregate_phrase(words, "not_measured")
    level = f"{words[score.rubric_level]} · " if score.rubric_level else ""
    told = words["not_assessed"] if score.pct is None else level + numbers.percent(score.pct, words)
    more = list(_beside_score(score, words))
    return f"{told} ({', '.join(more)})" if more else told


def _beside_score(score: SystemScore, words: Words) -> Iterator[str]:
    if score.scored > 1:
        yield aggregate_phrase(
            words,
            "runs_between",
            runs=counted(words, "runs", score.scored),
            low=numbers.percent(score.low, words),
            high=numbers.percent(score.high, words),
        )
    if score.scored < score.runs and score.scored:
        yield aggregate_phrase(
            words, "scored_of", scored=score.scored, runs=counted(words, "runs", score.runs)
        )
    if score.judged < score.planned:
        yield aggregate_phrase(words, "judged_of", judged=score.judged, planned=score.planned)


def _safety(score: SystemScore | None, words: Words) -> str:
    if score is None:
        return aggregate_phrase(words, "not_measured")
    if not score.safety_gate:
        return "–"
    return {True: "✓", False: "✗", None: words["not_assessed"]}[score.safety_passed]


# Judges


def _agreement(one: Agreement, words: Words) -> str:
    first, second = one.first + 1, one.second + 1
    if one.mean_difference is None:
        return aggregate_phrase(words, "nothing_shared", first=first, second=second)
    told = aggregate_phrase(
        words,
        "difference",
        first=first,
        second=second,
        points=numbers.points(one.mean_difference, words),
        rows=aggregate_phrase(words, "answer" if one.rows == 1 else "answers", n=one.rows),
    )
    return f"{told}; {_ko(one, words)}"


def _ko(one: Agreement, words: Words) -> str:
    if not one.ko_rows:
        return aggregate_phrase(words, "ko_unknown")
    return aggregate_phrase(
        words,
        "ko",
        agreed=one.ko_agreed,
        of=one.ko_rows,
        both=one.ko_both,
        first=one.first + 1,
        second=one.second + 1,
        one=one.ko_first_only,
        other=one.ko_second_only,
    )


def _csv_line(pack: PackTable, row: SystemRow, number: int, score: SystemScore) -> dict[str, Value]:
    column, system = pack.columns[number], row.system
    judge = column.judge
    line: dict[str, Value] = {
        "pack": pack.pack,
        "column": number + 1,
        "judge_model": judge.model if judge else None,
        "judge_version": judge.version if judge else None,
        "cases": column.cases,
    }
    line |= system.model_dump(exclude={"extra_body"})
    line["extra_body"] = None if system.extra_body is None else json_line(system.extra_body)
    line |= row.speed.model_dump()
    return line | score.model_dump()
