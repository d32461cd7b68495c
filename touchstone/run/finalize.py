"""The finalize pass: what the machine did while each answer was made, laid over the answers by time.

The sampler's ticks stay as they are; this writes `resources_by_sample.jsonl` beside them, anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from touchstone.files import json_line, write_pieces
from touchstone.host.merge import Window, WindowFacts, merge_windows
from touchstone.host.tick import Tick, read_ticks
from touchstone.run.bundle import Bundle
from touchstone.run.plan import Shard
from touchstone.run.records import ResponseFacts, SampleKey

BY_SAMPLE_NAME = "resources_by_sample.jsonl"

Facts = Mapping[SampleKey, WindowFacts[SampleKey]]


def facts_of(bundle: Bundle, responses: Mapping[SampleKey, ResponseFacts]) -> Facts:
    """What was measured while each planned sample was answered; all null without ticks."""
    found: dict[SampleKey, WindowFacts[SampleKey]] = {}
    for ticks, keys in _machines(bundle):
        windows = [
            Window(key, responses[key].t_start, responses[key].t_end) for key in keys if key in responses
        ]
        found |= {facts.key: facts for facts in merge_windows(ticks, windows)}
    return {key: found[key] for key in bundle.samples() if key in found}


def _machines(bundle: Bundle) -> Iterator[tuple[list[Tick], Sequence[SampleKey]]]:
    """Each machine's ticks and the samples it answered: a merged run was asked on several at one time.

    What a merged run was asked again afterwards lies in its own ticks.
    """
    samples, shards = bundle.samples(), len(bundle.manifest.merged_from)
    if not shards:
        yield read_ticks(bundle.resources_path), samples
    prompts = [prompt for prompt, _ in bundle.manifest.plan]
    for number in range(1, shards + 1):
        own = set(Shard(number, shards).of(prompts))
        ticks = read_ticks(bundle.shard_resources_path(number)) + read_ticks(bundle.resources_path)
        yield ticks, [key for key in samples if key.prompt in own]


def write_facts(bundle: Bundle, facts: Facts) -> None:
    """Replace `resources_by_sample.jsonl`: one line per sample, the key's fields and what was measured."""
    lines = (json_line(key._asdict() | found.measured()) + "\n" for key, found in facts.items())
    write_pieces(bundle.path / BY_SAMPLE_NAME, lines)
