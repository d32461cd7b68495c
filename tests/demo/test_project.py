"""The files a project starts with: what they hold, and that nothing that is there is touched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kit.scratch import ScratchRepo, clone, scratch_repo
from touchstone.cli.validate import find_problems
from touchstone.config import load_config
from touchstone.demo.origin import NOWHERE, Origin, checked_origin, origin_of
from touchstone.demo.project import (
    ATTRIBUTES_PATH,
    HOOKS_PATH,
    NO_COMMIT,
    Server,
    Source,
    exclusions,
    is_unfilled,
    place,
    project_texts,
    settings_text,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
KNOWN = Source(Origin("https://github.com/acme/touchstone", COMMIT), "acme/touchstone")
UNKNOWN = Source(NOWHERE, None)
SERVER = Server("http://127.0.0.1:9/v1", ("tester",))


def begin(folder: Path, source: Source = KNOWN) -> dict[str, str]:
    """Place everything; path → what became of it."""
    return {one.path: one.state for one in place(folder, project_texts(SERVER, source, 1))}


def test_everything_is_written_once_and_kept_afterwards(tmp_path: Path) -> None:
    assert set(begin(tmp_path).values()) == {"written"}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(before) == 7
    assert set(begin(tmp_path).values()) == {"kept"}
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_is_written_is_valid_and_asks_the_named_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert find_problems([]) == ([], [])
    config = load_config(None).config
    assert config.endpoint.base_url == SERVER.url
    assert [model.id for model in config.models] == ["tester"]


@pytest.mark.parametrize("path", list(project_texts(SERVER, KNOWN, 1)))
def test_no_file_that_is_there_is_touched(tmp_path: Path, path: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"mine\r\n")
    assert begin(tmp_path)[path] in {"kept", "lacking"}
    assert file.read_bytes() == b"mine\r\n"


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "touchstone.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert begin(tmp_path)["touchstone.yaml"] == "kept"
    assert not (tmp_path / "elsewhere.yaml").exists()


@pytest.mark.parametrize("own", ["packs/own.yml", "prompts/assistant.md"])
def test_a_project_with_packs_or_that_prompt_gets_no_starter(tmp_path: Path, own: str) -> None:
    (tmp_path / own).parent.mkdir()
    (tmp_path / own).write_text("mine\n")
    states = begin(tmp_path)
    assert states["packs/starter.yaml"] == "left_out"
    assert not (tmp_path / "packs" / "starter.yaml").exists()
    assert states["touchstone.yaml"] == "written"


def test_a_file_that_lacks_our_lines_is_told_which(tmp_path: Path) -> None:
    (tmp_path / HOOKS_PATH).write_text("repos: []\n")
    (tmp_path / ATTRIBUTES_PATH).write_text("* text=auto\n")
    told = {one.path: one.add for one in place(tmp_path, project_texts(SERVER, KNOWN, 1)) if one.add}
    assert told[ATTRIBUTES_PATH] == "/baselines/**/*.json text eol=lf -merge\n"
    assert told[HOOKS_PATH].startswith('  - repo: https://github.com/acme/touchstone\n    rev: "0123456789')
    assert "- id: touchstone-validate\n" in told[HOOKS_PATH]


def test_files_wait_for_an_address_only_where_none_is_known(tmp_path: Path) -> None:
    begin(tmp_path / "known")
    begin(tmp_path / "unknown", UNKNOWN)
    for path in (HOOKS_PATH, ".github/workflows/touchstone.yml", ".github/workflows/touchstone-promote.yml"):
        assert not is_unfilled(tmp_path / "known" / path)
        assert is_unfilled(tmp_path / "unknown" / path)
        assert "<" not in (tmp_path / "known" / path).read_text()
    assert not is_unfilled(tmp_path / "unknown" / "touchstone.yaml")


def test_pip_is_given_an_address_it_understands() -> None:
    source = Source(Origin("git@git.example:tools/touchstone.git", COMMIT), None)
    assert source.package == f"git+ssh://git@git.example/tools/touchstone.git@{COMMIT}"
    assert KNOWN.package == f"git+https://github.com/acme/touchstone@{COMMIT}"
    assert UNKNOWN.uses == f"OWNER/touchstone@{NO_COMMIT}"


@pytest.mark.parametrize(
    "model",
    [
        "plain",
        'qu"oted',
        "back\\slash",
        "1e3",
        "no",
        "# hash: {x}",
        "ünï/цо 你好 🙂",
        "- dash",
        "&a *b",
        "%x@`",
    ],
)
def test_any_printable_model_name_is_read_back_as_it_is(tmp_path: Path, model: str) -> None:
    path = tmp_path / "touchstone.yaml"
    path.write_text(settings_text(Server(SERVER.url, (model, "second"))))
    assert [entry.id for entry in load_config(path).config.models] == [model]


def test_a_model_name_that_cannot_be_seen_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "touchstone.yaml"
    for models in [("a\nendpoint: {}",), ("\x1b[2J",), ("\u202eevil",), ()]:
        path.write_text(settings_text(Server(SERVER.url, models)))
        config = load_config(path).config
        assert (config.endpoint.base_url, config.models) == (SERVER.url, [])


def test_settings_without_a_server_leave_the_lines_to_fill_in(tmp_path: Path) -> None:
    path = tmp_path / "touchstone.yaml"
    path.write_text(settings_text(Server()))
    assert load_config(path).config.endpoint.base_url is None
    path.write_text(re.sub(r"^# (?=endpoint|  base|models|  - id)", "", settings_text(Server()), flags=re.M))
    assert load_config(path).config.models[0].id == "MODEL"


def test_formatters_and_scanners_are_told_to_leave_baselines_alone(tmp_path: Path) -> None:
    assert exclusions(tmp_path) == []
    (tmp_path / ".prettierrc.json").write_text("{}")
    (tmp_path / ".secrets.baseline").write_text("{}")
    hooks = "- repo: a\n  hooks:\n    - id: end-of-file-fixer\n    - {id: check-yaml}\n    - id: 'gitleaks'\n"
    (tmp_path / HOOKS_PATH).write_text(hooks)
    assert exclusions(tmp_path) == [
        ".prettierignore: add /baselines/",
        "detect-secrets: scan with --exclude-files '^baselines/'",
        ".pre-commit-config.yaml: give end-of-file-fixer, gitleaks  exclude: ^baselines/",
    ]
    (tmp_path / HOOKS_PATH).write_text(hooks + "      exclude: ^baselines/\n")
    assert len(exclusions(tmp_path)) == 2


def test_two_baselines_are_never_mixed_and_keep_their_line_ends(tmp_path: Path) -> None:
    repo = scratch_repo(tmp_path / "project")
    begin(repo.path)
    kept = "baselines/default/desk.json"
    repo.commit("base", {kept: "1\n2\n3\n4\n5\n6\n7\n"})
    repo.git("switch", "-qc", "other")
    repo.commit("theirs", {kept: "one\n2\n3\n4\n5\n6\n7\n"})
    repo.git("switch", "-q", "main")
    repo.commit("ours", {kept: "1\n2\n3\n4\n5\n6\nseven\n"})
    with pytest.raises(AssertionError, match="merge"):
        repo.git("merge", "other")
    assert (repo.path / kept).read_text() == "1\n2\n3\n4\n5\n6\nseven\n", "no markers, no mixture"
    repo.git("merge", "--abort")
    repo.git("config", "core.autocrlf", "true")
    (repo.path / kept).unlink()
    repo.git("checkout", "--", kept)
    assert b"\r" not in (repo.path / kept).read_bytes()


@pytest.mark.parametrize(
    ("record", "origin"),
    [
        (None, NOWHERE),
        ("not json", NOWHERE),
        ("[]", NOWHERE),
        ('{"url": "https://files.example/touchstone.whl", "archive_info": {}}', NOWHERE),
        (
            f'{{"url": "https://git.example/t.git", "vcs_info": {{"vcs": "git", "commit_id": "{COMMIT}"}}}}',
            Origin("https://git.example/t.git", COMMIT),
        ),
        (
            f'{{"url": "ssh://git@git.example/t", "vcs_info": {{"vcs": "git", "commit_id": "{COMMIT}"}}}}',
            Origin("ssh://git@git.example/t", COMMIT),
        ),
    ],
)
def test_an_installers_record_tells_where_from(record: str | None, origin: Origin) -> None:
    assert origin_of(record) == origin


def test_a_key_in_an_address_never_reaches_a_committed_file() -> None:
    origin = checked_origin("https://me:ghp_secret@github.com/acme/touchstone", COMMIT)
    assert origin.address == "https://github.com/acme/touchstone"


@pytest.mark.parametrize(
    "address", ["/srv/git/t", "file:///srv/git/t", "https://x y/z", "https://h/a\nb: c", ""]
)
def test_an_address_only_this_machine_has_is_none(address: str) -> None:
    assert checked_origin(address, "main") == NOWHERE


def test_a_clone_tells_its_remote_and_commit(tmp_path: Path) -> None:
    work = _clone_of_touchstone(tmp_path)
    record = f'{{"url": "{work.path.as_uri()}", "dir_info": {{"editable": true}}}}'
    assert origin_of(record) == Origin("git@github.com:acme/touchstone.git", work.head())
    inner = work.path / "vendored"
    inner.mkdir()
    assert origin_of(f'{{"url": "{inner.as_uri()}"}}') == NOWHERE, "somebody else's repository"


def _clone_of_touchstone(tmp_path: Path) -> ScratchRepo:
    base = scratch_repo(tmp_path / "a folder")
    base.commit("one", {"file": "x"})
    work = clone(base, tmp_path / "work")
    work.git("remote", "set-url", "origin", "git@github.com:acme/touchstone.git")
    return work
