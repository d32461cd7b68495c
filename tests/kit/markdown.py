"""What a text becomes on GitHub, as far as a test can see it: parsed, then searched for what is live.

`live(text)` lists every construct that a reader's program would act on. Code is left out, as GitHub does.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_IGNORED = frozenset({"text", "text_special", "softbreak", "code_inline"})
_OURS = frozenset({"<span>", "</span>"})

# The second reading: what GitHub looks for in the text that came of the Markdown.
_SECOND = {
    "mention": re.compile(r"(?<![\w.`/])@[A-Za-z0-9]"),
    "mail": re.compile(r"[\w+-]@[\w-]+\.\w"),
    "issue": re.compile(r"(?<!&)#\d"),
    "issue by gh": re.compile(r"(?i)\bgh-\d"),
    "commit": re.compile(r"(?<![\w\u200b])[0-9a-f]{7,40}(?!\w)"),
    "commit of a repository": re.compile(r"\w/\w+@[0-9a-f]"),
    "address": re.compile(r"(?i)://|\bwww\.|(?<![a-z])(mailto|xmpp):[\w.]+@\w"),
    "emoji": re.compile(r":[a-z0-9_+-]+:"),
    "formula": re.compile(r"\$"),
}


@lru_cache(maxsize=4)
def parsed(text: str) -> tuple[Token, ...]:
    """The blocks of a text, inline children and all; a text is asked several questions in a row."""
    return tuple(_PARSER.parse(text))


def shape(text: str) -> list[str]:
    """Every token's kind in order, of texts and code nothing but that they are there."""
    return [kind for token in parsed(text) for kind in _kinds(token)]


def live(text: str) -> list[str]:
    """What of the text would be acted on: links, images, HTML, formatting, names, numbers, addresses."""
    return [found for token in parsed(text) for found in _live(token)]


def shown(text: str) -> str:
    """The letters a reader sees outside code and HTML, gaps of no width left out."""
    inline = [child for token in parsed(text) for child in token.children or ()]
    seen = [" " if child.type.endswith("break") else child.content for child in inline if _is_text(child)]
    return "".join(seen).replace("\u200b", "")


def found_in_text(text: str) -> list[str]:
    """What GitHub's second reading would find in a whole document, code left out."""
    return [found for token in parsed(text) for found in _second(_texts(token))]


def tags(text: str) -> set[str]:
    """Every tag and comment of the HTML that a document holds, code left out."""
    html = [t.content for token in parsed(text) for t in (token, *(token.children or ())) if "html" in t.type]
    return {tag for content in html for tag in re.findall(r"<!--.*?-->|<[^>]*>?", content, re.DOTALL)}


def links(text: str) -> list[str]:
    """Where the links and images of a document lead."""
    inline = [child for token in parsed(text) for child in token.children or ()]
    return [str(child.attrs.get("href", child.attrs.get("src"))) for child in inline if child.attrs]


def _texts(token: Token) -> list[Token]:
    if token.type != "html_block":
        return token.children or []
    bare = re.sub(r"<code>.*?</code>|<!--.*?-->|</?(details|summary)>", "", token.content, flags=re.DOTALL)
    return [Token("text", "", 0, content=html.unescape(bare))]


def _is_text(token: Token) -> bool:
    return token.type in {"text", "text_special", "softbreak", "hardbreak"}


def _kinds(token: Token) -> Iterator[str]:
    yield token.type + (token.info if token.type == "fence" else "")
    for child in token.children or ():
        if child.type not in _IGNORED and child.content not in _OURS:
            yield child.type


def _live(token: Token) -> Iterator[str]:
    if token.type not in {"paragraph_open", "paragraph_close", "inline", "fence"}:
        yield token.type
    children = token.children or []
    for child in children:
        if child.type not in _IGNORED and child.content not in _OURS:
            yield f"{child.type} {child.content or child.attrs}"
    yield from _second(children)


def _second(children: list[Token]) -> Iterator[str]:
    """Texts that stand in one element are read together, and no further; a dollar alone is no formula."""
    seen = "".join(
        "\x00" if child.type == "html_inline" else child.content
        for child in children
        if child.type != "code_inline"
    ).replace("\x00$\x00", "\x00")
    for name, pattern in _SECOND.items():
        for found in pattern.finditer(seen):
            yield f"{name} {found[0]!r}"
