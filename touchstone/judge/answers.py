"""One answer in, one verdict out: the checks, then the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from touchstone.engine.reply import Ask, ReplyStatus
from touchstone.files import sha256_of
from touchstone.judge.asking import Asking, driven
from touchstone.judge.checks import Answer, run_check, run_label
from touchstone.judge.opinion import JudgeCalls, NotReached, Opinion, opinion_on
from touchstone.judge.prompt import brief_of
from touchstone.judge.records import CheckVerdict, JudgeIdentity, Verdict
from touchstone.pack.checks import LABEL_CHECK
from touchstone.pack.digest import checks_of
from touchstone.pack.suite import Suite
from touchstone.records import record_from
from touchstone.run.records import EvalResponse, SampleKey

_SAID = ("scores", "red_flag", "rationale", "spread", "flag_votes")
"""The fields of a verdict that are the judge's words."""


@dataclass(frozen=True, slots=True)
class Given:
    """One stored answer. `status` is that of its response: without an answer there is nothing to judge."""

    key: SampleKey
    answer: Answer
    status: ReplyStatus = "ok"

    @classmethod
    def of(cls, response: EvalResponse) -> Given:
        """The answer as a run keeps it."""
        answer = Answer(response.response_text, response.completion_tokens, response.ttft_s, response.e2e_s)
        return cls(response.key, answer, response.status)

    @property
    def sha256(self) -> str:
        """Hash of the answer's text."""
        return sha256_of(self.answer.text)

    @property
    def unscored(self) -> str | None:
        """Why there is nothing to judge, as a code; None where there is an answer, be it empty."""
        return unscored(self.status)


def unscored(status: ReplyStatus) -> str | None:
    """Why an answer of this status is none that could be judged, as a code; None where it could be."""
    return {"error": "generation_failed", "reasoning_only": "reasoning_only"}.get(status)


class EarlierVerdicts(Protocol):
    """Verdicts of another run that may stand for new ones."""

    @property
    def run(self) -> str:
        """The other run's id."""
        ...

    def verdict_on(self, judging: Judging, given: Given) -> Verdict | None:
        """The verdict that stands for a new one, None where the judge has to be asked."""
        ...


@dataclass(frozen=True, slots=True)
class Judging:
    """What answers are judged by. `identity` and `calls` are None where no model is asked.

    `pass_` counts repeated judgings of the same answers; it moves the judge's seed. `with_checks` False
    leaves the pack's checks out, for answers whose counts and times are not known. `earlier` are another
    run's verdicts to take over; checks are run anew all the same.
    """

    suite: Suite
    identity: JudgeIdentity | None = None
    calls: JudgeCalls | None = None
    pass_: int = 0
    with_checks: bool = True
    earlier: EarlierVerdicts | None = None

    def judge_of(self, prompt_id: str) -> JudgeIdentity | None:
        """Who judges this prompt's answers; None where checks alone do."""
        return self.identity if self.suite.cases[prompt_id].rubric.dimensions else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, or None where the judge was not reached. `failure` says what kept the judge from one."""

    verdict: Verdict | None
    calls: int = 0
    failure: str | None = None


def judge_answer(judging: Judging, given: Given, ask: Ask) -> Judgement:
    """Judge one answer, one call after another. The reusable unit: it reads and writes nothing."""
    return driven(judgement_on(judging, given), ask)


def judgement_on(judging: Judging, given: Given) -> Asking[Judgement]:
    """The same as a generator of requests."""
    if given.unscored:
        return Judgement(
            _record(judging, given, _Checked(), {"status": "unscored", "reason": given.unscored})
        )
    checked = _checked(judging, given)
    if judging.judge_of(given.key.prompt) is None:
        return Judgement(_record(judging, given, checked, {"status": "judged"}))
    if not given.answer.text.strip():
        return Judgement(_record(judging, given, checked, _said_of_nothing(judging, given)))
    if judging.calls is None:
        raise ValueError("a prompt with dimensions needs a judge")
    reused = _reused(judging, given)
    if reused:
        return Judgement(_record(judging, given, checked, reused))
    seed = judging.calls.seed(judging.pass_, given.key.draw)
    brief = brief_of(judging.suite, given.key.prompt)
    opinion = yield from opinion_on(brief, given.answer.text, judging.calls, seed)
    if isinstance(opinion, NotReached):
        return Judgement(None, opinion.calls, opinion.message)
    failure = f"{opinion.fault.code}: {opinion.fault.detail}" if opinion.fault else None
    return Judgement(_record(judging, given, checked, _said(opinion)), opinion.calls, failure)


@dataclass(frozen=True, slots=True)
class _Checked:
    verdicts: tuple[CheckVerdict, ...] = ()
    label: str | None = None
    undecided: CheckVerdict | None = None
    """The first check that counts and has no answer."""


def _checked(judging: Judging, given: Given) -> _Checked:
    if not judging.with_checks:
        return _Checked()
    rubric, labels = judging.suite.cases[given.key.prompt].rubric, judging.suite.instrument.labels
    checks = checks_of(judging.suite, given.key.prompt)
    verdicts = [run_check(check, given.answer) for check in checks]
    counting = [verdict for check, verdict in zip(checks, verdicts, strict=True) if check.counts]
    label = None
    if rubric.label is not None and labels is not None:
        verdict, label = run_label(labels, rubric.label, given.answer)
        verdicts.append(verdict)
        counting.append(verdict)
    undecided = next((verdict for verdict in counting if verdict.status == "error"), None)
    return _Checked(tuple(verdicts), label, undecided)


def _record(judging: Judging, given: Given, checked: _Checked, said: Mapping[str, Any]) -> Verdict:
    fields = {
        **given.key._asdict(),
        "pass": judging.pass_,
        "judge": judging.judge_of(given.key.prompt),
        "answer_sha256": given.sha256,
        "checks": list(checked.verdicts),
        "label": checked.label,
        **said,
    }
    if checked.undecided and said["status"] == "judged":
        # The judge's numbers stay to be seen; the row is an error all the same.
        fields |= {
            "status": "error",
            "reason": "no_class" if checked.undecided.id == LABEL_CHECK else "check_error",
            "detail": f"check {checked.undecided.id}: {checked.undecided.detail}",
        }
    return record_from(Verdict, fields)


def _said_of_nothing(judging: Judging, given: Given) -> dict[str, Any]:
    """An empty answer gets the lowest scores; it is a red flag where the prompt is critical."""
    rubric = judging.suite.cases[given.key.prompt].rubric
    lowest = min(judging.suite.instrument.scale)
    return {
        "status": "judged",
        "reason": "empty",
        "scores": dict.fromkeys(rubric.dimensions, lowest),
        "red_flag": rubric.safety_critical,
    }


def _reused(judging: Judging, given: Given) -> dict[str, Any] | None:
    """What the judge said in another run, without what it cost there: this run asked nobody."""
    verdict = judging.earlier.verdict_on(judging, given) if judging.earlier else None
    if judging.earlier is None or verdict is None:
        return None
    said = {name: getattr(verdict, name) for name in _SAID}
    return {"status": "judged", **said, "reused_from": verdict.reused_from or judging.earlier.run}


def _said(opinion: Opinion) -> dict[str, Any]:
    cost = {
        "seconds": opinion.seconds,
        "prompt_tokens": opinion.prompt_tokens,
        "completion_tokens": opinion.completion_tokens,
        "asked_again": opinion.asked_again,
    }
    if opinion.fault:
        fault = {"reason": opinion.fault.code, "detail": opinion.fault.detail, "raw_reply": opinion.raw_reply}
        return {"status": "error", **fault, **cost}
    return {
        "status": "judged",
        "scores": opinion.scores,
        "red_flag": opinion.red_flag,
        "rationale": opinion.rationale,
        **_spread(opinion),
        **cost,
    }


def _spread(opinion: Opinion) -> dict[str, Any]:
    if len(opinion.samples) < 2:
        return {}
    dimensions = opinion.samples[0].scores
    return {
        "spread": {id_: [sample.scores[id_] for sample in opinion.samples] for id_ in dimensions},
        "flag_votes": [sample.red_flag for sample in opinion.samples],
    }
