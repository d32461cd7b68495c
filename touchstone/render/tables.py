"""A table before it is Markdown or HTML: plain texts that each renderer escapes in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.render.markdown import escaped, in_cell, table


@dataclass(frozen=True)
class Table:
    """A titled table. `sentences` stand below it: what its numbers do not say by themselves."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    sentences: Sequence[str] = ()


def table_section(shown: Table) -> list[str]:
    """The table as a section of Markdown."""
    cells = [[in_cell(cell) for cell in row] for row in (shown.header, *shown.rows)]
    told = [line for one in shown.sentences for line in (escaped(one), "")]
    return [f"## {shown.title}", "", *table(cells[0], cells[1:]), "", *told]
