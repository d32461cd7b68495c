"""The verdict rule (design 5.2): what a run raises suspicion of, and what a second measurement settles.

Five rules look at the shared rows: `suite` (a cell fell), `case` (a row fell), `check` (a check that
passed in every baseline run fails), `flag` (a red flag where no baseline run had one), `floor` (the
knock-out dimension fell to its threshold). Each finding says how it stands and what could still be
measured about it. Nothing here is random: equal sides give equal findings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from touchstone.baseline.alarms import new_flags, new_floor
from touchstone.baseline.evidence import Evidence
from touchstone.baseline.fallen_rows import fallen_rows, flipped_checks, reruns_of, tolerances
from touchstone.baseline.finding import SUSPICION_P, Finding, Limits, Outcome, further_draws
from touchstone.baseline.judge_move import rule_out_the_judge
from touchstone.baseline.pairs import CellPair
from touchstone.baseline.sides import RowKey


def findings_of(
    cells: Sequence[CellPair], limits: Limits, evidence: Evidence, stored: Collection[RowKey] = ()
) -> list[Finding]:
    """Every suspicion the candidate's first run raises, with what the later draws make of it.

    `stored`: rows of the baseline, under its names, whose answers are kept.
    """
    reruns = reruns_of(cells, limits)
    found: list[Finding] = []
    for cell in cells:
        found += _suite(cell, limits, evidence)
        found += flipped_checks(cell, reruns.check)
        found += new_flags(cell, limits, evidence)
        found += new_floor(cell, evidence)
        found += tolerances(cell)
    flipped = {finding.pair for finding in found if finding.rule == "check"}
    found += [
        finding
        for finding in fallen_rows(cells, limits, reruns)
        # Where checks are all the score there is, their own rule decides.
        if finding.cell.suite.kind == "judged" or finding.pair not in flipped
    ]
    _spare_the_obvious(found, limits)
    rule_out_the_judge(found, limits, evidence, stored)
    return found


def _spare_the_obvious(found: Sequence[Finding], limits: Limits) -> None:
    """Nothing is asked again to blame single rows of a cell that obviously fell."""
    obvious = [finding.cell for finding in found if finding.rule == "suite" and _is_obvious(finding, limits)]
    for finding in found:
        if finding.rule == "case" and finding.outcome == "open" and finding.cell in obvious:
            finding.outcome, finding.needs = "stuck", []


def _is_obvious(finding: Finding, limits: Limits) -> bool:
    drop = -(finding.cell.difference or 0.0)
    convicts = finding.outcome == "worse" and finding.p is not None and finding.p <= limits.obvious_p
    return convicts and drop >= limits.obvious_drop


def _suite(cell: CellPair, limits: Limits, evidence: Evidence) -> Iterator[Finding]:
    if cell.difference is None or cell.error is None:
        return
    drop, p = -cell.difference, cell.error.p_drop(cell.difference)
    convicts = drop >= limits.min_drop and p <= limits.alpha
    suspicious = drop >= limits.suspect_drop and p <= SUSPICION_P
    if not (convicts or suspicious):
        return
    outcome: Outcome = "worse" if convicts else "cleared"
    finding = Finding("suite", cell, None, outcome, detail=f"{cell.difference:.1f}", p=p, reason="suite")
    # A deterministic engine would only give copies, and what is obvious needs no second look.
    if not cell.deterministic and not _is_obvious(finding, limits):
        finding.needs = further_draws(cell.pairs, 1 + limits.settings.confirm_runs - cell.m)
    # One draw convicts where files are all there is, not where a second look was due and given up.
    if finding.needs and (evidence.given_up or not convicts):
        finding.outcome = "open"
    finding.confirmed = convicts and not finding.needs
    yield finding
