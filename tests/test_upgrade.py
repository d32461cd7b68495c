"""Files of schema 1, as they were written when it was new: every later version reads them, or says why not.

`tests/cases/schema1` is never made anew. Where a schema number rises, its files stay and pass through the
upgrade steps; this version meets the number after its own with one clear sentence.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.cli import touchstone
from touchstone.baseline import store
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.sides import side_of_baseline
from touchstone.config import load_config
from touchstone.errors import BadInputError
from touchstone.files import read_json
from touchstone.gate.control import control_rows
from touchstone.gate.further import read_confirm_plan
from touchstone.gate.runs import load_run, read_result, read_selection, recomputed
from touchstone.host.tick import read_ticks
from touchstone.judge.phase import read_verdicts
from touchstone.pack.digest import hashes_of
from touchstone.pack.load import load_pack
from touchstone.run.bundle import Bundle
from touchstone.run.preflight import read_blocks

KEPT = Path(__file__).parent / "cases" / "schema1"
SELECTED, CHECKED = (Bundle(folder) for folder in sorted((KEPT / "runs").iterdir()))
BASELINE = KEPT / "baselines" / "default" / "clerk.json"
REFERENCE = str(read_json(BASELINE)["digest"])

Reader = Callable[[Path], object]

READERS: dict[str, Reader] = {
    "packs/clerk.yaml": load_pack,
    "touchstone.yaml": load_config,
    "baselines/default/clerk.json": store.load,
    f"runs/{CHECKED.id}/manifest.json": lambda path: Bundle(path.parent).manifest,
    f"runs/{CHECKED.id}/result.json": read_result,
    f"runs/{CHECKED.id}/confirm.json": lambda path: read_confirm_plan(Bundle(path.parent), REFERENCE),
    f"runs/{SELECTED.id}/selection.json": lambda path: read_selection(Bundle(path.parent)),
}
"""Every kind of file that carries a schema number and is read again → how it is read.

`comparison.json` is written for others and not read back.
"""


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_schema_1_is_read(name: str) -> None:
    assert READERS[name](KEPT / name) is not None


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_the_next_schema_gets_one_clear_sentence(name: str, tmp_path: Path) -> None:
    shutil.copytree(KEPT, tmp_path / "kept")
    path = tmp_path / "kept" / name
    key = "schema: " if path.suffix == ".yaml" else '"schema_version": '
    text = path.read_text()
    assert text.count(f"{key}1") == 1
    path.write_text(text.replace(f"{key}1", f"{key}2"))
    with pytest.raises(BadInputError) as refused:
        READERS[name](path)
    said = f"{refused.value.message} {refused.value.hint}"
    assert path.name in said
    assert "schema 2 is newer than this touchstone" in said
    assert "(1)" in said
    assert "update touchstone" in said.lower() or "upgrade touchstone" in said.lower()
    assert said.count("\n") == 0


@pytest.mark.parametrize("number", ["0", "true", '"1"', "1.5", "null"])
@pytest.mark.parametrize("name", [name for name in READERS if name.endswith(".json")])
def test_what_is_no_schema_number_is_refused(name: str, number: str, tmp_path: Path) -> None:
    shutil.copytree(KEPT, tmp_path / "kept")
    path = tmp_path / "kept" / name
    path.write_text(path.read_text().replace('"schema_version": 1', f'"schema_version": {number}'))
    with pytest.raises(BadInputError):
        READERS[name](path)


def test_every_kept_file_is_among_those_read_here() -> None:
    lines = {"responses.jsonl", "judgements.jsonl", "resources.jsonl", "blocks.jsonl", "control.jsonl",
             "calibration.jsonl", "resources_by_sample.jsonl"}  # fmt: skip
    others = {"report.md", "self_tests.json", "comparison.json", "house.md"}
    names = {path.name for path in KEPT.rglob("*") if path.is_file()}
    assert names == lines | others | {Path(name).name for name in READERS}


def test_the_lines_of_a_run_are_read() -> None:
    planned = CHECKED.samples()
    responses, verdicts = CHECKED.responses(), read_verdicts(CHECKED.path)
    assert set(planned) <= set(responses)
    assert set(planned) <= set(verdicts)
    assert len(responses) == len(planned) + 5, "the confirm step asked one row five times more"
    assert [len(read_verdicts(CHECKED.path, pass_)) for pass_ in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert set(read_blocks(CHECKED.path)) == {"scripted-model"}
    assert read_ticks(CHECKED.resources_path)
    assert len(control_rows(CHECKED, side_of_baseline(store.load(BASELINE)))) == 6


@pytest.mark.parametrize("bundle", [SELECTED, CHECKED], ids=["selected", "checked"])
def test_a_result_is_what_its_lines_give_today(bundle: Bundle) -> None:
    """Else a run measured with the version before could not be promoted with this one."""
    stored = load_run(bundle).result
    anew = recomputed(bundle, stored)
    assert anew.rows == stored.rows
    assert [cell.quality for cell in anew.cells] == [cell.quality for cell in stored.cells]
    assert anew.hashes == stored.hashes


def test_a_baseline_carries_the_hashes_of_the_pack_it_was_made_of() -> None:
    """Else every baseline would stop being comparable with an update."""
    kept = store.load(BASELINE)
    manifest = CHECKED.manifest
    assert hashes_of(manifest.suite) == kept.hashes
    assert store.dump(kept) == BASELINE.read_text()


def test_a_comparison_fits_its_class() -> None:
    kept = read_json(CHECKED.path / "comparison.json")
    assert Comparison.model_validate(kept).status == "worse"


def test_the_command_line_reads_a_project_of_schema_1(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(KEPT, project)
    assert touchstone(project, "validate").code == 0
    listed = touchstone(project, "list")
    assert listed.code == 0
    assert CHECKED.id in listed.out
    assert touchstone(project, "report", CHECKED.id).code == 0
    compared = touchstone(project, "compare", str(BASELINE.relative_to(KEPT)), CHECKED.id, "--json")
    rows = json.loads(compared.out)["rows"]
    assert {row["prompt"] for row in rows if row["state"] in {"worse", "suspect"}} >= {"P03"}
