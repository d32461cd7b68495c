"""Measure: a frozen run is asked, then judged; each step can be resumed on its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from touchstone.config import api_key
from touchstone.engine.probe import probe_build_metadata
from touchstone.errors import InterruptedRunError
from touchstone.gate.bench import Bench, client_for, stamp
from touchstone.gate.runs import write_result
from touchstone.host.sampler import start_sampler
from touchstone.judge.phase import judge_bundle
from touchstone.judge.prompt import PROMPT_VERSION
from touchstone.judge.records import JudgeIdentity
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import Bundle
from touchstone.run.records import JudgeSetup
from touchstone.run.runner import run_eval

OPEN_SHARE_MAX = 0.05
"""Beyond max(1 row, this share) unanswered or unjudged rows a run says nothing."""


def ask_run(bench: Bench, bundle: Bundle) -> ResultDoc:
    """Ask everything open in a bundle and write `result.json` with quality null.

    Raises InterruptedRunError when told to stop, with the command that goes on.
    """
    with bundle.lock(), _watched(bench, bundle), client_for(bench.config.endpoint, bench) as client:
        finished = run_eval(bundle, client.ask, progress=bench.on_answer, stop=bench.stop.is_set)
    result = write_result(bundle)
    if not finished:
        raise InterruptedRunError(
            f"stopped; every answer so far is in {bundle.path}",
            f"Go on with: touchstone measure --resume {bundle.id}",
        )
    return result


def judge_run(bench: Bench, bundle: Bundle) -> ResultDoc:
    """Judge everything open in a bundle and complete `result.json`."""
    manifest = bundle.manifest
    with bundle.lock():
        if manifest.judge is None:
            judge_bundle(bundle, None, identity=None, progress=bench.on_verdict, stop=bench.stop.is_set)
        else:
            _ask_the_judge(bench, bundle, manifest.judge)
    if bench.stop.is_set():
        raise InterruptedRunError(
            f"stopped; every verdict so far is in {bundle.path}",
            f"Go on with: touchstone judge --bundle {bundle.id}",
        )
    return write_result(bundle, judged=stamp(bench.now()))


def unanswered(result: ResultDoc) -> bool:
    """Whether more than max(1 row, 5 %) have no answer: the run says nothing (exit 2)."""
    missing = [row for row in result.rows if any(repeat.status in {None, "error"} for repeat in row.repeats)]
    return _too_many(len(missing), len(result.rows))


def unjudged(result: ResultDoc, suite: Suite) -> bool:
    """Whether more than max(1 row, 5 %), or one safety-critical row, could not be judged (exit 2)."""
    missing = [row for row in result.rows if row.state in {None, "error"}]
    critical = any(suite.cases[row.prompt].rubric.safety_critical for row in missing)
    return critical or _too_many(len(missing), len(result.rows))


def _too_many(missing: int, rows: int) -> bool:
    return missing > max(1, OPEN_SHARE_MAX * rows)


@contextmanager
def _watched(bench: Bench, bundle: Bundle) -> Iterator[None]:
    """Watch the machine while the models are asked; the first tick comes before any is loaded."""
    if not bench.config.host.sampler:
        yield
        return
    with start_sampler(bundle.resources_path) as sampler:
        said = list(sampler.notes)
        for note in said:
            bench.say(note)
        yield
    for note in sampler.notes[len(said) :]:
        bench.say(note)


def _ask_the_judge(bench: Bench, bundle: Bundle, setup: JudgeSetup) -> None:
    endpoint = bench.judge_endpoint
    build = probe_build_metadata(endpoint, api_key(endpoint, bench.environ), [setup.model])
    identity = JudgeIdentity(model=setup.model, version=build.engine_version, prompt_version=PROMPT_VERSION)
    with client_for(endpoint, bench) as client:
        judge_bundle(
            bundle,
            client.ask,
            identity=identity,
            progress=bench.on_verdict,
            stop=bench.stop.is_set,
            concurrency=endpoint.concurrency,
        )
