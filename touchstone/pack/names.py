"""Names in a pack: which clash, and which lead nowhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Protocol

from touchstone.pack.problems import Faults, present
from touchstone.yaml_source import KeyPath, quoted


class _Named(Protocol):
    @property
    def id(self) -> str: ...


def folded(text: str) -> str:
    """What two names must differ in: letter case and Unicode form do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def ids(items: Iterable[_Named]) -> list[str]:
    """The ids of a list's items."""
    return [item.id for _, item in present(items)]


def unique(what: str, names: Iterable[tuple[KeyPath, str]], faults: Faults) -> None:
    """Note each name that another of its kind already has, case and Unicode form aside."""
    first: dict[str, tuple[KeyPath, str]] = {}
    for path, name in names:
        if not name:
            continue
        before, taken = first.setdefault(folded(name), (path, name))
        if before == path:
            continue
        line = faults.line(before)
        if taken == name:
            faults.at(
                path, f"{what} {quoted(name)} stands twice", f"first on line {line}: give it another name"
            )
        else:
            text = f"{what} {quoted(name)} differs from {quoted(taken)} only in case or Unicode form"
            faults.at(path, text, f"the other is on line {line}: give it another name")


def references(path: KeyPath, names: Iterable[str], known: Iterable[str], what: str, faults: Faults) -> None:
    """Note each name of a list that is not known, or stands twice."""
    known = list(known)
    seen: set[str] = set()
    for index, name in present(names):
        references_one((*path, index), name, known, what, faults)
        if name in seen:
            faults.at((*path, index), f"{what} {quoted(name)} stands twice", "keep one of them")
        seen.add(name)


def references_one(path: KeyPath, name: str, known: Iterable[str], what: str, faults: Faults) -> None:
    """Note a name that is not known, with the nearest one that is."""
    known = [item for item in known if item]
    if name in known:
        return
    near = get_close_matches(name, known, 1)
    listed = ", ".join(known[:10]) + (", …" if len(known) > 10 else "")
    hint = f"did you mean {near[0]}?" if near else f"known here: {listed or 'none'}"
    faults.at(path, f"unknown {what} {quoted(name)}", hint)
