"""The bundle: the folder a run leaves.

`manifest.json` is frozen when the run starts; everything else is appended to it line by line or
replaced as a whole. Resuming is subtraction: what was planned minus what is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from touchstone.errors import BadInputError
from touchstone.files import (
    JsonlAppender,
    digest_of,
    exclusive_lock,
    make_folder,
    read_json,
    read_jsonl,
    write_atomic,
    write_json,
)
from touchstone.pack.suite import Case, Suite
from touchstone.records import Misfit, check_schema, record_from, share_texts
from touchstone.run import plan
from touchstone.run.records import MANIFEST_SCHEMA, EvalResponse, Manifest, Outline, SampleKey

MANIFEST_NAME = "manifest.json"
RESULT_NAME = "result.json"
COMPARISON_NAME = "comparison.json"
REPORT_NAME = "report.md"

_REPEATED = ("model", "variant", "prompt", "category", "status", "finish_reason", "served_model")
"""Texts that many responses share; each is held once."""


class Bundle:
    """One run's folder. Reading never changes a file; appending goes through `response_lines`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, runs_dir: Path, manifest: Manifest) -> Bundle:
        """Make `<runs_dir>/<manifest.id>/` with its manifest; the runs folder ignores itself in git."""
        make_runs_folder(runs_dir)
        folder = runs_dir / manifest.id
        make_folder(folder, new=True)
        write_json(folder / MANIFEST_NAME, manifest.to_json(), sort_keys=False)
        return cls(folder)

    @property
    def id(self) -> str:
        """The run's id, which is the folder's name."""
        return self.path.name

    @cached_property
    def manifest(self) -> Manifest:
        """The frozen manifest; BadInputError if it is missing, of a newer schema or was edited."""
        return read_manifest(self.path / MANIFEST_NAME)

    @property
    def responses_path(self) -> Path:
        """`responses.jsonl`, one line per answer."""
        return self.path / "responses.jsonl"

    @property
    def judgements_path(self) -> Path:
        """`judgements.jsonl`, one line per verdict."""
        return self.path / "judgements.jsonl"

    @property
    def resources_path(self) -> Path:
        """`resources.jsonl`, one line per tick of the sampler."""
        return self.path / "resources.jsonl"

    def shard_resources_path(self, number: int) -> Path:
        """`resources-<number>.jsonl`: in a merged run, the ticks of the machine that asked that shard."""
        return self.path / f"resources-{number}.jsonl"

    @property
    def result_path(self) -> Path:
        """`result.json`."""
        return self.path / RESULT_NAME

    def samples(self) -> list[SampleKey]:
        """The planned samples in the order of asking."""
        return plan.samples(self.manifest)

    def responses(self) -> dict[SampleKey, EvalResponse]:
        """The last word on every sample that was asked, extra draws included.

        An error followed by a good record is normal. Two good records of one sample, a record that is
        not one, and a sample nobody planned are refused with file and line.
        """
        return dict(self._words())

    def outlines(self, samples: Collection[SampleKey] | None = None) -> dict[SampleKey, Outline]:
        """`responses`, each without its text; `samples` narrows it to some."""
        words = self._words()
        return {key: response.outline() for key, response in words if samples is None or key in samples}

    def responses_to(self, samples: Collection[SampleKey]) -> Iterator[EvalResponse]:
        """The last word on each of some samples, in the order of the file, one held at a time."""
        last = {key: number for number, (key, _) in enumerate(self._words()) if key in samples}
        for number, (key, response) in enumerate(self._words()):
            if last.get(key) == number:
                yield response

    def open_samples(self, samples: Sequence[SampleKey] | None = None) -> list[SampleKey]:
        """Samples without a good response, in order: of the planned ones, or of those named."""
        done = {key for key, response in self._words() if response.is_good}
        return [key for key in (self.samples() if samples is None else samples) if key not in done]

    def _words(self) -> Iterator[tuple[SampleKey, EvalResponse]]:
        return _words(self.responses_path, {key[:4] for key in self.samples()})

    def answers(
        self, rows: Collection[tuple[str, str, str]] | None = None, repeats: int | None = None
    ) -> dict[tuple[str, str, str], list[str]]:
        """The planned draw's answers by (model, variant, prompt), one text per repeat.

        `rows` narrows it to some, `repeats` to the first so many of each.
        """
        wanted = dict.fromkeys(
            key
            for key in self.samples()
            if (rows is None or key[:3] in rows) and (repeats is None or key.repeat <= repeats)
        )
        texts = {key: response.response_text for key, response in self._words() if key in wanted}
        answers: dict[tuple[str, str, str], list[str]] = {}
        for key in wanted:
            if key in texts:
                answers.setdefault(key[:3], []).append(texts[key])
        return answers

    def response_lines(self) -> JsonlAppender:
        """The open end of `responses.jsonl`, its tail repaired."""
        return JsonlAppender(self.responses_path)

    def lock(self) -> AbstractContextManager[None]:
        """Keep every other process off this bundle."""
        return exclusive_lock(
            self.path / ".lock",
            f"{self.path}: another touchstone process is working on this run",
            "Wait for it to end, or start a new run.",
        )


def make_runs_folder(runs_dir: Path) -> None:
    """Make the folder runs are kept in, with the file that keeps it out of git."""
    make_folder(runs_dir)
    ignore = runs_dir / ".gitignore"
    if not ignore.exists():
        write_atomic(ignore, "*\n")


def sealed(fields: dict[str, Any]) -> Manifest:
    """A manifest from its fields, with the digest over them."""
    draft = Manifest.model_validate({**fields, "digest": ""})
    return draft.model_copy(update={"digest": _content_digest(draft.to_json())})


def read_manifest(path: Path) -> Manifest:
    """Read and check a manifest file."""
    if not path.exists():
        raise BadInputError(
            f"{path.parent}: not a run (no {path.name})", "Name a folder that touchstone eval has made."
        )
    value = read_json(path)
    check_schema(value, MANIFEST_SCHEMA, str(path))
    if not isinstance(value, dict):
        raise BadInputError(f"{path}: not a manifest (no JSON object)", "Start a new run.")
    # The digest is that of the file as it stands: a field this version adds is not an edit.
    digest = digest_of({key: item for key, item in value.items() if key != "digest"})
    try:
        value["suite"] = record_from(Suite, value.get("suite"), {"cases": Case}, ("suite",))
        manifest = record_from(Manifest, value)
    except Misfit as misfit:
        raise BadInputError(f"{path}: {misfit}", "Start a new run.") from None
    if manifest.digest != digest:
        raise BadInputError(
            f"{path}: edited after the run started (its digest does not match)",
            "Restore the file, or start a new run.",
        )
    return manifest


def _words(
    path: Path, planned: Collection[tuple[str, str, str, int]]
) -> Iterator[tuple[SampleKey, EvalResponse]]:
    """Every answer that counts when it is read; a later one of the same sample replaces it."""
    line_of: dict[SampleKey, int] = {}
    for number, value in read_jsonl(path):
        response = _response(value, f"{path}:{number}")
        key = response.key
        if key[:4] not in planned:
            raise BadInputError(f"{path}:{number}: {key} is not in this run's plan")
        if key not in line_of:
            if response.is_good:
                line_of[key] = number
            yield key, response
        elif response.is_good:
            raise BadInputError(
                f"{path}:{number}: second answer for {key}; the first is in line {line_of[key]}",
                "Keep one of the two lines, or start a new run.",
            )


def _response(value: object, source: str) -> EvalResponse:
    share_texts(value, _REPEATED)
    try:
        return record_from(EvalResponse, value)
    except Misfit as misfit:
        raise BadInputError(f"{source}: not a response: {misfit}") from None


def _content_digest(value: Mapping[str, Any]) -> str:
    return digest_of({key: item for key, item in value.items() if key != "digest"})
