"""The text of a promotion's pull request: what it says, its limit, and that nothing in it is live."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit import builders
from tests.kit.builders import Outcome
from tests.kit.hostile import HOSTILE, SNIPPETS
from tests.kit.markdown import live, parsed, shown
from tests.kit.measured import kept, measured, three
from touchstone.baseline.compare import compare
from touchstone.baseline.comparison import CandidateInfo, Comparison, ReferenceInfo
from touchstone.baseline.promote import Note
from touchstone.baseline.schema import Baseline
from touchstone.baseline.sides import side_of_baseline, side_of_runs
from touchstone.baseline.store import MeasuredRun
from touchstone.pack.suite import Suite
from touchstone.render.pull_request import BUDGET, Promotion, pull_request_markdown
from touchstone.render.pull_request_phrases import SAID
from touchstone.result.select import select_typical

OLD = {"house": "Be kind.\nBe short.\n"}
NEW = {"house": "Be kind.\nBe long.\n"}
PROMPTS = ("A1", "A2", "A3", "A4", "A5", "A6")


def suite(variants: dict[str, str] = OLD, prompts: Sequence[str] = PROMPTS) -> Suite:
    return builders.judged_suite(prompts, variants=variants)


def whole(text: str) -> str:
    """The text as it enters: what is no letter was repaired there."""
    return text.encode("utf-8", "replace").decode()


def good(text: str | None = None, scores: tuple[int, int] = (4, 4)) -> dict[Any, Any]:
    """Every prompt of a run; `text` is the answer to A1."""
    return {prompt: Outcome(scores, text=text if prompt == "A1" else None) for prompt in PROMPTS}


def promotion(
    old: Sequence[MeasuredRun] | None,
    new: Sequence[MeasuredRun],
    *,
    notes: Sequence[Note] = (),
    reason: str | None = None,
) -> Promotion:
    """A promotion of runs in place of others, all of them tables."""
    replaces = kept(old) if old else None
    selection = select_typical([run.result for run in new]) if len(new) > 1 else None
    baseline = kept(new, selection.chosen if selection else 0, reason=reason, replaces=replaces)
    return Promotion(
        baseline, replaces, compared(replaces, new) if replaces else None, list(notes), selection
    )


def compared(replaces: Baseline, new: Sequence[MeasuredRun]) -> Comparison:
    answers = {(one.model, one.variant, one.prompt): one.texts for one in kept(new).answers or []}
    candidate = side_of_runs([run.result for run in new], [run.manifest for run in new], answers)
    reference = ReferenceInfo(
        file="baselines/default/pack.json", digest=replaces.digest, day=replaces.date, commit="c" * 40,
        runs=3, approved_by="Ada", age_days=40,
    )  # fmt: skip
    info = CandidateInfo(run=new[0].result.run.id, commit="d" * 40, clean=True, draws=len(new))
    return compare(side_of_baseline(replaces), candidate, reference=reference, candidate=info)


def worse(text: str = "no idea", **others: Any) -> Promotion:
    """A promotion under which A1 fell."""
    fallen = good() | {"A1": Outcome((1, 1), text=text)}
    return promotion(
        three(suite(), good("an old answer")),
        three(suite(NEW), fallen, salt="x"),
        reason="wanted shorter",
        **others,
    )


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n\n")[2].partition("\n## ")[0]


def test_it_says_what_was_measured_and_how_it_stands() -> None:
    text = pull_request_markdown(worse())
    assert text.startswith(
        "**pack: 3 runs of 2026-05-04 become the reference**, in place of that of 2026-05-04.\n"
    )
    assert (
        "Measured: pack `pack`, version 1, 6 cases; models: `m`; variants: `house`; Judge: judge-7b n/a"
        in text
    )
    assert "Against the reference it replaces: **pack: " in text
    assert "> **Reason: wanted shorter**" in text


def test_cells_rows_diff_runs_provenance_and_replaced_reference_are_there() -> None:
    text = pull_request_markdown(worse())
    assert "| `m` | `house` | 80.0 % | 70.0 % | −10.0 points" in section(text, "Results, old → new")
    assert "-Be short.\n+Be long.\n" in section(text, "Texts that changed")
    assert "| `A1` | `house` | `m` | 80.0 % → 20.0 % |" in section(text, "Rows that moved, worst first")
    runs = section(text, "The runs, and why this one")
    assert runs.count("`20260504T08000") == 4, "three rows and the choice"
    assert "All 6 rows are the same in every run." in runs
    assert "is shown: tied in the middle" in runs
    assert "| Engine | llama.cpp b1 |" in section(text, "Provenance")
    assert section(text, "Difference to the replaced reference").count("`sha256:") == 2
    answers = section(text, "Both answers of the moved rows")
    assert answers.index("an old answer") < answers.index("no idea")


def test_the_first_reference_has_no_old_anything() -> None:
    text = pull_request_markdown(promotion(None, three(suite(), good())))
    assert "become the reference**, the first one there is." in text
    assert "## Difference" not in text
    assert "| `m` | `house` | – | 80.0 % | – |" in text


def test_the_run_most_often_in_the_middle_is_the_one_shown() -> None:
    runs = three(
        suite(), good(), good() | {"A1": (5, 5), "A2": (5, 5)}, good() | {"A1": (3, 3), "A2": (2, 2)}
    )
    text = section(pull_request_markdown(promotion(None, runs)), "The runs, and why this one")
    assert "`20260504T080000Z_pack_000000` is shown: most often in the middle." in text
    assert (
        "| → | `20260504T080000Z_pack_000000` | 2026-05-04 | `000000000000`, clean | 2/2 | 80.0 % |" in text
    )


def test_one_run_says_that_its_noise_is_unknown() -> None:
    text = pull_request_markdown(promotion(None, [measured(suite(), good())]))
    assert "one run of 2026-05-04 becomes the reference" in text
    assert "A single run: its noise is unknown." in text


def test_notes_come_before_the_results_with_their_diff() -> None:
    note = Note("variant_differs", "the tree's prompt house is not the promoted one", ["-tree", "+promoted"])
    text = pull_request_markdown(worse(notes=[note]))
    assert text.index("the tree's prompt house") < text.index("## Results")
    assert "-tree\n+promoted" in section(text, "To be known first, in full")


def test_another_instrument_names_each_field() -> None:
    judge = builders.JUDGE.model_copy(update={"model": "judge-70b"})
    other = suite()
    moved = other.model_copy(update={"instrument": other.instrument.model_copy(update={"judge": judge})})
    text = pull_request_markdown(promotion(three(suite(), good()), three(moved, good())))
    assert "Not comparable with the replaced reference" in text
    assert "judge-7b | judge-70b | instrument |" in text


def test_without_answers_in_the_file_none_are_shown() -> None:
    given = worse()
    bare = given.baseline.model_copy(update={"answers": None})
    text = pull_request_markdown(Promotion(bare, given.replaces, given.comparison, [], given.selection))
    assert "Both answers" not in text


def test_german_says_the_same() -> None:
    text = pull_request_markdown(worse(), "de")
    assert "3 Läufe vom 2026-05-04 werden die Referenz**, anstelle der vom 2026-05-04." in text
    assert "## Ergebnisse, alt → neu" in text
    assert "| 80,0 % | 70,0 % |" in text


@pytest.mark.parametrize("key", SAID)
def test_both_languages_fill_the_same_places(key: str) -> None:
    english, german = (sorted(re.findall(r"\{(\w+)\}", text)) for text in SAID[key])
    assert english == german
    assert all(SAID[key])


# --- nothing is live, and nothing is too long ---------------------------------------------------------

ACTED_ON_IN_A_MESSAGE = re.compile(
    r"(?i)@\w|#\d|\bgh-\d|://|-by:|\[(?:skip|no|ci|actions)\b|skip-checks:|^/\w|^\s*::\w", re.MULTILINE
)
OURS = ("<details>", "</details>", "<summary>")


BLOCKS = re.compile(
    r"(table|thead|tbody|tr|th|td|heading|blockquote|bullet_list|list_item|hr)(_open|_close)?( .*)?"
)


def not_ours(text: str) -> list[str]:
    """What is live in a text beside the blocks a pull request's text is made of."""
    html = [token.content for token in parsed(text) if token.type == "html_block"]
    assert all(block.strip().startswith(OURS) for block in html)
    found = [one for one in live(text) if not BLOCKS.fullmatch(one)]
    return [one for one in found if not one.startswith(("html_block", "strong"))]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_stays_text(text: str) -> None:
    body = pull_request_markdown(worse(whole(text)))
    assert "Both answers" in body
    assert not_ours(body) == []
    assert not ACTED_ON_IN_A_MESSAGE.search(body)
    assert body.split("\n\n")[-1].startswith("A merge makes these answers"), "no trailer can stand last"
    assert len(body.encode()) <= BUDGET


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_reason_prompt_or_model_stays_text(text: str) -> None:
    name = whole(text)
    before, after = (
        three(suite(), good(), models=(name,)),
        three(suite({"house": name}), good(), models=(name,)),
    )
    note = Note("dirty_tree", name, name.split("\n"))
    body = pull_request_markdown(promotion(before, after, reason=name, notes=[note]))
    assert not_ours(body) == []
    assert not ACTED_ON_IN_A_MESSAGE.search(body)
    assert len(body.encode()) <= BUDGET


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=20), max_size=6).map("".join))
def test_no_mixture_of_hostile_texts_escapes(text: str) -> None:
    assert not_ours(pull_request_markdown(worse(whole(text)))) == []


def test_over_the_budget_the_least_important_goes_first_and_is_named() -> None:
    given = worse("word " * 500)
    whole = pull_request_markdown(given)
    less = pull_request_markdown(given, budget=len(whole.encode()) - 1)
    assert "Left out for length: Both answers of the moved rows. The file has it all." in less
    assert "## Rows that moved" in less
    least = pull_request_markdown(given, budget=1_500)
    assert len(least.encode()) <= 1_500
    assert "> **Reason: wanted shorter**" in least


def test_500_rows_of_long_answers_stay_within_the_budget() -> None:
    prompts = [f"P{number}" for number in range(500)]
    old = {prompt: Outcome((4, 4), text="ä" * 3000) for prompt in prompts}
    new = {prompt: Outcome((2, 2), text="ö" * 3000) for prompt in prompts}
    before, after = three(suite(OLD, prompts), old), three(suite({"house": "x\n" * 40_000}, prompts), new)
    body = pull_request_markdown(promotion(before, after))
    assert len(body.encode()) <= BUDGET
    assert "… and 450 more, in the file." in body


def test_the_reader_sees_the_models_words() -> None:
    assert "no idea" in pull_request_markdown(worse())
    assert "wanted shorter" in shown(pull_request_markdown(worse()))
