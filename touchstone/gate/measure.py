"""Measure: a frozen run is asked, then judged; each step can be resumed on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from touchstone.config import Endpoint, api_key
from touchstone.engine.lock import engine_lock
from touchstone.engine.probe import probe_build_metadata
from touchstone.engine.reply import Ask
from touchstone.errors import EngineError, InterruptedRunError, NotJudgedError, TouchstoneError
from touchstone.files import read_json, write_json
from touchstone.gate.bench import Bench, Loading, client_for, stamp
from touchstone.gate.compared import says_nothing
from touchstone.gate.control import Judge
from touchstone.gate.runs import write_result
from touchstone.gate.start import engine_info
from touchstone.host.sampler import start_sampler
from touchstone.judge.phase import judge_bundle
from touchstone.judge.prompt import PROMPT_VERSION
from touchstone.judge.records import JudgeIdentity
from touchstone.judge.reuse import earlier_verdicts
from touchstone.judge.self_test import schema_works
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc
from touchstone.result.unjudged import too_many_unjudged
from touchstone.run.bundle import Bundle
from touchstone.run.preflight import Block, Preflight, append_block, preflight, seed_test
from touchstone.run.records import JudgeSetup, SampleKey
from touchstone.run.runner import run_eval

SELF_TESTS_NAME = "self_tests.json"


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
            go_on=bench.go_on,
        )
    result = write_result(bundle)
    if not finished:
        raise _stopped(bench, bundle)
    return result


def judge_run(bench: Bench, bundle: Bundle, reuse: Bundle | None = None) -> ResultDoc:
    """Judge everything open in a bundle and complete `result.json`.

    Verdicts of the run `reuse` stand for new ones where the judge would be asked the same again.
    """
    earlier = earlier_verdicts(bundle, reuse) if reuse else None
    with todays_judge(bench, bundle) as judge:
        _judge(bench, bundle, judge, earlier=earlier)
    if bench.is_stopped():
        raise _stopped(bench, bundle)
    return write_result(bundle, judged=stamp(bench.now()))


def ask_further(bench: Bench, bundle: Bundle, samples: Sequence[SampleKey]) -> None:
    """Ask further draws of planned rows, as far as time allows; the models are known to answer."""
    endpoint = bench.config.endpoint
    with bundle.lock(), _engine_of(endpoint, bench), client_for(endpoint, bench) as client:
        run_eval(
            bundle,
            client.ask,
            samples=samples,
            progress=bench.on_answer,
            stop=bench.is_stopped,
            go_on=bench.go_on,
        )


def judge_further(
    bench: Bench, bundle: Bundle, samples: Sequence[SampleKey], again: Mapping[int, Sequence[SampleKey]]
) -> None:
    """Judge further draws, and the answers in `again` once more per pass, in one go."""
    with todays_judge(bench, bundle, keep_self_test=True) as judge:
        if samples:
            _judge(bench, bundle, judge, keys=samples)
        for pass_, keys in again.items():
            _judge(bench, bundle, judge, keys=keys, extra_pass=pass_)


@contextmanager
def todays_judge(bench: Bench, bundle: Bundle, *, keep_self_test: bool = False) -> Iterator[Judge]:
    """The run's judge, ready to be asked, with bundle and engine held; a pack of checks has none.

    `keep_self_test` takes over what was found of the judge earlier in this run.
    """
    setup, endpoint = bundle.manifest.judge, bench.judge_endpoint
    with bundle.lock():
        if setup is None:
            yield Judge()
            return
        with _engine_of(endpoint, bench), client_for(endpoint, bench) as client:
            bench.on_load(Loading(setup.model, is_judge=True))
            build = probe_build_metadata(endpoint, api_key(endpoint, bench.environ), [setup.model])
            yield Judge(
                ask=client.ask,
                identity=JudgeIdentity(
                    model=setup.model, version=build.engine_version, prompt_version=PROMPT_VERSION
                ),
                use_schema=_schema_works(bundle, client.ask, setup, keep=keep_self_test),
                concurrency=endpoint.concurrency,
            )


def unanswered(result: ResultDoc) -> bool:
    """Whether more than max(1 row, 5 %) have no answer: the run says nothing (exit 2)."""
    missing = [row for row in result.rows if any(repeat.status in {None, "error"} for repeat in row.repeats)]
    return too_many_unjudged(len(missing), len(result.rows))


def unjudged(result: ResultDoc, suite: Suite) -> bool:
    """Whether more than max(1 row, 5 %), or one safety-critical row, could not be judged (exit 2)."""
    return says_nothing(result.rows, suite) is not None


@contextmanager
def _watched(bench: Bench, bundle: Bundle) -> Iterator[None]:
    """Watch the machine while the models are asked; the first tick comes before any is loaded."""
    host = bench.config.host
    if not host.sampler:
        yield
        return
    with start_sampler(bundle.resources_path, power_every_s=host.power_every_s) as sampler:
        said = list(sampler.notes)
        for note in said:
            bench.say(note)
        yield
    for note in sampler.notes[len(said) :]:
        bench.say(note)


def _engine_of(endpoint: Endpoint, bench: Bench) -> AbstractContextManager[None]:
    return engine_lock(endpoint.base_url or "", wait_s=bench.wait_s, say=bench.say, stop=bench.stop.is_set)


def require_not_stopped(bench: Bench, bundle: Bundle) -> None:
    """Raise InterruptedRunError where the person or the system said stop; time that is up is not that."""
    if bench.stop.is_set():
        raise _stopped(bench, bundle)


def _stopped(bench: Bench, bundle: Bundle) -> TouchstoneError:
    go_on = f"Go on with: {bench.go_on} {bundle.id}"
    if bench.stop.is_set():
        return InterruptedRunError(f"stopped; everything so far is in {bundle.path}", go_on)
    return NotJudgedError(
        f"max_minutes ({bench.config.max_minutes:g}) used up; everything so far is in {bundle.path}", go_on
    )


def _open_block(bench: Bench, bundle: Bundle, model: str, ask: Ask) -> None:
    """Preflight of a model, and what the engine tells now that it is loaded."""
    manifest, endpoint = bundle.manifest, bench.config.endpoint
    models = [under_test.id for under_test in manifest.models]
    bench.on_load(Loading(model, models.index(model) + 1, len(models)))
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
        bench.warn(f"{model}: the engine ignores the seed, so repeats and draws may be copies of one another")


def _judge_preflight(bench: Bench, model: str, found: Preflight) -> None:
    if found.status in {"ok", "truncated"}:
        return
    what = found.error.message if found.error else found.status.replace("_", " ")
    fault = f"preflight of {model} (its longest prompt, {found.prompt}): {what}"
    if bench.strict_preflight:
        raise EngineError(
            fault, "Look at the engine's settings for this model, or leave out --strict-preflight."
        )
    bench.warn(f"⚠ {fault}")


def _judge(bench: Bench, bundle: Bundle, judge: Judge, **what: Any) -> None:
    judge_bundle(
        bundle,
        judge.ask,
        identity=judge.identity,
        progress=bench.on_verdict,
        stop=bench.is_stopped,
        use_schema=judge.use_schema,
        concurrency=judge.concurrency,
        go_on=bench.go_on,
        **what,
    )


def _schema_works(bundle: Bundle, ask: Ask, setup: JudgeSetup, *, keep: bool) -> bool:
    path = bundle.path / SELF_TESTS_NAME
    if keep and path.exists():
        kept = read_json(path)
        return isinstance(kept, dict) and kept.get("judge_schema") == "enforced"
    works = schema_works(ask, setup.model)
    write_json(path, {"judge_schema": "enforced" if works else "ignored"})
    return works
