"""Small suites, manifests, answers, verdicts and results, built from a table a reader can check by eye.

    suite = judged_suite(["A1", "A2"], dimensions={"Q1": 3, "Q2": 1})
    doc = result(suite, {"A1": [4, 5], "A2": Outcome([2, 3], flag=True)})

An entry of such a table is what one prompt got: scores in the order of the dimensions asked, a class for
a labelled prompt, a number 0…1 for all its checks, None for "could not be judged", an `Outcome` for
everything else, or a `Repeats` of those. Keys are prompt ids, or (model, variant, prompt).
Equal entries give equal answers; `salt` makes them different ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from touchstone.config import CompareSettings
from touchstone.engine.reply import ReplyStatus
from touchstone.files import digest_of, sha256_of
from touchstone.judge.records import CheckVerdict, JudgeIdentity, Verdict, VerdictStatus
from touchstone.pack.checks import Check, Contains
from touchstone.pack.schema import KoRule, LabelExtract, Labels, Sampling
from touchstone.pack.suite import (
    Case,
    Instrument,
    InstrumentDimension,
    JudgeInstrument,
    Line,
    Rubric,
    Rules,
    Suite,
    VariantText,
)
from touchstone.result.build import build_result_doc
from touchstone.result.schema import ResultDoc
from touchstone.run import plan
from touchstone.run.bundle import sealed
from touchstone.run.records import EvalResponse, Manifest, ResponseError, SampleKey

STARTED = "2026-05-04T08:00:00Z"
SCALE = {1: "useless", 2: "poor", 3: "usable", 4: "good", 5: "excellent"}
JUDGE = JudgeInstrument(
    model="judge-7b",
    version=None,
    temperature=0.0,
    seed=42,
    samples=1,
    prompt_version=1,
    prompt_sha256=sha256_of("judge prompt"),
)

Entry = Any
"""What one prompt got; see the module's text."""
Table = Mapping[Any, Entry]


@dataclass(frozen=True)
class Outcome:
    """One answer and what was said of it. `verdict` None: not judged yet; `status` None: never asked."""

    scores: Sequence[int] | Mapping[str, int] = ()
    flag: bool = False
    checks: Mapping[str, float | None] | float = 1.0
    label: str | None = None
    status: ReplyStatus | None = "ok"
    verdict: VerdictStatus | None = "judged"
    reason: str | None = None
    text: str | None = None
    response: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the response to set otherwise."""


class Repeats(list[Entry]):
    """The entries of a prompt's repeats, in order."""


def judged_suite(
    prompts: Sequence[str] = ("A1", "A2"),
    *,
    dimensions: Mapping[str, float] | None = None,
    thresholds: Mapping[str, float] | None = None,
    ko_rule: KoRule | None = None,
    asked: Mapping[str, Sequence[str]] | None = None,
    **others: Any,
) -> Suite:
    """A pack with a judge. `dimensions` are weights, `asked` the dimensions of single prompts."""
    weights = {"Q1": 3.0, "Q2": 1.0} if dimensions is None else dict(dimensions)
    return _suite(
        prompts,
        weights=weights,
        thresholds=thresholds or {},
        ko_rule=ko_rule or KoRule(),
        asked={prompt: list((asked or {}).get(prompt, weights)) for prompt in prompts},
        judge=JUDGE,
        **others,
    )


def checks_suite(
    prompts: Sequence[str] = ("A1", "A2"),
    *,
    checks: Mapping[str, Sequence[Check]] | None = None,
    **others: Any,
) -> Suite:
    """A pack scored by checks alone; each prompt has one `contains` unless `checks` says otherwise."""
    usual: list[Check] = [Contains(type="contains", value="yes")]
    return _suite(prompts, checks={prompt: (checks or {}).get(prompt, usual) for prompt in prompts}, **others)


def labelled_suite(
    expected: Mapping[str, str],
    *,
    classes: Sequence[str] = ("relevant", "other"),
    positive: str = "relevant",
    **others: Any,
) -> Suite:
    """A pack whose answers are classes. `expected` gives each prompt its class."""
    labels = Labels(
        classes=list(classes), positive=positive, extract=LabelExtract(regex=r"^(\w+)", ignore_case=True)
    )
    return _suite(list(expected), labels=labels, expected=expected, **others)


def manifest(suite: Suite, models: Sequence[str | Mapping[str, Any]] = ("m",), **fields: Any) -> Manifest:
    """A frozen manifest of the suite. A model is an id or its fields; `fields` replace single ones."""
    judge = suite.instrument.judge
    usual: dict[str, Any] = {
        "id": "20260504T080000Z_pack_000001",
        "started": STARTED,
        "tool_version": "0.0.0",
        "tenant": "default",
        "target": None,
        "draw": 0,
        "pack_path": "packs/pack.yaml",
        "pack_text": "schema: 1\n",
        "suite": suite,
        "models": [{"id": model} if isinstance(model, str) else model for model in models],
        "judge": judge and _judge_setup(judge),
        "engine": {"engine": "llama.cpp", "engine_version": "b1", "origins": {"engine": "probe"}},
        "git": {"commit": "0" * 40, "clean": True},
        "host": {"chip": "Apple M5 Pro", "ram_gb": 64, "os": "macOS 26.1", "python": "3.13.1"},
        "launch": "100:1777881600.0",
        "concurrency": 1,
        "filter": None,
        "shard": None,
        "plan": [(prompt, case.rubric.repeats) for prompt, case in suite.cases.items()],
    }
    return sealed(usual | fields)


def responses(asked: Manifest, table: Table, salt: str = "") -> dict[SampleKey, EvalResponse]:
    """The answers a table stands for, one second each, the first of each model being the cold start."""
    found: dict[SampleKey, EvalResponse] = {}
    start = datetime.fromisoformat(asked.started).timestamp()
    begun: set[str] = set()
    for number, key in enumerate(plan.samples(asked)):
        outcome = _outcome(asked.suite, table, key)
        if outcome.status is not None:
            answer = _answer(outcome, key, salt)
            found[key] = response(
                key,
                answer,
                status=outcome.status,
                category=asked.suite.cases[key.prompt].category,
                is_cold_start=key.model not in begun,
                t_start=start + number,
                t_end=start + number + 1.0,
                **outcome.response,
            )
        begun.add(key.model)
    return found


def response(key: SampleKey, text: str, status: ReplyStatus = "ok", **fields: Any) -> EvalResponse:
    """One answer with plausible times and counts."""
    usual: dict[str, Any] = {
        "category": "A",
        "finish_reason": "length" if status == "truncated" else "stop",
        "ttft_s": 0.2,
        "e2e_s": 1.0,
        "decode_tps": 40.0,
        "prefill_tps": 400.0,
        "prompt_tokens": 50,
        "completion_tokens": len(text.split()),
        "cached_tokens": 0,
        "seed": 41 + key.repeat + 1000 * key.draw,
    }
    if status == "error":
        usual = {"category": "A", "error": ResponseError.model_validate({"class": "http", "message": "500"})}
    return EvalResponse(**{**usual, **fields}, **key._asdict(), response_text=text, status=status)


def verdicts(
    asked: Manifest, table: Table, given: Mapping[SampleKey, EvalResponse], version: str | None = None
) -> dict[SampleKey, Verdict]:
    """The verdicts a table stands for; `version` is what the judge's endpoint told of itself."""
    found: dict[SampleKey, Verdict] = {}
    for key, answered in given.items():
        outcome = _outcome(asked.suite, table, key)
        if outcome.verdict is not None:
            found[key] = verdict(asked.suite, outcome, answered, version)
    return found


def verdict(suite: Suite, outcome: Outcome, answered: EvalResponse, version: str | None = None) -> Verdict:
    """One verdict on one answer."""
    rubric, judge = suite.cases[answered.prompt].rubric, suite.instrument.judge
    if outcome.verdict is None:
        raise ValueError("not judged yet")
    judged = outcome.verdict == "judged"
    said = isinstance(outcome.scores, Mapping) or bool(outcome.scores)
    scores = (
        outcome.scores
        if isinstance(outcome.scores, Mapping)
        else dict(zip(rubric.dimensions, outcome.scores, strict=bool(said and judged)))
    )
    return Verdict(
        **answered.key._asdict(),
        judge=(
            JudgeIdentity(model=judge.model, version=version, prompt_version=judge.prompt_version)
            if judge
            else None
        ),
        answer_sha256=sha256_of(answered.response_text),
        scores=dict(scores),
        red_flag=outcome.flag if rubric.dimensions and said else None,
        rationale="Because." if said else None,
        checks=_check_verdicts(rubric, outcome),
        label=outcome.label,
        status=outcome.verdict,
        reason=outcome.reason or (None if judged else "no_json"),
        raw_reply=None if judged or not judge else "no idea",
        seconds=0.5 if judge else None,
        prompt_tokens=300 if judge else None,
        completion_tokens=30 if judge else None,
    )


def result(
    suite: Suite,
    table: Table,
    *,
    models: Sequence[str | Mapping[str, Any]] = ("m",),
    judged: str | None = "2026-05-04T09:00:00Z",
    salt: str = "",
    version: str | None = None,
    build: Mapping[str, Any] | None = None,
    **fields: Any,
) -> ResultDoc:
    """A whole result. `fields` go to the manifest, `build` to the builder; `judged` None: eval only."""
    asked = manifest(suite, models, **fields)
    given = responses(asked, table, salt)
    said = verdicts(asked, table, given, version) if judged else {}
    return build_result_doc(asked, given, said, judged=judged, **(build or {}))


def _suite(
    prompts: Sequence[str],
    *,
    weights: Mapping[str, float] | None = None,
    thresholds: Mapping[str, float] | None = None,
    ko_rule: KoRule | None = None,
    asked: Mapping[str, Sequence[str]] | None = None,
    checks: Mapping[str, Sequence[Check]] | None = None,
    labels: Labels | None = None,
    expected: Mapping[str, str] | None = None,
    critical: Sequence[str] = (),
    repeats: int | Mapping[str, int] = 1,
    variants: Mapping[str, str | None] | None = None,
    sampling: Sampling | None = None,
    judge: JudgeInstrument | None = None,
    compare: CompareSettings | None = None,
    inputs: Mapping[str, str] | None = None,
    pack_id: str = "pack",
) -> Suite:
    named = {prompt: _named((checks or {}).get(prompt, ())) for prompt in prompts}
    cases = {
        prompt: _case(
            prompt,
            (inputs or {}).get(prompt, f"Question {prompt}?"),
            dimensions=list((asked or {}).get(prompt, ())),
            checks=[
                check.model_dump(mode="json", by_alias=True, exclude={"threshold", "tolerance"})
                for check in named[prompt]
            ],
            repeats=repeats if isinstance(repeats, int) else repeats.get(prompt, 1),
            label=(expected or {}).get(prompt),
            safety_critical=prompt in critical,
        )
        for prompt in prompts
    }
    dimensions = [InstrumentDimension(id=id_, name=id_, weight=w) for id_, w in (weights or {}).items()]
    return Suite(
        pack_id=pack_id,
        pack_version=1,
        pack_title="A pack",
        language="en",
        pack_sha256=digest_of([pack_id, list(cases)]),
        instrument=Instrument(
            scale=SCALE if dimensions else {},
            dimensions=dimensions,
            sampling=sampling or Sampling(),
            extra_body={},
            labels=labels,
            calibration=[],
            judge=judge,
        ),
        rules=Rules(
            dimensions={
                item.id: Line(threshold=(thresholds or {}).get(item.id), tolerance=1.0) for item in dimensions
            },
            checks={
                f"{prompt}/{check.id}": Line(threshold=_threshold(check), tolerance=check.tolerance)
                for prompt in prompts
                for check in named[prompt]
            },
            ko_rule=ko_rule,
            compare=compare or CompareSettings(),
        ),
        variants={id_: _variant(text) for id_, text in (variants or {"none": None}).items()},
        cases=cases,
    )


def _case(prompt: str, text: str, **rubric: Any) -> Case:
    usual: dict[str, Any] = {"tests": None, "green_flags": [], "red_flags": [], "max_tokens": None}
    looked_at = Rubric(**(usual | rubric))
    return Case(
        category=prompt[:1],
        input=text,
        rubric=looked_at,
        input_sha256=sha256_of(text),
        rubric_sha256=digest_of(looked_at.to_json()),
    )


def _named(checks: Sequence[Check]) -> list[Check]:
    seen: dict[str, int] = {}
    named = []
    for check in checks:
        seen[check.type] = seen.get(check.type, 0) + 1
        usual = check.type if seen[check.type] == 1 else f"{check.type}-{seen[check.type]}"
        named.append(check.model_copy(update={"id": check.id or usual}))
    return named


def _threshold(check: Check) -> float:
    return check.default_threshold if check.threshold is None else check.threshold


def _variant(text: str | None) -> VariantText:
    return VariantText(sha256=text and sha256_of(text), source=text and "pack", text=text)


def _judge_setup(judge: JudgeInstrument) -> dict[str, Any]:
    kept = judge.model_dump(include={"model", "temperature", "seed", "samples"})
    return kept | {"max_tokens": 2048, "max_consecutive_failures": 3}


def _outcome(suite: Suite, table: Table, key: SampleKey) -> Outcome:
    entry = table.get((key.model, key.variant, key.prompt), table.get(key.prompt, Outcome(status=None)))
    if isinstance(entry, Repeats):
        entry = entry[key.repeat - 1]
    outcome = entry if isinstance(entry, Outcome) else _from_shorthand(entry)
    if outcome.status == "error" and outcome.verdict == "judged":
        return replace(outcome, scores=(), verdict="unscored", reason="generation_failed")
    if outcome.status == "reasoning_only" and outcome.verdict == "judged":
        return replace(outcome, scores=(), verdict="unscored", reason="reasoning_only")
    return outcome


def _from_shorthand(entry: Entry) -> Outcome:
    if entry is None:
        return Outcome(verdict="error")
    if isinstance(entry, str):
        return Outcome(label=entry)
    if isinstance(entry, int | float):
        return Outcome(checks=float(entry))
    return Outcome(entry)


def _answer(outcome: Outcome, key: SampleKey, salt: str) -> str:
    if outcome.text is not None:
        return outcome.text
    if outcome.status not in ("ok", "truncated"):
        return ""
    said = outcome.label or f"{outcome.scores} {outcome.checks} {outcome.flag}"
    return f"{said} is the answer to {key.prompt} {salt}".strip()


def _check_verdicts(rubric: Rubric, outcome: Outcome) -> list[CheckVerdict]:
    if outcome.verdict == "unscored":
        return []
    scores = outcome.checks
    found = {
        check["id"]: scores.get(check["id"], 1.0) if isinstance(scores, Mapping) else scores
        for check in rubric.checks
    }
    if rubric.label is not None:
        found["label"] = None if outcome.label is None else float(outcome.label == rubric.label)
    return [
        CheckVerdict(
            id=id_,
            status="error" if score is None else "pass" if score >= 1 else "fail",
            score=score,
            detail="",
        )
        for id_, score in found.items()
    ]
