"""What is on one side of a comparison only: prompts, or a whole variant or model by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from touchstone.baseline.comparison import ComparedCell, Comparison
from touchstone.render.phrases import phrase
from touchstone.render.words import Words

Coming = Literal["gone", "new"]
COMINGS: tuple[Coming, ...] = ("gone", "new")


def comings(comparison: Comparison, state: Coming, words: Words) -> list[str]:
    """The names of what is gone or new, models first, then variants, then prompts of cells on both sides."""
    if comparison.reference is None:
        return []
    models = _whole(comparison, state, lambda cell: cell.model)
    variants = _whole(comparison, state, lambda cell: None if cell.model in models else cell.variant)
    prompts = [
        row.prompt
        for row in comparison.rows
        if row.state == state and row.model not in models and row.variant not in variants
    ]
    return [
        *(phrase(words, "the_model", name=name) for name in models),
        *(phrase(words, "the_variant", name=name) for name in variants),
        *dict.fromkeys(prompts),
    ]


def _whole(
    comparison: Comparison, state: str, name_of: Callable[[ComparedCell], str | None]
) -> dict[str, None]:
    """Names of which every cell has the state."""
    elsewhere = {name_of(cell) for cell in comparison.cells if cell.state != state}
    named = [name_of(cell) for cell in comparison.cells if cell.state == state]
    return dict.fromkeys(name for name in named if name is not None and name not in elsewhere)
