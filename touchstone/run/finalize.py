"""The finalize pass: what the machine did while each answer was made, laid over the answers by time.

The sampler's ticks stay as they are; this writes `resources_by_sample.jsonl` beside them, anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.files import json_line, write_atomic
from touchstone.host.merge import Window, WindowFacts, merge_windows
from touchstone.host.tick import read_ticks
from touchstone.run.bundle import Bundle
from touchstone.run.records import EvalResponse, SampleKey

BY_SAMPLE_NAME = "resources_by_sample.jsonl"

Facts = Mapping[SampleKey, WindowFacts[SampleKey]]


def facts_of(bundle: Bundle, responses: Mapping[SampleKey, EvalResponse]) -> Facts:
    """What was measured while each planned sample was answered; all null without ticks."""
    windows = [
        Window(key, responses[key].t_start, responses[key].t_end)
        for key in bundle.samples()
        if key in responses
    ]
    return {facts.key: facts for facts in merge_windows(read_ticks(bundle.resources_path), windows)}


def write_facts(bundle: Bundle, facts: Facts) -> None:
    """Replace `resources_by_sample.jsonl`: one line per sample, the key's fields and what was measured."""
    lines = [json_line(key._asdict() | found.measured()) + "\n" for key, found in facts.items()]
    write_atomic(bundle.path / BY_SAMPLE_NAME, "".join(lines))
