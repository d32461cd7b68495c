"""A baseline that a change brings along: may it stand, and what does it do to the verdict? Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from touchstone.baseline.comparison import Comparison
from touchstone.baseline.differences import differences
from touchstone.baseline.kept import suite_of
from touchstone.baseline.refusals import shown_value
from touchstone.baseline.schema import Baseline
from touchstone.errors import ExitCode
from touchstone.files import canonical
from touchstone.pack.suite import Suite


def strayed(new: Baseline, old: Baseline | None, today: Suite) -> list[str]:
    """What keeps a baseline from standing in for `old` and for what the tree says today; empty if it may."""
    return [*_replaces(new, old), *_configured(new, today), *_asked(new, today)]


def unexplained(new: Baseline, comparison: Comparison) -> list[str]:
    """What a baseline accepts and gives no reason for: codes `worse`, `safety`, `rows_gone`."""
    if (new.reason or "").strip():
        return []
    gated = new.rules.ko_rule is not None
    unsafe = gated and any(cell.quality.safety_passed is not True for cell in new.cells)
    told = {
        "worse": comparison.status == "worse",
        "safety": unsafe or comparison.reason == "changed_safety",
        "rows_gone": any(row.state == "gone" for row in comparison.rows),
    }
    return [code for code, holds in told.items() if holds]


def settled(verdict: Comparison, own: Comparison, new: Baseline, *, accept: bool) -> Comparison:
    """The verdict against the agreed baseline, given that against the one the change brings.

    What is worse than agreed is accepted where the new baseline gives a reason and the run keeps to it; a
    run that is worse than the new baseline is worse.
    """
    if own.exit != ExitCode.NOTHING_WORSE:
        worse = verdict.exit != ExitCode.WORSE and own.exit in {ExitCode.WORSE, ExitCode.NOT_JUDGED}
        told = {"status": own.status, "exit": own.exit, "reason": "own_baseline"}
        return verdict.model_copy(update=told) if worse else verdict
    if verdict.exit == ExitCode.NOTHING_WORSE:
        return verdict.model_copy(update={"status": "promotion"})
    lifted = {ExitCode.WORSE, ExitCode.NOT_COMPARABLE}
    if not accept or verdict.exit not in lifted or (_asks_for_a_reason(verdict) and not new.reason):
        return verdict
    return verdict.model_copy(
        update={"status": "promotion", "exit": int(ExitCode.NOTHING_WORSE), "accepted": new.reason}
    )


_ENDANGERS = {"gone_safety", "changed_safety", "gone_model", "gone_variant"}


def _asks_for_a_reason(verdict: Comparison) -> bool:
    return verdict.exit == ExitCode.WORSE or verdict.reason in _ENDANGERS


def _replaces(new: Baseline, old: Baseline | None) -> Iterator[str]:
    says = new.replaces.digest if new.replaces is not None else None
    stands = old.digest if old is not None else None
    if says != stands:
        yield f"it replaces {says or 'nothing'}, and the base has {stands or 'no baseline'}"


def _configured(new: Baseline, today: Suite) -> Iterator[str]:
    for place, then, now in differences(_config_of(suite_of(new)), _config_of(_as_observed(today, new))):
        yield f"{place}: {shown_value(then)} in it, {shown_value(now)} in the tree"


def _config_of(suite: Suite) -> dict[str, Any]:
    found: dict[str, Any] = canonical(
        {"instrument": suite.instrument.to_json(), "rules": suite.rules.to_json()}
    )
    return found


def _as_observed(today: Suite, new: Baseline) -> Suite:
    """The tree's suite with the judge's version as it was read when the runs were made; nobody sets it."""
    judge, observed = today.instrument.judge, new.instrument.judge
    if judge is None or observed is None:
        return today
    seen = judge.model_copy(update={"version": observed.version})
    return today.model_copy(update={"instrument": today.instrument.model_copy(update={"judge": seen})})


def _asked(new: Baseline, today: Suite) -> Iterator[str]:
    kept = suite_of(new)
    for id_ in dict.fromkeys([*kept.variants, *today.variants]):
        then, now = kept.variants.get(id_), today.variants.get(id_)
        if then is None or now is None or then.text != now.text:
            yield f"the prompt of variant {id_} is not the tree's"
    for id_ in dict.fromkeys([*kept.cases, *today.cases]):
        if _hashes(kept, id_) != _hashes(today, id_):
            yield f"case {id_} is not the tree's"


def _hashes(suite: Suite, id_: str) -> tuple[str, str] | None:
    case = suite.cases.get(id_)
    return None if case is None else (case.input_sha256, case.rubric_sha256)
