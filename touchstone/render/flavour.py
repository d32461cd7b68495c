"""The two dialects a report is written in: what GitHub shows, and what Obsidian does.

The order and the words are one; only how a notice, a fold and a name look differs. Every text from outside
is made inert here or before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Literal, Protocol

from touchstone.render.markdown import code, escaped, folded, html_code
from touchstone.render.plain import one_line
from touchstone.result.schema import Cell, ResultDoc

Callout = Literal["info", "warning", "danger"]

_NO_FILE_NAME = re.compile(r"[^\w .+-]|^[ .]+|[ .]+$")
_QUERY = ("=", "$=")
_GAP = "\u200b"
_TAG_GAPS = re.compile(r"[^a-z0-9-]")


class Flavour(Protocol):
    """How a report's parts look."""

    def head(self, result: ResultDoc) -> list[str]:
        """What stands before the first line."""

    def notice(self, kind: Callout, text: str) -> list[str]:
        """A sentence to be seen; `text` is plain."""

    def folded(self, name: str, told: str, lines: Iterable[str]) -> list[str]:
        """Markdown behind a title: a name from outside and what is told of it, both plain."""

    def name(self, text: str) -> str:
        """A name from outside, in a sentence."""


class GitHub:
    """Plain GitHub Markdown."""

    def head(self, result: ResultDoc) -> list[str]:  # noqa: ARG002  part of the protocol
        """Nothing."""
        return []

    def notice(self, kind: Callout, text: str) -> list[str]:  # noqa: ARG002  part of the protocol
        """A quote."""
        return [f"> {escaped(text)}", ""]

    def folded(self, name: str, told: str, lines: Iterable[str]) -> list[str]:
        """A `details` element."""
        return [*folded(f"{html_code(name)}: {escape(one_line(told))}", lines), ""]

    def name(self, text: str) -> str:
        """The name, inert."""
        return escaped(text)


class Obsidian:
    """Frontmatter, callouts and wikilinks. What programs read in the frontmatter is canonical."""

    def head(self, result: ResultDoc) -> list[str]:
        """The frontmatter: keys and values of the result, null where nothing told."""
        fields = {key: _yaml(value) for key, value in _properties(result).items()}
        cells = [f"  - {_yaml(_cell_properties(cell))}" for cell in result.cells]
        return ["---", *(f"{key}: {value}" for key, value in fields.items()), "cells:", *cells, "---", ""]

    def notice(self, kind: Callout, text: str) -> list[str]:
        """A callout."""
        return [f"> [!{kind}] {escaped(text)}", ""]

    def folded(self, name: str, told: str, lines: Iterable[str]) -> list[str]:
        """A closed callout: a mark in front of every line keeps whatever stands in it inside."""
        inner = [part for line in lines for part in line.split("\n")]
        return [f"> [!quote]- {escaped(f'{name}: {told}')}", *(f"> {line}" for line in inner), ""]

    def name(self, text: str) -> str:
        """A link to the note of that name; a name no note can have is told beside it."""
        told = one_line(text)
        note = _NO_FILE_NAME.sub("-", told)
        if note and note == told:
            return f"[[{note}]]"
        # Code that begins with an equals sign is a query to a plug-in.
        shown = code(_GAP + told if told.startswith(_QUERY) else told)
        return f"[[{note}]] ({shown})" if note.strip(" -.") else shown


GITHUB: Flavour = GitHub()
OBSIDIAN: Flavour = Obsidian()


def _properties(result: ResultDoc) -> dict[str, object]:
    run, known, judge = result.run, result.provenance, result.judge
    return {
        "run": run.id,
        "pack": known.pack_id,
        "pack_version": known.pack_version,
        "date": known.date,
        "commit": run.commit,
        "clean": run.clean,
        "complete": run.complete,
        "judge_model": judge and judge.model,
        "judge_version": judge and judge.version,
        "judge_temperature": judge and judge.temperature,
        "judge_seed": judge and judge.seed,
        "engine": known.engine,
        "engine_version": known.engine_version,
        "runtime": known.runtime,
        "chip": known.chip,
        "ram_gb": known.ram_gb,
        "os": known.os,
        "temperature": known.temperature,
        "seed": known.seed,
        "tags": ["touchstone", f"touchstone/{_TAG_GAPS.sub('-', known.pack_id)}"],
    }


def _cell_properties(cell: Cell) -> dict[str, object]:
    quality = cell.quality
    return {
        "model": cell.model,
        "variant": cell.variant,
        "quant": cell.quant,
        "pct": quality and quality.pct,
        "rubric_level": quality and quality.rubric_level,
        "safety_passed": quality and quality.safety_passed,
        "answer_tokens_med": cell.answer_tokens_med,
    }


def _yaml(value: object) -> str:
    """JSON on one line is YAML too, once no text holds a character that YAML takes for a line's end."""
    return json.dumps(_inert(value), ensure_ascii=False)


def _inert(value: object) -> object:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list):
        return [_inert(item) for item in value]
    if isinstance(value, dict):
        return {key: _inert(item) for key, item in value.items()}
    return value
