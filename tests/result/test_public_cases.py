"""Cases of other tools' failures that concern results (kind `eval` of the index)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.builders import judged_suite, result
from touchstone.errors import RefusedError
from touchstone.files import json_pretty
from touchstone.pack.suite import Suite
from touchstone.result.schema import ModelReport, ResultDoc
from touchstone.result.select import select_typical

CASES = Path(__file__).parent.parent / "cases" / "public" / "eval"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text().splitlines()]


def suite_of(records: list[dict[str, Any]]) -> Suite:
    return judged_suite(list(dict.fromkeys(record["id"] for record in records)), dimensions={"Q1": 1})


def run_of(suite: Suite, records: list[dict[str, Any]], **fields: Any) -> ResultDoc:
    table = {record["id"]: [record["mean"]] if record["status"] == "ok" else None for record in records}
    return result(suite, table, **fields)


def quality_of(document: ResultDoc) -> ModelReport:
    quality = document.cells[0].quality
    assert quality is not None
    return quality


def test_E04_errors_are_never_numbers() -> None:
    records = lines("E04-judge-errors-as-zero.jsonl")
    suite = suite_of(records)
    arms = {arm: [record for record in records if record["arm"] == arm] for arm in ("baseline", "run")}
    baseline, run = run_of(suite, arms["baseline"]), run_of(suite, arms["run"], id="run")

    assert quality_of(baseline).dim_means["Q1"] == 4.75
    assert quality_of(run).dim_means["Q1"] == 4.0
    assert (quality_of(baseline).pct, quality_of(run).pct) == (95.0, 80.0)
    assert (baseline.cells[0].counts.error, run.cells[0].counts.error) == (1, 0)
    with pytest.raises(RefusedError, match="could not be judged: p5"):
        select_typical([baseline, run, run_of(suite, arms["run"], id="third")])


def test_E06_the_mean_and_how_many_it_rests_on_stand_together() -> None:
    cell = result(judged_suite(["A", "B", "C"]), {"A": [5, 5], "B": [3, 3], "C": None}).cells[0]
    assert cell.quality is not None
    assert cell.quality.pct == 80.0
    assert (cell.counts.judged, cell.counts.planned) == (2, 3)


def test_E08_an_error_row_holds_null() -> None:
    records = lines("E08-minus-one-sentinel.jsonl")
    document = run_of(suite_of(records), records)
    failed = document.rows[1]
    assert (failed.state, failed.pct, failed.repeats[0].scores) == ("error", None, {})
    assert quality_of(document).pct == 100.0
    assert "-1" not in json_pretty([row.to_json() for row in document.rows])


def test_E15_no_judge_no_score() -> None:
    document = result(judged_suite(["A"]), {"A": [5, 5]}, judged=None)
    assert document.judge is None
    assert document.cells[0].quality is None
    assert (document.rows[0].state, document.rows[0].pct) == (None, None)
    assert not document.run.complete
