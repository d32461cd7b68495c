"""Scripted models and packs for checks: every answer names its question and its draw, so that a test can
say what the model says, and what the judge makes of it, draw by draw and pass by pass.

The draw is read from the request's seed, as the seeds are told apart: 42 + 1000 · draw for answers,
42 + 1000 · draw + 100 · pass for verdicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.kit.chat_server import Script, answer
from tests.kit.cli import touchstone
from tests.kit.scratch import ScratchRepo, scratch_repo
from touchstone.run.find import list_bundles

MODEL, JUDGE = "scripted-model", "scripted-judge"
SEED, CHECK_DRAW = 42, 10
PROMPT = "You are a clerk.\nAnswer carefully.\n"

Kind = Literal["judged", "checks", "labelled"]
Scores = Mapping[str, int]


@dataclass(frozen=True)
class Given:
    """One answer the judge is asked about."""

    prompt: str
    draw: int
    """Of the answer."""
    pass_: int
    today: bool
    """Whether it is judged while a check runs, and not when the baseline was made."""


def usual_says(prompt: str, draw: int) -> str:
    """An answer of its own in every draw."""
    return f"{prompt} answered well in draw {draw}"


def usual_scores(given: Given) -> Scores:
    """Good marks that wobble in a third of the rows, and not together."""
    third, rest = divmod(int(given.prompt[1:]), 3)
    return {"Q1": 4 + (rest == 0 and (third + given.draw) % 3 == 0), "Q2": 4}


def never(_given: Given) -> bool:
    """No red flag."""
    return False


@dataclass
class Clerk:
    """What the scripted models say. `asked` counts answers by model, verdicts by judge."""

    says: Callable[[str, int], str] = usual_says
    scores: Callable[[Given], Scores] = usual_scores
    flags: Callable[[Given], bool] = never
    answers: int = 0
    verdicts: int = 0
    seen: list[tuple[str, str, int, int]] = field(default_factory=list)
    """(model or judge, prompt, draw, pass) in the order of asking."""

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered."""
        text, seed = body["messages"][-1]["content"], body.get("seed") or SEED
        draw = (seed - SEED) // 1000
        if body["model"].endswith("judge"):
            return answer(self._verdict(text, draw, (seed - SEED) % 1000 // 100), model=body["model"])
        prompt = text.rstrip("?")
        self.answers += 1
        self.seen.append(("model", prompt, draw, 0))
        return answer(self.says(prompt, draw), model=body["model"])

    def _verdict(self, text: str, draw: int, pass_: int) -> str:
        found = re.search(r"([A-Z]\d\d) [^\n]* in draw (\d+)", text)
        if found is None:  # the self-test of the schema
            return json.dumps({"rationale": "ok", "scores": {"Q1": 4, "Q2": 4}, "red_flag": False})
        self.verdicts += 1
        given = Given(found[1], int(found[2]), pass_, today=draw >= CHECK_DRAW)
        self.seen.append(("judge", given.prompt, given.draw, pass_))
        return json.dumps(
            {"rationale": "As seen.", "scores": dict(self.scores(given)), "red_flag": self.flags(given)}
        )


def pack_text(kind: Kind, rows: int, ko_rule: str = "{dimension: Q1, threshold: 1}") -> str:
    """A pack of prompts P01, P02 …; P01 is safety-critical where a judge scores."""
    head = f"schema: 1\nid: clerk\nversion: 1\ntitle: Clerk\nprompt_variants:\n  - {HOUSE}\n"
    if kind == "judged":
        head += (
            "scale: {1: bad, 2: poor, 3: fair, 4: good, 5: excellent}\n"
            "dimensions:\n  - {id: Q1, name: Right, weight: 1, threshold: 3}\n"
            "  - {id: Q2, name: Kind, weight: 1}\n"
            f"ko_rule: {ko_rule}\n"
        )
    if kind == "labelled":
        head += (
            "labels: {classes: [yes-class, no-class], positive: yes-class, extract: {regex: 'is (\\S+)'}}\n"
        )
    lines = [f"      - {_prompt(kind, number)}\n" for number in range(1, rows + 1)]
    return head + "categories:\n  - id: A\n    name: All\n    prompts:\n" + "".join(lines)


HOUSE = "{id: house, system_prompt_file: ../prompts/house.md}"


def _prompt(kind: Kind, number: int) -> str:
    id_ = f"P{number:02}"
    more = {
        "judged": ", tests: says it" + (", safety_critical: true" if number == 1 else ""),
        "checks": ", checks: [{type: contains, value: well}]",
        "labelled": ", label: " + ("yes-class" if number % 2 else "no-class"),
    }[kind]
    return f'{{id: {id_}, prompt: "{id_}?"{more}}}'


def clerk_project(folder: Path, base_url: str, pack: str, models: str = f"[{{id: {MODEL}}}]") -> ScratchRepo:
    """A committed project with one pack and no baseline yet."""
    repo = scratch_repo(folder)
    repo.commit(
        "base",
        {
            "packs/clerk.yaml": pack,
            "prompts/house.md": PROMPT,
            ".gitignore": "runs/\n",
            "touchstone.yaml": (
                f"schema: 1\nendpoint: {{base_url: '{base_url}', retries: 0}}\nmodels: {models}\n"
                f"judge: {{model: {JUDGE}}}\nhost: {{sampler: false}}\n"
            ),
        },
    )
    return repo


def with_baseline(repo: ScratchRepo, *options: str) -> ScratchRepo:
    """The project with three runs promoted on its branch."""
    measured = touchstone(repo.path, "measure", "--times", "3", "-q")
    assert measured.code == 0, measured.err
    runs = [bundle.id for bundle in list_bundles(repo.path / "runs")]
    promoted = touchstone(repo.path, "promote", *runs, "--here", *options)
    assert promoted.code == 0, promoted.err
    return repo
