"""The demo's story: a real model is asked, three runs become a baseline, a prompt is edited, and it shows.

Every step prints the command a person would type and what that command really says.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from touchstone.demo import engine
from touchstone.demo.commands import Commands, Echo
from touchstone.demo.model import MODEL_NAME, cache_folder
from touchstone.demo.scaffold import PACK_PATH, PROMPT_PATH, require_empty, shortened, write_scaffold
from touchstone.errors import BadInputError, EngineError, ExitCode
from touchstone.files import read_json, read_text, write_atomic

BASELINE_PATH = "baselines/default/starter.json"
BRANCH = "shorter-prompt"
PAGE_NAME = "page.html"

_TOLD_PROMPT = "late-fee"
_COMPARED = (
    ExitCode.NOTHING_WORSE,
    ExitCode.WORSE,
    ExitCode.NOT_JUDGED,
    ExitCode.NOT_COMPARABLE,
)


def run_demo(into: Path | None, keep: bool, echo: Echo, environ: Mapping[str, str]) -> int:
    """Tell the whole story; returns exit code 0 when it got to its end, whatever the comparison said.

    It plays in `into` (new or empty), else in a new folder among the system's temporary ones, which is
    removed unless `keep`. An engine that was not running before is ended.
    """
    _require_git()
    folder = _stage(into)
    cache = cache_folder(environ, sys.platform, Path.home())
    was_running = engine.status(cache) is not None
    try:
        port = _tell(Commands(folder, echo, environ), cache, echo)
    finally:
        if not was_running:
            engine.stop(cache)
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if keep:
        _name_the_files(folder, echo)
        echo(f"\nTo go on there: touchstone engine start --port {port}")
    return ExitCode.NOTHING_WORSE


def _tell(commands: Commands, cache: Path, echo: Echo) -> int:
    """Play every step; returns the port that the story's settings name."""
    echo("A model of your own, served on this machine.")
    commands.touchstone("engine", "start")
    port = _begin_repository(commands, cache, echo)
    chosen = _make_baseline(commands, echo)
    _edit_prompt(commands, echo)
    _check_the_edit(commands, echo)
    _name_the_system(commands.folder / "runs" / chosen, echo)
    return port


def _begin_repository(commands: Commands, cache: Path, echo: Echo) -> int:
    running = engine.status(cache)
    if running is None:
        raise EngineError("the embedded engine has ended", f"Its log: {cache}")
    echo(f"\nA repository with a pack (twelve questions), its prompt and settings: {commands.folder}")
    paths = write_scaffold(commands.folder, running.base_url, MODEL_NAME)
    _init_git(commands)
    commands.git("add", *paths)
    commands.git("commit", "--quiet", "-m", "Add the prompt of the help desk and its questions")
    echo("\nThe prompt:")
    echo(read_text(commands.folder / PROMPT_PATH).rstrip("\n"))
    return running.port


def _make_baseline(commands: Commands, echo: Echo) -> str:
    echo("\nThree runs of the unchanged system, each on a fresh start of the engine.")
    commands.touchstone("measure", "--pack", PACK_PATH, "--times", "3")
    runs = _run_ids(commands.folder)
    echo("\nThe typical one of the three.")
    commands.touchstone("select", *runs)
    chosen = _selected(commands.folder, runs)
    echo("\nIt becomes the baseline: one file, one commit. All three runs stand behind it.")
    commands.touchstone("promote", chosen, "--here")
    commands.git("log", "--oneline", "--stat", "-1")
    return chosen


def _edit_prompt(commands: Commands, echo: Echo) -> None:
    echo("\nSomebody tidies the prompt on a branch: two lines become one, every fact is kept.")
    commands.git("switch", "--quiet", "--create", BRANCH)
    path = commands.folder / PROMPT_PATH
    write_atomic(path, shortened(read_text(path)))
    commands.git("diff")
    commands.git("commit", "--quiet", "-m", "Shorten the prompt", "--", PROMPT_PATH)


def _check_the_edit(commands: Commands, echo: Echo) -> None:
    echo("\nDid the edit make the answers worse than the ones we agreed to keep?")
    before = set(_run_ids(commands.folder))
    code = commands.touchstone("check", "--pack", PACK_PATH, expected=_COMPARED)
    echo(f"(exit code {code})")
    (edited,) = sorted(set(_run_ids(commands.folder)) - before)
    echo("\nOne answer of it. The fact is still in the prompt; the answer is gone.")
    commands.touchstone("show", edited, _TOLD_PROMPT)
    echo("\nThe comment that a pull request with this edit would get.")
    commands.touchstone("report", edited, "--against", BASELINE_PATH, "--format", "comment")
    echo("\nThe whole of it as a page, for a browser.")
    page = f"runs/{edited}/{PAGE_NAME}"
    commands.touchstone("report", edited, "--against", BASELINE_PATH, "--format", "html", "--write", page)


def _name_the_system(run: Path, echo: Echo) -> None:
    provenance = read_json(run / "result.json")["provenance"]
    build = provenance.get("engine_version") or "n/a"
    echo(f"\nEngine: {provenance.get('engine') or 'n/a'}, build {build}, model {MODEL_NAME}. Real inference.")


def _name_the_files(folder: Path, echo: Echo) -> None:
    echo(f"\nLook at, in {folder}:")
    edited = f"runs/{_run_ids(folder)[-1]}"
    for path, about in (
        (BASELINE_PATH, "the baseline: prompt, scores and answers that were agreed to"),
        (f"{edited}/{PAGE_NAME}", "what the edit did to them, to be opened in a browser"),
        (f"{edited}/comparison.json", "the same as a file for programs"),
        (f"{edited}/report.md", "the edited prompt's run"),
        (PACK_PATH, "the pack: questions and checks; a use case is a file like this"),
        (PROMPT_PATH, f"the prompt, as edited on branch {BRANCH}"),
    ):
        if (folder / path).exists():
            echo(f"  {path}  {about}")


def _stage(into: Path | None) -> Path:
    if into is None:
        return Path(tempfile.mkdtemp(prefix="touchstone-demo-"))
    require_empty(into)
    into.mkdir(parents=True, exist_ok=True)
    return into.resolve()


def _require_git() -> None:
    if shutil.which("git") is None:
        raise BadInputError("the demo needs git, which is not on PATH", "Install git, then: touchstone demo")


def _init_git(commands: Commands) -> None:
    commands.git_unseen("init", "--quiet", "--initial-branch", "main", "--template=")
    for name, value in (
        ("user.name", "touchstone demo"),
        ("user.email", "demo@example.invalid"),
        ("commit.gpgsign", "false"),
        ("core.hooksPath", "/dev/null"),
    ):
        commands.git_unseen("config", name, value)


def _run_ids(folder: Path) -> list[str]:
    """The runs there are, oldest first (a run's id begins with its time)."""
    return sorted(path.parent.name for path in folder.glob("runs/*/manifest.json"))


def _selected(folder: Path, runs: list[str]) -> str:
    (chosen,) = [name for name in runs if (folder / "runs" / name / "selection.json").exists()]
    return chosen
