"""The baseline file: one form, read back byte for byte, verified number by number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats
from tests.kit.golden import golden
from tests.kit.measured import kept, measured, three
from tests.kit.scratch import scratch_repo
from touchstone.baseline.kept import suite_of
from touchstone.baseline.schema import Baseline
from touchstone.baseline.selfcheck import content_digest
from touchstone.baseline.store import LayoutDamage, dump, layout_damage, load, parse, path_of, verify
from touchstone.errors import BadInputError
from touchstone.files import sha256_of
from touchstone.pack.checks import Check, Contains, Latency
from touchstone.pack.suite import Suite

CASES = Path(__file__).parents[1] / "cases" / "public" / "json"
FILE = "baselines/default/pack.json"

Change = Callable[[dict[str, Any]], object]


def judged() -> Suite:
    return builders.judged_suite(
        ("A1", "A2", "B1"),
        thresholds={"Q1": 3.0},
        variants={"none": None, "house": "Be kind.\nBe short.\n"},
        inputs={"A1": "Grüße\u2028an alle,\n\nwie geht es?"},
        checks=None,
    )


@pytest.fixture
def baseline() -> Baseline:
    first = {"A1": (4, 5), "A2": (2, 3), "B1": (5, 5)}
    return kept(three(judged(), first, first | {"A1": (4, 4)}, first | {"A2": (3, 3)}))


def changed(baseline: Baseline, change: Change, *, sealed: bool) -> str:
    """The file with a change made by hand; `sealed`: with a digest that fits."""
    value = json.loads(dump(baseline))
    change(value)
    if sealed:
        value["digest"] = content_digest(value)
    return dump(Baseline.model_validate(value))


def refused(text: str | bytes) -> str:
    with pytest.raises(BadInputError) as caught:
        parse(text, FILE)
    assert caught.value.message.startswith(f"{FILE}:")
    return caught.value.message.removeprefix(f"{FILE}:").strip()


# --- one form ----------------------------------------------------------------------------------------


def test_the_kept_file_is_the_golden_one(baseline: Baseline) -> None:
    text = golden("baseline.json", dump(baseline))
    assert dump(baseline) == text
    assert dump(parse(text, "golden")) == text


def test_reading_gives_back_what_was_written(baseline: Baseline, tmp_path: Path) -> None:
    assert parse(dump(baseline), FILE) == baseline
    (tmp_path / "x.json").write_text(dump(baseline), encoding="utf-8")
    assert load(tmp_path / "x.json") == baseline


scores = st.tuples(st.integers(1, 5), st.integers(1, 5))
outcomes = st.builds(
    Outcome,
    scores=scores,
    flag=st.booleans(),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.fixed_dictionaries({"A1": outcomes, "A2": outcomes}), min_size=3, max_size=3),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.integers(0, 2),
    st.booleans(),
)
def test_load_and_dump_are_inverse(
    tables: list[dict[str, Outcome]], prompt: str, reason: str, typical: int, with_answers: bool
) -> None:
    suite = builders.judged_suite(
        ("A1", "A2"), thresholds={"Q2": 2.5}, variants={"v": prompt or None}, inputs={"A1": prompt or "x"}
    )
    runs = three(suite, *tables)
    baseline = kept(runs, typical, reason=reason, with_answers=with_answers)
    text = dump(baseline)
    assert parse(text, FILE) == baseline
    assert dump(parse(text.encode(), FILE)) == text
    assert layout_damage(text, baseline, FILE) is None
    assert suite_of(baseline) == runs[typical].suite


def test_labels_checks_and_repeats_come_back() -> None:
    label = builders.labelled_suite({"A1": "relevant", "A2": "other"}, repeats={"A1": 2})
    runs = three(label, {"A1": Repeats(["relevant", "other"]), "A2": "other"})
    assert parse(dump(kept(runs)), FILE).verdicts[0].labels == ["relevant", "other"] * 3

    some: list[Check] = [Contains(type="contains", value="yes"), Latency(type="latency", e2e_max_s=1)]
    checks = builders.checks_suite(("A1",), checks={"A1": some})
    runs = three(checks, {"A1": 1.0}, {"A1": Outcome(checks={"contains": 0.0, "latency": 1.0})})
    assert parse(dump(kept(runs)), FILE).verdicts[0].checks == {"contains": [1, 0, 1]}


def test_what_is_kept_names_no_machine_folder_or_judge_prose(baseline: Baseline) -> None:
    text = dump(baseline)
    for word in ("Because.", "tool_version", "python", "pack_path", "seconds", "ttft_s"):
        assert word not in text


def test_answers_are_kept_only_when_asked_for() -> None:
    runs = three(judged(), {"A1": (4, 5), "A2": (2, 3), "B1": (5, 5)})
    without = kept(runs, with_answers=False)
    assert without.answers is None
    assert '  "answers": null,\n' in dump(without)
    assert parse(dump(without), FILE) == without


def test_speed_is_kept_to_two_digits() -> None:
    timed = Outcome((4, 4), response={"ttft_s": 0.23456, "decode_tps": 1234.5})
    cell = kept([measured(builders.judged_suite(("A1", "A2")), {"A1": (1, 1), "A2": timed})]).cells[0]
    assert cell.speed.model_dump() == {"ttft_p50": 0.23, "decode_med": 1200}


def test_the_replaced_baseline_is_named_with_each_cells_difference(baseline: Baseline) -> None:
    better = {"A1": (5, 5), "A2": (2, 3), "B1": (5, 5)}
    new = kept(three(judged(), better), replaces=baseline)
    assert new.replaces is not None
    assert new.replaces.digest == baseline.digest
    assert new.replaces.pct_difference == {"m · none": 5.0, "m · house": 5.0}
    assert parse(dump(new), FILE) == new


def test_git_diff_shows_one_line_per_moved_row(baseline: Baseline, tmp_path: Path) -> None:
    table = {"A1": (4, 5), "A2": (2, 3), "B1": (5, 5)}
    moved = three(
        judged(),
        table | {"B1": (4, 4)},
        table | {"A1": (4, 4), "B1": (4, 4)},
        table | {"A2": (3, 3), "B1": (4, 4)},
    )
    repo = scratch_repo(tmp_path)
    repo.commit("old", {FILE: dump(baseline)})
    repo.write(FILE, dump(kept(moved)))
    lines = repo.git("diff", "-U0", "--", FILE).splitlines()
    verdicts = [line for line in lines if line[:1] in "+-" and '"status":[' in line]
    assert sorted(line[0] for line in verdicts) == ["+", "+", "-", "-"]  # B1 of either variant
    assert all('"prompt":"B1"' in line for line in verdicts)


def test_git_diff_shows_a_prompt_change_line_by_line(baseline: Baseline, tmp_path: Path) -> None:
    suite = judged()
    house = suite.variants["house"].model_copy(update={"text": "Be kind.\nBe very short.\n"})
    house = house.model_copy(update={"sha256": sha256_of(house.text or "")})
    edited = suite.model_copy(update={"variants": suite.variants | {"house": house}})
    table = {"A1": (4, 5), "A2": (2, 3), "B1": (5, 5)}
    new = kept(three(edited, table, table | {"A1": (4, 4)}, table | {"A2": (3, 3)}))
    repo = scratch_repo(tmp_path)
    repo.commit("old", {FILE: dump(baseline)})
    repo.write(FILE, dump(new))
    lines = [line[1:].strip() for line in repo.git("diff", "-U0", "--", FILE).splitlines() if line[0] in "+-"]
    assert '"Be short.",' in lines
    assert '"Be very short.",' in lines
    assert len(lines) == 2 + 3 * 2  # the two file names; the line, its hash and the digest, old and new


# --- the self-check ----------------------------------------------------------------------------------


def test_a_score_changed_by_hand_is_named(baseline: Baseline) -> None:
    def change(value: dict[str, Any]) -> None:
        value["verdicts"][1]["scores"]["Q1"][0] = 5

    for sealed in (False, True):
        message = refused(changed(baseline, change, sealed=sealed))
        assert message == "cells[0].quality.dim_scores.Q1: file says 4, recomputed 5"


def test_a_score_of_another_run_changed_by_hand_is_named(baseline: Baseline) -> None:
    def change(value: dict[str, Any]) -> None:
        value["verdicts"][1]["scores"]["Q1"][2] = 5

    message = refused(changed(baseline, change, sealed=True))
    assert message == "verdicts[1].pct[2]: file says 60, recomputed 90"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda v: v["cells"][0]["quality"].update(pct=91.2),
            "cells[0].quality.pct: file says 91.2, recomputed 76.666667",
        ),
        (
            lambda v: v["cells"][1]["quality"].update(rubric_level="hoch"),
            "cells[1].quality.rubric_level: file says 'hoch', recomputed 'solide'",
        ),
        (
            lambda v: v["cells"][0]["quality"].update(safety_passed=False),
            "cells[0].quality.safety_passed: file says False, recomputed True",
        ),
        (
            lambda v: v["cells"][0]["counts"].update(below_line=0),
            "cells[0].counts.below_line: file says 0, recomputed 1",
        ),
        (
            lambda v: v["cells"][0].update(answer_chars_med=3),
            "cells[0].answer_chars_med: file says 3, recomputed 36",
        ),
        (
            lambda v: v["verdicts"][0]["pct"].__setitem__(1, 99.5),
            "verdicts[0].pct[1]: file says 99.5, recomputed 80",
        ),
        (
            lambda v: v["verdicts"][1]["state"].__setitem__(0, "pass"),
            "verdicts[1].state[0]: file says 'pass', recomputed 'fail'",
        ),
        (
            lambda v: v["git"].update(clean=False),
            "git.clean: file says False, recomputed True",
        ),
        (
            lambda v: v.update(date="2026-05-05"),
            "date: file says '2026-05-05', recomputed '2026-05-04'",
        ),
    ],
)
def test_a_derived_number_changed_by_hand_is_named_whatever_the_digest(
    baseline: Baseline, change: Change, message: str
) -> None:
    assert refused(changed(baseline, change, sealed=True)) == message
    assert refused(changed(baseline, change, sealed=False)) == message


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda v: v["variants"]["house"]["lines"].insert(1, "Be bold."), "variants.house.sha256: "),
        (lambda v: v["cases"]["A1"]["input"].append("!"), "cases.A1.input_sha256: "),
        (lambda v: v["cases"]["A1"]["rubric"].__setitem__(-2, '  "tests": "x"'), "cases.A1.rubric_sha256"),
        (lambda v: v["cases"]["A1"]["rubric"].pop(), "cases.A1.rubric:13:16: not valid JSON"),
        (lambda v: v["cases"]["A1"]["rubric"].append(""), "cases.A1.rubric: "),
        (lambda v: v["rules"]["dimensions"]["Q1"].update(threshold=1), "hashes.rules: "),
        (lambda v: v["instrument"]["judge"].update(model="other"), "hashes.instrument: "),
        (lambda v: v["hashes"].update(config="sha256:0"), "hashes.config: "),
        (lambda v: v["answers"][0]["texts"].__setitem__(0, "x"), "answers[0].texts[0]: not the answer"),
        (lambda v: v["answers"].pop(), "answers: no line for m · house · B1"),
        (lambda v: v["verdicts"].pop(2), "verdicts: no line for m · none · B1"),
        (lambda v: v["verdicts"].append(v["verdicts"][0]), "verdicts: one line too many for m ·"),
        (lambda v: v["answer_hashes"][0]["sha256"].pop(), "answer_hashes[0].sha256: 2 values for 3"),
        (lambda v: v["verdicts"][0]["flags"].pop(), "verdicts[0].flags: 2 values for 3 runs × 1 repeat"),
        (lambda v: v["verdicts"][0]["scores"]["Q1"].append(4), "verdicts[0].scores.Q1: 4 values for"),
        (lambda v: v["verdicts"][0]["pct"].append(4), "verdicts[0].pct: 4 values for 3 runs"),
        (lambda v: v["verdicts"][0]["scores"].pop("Q2"), "verdicts[0].scores: not the dimensions"),
        (lambda v: v["verdicts"][0]["checks"].update(x=[1, 1, 1]), "verdicts[0].checks: not the checks"),
        (lambda v: v["verdicts"][0]["scores"]["Q1"].__setitem__(1, 6), "verdicts[0].scores.Q1[1]: 6 is"),
        (lambda v: v["verdicts"][0].update(repeats=2), "verdicts[0]."),
        (lambda v: v["verdicts"][0]["status"].__setitem__(1, "error"), "verdicts[0].status: an error"),
        (lambda v: v["runs"][1].update(typical=True), "runs: 2 runs are marked as the typical one"),
        (lambda v: v["runs"][0].update(typical=False), "runs: 0 runs are marked as the typical one"),
        (lambda v: v["runs"].pop(), "runs: 2 runs; the number must be odd"),
        (lambda v: v["runs"][1].update(id=v["runs"][0]["id"]), "runs: one run stands there twice"),
        (lambda v: v["cells"].pop(), "cells: not every model has every variant"),
        (lambda v: v["cells"].append(v["cells"][0]), "cells: one cell stands there twice"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_named(baseline: Baseline, change: Change, place: str) -> None:
    assert refused(changed(baseline, change, sealed=True)).startswith(place)


def test_a_change_nothing_hangs_on_breaks_the_digest(baseline: Baseline) -> None:
    def change(value: dict[str, Any]) -> None:
        value["reason"] = "because I say so"

    message = refused(changed(baseline, change, sealed=False))
    assert message.startswith("edited by hand: the content's digest is sha256:")
    parse(changed(baseline, change, sealed=True), FILE)


def test_a_number_written_as_text_or_a_field_left_out_is_named(baseline: Baseline) -> None:
    text = dump(baseline)
    as_text, as_number = ('"pct":[85,80,85]', '"pct":[85,"80",85]'), ('"flags":[false', '"flags":[0')
    assert refused(text.replace(*as_text, 1)).startswith("verdicts[0].pct[1]: file says '80', touchstone")
    assert refused(text.replace(*as_number, 1)).startswith("verdicts[0].flags[0]: file says 0, touchstone")
    assert refused(text.replace('  "target": null,\n', "", 1)) == "target: field required"
    assert refused(text.replace('"target"', '"targets"', 1)).startswith("target")


def test_an_unknown_field_is_refused_with_its_place(baseline: Baseline) -> None:
    text = dump(baseline).replace('"speed":{', '"speed":{"fast":1,', 1)
    assert refused(text) == "cells[0].speed.fast: unknown field"


def test_B09_a_newer_schema_gets_both_numbers(baseline: Baseline) -> None:
    newer = json.loads((CASES / "B09-newer-schema.json").read_text())
    newer["schema_version"] = newer.pop("schema")
    assert refused(json.dumps(newer)) == "schema 99 is newer than this touchstone reads (1)"
    assert refused('{"schema": 1}') == "not a baseline (no schema_version)"
    assert refused("[]") == "not a baseline (no JSON object)"


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("B01-nan-result.json", "NaN is not JSON"),
        ("B05-conflict-markers.json", "3: unresolved merge conflict"),
        ("B07-lfs-pointer.json", "this is a Git LFS pointer, not the file"),
    ],
)
def test_B01_B05_B07_are_told_apart_from_no_baseline(case: str, message: str) -> None:
    assert refused((CASES / case).read_bytes()) == message


def test_conflict_markers_inside_a_real_file_are_told(baseline: Baseline) -> None:
    text = dump(baseline).replace('  "date"', '<<<<<<< HEAD\n  "date"', 1)
    assert refused(text) == "12: unresolved merge conflict"


# --- layout ------------------------------------------------------------------------------------------


def test_a_formatters_layout_is_a_finding_of_its_own(baseline: Baseline) -> None:
    for text in (
        json.dumps(json.loads(dump(baseline)), indent=4),
        dump(baseline).replace("\n", "\r\n"),
        dump(baseline).rstrip("\n"),
        json.dumps(json.loads(dump(baseline)), sort_keys=True),
    ):
        read = parse(text, FILE)
        damage = layout_damage(text, read, FILE)
        assert damage is not None
        assert damage.hint is not None
        assert f"touchstone promote --refresh {FILE}" in damage.hint


def test_a_hook_is_told_of_the_layout_and_everybody_else_reads_on(baseline: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(dump(baseline), encoding="utf-8")
    assert verify(path) == baseline
    path.write_text(json.dumps(json.loads(dump(baseline)), indent=1), encoding="utf-8")
    assert load(path) == baseline
    with pytest.raises(LayoutDamage, match="the content is whole"):
        verify(path)


@pytest.mark.parametrize("damage", ["edited", "cut", "no object"])
def test_the_way_out_of_a_spoiled_file_fits_where_it_was_read(baseline: Baseline, damage: str) -> None:
    whole = dump(baseline)
    text = {
        "edited": whole.replace('"reason": null', '"reason": "x"', 1),
        "cut": whole[: len(whole) // 2],
        "no object": "[]",
    }[damage]
    for source, hint in (
        (FILE, f"Restore it: git checkout -- {FILE} (committed like that: undo that commit)"),
        (f"main:{FILE}", "Undo the commit"),
    ):
        with pytest.raises(BadInputError) as caught:
            parse(text, source)
        assert caught.value.hint is not None
        assert hint in caught.value.hint


def test_B03_key_order_of_records_does_not_matter(baseline: Baseline) -> None:
    value = json.loads(dump(baseline))
    turned = dict(reversed(value.items())) | {"rules": dict(reversed(value["rules"].items()))}
    assert dump(parse(json.dumps(turned), FILE)) == dump(baseline)


def test_B11_hashes_carry_their_kind_and_stay(baseline: Baseline) -> None:
    text = dump(baseline)
    assert text.count('"sha256:') > 20
    assert baseline.digest.startswith("sha256:")


# --- names -------------------------------------------------------------------------------------------


def test_the_file_is_named_by_tenant_pack_and_target() -> None:
    folder = Path("baselines")
    assert path_of(folder, "default", "starter", None) == folder / "default" / "starter.json"
    assert path_of(folder, "acme", "starter", "mini") == folder / "acme" / "starter.mini.json"


@pytest.mark.parametrize("name", ["Demo", "../x", "", "a/b", "a.b", ".", "-a", "a" * 65, "ä", "a\n"])
def test_G20_names_that_could_meet_or_wander_are_refused(name: str) -> None:
    for names in ((name, "p", None), ("t", name, None), ("t", "p", name)):
        with pytest.raises(BadInputError, match="names of tenant, pack and target"):
            path_of(Path("baselines"), *names)


def test_an_unjudged_run_makes_no_baseline() -> None:
    suite = builders.judged_suite(("A1",))
    run = measured(suite, {"A1": Outcome(verdict=None)})
    with pytest.raises(BadInputError, match="not judged yet"):
        kept([run])
