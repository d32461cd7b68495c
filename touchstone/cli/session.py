"""What the asking verbs share: settings, packs, the bench a run is made on, and a clean stop."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click
from pydantic import ValidationError

from touchstone.cli.keeping import keep_report
from touchstone.cli.options import overrides_of, with_flags
from touchstone.cli.progress import Phases
from touchstone.config import Effective, ModelSettings, load_config
from touchstone.errors import BadInputError, UsageError
from touchstone.files import json_pretty
from touchstone.gate.bench import Bench, Loading
from touchstone.gate.start import moved_since
from touchstone.judge.phase import JudgeProgress
from touchstone.pack.load import LoadedPack, find_packs, load_pack
from touchstone.render.columns import WIDTH, fitted_text
from touchstone.render.plain import for_log, without_commands
from touchstone.render.progress import (
    answered_note,
    judged_note,
    loading_judge_line,
    loading_line,
    progress_phrase,
    step_line,
)
from touchstone.render.terminal import result_text
from touchstone.render.words import Language, Words
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import REPORT_NAME, Bundle
from touchstone.run.find import find_bundle
from touchstone.run.runner import EvalProgress
from touchstone.yaml_source import ProblemsError

LOCK_WAIT_S = 3600.0
"""How long `--wait` waits for another run on the same engine."""


def settings_of(given: Mapping[str, Any]) -> Effective:
    """The effective settings of a command line; notes about the file go to stderr."""
    try:
        effective = load_config(given.get("config_path"), overrides_of(given))
    except ProblemsError as error:
        if all(problem.file.startswith("--") for problem in error.problems):
            raise UsageError(error.message, error.hint) from None
        raise
    for note in effective.notes if not given.get("quiet") else ():
        say(note)
    return effective


def packs_of(effective: Effective, named: Sequence[str], cwd: Path) -> list[LoadedPack]:
    """The packs named on the command line (files, folders or ids), or all the settings name."""
    known = [effective.root / entry for entry in effective.config.packs]
    if not named:
        paths = find_packs(known)
        if not paths:
            raise BadInputError(
                f"no pack in {', '.join(effective.config.packs)}", "Name one: --pack packs/NAME.yaml"
            )
        return [load_pack(path) for path in paths]
    return [pack for name in named for pack in _packs_named(name, known, cwd)]


@contextmanager
def bench_for(
    effective: Effective, given: Mapping[str, Any], go_on: str = "touchstone measure --resume"
) -> Iterator[Bench]:
    """A bench on this machine: real clock, environment and signals, progress on stderr.

    `go_on` is the command that goes on with a stopped run.
    """
    config, left_out = effective.config, list[str]()
    words = Words(config.language)
    if given.get("models"):
        models = _models_named(config.models, given["models"])
        left_out = _left_out(config.models, models)
        config = config.model_copy(update={"models": models})
    halt = threading.Event()
    with (
        Phases(bool(given.get("quiet")), words) as phases,
        stop_on_signal(halt) as stop,
        _time_limit(config.max_minutes, halt),
    ):
        yield Bench(
            config=config,
            root=effective.root,
            config_path=effective.path,
            environ=dict(os.environ),
            now=lambda: datetime.now(UTC),
            wait_s=LOCK_WAIT_S if given.get("wait") else 0.0,
            strict_preflight=bool(given.get("strict_preflight")),
            models_left_out=left_out,
            stop=stop,
            halt=halt,
            say=phases.say,
            warn=phases.warn,
            on_step=lambda step: phases.say(step_line(step, words)),
            on_load=lambda loading: _show_load(phases, loading, words),
            on_answer=lambda event: _show_answer(phases, event, words),
            on_verdict=lambda event: _show_verdict(phases, event, words),
            go_on=with_flags(go_on, given),
        )


def resumed(name: str, bench: Bench) -> Bundle:
    """The run to go on with; what moved in the tree since it started is said."""
    bundle = find_bundle(name, bench.runs_dir, Path.cwd())
    moved = moved_since(bench, bundle)
    if moved:
        say(
            f"{bundle.id} goes on as it was frozen; a promotion may be refused. Since it started, this moved:"
        )
        for line in moved:
            say(f"  {line}")
    return bundle


def warn_unpromotable(bundle: Bundle) -> None:
    """Say before anything is asked that git tells too little of the tree for a promotion of this run."""
    git = bundle.manifest.git
    if git.commit is not None and git.clean is not None:
        return
    unknown = (
        "there is no commit here yet" if git.commit is None else "git cannot tell whether the tree is clean"
    )
    say(
        f"warning: {bundle.id} cannot be promoted: {unknown}. For the runs of a baseline stop, commit pack, "
        "prompts and settings (git init; git add .; git commit), and measure then."
    )


@contextmanager
def stop_on_signal(halt: threading.Event) -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, `halt` with it; a second Ctrl-C interrupts at once."""
    stop = threading.Event()

    def ask_to_stop(_signal: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        halt.set()
        say("stopping; press Ctrl-C again to leave at once")

    before = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _time_limit(minutes: float | None, halt: threading.Event) -> Iterator[None]:
    """Set `halt` when so many minutes have passed; what waits for a server is then left at once."""
    if minutes is None:
        yield
        return
    timer = threading.Timer(60 * minutes, halt.set)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def show_results(
    bundles: Sequence[Bundle], results: Sequence[ResultDoc], *, as_json: bool, language: Language
) -> None:
    """Print each run's result, and leave `report.md` beside it."""
    for bundle, result in zip(bundles, results, strict=True):
        keep_report(bundle, result, language)
    if as_json:
        click.echo(json_pretty([result.to_json() for result in results], sort_keys=False), nl=False)
        return
    for bundle, result in zip(bundles, results, strict=True):
        show(f"{bundle.id}\n{result_text(result, language)}report: {bundle.path / REPORT_NAME}\n")


def show(text: str) -> None:
    """A result on stdout: in a job's log none of its lines is a command.

    On a terminal no word is cut at its edge; a file or a pipe gets whole lines.
    """
    columns = shutil.get_terminal_size((WIDTH, 24)).columns
    told = without_commands(text)
    click.echo(fitted_text(told, columns) if sys.stdout.isatty() else told, nl=False)


def say(text: str) -> None:
    """A line for the person, on stderr."""
    click.echo(for_log(text), err=True)


def _packs_named(name: str, known: Sequence[Path], cwd: Path) -> list[LoadedPack]:
    path = cwd / name
    if path.exists():
        return [load_pack(found) for found in find_packs([path])]
    loaded = [pack for pack in map(load_pack, find_packs(known)) if pack.pack.id == name]
    if not loaded:
        raise BadInputError(
            f"{name}: no such file, and no pack of that id", "See what there is: touchstone list"
        )
    return loaded


def _models_named(configured: Sequence[ModelSettings], names: Sequence[str]) -> list[ModelSettings]:
    by_id = {model.id: model for model in configured}
    return [by_id.get(name) or _model_named(name) for name in dict.fromkeys(names)]


def _model_named(name: str) -> ModelSettings:
    try:
        return ModelSettings(id=name)
    except ValidationError:
        raise UsageError(
            f"--model {name!r}: not a name a model can have", "See what the server lists: touchstone doctor"
        ) from None


def _left_out(configured: Sequence[ModelSettings], asked: Sequence[ModelSettings]) -> list[str]:
    """Names of the configured models that are not asked; a model of no settings stands in for all of them."""
    if any(model not in configured for model in asked):
        return []
    others = (model for model in configured if model not in asked)
    return [name for model in others for name in (model.id, model.was) if name is not None]


def _show_load(phases: Phases, loading: Loading, words: Words) -> None:
    if loading.is_judge:
        phases.wait(loading_judge_line(loading.model, words), ends_phase=True)
    else:
        phases.wait(loading_line(loading.model, loading.number, loading.of, words))


def _show_answer(phases: Phases, event: EvalProgress, words: Words) -> None:
    note = answered_note(event, words)
    phases.update(progress_phrase(words, "asking"), event.done, event.planned, note)


def _show_verdict(phases: Phases, event: JudgeProgress, words: Words) -> None:
    note = judged_note(event, words)
    phases.update(progress_phrase(words, "judging"), event.done, event.planned, note)
