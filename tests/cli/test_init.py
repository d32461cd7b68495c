"""`touchstone init` as a person runs it; what it writes is what the linters of workflows and hooks accept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.scratch import isolate, scratch_repo
from touchstone.cli.init import command
from touchstone.config import load_config
from touchstone.errors import RefusedError, UsageError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = ("--source", f"https://github.com/acme/touchstone@{COMMIT}")
NOBODY = ("--base-url", "http://127.0.0.1:9/v1")
BIN = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(monkeypatch, tmp_path / "home")
    repo = scratch_repo(tmp_path / "project")
    monkeypatch.chdir(repo.path)
    return repo.path


def init(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert command.main(list(args), prog_name="touchstone init", standalone_mode=False) == 0
    return capsys.readouterr().out


def lint(*args: str) -> None:
    done = subprocess.run([str(BIN / args[0]), *args[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_server_that_answers_and_its_model_are_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ChatServer(desk.Mind(), models=("text-embed-small", "asker", "other")) as server:
        out = init(capsys, "--base-url", server.base_url, *SOURCE)
    config = load_config(project / "touchstone.yaml").config
    assert config.endpoint.base_url == server.base_url
    assert [model.id for model in config.models] == ["asker"], "a model that only embeds answers nothing"
    assert '  # - id: "other"\n' in (project / "touchstone.yaml").read_text()
    assert "start a model server" not in out
    assert "  1. touchstone doctor\n  2. git add . && git commit" in out
    assert out.index("git commit") < out.index("touchstone measure --times 3"), "no commit, no promotion"


def test_a_second_call_still_says_what_waits_to_be_filled_in(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "touchstone.yaml").write_text("schema: 1\n# models:\n#   - id: MODEL\n")
    assert "1. start a model server, and name it and its model in touchstone.yaml" in init(capsys, *SOURCE)
    (project / "touchstone.yaml").write_text("schema: 1\nmodels: [{id: mine}]\n")
    assert "start a model server" not in init(capsys, *SOURCE)


def test_what_cannot_be_written_is_named_and_the_rest_is_written_and_listed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".github").mkdir()
    (project / ".github/workflows").write_text("not a folder")
    with pytest.raises(RefusedError, match=r"not written: \.github/workflows/touchstone\.yml, .*promote"):
        init(capsys, *NOBODY, *SOURCE, "--quiet")
    out = capsys.readouterr().out
    assert "barred    .github/workflows/touchstone.yml" in out
    assert "written   touchstone.yaml" in out
    assert (project / ".gitattributes").exists()
    assert (project / ".github/workflows").read_text() == "not a folder"


def test_without_a_server_it_says_what_to_fill_in(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = init(capsys, *NOBODY, "--model", "mine", *SOURCE)
    assert "  1. start a model server, and name it and its model in touchstone.yaml\n" in out
    assert [model.id for model in load_config(project / "touchstone.yaml").config.models] == ["mine"]


def test_from_a_folder_below_it_writes_at_the_top(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "down")
    assert init(capsys, *NOBODY).startswith(f"in {project}\n")
    assert (project / ".github" / "workflows" / "touchstone.yml").is_file()


def test_a_second_time_it_keeps_everything(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init(capsys, *NOBODY, *SOURCE)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    out = init(capsys)
    assert out.count("\nkept ") == 7
    assert "\nwritten " not in out
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


def test_what_a_file_lacks_is_printed_under_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".gitattributes").write_text("* text=auto\n")
    (project / ".pre-commit-config.yaml").write_text(
        "repos:\n- repo: x\n  hooks: [{id: y}]\n- id: prettier\n"
    )
    out = init(capsys, *NOBODY, *SOURCE)
    assert "add to    .gitattributes\n            /baselines/**/*.json text eol=lf -merge\n" in out
    assert (
        "add to    .pre-commit-config.yaml\n              - repo: https://github.com/acme/touchstone\n" in out
    )
    assert "  .pre-commit-config.yaml: give prettier  exclude: ^baselines/\n" in out


def test_files_that_wait_for_an_address_are_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init(capsys, *NOBODY, "--source", f"https://git.example/tools/touchstone@{COMMIT}")
    hooks = (project / ".pre-commit-config.yaml").read_text()
    assert "repo: https://git.example/tools/touchstone\n" in hooks
    out = init(capsys)
    assert (
        "put touchstone's address and commit for OWNER/touchstone in: .github/workflows/touchstone.yml (or"
        in out
    ), "a workflow can only name an action of its own forge or of github.com"


def test_a_clone_that_only_this_machine_has_will_do_for_the_hooks_where_a_person_names_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = init(capsys, *NOBODY, "--source", f"file:///srv/git/touchstone@{COMMIT}")
    assert "repo: file:///srv/git/touchstone\n" in (project / ".pre-commit-config.yaml").read_text()
    waits = next(line for line in out.splitlines() if "put touchstone's address" in line)
    assert " in: .github/workflows/touchstone.yml (or remove them and:" in waits, (
        "an action lies on the forge"
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--source", "acme/touchstone@v1"), "not an address and a whole commit id"),
        (("--source", "https://github.com/acme/touchstone"), "not an address and a whole commit id"),
        (("--base-url", "localhost:1234"), "--base-url"),
        (("--base-url", "http://me:secret@127.0.0.1:9/v1"), "--base-url"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(
    project: Path, flags: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        init(capsys, *flags)
    assert words in caught.value.message
    assert "secret" not in caught.value.message + (caught.value.hint or "")
    assert [path.name for path in project.iterdir()] == [".git"]


def test_the_last_job_of_several_macs_runs_and_fails_where_a_shard_failed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that is skipped counts as passed, and what `needs` a failed job is skipped unless it says so."""
    init(capsys, *NOBODY, *SOURCE, "--shards", "3")
    jobs = yaml.safe_load((project / ".github" / "workflows" / "touchstone.yml").read_text())["jobs"]
    measure, check = jobs["measure"], jobs["check"]
    assert measure["strategy"] == {"fail-fast": False, "matrix": {"shard": [1, 2, 3]}}
    assert measure["permissions"] == {"contents": "read"}, "only the last job writes"
    assert check["needs"] == "measure"
    assert check["if"] == "${{ !cancelled() && needs.measure.result != 'skipped' }}"


@pytest.mark.parametrize("shards", ["1", "3"])
def test_what_is_written_is_clean(project: Path, capsys: pytest.CaptureFixture[str], shards: str) -> None:
    init(capsys, *NOBODY, *SOURCE, "--shards", shards)
    workflows = sorted(map(str, (project / ".github" / "workflows").iterdir()))
    assert len(workflows) == 2
    lint("zizmor", "--offline", "--no-progress", *workflows)
    for schema in ("vendor.github-workflows", "custom.github-workflows-require-timeout"):
        lint("check-jsonschema", "--builtin-schema", schema, *workflows)
    lint("pre-commit", "validate-config", str(project / ".pre-commit-config.yaml"))
