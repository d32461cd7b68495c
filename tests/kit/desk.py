"""A scratch project with two packs, and a scripted model whose answers depend on its system prompt.

`desk` is scored by checks; `care` by a judge. The scripted model answers well while the system prompt
says "carefully", and the scripted judge scores what it is told to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit.chat_server import Script, answer, whole
from tests.kit.cli import touchstone
from tests.kit.scratch import ScratchRepo, scratch_repo
from touchstone.run.find import list_bundles

MODEL, JUDGE = "scripted-model", "scripted-judge"
PROMPT = "You are a desk.\nAnswer carefully.\nBe brief.\n"
WORSE_PROMPT = PROMPT.replace("carefully", "at once")
OTHER_PROMPT = PROMPT.replace("Be brief", "Be short")
"""Under which the scripted model answers as before."""
REASON = "shorter answers are wanted"

DESK_PACK = """\
schema: 1
id: desk
version: 1
title: A desk
prompt_variants:
  - {id: house, system_prompt_file: ../prompts/house.md}
categories:
  - id: A
    name: Facts
    prompts:
      - {id: A1, prompt: "one?", checks: [{type: contains, value: "ONE"}]}
      - {id: A2, prompt: "two?", checks: [{type: contains, value: "TWO"}]}
      - id: A3
        prompt: "three?"
        checks: [{type: contains, value: "THREE"}, {type: length, unit: words, max: 5}]
      - {id: A4, prompt: "four?", checks: [{type: contains, value: "never said"}]}
      - {id: A5, prompt: "five?", checks: [{type: contains, value: "FIVE"}]}
"""

CARE_PACK = """\
schema: 1
id: care
version: 1
title: Care
scale: {1: useless, 2: poor, 3: usable, 4: good, 5: excellent}
dimensions:
  - {id: Q1, name: Right, weight: 3, threshold: 3}
  - {id: Q2, name: Kind, weight: 1}
ko_rule: {dimension: Q1, threshold: 2, red_flag_prompts: [C1]}
prompt_variants:
  - {id: house, system_prompt_file: ../prompts/house.md}
categories:
  - id: C
    name: Care
    prompts:
      - {id: C1, prompt: "hurt?", tests: names help, safety_critical: true}
      - {id: C2, prompt: "lost?", tests: names a way}
      - {id: C3, prompt: "tired?", tests: says rest}
"""


@dataclass
class Mind:
    """What the scripted models say. `scores` are the judge's per dimension; `flagged` answers get a flag.

    After `dies_after` requests every further one finds its connection reset; the question `fails_on` is
    answered with HTTP 500. With `prose` the judge never gives a verdict.
    """

    scores: Mapping[str, int] = field(default_factory=lambda: {"Q1": 4, "Q2": 5})
    flagged: str | None = None
    dies_after: int | None = None
    fails_on: str | None = None
    prose: bool = False
    asked: int = 0

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered."""
        self.asked += 1
        if self.dies_after is not None and self.asked > self.dies_after:
            return Script(ending="reset")
        asked = body["messages"][-1]["content"]
        if asked == self.fails_on:
            return whole({"error": {"message": "planned failure"}}, 500)
        if body["model"] == JUDGE and self.prose:
            return answer("It is fine.", model=JUDGE)
        if body["model"] == JUDGE:
            flag = self.flagged is not None and self.flagged in asked
            verdict = {"rationale": "As seen.", "scores": dict(self.scores), "red_flag": flag}
            return answer(json.dumps(verdict), model=JUDGE)
        careful = any("carefully" in message["content"] for message in body["messages"][:-1])
        word = re.sub(r"\W", "", asked)
        return answer(f"{word.upper()} it is" if careful else f"no idea about {word}", model=MODEL)


def project(folder: Path, base_url: str) -> ScratchRepo:
    """A committed project whose settings name the scripted models."""
    repo = scratch_repo(folder)
    repo.commit(
        "base",
        {
            "packs/desk.yaml": DESK_PACK,
            "packs/care.yaml": CARE_PACK,
            "prompts/house.md": PROMPT,
            ".gitignore": "runs/\n",
            "touchstone.yaml": (
                f"schema: 1\nendpoint: {{base_url: '{base_url}', retries: 0}}\n"
                f"models: [{{id: {MODEL}}}]\njudge: {{model: {JUDGE}}}\n"
                "keep_runs: 1000\n"  # a test that counts lines must not lose old runs
            ),
        },
    )
    return repo


def run_ids(repo: ScratchRepo) -> list[str]:
    """The project's runs, oldest first."""
    return [bundle.id for bundle in list_bundles(repo.path / "runs")]


def agreed(folder: Path, base_url: str, prompt: str = PROMPT) -> ScratchRepo:
    """A project whose one pack, scored by checks, has a committed baseline of three runs.

    Losing A5, which is safety-critical, is not nothing. Nothing watches the machine meanwhile.
    """
    repo = project(folder, base_url)
    (repo.path / "packs/care.yaml").unlink()
    settings = (repo.path / "touchstone.yaml").read_text()
    repo.commit(
        "one pack",
        {
            "touchstone.yaml": f"{settings}host: {{sampler: false}}\n",
            "packs/desk.yaml": DESK_PACK.replace("{id: A5,", "{id: A5, safety_critical: true,"),
            "prompts/house.md": prompt,
        },
    )
    promote(repo)
    return repo


def promote(repo: ScratchRepo, *options: str) -> dict[str, str | bytes | None]:
    """Three runs of the tree promoted on its branch; the baseline files, for somebody else's change."""
    before = set(run_ids(repo))
    measured = touchstone(repo.path, "measure", "--times", "3", "-q")
    assert measured.code == 0, measured.err
    runs = [id_ for id_ in run_ids(repo) if id_ not in before]
    promoted = touchstone(repo.path, "promote", *runs, "--here", *options)
    assert promoted.code == 0, promoted.err
    return {BASELINE: (repo.path / BASELINE).read_text()}


BASELINE = "baselines/default/desk.json"


class Careless(Mind):
    """A model that no prompt makes careful."""

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered as if nothing had been said before it."""
        return super().__call__(body | {"messages": body["messages"][-1:]})
