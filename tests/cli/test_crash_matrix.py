"""The crash matrix: the machine dies, or its disk fails, at every file operation of every verb.

At each point the command is run until the fault strikes, what it left is read, and the command that goes on
is run without a fault. Nothing answered may be lost, only what was in flight may be asked again, no half file
may be read as whole, and the end is that of a run to which nothing happened.

`make crash` tries every way to fail at every point; the usual test run tries a crash wherever it leaves
something else behind, half a line at every write, and an error of the disk at every third operation.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer
from tests.kit.faults import Fault
from tests.kit.forked import Ended, ForkServer
from tests.kit.minds import (
    CHECK_DRAW,
    JUDGE,
    MODEL,
    Clerk,
    Given,
    Scores,
    clerk_project,
    pack_text,
    usual_scores,
)
from tests.kit.scratch import ScratchRepo
from tests.kit.timeless import without_times
from touchstone.files import read_json, read_jsonl
from touchstone.run.find import list_bundles

ROWS, WORKERS, CONCURRENCY = 6, 2, 3
POINTS_WANTED = 200
ERRORS = ("ENOSPC", "EACCES", "EIO")
EVERY_WAY = os.environ.get("CRASH_MATRIX") == "all"

RUN_FILES = ("responses.jsonl", "judgements.jsonl", "control.jsonl")


def suspect(given: Given) -> Scores:
    """In a check one row is much lower, so that it is asked again, and the judge controlled."""
    usual = usual_scores(given)
    if given.draw < CHECK_DRAW:
        return usual
    if given.prompt == "P03":
        return {"Q1": 3, "Q2": 2}
    return {"Q1": 3, "Q2": 4} if given.prompt in {"P02", "P04"} else usual


def flagged(given: Given) -> bool:
    return given.prompt == "P05" and given.draw == CHECK_DRAW and given.pass_ in {0, 3}


class Worker:
    """A place to crash in: a project folder that is laid out anew for each point, and a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.clerk = Clerk(scores=suspect, flags=flagged)
        self.server = ChatServer(self.clerk, models=(MODEL, JUDGE))
        self.forks = ForkServer()

    def __enter__(self) -> Worker:
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()
        self.forks.close()

    def lay_out(self, snapshot: Path) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(snapshot, self.folder, symlinks=True)

    def run(self, *args: str, fault: Fault | None = None) -> Ended:
        asks = args[0] in {"eval", "judge", "check", "measure"}
        address = ("--base-url", self.server.base_url) if asks else ()
        ended = self.forks.run(self.project, *args, *address, fault=fault)
        self.server.settle()
        return ended

    def samples_asked(self, since: int, preflight: bool) -> int:
        """Answers and verdicts asked for since then, without the preflight that opens a model's block."""
        asked = len(self.clerk.seen) - since
        return asked - 1 if asked and preflight else asked

    def kept(self) -> int:
        """Whole lines of answers and verdicts."""
        return sum(
            path.read_bytes().count(b"\n")
            for name in RUN_FILES
            for path in self.project.glob(f"runs/*/{name}")
        )

    def run_ids(self) -> list[str]:
        return [bundle.id for bundle in list_bundles(self.project / "runs")]


Outcome = Callable[[Worker], Any]


@dataclass(frozen=True)
class Scene:
    """A command, from where it starts, how to go on after a crash, and what it leaves in the end."""

    name: str
    snapshot: Path
    command: tuple[str, ...]
    outcome: Outcome
    go_on: Callable[[Worker], tuple[str, ...]] | None = None
    preflight: bool = False
    in_flight_max: int = 1
    code: int = 0
    done_already: str | None = None
    """What is said, with exit code 4, where the crash came after everything was done."""
    until: str = "no such file"
    """Only operations before the first on a path that ends like this; what follows is another scene's."""
    only: str = ""
    """Only operations on paths that end like this: the rest is as in another scene."""

    def points(self, operations: Sequence[tuple[str, str]]) -> Iterator[Fault]:
        begun = False
        for number, (kind, path) in enumerate(operations):
            begun = begun or kind != "process"
            if path.endswith(self.until):
                return
            if begun and path.endswith(self.only):  # a process started before anything is changed only reads
                yield from (Fault(number, way) for way in ways(number, kind))


def ways(number: int, kind: str) -> Iterator[str]:
    """How the n-th operation fails: by a crash, and by errors, all of them or in turn.

    Between a write and its rename nothing changes that a crash could leave behind; one of the two will do.
    """
    if EVERY_WAY or kind not in {"fsync", "chmod"}:
        yield "kill"
    if kind == "process":
        return
    if kind == "write":
        yield "half"
    if EVERY_WAY:
        yield from ERRORS
    elif number % len(ERRORS) == 0:
        yield ERRORS[number // len(ERRORS) % len(ERRORS)]


@dataclass
class Tally:
    """What the matrix found. `faults` are sentences; the three numbers are what is asked for."""

    points: int = 0
    lost: int = 0
    again: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.points += other.points
        self.lost += other.lost
        self.again += other.again
        self.faults += other.faults

    def __str__(self) -> str:
        return (
            f"{self.points} points tried, {self.lost} answers lost, "
            f"{self.again} samples asked again beyond those in flight"
        )


@dataclass(frozen=True)
class Whole:
    """The scene to which nothing happens."""

    operations: list[tuple[str, str]]
    asked: int
    outcome: Any


def uninterrupted(worker: Worker, scene: Scene) -> Whole:
    worker.lay_out(scene.snapshot)
    since = len(worker.clerk.seen)
    done = worker.run(*scene.command)
    assert done.code == scene.code, done.err
    return Whole(done.operations, worker.samples_asked(since, scene.preflight), scene.outcome(worker))


def tried(worker: Worker, scene: Scene, whole: Whole, fault: Fault) -> Tally:
    """One point: strike, look, go on, compare."""
    worker.lay_out(scene.snapshot)
    tally, kept, since = Tally(points=1), worker.kept(), len(worker.clerk.seen)
    struck = worker.run(*scene.command, fault=fault)
    asked = worker.samples_asked(since, scene.preflight)
    in_flight = asked - (worker.kept() - kept)
    tally.lost = max(0, in_flight - scene.in_flight_max)
    faults = [*_wrong_end(struck, scene, fault), *_half_files(worker)]
    go_on = scene.go_on(worker) if scene.go_on else scene.command
    since = len(worker.clerk.seen)
    done = worker.run(*go_on)
    asked += worker.samples_asked(since, scene.preflight)
    tally.again = max(0, asked - whole.asked - max(in_flight, 0))
    is_done = scene.done_already is not None and done.code == 4 and scene.done_already in done.err
    if done.code != scene.code and not is_done:
        faults.append(f"going on with {' '.join(go_on)} ended with {done.code}: {done.err}")
    elif (outcome := scene.outcome(worker)) != whole.outcome:
        faults.append(f"another end: {_first_difference(outcome, whole.outcome)}")
    kind, path = whole.operations[fault.at]
    where = f"{scene.name}, {fault.way} at operation {fault.at} ({kind} {path[-60:]})"
    tally.faults = [f"{where}: {what}" for what in faults]
    if tally.lost or tally.again:
        tally.faults.append(f"{where}: {tally}")
    return tally


def _run_or_pack(worker: Worker) -> tuple[str, ...]:
    """The run that was begun, or the pack again where none was."""
    return ("--resume", *worker.run_ids()) if worker.run_ids() else ("--pack", "clerk")


def _first_difference(found: Any, due: Any) -> str:
    pairs = zip(
        json.dumps(found, indent=1).splitlines(), json.dumps(due, indent=1).splitlines(), strict=False
    )
    return next((f"{one} instead of {other}" for one, other in pairs if one != other), "one is longer")[:400]


def _wrong_end(struck: Ended, scene: Scene, fault: Fault) -> Iterator[str]:
    if not struck.fired:
        yield "the fault never struck"
    if fault.way in {"kill", "half"}:
        if struck.code != -9:
            yield f"ended with {struck.code} instead of being killed"
    elif struck.code not in {0, 2, 4, scene.code}:
        yield f"ended with {struck.code}: {struck.err}"
    if "Traceback" in struck.err or "bug in touchstone" in struck.err:
        yield f"no expected failure: {struck.err}"


def _half_files(worker: Worker) -> Iterator[str]:
    """Every file under its final name is whole; every line but the last is a record."""
    for path in worker.project.rglob("*"):
        if path.suffix not in {".json", ".jsonl"} or ".git" in path.parts:
            continue
        try:
            read_json(path) if path.suffix == ".json" else list(read_jsonl(path))
        except Exception as error:  # noqa: BLE001  whatever it is, it belongs into the list
            yield f"half a file: {error}"


# --- what a scene leaves -------------------------------------------------------------------------------


def result_of_the_run(worker: Worker) -> Any:
    (path,) = worker.project.glob("runs/*/result.json")
    return without_times(json.loads(path.read_text()))


def newest_result(worker: Worker) -> Any:
    path = worker.project / "runs" / worker.run_ids()[-1] / "result.json"
    return len(worker.run_ids()), without_times(json.loads(path.read_text()))


def the_merged_run(worker: Worker) -> Any:
    """The one run that shards became, and what of a run lies where it was put together."""
    manifests = [json.loads(path.read_text()) for path in worker.project.glob("runs/*/manifest.json")]
    (run,) = [manifest["id"] for manifest in manifests if manifest["merged_from"]]
    folder = worker.project / "runs"
    left = sorted(path.name for path in (folder / ".merging").iterdir() if path.is_dir())
    return left, without_times(json.loads((folder / run / "result.json").read_text()))


def verdict_of_the_check(worker: Worker) -> Any:
    (path,) = worker.project.glob("runs/*/comparison.json")
    kept = json.loads(path.read_text())
    kept["candidate"].pop("run")
    kept.pop("speed")
    confirm = json.loads((path.parent / "confirm.json").read_text())
    return kept, confirm["rounds"], without_times(json.loads((path.parent / "result.json").read_text()))


def selection(worker: Worker) -> Any:
    (path,) = worker.project.glob("runs/*/selection.json")
    return path.parent.name, json.loads(path.read_text())


def promotion_on(branch: str) -> Outcome:
    def outcome(worker: Worker) -> Any:
        git = ScratchRepo(worker.project).git
        return {
            "file": git("show", f"{branch}:baselines/default/clerk.json"),
            "commits": git("rev-list", "--count", branch),
            "changed": git("show", "--format=%s", "--name-only", branch),
            "tree": git("status", "--porcelain"),
            "current": git("symbolic-ref", "HEAD"),
            "worktrees": len(git("worktree", "list").splitlines()),
        }

    return outcome


# --- the scenes ----------------------------------------------------------------------------------------


@dataclass
class Stage:
    """Where the scenes start: the same project at several moments, each a folder to copy."""

    folder: Path
    worker: Worker

    def kept(self, name: str) -> Path:
        """The worker's project as it stands now."""
        copy = self.folder / name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.worker.folder, copy, symlinks=True)
        return copy

    def run(self, *args: str, before: str | None = None) -> None:
        """Run a command, to its end or until it is about to write a file."""
        if before is None:
            done = self.worker.run(*args)
            assert done.code in {0, 1}, done.err
            return
        here = self.kept("rehearsal")
        operations = self.worker.run(*args).operations
        at = next(number for number, (_, path) in enumerate(operations) if before in path)
        self.worker.lay_out(here)
        assert self.worker.run(*args, fault=Fault(at, "kill")).fired

    @cached_property
    def project(self) -> Path:
        shutil.rmtree(self.worker.folder, ignore_errors=True)
        clerk_project(self.worker.project, self.worker.server.base_url, pack_text("judged", ROWS))
        shutil.rmtree(self.worker.project / ".git" / "hooks")
        return self.kept("project")

    def scenes(self) -> list[Scene]:
        return [
            Scene(
                "start", self.project, ("eval", "--pack", "clerk", "-q"), newest_result,
                go_on=lambda worker: ("eval", *_run_or_pack(worker), "-q"),
                preflight=True, until="responses.jsonl",
            ),
            *self._asking(self._started(1), 1),
            *self._asking(self._started(CONCURRENCY), CONCURRENCY),
            *self._kept_truth(),
            self._merging(),
        ]  # fmt: skip

    def _started(self, at_once: int) -> Path:
        self.worker.lay_out(self.project)
        self.run("eval", "--pack", "clerk", "-q", "--concurrency", str(at_once), before="responses.jsonl")
        return self.kept(f"started {at_once}")

    def _asking(self, started: Path, at_once: int) -> list[Scene]:
        """Eval and judge of a run that was started."""
        self.worker.lay_out(started)
        (run,) = self.worker.run_ids()
        options = ("-q", "--concurrency", str(at_once))
        # So that no thread waits, twice as many samples are handed out as overlap.
        window = at_once if at_once == 1 else 2 * at_once
        name, only = ("", "") if at_once == 1 else (f", {at_once} at a time", ".jsonl")
        scene = Scene(
            f"eval{name}", started, ("eval", "--resume", run, *options), result_of_the_run,
            preflight=True, in_flight_max=window, only=only,
        )  # fmt: skip
        self.run(*scene.command)
        answered, command = self.kept(f"answered{name}"), ("judge", "--bundle", run, *options)
        return [
            scene,
            replace(scene, name=f"judge{name}", snapshot=answered, command=command, preflight=False),
        ]

    def _merging(self) -> Scene:
        self.worker.lay_out(self.project)
        for number in (1, 2):
            self.run("measure", "--shard", f"{number}/2", "-q")
        return Scene("merge", self.kept("shards"), ("merge", *self.worker.run_ids()), the_merged_run)

    def _kept_truth(self) -> Iterator[Scene]:
        """Select, promote, and the confirm step of a check against what was promoted."""
        self.worker.lay_out(self.project)
        self.run("measure", "--times", "3", "-q")
        measured, runs = self.kept("measured"), tuple(self.worker.run_ids())
        yield Scene("select", measured, ("select", *runs), selection)
        here = Scene("promote --here", measured, ("promote", *runs, "--here"), promotion_on("main"))
        yield replace(here, done_already="these runs are the baseline already")
        own = "touchstone/promote/default-clerk"
        yield Scene("promote --no-pr", measured, ("promote", *runs, "--no-pr"), promotion_on(own))
        self.run("promote", *runs, "--here")
        shutil.rmtree(self.worker.project / "runs")
        self.run("check", "-q", before="confirm.json")
        command = ("check", "--resume", *self.worker.run_ids(), "-q")
        yield Scene("confirm", self.kept("suspect"), command, verdict_of_the_check, code=1)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[Worker]]:
    made = [Worker(tmp_path / f"worker{number}") for number in range(WORKERS)]
    for worker in made:
        worker.__enter__()
    yield made
    for worker in made:
        worker.__exit__()


def test_every_point_of_every_verb_that_writes(
    tmp_path: Path, workers: list[Worker], capsys: pytest.CaptureFixture[str]
) -> None:
    total = Tally()
    for scene in Stage(tmp_path / "stage", workers[0]).scenes():
        found = tried_everywhere(workers, scene)
        with capsys.disabled():
            print(f"\n  {scene.name}: {found}", end="", flush=True)
        total.add(found)
    with capsys.disabled():
        print(f"\ncrash matrix: {total}")
    assert not total.faults, "\n".join(total.faults)
    assert total.points >= POINTS_WANTED
    assert (total.lost, total.again) == (0, 0)


def tried_everywhere(workers: Sequence[Worker], scene: Scene) -> Tally:
    """All points of a scene, shared out between the workers."""
    whole = uninterrupted(workers[0], scene)
    points = list(scene.points(whole.operations))

    def share(number: int) -> Tally:
        of_share = Tally()
        for fault in points[number :: len(workers)]:
            of_share.add(tried(workers[number], scene, whole, fault))
        return of_share

    found = Tally()
    with ThreadPoolExecutor(len(workers)) as pool:
        for tally in pool.map(share, range(len(workers))):
            found.add(tally)
    return found
