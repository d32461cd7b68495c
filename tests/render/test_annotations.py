from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit import reviews
from tests.kit.hostile import HOSTILE, SNIPPETS
from touchstone.baseline.comparison import Comparison, Suspicion
from touchstone.errors import BadInputError
from touchstone.render.annotations import ANNOTATIONS_MAX, Annotation, annotation_lines, command_line
from touchstone.render.review import PackReview

COMMAND = re.compile(r"::(error|warning|notice) title=[^:,\n]*(?:,file=[^:,\n]*)?::([^\n]*)")

hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def levels(lines: list[str]) -> list[str]:
    return [line[2:].split(" ")[0] for line in lines]


def test_what_is_worse_is_an_error_with_its_row() -> None:
    head = "::error title=touchstone%3A pack,file=packs/pack.yaml::"
    counts = "1 worse, 1 better, 8 rule changed, 1 new"
    assert annotation_lines([reviews.review(reviews.worse())]) == [
        f"{head}pack: WORSE (a check that always passed fails) · {counts}",
        f"{head}P03 · house: 80.0 %25 → 80.0 %25, worse [contains pass → fail]",
    ]


def test_an_unchanged_pack_says_nothing() -> None:
    assert annotation_lines([reviews.review(reviews.unchanged())]) == []


def test_errors_stand_before_warnings_and_notices() -> None:
    calm = reviews.unchanged()
    flag = Suspicion(rule="flag", model="m", variant="none", prompt="C4", detail="1/5")
    told = [
        reviews.review(calm.model_copy(update={"status": "no_reference"})),
        reviews.review(calm.model_copy(update={"suspicions": [flag]})),
        PackReview("other", error=BadInputError("A bad file.", "Repair it.")),
        reviews.review(reviews.worse()),
    ]
    lines = annotation_lines(told, "de")
    assert levels(lines) == ["error", "error", "error", "warning", "notice"]
    assert "SCHLECHTER" in lines[0]
    assert lines[2].endswith("other: VERWEIGERT — A bad file. — Repair it.")
    assert "C4" in lines[3]


def test_a_row_that_is_gone_is_noticed() -> None:
    calm = reviews.unchanged()
    counts = calm.counts.model_copy(update={"gone": 1})
    (line,) = annotation_lines([reviews.review(calm.model_copy(update={"counts": counts}))])
    assert line.startswith("::notice ")


def test_what_fails_the_job_is_an_error() -> None:
    found = reviews.unchanged().model_copy(update={"status": "not_comparable", "exit": 3})
    assert levels(annotation_lines([reviews.review(found)])) == ["error"]
    suspect = reviews.unchanged().model_copy(update={"status": "suspect", "exit": 0})
    assert levels(annotation_lines([reviews.review(suspect)])) == ["warning"]


def test_at_most_ten_and_the_last_says_how_many_more() -> None:
    lines = annotation_lines([reviews.review(all_worse(40))])
    assert len(lines) == ANNOTATIONS_MAX
    assert lines[-1] == "::error title=touchstone::32 more findings are in the step summary"


def all_worse(rows: int) -> Comparison:
    found = reviews.worse()
    row = next(row for row in found.rows if row.state == "worse")
    return found.model_copy(
        update={"rows": [row.model_copy(update={"prompt": f"P{n}"}) for n in range(rows)]}
    )


def test_a_row_names_its_model_where_there_are_several_and_why_it_has_no_verdict() -> None:
    found = all_worse(2)
    one, other = found.rows
    rows = [one, other.model_copy(update={"model": "n", "state": "not_judged", "reason": "judge_error"})]
    lines = annotation_lines([reviews.review(found.model_copy(update={"rows": rows}))])
    assert any(f"P0 · {one.variant} · {one.model}: " in line for line in lines)
    assert any(f"P1 · {one.variant} · n: " in line for line in lines)
    assert any("could not be judged: the judge gave no reply" in line for line in lines)


def test_too_much_unjudged_says_how_to_go_on() -> None:
    found = all_worse(1).model_copy(update={"status": "not_judged", "exit": 2})
    first = annotation_lines([reviews.review(found)])[0]
    assert f"touchstone check --resume {found.candidate.run}" in first


@hostile
def test_every_line_is_one_command_whatever_the_texts_say(text: str) -> None:
    for line in annotation_lines(reviews.saying(text)):
        assert_one_command(line)


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=30), max_size=5).map("".join))
def test_no_mixture_ends_a_command_or_a_property(text: str) -> None:
    assert_one_command(command_line(Annotation("warning", text or "x", text, text)))


def assert_one_command(line: str) -> None:
    assert COMMAND.fullmatch(line)
    assert "##[" not in line
    assert not re.search("%(?!25|3A|2C)", line)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", line)
