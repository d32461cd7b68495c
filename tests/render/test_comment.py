from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit import reviews
from tests.kit.golden import golden
from tests.kit.hostile import HOSTILE, SNIPPETS
from tests.kit.markdown import found_in_text, links, shape, tags
from tests.kit.reviews import HEAD, OCCASION, RUN_URL
from touchstone.baseline.comparison import Comparison, Moved, Suspicion, TextDiff
from touchstone.errors import BadInputError, NotJudgedError
from touchstone.render.comment import (
    COMMENT_BUDGET,
    LIMITS,
    MARK_ROOM,
    comment_text,
    worst_said,
    worth_posting,
)
from touchstone.render.comparison import moved_rows
from touchstone.render.markdown import escaped
from touchstone.render.review import Occasion, PackReview, review_parts
from touchstone.render.summary import SUMMARY_BUDGET, summary_text
from touchstone.render.words import Words

BUDGET = COMMENT_BUDGET - MARK_ROOM
CASES = Path(__file__).parents[1] / "cases/public/github"
OUR_TAGS = {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>", "<span>", "</span>"}

hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
pasted = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=20), max_size=6).map("".join)


def body(*told: PackReview, occasion: Occasion = OCCASION, **options: Any) -> str:
    return comment_text(told, occasion, **options)


def test_the_comment_is_the_golden_one() -> None:
    text = body(reviews.review(reviews.worse()))
    assert text == golden("comment.md", text)


def test_the_comment_in_german_is_the_golden_one() -> None:
    text = body(reviews.review(reviews.worse()), language="de")
    assert text == golden("comment.de.md", text)


def test_the_summary_is_the_golden_one() -> None:
    told = [reviews.review(reviews.worse()), reviews.review(reviews.unchanged(), pack="other")]
    text = summary_text(told, OCCASION)
    assert text == golden("summary.md", text)


def test_contents_stand_in_the_order_of_the_design() -> None:
    text = body(reviews.review(reviews.worse()))
    order = [
        "<!-- touchstone:worst", "## 🔴 pack: WORSE", "reference: 2026", "What else moved", "Model: m",
        "| Model · variant |", "```diff", "| Prompt |", "<code>P03 · house</code>", "this engine repeats",
        "what this suite can see", "touchstone check --pack pack --baseline-from", "touchstone promote RUN",
        "head `0123456789ab`",
    ]  # fmt: skip
    places = [text.index(word) for word in order]
    assert places == sorted(places)


def test_worse_rows_show_old_and_new_scores_checks_and_both_answers() -> None:
    text = body(reviews.review(reviews.worse()))
    assert "| `P03` | `house` | 80.0 % → 80.0 % | worse | contains pass → fail |" in text
    assert "```text\nThe answer to P03.\n```" in text
    assert "```text\nAnother answer to P03.\n```" in text


def test_equal_answers_are_not_shown() -> None:
    comparison = reviews.worse()
    same = [row.prompt for row in comparison.rows if row.same_answer]
    text = body(reviews.review(comparison))
    assert same
    assert not any(f"<code>{prompt} · house</code>" in text for prompt in same)


def test_gone_and_new_rows_stand_in_the_first_lines() -> None:
    found = reviews.worse()
    gone = found.rows[0].model_copy(update={"state": "gone", "prompt": "Z9", "new": None})
    text = body(reviews.review(found.model_copy(update={"rows": [*found.rows, gone]})))
    assert [line for line in text.splitlines()[:7] if line] == [
        f"<!-- touchstone:worst head={HEAD} status=worse -->",
        text.splitlines()[1],
        "gone: Z9",
        "new: P10",
    ]


def test_a_looser_line_is_called_one() -> None:
    moved = Moved(field="dimensions.Q1.threshold", old=4, new=2, kind="looser")
    text = body(reviews.review(reviews.unchanged().model_copy(update={"moved": [moved]})))
    assert "- `dimensions.Q1.threshold`: 4 → 2 (looser)" in text.replace("\\", "")


def test_an_unconfirmed_flag_is_never_green() -> None:
    flag = Suspicion(rule="flag", model="m", variant="none", prompt="C4", detail="1/5")
    calm = reviews.unchanged()
    text = body(reviews.review(calm.model_copy(update={"suspicions": [flag]})))
    assert "## 🟢" in body(reviews.review(calm))
    assert "## 🟡 ⚠ pack: UNCHANGED" in text
    assert "⚠ safety: flagged once in 5 judgements (C4)" in text


def test_an_error_has_its_way_out_and_its_own_section() -> None:
    failed = PackReview("other", error=NotJudgedError("The engine is away.", "Start it."))
    refused = PackReview("third", error=BadInputError("A bad file.", None))
    text = body(reviews.review(reviews.unchanged()), failed, refused)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[:4] == [
        "## 🔴 3 packs: 1 refused, 1 could not be judged, 1 unchanged",
        "### 🔴 third: REFUSED",
        "### 🟡 other: COULD NOT BE JUDGED",
        f"### 🟢 {headings[3][6:]}",
    ]
    assert "→ Start it." in text


def test_a_pack_without_a_reference_shows_how_to_make_one_unfolded() -> None:
    found = reviews.unchanged().model_copy(update={"status": "no_reference", "reference": None})
    text = body(reviews.review(found))
    assert "<summary>Reproduce" not in text
    assert "touchstone measure --pack pack --times 3" in text
    assert "--reason" not in text


def test_commands_name_tenant_and_target_and_are_quoted() -> None:
    occasion = replace(OCCASION, tenant="acme", target="a b; rm -rf /")
    text = body(reviews.review(reviews.worse()), occasion=occasion)
    assert "touchstone measure --pack pack --times 3 --tenant acme --target 'a b; rm -rf /'" in text
    assert "tenant `acme`" in text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://x/)[a](http://e", "https://x y", None, ""])
def test_only_a_plain_address_becomes_a_link(url: str | None) -> None:
    assert links(body(reviews.review(reviews.worse()), occasion=replace(OCCASION, run_url=url))) == []


# Re-runs


def test_a_new_attempt_does_not_make_the_earlier_one_forgotten() -> None:
    red = body(reviews.review(reviews.worse()))
    again = replace(OCCASION, attempt=2)
    second = body(reviews.review(reviews.unchanged()), occasion=again, earlier=f"<!-- mark -->\n{red}")
    third = body(reviews.review(reviews.unchanged()), occasion=replace(again, attempt=3), earlier=second)
    for text in (second, third):
        assert "An earlier attempt at this commit said: worse" in text
        assert worst_said(text, HEAD) == "worse"
    assert "attempt 2" in second
    assert "attempt" not in red


def test_another_commit_starts_anew_and_turns_green() -> None:
    red = body(reviews.review(reviews.worse()))
    fixed = replace(OCCASION, head_sha="a" * 40)
    text = body(reviews.review(reviews.unchanged()), occasion=fixed, earlier=red)
    assert "earlier attempt" not in text
    assert worst_said(text, "a" * 40) == "unchanged"


@pytest.mark.parametrize(
    "earlier",
    [
        "", "nothing of ours", f"<!-- touchstone:worst head={HEAD} status=splendid -->",
        f"a\nb\nc\nd\n<!-- touchstone:worst head={HEAD} status=worse -->",
    ],
)  # fmt: skip
def test_what_is_not_our_hidden_line_says_nothing(earlier: str) -> None:
    assert worst_said(earlier, HEAD) is None


# Budget


def size(text: str) -> int:
    return max(len(text), len(text.encode()), len(text.encode("utf-16-le")) // 2)


def moved(told: PackReview) -> int:
    assert told.comparison is not None
    return len(moved_rows(told.comparison))


def many(number: int, text: str = "word " * 1000) -> PackReview:
    found = reviews.worse(11)
    rows = [
        found.rows[1].model_copy(update={"prompt": f"Q{n}", "state": "suspect", "same_answer": False})
        for n in range(number)
    ]
    return reviews.review(
        found.model_copy(update={"rows": [*found.rows, *rows]}),
        answers={reviews.key(row): ([text], [text[1:]]) for row in [*found.rows, *rows]},
    )


def test_C01_what_is_left_out_is_counted_and_found_in_the_summary() -> None:
    text = body(many(2000), many(1000), many(500))
    assert size(text) <= BUDGET
    assert re.search(r"Left out here for length: pairs of answers: \d+\. All of it is in \[the step", text)
    assert text.count("## 🔴") == 4
    alone = body(many(2000))
    assert f"… and {moved(many(2000)) - 50} more" in alone
    whole = summary_text([many(2000)], OCCASION)
    assert "`Q1999`" in whole
    assert size(whole) <= SUMMARY_BUDGET


def test_C01_what_matters_least_goes_first() -> None:
    text = body(*(many(60, "ß" * 3000) for _ in range(3)))
    assert text.count("| Model · variant |") == text.count("```diff") == text.count("| Prompt |") == 3
    pairs = re.findall(r"<summary><code>(\w+) ·", text)
    assert 0 < len(pairs) < 36
    # The worst row of every pack before the second worst of any.
    assert pairs.count("P03") == 3


@pytest.mark.parametrize("packs", [1, 40, 400, 4000])
def test_C01_no_number_of_packs_breaks_the_budget(packs: int) -> None:
    text = body(*[reviews.review(reviews.worse(3))] * packs)
    assert size(text) <= BUDGET
    assert len(tags(text) - OUR_TAGS) == 1
    assert text.count("<details>") == text.count("</details>")
    assert text.splitlines()[-1].startswith("head `0123456789ab`")


def test_a_shorter_table_stands_where_the_long_one_does_not_fit() -> None:
    wide = [reviews.worse(11)] * 12
    for number, found in enumerate(wide):
        row = found.rows[3].model_copy(update={"moved_by": ["$" * 160]})
        wide[number] = found.model_copy(update={"rows": [*found.rows, *[row] * 60]})
    told = [reviews.review(found, answers={}) for found in wide]
    text = body(*told)
    assert size(text) <= BUDGET
    tables = text.count("| Prompt |")
    assert 3 < tables < 12
    assert text.count(f"… and {moved(told[0]) - 5} more") == tables
    assert f"row tables: {12 - tables}" in text


# Hostile texts


def plain_of(text: str) -> str:
    """As long, as many lines, as many words at the ends, and nothing else in it."""
    return re.sub(r"[^\n]", "x", text)


@hostile
def test_no_hostile_text_changes_the_comments_shape(text: str) -> None:
    assert shape(whole(text)) == shape(whole(plain_of(text)))


def whole(text: str) -> str:
    """Every part, whatever its length: what is left out is no question of shape."""
    parts = review_parts(reviews.saying(text), OCCASION, Words("en"), LIMITS)
    return "\n".join(line for part in parts for line in (*part.versions[0], ""))


@hostile
@pytest.mark.parametrize("write", [comment_text, summary_text])
def test_nothing_hostile_is_live_in_comment_or_summary(write: Any, text: str) -> None:
    told = write(reviews.saying(text), OCCASION, "de")
    assert_inert(told)


def test_C07_names_numbers_and_commands_are_text_and_a_mail_address_stays_readable() -> None:
    text = (CASES / "C07-mentions.txt").read_text(encoding="utf-8")
    told = comment_text(reviews.saying(text), OCCASION)
    assert_inert(told)
    assert "bob@example.invalid" in told.replace("\u200b", "").replace("\\", "")


@settings(max_examples=60, deadline=None)
@given(pasted)
def test_no_mixture_is_live_or_breaks_the_budget(text: str) -> None:
    told = comment_text(reviews.saying(text), OCCASION)
    assert_inert(told)
    assert size(told) <= BUDGET


def assert_inert(told: str) -> None:
    assert {tag for tag in tags(told) if not tag.startswith("<!-- touchstone:worst head=")} <= OUR_TAGS
    assert set(links(told)) == {RUN_URL}
    assert found_in_text(told) == []
    assert not re.search(r"^\s*/", told, re.MULTILINE)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]", told)


@hostile
def test_C01_no_hostile_text_breaks_a_budget(text: str) -> None:
    told = reviews.saying(text) * 5
    assert size(comment_text(told, OCCASION)) <= BUDGET
    assert size(summary_text(told, OCCASION)) <= SUMMARY_BUDGET


@hostile
def test_hostile_names_of_an_occasion_stay_names(text: str) -> None:
    occasion = Occasion(
        1, 2, text, text, base=text, name=text, tenant=text, target=text, first=[f"So {text}"]
    )
    told = comment_text([reviews.review(reviews.worse())], occasion)
    assert size(told) <= BUDGET
    assert found_in_text(told) == []
    assert {tag for tag in tags(told) if not tag.startswith("<!-- touchstone:worst head=")} <= OUR_TAGS
    assert links(told) == []


# When to post


def quiet() -> Comparison:
    return reviews.unchanged()


def test_auto_is_silent_only_when_nothing_moved_and_there_is_no_comment() -> None:
    assert not worth_posting([quiet(), quiet()], False)
    assert worth_posting([quiet()], True)
    assert not worth_posting([], False)
    assert worth_posting([quiet(), None], False)


_ROW: dict[str, Any] = {"state": "better"}


@pytest.mark.parametrize(
    "fields",
    [
        {"moved": [Moved(field="engine", old="a", new="b", kind="provenance")]},
        {"not_comparable": [Moved(field="judge.model", old="a", new="b", kind="instrument")]},
        {"diffs": [TextDiff(kind="variant", id="house", lines=["-a", "+b"])]},
        {"suspicions": [Suspicion(rule="flag", model="m", variant="v", prompt="C4", detail="1/5")]},
        {"notes": ["safety_not_assessed"]},
        {"status": "better"},
        {"status": "worse"},
        {"status": "no_reference"},
        {"rows": [quiet().rows[0].model_copy(update=_ROW)]},
        {"rows": [quiet().rows[0].model_copy(update={"state": "gone"})]},
        {"cells": [quiet().cells[0].model_copy(update={"state": "suspect"})]},
    ],
    ids="-".join,
)
def test_auto_posts_whatever_moved(fields: dict[str, Any]) -> None:
    assert worth_posting([quiet(), quiet().model_copy(update=fields)], False)


def test_noise_alone_is_not_worth_a_comment() -> None:
    row = quiet().rows[0].model_copy(update={"state": "within_noise"})
    found = quiet().model_copy(update={"rows": [row], "status": "within_noise"})
    assert not worth_posting([found], False)


def test_the_readers_language_is_used_everywhere() -> None:
    english = {
        "worse",
        "reference",
        "more",
        "commit",
        "Score",
        "State",
        "What",
        "attempt",
        "earlier",
        "answers",
    }
    told = body(many(60), occasion=replace(OCCASION, attempt=2), language="de", earlier="")
    outside = re.sub(r"`[^`]*`|```.*?```|<code>.*?</code>|<!--.*?-->", "", told, flags=re.DOTALL)
    assert not english & set(re.findall(r"[A-Za-z]+", outside))
    assert escaped("schlechter") in told


def test_what_moved_is_told_in_the_readers_language_and_a_class_in_the_packs() -> None:
    moves = ["Q1 4 → 3", "contains pass → error", "Q1 line – → 4.5", "red_flag", "label pass → fail"]
    found = reviews.worse()
    row = found.rows[3].model_copy(update={"moved_by": moves})
    text = body(reviews.review(found.model_copy(update={"rows": [row]})), language="de")
    told = "Q1 4 → 3, contains bestanden → Fehler, Q1 Linie – → 4.5, Red-Flag, label pass → fail"
    assert f"| schlechter | {told} |" in text
