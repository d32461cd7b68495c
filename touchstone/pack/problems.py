"""What is wrong with a pack so far, and what is not known of it because of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from touchstone.pack.schema import Pack, Prompt
from touchstone.yaml_source import Document, KeyPath, Problem, dotted

ItemT = TypeVar("ItemT")


class Faults:
    """Collects a file's problems; a place that already has one gets no second."""

    def __init__(self, document: Document, problems: Iterable[Problem], lost: Iterable[KeyPath]) -> None:
        self.document = document
        self.problems = list(problems)
        self._lost = list(lost)
        self._taken = {problem.path for problem in self.problems if problem.path}

    def at(self, path: KeyPath, text: str, hint: str | None = None, *, key: bool = False) -> None:
        """Note a problem at a key path (`key`: at the key itself rather than its value)."""
        name = dotted(path)
        if name not in self._taken:
            self._taken.add(name)
            self.problems.append(self.document.problem(path, text, hint, key=key))

    def complete(self, *path: str | int) -> bool:
        """Whether everything at and below the path could be read; if not, nothing there is surely missing."""
        return not any(place[: len(path)] == path or path[: len(place)] == place for place in self._lost)

    def line(self, path: KeyPath) -> int:
        """The line a key path stands on."""
        place = self.document.place_of(path)
        return place[0] if place else 1


def present(items: Iterable[ItemT]) -> Iterator[tuple[int, ItemT]]:
    """The items of a list with their positions, those passed over that could not be read."""
    return ((index, item) for index, item in enumerate(items) if item is not None)


def prompts_of(pack: Pack) -> Iterator[tuple[KeyPath, Prompt]]:
    """Every prompt with its key path, in declared order."""
    for number, category in present(pack.categories):
        for index, prompt in present(category.prompts):
            yield ("categories", number, "prompts", index), prompt
