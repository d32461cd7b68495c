"""The whole result of a run, from its lines. Same lines, same document."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from touchstone.errors import BadInputError
from touchstone.judge.records import JudgeIdentity, Verdict
from touchstone.pack.digest import hashes_of
from touchstone.pack.suite import Suite
from touchstone.result.labels import label_report
from touchstone.result.numbers import kept
from touchstone.result.rows import CellKey, current_verdict, rows_by_cell, rows_of
from touchstone.result.schema import (
    CaseHashes,
    Cell,
    JudgeInfo,
    Provenance,
    ResultDoc,
    Row,
    RunInfo,
    Usage,
)
from touchstone.result.scorecard import cell_counts, cell_quality, score_rows
from touchstone.result.timing import CellMachine, cell_perf, length_medians
from touchstone.run import plan
from touchstone.run.records import AnyResponse, Manifest, SampleKey


def build_result_doc(
    manifest: Manifest,
    responses: Mapping[SampleKey, AnyResponse],
    verdicts: Mapping[SampleKey, Verdict],
    *,
    judge: JudgeInfo | None = None,
    judged: str | None = None,
    calibrated: bool | None = None,
    left_out: Collection[SampleKey] = frozenset(),
    resources: Mapping[CellKey, CellMachine] | None = None,
    rejudged: bool = False,
) -> ResultDoc:
    """The result of the planned draw; other draws and outdated verdicts are passed over.

    `judge` defaults to the manifest's, with the version the verdicts were given by; `judged` is when the
    last verdict fell. `left_out` are the answers unfit for timing, `resources` what the sampler saw of
    each cell. Quality is null until there is a verdict. Raises BadInputError when two judges judged.
    """
    lines = _lines_of(manifest, responses, verdicts)
    host = _Host(left_out, resources or {})
    identity = _judge_of(lines.verdicts.values())
    suite = _measured_suite(manifest.suite, judge, identity)
    rows = score_rows(rows_of(manifest, lines.responses, lines.verdicts), suite)
    return ResultDoc(
        run=RunInfo(
            **_run_fields(lines),
            judged=judged if lines.verdicts else None,
            calibrated=calibrated,
            rejudged=rejudged,
            reused_verdicts=sum(verdict.reused_from is not None for verdict in lines.verdicts.values()),
        ),
        hashes=hashes_of(suite),
        instrument=suite.instrument,
        rules=suite.rules,
        provenance=_provenance(manifest),
        judge=judge or (_judge_info(suite) if identity else None),
        cells=[_cell(lines, suite, own, host) for own in rows_by_cell(rows).values()],
        rows=rows,
        variants=suite.variants,
        cases={prompt: _case_hashes(suite, prompt) for prompt, _ in manifest.plan},
    )


@dataclass(frozen=True)
class _Lines:
    """A run's lines that count: the planned draw, in plan order."""

    manifest: Manifest
    responses: dict[SampleKey, AnyResponse]
    verdicts: dict[SampleKey, Verdict]


@dataclass(frozen=True)
class _Host:
    """What this machine was seen doing meanwhile."""

    left_out: Collection[SampleKey]
    machine: Mapping[CellKey, CellMachine]


def _lines_of(
    manifest: Manifest,
    responses: Mapping[SampleKey, AnyResponse],
    verdicts: Mapping[SampleKey, Verdict],
) -> _Lines:
    answered = {key: responses[key] for key in plan.samples(manifest) if key in responses}
    current = {key: current_verdict(answered[key], verdicts.get(key)) for key in answered}
    said = {key: verdict for key, verdict in current.items() if verdict is not None}
    return _Lines(manifest, answered, said)


def _judge_of(verdicts: Iterable[Verdict]) -> JudgeIdentity | None:
    """The one judge of all verdicts; null where only checks spoke."""
    judges: dict[tuple[object, ...], JudgeIdentity] = {}
    for verdict in verdicts:
        if (judge := verdict.judge) is not None:
            judges[judge.model, judge.version, judge.prompt_version] = judge
    if len(judges) > 1:
        named = "; ".join(
            f"{judge.model}, version {judge.version or 'n/a'}, prompt {judge.prompt_version}"
            for judge in judges.values()
        )
        raise BadInputError(
            f"one run, verdicts of several judges: {named}",
            "Set judgements.jsonl aside and judge the whole run by one: touchstone judge --bundle RUN",
        )
    return next(iter(judges.values()), None)


def _measured_suite(suite: Suite, judge: JudgeInfo | None, identity: JudgeIdentity | None) -> Suite:
    """The suite with the judge that really judged: the manifest was frozen before it was asked."""
    known, told = suite.instrument.judge, judge or identity
    if known is None or told is None:
        return suite
    instrument = suite.instrument.model_copy(
        update={"judge": known.model_copy(update=told.model_dump())},
    )
    return suite.model_copy(update={"instrument": instrument})


def _judge_info(suite: Suite) -> JudgeInfo | None:
    judge = suite.instrument.judge
    return JudgeInfo(**judge.model_dump(include=set(JudgeInfo.model_fields))) if judge else None


def _run_fields(lines: _Lines) -> dict[str, object]:
    manifest = lines.manifest
    ends = [response.t_end for response in lines.responses.values() if response.t_end is not None]
    return {
        "id": manifest.id,
        "started": manifest.started,
        "finished": _stamp(max(ends)) if ends else None,
        "launch": manifest.launch,
        "tool_version": manifest.tool_version,
        "tenant": manifest.tenant,
        "target": manifest.target,
        "draw": manifest.draw,
        "commit": manifest.git.commit,
        "clean": manifest.git.clean,
        "complete": _is_complete(lines),
        "filter": manifest.filter,
        "shard": manifest.shard,
    }


def _is_complete(lines: _Lines) -> bool:
    return all(key in lines.verdicts and lines.responses[key].is_good for key in plan.samples(lines.manifest))


def _provenance(manifest: Manifest) -> Provenance:
    sampling, host, engine = manifest.suite.instrument.sampling, manifest.host, manifest.engine
    return Provenance(
        chip=host.chip,
        ram_gb=host.ram_gb,
        os=host.os,
        engine=engine.engine,
        engine_version=engine.engine_version,
        runtime=engine.runtime,
        seed=sampling.seed,
        temperature=sampling.temperature,
        pack_id=manifest.suite.pack_id,
        pack_version=manifest.suite.pack_version,
        date=datetime.fromisoformat(manifest.started).astimezone(UTC).date().isoformat(),
        concurrency=manifest.concurrency,
        origins=engine.origins,
    )


def _cell(lines: _Lines, suite: Suite, rows: Sequence[Row], host: _Host) -> Cell:
    manifest, cell = lines.manifest, (rows[0].model, rows[0].variant)
    responses = [response for key, response in lines.responses.items() if key[:2] == cell]
    verdicts = [verdict for key, verdict in lines.verdicts.items() if key[:2] == cell]
    tokens, chars = length_medians(rows)
    under_test = next(model for model in manifest.models if model.id == cell[0])
    return Cell(
        model=cell[0],
        variant=cell[1],
        quant=under_test.quant,
        quant_origin=under_test.quant_origin,
        answer_tokens_med=tokens,
        answer_chars_med=chars,
        perf=cell_perf(
            responses,
            concurrency=manifest.concurrency,
            left_out=host.left_out,
            machine=host.machine.get(cell),
        ),
        quality=cell_quality(rows, suite) if lines.verdicts else None,
        counts=cell_counts(rows),
        labels=label_report(rows, suite) if lines.verdicts else None,
        usage=_usage(responses, verdicts),
    )


def _usage(responses: Sequence[AnyResponse], verdicts: Sequence[Verdict]) -> Usage:
    answers = [response for response in responses if response.is_good]
    # A verdict without seconds asked nobody: an empty answer is judged without a call.
    asked = [verdict for verdict in verdicts if verdict.judge is not None and verdict.seconds is not None]
    return Usage(
        calls=sum(response.attempts for response in responses),
        prompt_tokens=_total([answer.prompt_tokens for answer in answers]),
        completion_tokens=_total([answer.completion_tokens for answer in answers]),
        judge_calls=sum(max(1, len(verdict.flag_votes)) + verdict.asked_again for verdict in asked),
        judge_tokens=_total(
            [count for verdict in asked for count in (verdict.prompt_tokens, verdict.completion_tokens)]
        ),
        judge_s=kept(math.fsum(verdict.seconds for verdict in asked if verdict.seconds is not None)),
    )


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _case_hashes(suite: Suite, prompt: str) -> CaseHashes:
    case = suite.cases[prompt]
    return CaseHashes(input_sha256=case.input_sha256, rubric_sha256=case.rubric_sha256)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
