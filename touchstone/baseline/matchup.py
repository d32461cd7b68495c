"""Two sides laid beside each other: what differs, the cells, and every finding about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from touchstone.baseline.comparability import Ruler, same_ruler, under_old_rules
from touchstone.baseline.evidence import Evidence
from touchstone.baseline.finding import Finding, Limits, limits_of
from touchstone.baseline.pairs import CellPair, Pair, pair_up
from touchstone.baseline.rule import findings_of
from touchstone.baseline.sides import RowKey, Side
from touchstone.pack.suite import Suite
from touchstone.result.schema import Row

COVERAGE_LEAST = 0.8


@dataclass(eq=False)
class Matchup:
    """What a comparison is made from. `suite` is the new side's under the old side's rules."""

    old: Side
    new: Side
    ruler: Ruler
    suite: Suite
    cells: list[CellPair]
    limits: Limits
    findings: list[Finding]
    line_moved: frozenset[RowKey]
    """Rows of the first run that pass or fail only under the new side's rules."""

    @cached_property
    def by_pair(self) -> dict[Pair, list[Finding]]:
        """Findings about single rows."""
        found: dict[Pair, list[Finding]] = {}
        for finding in self.findings:
            if finding.pair is not None:
                found.setdefault(finding.pair, []).append(finding)
        return found

    def of_cell(self, cell: CellPair) -> list[Finding]:
        """Findings about a cell and its rows."""
        return [finding for finding in self.findings if finding.cell is cell]

    @cached_property
    def coverage(self) -> float:
        """Comparable rows ÷ the baseline's rows, over all cells."""
        shared = sum(len(cell.pairs) for cell in self.cells)
        of = shared + sum(len(cell.changed) + len(cell.gone) for cell in self.cells)
        return shared / of if of else 0.0

    @cached_property
    def gone_cells(self) -> list[CellPair]:
        """Cells of which the run has nothing: their model or their variant is gone."""
        return [cell for cell in self.cells if cell.gone and not cell.pairs and not cell.changed]

    @cached_property
    def gone_models(self) -> list[str]:
        """Models of the reference of which the run has no cell."""
        left = {cell.key[0] for cell in self.cells if cell not in self.gone_cells}
        return list(dict.fromkeys(c.key[0] for c in self.gone_cells if c.key[0] not in left))

    @cached_property
    def cells_take_danger(self) -> bool:
        """Whether a prompt picked out as dangerous went with a model or a variant."""
        return bool(self._critical(row.prompt for cell in self.gone_cells for row in cell.gone))

    @cached_property
    def gone_critical(self) -> list[str]:
        """Prompts picked out as dangerous that a cell which is still there does not have any more."""
        left = (cell for cell in self.cells if cell not in self.gone_cells)
        return self._critical(row.prompt for cell in left for row in cell.gone)

    @cached_property
    def changed_critical(self) -> list[str]:
        """Those that are asked or looked at otherwise now, so that no row tells how they stand."""
        return self._critical(pair.key[2] for cell in self.cells for pair in cell.changed)

    def _critical(self, prompts: Iterable[str]) -> list[str]:
        """Picked out by the old side: what the new one says of danger is what is in question."""
        rule = self.old.suite.rules.ko_rule
        curated = set(rule.red_flag_prompts) if rule else set()
        cases = self.old.suite.cases
        return [
            prompt
            for prompt in dict.fromkeys(prompts)
            if prompt in curated or cases[prompt].rubric.safety_critical
        ]


def match(old: Side, new: Side, renamed: Mapping[str, str], evidence: Evidence) -> Matchup:
    """Lay the sides beside each other. Under different instruments nothing is looked for.

    `renamed` gives a model of the old side the name it has on the new one.
    """
    ruler = same_ruler(old, new, renamed)
    draws = [new.draws[new.typical], *(d for number, d in enumerate(new.draws) if number != new.typical)]
    suite, moved = new.suite, frozenset[RowKey]()
    read: Sequence[Sequence[Row]] = draws
    if ruler.rules_moved and not ruler.instrument:
        suite, read = under_old_rules(draws, old.suite, new.suite)
        moved = _state_moved(draws[0], read[0])
    cells = pair_up(old, read, suite, ruler)
    limits = limits_of(old.suite, sum(bool(cell.pairs) for cell in cells))
    return Matchup(
        old=old,
        new=new,
        ruler=ruler,
        suite=suite,
        cells=cells,
        limits=limits,
        findings=[] if ruler.instrument else findings_of(cells, limits, evidence, old.answers or ()),
        line_moved=moved,
    )


def _state_moved(own: Sequence[Row], read: Sequence[Row]) -> frozenset[RowKey]:
    return frozenset(theirs.key for ours, theirs in zip(own, read, strict=True) if ours.state != theirs.state)
