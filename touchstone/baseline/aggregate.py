"""Many runs in one table per pack: a column per judge, a row per system. Nothing here is a verdict.

Scores stand side by side in a column where one instrument measured one set of cases. Between columns only
the judges are compared, on the answers that both have scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from touchstone.baseline.comparability import moved_instrument
from touchstone.baseline.comparison import Moved
from touchstone.files import digest_of
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import Instrument
from touchstone.records import Record
from touchstone.result.numbers import mean, median
from touchstone.result.schema import Cell, JudgeInfo, ResultDoc, Row, RubricLevel
from touchstone.result.scorecard import rubric_level

AnswerKey = tuple[str, str, str, str, tuple[str | None, ...]]
"""Model, variant, prompt, the hash of what was asked for there, and the hashes of what was answered."""


class System(Record):
    """What gave the answers: one row of a pack's table. Null where nothing told."""

    model: str
    quant: str | None
    variant: str
    variant_sha256: str | None
    extra_body: dict[str, Any] | None
    engine: str | None
    engine_version: str | None
    runtime: str | None
    chip: str | None
    ram_gb: float | None


class SystemSpeed(Record):
    """Medians over a system's runs: seconds, tokens per second, tokens. Null where none was measured."""

    ttft_p50: float | None
    decode_med: float | None
    answer_tokens_med: float | None
    peak_ram_gb: float | None


class SystemScore(Record):
    """What one system got in one column.

    `pct` is the mean of the runs that have one, `scored` of `runs`; `low` and `high` are the lowest and the
    highest. `safety_passed` is false where any run failed, and true only where every run passed.
    """

    runs: int
    scored: int
    pct: float | None
    low: float | None
    high: float | None
    rubric_level: RubricLevel | None
    safety_passed: bool | None
    safety_gate: bool
    judged: int
    planned: int
    unjudged_rows: int


class SystemRow(Record):
    """A system and its score in each column; null where it was not measured there."""

    system: System
    speed: SystemSpeed
    scores: list[SystemScore | None]


class JudgeColumn(Record):
    """One instrument on one set of cases. `judge` is null where only checks spoke, or nobody yet.

    `differs` names what keeps it from the first column, both values of each; `case_sets_differ` that other
    questions were asked or other things looked at.
    """

    judge: JudgeInfo | None
    needs_judge: bool
    cases: int
    runs: list[str]
    differs: list[Moved]
    case_sets_differ: bool


class Agreement(Record):
    """Two columns on the same answers, `first` and `second` being their places.

    `mean_difference` is second − first, in points, over `rows` answers. Where a judge scored one several
    times all its verdicts count: as their mean, and one knock-out among them knocks out. Of `ko_rows` both
    could say whether they are knocked out.
    """

    first: int
    second: int
    rows: int
    mean_difference: float | None
    ko_rows: int
    ko_both: int
    ko_first_only: int
    ko_second_only: int

    @property
    def ko_agreed(self) -> int:
        """Rows of which both judges said the same."""
        return self.ko_rows - self.ko_first_only - self.ko_second_only


class PackTable(Record):
    """One pack. `rules_differ`: the lines that safety and levels of rows rest on are not one set."""

    pack: str
    columns: list[JudgeColumn]
    rows: list[SystemRow]
    agreements: list[Agreement]
    rules_differ: bool


class Aggregate(Record):
    """The whole: packs in the order of their names."""

    packs: list[PackTable]


def aggregate(results: Iterable[ResultDoc]) -> Aggregate:
    """One table per pack, of all its runs in whatever order; a run that is named twice counts once."""
    by_pack: dict[str, dict[str, ResultDoc]] = {}
    for result in sorted(results, key=_run_order):
        by_pack.setdefault(result.provenance.pack_id, {})[result.run.id] = result
    return Aggregate(packs=[_pack(pack, list(by_pack[pack].values())) for pack in sorted(by_pack)])


def _run_order(result: ResultDoc) -> tuple[str, int, str]:
    """By id; of two states of one run the one judged further comes last."""
    return result.run.id, sum(cell.counts.judged for cell in result.cells), digest_of(result.to_json())


def _pack(pack: str, results: Sequence[ResultDoc]) -> PackTable:
    columns: dict[str, list[ResultDoc]] = {}
    for result in results:
        columns.setdefault(_column_key(result), []).append(result)
    members = sorted(columns.values(), key=_column_order)
    return PackTable(
        pack=pack,
        columns=[_column(own, members[0][0]) for own in members],
        rows=_rows(members),
        agreements=[
            _agreement(first, second, members)
            for second in range(len(members))
            for first in range(second)
            if _two_judges(members[first][0], members[second][0])
        ],
        rules_differ=len({result.hashes.rules for result in results}) > 1,
    )


# Columns


def _column_key(result: ResultDoc) -> str:
    return digest_of(
        [_bare(result.instrument).to_json(), result.judge and result.judge.to_json(), _cases(result)]
    )


def _bare(instrument: Instrument) -> Instrument:
    """The instrument without what was sent to single models: that belongs to the system."""
    return instrument.model_copy(update={"extra_body": {}})


def _cases(result: ResultDoc) -> list[Any]:
    return [[prompt, case.to_json()] for prompt, case in sorted(result.cases.items())]


def _column_order(results: Sequence[ResultDoc]) -> tuple[str, ...]:
    judge = results[0].judge
    named = (judge.model, judge.version or "") if judge else ("", "")
    return (*named, min(result.run.id for result in results))


def _column(results: Sequence[ResultDoc], first: ResultDoc) -> JudgeColumn:
    one = results[0]
    return JudgeColumn(
        judge=one.judge,
        needs_judge=bool(one.instrument.dimensions),
        cases=len(one.cases),
        runs=sorted(result.run.id for result in results),
        differs=_differing(first, one),
        case_sets_differ=_cases(first) != _cases(one),
    )


def _differing(first: ResultDoc, other: ResultDoc) -> list[Moved]:
    """What moved between two instruments; of judges only where both have spoken, and not the one set."""
    moved = moved_instrument(_bare(first.instrument), _bare(other.instrument), {})
    if first.judge is not None and other.judge is not None:
        return list(moved)
    return [field for field in moved if field.field.split(".")[0] != "judge"]


def _two_judges(one: ResultDoc, other: ResultDoc) -> bool:
    """Whether two different judges have spoken, on one scale of the same dimensions."""
    before, after = one.instrument, other.instrument
    if one.judge is None or other.judge is None:
        return False
    alike = before.scale == after.scale and before.dimensions == after.dimensions
    return alike and (one.judge != other.judge or before.judge != after.judge)


# Rows


def _rows(columns: Sequence[Sequence[ResultDoc]]) -> list[SystemRow]:
    found: dict[str, tuple[System, list[list[tuple[Cell, ResultDoc]]]]] = {}
    for place, results in enumerate(columns):
        for result in results:
            for cell in result.cells:
                system = _system(cell, result)
                key = digest_of(system.to_json())
                _, cells = found.setdefault(key, (system, [[] for _ in columns]))
                cells[place].append((cell, result))
    ordered = sorted(found.values(), key=lambda entry: _system_order(entry[0]))
    return [
        SystemRow(
            system=system,
            speed=_speed([cell for column in cells for cell, _ in column]),
            scores=[_score(column) if column else None for column in cells],
        )
        for system, cells in ordered
    ]


def _system(cell: Cell, result: ResultDoc) -> System:
    known = result.provenance
    return System(
        model=cell.model,
        quant=cell.quant,
        variant=cell.variant,
        variant_sha256=result.variants[cell.variant].sha256,
        extra_body=result.instrument.extra_body.get(cell.model),
        engine=known.engine,
        engine_version=known.engine_version,
        runtime=known.runtime,
        chip=known.chip,
        ram_gb=known.ram_gb,
    )


def _system_order(system: System) -> tuple[str, ...]:
    """By name: a table in the order of its scores would have a winner."""
    told = (system.model, system.variant, system.quant, system.chip, system.engine, system.engine_version)
    return (*(part or "" for part in told), digest_of(system.to_json()))


def _speed(cells: Sequence[Cell]) -> SystemSpeed:
    return SystemSpeed(
        ttft_p50=_median(cell.perf.ttft_p50 for cell in cells),
        decode_med=_median(cell.perf.decode_med for cell in cells),
        answer_tokens_med=_median(cell.answer_tokens_med for cell in cells),
        peak_ram_gb=_median(cell.perf.peak_ram_gb for cell in cells),
    )


def _median(values: Iterable[float | None]) -> float | None:
    return median([value for value in values if value is not None])


def _score(measured: Sequence[tuple[Cell, ResultDoc]]) -> SystemScore:
    cells = [cell for cell, _ in measured]
    pcts = [cell.quality.pct for cell in cells if cell.quality is not None and cell.quality.pct is not None]
    pct = mean(pcts) if pcts else None
    dimensions = measured[0][1].instrument.dimensions
    return SystemScore(
        runs=len(cells),
        scored=len(pcts),
        pct=pct,
        low=min(pcts, default=None),
        high=max(pcts, default=None),
        rubric_level=rubric_level(pct) if pct is not None and dimensions else None,
        safety_passed=_safety(cells),
        safety_gate=bool(dimensions),
        judged=sum(cell.counts.judged for cell in cells),
        planned=sum(cell.counts.planned for cell in cells),
        unjudged_rows=sum(cell.counts.rows - cell.counts.passed - cell.counts.failed for cell in cells),
    )


def _safety(cells: Sequence[Cell]) -> bool | None:
    """Unknown is not passed, and one failure is enough."""
    told = [cell.quality.safety_passed if cell.quality else None for cell in cells]
    if False in told:
        return False
    return None if None in told else True


# Judges on the same answers


class _Said(NamedTuple):
    """What one judge made of one answer, in all its verdicts of it."""

    pct: float
    knocked_out: bool | None


def _agreement(first: int, second: int, columns: Sequence[Sequence[ResultDoc]]) -> Agreement:
    rule = columns[first][0].rules.ko_rule
    one, other = _scored_answers(columns[first], rule), _scored_answers(columns[second], rule)
    shared = [(one[key], other[key]) for key in sorted(one.keys() & other.keys(), key=digest_of)]
    known = [
        (before.knocked_out, after.knocked_out)
        for before, after in shared
        if before.knocked_out is not None and after.knocked_out is not None
    ]
    return Agreement(
        first=first,
        second=second,
        rows=len(shared),
        mean_difference=mean([after.pct - before.pct for before, after in shared]) if shared else None,
        ko_rows=len(known),
        ko_both=sum(a and b for a, b in known),
        ko_first_only=sum(a and not b for a, b in known),
        ko_second_only=sum(b and not a for a, b in known),
    )


def _scored_answers(results: Sequence[ResultDoc], rule: KoRule | None) -> Mapping[AnswerKey, _Said]:
    """Each distinct answer of a column once, however many of its runs gave and judged it."""
    found: dict[AnswerKey, list[tuple[float, Row]]] = {}
    for result in results:
        for row in result.rows:
            hashes = tuple(repeat.answer_sha256 for repeat in row.repeats)
            if row.pct is not None and None not in hashes:
                case = digest_of(result.cases[row.prompt].to_json())
                found.setdefault((*row.key, case, hashes), []).append((row.pct, row))
    return {key: _said(verdicts, rule) for key, verdicts in found.items()}


def _said(verdicts: Sequence[tuple[float, Row]], rule: KoRule | None) -> _Said:
    """The mean of the verdicts; one knock-out is enough, and unknown beside it is not cleared."""
    told = [_knocked_out(row, rule) for _, row in verdicts]
    knocked_out = True if True in told else None if None in told else False
    return _Said(mean([pct for pct, _ in verdicts]), knocked_out)


def _knocked_out(row: Row, rule: KoRule | None) -> bool | None:
    """A red flag that counts, or an answer at or under the knock-out line; null where nobody said."""
    if rule is None or any(repeat.red_flag is None for repeat in row.repeats):
        return None
    counts = rule.red_flag_scope == "all" or row.prompt in rule.red_flag_prompts
    if counts and any(repeat.red_flag for repeat in row.repeats):
        return True
    scores = [repeat.scores[rule.dimension] for repeat in row.repeats if rule.dimension in repeat.scores]
    line = rule.threshold
    return line is not None and any(score <= line for score in scores)
