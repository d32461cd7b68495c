"""A project to measure: settings that name the server, and one pack."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.engine import Engine


def write_project(
    server: Engine,
    folder: Path,
    prompts: int,
    *,
    models: tuple[str, ...] = ("m",),
    judged: bool = False,
    concurrency: int = 1,
    repeats: int = 1,
    variants: int = 1,
) -> None:
    """A project of one pack: settings that name the server, and so many prompts."""
    settings = {
        "schema": 1,
        "endpoint": {"base_url": server.base_url, "concurrency": concurrency},
        "models": [{"id": model} for model in models],
    } | ({"judge": {"model": "judge"}} if judged else {})
    about = {"dimensions": [{"id": id_, "name": id_, "weight": 1} for id_ in ("Q1", "Q2")]}
    scale = {str(score): f"level {score}" for score in range(1, 6)}
    check = [] if judged else [{"type": "contains", "value": "green"}]
    pack = {
        "schema": 1,
        "id": "bench",
        "version": 1,
        "title": "bench",
        "prompt_variants": [
            {"id": f"v{number}", "system_prompt": f"Variant {number}."} for number in range(variants)
        ],
        "categories": [
            {
                "id": "A",
                "name": "A",
                "prompts": [
                    {"id": f"P{n:05}", "prompt": f"Question {n:05}?", "repeats": repeats, "checks": check}
                    for n in range(prompts)
                ],
            }
        ],
    }
    (folder / "packs").mkdir()
    (folder / "touchstone.yaml").write_text(json.dumps(settings))
    text = json.dumps(pack | (about if judged else {}))
    if judged:
        # A scale's keys are numbers, which JSON has none of.
        levels = ", ".join(f"{score}: {json.dumps(words)}" for score, words in scale.items())
        text = text.replace('"title": "bench"', f'"title": "bench", "scale": {{{levels}}}', 1)
    (folder / "packs/bench.yaml").write_text(text)
