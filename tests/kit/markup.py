"""HTML read back: which elements and attributes a page has, and what text stands in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "hr", "img", "input", "link", "base", "source", "embed"})


@dataclass
class Markup:
    """What a page is made of. `elements` are (name, attributes) in order, `text` what a reader sees."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    unclosed: list[str] = field(default_factory=list)

    def of(self, css_class: str) -> list[tuple[str, dict[str, str | None]]]:
        """The elements that have a class."""
        return [
            (name, attributes)
            for name, attributes in self.elements
            if css_class in (attributes.get("class") or "").split()
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Markup()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> inside <{self._open[-1]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.found.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def close(self) -> None:
        super().close()
        self.found.unclosed = self._open


def markup(page: str) -> Markup:
    """A page read; AssertionError where elements do not close each other."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.found
