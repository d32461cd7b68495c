"""The plan, pure: which samples a run asks, in which order."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from touchstone.errors import BadInputError
from touchstone.pack.schema import Pack, Prompt
from touchstone.run.records import Manifest, SampleKey

Item = TypeVar("Item")


class Shard(NamedTuple):
    """The `number`-th of `total` runs that share a pack's prompts; counted from 1."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """A shard from `2/3`; ValueError where that is none."""
        found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text, re.ASCII)
        shard = cls(int(found[1]), int(found[2])) if found else None
        if shard is None or shard.number > shard.total:
            raise ValueError(f"{text!r} is no shard: write 1/3, 2/3 and 3/3 for three machines")
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def of(self, items: Sequence[Item]) -> list[Item]:
        """This shard's items: dealt out one by one, so that every shard gets some of every category."""
        return list(items[self.number - 1 :: self.total])


@dataclass(frozen=True)
class Part:
    """What of a pack a run asks: `only` these ids, id patterns or tags, at most `limit`, of that a shard."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    shard: Shard | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it leaves nothing out."""
        return not (self.only or self.limit or self.shard)


WHOLE = Part()


def planned_prompts(pack: Pack, part: Part = WHOLE) -> list[tuple[str, int]]:
    """(prompt id, repeats) of the part, in declared order.

    Raises BadInputError for an `only` that names nothing and for a shard that gets nothing.
    """
    prompts = _narrowed(pack, part.only)[: part.limit]
    if part.shard is not None:
        if part.shard.total > len(prompts):
            raise BadInputError(
                f"--shard {part.shard}: pack {pack.id} has {_counted(len(prompts))} to ask, "
                f"too few for {part.shard.total} shards",
                f"Use at most {len(prompts)}.",
            )
        prompts = part.shard.of(prompts)
    return [(prompt.id, prompt.repeats) for prompt in prompts]


def filter_words(part: Part) -> str | None:
    """The narrowing as the manifest keeps it; null for the whole pack. A shard is kept apart."""
    words = [f"only={','.join(part.only)}"] if part.only else []
    if part.limit is not None:
        words.append(f"limit={part.limit}")
    return " ".join(words) or None


def samples(manifest: Manifest) -> list[SampleKey]:
    """Every planned sample: models one after another, then variants × prompts × repeats as declared."""
    return list(_samples(manifest))


def _narrowed(pack: Pack, only: Sequence[str]) -> list[Prompt]:
    prompts = [prompt for _, prompt in pack.prompts()]
    for name in only:
        if not any(_named(prompt, name) for prompt in prompts):
            raise BadInputError(
                f"--only {name}: pack {pack.id} has no prompt or tag of that name",
                "Prompt ids: " + ", ".join(prompt.id for prompt in prompts[:20]),
            )
    return [prompt for prompt in prompts if not only or any(_named(prompt, name) for name in only)]


def _counted(prompts: int) -> str:
    return "1 prompt" if prompts == 1 else f"{prompts} prompts"


def _samples(manifest: Manifest) -> Iterable[SampleKey]:
    for model in manifest.models:
        for variant in manifest.suite.variants:
            for prompt, repeats in manifest.plan:
                for repeat in range(1, repeats + 1):
                    yield SampleKey(model.id, variant, prompt, repeat, manifest.draw)


def _named(prompt: Prompt, name: str) -> bool:
    return name in prompt.tags or fnmatch.fnmatchcase(prompt.id, name)
