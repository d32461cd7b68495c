"""Runs as files: a bundle's stored result, or one rebuilt from its lines where there is none."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from touchstone.baseline.store import MeasuredRun
from touchstone.errors import BadInputError
from touchstone.files import read_json
from touchstone.gate.measure import result_of
from touchstone.result.schema import RESULT_SCHEMA, ResultDoc
from touchstone.result.select import Selection
from touchstone.run.bundle import Bundle

SELECTION_NAME = "selection.json"


def load_run(bundle: Bundle) -> MeasuredRun:
    """A run with its stored result; a bundle without one is rebuilt from its lines."""
    stored = read_result(bundle.result_path) if bundle.result_path.exists() else result_of(bundle)
    return MeasuredRun(manifest=bundle.manifest, result=stored, responses=bundle.responses())


def recomputed(bundle: Bundle, stored: ResultDoc) -> ResultDoc:
    """What the bundle's lines give today; only the time of judging is taken over."""
    return result_of(bundle, judged=stored.run.judged)


def read_selection(bundle: Bundle) -> Selection | None:
    """The choice that was written into a bundle; None where it was never chosen."""
    path = bundle.path / SELECTION_NAME
    if not path.exists():
        return None
    try:
        return Selection.model_validate(read_json(path))
    except ValidationError:
        raise BadInputError(
            f"{path}: not a selection", "Choose again: touchstone select RUN RUN RUN"
        ) from None


def read_result(path: Path) -> ResultDoc:
    """A `result.json`; a newer schema is one clear sentence."""
    value = read_json(path)
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > RESULT_SCHEMA:
        raise BadInputError(
            f"{path}: schema {version} is newer than this touchstone reads ({RESULT_SCHEMA})",
            "Update touchstone.",
        )
    try:
        return ResultDoc.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInputError(
            f"{path}: {place}: {first['msg'][:1].lower()}{first['msg'][1:]}",
            f"Make it again from the run's lines: touchstone judge --bundle {path.parent.name}",
        ) from None
