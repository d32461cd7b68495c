"""A model that answers the shipped packs with their samples, and a judge that knows the calibration items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.kit.chat_server import Script, answer
from tests.kit.scratch import ScratchRepo, scratch_repo
from tests.packs.samples import ROOT, packs, samples_of, texts
from touchstone.pack.schema import CalibrationItem, Pack

MODEL, JUDGE = "scripted-model", "scripted-judge"
PLAIN = "Gern, hier ist mein Vorschlag."


@dataclass
class Mind:
    """What the scripted models say. The judge gives `score` to everything but calibration items.

    `scores` overrule it per dimension; an answer that contains `flagged` gets a red flag; `blind` judges
    see no difference between good and bad items.
    """

    score: int = 4
    scores: Mapping[str, int] = field(default_factory=dict)
    flagged: str | None = None
    blind: bool = False

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered."""
        asked = body["messages"][-1]["content"]
        if body["model"] == JUDGE:
            return answer(json.dumps(self._verdict(asked)), model=JUDGE)
        return answer(answers().get(asked, PLAIN), model=MODEL)

    def _verdict(self, asked: str) -> dict[str, Any]:
        lines = set(asked.splitlines())
        pack = max(judged_packs(), key=lambda pack: len(_lines_of(pack) & lines))
        item = None if self.blind else _item_in(asked)
        dimensions = [d.id for d in pack.dimensions if f"- {d.id} ({d.name})" in asked]
        if item:
            scores = {name: (item.expect[name][0] + item.expect[name][1]) // 2 for name in dimensions}
            return {"rationale": "Bekannt.", "scores": scores, "red_flag": bool(item.red_flag)}
        scores = {name: self.scores.get(name, min(self.score, max(pack.scale))) for name in dimensions}
        flag = self.flagged is not None and self.flagged in asked
        return {"rationale": "Wie gelesen.", "scores": scores, "red_flag": flag}


def project(folder: Path, base_url: str) -> ScratchRepo:
    """A committed project with the shipped packs and prompts, unchanged, and the scripted models."""
    repo = scratch_repo(folder)
    shipped = [*(ROOT / "packs").glob("*.yaml"), *(ROOT / "prompts").glob("*.md")]
    files = {str(path.relative_to(ROOT)): path.read_text() for path in shipped}
    settings = (
        f"schema: 1\nendpoint: {{base_url: '{base_url}', retries: 0}}\n"
        f"models: [{{id: {MODEL}}}]\njudge: {{model: {JUDGE}}}\nhost: {{sampler: false}}\n"
    )
    repo.commit("base", {**files, ".gitignore": "runs/\n", "touchstone.yaml": settings})
    return repo


def judged_packs() -> list[Pack]:
    """Those with dimensions."""
    return [pack for pack in packs().values() if pack.dimensions]


@cache
def answers() -> dict[str, str]:
    """Prompt text → an answer that passes its checks, or names its class."""
    return {text: said for name, pack in packs().items() for text, said in _answers_of(name, pack)}


def _answers_of(name: str, pack: Pack) -> Iterator[tuple[str, str]]:
    samples = samples_of(name)
    for _, prompt in pack.prompts():
        if prompt.label:
            yield prompt.prompt, f"It is as it is.\nAnswer: {prompt.label}"
        elif prompt.id in samples:
            yield prompt.prompt, texts(samples[prompt.id]["pass"])[0]


def _lines_of(pack: Pack) -> set[str]:
    """How the judge is told a pack's dimensions: other packs may share an id or a line, hardly all."""
    return {f"- {d.id} ({d.name})" + (f": {d.about}" if d.about else "") for d in pack.dimensions}


def _item_in(asked: str) -> CalibrationItem | None:
    items = (item for pack in judged_packs() for item in pack.calibration)
    return next((item for item in items if f"\n{item.answer}\n" in asked), None)
