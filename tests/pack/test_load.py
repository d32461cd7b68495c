"""Packs as files: every good one loads, every bad one is refused with exactly its lines."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from touchstone.errors import BadInputError
from touchstone.pack.load import LoadedPack, find_packs, load_pack
from touchstone.yaml_source import ProblemsError

CASES = Path(__file__).parent.parent / "cases" / "packs"
GOOD = sorted((CASES / "good").glob("*.yaml"))
BAD = sorted((CASES / "bad").glob("*.yaml"))

HEAD = "schema: 1\nid: demo\nversion: 1\ntitle: Demo\n"
PROMPTS = """categories:
  - id: A
    name: Greetings
    prompts:
      - {id: greet, prompt: Say hello., checks: [{type: contains, value: hello}]}
"""


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_pack_loads(path: Path) -> None:
    loaded = load_pack(path)
    assert loaded.path == path
    assert loaded.pack.categories


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_pack_is_refused_with_exactly_these_lines(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text("utf-8").splitlines()
    with pytest.raises(ProblemsError) as refused:
        load_pack(path)
    assert [str(problem) for problem in refused.value.problems] == [f"{path}:{line}" for line in expected]
    assert refused.value.message == "\n".join(f"{path}:{line}" for line in expected)


def test_every_public_yaml_case_has_its_file_here() -> None:
    public = {path.stem for path in (CASES.parent / "public" / "packs").glob("*.yaml")}
    assert public <= {path.stem for path in [*GOOD, *BAD]}


def test_the_design_example_holds_everything_a_pack_may_say() -> None:
    loaded = load_pack(CASES / "good" / "design-example.yaml")
    assert loaded.pack.labels is not None
    assert loaded.pack.ko_rule is not None
    assert loaded.pack.scale[5] == "vorbildlich"
    house = loaded.variants["house"]
    assert house.text == "Du bist der Assistent einer Kfz-Werkstatt. Antworte kurz und sachlich.\n"
    assert loaded.variants["none"].text is None
    assert loaded.variants["none"].sha256 is None


def test_checks_get_their_names_and_thresholds() -> None:
    loaded = load_pack(CASES / "good" / "checks-only.yaml")
    ((_, prompt),) = loaded.pack.prompts()
    names = [check.id for check in prompt.checks]
    assert names[:4] == ["equals", "contains", "there", "contains-2"]
    assert names[9:12] == ["count", "count-2", "length"]
    thresholds = {check.id: check.threshold for check in prompt.checks}
    assert thresholds["levenshtein"] == 0.8
    assert thresholds["contains"] == 1.0


def test_a_given_name_is_never_given_twice(tmp_path: Path) -> None:
    checks = "[{type: json}, {type: json, id: json}, {type: json}]"
    loaded = _load(tmp_path, HEAD + PROMPTS.replace("[{type: contains, value: hello}]", checks))
    ((_, prompt),) = loaded.pack.prompts()
    assert [check.id for check in prompt.checks] == ["json-2", "json", "json-3"]


def test_texts_are_what_yaml_yields() -> None:
    prompts = {prompt.id: prompt for _, prompt in load_pack(CASES / "good" / "texts.yaml").pack.prompts()}
    assert prompts["plain"].prompt == "Folded lines become one.\nAnd a second paragraph: with a colon."
    assert prompts["plain"].tests == "escapes \u2028 \x1b \t \0"
    assert prompts["literal"].prompt == "Tabs\tinside and trailing lines are kept.\t\n\n"


def test_an_old_machine_key_is_passed_over_and_mentioned_once() -> None:
    assert len(load_pack(CASES / "good" / "machine-key.yaml").notes) == 1
    assert load_pack(CASES / "good" / "bom.yaml").notes == []


def test_the_text_is_kept_without_its_byte_order_mark() -> None:
    assert load_pack(CASES / "good" / "bom.yaml").text.startswith("schema: 1\n")


@pytest.mark.parametrize("name", ["Y13-alias-bomb", "deep-brackets"])
def test_Y13_a_bomb_is_refused_in_well_under_a_second(name: str) -> None:
    started = time.process_time()
    with pytest.raises(ProblemsError):
        load_pack(CASES / "bad" / f"{name}.yaml")
    assert time.process_time() - started < 0.5


PATTERN_BOMBS = {
    "ignorecase ranges": "(?i)" + "[\\x00-\\uffff]" * 600,
    "counts of nothing": "(?:(?:a?){60000}){60000}b?",
    "nesting": "(" * 5_000 + "a" + ")" * 5_000,
    "length": "a" * 20_000,
}


@pytest.mark.parametrize("pattern", PATTERN_BOMBS.values(), ids=PATTERN_BOMBS)
def test_a_pattern_bomb_is_a_problem_like_any_other(tmp_path: Path, pattern: str) -> None:
    check = f"[{{type: regex, pattern: '{pattern}'}}]"
    started = time.process_time()
    with pytest.raises(ProblemsError) as refused:
        _load(tmp_path, HEAD + PROMPTS.replace("[{type: contains, value: hello}]", check))
    assert time.process_time() - started < 5
    (problem,) = refused.value.problems
    assert problem.path == "categories[0].prompts[0].checks[0].pattern"
    assert problem.line == 9


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"gone\.yaml: cannot be read"):
        load_pack(tmp_path / "gone.yaml")


# prompt files


def test_a_prompt_file_is_sent_as_it_is_kept(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    (repository / "prompts" / "house.md").write_bytes(b"\xef\xbb\xbfBe kind.\r\nBe brief.\r\n")
    text = _load(repository / "packs", _with_file("../prompts/house.md")).variants["v"]
    assert text.text == "Be kind.\nBe brief.\n"
    assert text.source == "prompts/house.md"


def test_a_link_inside_the_repository_names_what_it_leads_to(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    (repository / "prompts" / "house.md").write_text("Be kind.\n")
    (repository / "packs" / "link.md").symlink_to("../prompts/house.md")
    assert _load(repository / "packs", _with_file("link.md")).variants["v"].source == "prompts/house.md"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../../secret.txt", "leaves the repository"),
        ("link-out.md", "leaves the repository"),
        ("loop.md", "no such file"),
        ("../.git/config", "is inside .git"),
        ("pipe", "is not a file"),
        ("/etc/passwd", "a path relative to the pack file is due"),
        ("../prompts/lfs.md", "Git LFS pointer"),
        ("../prompts/conflict.md", "unresolved merge conflict"),
        ("../prompts/big.md", "has more than"),
        ("a\\0b", "a path relative to the pack file is due"),
    ],
)
def test_a_prompt_file_cannot_be_just_any_file(tmp_path: Path, name: str, fault: str) -> None:
    repository = _repository(tmp_path)
    (tmp_path / "secret.txt").write_text("secret\n")
    (repository / ".git" / "config").write_text("[core]\n")
    (repository / "packs" / "link-out.md").symlink_to(tmp_path / "secret.txt")
    (repository / "packs" / "loop.md").symlink_to("loop.md")
    os.mkfifo(repository / "packs" / "pipe")
    (repository / "prompts" / "lfs.md").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    )
    (repository / "prompts" / "conflict.md").write_text("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    (repository / "prompts" / "big.md").write_text("a" * (4 * 1024 * 1024 + 1))
    with pytest.raises(ProblemsError) as refused:
        _load(repository / "packs", _with_file(name))
    (problem,) = refused.value.problems
    assert fault in problem.problem
    assert problem.path == "prompt_variants[0].system_prompt_file"
    assert problem.line == 5


def test_without_git_a_prompt_file_stays_beside_the_packs_folder(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "packs").mkdir(parents=True)
    (project / "house.md").write_text("Be kind.\n")
    (tmp_path / "outside.md").write_text("secret\n")
    assert _load(project / "packs", _with_file("../house.md")).variants["v"].source == "house.md"
    with pytest.raises(ProblemsError, match="leaves the repository"):
        _load(project / "packs", _with_file("../../outside.md"))


def test_a_setext_heading_is_no_merge_conflict(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    (repository / "prompts" / "house.md").write_text("Heading\n=======\n")
    assert _load(repository / "packs", _with_file("../prompts/house.md")).variants["v"].text


# finding packs


def test_a_folder_stands_for_its_pack_files(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", ".hidden.yaml", "note.md"):
        (tmp_path / name).write_text("")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "c.yaml").write_text("")
    (tmp_path / "self.yaml").symlink_to("self.yaml")
    (tmp_path / "up").symlink_to(".")
    assert [path.name for path in find_packs([tmp_path])] == ["a.yml", "b.yaml"]


def test_a_pack_reached_twice_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("")
    (tmp_path / "again.yaml").symlink_to("a.yaml")
    assert find_packs([tmp_path / "a.yaml", tmp_path]) == [tmp_path / "a.yaml"]


def test_nothing_found_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no packs found") as refused:
        find_packs([tmp_path])
    assert refused.value.hint
    with pytest.raises(BadInputError, match="no such file or folder"):
        find_packs([tmp_path / "gone"])


def _repository(tmp_path: Path) -> Path:
    repository = tmp_path / "repository"
    for name in (".git", "packs", "prompts"):
        (repository / name).mkdir(parents=True)
    return repository


def _with_file(name: str) -> str:
    return f'{HEAD}prompt_variants: [{{id: v, system_prompt_file: "{name}"}}]\n{PROMPTS}'


def _load(folder: Path, text: str) -> LoadedPack:
    path = folder / "pack.yaml"
    path.write_text(text, "utf-8")
    return load_pack(path)
