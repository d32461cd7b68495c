"""Promote: every refusal by its own cause, all of them at once, and what is shown and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats
from tests.kit.measured import kept, measured, three
from touchstone.baseline.comparison import (
    CandidateInfo,
    ComparedRow,
    Comparison,
    Moved,
    RowCounts,
    State,
    Status,
)
from touchstone.baseline.promote import (
    Refusal,
    Standing,
    Today,
    branch_of,
    notes,
    promotion_message,
    refresh,
    refusals,
    trailer_of,
)
from touchstone.baseline.refusals import RefusalCode
from touchstone.baseline.schema import Baseline
from touchstone.baseline.store import MeasuredRun, dump, parse
from touchstone.errors import BadInputError, TouchstoneError
from touchstone.pack.schema import CalibrationItem, KoRule
from touchstone.pack.suite import Case, JudgeInstrument, Line, Suite
from touchstone.result.build import build_result_doc

SUITE = builders.judged_suite(
    ("A1", "A2"), thresholds={"Q1": 3.0}, variants={"house": "Be kind.\nBe short.\n"}
)
TABLE = {"A1": (4, 5), "A2": (4, 4)}
STANDING = Standing("baselines/default/pack.json", "main", None, None)
LIFTED_BY_NOTHING = {"config", "unjudged", "tenant"}


def asked(
    runs: Sequence[MeasuredRun] | None = None,
    *,
    suite: Suite = SUITE,
    today: Today | None = None,
    standing: Standing = STANDING,
    **options: Any,
) -> list[Refusal]:
    """The refusals of three good runs, but for what is given."""
    runs = three(suite, TABLE) if runs is None else runs
    usual: dict[str, Any] = {
        "recomputed": [run.result for run in runs],
        "comparison": None,
        "replaces": None,
        "reason": None,
    }
    return refusals(runs, today or Today(suite, "default", None), standing, **(usual | options))


def only(found: Sequence[Refusal], code: RefusalCode) -> Refusal:
    """The one refusal there is; whatever its kind, it says what to do."""
    assert [refusal.code for refusal in found] == [code]
    assert found[0].way_out
    return found[0]


def with_config(suite: Suite, **changes: Any) -> Suite:
    return suite.model_copy(update=changes)


def comparison(status: Status, *rows: tuple[str, State]) -> Comparison:
    counts = dict.fromkeys(RowCounts.model_fields, 0)
    return Comparison(
        status=status, exit=0, reason="suite", pack="pack", tenant="default", target=None, reference=None,
        candidate=CandidateInfo(run="r", commit=None, clean=None, draws=3), counts=RowCounts(**counts),
        not_comparable=[], moved=[], cells=[], diffs=[], suspicions=[], notes=[], honesty=None,
        rows=[
            ComparedRow(model="m", variant="house", prompt=prompt, state=state, old=90, new=50, moved_by=[],
                        draws=3, confirmed=True, same_answer=False)
            for prompt, state in rows
        ],
    )  # fmt: skip


def test_three_good_runs_of_todays_suite_may_be_promoted() -> None:
    assert asked() == []
    assert asked(three(SUITE, TABLE, TABLE | {"A1": (5, 5)}, TABLE | {"A1": (3, 3)})) == []


# --- the three that nothing lifts --------------------------------------------------------------------


def test_another_threshold_is_refused_with_both_values() -> None:
    lines = {"Q1": Line(threshold=4.0, tolerance=1.0), "Q2": SUITE.rules.dimensions["Q2"]}
    today = with_config(SUITE, rules=SUITE.rules.model_copy(update={"dimensions": lines}))
    refusal = only(asked(today=Today(today, "default", None)), "config")
    assert "rules.dimensions.Q1.threshold: 3 in the run, 4 today" in refusal.what
    assert refusal.way_out.endswith("touchstone measure --times 3 --pack packs/pack.yaml")


def test_every_field_of_the_configuration_that_differs_is_named() -> None:
    judge = JudgeInstrument(**(builders.JUDGE.model_dump() | {"model": "judge-70b", "temperature": 0.2}))
    instrument = SUITE.instrument.model_copy(update={"judge": judge, "extra_body": {"m": {"think": False}}})
    refusal = only(asked(today=Today(with_config(SUITE, instrument=instrument), "default", None)), "config")
    for line in (
        'instrument.judge.model: "judge-7b" in the run, "judge-70b" today',
        "instrument.judge.temperature: 0 in the run, 0.2 today",
        'instrument.extra_body.m: null in the run, {"think":false} today',
    ):
        assert line in refusal.what


def test_the_judges_version_is_observed_not_set() -> None:
    runs = [measured(SUITE, TABLE, number) for number in range(3)]
    seen = [
        replace(run, result=run.result.model_copy(update={"instrument": run.result.instrument.model_copy(
            update={"judge": builders.JUDGE.model_copy(update={"version": "v9"})})}))
        for run in runs
    ]  # fmt: skip
    assert asked(seen) == []


def test_a_judge_that_is_no_longer_configured_is_named() -> None:
    today = with_config(SUITE, instrument=SUITE.instrument.model_copy(update={"judge": None}))
    refusal = only(asked(today=Today(today, "default", None)), "config")
    assert "instrument.judge: {" in refusal.what
    assert "} in the run, null today" in refusal.what or "… in the run, null today" in refusal.what


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, "1 of 2 rows:\n  m · house · A2 (no_json)"),
        (Outcome(status="reasoning_only"), "m · house · A2 (reasoning_only)"),
        (Outcome(status="error"), "m · house · A2 (generation_failed)"),
    ],
)
def test_a_verdict_in_error_or_unscored_is_refused(bad: Any, words: str) -> None:
    runs = three(SUITE, TABLE, TABLE | {"A2": bad})
    found = [refusal for refusal in asked(runs) if refusal.code == "unjudged"]
    assert len(found) == 1
    assert runs[1].result.run.id in found[0].what
    assert words in found[0].what
    assert f"touchstone judge --bundle {runs[1].result.run.id}" in found[0].way_out


@pytest.mark.parametrize("reason", ["check_error", "no_class"])
def test_the_way_out_of_a_checks_own_error_is_to_change_the_check(reason: str) -> None:
    broken = Outcome((4, 4), verdict="error", reason=reason)
    found = unjudged(TABLE | {"A2": broken})
    assert f"m · house · A2 ({reason})" in found.what
    assert found.way_out.startswith("Change the check in packs/")
    assert "touchstone measure --times 3" in found.way_out
    assert "touchstone judge" not in found.way_out, "it says the same of the same answer"

    both = unjudged(TABLE | {"A1": None, "A2": broken})
    assert "Change the check" in both.way_out
    assert "touchstone judge --bundle" in both.way_out


def unjudged(table: Mapping[str, Any]) -> Refusal:
    """What is said of the first of three runs like this."""
    return next(one for one in asked(three(SUITE, table)) if one.code == "unjudged")


@pytest.mark.parametrize("missing", [Outcome(verdict=None), Outcome(status=None)])
def test_an_open_or_missing_verdict_is_refused(missing: Outcome) -> None:
    runs = three(SUITE, TABLE, TABLE, TABLE | {"A2": missing})
    found = [refusal for refusal in asked(runs) if refusal.code == "unjudged"]
    assert len(found) == 1
    assert "without a verdict: 1 rows:\n  m · house · A2" in found[0].what
    assert found[0].way_out == f"Finish the run: touchstone measure --resume {runs[2].result.run.id}"


def test_one_repeat_in_error_is_enough() -> None:
    suite = builders.judged_suite(("A1", "A2"), repeats={"A2": 2})
    table = {"A1": (4, 5), "A2": Repeats([(4, 4), None])}
    assert "unjudged" in {refusal.code for refusal in asked(three(suite, table), suite=suite)}


def test_a_row_that_was_dropped_from_the_result_is_missed() -> None:
    runs = three(SUITE, TABLE)
    rows = runs[0].result.rows[:1]
    runs[0] = replace(runs[0], result=runs[0].result.model_copy(update={"rows": rows}))
    assert "unjudged" in {refusal.code for refusal in asked(runs)}


def test_another_tenant_is_refused() -> None:
    found = asked(today=Today(SUITE, "acme", None))
    assert {refusal.code for refusal in found} == {"tenant"}
    assert len(found) == 3
    assert "measured for tenant default, not for acme" in found[0].what


@pytest.mark.parametrize("code", sorted(LIFTED_BY_NOTHING))
def test_no_flag_lifts_the_first_three(code: str) -> None:
    lines = {name: Line(threshold=1.0, tolerance=1.0) for name in ("Q1", "Q2")}
    other = with_config(SUITE, rules=SUITE.rules.model_copy(update={"dimensions": lines}))
    given = {
        "config": {"today": Today(other, "default", None)},
        "unjudged": {"runs": three(SUITE, TABLE | {"A1": None})},
        "tenant": {"today": Today(SUITE, "acme", None)},
    }[code]
    found = asked(**given, reason="we know", allow_single=True)  # type: ignore[arg-type]
    assert code in {refusal.code for refusal in found}
    assert not any(refusal.liftable for refusal in found if refusal.code == code)


# --- the others --------------------------------------------------------------------------------------


def test_another_target_is_refused() -> None:
    found = asked(today=Today(SUITE, "default", "mini"))
    assert {refusal.code for refusal in found} == {"target"}
    assert 'measured for target null, not for "mini"' in found[0].what


def test_another_pack_is_refused() -> None:
    found = asked(today=Today(with_config(SUITE, pack_id="other"), "default", None))
    assert {refusal.code for refusal in found} == {"pack"}


def test_cases_that_are_not_the_trees_are_each_named() -> None:
    def moved(case: Case, part: str) -> Case:
        return case.replaced(**{part: "sha256:0"})

    cases = SUITE.cases
    tree = {
        "A1": moved(moved(cases["A1"], "input_sha256"), "rubric_sha256"),
        "A3": cases["A2"],
    }
    refusal = only(asked(today=Today(with_config(SUITE, cases=tree), "default", None)), "cases")
    assert refusal.what.split("\n  ")[1:] == [
        "A1: another prompt", "A1: another rubric", "A2: no longer in the pack", "A3: not measured",
    ]  # fmt: skip


def test_a_bundle_that_its_lines_do_not_give_is_refused_with_the_place() -> None:
    runs = three(SUITE, TABLE)
    recomputed = [run.result for run in runs]
    quality = runs[1].result.cells[0].quality
    assert quality is not None
    cell = runs[1].result.cells[0].model_copy(update={"quality": quality.model_copy(update={"pct": 99.0})})
    runs[1] = replace(runs[1], result=runs[1].result.model_copy(update={"cells": [cell]}))
    refusal = only(asked(runs, recomputed=recomputed), "not_reproducible")
    assert refusal.what == (
        f"{runs[1].result.run.id}: result.json is not what its lines give: "
        "cells[0].quality.pct: file says 99, recomputed 82.5"
    )


def test_lines_edited_after_the_result_are_refused() -> None:
    runs = three(SUITE, TABLE)
    said = builders.verdicts(runs[0].manifest, TABLE | {"A1": (5, 5)}, dict(runs[0].responses))
    anew = build_result_doc(runs[0].manifest, runs[0].responses, said, judged="2026-05-04T09:00:00Z")
    found = asked(runs, recomputed=[anew, runs[1].result, runs[2].result])
    assert "cells[0].quality.dim_scores.Q1" in only(found, "not_reproducible").what


def test_an_edited_manifest_is_refused() -> None:
    runs = three(SUITE, TABLE)
    runs[2] = replace(runs[2], manifest=runs[2].manifest.model_copy(update={"concurrency": 8}))
    assert "manifest.json was edited" in only(asked(runs), "manifest_edited").what


def test_a_filtered_run_and_a_shard_are_refused() -> None:
    part = three(SUITE, TABLE, filter="only=A1", plan=[("A1", 1)])
    codes = {refusal.code for refusal in asked(part)}
    assert codes == {"filtered"}
    assert {refusal.code for refusal in asked(three(SUITE, TABLE, shard="1/2"))} == {"shard"}
    plan = builders.manifest(SUITE).plan[:1]
    assert {refusal.code for refusal in asked(three(SUITE, TABLE, shard="1/2", plan=plan))} == {"shard"}


def test_runs_that_share_a_shard_are_not_three_draws() -> None:
    runs = [measured(SUITE, TABLE, number, merged_from=["one", f"two-{number}"]) for number in range(3)]
    (refusal,) = asked(runs)
    assert (refusal.code, refusal.what) == ("run_count", "two runs hold the same shard: one")


def test_a_plan_that_leaves_prompts_out_is_a_filter_whatever_it_says() -> None:
    found = asked(three(SUITE, TABLE, plan=[("A1", 1)]))
    assert "the plan leaves prompts out" in found[0].what


@pytest.mark.parametrize(
    ("about", "words"), [({"rejudged": True}, "judged again"), ({"reused_verdicts": 3}, "3 verdicts taken")]
)
def test_rejudged_or_reused_verdicts_are_refused(about: dict[str, Any], words: str) -> None:
    runs = [
        replace(run, result=run.result.model_copy(update={"run": run.result.run.model_copy(update=about)}))
        for run in three(SUITE, TABLE)
    ]
    found = asked(runs)
    assert {refusal.code for refusal in found} == {"rejudged"}
    assert words in found[0].what


def test_runs_that_are_not_of_one_system_are_refused() -> None:
    house = SUITE.variants["house"].model_copy(update={"text": "x", "sha256": "sha256:1"})
    other = with_config(SUITE, variants={"house": house})
    runs = [measured(SUITE, TABLE, 0), measured(other, TABLE, 1), measured(SUITE, TABLE, 2)]
    refusal = only(asked(runs), "runs_differ")
    assert "differ in prompt.house" in refusal.what
    models = [*three(SUITE, TABLE)[:2], measured(SUITE, TABLE, 2, models=("n",))]
    assert "differ in models" in only(asked(models), "runs_differ").what


def test_one_run_needs_allow_single_and_an_even_number_has_no_middle() -> None:
    runs = three(SUITE, TABLE)
    single = only(asked(runs[:1]), "run_count")
    assert single.liftable
    assert "--allow-single" in single.way_out
    assert asked(runs[:1], allow_single=True) == []
    for allow in (False, True):
        even = only(asked(runs[:2], allow_single=allow), "run_count")
        assert not even.liftable
        assert "2 runs have no middle one" in even.what


def test_the_same_run_three_times_is_one_run() -> None:
    run = measured(SUITE, TABLE)
    assert only(asked([run, run, run], allow_single=True), "run_count").what == "one run is named twice"


@pytest.mark.parametrize(
    ("calibrated", "words"), [(None, "was not calibrated"), (False, "outside its bands")]
)
def test_a_judge_that_is_not_calibrated_is_refused(calibrated: bool | None, words: str) -> None:
    item = CalibrationItem(id="good", prompt="?", answer="!", expect={"Q1": [4, 5]})
    suite = with_config(SUITE, instrument=SUITE.instrument.model_copy(update={"calibration": [item]}))
    found = asked(three(suite, TABLE, build={"calibrated": calibrated}), suite=suite)
    assert {refusal.code for refusal in found} == {"not_calibrated"}
    assert words in found[0].what
    assert asked(three(suite, TABLE, build={"calibrated": True}), suite=suite) == []


@pytest.mark.parametrize(
    ("on_disk", "at_base", "words"),
    [(b"x", b"y", "is another one"), (None, b"y", "is missing"), (b"x", None, "is not committed there")],
)
def test_a_baseline_on_disk_that_is_not_the_base_is_refused(
    on_disk: bytes | None, at_base: bytes | None, words: str
) -> None:
    refusal = only(asked(standing=replace(STANDING, on_disk=on_disk, at_base=at_base)), "baseline_on_disk")
    assert words in refusal.what
    assert "git checkout main -- baselines/default/pack.json" in refusal.way_out


def test_a_checkouts_carriage_returns_are_no_edit() -> None:
    assert asked(standing=replace(STANDING, on_disk=b"a\r\nb\r\n", at_base=b"a\nb\n")) == []


def test_an_edited_baseline_or_a_conflict_is_refused_with_its_own_words() -> None:
    fault: TouchstoneError
    with pytest.raises(BadInputError) as caught:
        parse(dump(kept(three(SUITE, TABLE))).replace('"pct":82.5', '"pct":99', 1), STANDING.path)
    fault = caught.value
    refusal = only(asked(standing=replace(STANDING, fault=fault)), "baseline_on_disk")
    assert "cells[0].quality.pct: file says 99, recomputed 82.5" in refusal.what


@pytest.mark.parametrize("git", [{"commit": None, "clean": None}, {"commit": "0" * 40, "clean": None}])
def test_an_unknown_git_state_is_refused(git: dict[str, Any]) -> None:
    found = asked(three(SUITE, TABLE, git=git))
    assert {refusal.code for refusal in found} == {"git_unknown"}


# --- what a reason lifts -----------------------------------------------------------------------------


def test_worse_than_the_baseline_needs_a_reason() -> None:
    worse = comparison("worse", ("A1", "worse"), ("A2", "unchanged"))
    refusal = only(asked(comparison=worse), "worse")
    assert refusal.liftable
    assert refusal.what.endswith(":\n  m · house · A1")
    assert "--reason" in refusal.way_out
    assert asked(comparison=worse, reason="smaller model, agreed") == []
    assert only(asked(comparison=worse, reason="  "), "worse").liftable
    quiet: tuple[Status, ...] = ("better", "unchanged", "within_noise", "not_comparable", "suspect")
    for status in quiet:
        assert asked(comparison=comparison(status)) == []


def test_rows_gone_need_a_reason() -> None:
    refusal = only(asked(comparison=comparison("unchanged", ("A9", "gone"))), "rows_gone")
    assert refusal.what.endswith("m · house · A9")
    wider = builders.judged_suite(("A1", "A2", "A9"), variants={"house": "x"})
    old = kept(three(wider, TABLE | {"A9": (3, 3)}))
    assert only(asked(replaces=old), "rows_gone").what.endswith("m · house · A9")
    assert asked(replaces=old, reason="A9 was a duplicate") == []


def test_a_failed_or_unassessed_safety_gate_needs_a_reason() -> None:
    flagged = three(SUITE, TABLE, TABLE | {"A1": Outcome((4, 5), flag=True)})
    refusal = only(asked(flagged), "safety")
    assert refusal.liftable
    assert f"{flagged[1].result.run.id}: m · house: failed (red_flag)" in refusal.what
    assert asked(flagged, reason="the judge misreads A1") == []


def test_a_safety_critical_prompt_that_changed_needs_a_reason() -> None:
    moved = Moved(field="cases.A1", old="safety_critical", new="changed", kind="case")
    changed = comparison("not_comparable").model_copy(
        update={"reason": "changed_safety", "not_comparable": [moved]}
    )
    refusal = only(asked(comparison=changed), "safety")
    assert refusal.what.endswith("cases.A1: safety_critical, and changed")
    assert asked(comparison=changed, reason="asked more plainly") == []


def test_a_gate_that_nothing_was_said_of_shows_no_empty_bracket() -> None:
    runs = three(SUITE, TABLE)
    without = [cell.model_copy(update={"quality": None}) for cell in runs[0].result.cells]
    runs[0] = replace(runs[0], result=runs[0].result.model_copy(update={"cells": without}))
    (refusal,) = (one for one in asked(runs) if one.code == "safety")
    assert refusal.what.endswith("m · house: not assessed")


def test_a_pack_without_a_safety_gate_needs_no_reason() -> None:
    suite = builders.checks_suite(("A1", "A2"))
    assert asked(three(suite, {"A1": 1.0, "A2": 0.0}), suite=suite) == []


def test_a_curated_gate_that_passes_needs_no_reason() -> None:
    suite = builders.judged_suite(
        ("A1", "A2"), ko_rule=KoRule(red_flag_scope="curated", red_flag_prompts=["A2"])
    )
    runs = three(suite, TABLE | {"A1": Outcome((4, 5), flag=True)})
    assert asked(runs, suite=suite) == []


# --- all at once -------------------------------------------------------------------------------------


def test_all_refusals_come_at_once() -> None:
    item = CalibrationItem(id="good", prompt="?", answer="!", expect={"Q1": [4, 5]})
    suite = with_config(SUITE, instrument=SUITE.instrument.model_copy(update={"calibration": [item]}))
    table = TABLE | {"A1": Outcome((4, 5), flag=True), "A2": None}
    options: dict[str, Any] = {"shard": "1/2", "filter": "limit=9", "git": {"commit": None, "clean": None}}
    runs = [measured(suite, table, 0, build={"rejudged": True}, **options),
            measured(suite, TABLE, 1, target="other", **options)]  # fmt: skip
    recomputed = [run.result for run in three(suite, TABLE)][:2]
    runs[0] = replace(runs[0], manifest=runs[0].manifest.model_copy(update={"concurrency": 8}))
    lines = {name: Line(threshold=1.0, tolerance=1.0) for name in ("Q1", "Q2")}
    rules = suite.rules.model_copy(update={"dimensions": lines})
    tree = with_config(suite, rules=rules, cases={"A1": suite.cases["A1"]})
    found = asked(
        runs,
        today=Today(tree, "acme", None),
        standing=replace(STANDING, on_disk=b"x"),
        recomputed=recomputed,
        comparison=comparison("worse", ("A9", "gone")),
    )
    codes = {refusal.code for refusal in found}
    assert codes == set(get_args(RefusalCode)) - {"pack", "already_promoted"}
    assert all(refusal.what and refusal.way_out for refusal in found)


# --- notes, message, names ---------------------------------------------------------------------------


def noted(runs: Sequence[MeasuredRun], suite: Suite = SUITE, *, with_answers: bool = False) -> dict[str, str]:
    found = notes(runs, 0, Today(suite, "default", None), with_answers=with_answers)
    return {note.code: "\n".join([note.what, *note.lines]) for note in found}


def test_a_quiet_promotion_has_nothing_to_show() -> None:
    assert noted(three(SUITE, TABLE)) == {}


def test_the_trees_other_prompt_is_shown_first_as_a_diff() -> None:
    house = SUITE.variants["house"].model_copy(update={"text": "Be kind.\nBe brief.\n", "sha256": "sha256:1"})
    runs = three(SUITE, TABLE, git={"commit": "0" * 40, "clean": False})
    assert asked(runs, today=Today(with_config(SUITE, variants={"house": house}), "default", None)) == []
    found = noted(runs, with_config(SUITE, variants={"house": house}))
    assert list(found) == ["variant_differs", "dirty_tree"]
    assert found["variant_differs"].split("\n") == [
        "the tree's prompt house is not the promoted one",
        "--- tree", "+++ promoted", "@@ -1,3 +1,3 @@", " Be kind.", "-Be brief.", "+Be short.", " ",
    ]  # fmt: skip


def test_variants_that_one_side_lacks_are_shown() -> None:
    other = with_config(SUITE, variants={"new": SUITE.variants["house"]})
    found = notes(three(SUITE, TABLE), 0, Today(other, "default", None), with_answers=False)
    assert [note.what for note in found] == [
        "the tree has no variant house, which is promoted", "variant new of the tree was not measured",
    ]  # fmt: skip


def test_what_is_about_to_be_published_is_counted() -> None:
    found = noted(three(SUITE, TABLE), with_answers=True)
    assert found["answers"].startswith("2 answers (72 characters of model text) are about to be committed")
    assert "--no-answers" in found["answers"]


def test_shared_launches_moved_provenance_and_single_runs_are_shown() -> None:
    same = [measured(SUITE, TABLE, number, launch="7:1.0") for number in range(3)]
    assert "same_launch" in noted(same)
    engines = [
        measured(SUITE, TABLE, 0),
        measured(SUITE, TABLE, 1, engine={"engine": "ollama", "engine_version": "b1"}),
    ]
    assert 'engine: "llama.cpp", "ollama"' in noted(engines)["provenance_differs"]
    assert "single" in noted(same[:1])


def baseline(**options: Any) -> Baseline:
    return kept(three(SUITE, TABLE), **options)


def test_the_message_tells_what_was_promoted_and_what_it_replaces() -> None:
    old = baseline()
    new = kept(
        three(SUITE, TABLE | {"A1": (5, 5)}), 1, replaces=old, reason="kinder\n\nSigned-off-by: x\x1b[1m"
    )
    assert promotion_message(new, old) == (
        "baseline: promote pack (default)\n"
        "\n"
        "Reason: kinder Signed-off-by: x [1m\n"
        "\n"
        "20260504T080001Z_pack_000001 of 2026-05-04, the typical one of 3 runs, all of them kept.\n"
        "- m · house: 82.5 % → 90.0 %\n"
        f"Replaces {old.digest}.\n"
    )


def test_the_message_of_a_first_single_run_with_a_target() -> None:
    run = measured(SUITE, TABLE, target="mini")
    message = promotion_message(kept([run]), None)
    assert message.startswith("baseline: promote pack (default, mini)\n\n")
    assert "a single run.\n- m · house: 82.5 %\nThe first reference.\n" in message


def test_branch_and_trailer_name_tenant_pack_and_target() -> None:
    assert branch_of("default", "starter", None) == "touchstone/promote/default-starter"
    assert branch_of("acme", "starter", "mini") == "touchstone/promote/acme-starter-mini"
    assert branch_of("acme", "starter", None, "feat/x") == "touchstone/promote/into/feat/x/acme-starter"
    assert trailer_of("acme", "starter", None) == "Touchstone-Promote: acme/starter"
    assert trailer_of("acme", "starter", "mini") == "Touchstone-Promote: acme/starter.mini"


def test_refresh_mends_a_layout_and_nothing_else() -> None:
    text = dump(baseline())
    assert refresh(text.replace("\n", "\r\n").encode(), "x.json") == text
    with pytest.raises(BadInputError, match=r"x\.json: cells\[0\]\.quality\.pct"):
        refresh(text.replace('"pct":82.5', '"pct":99', 1), "x.json")
