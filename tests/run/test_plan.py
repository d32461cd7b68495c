from __future__ import annotations

import pytest

from touchstone.errors import BadInputError
from touchstone.pack.schema import Category, Pack, Prompt
from touchstone.run.plan import Part, Shard, filter_words, planned_prompts

PACK = Pack(
    schema=1,
    id="p",
    version=1,
    title="P",
    categories=[
        Category(
            id="A",
            name="A",
            prompts=[Prompt(id="A1", prompt="?", tags=["smoke"]), Prompt(id="A2", prompt="?", repeats=3)],
        ),
        Category(id="B", name="B", prompts=[Prompt(id="B1", prompt="?", tags=["smoke", "slow"])]),
    ],
)


@pytest.mark.parametrize(
    ("only", "limit", "planned"),
    [
        ((), None, [("A1", 1), ("A2", 3), ("B1", 1)]),
        (("A2",), None, [("A2", 3)]),
        (("smoke",), None, [("A1", 1), ("B1", 1)]),
        (("A*",), None, [("A1", 1), ("A2", 3)]),
        (("slow", "A1"), None, [("A1", 1), ("B1", 1)]),
        ((), 2, [("A1", 1), ("A2", 3)]),
        (("smoke",), 1, [("A1", 1)]),
    ],
)
def test_prompts_are_narrowed_in_declared_order(
    only: tuple[str, ...], limit: int | None, planned: list[tuple[str, int]]
) -> None:
    assert planned_prompts(PACK, Part(only, limit)) == planned


def test_a_name_that_matches_nothing_is_refused_with_what_there_is() -> None:
    with pytest.raises(BadInputError, match="no prompt or tag") as caught:
        planned_prompts(PACK, Part(("A1", "C9")))
    assert caught.value.hint == "Prompt ids: A1, A2, B1"


def test_the_filter_is_written_down_and_null_for_the_whole_pack() -> None:
    assert filter_words(Part()) is None
    assert filter_words(Part(("A1", "smoke"), 4)) == "only=A1,smoke limit=4"


def test_shards_deal_the_narrowed_prompts_out_and_leave_none() -> None:
    assert planned_prompts(PACK, Part(shard=Shard(1, 2))) == [("A1", 1), ("B1", 1)]
    assert planned_prompts(PACK, Part(shard=Shard(2, 2))) == [("A2", 3)]
    assert planned_prompts(PACK, Part(("smoke",), shard=Shard(2, 2))) == [("B1", 1)]


def test_a_shard_without_a_prompt_is_refused_with_the_most_there_can_be() -> None:
    with pytest.raises(BadInputError, match="pack p has 2 prompts to ask, too few for 3 shards") as caught:
        planned_prompts(PACK, Part(limit=2, shard=Shard(1, 3)))
    assert caught.value.hint == "Use at most 2."


@pytest.mark.parametrize("text", ["", "3", "0/3", "4/3", "1/0", "-1/3", "1/3/5", " 1/3", "１/３", "1/99999"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no shard"):
        Shard.parse(text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(Shard.parse("2/3")) == "2/3"
