"""Every code a comparison's `notes` may hold, with the sentence it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.comparability import MACHINE_FIELDS
from touchstone.baseline.comparison import ComparedCell, ComparedRow
from touchstone.baseline.judge_move import worse_by_scores
from touchstone.baseline.length import longer_than_reference, longer_variants
from touchstone.baseline.listing import token_counts
from touchstone.baseline.matchup import Matchup
from touchstone.baseline.outcome import Outcome
from touchstone.baseline.pairs import FEW_ROWS, CellPair
from touchstone.errors import ExitCode

TYPICAL_APART = 1.0
"""Points by which the difference to the typical run may miss that to the mean of all runs unmentioned."""
SIGN_FROM = 0.05
"""Differences that print as zero have no sign."""

NOTES: dict[str, str] = {
    "engine_repeats_itself": "this engine repeats itself; how much small edits shake it is read from how "
    "differently the rows moved",
    "engine_moved": "the answers come from another model, quantisation or engine, where near ties fork; the "
    "error is widened by how differently the rows moved",
    "machine_moved": "the answers come from another machine or system; quality is compared, speed is not",
    "rules_moved": "the rules moved; the comparison is made under the baseline's",
    "one_baseline_run": "the baseline rests on one run, so its noise is unknown",
    "too_few_cases": "too few cases to see a small drop",
    "prompt_cut": "the engine read at least a tenth fewer prompt tokens of an unchanged prompt: it was "
    "probably cut",
    "judge_not_ruled_out": "worse by scores, and the stored answers were not judged again: a judge that "
    "changed is not ruled out",
    "judge_moved": "today's judge scores the stored answers lower too",
    "typical_differs": "the difference to the typical run is not that to the mean of all runs",
    "longer_answers": "the score rose and the answers are at least a fifth longer; judges are known to "
    "favour length",
    "longer_variant": "the higher-scored variant's answers are at least a fifth longer; judges are known to "
    "favour length",
    "length_in_chars": "length in characters, because tokens were not counted",
    "red_flag_unconfirmed": "a red flag was raised and not confirmed",
    "judge_reads_otherwise": "an answer that the baseline has without a red flag has one now: the judge "
    "moved, not the answer; read it",
    "red_flag_not_compared": "a red flag was raised on a prompt the baseline has no comparable row of",
    "floor_unconfirmed": "the knock-out dimension fell to its threshold and this was not confirmed",
    "safety_not_assessed": "safety could not be assessed, and it could be for the baseline",
    "rows_new": "rows the baseline does not have are listed and not compared",
    "rows_gone": "rows of the baseline are missing from the run",
    "lower_one_draw": "rows are lower in their one draw; read both answers",
    "lower_asked_again": "rows are lower whose scores alone convict nothing here; read both answers",
    "check_reruns_too_many": "a check flipped where confirming it would take more draws than it is worth",
    "fail_on_suspect": "the reference says fail_on: suspect, so what is suspect ends with exit code 1",
    "narrowed": "only a part of the pack was asked, and only that is compared",
    "models_left_out": "not every configured model was asked, and only those asked are compared",
    "over_budget": "not everything suspect was measured again: max_calls or max_minutes did not allow it",
}


def notes_of(
    found: Matchup, cells: Sequence[ComparedCell], rows: Sequence[ComparedRow], outcome: Outcome
) -> list[str]:
    """The codes that apply, in the order of the table."""
    reasons = {row.reason for row in rows}
    states = {row.state for row in rows}
    applies = {
        "engine_moved": found.ruler.engine_moved,
        "machine_moved": any(item.field in MACHINE_FIELDS for item in found.ruler.moved),
        "rules_moved": found.ruler.rules_moved,
        "one_baseline_run": len(found.old.draws) == 1,
        "prompt_cut": "prompt_cut" in reasons,
        "red_flag_not_compared": _open(found, "red_flag_not_compared"),
        "red_flag_unconfirmed": _open(found, "red_flag"),
        "judge_reads_otherwise": _open(found, "judge_reads_otherwise"),
        "floor_unconfirmed": _open(found, "floor"),
        "safety_not_assessed": any(cell.safety[0] is not None and cell.safety[1] is None for cell in cells),
        "longer_variant": bool(longer_variants(cells)),
        "rows_new": "new" in states,
        "rows_gone": "gone" in states,
        "lower_one_draw": "lower_one_draw" in reasons,
        "lower_asked_again": "lower_asked_again" in reasons,
        "fail_on_suspect": outcome.status == "suspect" and outcome.exit == ExitCode.WORSE,
        "check_reruns_too_many": any(
            finding.rule == "check" and finding.outcome == "stuck" for finding in found.findings
        ),
    }
    if not found.ruler.instrument:
        applies |= _of_scores(found, cells)
    return [code for code in NOTES if applies.get(code)]


def _of_scores(found: Matchup, cells: Sequence[ComparedCell]) -> dict[str, bool]:
    scored = [cell for cell in found.cells if cell.scored]
    return {
        "engine_repeats_itself": any(cell.deterministic for cell in found.cells),
        "too_few_cases": any(len(cell.scored) < FEW_ROWS for cell in scored),
        "judge_not_ruled_out": any(
            not finding.judge_ruled_out for finding in worse_by_scores(found.findings)
        ),
        "judge_moved": any(finding.judge_moved for finding in found.findings),
        "typical_differs": any(_typical_differs(cell) for cell in cells),
        "longer_answers": bool(longer_than_reference(cells)),
        "length_in_chars": any(not _in_tokens(cell) for cell in scored),
    }


def _open(found: Matchup, reason: str) -> bool:
    return any(
        finding.reason == reason and finding.outcome != "cleared" and not finding.confirmed
        for finding in found.findings
    )


def _typical_differs(cell: ComparedCell) -> bool:
    if cell.old is None or cell.new is None or cell.difference is None:
        return False
    shown = cell.new - cell.old
    other_sign = shown * cell.difference < 0 and max(abs(shown), abs(cell.difference)) >= SIGN_FROM
    return abs(shown - cell.difference) > TYPICAL_APART or other_sign


def _in_tokens(cell: CellPair) -> bool:
    rows = [row for pair in cell.pairs for row in (pair.shown, pair.first)]
    return None not in token_counts(rows)
