"""Measure: a frozen run is asked, then judged; each step can be resumed on its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from touchstone.config import Endpoint, api_key
from touchstone.engine.lock import engine_lock
from touchstone.engine.probe import probe_build_metadata
from touchstone.engine.reply import Ask
from touchstone.errors import EngineError, InterruptedRunError, NotJudgedError, TouchstoneError
from touchstone.files import write_json
from touchstone.gate.bench import Bench, client_for, stamp
from touchstone.gate.runs import write_result
from touchstone.gate.start import engine_info
from touchstone.host.sampler import start_sampler
from touchstone.judge.phase import judge_bundle
from touchstone.judge.prompt import PROMPT_VERSION
from touchstone.judge.records import JudgeIdentity
from touchstone.judge.self_test import schema_works
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import Bundle
from touchstone.run.preflight import Block, Preflight, append_block, preflight, seed_test
from touchstone.run.records import JudgeSetup
from touchstone.run.runner import run_eval

SELF_TESTS_NAME = "self_tests.json"

OPEN_SHARE_MAX = 0.05
"""Beyond max(1 row, this share) unanswered or unjudged rows a run says nothing."""


def ask_run(bench: Bench, bundle: Bundle) -> ResultDoc:
    """Ask everything open in a bundle and write `result.json` with quality null.

    Each model is asked its longest prompt first (preflight). Raises InterruptedRunError when told to stop
    and NotJudgedError when out of time, both with the command that goes on.
    """
    endpoint = bench.config.endpoint
    with (
        bundle.lock(),
        _engine_of(endpoint, bench),
        _watched(bench, bundle),
        client_for(endpoint, bench) as client,
    ):
        finished = run_eval(
            bundle,
            client.ask,
            open_block=lambda model: _open_block(bench, bundle, model, client.ask),
            progress=bench.on_answer,
            stop=bench.is_stopped,
        )
    result = write_result(bundle)
    if not finished:
        raise _stopped(bench, bundle)
    return result


def judge_run(bench: Bench, bundle: Bundle) -> ResultDoc:
    """Judge everything open in a bundle and complete `result.json`."""
    setup = bundle.manifest.judge
    with bundle.lock():
        if setup is None:
            judge_bundle(bundle, None, identity=None, progress=bench.on_verdict, stop=bench.is_stopped)
        else:
            with _engine_of(bench.judge_endpoint, bench):
                _ask_the_judge(bench, bundle, setup)
    if bench.is_stopped():
        raise _stopped(bench, bundle)
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


def _engine_of(endpoint: Endpoint, bench: Bench) -> AbstractContextManager[None]:
    return engine_lock(endpoint.base_url or "", wait_s=bench.wait_s, say=bench.say, stop=bench.stop.is_set)


def _stopped(bench: Bench, bundle: Bundle) -> TouchstoneError:
    go_on = f"Go on with: touchstone measure --resume {bundle.id}"
    if bench.stop.is_set():
        return InterruptedRunError(f"stopped; everything so far is in {bundle.path}", go_on)
    return NotJudgedError(
        f"max_minutes ({bench.config.max_minutes:g}) used up; everything so far is in {bundle.path}", go_on
    )


def _open_block(bench: Bench, bundle: Bundle, model: str, ask: Ask) -> None:
    """Preflight of a model, and what the engine tells now that it is loaded."""
    manifest, endpoint = bundle.manifest, bench.config.endpoint
    found = preflight(manifest, model, ask)
    if bench.is_stopped():
        return
    seed = seed_test(manifest, model, ask)
    build = probe_build_metadata(
        endpoint, api_key(endpoint, bench.environ), [model], fingerprint=found.system_fingerprint
    )
    append_block(
        bundle,
        Block(
            model=model,
            preflight=found,
            engine=engine_info(build),
            quant=build.quant_by_model.get(model),
            served_model=build.served_model.get(model),
            context_length=build.context_length.get(model),
            seed=seed,
        ),
    )
    _judge_preflight(bench, model, found)
    if seed == "ignored":
        bench.say(f"{model}: the engine ignores the seed, so repeats and draws may be copies of one another")


def _judge_preflight(bench: Bench, model: str, found: Preflight) -> None:
    if found.status in {"ok", "truncated"}:
        return
    what = found.error.message if found.error else found.status.replace("_", " ")
    fault = f"preflight of {model} (its longest prompt, {found.prompt}): {what}"
    if bench.strict_preflight:
        raise EngineError(
            fault, "Look at the engine's settings for this model, or leave out --strict-preflight."
        )
    bench.say(f"⚠ {fault}")


def _ask_the_judge(bench: Bench, bundle: Bundle, setup: JudgeSetup) -> None:
    endpoint = bench.judge_endpoint
    build = probe_build_metadata(endpoint, api_key(endpoint, bench.environ), [setup.model])
    identity = JudgeIdentity(model=setup.model, version=build.engine_version, prompt_version=PROMPT_VERSION)
    with client_for(endpoint, bench) as client:
        use_schema = schema_works(client.ask, setup.model)
        write_json(bundle.path / SELF_TESTS_NAME, {"judge_schema": "enforced" if use_schema else "ignored"})
        judge_bundle(
            bundle,
            client.ask,
            identity=identity,
            progress=bench.on_verdict,
            stop=bench.is_stopped,
            use_schema=use_schema,
            concurrency=endpoint.concurrency,
        )
