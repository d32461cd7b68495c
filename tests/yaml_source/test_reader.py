"""Bytes become a tree with places, or problems; never an exception."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.yaml_source.nodes import Document, Listing, Mapping, Node, Scalar
from touchstone.yaml_source.reader import BYTES_MAX, DEPTH_MAX, NODES_MAX, read_document

BOTH_LOADERS = pytest.mark.parametrize("pure", [False, True], ids=["C", "Python"])


def test_the_c_loader_is_there() -> None:
    """Without it every figure of ours is wrong; the loader in Python is only a fallback."""
    assert hasattr(yaml, "CSafeLoader")


@BOTH_LOADERS
def test_values_keep_their_text_style_and_place(pure: bool) -> None:
    text = "ä: 'quoted'\nlist:\n  - plain text\n  - |\n    block\nflow: {a: [x, \"y\"]}\n"
    document = read_document(text.encode(), "f.yaml", pure=pure)
    assert document.problems == []
    assert document.node_at(("ä",)) == Scalar("quoted", False, (1, 4))
    assert document.node_at(("list", 0)) == Scalar("plain text", True, (3, 5))
    assert document.node_at(("list", 1)) == Scalar("block\n", False, (4, 5))
    assert document.node_at(("flow", "a", 1)) == Scalar("y", False, (6, 15))
    assert document.place_of(("list",)) == (2, 1)
    assert document.place_of(("list", 7)) == (2, 1)
    assert document.key_place(("flow", "a")) == (6, 8)
    assert document.node_at(("flow", "b")) is None


@BOTH_LOADERS
def test_both_loaders_give_the_same_tree(pure: bool) -> None:
    text = "a: &x {k: [1, 2]}\nb: *x\nc: >-\n  one\n  two\n\n  three\nd: \"\\x41\\u00e4\"\n'e': ~\nf:\n"
    assert read_document(text, "f", pure=pure).root == read_document(text, "f").root


REFUSED = {
    "not UTF-8": (b"a: \xff\n", (1, 4), "not UTF-8"),
    "UTF-16": ("a: b\n".encode("utf-16"), (1, 1), "not UTF-8"),
    "empty": (b"", (1, 1), "the file is empty"),
    "only a comment": (b"# x\n---\n...\n", (1, 1), "the file is empty"),
    "duplicate key": (b"a: 1\nb: 2\na: 3\n", (3, 1), "stands twice"),
    "deep duplicate key": (b"a:\n  - {x: 1, 'x': 2}\n", (2, 12), "stands twice"),
    "second document": (b"a: 1\n---\nb: 1\n", (2, 1), "a second document"),
    "tag": (b"a: !!str 1\n", (1, 4), 'tags are not read: "!!str"'),
    "local tag": (b"a: !x [1]\n", (1, 4), 'tags are not read: "!x"'),
    "bare tag": (b"a: ! b\n", (1, 4), "tags are not read"),
    "merge key": (b"a: {<<: {b: 1}}\n", (1, 5), "merge keys"),
    "cycle": (b"a: &x [*x]\n", (1, 8), "contains itself"),
    "cycle through a mapping": (b"a: &x {b: [*x]}\n", (1, 12), "contains itself"),
    "unknown alias": (b"a: *x\n", (1, 4), "stands for nothing"),
    "raw U+2028": ("a: x\u2028y\n".encode(), (1, 5), "U+2028"),
    "raw U+2029": ("a: x\u2029y\n".encode(), (1, 5), "U+2029"),
    "raw U+0085": ("a: x\u0085y\n".encode(), (1, 5), "U+0085"),
    "raw escape": (b"a: x\x1b[0m\n", (1, 5), "U+001B"),
    "raw NUL": (b"a: \0\n", (1, 4), "U+0000"),
    "byte order mark inside": ("a: x\ufeff\n".encode(), (1, 5), "U+FEFF"),
    "tab indent": (b"a:\n\t- x\n", (2, 1), "a tab"),
    "tab separator": (b"a:\tb\n", (1, 3), "a tab"),
    "tab in a plain text": (b"a: b\tc\n", (1, 5), "a tab"),
    "tab at the end": (b"a: b\t\n", (1, 5), "a tab"),
    "tab before a comment": (b"a: b\t# c\n", (1, 5), "a tab"),
    "tab on an empty line": (b"a: b\n\t\n", (2, 1), "a tab"),
    "tab in a flow list": (b"a: [b,\tc]\n", (1, 7), "a tab"),
    "list as key": (b"? [a]\n: b\n", (1, 3), "cannot be a key"),
    "mapping as key": (b"{a: b}: c\n", (1, 1), "cannot be a key"),
    "conflict": (b"a: 1\n<<<<<<< ours\nb: 1\n=======\n", (2, 1), "merge conflict"),
    "LFS pointer": (b"version https://git-lfs.github.com/spec/v1\n", (1, 1), "Git LFS"),
    "syntax": (b"a: 'x\n", (2, 1), "not valid YAML"),
    "impossible escape": (b'a: "\\U00110000"\n', None, "not valid YAML"),
    "half a pair": (b'a: "\\ud800"\n', None, ""),
}


@BOTH_LOADERS
@pytest.mark.parametrize(("data", "place", "words"), REFUSED.values(), ids=REFUSED)
def test_what_a_kept_file_must_not_hold(
    pure: bool, data: bytes, place: tuple[int, int] | None, words: str
) -> None:
    problems = read_document(data, "f.yaml", pure=pure).problems
    assert problems
    assert words in problems[0].problem
    if place:
        assert (problems[0].line, problems[0].column) == place


def test_the_escape_to_write_is_named() -> None:
    (problem,) = read_document("a: x\u2028y\n".encode(), "f").problems
    assert problem.hint == 'remove it, or write it as \\u2028 inside double quotes: "…\\u2028…"'


@BOTH_LOADERS
@pytest.mark.parametrize(
    "text",
    ["a: |\n  x\ty\t\n", "a: 'x\ty'\n", "# a\tcomment\na: b # and\tone\n", "a: >-\n  x\n  \ty\n"],
)
def test_a_tab_inside_a_text_or_comment_stays(pure: bool, text: str) -> None:
    assert read_document(text, "f", pure=pure).problems == []


@BOTH_LOADERS
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "{a: " * 100_000,
        "- " * 100_000 + "x",
        "".join(" " * level + "a:\n" for level in range(1_500)),
        "? " * 20_000,
    ],
    ids=["open", "closed", "mappings", "dashes", "indents", "questions"],
)
def test_absurd_nesting_is_refused_where_it_becomes_too_deep(pure: bool, text: str) -> None:
    (problem,) = read_document(text, "f", pure=pure).problems
    assert problem.problem == f"nested deeper than {DEPTH_MAX} levels"


@BOTH_LOADERS
def test_nesting_up_to_the_limit_is_read(pure: bool) -> None:
    text = "[" * DEPTH_MAX + "]" * DEPTH_MAX
    assert read_document(text, "f", pure=pure).problems == []


def test_aliases_count_as_what_they_stand_for() -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 80))
    (problem,) = read_document(chain, "f").problems
    assert "nested deeper" in problem.problem
    wide = "a: &a [" + "x," * 1_000 + "]\nb: [" + "*a," * 300 + "]\n"
    (problem,) = read_document(wide, "f").problems
    assert f"more than {NODES_MAX} values" in problem.problem
    assert problem.line == 2


def test_a_large_honest_file_is_read() -> None:
    document = read_document("a: [" + "x, " * (NODES_MAX - 10) + "]\n", "f")
    assert document.problems == []


def test_a_file_over_the_limit_is_refused_unread() -> None:
    (problem,) = read_document(b"a: " + b"x" * BYTES_MAX, "f").problems
    assert "the limit is" in problem.problem
    assert problem.line is None


def test_a_thousand_bad_characters_are_a_few_problems() -> None:
    assert len(read_document("\x1b" * 100_000, "f").problems) == 20


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    _is_sound(read_document(data, "f"))


_SCRAPS = ["a", "b: ", "- ", "\n", "  ", "[", "]", "{", "}", ", ", ": ", "'", '"', "&x ", "*x", "!t ", "<<: "]
_SCRAPS += ["|\n", "? ", "#c", "\t", "---\n", "...\n", "%YAML 1.1\n", "\\u", "ä", "\r\n", ">-\n", "~", "0x"]
_YAMLISH = st.lists(st.sampled_from(_SCRAPS), max_size=40).map("".join)


@given(_YAMLISH)
@settings(max_examples=500, deadline=None)
def test_no_yaml_crashes_the_reader_and_both_loaders_agree(text: str) -> None:
    ours, theirs = read_document(text, "f"), read_document(text, "f", pure=True)
    _is_sound(ours)
    _is_sound(theirs)
    if not ours.problems and not theirs.problems:
        assert _texts(ours.root) == _texts(theirs.root)


def _texts(node: Node | None) -> object:
    """The tree without places: the loaders put an empty value in different ones."""
    if isinstance(node, Mapping):
        return {key: _texts(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, Listing):
        return [_texts(item) for item in node.items]
    return node and (node.text, node.plain)


def _is_sound(document: Document) -> None:
    assert document.root is not None or document.problems
    for problem in document.problems:
        assert "\n" not in str(problem)
        assert "Traceback" not in str(problem)
