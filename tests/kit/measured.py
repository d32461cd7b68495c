"""Measured runs and baselines made of tables; see `tests.kit.builders` for the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.kit import builders
from touchstone.baseline.schema import Baseline
from touchstone.baseline.store import MeasuredRun, baseline_from
from touchstone.pack.suite import Suite
from touchstone.result.build import build_result_doc

JUDGED = "2026-05-04T09:00:00Z"


def measured(
    suite: Suite,
    table: builders.Table,
    number: int = 0,
    *,
    models: Sequence[str] = ("m",),
    salt: str = "",
    build: Mapping[str, Any] | None = None,
    **fields: Any,
) -> MeasuredRun:
    """Run `number` of a suite: an id, a draw and a launch of its own. `fields` go to the manifest."""
    usual = {"id": f"20260504T08000{number}Z_pack_00000{number}", "draw": number, "launch": f"{number}:1.0"}
    asked = builders.manifest(suite, models, **(usual | fields))
    answers = builders.responses(asked, table, salt)
    said = builders.verdicts(asked, table, answers)
    document = build_result_doc(asked, answers, said, **({"judged": JUDGED} | dict(build or {})))
    return MeasuredRun(asked, document, answers)


def three(suite: Suite, *tables: builders.Table, **fields: Any) -> list[MeasuredRun]:
    """Runs 0, 1 and 2 of one table each; a missing table is the first one again."""
    given = [*tables, *[tables[0]] * (3 - len(tables))]
    return [measured(suite, table, number, **fields) for number, table in enumerate(given)]


def kept(runs: Sequence[MeasuredRun], typical: int = 0, **options: Any) -> Baseline:
    """The baseline of some runs, answers included."""
    usual: dict[str, Any] = {"reason": None, "replaces": None, "with_answers": True}
    return baseline_from(runs, typical, **(usual | options))
