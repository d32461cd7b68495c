"""Files that survive a crash, JSON that has one form."""

from __future__ import annotations

import json
import math
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.errors import BadInputError, NotJudgedError
from touchstone.files import (
    TAIL_BYTES,
    JsonlAppender,
    canonical,
    digest_of,
    exclusive_lock,
    json_document,
    json_line,
    json_pretty,
    parse_json,
    read_bytes,
    read_json,
    read_jsonl,
    read_text,
    sha256_of,
    write_atomic,
    write_document,
    write_json,
    write_pieces,
)

CASES = Path(__file__).parent / "cases" / "public"

numbers = st.floats() | st.integers(-(2**53), 2**53)
texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def case(name: str, folder: Path) -> Path:
    """A copy of a public case, so that a repair does not touch the original."""
    copy = folder / Path(name).name
    copy.write_bytes((CASES / name).read_bytes())
    return copy


def ids(path: Path) -> list[str]:
    return [value["id"] for _, value in read_jsonl(path)]


# --- JSON --------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(values)
def test_canonical_json_has_one_form_and_reads_back(value: Any) -> None:
    line = json_line(value)
    assert "\n" not in line
    again = parse_json(line, "x")
    assert json_line(again) == line
    assert digest_of(value) == sha256_of(line)
    assert parse_json(json_pretty(value), "x") == again
    assert json.loads(line, parse_constant=pytest.fail) == again


def test_numbers_as_we_keep_them() -> None:
    kept = canonical([1.0, -0.0, 0.1 + 0.2, 88.75, math.nan, math.inf, 1e-9, True, 10**20])
    assert json_line(kept) == "[1,0,0.3,88.75,null,null,0,true,100000000000000000000]"


def test_line_separators_are_escaped_and_keys_sorted() -> None:
    assert json_line({"b": "\u2028\u2029ü", "a": 1}) == '{"a":1,"b":"\\u2028\\u2029ü"}'
    assert json_pretty({"b": 1, "a": [2]}) == '{\n  "a": [\n    2\n  ],\n  "b": 1\n}\n'


def test_hashes_name_their_kind_and_do_not_depend_on_key_order() -> None:
    assert sha256_of("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256_of("ü") == sha256_of("ü".encode())
    assert digest_of({"a": 1, "b": 2.0}) == digest_of({"b": 2, "a": 1})


def test_B01_nan_is_neither_written_nor_read(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"B01-nan-result\.json: NaN is not JSON"):
        read_json(CASES / "json/B01-nan-result.json")
    write_json(tmp_path / "x.json", {"mean": math.nan, "spread": math.inf})
    assert read_json(tmp_path / "x.json") == {"mean": None, "spread": None}


def test_B03_key_order_is_no_difference_and_we_write_one() -> None:
    one, other = read_json(CASES / "json/B03-key-order.json"), read_json(CASES / "json/B03b-same-data.json")
    assert one == other
    assert list(one) != list(other)
    assert json_pretty(one) == json_pretty(other)


def test_B05_conflict_markers_have_their_own_message() -> None:
    with pytest.raises(BadInputError, match="unresolved merge conflict"):
        read_json(CASES / "json/B05-conflict-markers.json")


def test_B07_an_lfs_pointer_names_git_lfs() -> None:
    with pytest.raises(BadInputError, match="Git LFS pointer") as caught:
        read_json(CASES / "json/B07-lfs-pointer.json")
    assert caught.value.hint == "Fetch the content: git lfs pull"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "x: key 'a' stands twice"),
        ('{"a": {"b": 1, "b": 1}}', "x: key 'b' stands twice"),
        ("[" * 65 + "]" * 65, "x: JSON nested deeper than 64 levels"),
        ("[" * 200_000, "x: JSON nested deeper than 64 levels"),
        ('{"a": 1,\n "b": }', "x:2:7: not valid JSON"),
        ("", "x:1:1: not valid JSON"),
        ("1" * 5000, "x: "),
        (b'{"a": "\xe9"}', "x: not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', "x:1:1: not valid JSON"),
        ("-Infinity", "x: -Infinity is not JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_place(text: str | bytes, complaint: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_json(text, "x")
    assert caught.value.message.startswith(complaint)


def test_64_levels_are_fine() -> None:
    assert parse_json("[" * 64 + "]" * 64, "x")


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"nowhere: cannot be read"):
        read_bytes(tmp_path / "nowhere")
    (tmp_path / "latin").write_bytes(b"line\ncaf\xe9\n")
    with pytest.raises(BadInputError, match=r"latin:2: not UTF-8 \(byte 0xe9\)"):
        read_text(tmp_path / "latin")


# --- replacing a file --------------------------------------------------------------------------------


def test_replacing_keeps_mode_and_link_and_leaves_nothing_beside(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_atomic(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_new_file_is_readable_by_all(tmp_path: Path) -> None:
    write_atomic(tmp_path / "new", b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644


def test_a_failed_replacement_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept").write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInputError, match="kept: cannot be written: No space left"):
        write_atomic(tmp_path / "kept", "new")
    assert (tmp_path / "kept").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_half_a_character_is_refused_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"x\.json: half a character"):
        parse_json('{"a": "\\ud800"}', "x.json")
    assert parse_json('{"a": "\\ud83d\\ude00"}', "x.json") == {"a": "😀"}
    (tmp_path / "x.jsonl").write_text('{"a": "\\ud800"}\n{}\n')
    with pytest.raises(BadInputError, match=r"x\.jsonl:1: half a character"):
        list(read_jsonl(tmp_path / "x.jsonl"))


def test_a_conflict_names_its_line() -> None:
    with pytest.raises(BadInputError, match=r"x\.json:2: unresolved merge conflict"):
        parse_json('{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> other\n}\n', "x.json")


# --- JSONL -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("torn", [True, False])
def test_an_end_longer_than_what_is_read_at_once_is_repaired_all_the_same(
    tmp_path: Path, torn: bool, over: int
) -> None:
    path = tmp_path / "lines.jsonl"
    for before in ("", '{"n":1}\n'):
        end = '{"text":"' + "x" * (2 * TAIL_BYTES + over) + ("" if torn else '"}')
        path.write_text(before + end)
        with JsonlAppender(path) as lines:
            assert lines.torn_bytes == (len(end) if torn else 0)
        assert path.read_text() == before + ("" if torn else end + "\n")


def test_R01_a_torn_tail_is_passed_over_then_set_aside(tmp_path: Path) -> None:
    path = case("jsonl/R01-truncated-tail.jsonl", tmp_path)
    before = path.read_bytes()
    assert ids(path) == ["p1", "p2"]
    assert path.read_bytes() == before
    with JsonlAppender(path) as lines:
        assert lines.torn_bytes == len(before.split(b"\n")[-1])
        lines.append({"id": "p3"})
    assert ids(path) == ["p1", "p2", "p3"]
    assert path.with_name(path.name + ".torn").read_bytes() == before.split(b"\n")[-1] + b"\n"


def test_R03_a_complete_last_line_gets_its_newline(tmp_path: Path) -> None:
    path = case("jsonl/R03-complete-no-newline.jsonl", tmp_path)
    assert ids(path) == ["p1", "p2"]
    with JsonlAppender(path) as lines:
        assert lines.torn_bytes == 0
        lines.append({"id": "p3"})
    assert ids(path) == ["p1", "p2", "p3"]
    assert not path.with_name(path.name + ".torn").exists()


def test_R06_crlf_and_blank_lines_are_read_and_kept(tmp_path: Path) -> None:
    path = case("jsonl/R06-crlf-and-blank.jsonl", tmp_path)
    before = path.read_bytes()
    assert ids(path) == ["p1", "p2"]
    JsonlAppender(path).close()
    assert path.read_bytes() == before


def test_R11_interleaved_writers_fail_with_the_line(tmp_path: Path) -> None:
    path = case("jsonl/R11-two-writers.jsonl", tmp_path)
    with pytest.raises(BadInputError, match=r"R11-two-writers\.jsonl:1: not a JSON record"):
        ids(path)


def test_R11_the_second_process_is_kept_out(tmp_path: Path) -> None:
    with (
        exclusive_lock(tmp_path / "lock", "busy"),
        pytest.raises(NotJudgedError, match="busy here"),
        exclusive_lock(tmp_path / "lock", "busy here", "wait"),
    ):
        pytest.fail("two at once")
    with exclusive_lock(tmp_path / "lock", "busy"):
        pass


def test_R13_a_latin_1_byte_in_the_middle_names_its_line(tmp_path: Path) -> None:
    path = case("jsonl/R13-invalid-utf8.jsonl", tmp_path)
    before = path.read_bytes()
    with pytest.raises(BadInputError, match=r"R13-invalid-utf8\.jsonl:2: not UTF-8"):
        ids(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("line", ['{"a": NaN}', '{"a": 1, "a": 2}', "{", "x"])
def test_a_bad_line_in_the_middle_is_never_passed_over(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"id": 1}}\n{line}\n{{"id": 3}}\n')
    with pytest.raises(BadInputError, match=r"x\.jsonl:2: "):
        list(read_jsonl(path))


@settings(deadline=None)
@given(
    st.lists(st.dictionaries(texts, numbers | texts, min_size=1, max_size=3), min_size=1, max_size=5),
    st.integers(min_value=0),
)
def test_a_file_cut_anywhere_keeps_every_whole_line(records: list[dict[str, Any]], cut: int) -> None:
    whole = b"".join((json_line(record) + "\n").encode() for record in records)
    left = whole[: cut % (len(whole) + 1)]
    due = left.count(b"\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_bytes(left)
        found = [value for _, value in read_jsonl(path)]
        assert found[:due] == [canonical(record) for record in records][:due]
        assert len(found) - due in (0, 1)
        with JsonlAppender(path) as appender:
            appender.append({"after": 1})
        assert [value for _, value in read_jsonl(path)] == [*found, {"after": 1}]


def test_lines_are_split_at_newlines_only(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with JsonlAppender(path) as lines:
        lines.append({"text": "a\u2028b\u0085c\x0bd\re\nf"})
        lines.append({"text": "g"})
    assert [number for number, _ in read_jsonl(path)] == [1, 2]
    assert [value["text"] for _, value in read_jsonl(path)] == ["a\u2028b\u0085c\x0bd\re\nf", "g"]


def test_a_missing_file_is_empty(tmp_path: Path) -> None:
    assert list(read_jsonl(tmp_path / "nowhere.jsonl")) == []


@given(st.dictionaries(texts, st.lists(values, max_size=3) | values, max_size=4))
def test_a_document_in_pieces_is_the_document(value: dict[str, Any]) -> None:
    whole = json_document(value)
    assert whole == json_pretty({key: sorted_deeply(item) for key, item in value.items()}, sort_keys=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document.json"
        write_document(
            path, {key: iter(item) if isinstance(item, list) else item for key, item in value.items()}
        )
        assert path.read_text("utf-8") == whole


def sorted_deeply(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sorted_deeply(value[key]) for key in sorted(value)}
    return [sorted_deeply(item) for item in value] if isinstance(value, list) else value


def test_a_text_longer_than_a_block_is_written_whole(tmp_path: Path) -> None:
    pieces = ["é" * 700_000, "x", "y" * 900_000, ""]
    write_pieces(tmp_path / "long", pieces)
    assert (tmp_path / "long").read_text("utf-8") == "".join(pieces)
