"""The words a reader can meet: both languages complete, and none that advises or certifies.

touchstone measures how far answers meet a rubric. Whether a model is fit for anything is not for it to say.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import touchstone
from touchstone import render

SOURCE = Path(touchstone.__file__).parent
ADVICE = re.compile(
    r"\b(?:recommend|suitab|suited|unsuit|endors|certified|advisable|geeignet|ungeeignet|eignung|eignet"
    r"|empfehl|empfohlen|tauglich|unbedenklich|freigegeben für)\w*",
    re.IGNORECASE,
)

_NO_PAIRS = frozenset({"touchstone.render.doctor.TEXTS"})
"""A finding and its remedy, not two languages."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every string of a module with its line; templates as a whole."""
    if path.suffix != ".py":
        yield 1, path.read_text("utf-8")
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def sources() -> list[Path]:
    found = [path for path in SOURCE.rglob("*") if path.suffix in {".py", ".html", ".css", ".md", ".txt"}]
    assert len(found) > 100
    return found


def test_no_text_advises_or_certifies() -> None:
    told = [
        f"{path.relative_to(SOURCE)}:{line}: {word}"
        for path in sources()
        for line, text in texts(path)
        for word in ADVICE.findall(text)
    ]
    assert told == []


@pytest.mark.parametrize(
    "text",
    ["Empfehlung: Ja", "geeignet", "ist für den Einsatz ungeeignet", "recommended", "Suitable for use"],
)
def test_what_must_not_be_said_is_found(text: str) -> None:
    assert ADVICE.search(text)


def pairs() -> Iterator[tuple[str, str, object]]:
    """(module, key, value) of every table of words below `touchstone.render`."""
    for module in pkgutil.walk_packages(render.__path__, "touchstone.render."):
        loaded = importlib.import_module(module.name)
        for name, table in vars(loaded).items():
            if isinstance(table, dict) and name.isupper() and f"{module.name}.{name}" not in _NO_PAIRS:
                yield from ((f"{module.name}.{name}", key, value) for key, value in table.items())


def two_languages() -> list[tuple[str, str, str, str]]:
    return [
        (table, str(key), value[0], value[1])
        for table, key, value in pairs()
        if isinstance(value, tuple) and len(value) == 2 and all(isinstance(text, str) for text in value)
    ]


def test_every_word_has_both_languages_with_the_same_places() -> None:
    words = two_languages()
    assert len(words) > 250
    for table, key, english, german in words:
        assert bool(english) is bool(german), (table, key)
        places = [set(re.findall(r"{(\w*)}", text)) for text in (english, german)]
        assert places[0] == places[1], (table, key)


@pytest.mark.parametrize(
    ("key", "english", "german"),
    [
        ("na", "n/a", "n. v."),
        ("level", "Rubric level", "Rubrik-Stufe"),
        ("safety", "Safety", "Sicherheit"),
        ("judge_not_recorded", "Judge: not recorded", "Judge: nicht erfasst"),
    ],
)
def test_the_terms_are_those_agreed_on(key: str, english: str, german: str) -> None:
    assert importlib.import_module("touchstone.render.words").WORDS[key] == (english, german)
