"""The same route in every kind of place a project can lie, and with every kind of git around it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import JSON, ChatServer, Script
from tests.kit.cli import Done, start, touchstone
from tests.kit.scratch import ScratchRepo, clone, scratch_repo

BASELINE = "baselines/default/desk.json"
POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
CONFLICT = "<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"


def plain(folder: Path, url: str) -> ScratchRepo:
    """A project with one pack of checks, and nothing watching the machine."""
    repo = desk.project(folder, url)
    (repo.path / "packs/care.yaml").unlink()
    settings = (repo.path / "touchstone.yaml").read_text()
    repo.commit("one pack", {"touchstone.yaml": f"{settings}host: {{sampler: false}}\n"})
    return repo


def with_spaces(folder: Path, url: str) -> ScratchRepo:
    return plain(folder / "Mein Ordner – größer 那 'n' $HOME", url)


def behind_a_link(folder: Path, url: str) -> ScratchRepo:
    repo = plain(folder / "real", url)
    (folder / "link").symlink_to(repo.path)
    return ScratchRepo(folder / "link")


def linked_worktree(folder: Path, url: str) -> ScratchRepo:
    repo = plain(folder / "main", url)
    repo.git("worktree", "add", "--quiet", "-b", "work", str(folder / "tree"))
    return ScratchRepo(folder / "tree")


def submodule(folder: Path, url: str) -> ScratchRepo:
    inner, outer = plain(folder / "inner", url), scratch_repo(folder / "outer")
    outer.commit("start", {"a": "b"})
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    outer.commit("with a submodule")
    return ScratchRepo(outer.path / "sub")


def subfolder(folder: Path, url: str) -> ScratchRepo:
    """A project that is a folder of a larger repository."""
    repo = plain(folder / "whole", url)
    (repo.path / "part").mkdir()
    for name in ("packs", "prompts", "touchstone.yaml", ".gitignore"):
        (repo.path / name).rename(repo.path / "part" / name)
    repo.commit("into a folder")
    return ScratchRepo(repo.path / "part")


def of_sha256(folder: Path, url: str) -> ScratchRepo:
    made = plain(folder / "sha1", url)
    repo = scratch_repo(folder / "sha256", object_format="sha256")
    for name in ("packs", "prompts"):
        shutil.copytree(made.path / name, repo.path / name)
    for name in ("touchstone.yaml", ".gitignore"):
        shutil.copy(made.path / name, repo.path / name)
    repo.commit("base")
    return repo


def shallow_clone(folder: Path, url: str) -> ScratchRepo:
    return clone(plain(folder / "far", url), folder / "near", "--depth=1")


PLACES: list[Callable[[Path, str], ScratchRepo]] = [
    with_spaces, behind_a_link, linked_worktree, submodule, subfolder, of_sha256, shallow_clone,
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=[place.__name__ for place in PLACES])
def test_the_route_holds(
    place: Callable[[Path, str], ScratchRepo], tmp_path: Path, server: ChatServer
) -> None:
    repo = place(tmp_path, server.base_url)
    before = repo.git("status", "--porcelain")
    _fine(touchstone(repo.path, "validate"))
    _fine(touchstone(repo.path, "measure", "--times", "3", "-q"))
    runs = desk.run_ids(repo)
    _fine(touchstone(repo.path, "select", *runs))
    _fine(touchstone(repo.path, "promote", *runs, "--here"))
    assert repo.git("show", "--format=", "--name-only", "HEAD").strip().endswith(BASELINE)
    done = _fine(touchstone(repo.path, "check", "-q"))
    assert "UNCHANGED (identical answers)" in done.out.splitlines()[0]
    assert "4 pass" in (repo.path / "runs" / desk.run_ids(repo)[-1] / "report.md").read_text()
    _fine(touchstone(repo.path, "history"))
    _fine(touchstone(repo.path, "validate"))
    assert repo.git("status", "--porcelain") == before


def _fine(done: Done) -> Done:
    assert done.code == 0, done.err + done.out
    return done


@pytest.fixture
def project(tmp_path: Path, server: ChatServer) -> ScratchRepo:
    return plain(tmp_path / "project", server.base_url)


# --- what is read only ---------------------------------------------------------------------------------


def test_a_checkout_is_only_read_when_the_runs_lie_elsewhere(project: ScratchRepo, tmp_path: Path) -> None:
    """Seen by what is there afterwards: a superuser's tests could write into any folder."""
    _fine(touchstone(project.path, "measure", "--times", "3", "-q"))
    _fine(touchstone(project.path, "promote", *desk.run_ids(project), "--here"))
    shutil.rmtree(project.path / "runs")
    elsewhere = ("--runs-dir", str(tmp_path / "runs"))
    for args in (("check", "-q"), ("compare", "latest"), ("report", "latest"), ("show", "latest", "A1"),
                 ("list",), ("history",), ("validate",), ("config",)):  # fmt: skip
        where = () if args[0] in {"validate", "history"} else elsewhere
        before = tree(project.path)
        _fine(touchstone(project.path, *args, *where))
        assert tree(project.path) == before, args


def tree(folder: Path) -> dict[str, int]:
    """Every file and folder below, git's own too, and when it was last written."""
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


# --- two at once ---------------------------------------------------------------------------------------


def test_R11_a_second_process_on_one_run_is_kept_off(project: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 0.3
    first = start(project.path, ["eval", "--pack", "desk", "-q"])
    _wait_until(lambda: len(server.chats) >= 2)
    (run,) = desk.run_ids(project)
    second = touchstone(project.path, "eval", "--resume", run, "-q")
    assert second.code == 2
    assert "another touchstone process is working on this run" in second.err
    server.service_s = 0
    assert first.wait(30) == 0
    first.communicate()
    lines = (project.path / "runs" / run / "responses.jsonl").read_text().splitlines()
    assert len({json.loads(line)["prompt"] for line in lines}) == len(lines) == 5


def test_a_second_run_on_one_engine_is_told_to_wait(project: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 0.3
    first = start(project.path, ["eval", "--pack", "desk", "-q"])
    _wait_until(lambda: len(server.chats) >= 2)
    second = touchstone(project.path, "eval", "--pack", "desk", "-q")
    assert second.code == 2
    assert "--wait" in second.err
    assert server.most_in_flight == 1
    waiting = start(project.path, ["eval", "--pack", "desk", "--wait", "-q"])
    server.service_s = 0
    for process in (first, waiting):
        assert process.wait(60) == 0
        process.communicate()
    assert server.most_in_flight == 1


def _wait_until(there: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not there():
        assert time.monotonic() < until
        time.sleep(0.02)


# --- clocks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_no_time_zone_moves_a_day(project: ScratchRepo, zone: str) -> None:
    env = {"TZ": zone}
    before = datetime.now(UTC)
    _fine(touchstone(project.path, "measure", "--times", "3", "-q", env=env))
    runs = desk.run_ids(project)
    _fine(touchstone(project.path, "promote", *runs, "--here", env=env))
    after = datetime.now(UTC)
    result = json.loads((project.path / "runs" / runs[0] / "result.json").read_text())
    kept = json.loads((project.path / BASELINE).read_text())
    for moment in (result["run"]["started"], result["run"]["finished"], result["run"]["judged"]):
        assert moment.endswith("Z")
        assert before.replace(microsecond=0) <= datetime.fromisoformat(moment) <= after
    assert before.date() <= datetime.fromisoformat(kept["date"]).date() <= after.date()
    assert f"{before:%Y%m%dT}"[:6] == runs[0][:6]


# --- what git may hold ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["packs/desk.yaml", "prompts/house.md", "touchstone.yaml", BASELINE])
def test_B07_own_a_pointer_of_git_lfs_is_named_wherever_it_stands(project: ScratchRepo, name: str) -> None:
    project.write(name, POINTER)
    done = touchstone(project.path, "validate")
    assert done.code == 4
    assert "Git LFS pointer" in done.out + done.err
    assert name.rpartition("/")[2] in done.out + done.err


@pytest.mark.parametrize("name", ["packs/desk.yaml", "touchstone.yaml", BASELINE])
def test_B05_own_a_conflict_is_named_with_its_line_wherever_it_stands(
    project: ScratchRepo, name: str
) -> None:
    path = project.path / name
    text = path.read_text() if path.exists() else "{\n}\n"
    head, rest = text.split("\n", 1)
    project.write(name, f"{head}\n" + CONFLICT.format(ours=rest, theirs=rest))
    done = touchstone(project.path, "validate")
    said = done.out + done.err
    assert done.code == 4
    assert "conflict" in said
    assert f"{name}:2" in said


def test_a_signature_that_cannot_be_made_is_told_in_gits_words(project: ScratchRepo) -> None:
    _fine(touchstone(project.path, "measure", "--times", "3", "-q"))
    project.git("config", "commit.gpgSign", "true")
    project.git("config", "gpg.program", "/bin/false")
    before = project.snapshot()
    for options in (("--here",), ("--no-pr",)):
        done = touchstone(project.path, "promote", *desk.run_ids(project), *options)
        assert done.code == 4
        assert "gpg failed to sign" in done.err
        assert project.snapshot() == before
        assert project.git("branch", "--list", "touchstone/*") == ""


def test_a_signature_that_is_asked_for_is_made(project: ScratchRepo, tmp_path: Path) -> None:
    signer = tmp_path / "signer"
    signer.write_text(
        "#!/bin/sh\ncat >/dev/null\nprintf '[GNUPG:] SIG_CREATED \\n' >&2\n"
        "echo '-----BEGIN PGP SIGNATURE-----'\necho\necho scripted\necho '-----END PGP SIGNATURE-----'\n"
    )
    signer.chmod(0o755)
    _fine(touchstone(project.path, "measure", "--times", "3", "-q"))
    project.git("config", "commit.gpgSign", "true")
    project.git("config", "gpg.program", str(signer))
    _fine(touchstone(project.path, "promote", *desk.run_ids(project), "--here"))
    assert "scripted" in project.git("cat-file", "commit", "HEAD")


def test_G17_own_an_empty_repository_can_be_measured_and_not_promoted(
    tmp_path: Path, server: ChatServer
) -> None:
    made = plain(tmp_path / "made", server.base_url)
    repo = scratch_repo(tmp_path / "empty")
    for name in ("packs", "prompts"):
        shutil.copytree(made.path / name, repo.path / name)
    shutil.copy(made.path / "touchstone.yaml", repo.path)
    measured = touchstone(repo.path, "measure", "--times", "3", "-q")
    _fine(measured)
    runs = desk.run_ids(repo)
    warned = f"warning: {runs[0]} cannot be promoted: there is no commit here yet."
    assert measured.err.splitlines()[0].startswith(warned), "before anything is asked"
    assert measured.err.count("cannot be promoted") == 1
    asked = touchstone(repo.path, "eval", "-q", "--runs-dir", str(tmp_path / "elsewhere"))
    assert "cannot be promoted" in asked.err
    result = json.loads((repo.path / "runs" / runs[0] / "result.json").read_text())
    assert (result["run"]["commit"], result["run"]["clean"]) == (None, None)
    done = touchstone(repo.path, "promote", *runs, "--here")
    assert done.code == 4
    assert "git" in done.err
    assert touchstone(repo.path, "check", "-q").code in {0, 3}


def test_G20_own_packs_whose_ids_differ_in_case_alone_cannot_meet(project: ScratchRepo) -> None:
    text = (project.path / "packs/desk.yaml").read_text()
    project.write("packs/other.yaml", text.replace("id: desk", "id: Desk"))
    done = touchstone(project.path, "validate")
    assert done.code == 4
    assert "other.yaml:2" in done.out + done.err


def test_a_prompt_file_that_leads_out_of_the_repository_is_refused(
    project: ScratchRepo, tmp_path: Path
) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("not yours")
    (project.path / "prompts/house.md").unlink()
    (project.path / "prompts/house.md").symlink_to(outside)
    for verb in (("validate",), ("measure", "-q")):
        done = touchstone(project.path, *verb)
        assert done.code == 4
        assert "house.md" in done.out + done.err
        assert "not yours" not in done.out + done.err


def test_a_vanished_runs_folder_ends_in_a_sentence(project: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 0.2
    process = start(project.path, ["eval", "--pack", "desk", "-q"])
    _wait_until(lambda: len(server.chats) >= 3)
    shutil.rmtree(project.path / "runs")
    server.service_s = 0
    _, err = process.communicate(timeout=60)
    assert process.returncode in {2, 4}
    assert "Traceback" not in err
    assert os.fspath(project.path / "runs") in err or "runs/" in err


# --- bytes that are no UTF-8 ---------------------------------------------------------------------------


def test_a_file_whose_name_no_file_can_hold_is_named(project: ScratchRepo) -> None:
    pack = os.fsencode(project.path / "packs") + b"/\xff.yaml"
    try:
        os.rename(project.path / "packs/desk.yaml", pack)  # noqa: PTH104  a path of bytes
    except OSError:
        return  # this file system keeps such names out by itself
    done = touchstone(project.path, "measure", "-q")
    assert done.code == 4
    assert "the name is no UTF-8" in done.err
    assert "Rename it" in done.err


@pytest.mark.parametrize("name", ["m\udcff", ""])
def test_a_model_that_cannot_be_named_is_wrong_usage(project: ScratchRepo, name: str) -> None:
    done = touchstone(project.path, "measure", "-q", "--model", name)
    assert done.code == 64
    assert "not a name a model can have" in done.err


def test_a_server_that_tells_half_a_character_everywhere_is_recorded(tmp_path: Path) -> None:
    half = rb"\ud83d"
    stream = (
        b'data: {"model":"m%b","system_fingerprint":"%b","choices":[{"index":0,"delta":{"content":"ONE %b"},'
        b'"finish_reason":"stop%b"}]}\n\ndata: [DONE]\n\n' % (half, half, half, half)
    )
    failing = b'{"error":{"message":"no %b"}}' % half
    pages = {
        "/v1/models": b'{"data":[{"id":"x%b"},{"id":"%b"}]}' % (half, desk.MODEL.encode()),
        "/props": b'{"build_info":"b%b","model_path":"m%b","default_generation_settings":{"n_ctx":4}}'
        % (half, half),
    }

    def say(body: dict[str, Any]) -> Script:
        if "two" in body["messages"][-1]["content"]:
            return Script([failing], 400, JSON, framing="length")
        return Script([stream])

    routes = {path: Script([page], headers=JSON, framing="length") for path, page in pages.items()}
    with ChatServer(say, routes=routes) as server:
        repo = plain(tmp_path / "project", server.base_url)
        _fine(touchstone(repo.path, "measure", "-q"))
        assert "x\ufffd" in touchstone(repo.path, "doctor").out
    (run,) = desk.run_ids(repo)
    kept = [
        json.loads(line) for line in (repo.path / "runs" / run / "responses.jsonl").read_text().splitlines()
    ]
    first, second = kept[0], kept[1]
    assert (first["served_model"], first["finish_reason"]) == ("m\ufffd", "stop\ufffd")
    assert (first["response_text"], first["system_fingerprint"]) == ("ONE \ufffd", "\ufffd")
    assert second["error"]["message"].endswith("no \ufffd")
    manifest = json.loads((repo.path / "runs" / run / "manifest.json").read_text())
    assert manifest["engine"]["engine_version"] == "b\ufffd"
