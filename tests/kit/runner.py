"""A runner of GitHub Actions on this machine: a repository's home, its pull requests and their checkouts, the
event files, and `check --ci github` in a job's environment.

    home = Home(repo, tmp_path)
    pull = home.pull_request({"prompts/house.md": "…"})
    done = run_job(home.checkout(pull.merge, depth=2), pull.event(), github, monkeypatch, capsys)

The command runs in this process. What it would leave on a runner is in `done`: outputs, summary, streams.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.kit.fake_github import REPOSITORY, FakeGitHub
from tests.kit.scratch import ScratchRepo, clone
from touchstone.cli import boundary

NUMBER = 7
RUN_ID = 4711
Files = Mapping[str, str | bytes | None]
"""Path → content; None deletes."""


@dataclass(frozen=True)
class Event:
    """A name and a payload."""

    name: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Pull:
    """A pull request as its forge knows it: its head, the base branch's tip, and the merge of both."""

    head: str
    base: str
    merge: str

    def event(self, *, head_repository: str | None = REPOSITORY, number: int = NUMBER) -> Event:
        """What a job is started with; `head_repository` None is a fork that was deleted."""
        repository = None if head_repository is None else {"full_name": head_repository}
        pull = {
            "number": number,
            "head": {"ref": "edit", "sha": self.head, "repo": repository},
            "base": {"ref": "main", "sha": self.base, "repo": {"full_name": REPOSITORY}},
        }
        return Event("pull_request", {"pull_request": pull, "repository": {"default_branch": "main"}})


@dataclass
class Done:
    """How a job's step ended."""

    code: int
    out: str
    err: str
    outputs: dict[str, str]
    summary: str

    @property
    def annotations(self) -> list[str]:
        """The lines the runner takes for commands."""
        return live_commands(self.out)


@dataclass
class Home:
    """A bare repository that holds a project, where everybody pushes to; `work` is a person's clone."""

    source: ScratchRepo
    folder: Path
    _count: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.source.git(
            "clone", "--quiet", "--bare", f"file://{self.source.path}", str(self.folder / "home.git")
        )
        self.bare = ScratchRepo(self.folder / "home.git")
        self.bare.git("config", "uploadpack.allowReachableSHA1InWant", "true")
        self.work = clone(self.bare, self.folder / "person")
        self.work._commits = 50  # later than everything in the project

    def pull_request(self, files: Files, *, onto: Files | None = None) -> Pull:
        """A branch off main with these files; `onto` is what main got meanwhile."""
        self.work.git("switch", "--quiet", "--detach", "origin/main")
        head = self.committed(files)
        self.work.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/edit")
        return self.pull_of(head, onto)

    def pushed_again(self, pull: Pull, files: Files) -> Pull:
        """The same pull request after another push."""
        self.work.git("switch", "--quiet", "--detach", pull.head)
        head = self.committed(files)
        self.work.git("push", "--quiet", "origin", "HEAD:refs/heads/edit")
        return self.pull_of(head)

    def pull_of(self, head: str, onto: Files | None = None) -> Pull:
        """The pull request of a commit that is there."""
        self.work.git("switch", "--quiet", "--detach", "origin/main")
        if onto is not None:
            self.committed(onto)
            self.work.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
            self.work.git("fetch", "--quiet", "origin")
        base = self.work.head()
        self.work.git("merge", "--quiet", "--no-ff", "-Xours", "-m", f"Merge {head} into {base}", head)
        merge = self.work.head()
        self.work.git("push", "--quiet", "--force", "origin", f"HEAD:refs/pull/{NUMBER}/merge")
        return Pull(head, base, merge)

    def committed(self, files: Files) -> str:
        """A commit in the person's clone."""
        for path, content in files.items():
            if content is None:
                self.work.git("rm", "--quiet", "-r", path)
            else:
                self.work.write(path, content)
        return self.work.commit("a change")

    def checkout(self, commit: str, *, depth: int = 1) -> ScratchRepo:
        """What actions/checkout leaves: detached, shallow (`depth` 0: whole)."""
        path = self.folder / f"checkout-{next(self._count)}"
        repo = ScratchRepo(path)
        path.mkdir()
        repo.git("init", "--quiet")
        repo.git("remote", "add", "origin", f"file://{self.bare.path}")
        whole = ["+refs/heads/*:refs/remotes/origin/*"] if not depth else []
        deep = [f"--depth={depth}"] if depth else []
        name = f"refs/remotes/pull/{NUMBER}/merge"
        repo.git("fetch", "--quiet", "--no-tags", *deep, "origin", f"+{commit}:{name}", *whole)
        repo.git("checkout", "--quiet", "--detach", name)
        return repo


def environment(
    checkout: ScratchRepo, event: Event, github: FakeGitHub | None, *, attempt: int = 1, run_id: int = RUN_ID
) -> dict[str, str]:
    """What a job has in its environment."""
    place = checkout.path.parent / "runner"
    place.mkdir(exist_ok=True)
    event_file = place / "event.json"
    event_file.write_text(json.dumps(event.payload))
    told = github.environment() if github is not None else {"GITHUB_REPOSITORY": REPOSITORY}
    return told | {
        "GITHUB_EVENT_NAME": event.name,
        "GITHUB_EVENT_PATH": str(event_file),
        "GITHUB_OUTPUT": str(place / "output"),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
        "GITHUB_RUN_ID": str(run_id),
        "GITHUB_RUN_ATTEMPT": str(attempt),
        "GITHUB_WORKSPACE": str(checkout.path),
        "RUNNER_TOOL_CACHE": str(checkout.path.parent / "tool-cache"),
        "RUNNER_ENVIRONMENT": "self-hosted",
        "CI": "true",
    }


class Runner:
    """Runs jobs in this process. `github` may be None: a place that no comment reaches."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], github: FakeGitHub | None
    ) -> None:
        self.github = github
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def run(
        self,
        checkout: ScratchRepo,
        event: Event,
        *options: str,
        env: Mapping[str, str] | None = None,
        attempt: int = 1,
        run_id: int = RUN_ID,
    ) -> Done:
        """`check --ci github OPTIONS` in a checkout.

        A file of the runner's may be none that can be written.
        """
        told = environment(checkout, event, self.github, attempt=attempt, run_id=run_id) | dict(env or {})
        files = [Path(told[name]) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY") if name in told]
        written = [file for file in files if file.parent.is_dir()]
        for file in written:
            file.write_text("")
        with self._monkeypatch.context() as patch:
            for name in [
                name for name in os.environ if name.startswith(("GIT_", "GITHUB_", "RUNNER_", "GH_"))
            ]:
                patch.delenv(name)
            for name, value in told.items():
                patch.setenv(name, value)
            patch.setenv("HOME", str(checkout.path.parent))
            patch.setenv("XDG_CACHE_HOME", str(checkout.path.parent / "cache"))
            patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
            patch.chdir(checkout.path)
            self._capsys.readouterr()
            code = boundary.run(["check", "--ci", "github", *options])
            streams = self._capsys.readouterr()
        texts = [file.read_text() if file in written else "" for file in files]
        return Done(code, streams.out, streams.err, outputs_in(texts[0]), texts[1])


def outputs_in(text: str) -> dict[str, str]:
    """What GitHub reads from the file of outputs; the last of a name counts. Fails on anything else in it."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        if not line:
            continue
        name, arrow, mark = line.partition("<<")
        assert arrow, f"not an output in a form that holds any value: {line!r}"
        end = lines.index(mark)
        found[name] = "\n".join(lines[:end])
        del lines[: end + 1]
    return found


def live_commands(log: str) -> list[str]:
    """The lines of a log that a runner takes for commands, as it reads them: none while they are stopped."""
    stopped: str | None = None
    live = []
    for line in log.split("\n"):
        told = line.lstrip()
        if stopped is not None:
            stopped = None if told.strip() == f"::{stopped}::" else stopped
        elif told.startswith("::stop-commands::"):
            stopped = told.removeprefix("::stop-commands::").strip()
        elif told.startswith("::") or "##[" in line:
            live.append(told)
    assert stopped is None, "commands were stopped and never resumed"
    return live


def sections(body: str) -> str:
    """A comment without its hidden lines."""
    return re.sub(r"^<!--.*-->\n", "", body, flags=re.MULTILINE)
