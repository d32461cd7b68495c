"""Rejudge: stored answers under today's judge, as a run of its own beside the one they come from.

Only the judge is exchanged. Questions, dimensions and rules are those the answers were given under, so
what moves is the judge. Such a run names its origin in the manifest and can never be promoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from touchstone import __version__
from touchstone.baseline.sides import Side
from touchstone.errors import BadInputError
from touchstone.files import JsonlAppender, read_bytes, write_atomic
from touchstone.gate.bench import Bench
from touchstone.gate.budget import calls_of, require_within
from touchstone.gate.reference import Reference
from touchstone.gate.start import judge_instrument, judge_setup
from touchstone.pack.suite import Suite
from touchstone.run.bundle import Bundle, sealed
from touchstone.run.ids import new_run_id
from touchstone.run.preflight import BLOCKS_NAME
from touchstone.run.records import EngineInfo, EvalResponse, GitState, HostInfo, ModelUnderTest


def rejudged_run(bench: Bench, bundle: Bundle) -> Bundle:
    """A run's answers as a new run under today's judge, still to be judged."""
    was = bundle.manifest
    suite = _under_todays_judge(bench, was.suite)
    require_within(calls_of(suite, was.plan, len(was.models)).judge, bench.config.max_calls)
    manifest = sealed(
        {
            **dict(was),
            **_fields(bench, suite),
            "self_tests": {},
            "rejudged_from": was.rejudged_from or was.id,
        }
    )
    with bundle.lock():
        new = Bundle.create(bench.runs_dir, manifest)
        for name in (bundle.responses_path.name, bundle.resources_path.name, BLOCKS_NAME):
            if (bundle.path / name).exists():
                write_atomic(new.path / name, read_bytes(bundle.path / name))
    return new


def rejudged_reference(bench: Bench, reference: Reference) -> Bundle:
    """A baseline's stored answers as a new run under today's judge, still to be judged.

    Its host, engine and models are those of the baseline; what the baseline does not keep is null. Raises
    BadInputError where it keeps no answers.
    """
    side, info = reference.side, reference.info
    if side.answers is None:
        raise BadInputError(
            f"{info.file}: kept without its answers, so there is nothing to judge again",
            "Promote with answers the next time: touchstone promote, without --no-answers",
        )
    suite = _under_todays_judge(bench, side.suite)
    rows = side.draws[side.typical]
    plan = list({row.prompt: len(row.repeats) for row in rows}.items())
    models = list(dict.fromkeys(row.model for row in rows))
    require_within(calls_of(suite, plan, len(models)).judge, bench.config.max_calls)
    manifest = sealed(
        {
            **_fields(bench, suite),
            **_origin(side),
            "models": [_model(side, model) for model in models],
            "plan": plan,
            "rejudged_from": info.digest,
        }
    )
    new = Bundle.create(bench.runs_dir, manifest)
    with JsonlAppender(new.responses_path) as lines:
        for response in _stored(side, side.answers):
            lines.append(response.to_json())
    return new


def _under_todays_judge(bench: Bench, suite: Suite) -> Suite:
    if not suite.instrument.dimensions:
        raise BadInputError(
            f"pack {suite.pack_id} has no dimensions: its checks say the same of the same answers every time",
            f"To see what changed checks say, measure anew: touchstone measure --pack {suite.pack_id}",
        )
    judge = judge_instrument(bench.config, f"pack {suite.pack_id}")
    return suite.model_copy(update={"instrument": suite.instrument.model_copy(update={"judge": judge})})


def _fields(bench: Bench, suite: Suite) -> dict[str, Any]:
    """What is today's in the new manifest."""
    return {
        "id": new_run_id(bench.runs_dir, suite.pack_id, bench.now()),
        "tool_version": __version__,
        "suite": suite,
        "judge": judge_setup(bench.config, suite),
    }


def _origin(side: Side) -> dict[str, Any]:
    """What a baseline tells of where its answers come from."""
    known = side.provenance
    engine = {name: getattr(known, name) for name in ("engine", "engine_version", "runtime")}
    return {
        "started": f"{side.day}T00:00:00Z",  # a baseline keeps the day
        "tenant": side.tenant,
        "target": side.target,
        "draw": 0,
        "pack_path": side.suite.pack_id,
        "pack_text": "",
        "engine": EngineInfo(**engine, origins={name: "baseline" for name, value in engine.items() if value}),
        "git": GitState(commit=side.git.commit, clean=side.git.clean),
        "host": HostInfo(chip=known.chip, ram_gb=known.ram_gb, os=known.os, python=None),
        "launch": None,
        "concurrency": 1,
        "filter": None,
        "shard": None,
    }


def _model(side: Side, model: str) -> ModelUnderTest:
    known = side.provenance
    return ModelUnderTest(
        id=model,
        quant=known.quant.get(model),
        quant_origin=known.quant_origin.get(model),
        served_model=known.served_model.get(model),
        extra_body=side.suite.instrument.extra_body.get(model, {}),
    )


def _stored(side: Side, answers: Mapping[tuple[str, str, str], Sequence[str]]) -> Iterator[EvalResponse]:
    """The typical run's answers with what is kept of them; times are not."""
    for row in side.draws[side.typical]:
        for repeat, text in zip(row.repeats, answers[row.key], strict=True):
            yield EvalResponse(
                model=row.model,
                variant=row.variant,
                prompt=row.prompt,
                repeat=repeat.repeat,
                draw=0,
                category=row.category,
                response_text=text,
                status=repeat.status or "error",
                prompt_tokens=repeat.prompt_tokens,
                completion_tokens=repeat.completion_tokens,
            )
