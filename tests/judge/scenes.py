"""A bundle on disk with answers in it, and judges that say what a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit import builders
from touchstone.engine.reply import ChatRequest, Reply
from touchstone.judge.prompt import PROMPT_VERSION, Brief, prompt_sha256
from touchstone.judge.records import JudgeIdentity
from touchstone.pack.schema import CalibrationItem
from touchstone.pack.suite import InstrumentDimension, JudgeInstrument, Suite
from touchstone.run.bundle import Bundle
from touchstone.run.records import EvalResponse

IDENTITY = JudgeIdentity(model="judge-7b", version=None, prompt_version=PROMPT_VERSION)
SCALE = {1: "useless", 2: "poor", 3: "usable", 4: "good", 5: "excellent"}
GOOD = CalibrationItem(
    id="cal-good", prompt="2 + 2?", answer="The sum is 4.", expect={"Q1": [4, 5]}, red_flag=False
)
BAD = CalibrationItem(id="cal-bad", prompt="2 + 2?", answer="The sum is 7.", expect={"Q1": [1, 2]})


def brief(*dimensions: str, scale: Mapping[int, str] = SCALE) -> Brief:
    """A brief that asks for these dimensions."""
    asked = tuple(InstrumentDimension(id=id_, name=id_, weight=1.0) for id_ in dimensions or ("Q1",))
    return Brief(prompt="What is 2 + 2?", dimensions=asked, scale=scale)


def verdict_text(scores: Mapping[str, object], red_flag: object = False, rationale: str = "So.") -> str:
    """A well-formed judge's reply."""
    return json.dumps({"rationale": rationale, "scores": scores, "red_flag": red_flag})


@dataclass
class Judge:
    """An asking function. `says` gets the request and its number and gives a text or a whole reply."""

    says: Callable[[ChatRequest, int], str | Reply]
    requests: list[ChatRequest] = field(default_factory=list)

    def __call__(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        said = self.says(request, len(self.requests))
        if isinstance(said, Reply):
            return said
        return Reply(
            status="ok" if said else "empty", text=said, e2e_s=0.5, prompt_tokens=100, completion_tokens=10
        )

    @property
    def prompts(self) -> list[str]:
        """The text of each request's one message."""
        return [request.messages[-1]["content"] for request in self.requests]

    @property
    def seeds(self) -> list[int | None]:
        """The seed of each request."""
        return [request.seed for request in self.requests]


def always(*texts: str | Reply) -> Judge:
    """A judge that says these in turn, the last one for ever."""
    return Judge(lambda _request, number: texts[min(number, len(texts)) - 1])


def gone(message: str = "connection refused") -> Reply:
    """The reply of a judge that cannot be reached."""
    return Reply(status="error", text="", error_class="transport", error_message=message)


def honest(dimensions: Sequence[str] = ("Q1", "Q2")) -> Judge:
    """A judge that gives a 1 to whatever says 7, a 2 to the third prompt's answer and a 4 to all else."""

    def says(request: ChatRequest, _number: int) -> str:
        text = request.messages[0]["content"].split("# The answer to grade")[1]
        asked = [id_ for id_ in dimensions if f"- {id_} (" in request.messages[0]["content"]]
        score = 1 if "sum is 7" in text else 2 if "A3" in text else 4
        return verdict_text(dict.fromkeys(asked, score), rationale=f"worth {score}")

    return Judge(says)


def judged_suite(
    prompts: Sequence[str] = ("A1", "A2", "A3"),
    *,
    calibration: Sequence[CalibrationItem] = (),
    judge: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Suite:
    """A judged suite whose instrument names today's judge prompt."""
    suite = builders.judged_suite(list(prompts), **fields)
    usual: dict[str, Any] = {
        "model": "judge-7b",
        "temperature": 0.0,
        "seed": 42,
        "samples": 1,
        "prompt_version": PROMPT_VERSION,
        "prompt_sha256": prompt_sha256(),
    }
    instrument = suite.instrument.model_copy(
        update={
            "judge": JudgeInstrument(**(usual | dict(judge or {}))),
            "calibration": list(calibration),
        }
    )
    return suite.model_copy(update={"instrument": instrument})


def bundle_of(
    runs: Path, suite: Suite, answers: Mapping[str, str | EvalResponse] | None = None, **manifest: Any
) -> Bundle:
    """A bundle with one answer per sample: the prompt's text in `answers`, else one that names its key."""
    bundle = Bundle.create(runs, builders.manifest(suite, **manifest))
    with bundle.response_lines() as lines:
        for key in bundle.samples():
            given = (answers or {}).get(key.prompt, f"answer to {key.prompt}, {key.repeat}")
            response = builders.response(key, given) if isinstance(given, str) else given
            lines.append(response.to_json())
    return bundle
