"""The plan, pure: which samples a run asks, in which order."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from touchstone.errors import BadInputError
from touchstone.pack.schema import Pack, Prompt
from touchstone.run.records import Manifest, SampleKey


def planned_prompts(pack: Pack, only: Sequence[str] = (), limit: int | None = None) -> list[tuple[str, int]]:
    """(prompt id, repeats) in declared order, narrowed to `only` (ids, id patterns or tags) and `limit`.

    Raises BadInputError for an `only` that names nothing.
    """
    prompts = [prompt for _, prompt in pack.prompts()]
    for name in only:
        if not any(_named(prompt, name) for prompt in prompts):
            raise BadInputError(
                f"--only {name}: pack {pack.id} has no prompt or tag of that name",
                "Prompt ids: " + ", ".join(prompt.id for prompt in prompts[:20]),
            )
    if only:
        prompts = [prompt for prompt in prompts if any(_named(prompt, name) for name in only)]
    return [(prompt.id, prompt.repeats) for prompt in prompts[:limit]]


def filter_words(only: Sequence[str], limit: int | None) -> str | None:
    """The narrowing as the manifest keeps it; null for the whole pack."""
    words = [f"only={','.join(only)}"] if only else []
    if limit is not None:
        words.append(f"limit={limit}")
    return " ".join(words) or None


def samples(manifest: Manifest) -> list[SampleKey]:
    """Every planned sample: models one after another, then variants × prompts × repeats as declared."""
    return list(_samples(manifest))


def _samples(manifest: Manifest) -> Iterable[SampleKey]:
    for model in manifest.models:
        for variant in manifest.suite.variants:
            for prompt, repeats in manifest.plan:
                for repeat in range(1, repeats + 1):
                    yield SampleKey(model.id, variant, prompt, repeat, manifest.draw)


def _named(prompt: Prompt, name: str) -> bool:
    return name in prompt.tags or fnmatch.fnmatchcase(prompt.id, name)
