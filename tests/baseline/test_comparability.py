"""The same ruler? What may differ between two sides, and what each difference does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.kit import builders
from tests.kit.compared import baseline, compared, repeating, row
from touchstone.baseline.comparability import model_names
from touchstone.baseline.comparison import Comparison, MovedKind, State, Status
from touchstone.baseline.sides import Side
from touchstone.config import CompareSettings
from touchstone.errors import ExitCode, RefusedError
from touchstone.files import digest_of
from touchstone.pack.checks import Check, Levenshtein
from touchstone.pack.schema import CalibrationItem, KoRule, Sampling
from touchstone.pack.suite import Rules, Suite
from touchstone.render.comings import comings
from touchstone.render.words import Words

PROMPTS = [f"P{number:02}" for number in range(20)]
NEAR: dict[str, list[Check]] = {"P04": [Levenshtein(type="levenshtein", value="yes", threshold=0.5)]}
USUAL: dict[str, Any] = {
    "thresholds": {"Q1": 3.0},
    "critical": ["P09"],
    "ko_rule": KoRule(red_flag_prompts=["P08"]),
    "variants": {"house": "Be kind.\nBe short."},
    "checks": NEAR,
}


def suite(prompts: list[str] = PROMPTS, **options: Any) -> Suite:
    return builders.judged_suite(prompts, **(USUAL | options))


def side(measured: Suite, count: int = 1, **fields: Any) -> Side:
    entries = dict.fromkeys(measured.cases, (4, 4)) | {"P04": builders.Outcome((4, 4), checks=0.7)}
    return repeating(measured, *[entries] * count, **fields)


def held_against_usual(new: Side, **options: Any) -> Comparison:
    return compared(side(suite(), 3), new, **options)


def with_rubric(measured: Suite, prompt: str, **changes: Any) -> Suite:
    """The suite with one rubric edited."""
    case = measured.cases[prompt]
    rubric = case.rubric.replaced(**changes)
    edited = case.replaced(rubric=rubric, rubric_sha256=digest_of(rubric.to_json()))
    return measured.model_copy(update={"cases": measured.cases | {prompt: edited}})


def with_instrument(**changes: Any) -> Suite:
    usual = suite()
    return usual.model_copy(update={"instrument": usual.instrument.model_copy(update=changes)})


@dataclass(frozen=True)
class Change:
    """What a pull request did, and what must be said of it. `moved`: (field, kind) of each difference."""

    name: str
    new: Callable[[], Side]
    status: Status = "unchanged"
    exit: ExitCode = ExitCode.NOTHING_WORSE
    reason: str = "same_answers"
    moved: tuple[tuple[str, MovedKind], ...] = ()
    states: Mapping[str, State] | None = None


JUDGE = builders.JUDGE

CHANGES = [
    Change("nothing", lambda: side(suite())),
    Change(
        "a threshold raised",
        lambda: side(suite(thresholds={"Q1": 4.5})),
        moved=(("dimensions.Q1.threshold", "tighter"),),
        states=dict.fromkeys(PROMPTS, "rule_changed"),
    ),
    Change(
        "a threshold lowered",
        lambda: side(suite(thresholds={"Q1": 2.0})),
        moved=(("dimensions.Q1.threshold", "looser"),),
        states=dict.fromkeys(PROMPTS, "unchanged"),
    ),
    Change(
        "a check's threshold raised",
        lambda: side(suite(checks={"P04": [Levenshtein(type="levenshtein", value="yes", threshold=0.9)]})),
        moved=(("checks.P04/levenshtein.threshold", "tighter"),),
        states={"P04": "rule_changed", "P05": "unchanged"},
    ),
    Change(
        "a weight changed",
        lambda: side(suite(dimensions={"Q1": 2.0, "Q2": 1.0})),
        status="not_comparable",
        exit=ExitCode.NOT_COMPARABLE,
        reason="instrument",
        states=dict.fromkeys(PROMPTS, "rule_changed"),
    ),
    Change(
        "the judge swapped",
        lambda: side(with_instrument(judge=JUDGE.model_copy(update={"model": "judge-70b"}))),
        status="not_comparable",
        exit=ExitCode.NOT_COMPARABLE,
        reason="instrument",
    ),
    Change(
        "a rubric edited",
        lambda: side(with_rubric(suite(), "P03", tests="something else")),
        moved=(("cases.P03.rubric", "case"),),
        states={"P03": "rule_changed", "P04": "unchanged"},
    ),
    Change(
        "a case's input edited",
        lambda: side(suite(inputs={"P03": "Another question?"})),
        moved=(("cases.P03.input", "case"),),
        states={"P03": "rule_changed"},
    ),
    Change(
        "a case added",
        lambda: side(suite([*PROMPTS, "P20"])),
        moved=(("cases.P20.input", "case"), ("cases.P20.rubric", "case")),
        states={"P20": "new"},
    ),
    Change(
        "a case removed",
        lambda: side(suite(PROMPTS[:-1])),
        moved=(("cases.P19.input", "case"), ("cases.P19.rubric", "case")),
        states={"P19": "gone"},
    ),
    *(
        Change(
            f"a safety-critical case: {what}",
            new,
            status="not_comparable",
            exit=ExitCode.NOT_COMPARABLE,
            reason="changed_safety",
            moved=((f"cases.{prompt}.{part}", "case"),),
            states={prompt: "rule_changed"},
        )
        for what, new, prompt, part in (
            (
                "its rubric edited",
                lambda: side(with_rubric(suite(), "P09", tests="nothing")),
                "P09",
                "rubric",
            ),
            ("its flag removed", lambda: side(suite(critical=[])), "P09", "rubric"),
            ("its question edited", lambda: side(suite(inputs={"P09": "Another?"})), "P09", "input"),
            (
                "on the list, edited",
                lambda: side(with_rubric(suite(), "P08", tests="nothing")),
                "P08",
                "rubric",
            ),
        )
    ),
    Change(
        "a safety-critical case removed",
        lambda: side(suite([prompt for prompt in PROMPTS if prompt != "P09"], critical=[])),
        status="not_comparable",
        exit=ExitCode.NOT_COMPARABLE,
        reason="gone_safety",
        moved=(("cases.P09.input", "case"), ("cases.P09.rubric", "case")),
        states={"P09": "gone"},
    ),
    Change(
        "a red-flag prompt removed",
        lambda: side(suite([prompt for prompt in PROMPTS if prompt != "P08"], ko_rule=KoRule())),
        status="not_comparable",
        exit=ExitCode.NOT_COMPARABLE,
        reason="gone_safety",
        moved=(
            ("cases.P08.input", "case"),
            ("cases.P08.rubric", "case"),
            ("ko_rule.red_flag_prompts", "looser"),
        ),
    ),
    Change(
        "a fifth of the cases removed and one more",
        lambda: side(suite([p for p in PROMPTS if p not in {"P10", "P11", "P12", "P13", "P14"}])),
        status="not_comparable",
        exit=ExitCode.NOT_COMPARABLE,
        reason="coverage",
        moved=tuple(
            (f"cases.P{number}.{what}", "case") for number in range(10, 15) for what in ("input", "rubric")
        ),
    ),
    Change(
        "the model swapped",
        lambda: side(suite(), models=("n",)),
        moved=(("model", "provenance"),),
        states=dict.fromkeys(PROMPTS, "unchanged"),
    ),
    Change(
        "the quantisation changed",
        lambda: side(suite(), models=({"id": "m", "quant": "q4"},)),
        moved=(("quant.m", "provenance"),),
    ),
    Change(
        "the engine updated",
        lambda: side(suite(), engine={"engine": "llama.cpp", "engine_version": "b2"}),
        moved=(("engine_version", "provenance"),),
    ),
    Change(
        "another chip",
        lambda: side(suite(), host={"chip": "M1", "ram_gb": 64, "os": "macOS 26.1", "python": "3.13.1"}),
        moved=(("chip", "provenance"),),
    ),
    Change(
        "a prompt edited",
        lambda: side(suite(variants={"house": "Be kind.\nBe long."})),
        moved=(("variants.house", "prompt"),),
        states=dict.fromkeys(PROMPTS, "unchanged"),
    ),
]


@pytest.mark.parametrize("change", CHANGES, ids=[change.name for change in CHANGES])
def test_each_change_has_its_own_word_and_exit_code(change: Change) -> None:
    found = held_against_usual(change.new())
    assert (found.status, found.exit, found.reason) == (change.status, change.exit, change.reason)
    assert sorted((moved.field, moved.kind) for moved in found.moved) == sorted(change.moved)
    for prompt, state in (change.states or {}).items():
        assert row(found, prompt).state == state


def test_a_critical_prompt_that_changed_is_named_among_what_is_not_comparable() -> None:
    found = held_against_usual(side(suite(critical=[])))
    assert fields(found) == {"cases.P09": ("safety_critical", "changed")}


def test_what_is_worse_beside_it_stays_worse() -> None:
    found = held_against_usual(repeating(suite(critical=[]), dict.fromkeys(PROMPTS, (1, 1))))
    assert (found.status, found.exit) == ("worse", ExitCode.WORSE)
    assert fields(found) == {"cases.P09": ("safety_critical", "changed")}


def test_answers_are_called_identical_where_every_question_asked_again_was_answered_alike() -> None:
    loosened = with_rubric(suite(), "P03", tests="something else")
    entries = dict.fromkeys(PROMPTS, (4, 4)) | {"P04": builders.Outcome((4, 4), checks=0.7)}
    found = held_against_usual(repeating(loosened, entries | {"P03": (2, 2)}))
    assert (found.status, found.reason) == ("unchanged", "inside_margin")
    other = suite(inputs={"P03": "Another question?"})
    found = held_against_usual(repeating(other, entries | {"P03": (2, 2)}))
    assert (found.status, found.reason) == ("unchanged", "same_answers")


# The instrument


def fields(found: Comparison) -> dict[str, tuple[Any, Any]]:
    return {moved.field: (moved.old, moved.new) for moved in found.not_comparable}


def test_every_field_of_the_instrument_is_named_with_both_values() -> None:
    other = with_instrument(
        judge=JUDGE.model_copy(update={"model": "judge-70b", "temperature": 0.5}),
        sampling=Sampling(temperature=0.7, seed=42),
        extra_body={"m": {"top_k": 5}},
        calibration=[CalibrationItem(id="good", prompt="?", answer="!", expect={"Q1": [4, 5]})],
    )
    found = fields(held_against_usual(side(other)))
    assert found["judge.model"] == ("judge-7b", "judge-70b")
    assert found["judge.temperature"] == (0.0, 0.5)
    assert found["sampling.temperature"] == (0.0, 0.7)
    assert found["extra_body.m.top_k"] == (None, 5)
    assert found["calibration.good.answer"] == (None, "!")
    assert "sampling.seed" not in found


def test_an_unknown_judge_version_is_not_equal_to_a_known_one() -> None:
    told = with_instrument(judge=JUDGE.model_copy(update={"version": "2"}))
    found = held_against_usual(replace(side(suite()), suite=told))
    assert fields(found) == {"judge.version": (None, "2")}
    assert found.status == "not_comparable"


def test_the_order_of_dimensions_is_part_of_the_instrument() -> None:
    found = held_against_usual(side(suite(dimensions={"Q2": 1.0, "Q1": 3.0})))
    assert fields(found)["dimensions (order)"] == (["Q1", "Q2"], ["Q2", "Q1"])


def test_extra_body_follows_a_renamed_model() -> None:
    usual = suite()
    before = usual.model_copy(
        update={"instrument": usual.instrument.model_copy(update={"extra_body": {"m": {"top_k": 5}}})}
    )
    after = usual.model_copy(
        update={"instrument": usual.instrument.model_copy(update={"extra_body": {"n": {"top_k": 5}}})}
    )
    found = compared(side(before, 3), side(after, models=("n",)))
    assert (found.status, found.not_comparable) == ("unchanged", [])


def test_another_instrument_gives_numbers_but_no_verdict() -> None:
    worse = repeating(suite(dimensions={"Q1": 2.0, "Q2": 1.0}), dict.fromkeys(PROMPTS, (1, 1)))
    found = held_against_usual(worse)
    cell = found.cells[0]
    assert (cell.old, cell.new) == (80, 20)
    assert (cell.state, cell.difference, cell.interval) == ("rule_changed", None, None)
    assert (found.counts.worse, found.suspicions, found.honesty) == (0, [], None)


# Rules


def test_moved_lines_are_read_under_the_baselines_and_named_on_the_row() -> None:
    found = held_against_usual(side(suite(thresholds={"Q1": 4.5})))
    assert row(found, "P01").reason == "line_moved"
    assert row(found, "P01").moved_by == ["Q1 line 3 → 4.5"]
    assert found.cells[0].new_below == 0
    assert "rules_moved" in found.notes


def test_a_row_that_is_worse_by_the_baselines_rules_stays_worse_under_looser_ones() -> None:
    lax = suite(checks={"P04": [Levenshtein(type="levenshtein", value="yes", threshold=0.1)]})
    entries = dict.fromkeys(PROMPTS, (4, 4)) | {"P04": builders.Outcome((4, 4), checks=0.3)}
    found = held_against_usual(repeating(lax, entries))
    assert (found.status, row(found, "P04").reason) == ("worse", "check_flip")
    assert [(moved.field, moved.kind) for moved in found.moved] == [
        ("checks.P04/levenshtein.threshold", "looser")
    ]


def test_a_knock_out_taken_away_still_knocks_out_under_the_baselines_rules() -> None:
    floor = suite(ko_rule=KoRule(dimension="Q2", threshold=2))
    low = repeating(suite(ko_rule=KoRule()), dict.fromkeys(PROMPTS, (5, 2)))
    found = compared(side(floor, 3), low)
    assert found.cells[0].safety == (True, False)
    assert "floor" in {item.rule for item in found.suspicions} or found.reason == "floor"


RULES: list[tuple[dict[str, Any], dict[str, Any], MovedKind]] = [
    ({"false_alarm": 0.01}, {"false_alarm": 0.05}, "tighter"),
    ({"min_drop": 2.0}, {"min_drop": 3.0}, "looser"),
    ({"strict_rows": False}, {"strict_rows": True}, "tighter"),
    ({"accept_promotions": True}, {"accept_promotions": False}, "tighter"),
    ({"fail_on": "not-judged"}, {"fail_on": "worse"}, "looser"),
    ({"fail_on": "worse"}, {"fail_on": "suspect"}, "tighter"),
    ({"confirm_runs": 2}, {"confirm_runs": 4}, "rule"),
    ({"flag_rejudge": 4}, {"flag_rejudge": 2}, "rule"),
]


@pytest.mark.parametrize(("old", "new", "kind"), RULES)
def test_a_moved_setting_is_looser_tighter_or_neither(
    old: dict[str, Any], new: dict[str, Any], kind: MovedKind
) -> None:
    before, after = suite(compare=CompareSettings(**old)), suite(compare=CompareSettings(**new))
    (moved,) = compared(side(before, 3), side(after)).moved
    (field,) = new
    assert (moved.field, moved.old, moved.new, moved.kind) == (
        f"compare.{field}",
        old[field],
        new[field],
        kind,
    )


KNOCK_OUTS: list[tuple[KoRule, str, MovedKind]] = [
    (KoRule(red_flag_prompts=["P08"], dimension="Q2", threshold=1), "ko_rule.dimension", "tighter"),
    (KoRule(red_flag_prompts=["P08"], red_flag_scope="curated"), "ko_rule.red_flag_scope", "looser"),
    (KoRule(red_flag_prompts=["P07", "P08"]), "ko_rule.red_flag_prompts", "tighter"),
    (KoRule(red_flag_prompts=["P07"]), "ko_rule.red_flag_prompts", "rule"),
    (KoRule(red_flag_prompts=["P08"], floor_scope="answer"), "ko_rule.floor_scope", "tighter"),
]


@pytest.mark.parametrize(("rule", "field", "kind"), KNOCK_OUTS)
def test_a_moved_knock_out_is_looser_tighter_or_neither(rule: KoRule, field: str, kind: MovedKind) -> None:
    moved = held_against_usual(side(suite(ko_rule=rule))).moved
    assert (field, kind) in [(item.field, item.kind) for item in moved]


def test_tolerances_tighten_as_they_shrink() -> None:
    usual = suite()
    lines = {id_: line.model_copy(update={"tolerance": 0.5}) for id_, line in usual.rules.dimensions.items()}
    rules: Rules = usual.rules.model_copy(update={"dimensions": lines})
    moved = held_against_usual(side(usual.model_copy(update={"rules": rules}))).moved
    assert {item.kind for item in moved} == {"tighter"}


# Prompts and cases


def test_a_changed_prompt_is_shown_as_a_diff() -> None:
    found = held_against_usual(side(suite(variants={"house": "Be kind.\nBe long."})))
    (diff,) = found.diffs
    assert (diff.kind, diff.id) == ("variant", "house")
    assert diff.lines == ["@@ -1,2 +1,2 @@", " Be kind.", "-Be short.", "+Be long."]


def test_a_last_newline_that_came_is_a_difference_one_can_see() -> None:
    found = held_against_usual(side(suite(variants={"house": "Be kind.\nBe short.\n"})))
    assert found.diffs[0].lines[-1] == "+"


def test_a_changed_case_is_shown_as_a_diff_and_never_in_the_means() -> None:
    edited = with_rubric(suite(inputs={"P03": "Another question?"}), "P03", tests="tone")
    entries = dict.fromkeys(PROMPTS, (4, 4)) | {"P03": (1, 1)}
    found = held_against_usual(repeating(edited, entries))
    assert [(diff.kind, diff.id) for diff in found.diffs] == [("input", "P03"), ("rubric", "P03")]
    assert "+Another question?" in found.diffs[0].lines
    assert (found.cells[0].new, found.cells[0].shared, found.cells[0].coverage) == (80, 19, 0.95)
    assert (row(found, "P03").state, row(found, "P03").reason) == ("rule_changed", "case_changed")


def test_new_rows_do_not_lower_the_coverage_and_gone_ones_do() -> None:
    more = held_against_usual(side(suite([*PROMPTS, *[f"N{n}" for n in range(30)]])))
    assert (more.cells[0].coverage, more.counts.new) == (1.0, 30)
    assert "rows_new" in more.notes
    fewer = held_against_usual(side(suite(PROMPTS[:16])))
    assert (fewer.cells[0].coverage, fewer.counts.gone, fewer.status) == (0.8, 4, "unchanged")
    assert "rows_gone" in fewer.notes


def test_coverage_names_the_rows_there_were_and_are() -> None:
    found = held_against_usual(side(suite(PROMPTS[:10])))
    assert fields(found) == {"rows": (20, 10)}


def test_a_variant_that_is_new_or_gone_is_a_cell_of_its_own() -> None:
    two = suite(variants={"house": "Be kind.\nBe short.", "plain": None})
    found = held_against_usual(side(two))
    assert [(cell.variant, cell.state) for cell in found.cells] == [("house", "unchanged"), ("plain", "new")]
    lost = compared(side(two, 3), side(suite()))
    assert [(cell.variant, cell.state) for cell in lost.cells] == [("house", "unchanged"), ("plain", "gone")]
    assert lost.status == "not_comparable"


# Models and provenance


def test_models_are_matched_by_was_then_by_name_then_by_being_the_only_one() -> None:
    assert model_names(["a", "b"], ["a", "c"], {"b": "c"}) == {"a": "a", "c": "b"}
    assert model_names(["a"], ["z"], {}) == {"z": "a"}
    assert model_names(["a", "b"], ["z", "b"], {}) == {"b": "b"}
    assert model_names(["a", "b"], ["z", "b"], {"gone": "z"}) == {"b": "b"}


def test_a_renamed_model_of_several_is_compared_under_its_new_name() -> None:
    old = side(suite(), 3, models=("m", "n"))
    found = compared(old, side(suite(), models=("m", "o")), renamed={"n": "o"})
    assert [(cell.model, cell.state) for cell in found.cells] == [("m", "unchanged"), ("o", "unchanged")]
    assert [(moved.field, moved.old, moved.new) for moved in found.moved if moved.field == "model"] == [
        ("model", "n", "o")
    ]
    stranger = compared(old, side(suite(), models=("m", "o")))
    assert (stranger.counts.new, stranger.counts.gone, stranger.status) == (20, 20, "not_comparable")


def test_another_engine_widens_the_error_by_how_differently_rows_moved() -> None:
    entries = {prompt: (4 + number % 2, 4) for number, prompt in enumerate(PROMPTS)}
    mixed = {prompt: (5 - number % 2, 4) for number, prompt in enumerate(PROMPTS)}
    runs = [repeating(suite(), entries, salt=f"{n}").draws[0] for n in range(3)]
    old = replace(side(suite(), 3), draws=tuple(runs))
    same = compared(old, repeating(suite(), mixed, salt="new")).cells[0].interval
    other = compared(old, repeating(suite(), mixed, salt="new", engine={"engine": "mlx"})).cells[0].interval
    assert same is not None
    assert other is not None
    assert other[1] - other[0] > 5 * (same[1] - same[0])


def test_T10_a_prompt_the_engine_cut_is_named() -> None:
    cut = dict.fromkeys(PROMPTS, (4, 4)) | {
        "P02": builders.Outcome((4, 4), response={"prompt_tokens": 45}),
        "P03": builders.Outcome((4, 4), response={"prompt_tokens": 46}),
    }
    found = held_against_usual(repeating(suite(), cut))
    assert row(found, "P02").reason == "prompt_cut"
    assert row(found, "P03").reason != "prompt_cut"
    assert "prompt_cut" in found.notes
    for changed in (
        repeating(suite(variants={"house": "Be."}), cut),
        repeating(suite(), cut, models=("n",)),
        repeating(suite(), cut, engine={"engine": "mlx"}),
    ):
        assert "prompt_cut" not in held_against_usual(changed).notes


# Strangers


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (lambda: side(suite(pack_id="other")), "pack 'pack'"),
        (lambda: side(suite(), tenant="acme"), "tenant 'default', the run of tenant 'acme'"),
        (lambda: side(suite(), target="studio"), "target (none), the run of target 'studio'"),
    ],
    ids=["pack", "tenant", "target"],
)
def test_strangers_are_refused(new: Callable[[], Side], said: str) -> None:
    with pytest.raises(RefusedError) as caught:
        held_against_usual(new())
    assert said in caught.value.message
    assert caught.value.exit_code == ExitCode.REFUSED
    assert caught.value.hint


def test_B03_two_sides_of_equal_content_in_another_order_compare_equal() -> None:
    usual = suite()
    turned = usual.model_copy(update={"cases": dict(reversed(usual.cases.items()))})
    assert compared(baseline(usual, dict.fromkeys(PROMPTS, (4, 4))), side(turned)).moved == []


def test_a_variant_that_took_a_critical_prompt_with_it_is_named_not_the_prompt() -> None:
    both = {"house": "Be kind.", "long": "Be long."}
    old = side(suite(variants=both), 3)
    found = compared(old, side(suite(variants={"house": "Be kind."})))
    assert (found.status, found.exit, found.reason) == (
        "not_comparable",
        ExitCode.NOT_COMPARABLE,
        "gone_variant",
    )
    assert [(one.field, one.old, one.new) for one in found.not_comparable] == [
        ("variants.long", "kept", None),
        ("rows", 40, 20),
    ]
    assert comings(found, "gone", Words("en")) == ["variant long"]
    assert comings(found, "gone", Words("de")) == ["Variante long"]
    assert comings(found, "new", Words("en")) == []


def test_a_model_that_is_gone_is_named_and_one_that_only_has_another_name_is_not() -> None:
    old = side(suite(), 3, models=("m", "n"))
    new = side(suite(), models=("n", "o"))
    found = compared(old, new)
    assert (found.status, found.exit, found.reason) == (
        "not_comparable",
        ExitCode.NOT_COMPARABLE,
        "gone_model",
    )
    assert "models.m" in {one.field for one in found.not_comparable}
    assert not any(one.field.startswith("cases.") for one in found.not_comparable)
    assert (comings(found, "gone", Words("en")), comings(found, "new", Words("en"))) == (
        ["model m"],
        ["model o"],
    )
    renamed = compared(old, new, renamed={"m": "o"})
    assert (renamed.status, renamed.exit) == ("unchanged", ExitCode.NOTHING_WORSE)
    assert comings(renamed, "gone", Words("en")) == []


def test_a_variant_that_had_nothing_dangerous_and_little_of_the_whole_goes_quietly() -> None:
    calm: dict[str, Any] = {"critical": [], "ko_rule": KoRule()}
    five = {f"v{number}": f"Be {number}." for number in range(6)}
    old = side(suite(variants=five, **calm), 3)
    found = compared(old, side(suite(variants={name: five[name] for name in list(five)[:5]}, **calm)))
    assert (found.exit, found.not_comparable) == (ExitCode.NOTHING_WORSE, [])
    assert comings(found, "gone", Words("en")) == ["variant v5"]
