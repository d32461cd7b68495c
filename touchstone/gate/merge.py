"""Merge: shards, measured on several machines, as the one run they are parts of.

Every line is taken over as it stands. What does not fit together is refused by name before anything is
written, and the run appears under its name only when it is whole.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from touchstone.baseline.differences import differences
from touchstone.baseline.refusals import altered
from touchstone.baseline.store import MeasuredRun
from touchstone.errors import BadInputError, RefusedError
from touchstone.files import (
    exclusive_lock,
    json_line,
    make_folder,
    read_bytes,
    read_jsonl,
    sync_folder,
    write_atomic,
)
from touchstone.gate.measure import SELF_TESTS_NAME
from touchstone.gate.recheck import contradictions, listed
from touchstone.gate.runs import load_run, recomputed, write_result
from touchstone.judge.calibration import CALIBRATION_NAME
from touchstone.judge.verdicts import read_verdicts
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import Bundle, make_runs_folder, sealed
from touchstone.run.find import list_bundles
from touchstone.run.ids import new_run_id
from touchstone.run.plan import Shard
from touchstone.run.preflight import BLOCKS_NAME
from touchstone.run.records import GitState, HostInfo, Manifest

WORKSHOP_NAME = ".merging"
"""Where a run lies in the runs folder while it is put together."""

_LOCK_NAME = ".lock"
_OWN_FIELDS = frozenset(
    {"id", "started", "pack_path", "plan", "shard", "launch", "host", "self_tests", "digest", "git.clean"}
)
"""What shards of one run may differ in: each machine has its own."""
_NAMED_MAX = 5
_SHOWN_MAX = 60


@dataclass(frozen=True)
class Part:
    """A shard's run with what its files say. `result` is computed anew from its lines, `run` as stored."""

    bundle: Bundle
    run: MeasuredRun
    result: ResultDoc

    @classmethod
    def of(cls, bundle: Bundle) -> Part:
        """The part in a folder; RefusedError where it holds a run that is no shard."""
        if bundle.manifest.shard is None:
            raise RefusedError(
                f"{bundle.id} is a whole run, not a shard of one",
                "A shard is measured with --shard, e.g. touchstone measure --shard 1/3",
            )
        run = load_run(bundle)
        return cls(bundle, run, recomputed(bundle, run.result))

    @property
    def manifest(self) -> Manifest:
        """What was planned, with what the engine told."""
        return self.run.manifest

    @property
    def id(self) -> str:
        """The run's id."""
        return self.manifest.id

    @property
    def shard(self) -> Shard:
        """Which share of which whole it says it is."""
        return Shard.parse(self.manifest.shard or "")

    @property
    def prompts(self) -> list[str]:
        """What it asks."""
        return [prompt for prompt, _ in self.manifest.plan]


def runs_among(shards: Sequence[Bundle]) -> list[list[Part]]:
    """The shards by the run they belong to: one of each pack and draw, in the order of their numbers."""
    runs: dict[tuple[str, int], list[Part]] = {}
    for part in map(Part.of, shards):
        runs.setdefault((part.manifest.suite.pack_id, part.manifest.draw), []).append(part)
    return [sorted(parts, key=lambda part: (part.shard, part.id)) for parts in runs.values()]


def merged_run(parts: Sequence[Part], runs_dir: Path, now: datetime) -> Bundle:
    """The run of which these are all the shards, put together in the runs folder.

    Merged before, it is the run from then. Raises RefusedError naming every hole, overlap and difference.
    """
    _require_one_run(parts)
    ids = [part.id for part in parts]
    before = next((bundle for bundle in list_bundles(runs_dir) if _merged_from(bundle) == ids), None)
    if before is not None:
        return before
    pack = parts[0].manifest.suite.pack_id
    manifest = _manifest(parts, new_run_id(runs_dir, pack, now))
    make_runs_folder(runs_dir)
    with ExitStack() as held, _workshop(runs_dir) as workshop:
        for part in parts:
            held.enter_context(part.bundle.lock())
        bundle = Bundle.create(workshop, manifest)
        _take_over(parts, bundle)
        write_result(bundle, _judged(parts))
        bundle.path.rename(runs_dir / bundle.id)
        sync_folder(runs_dir)
    return Bundle(runs_dir / manifest.id)


# --- what does not fit together ----------------------------------------------------------------------


def _require_one_run(parts: Sequence[Part]) -> None:
    faults = [*_seats(parts), *_mixtures(parts)]
    # What is asked twice or not at all says nothing where the packs are not the same.
    faults += [*([] if faults else _prompts(parts)), *_unfinished(parts), *_edited(parts)]
    if faults:
        pack, remedies = parts[0].manifest.suite.pack_id, dict.fromkeys(remedy for _, remedy in faults)
        told = "".join(f"\n  {text}" for text, _ in faults)
        raise RefusedError(f"these are not the shards of one run of {pack}:{told}", "\n  → ".join(remedies))


_EDITED = "Restore the run's files, or measure the shard again; a verdict is never edited."
_Fault = tuple[str, str]
"""What is wrong, and the way out."""
_NAME_ALL = "Name every shard of one run once."
_ONE_SYSTEM = (
    "Shards of one run come from one commit, one pack, one model, one engine and one judge: "
    "measure the others again."
)


def _seats(parts: Sequence[Part]) -> Iterator[_Fault]:
    """Holes and overlaps among the shards' numbers."""
    total = parts[0].shard.total
    for part in parts:
        if part.shard.total != total:
            yield f"{part.id} is shard {part.shard}, and {parts[0].id} is {parts[0].shard}", _NAME_ALL
    taken: dict[Shard, list[str]] = {}
    for part in parts:
        taken.setdefault(part.shard, []).append(part.id)
    for shard, ids in taken.items():
        if len(ids) > 1:
            yield f"shard {shard} is there {len(ids)} times: {', '.join(ids)}", _NAME_ALL
    for number in range(1, total + 1):
        if Shard(number, total) not in taken:
            yield f"shard {number}/{total} is missing", _NAME_ALL


def _mixtures(parts: Sequence[Part]) -> Iterator[_Fault]:
    """Every field in which a shard is not of the same run as the first."""
    first = parts[0]
    for part in parts[1:]:
        moved = [
            f"{place}: {_shown(one)} in {first.id}, {_shown(other)} in {part.id}"
            for place, one, other in (*_differing(first.manifest, part.manifest), *_judges(first, part))
        ]
        for words in moved[:_NAMED_MAX]:
            yield words, _ONE_SYSTEM
        if len(moved) > _NAMED_MAX:
            yield f"and {len(moved) - _NAMED_MAX} more fields of {part.id}", _ONE_SYSTEM


def _differing(one: Manifest, other: Manifest) -> Iterator[tuple[str, Any, Any]]:
    for place, left, right in differences(one.to_json(), other.to_json()):
        field = re.split(r"[.\[]", place)[0]
        if not _OWN_FIELDS & {field, place} and not place.startswith("engine.origins"):
            yield place, left, right


def _judges(one: Part, other: Part) -> Iterator[tuple[str, Any, Any]]:
    """Who really judged, where both were judged."""
    if one.result.judge and other.result.judge:
        yield from differences(one.result.judge.to_json(), other.result.judge.to_json(), "judge")


def _prompts(parts: Sequence[Part]) -> Iterator[_Fault]:
    """Holes and overlaps among what was asked."""
    asked = [prompt for part in parts for prompt in part.prompts]
    cases, is_whole = parts[0].manifest.suite.cases, parts[0].manifest.filter is None
    twice = sorted({prompt for prompt in asked if asked.count(prompt) > 1})
    if twice:
        yield f"asked by two shards: {', '.join(twice)}", _ONE_SYSTEM
    missing = [prompt for prompt in cases if prompt not in asked] if is_whole else []
    if missing:
        yield f"asked by no shard: {', '.join(missing)}", _ONE_SYSTEM
    if not twice and not missing and any(part.shard.of(_order(parts)) != part.prompts for part in parts):
        yield "the prompts were dealt out otherwise than today", _ONE_SYSTEM


def _unfinished(parts: Sequence[Part]) -> Iterator[_Fault]:
    """Samples nobody asked, and answers nobody judged while others were."""
    some_judged = any(_unjudged(part) < _planned(part) for part in parts)
    for part in parts:
        missing = _planned(part) - len(part.run.responses)
        if missing > 0:
            yield f"{part.id}: {missing} of {_planned(part)} samples were not asked", _resume(part)
        elif some_judged and _unjudged(part):
            yield (
                f"{part.id}: {_unjudged(part)} of {_planned(part)} answers are not judged",
                f"Judge them first: touchstone judge --bundle {part.id}",
            )


def _edited(parts: Sequence[Part]) -> Iterator[_Fault]:
    """Shards whose files do not say what was measured; merged, nothing would show it any more."""
    for part in parts:
        found = [(refusal.what, refusal.way_out) for refusal in altered(part.run, part.result)]
        yield from found
        contradicted = [] if found else contradictions(part.run)
        if contradicted:
            yield f"{part.id}: its checks are not what its answers give: {listed(contradicted)}", _EDITED


def _planned(part: Part) -> int:
    return len(part.bundle.samples())


def _unjudged(part: Part) -> int:
    judged = read_verdicts(part.bundle.path)
    return sum(key not in judged for key in part.bundle.samples())


def _resume(part: Part) -> str:
    return f"Let it be finished where it was started: touchstone measure --resume {part.id}"


def _shown(value: Any) -> str:
    text = json_line(value)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


# --- putting together --------------------------------------------------------------------------------


def _order(parts: Sequence[Part]) -> list[str]:
    asked = {prompt for part in parts for prompt in part.prompts}
    return [prompt for prompt in parts[0].manifest.suite.cases if prompt in asked]


def _manifest(parts: Sequence[Part], id_: str) -> Manifest:
    """The whole run's manifest; of what each machine has its own, what they agree in."""
    manifests = [part.bundle.manifest for part in parts]
    repeats = {prompt: count for manifest in manifests for prompt, count in manifest.plan}
    hosts = [manifest.host.to_json() for manifest in manifests]
    return sealed(
        {
            **dict(manifests[0]),
            "id": id_,
            "started": min(manifest.started for manifest in manifests),
            "plan": [(prompt, repeats[prompt]) for prompt in _order(parts)],
            "shard": None,
            "merged_from": [part.id for part in parts],
            "launch": _joined([manifest.launch for manifest in manifests]),
            "git": GitState(
                commit=manifests[0].git.commit, clean=_clean([one.git.clean for one in manifests])
            ),
            "host": HostInfo(**{name: _common([host[name] for host in hosts]) for name in hosts[0]}),
            "self_tests": {},
        }
    )


def _common(values: Sequence[Any]) -> Any:
    """The value all have; null where they differ: machines of two kinds are none of the two."""
    return values[0] if all(value == values[0] for value in values) else None


def _clean(values: Sequence[bool | None]) -> bool | None:
    return False if False in values else _common(values)


def _joined(launches: Sequence[str | None]) -> str | None:
    known = [launch for launch in dict.fromkeys(launches) if launch is not None]
    return " + ".join(known) if None not in launches else None


def _take_over(parts: Sequence[Part], bundle: Bundle) -> None:
    """Every line of every shard; each machine's ticks stay apart, for their clocks run side by side."""
    for name in (bundle.responses_path.name, bundle.judgements_path.name, BLOCKS_NAME, CALIBRATION_NAME):
        paths = [part.bundle.path / name for part in parts]
        lines = [json_line(value) + "\n" for path in paths for _, value in read_jsonl(path)]
        if lines:
            write_atomic(bundle.path / name, "".join(lines))
    for number, part in enumerate(parts, start=1):
        if part.bundle.resources_path.exists():
            write_atomic(bundle.shard_resources_path(number), read_bytes(part.bundle.resources_path))
    tests = [part.bundle.path / SELF_TESTS_NAME for part in parts]
    found = [read_bytes(path) if path.exists() else None for path in tests]
    if found[0] is not None and _common(found) is not None:
        write_atomic(bundle.path / SELF_TESTS_NAME, found[0])


def _judged(parts: Sequence[Part]) -> str | None:
    """When the last verdict fell; null where one shard does not tell."""
    stamps = [part.run.result.run.judged for part in parts]
    known = [stamp for stamp in stamps if stamp is not None]
    return max(known) if len(known) == len(stamps) else None


@contextmanager
def _workshop(runs_dir: Path) -> Iterator[Path]:
    """A folder nobody else looks into, empty at the beginning and at the end."""
    workshop = runs_dir / WORKSHOP_NAME
    make_folder(workshop)
    busy = f"{runs_dir}: another touchstone process is merging there"
    with exclusive_lock(workshop / _LOCK_NAME, busy, "Wait for it to end."):
        _clear(workshop)
        try:
            yield workshop
        finally:
            _clear(workshop)


def _clear(workshop: Path) -> None:
    """Remove what a merge that was cut off has left."""
    for path in workshop.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _LOCK_NAME:
            path.unlink(missing_ok=True)


def _merged_from(bundle: Bundle) -> list[str]:
    with suppress(BadInputError):
        return bundle.manifest.merged_from
    return []
