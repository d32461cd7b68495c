"""Shards put together: the same numbers as one run, or every reason why they are not one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats, Table
from tests.kit.timeless import without_times
from touchstone.errors import BadInputError, NotJudgedError, RefusedError
from touchstone.files import JsonlAppender, read_json, read_jsonl
from touchstone.gate.merge import WORKSHOP_NAME, Part, merged_run, runs_among
from touchstone.gate.runs import load_run, write_result
from touchstone.pack.suite import Suite
from touchstone.run.bundle import MANIFEST_NAME, Bundle
from touchstone.run.find import list_bundles
from touchstone.run.plan import Shard
from touchstone.run.preflight import BLOCKS_NAME, Block, Preflight, append_block
from touchstone.run.records import EngineInfo, Manifest

NOW = datetime(2026, 5, 5, 8, 0, tzinfo=UTC)
JUDGED = "2026-05-04T09:00:00Z"
PROMPTS = ("A1", "A2", "A3", "A4", "A5", "A6", "A7")
SUITE = builders.judged_suite(PROMPTS, repeats={"A2": 2})
TABLE: Table = {
    "A1": (5, 4),
    "A2": Repeats([(4, 4), (3, 5)]),
    "A3": (2, 3),
    "A4": Outcome(scores=(1, 2), flag=True),
    "A5": Outcome(status="error", verdict="unscored", reason="generation_failed"),
    "A6": (5, 5),
    "A7": (4, 1),
}


def make(runs_dir: Path, manifest: Manifest, judged: str | None = JUDGED, table: Table = TABLE) -> Bundle:
    """A run's folder with its lines, judged or not."""
    bundle = Bundle.create(runs_dir, manifest)
    answers = builders.responses(manifest, table)
    with JsonlAppender(bundle.responses_path) as lines:
        for answer in answers.values():
            lines.append(answer.to_json())
    if judged:
        with JsonlAppender(bundle.judgements_path) as lines:
            for verdict in builders.verdicts(manifest, table, answers).values():
                lines.append(verdict.to_json())
    write_result(bundle, judged)
    return bundle


def shard(runs_dir: Path, text: str, suite: Suite = SUITE, **fields: Any) -> Bundle:
    """One shard of a run of the suite."""
    judged, models = fields.pop("judged", JUDGED), fields.pop("models", ("m", "n"))
    table = fields.pop("table", TABLE)
    whole = builders.manifest(suite, models)
    usual: dict[str, Any] = {
        "id": f"20260504T08000{text[0]}Z_pack_00000{text[0]}",
        "plan": Shard.parse(text).of(whole.plan),
        "shard": text,
        "launch": f"{text[0]}:1.0",
    }
    return make(runs_dir, builders.manifest(suite, models, **(usual | fields)), judged, table)


def merge(runs_dir: Path, *shards: Bundle) -> Bundle:
    (parts,) = runs_among(shards)
    return merged_run(parts, runs_dir, NOW)


def refused(runs_dir: Path, *shards: Bundle) -> RefusedError:
    before = [bundle.id for bundle in list_bundles(runs_dir)]
    with pytest.raises(RefusedError) as caught:
        merge(runs_dir, *shards)
    assert [bundle.id for bundle in list_bundles(runs_dir)] == before
    return caught.value


def three(runs_dir: Path, **fields: Any) -> list[Bundle]:
    return [shard(runs_dir, f"{number}/3", **fields) for number in (1, 2, 3)]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("judged", [JUDGED, None])
def test_merged_shards_equal_the_run_that_was_asked_as_one(
    tmp_path: Path, count: int, judged: str | None
) -> None:
    whole = make(tmp_path / "whole", builders.manifest(SUITE, ("m", "n")), judged=judged)
    shards = [shard(tmp_path, f"{number}/{count}", judged=judged) for number in range(1, count + 1)]
    found = merge(tmp_path, *reversed(shards))
    one, other = load_run(whole).result, load_run(found).result
    assert without_times(other.to_json()) == without_times(one.to_json())
    assert other.run.judged == judged
    assert (other.cells[0].quality is None) is (judged is None)
    assert found.responses().keys() == whole.responses().keys()
    assert found.samples() == whole.samples()
    assert found.manifest.merged_from == [bundle.id for bundle in shards]
    assert (found.manifest.shard, found.manifest.filter) == (None, None)


def test_a_merged_part_of_a_pack_stays_a_part(tmp_path: Path) -> None:
    plan = [("A1", 1), ("A3", 1), ("A6", 1)]
    parts = [
        shard(tmp_path, f"{number}/2", plan=Shard(number, 2).of(plan), filter="only=A1,A3,A6")
        for number in (1, 2)
    ]
    found = merge(tmp_path, *parts)
    assert found.manifest.plan == plan
    assert found.manifest.filter == "only=A1,A3,A6"


def test_shards_of_several_draws_and_packs_are_told_apart(tmp_path: Path) -> None:
    other = SUITE.model_copy(update={"pack_id": "other"})
    mixed = [
        shard(tmp_path, text, suite, id=f"{suite.pack_id}{draw}{text[0]}", draw=draw)
        for text in ("2/2", "1/2")
        for suite in (SUITE, other)
        for draw in (0, 1)
    ]
    found = [[part.id for part in parts] for parts in runs_among(mixed)]
    assert sorted(found) == [
        ["other01", "other02"],
        ["other11", "other12"],
        ["pack01", "pack02"],
        ["pack11", "pack12"],
    ]


def test_holes_are_named(tmp_path: Path) -> None:
    first, _, _ = three(tmp_path)
    error = refused(tmp_path, first)
    assert error.message.splitlines() == [
        "these are not the shards of one run of pack:",
        "  shard 2/3 is missing",
        "  shard 3/3 is missing",
    ]
    assert error.hint == "Name every shard of one run once."


def test_overlaps_are_named(tmp_path: Path) -> None:
    first, second, third = three(tmp_path)
    again = shard(tmp_path, "2/3", id="again")
    assert (
        f"  shard 2/3 is there 2 times: {second.id}, again"
        in refused(tmp_path, first, second, third, again).message
    )
    assert "is there 2 times" in refused(tmp_path, first, second, third, third).message


def test_shards_of_another_number_are_named(tmp_path: Path) -> None:
    first, second, _ = three(tmp_path)
    half = shard(tmp_path, "2/2", id="half")
    assert f"half is shard 2/2, and {first.id} is 1/3" in refused(tmp_path, first, second, half).message


def test_a_whole_run_is_no_shard(tmp_path: Path) -> None:
    whole = make(tmp_path, builders.manifest(SUITE, ("m", "n"), id="whole"))
    error = refused(tmp_path, shard(tmp_path, "1/2"), whole)
    assert error.message == "whole is a whole run, not a shard of one"
    assert "--shard 1/3" in (error.hint or "")


OTHER_LINE = builders.judged_suite(PROMPTS, repeats={"A2": 2}, thresholds={"Q1": 4})
OTHER_TEXT = SUITE.model_copy(
    update={
        "variants": {
            id_: text.model_copy(update={"text": "Be brief.", "sha256": "sha256:x"})
            for id_, text in SUITE.variants.items()
        }
    }
)
OTHER_CASE = SUITE.model_copy(
    update={"cases": SUITE.cases | {"A7": SUITE.cases["A7"].replaced(input="else?")}}
)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tenant": "acme"}, 'tenant: "default" in 1, "acme" in 2'),
        ({"target": "mini"}, 'target: null in 1, "mini" in 2'),
        ({"concurrency": 4}, "concurrency: 1 in 1, 4 in 2"),
        ({"tool_version": "9.9"}, 'tool_version: "0.0.0" in 1, "9.9" in 2'),
        ({"filter": "limit=7"}, 'filter: null in 1, "limit=7" in 2'),
        ({"pack_text": "schema: 1 # x\n"}, r'pack_text: "schema: 1\n" in 1, "schema: 1 # x\n" in 2'),
        ({"git": {"commit": "1" * 40, "clean": True}}, f'git.commit: "{"0" * 40}" in 1, "{"1" * 40}" in 2'),
        ({"engine": {"engine": "llama.cpp", "engine_version": "b2"}}, 'engine.engine_version: "b1" in 1, "b'),
        ({"models": [{"id": "m", "quant": "Q4"}, {"id": "n"}]}, 'models[0].quant: null in 1, "Q4" in 2'),
        ({"models": ["m", "o"]}, 'models[1].id: "n" in 1, "o" in 2'),
        ({"suite": OTHER_LINE}, "suite.rules."),
        ({"suite": OTHER_TEXT}, "suite.variants."),
        ({"suite": OTHER_CASE}, 'suite.cases.A7.input: '),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)  # fmt: skip
def test_mixtures_are_named_with_both_values(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    first = shard(tmp_path, "1/2", id="1")
    suite = fields.pop("suite", SUITE)
    second = shard(tmp_path, "2/2", suite, id="2", **fields)
    error = refused(tmp_path, first, second)
    assert f"\n  {words}" in error.message
    assert "one engine and one judge" in (error.hint or "")


def test_many_differences_are_counted(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "tenant": "a",
        "target": "b",
        "concurrency": 2,
        "tool_version": "c",
        "filter": "d",
        "pack_text": "e",
    }
    error = refused(tmp_path, shard(tmp_path, "1/2"), shard(tmp_path, "2/2", id="two", **fields))
    assert error.message.splitlines()[-1] == "  and 1 more fields of two"


def test_what_the_engine_told_only_later_counts_too(tmp_path: Path) -> None:
    parts = [shard(tmp_path, f"{number}/2", id=str(number)) for number in (1, 2)]
    seen = Preflight(
        prompt="A1",
        variant="none",
        status="ok",
        error=None,
        e2e_s=1.0,
        served_model=None,
        system_fingerprint=None,
    )
    for part, quant in zip(parts, ("Q4_K_M", "Q8_0"), strict=True):
        told = EngineInfo(engine="llama.cpp", engine_version="b1")
        append_block(
            part,
            Block(
                model="m", preflight=seen, engine=told, quant=quant, served_model=None, context_length=None
            ),
        )
    assert '\n  models[0].quant: "Q4_K_M" in 1, "Q8_0" in 2' in refused(tmp_path, *parts).message
    (parts[1].path / BLOCKS_NAME).write_bytes((parts[0].path / BLOCKS_NAME).read_bytes())
    for part in parts:
        write_result(part, JUDGED)
    assert load_run(merge(tmp_path, *parts)).result.cells[0].quant == "Q4_K_M"


def _edit(bundle: Bundle, was: str, now: str) -> None:
    lines = bundle.judgements_path.read_text()
    assert was in lines
    bundle.judgements_path.write_text(lines.replace(was, now))


def test_a_shard_whose_lines_were_edited_is_not_merged(tmp_path: Path) -> None:
    first, second, third = three(tmp_path)
    _edit(third, '"scores":{"Q1":2,"Q2":3}', '"scores":{"Q1":5,"Q2":5}')
    error = refused(tmp_path, first, second, third)
    assert "result.json is not what its lines give" in error.message
    assert "Restore the run's files" in (error.hint or "")


def test_nor_one_whose_result_was_written_anew_over_them(tmp_path: Path) -> None:
    suite = builders.checks_suite(PROMPTS)
    answers = {prompt: Outcome(text="yes", checks=1.0) for prompt in PROMPTS}
    parts = [shard(tmp_path, f"{n}/2", suite, table=answers, models=("m",)) for n in (1, 2)]
    merge(tmp_path / "true", *parts)
    forged = {**answers, "A2": Outcome(text="I do not know", checks=1.0)}
    parts[1] = shard(tmp_path / "forged", "2/2", suite, table=forged, models=("m",))
    said = "its checks are not what its answers give: m · none · A2: contains is 1 in the file"
    assert said in refused(tmp_path / "both", *parts).message


def test_a_shard_whose_manifest_was_edited_is_not_merged(tmp_path: Path) -> None:
    parts = three(tmp_path)
    for part in parts:
        text = (part.path / MANIFEST_NAME).read_text()
        assert '"clean": true' in text
        (part.path / MANIFEST_NAME).write_text(text.replace('"clean": true', '"clean": false'))
    parts = [Bundle(part.path) for part in parts]
    with pytest.raises((RefusedError, BadInputError), match="edited"):
        merge(tmp_path, *parts)


def test_two_judges_are_named(tmp_path: Path) -> None:
    parts = [shard(tmp_path, f"{number}/2", id=str(number)) for number in (1, 2)]
    lines = parts[1].judgements_path.read_text()
    assert '"version":null' in lines
    parts[1].judgements_path.write_text(lines.replace('"version":null', '"version":"b9"'))
    assert '\n  judge.version: null in 1, "b9" in 2' in refused(tmp_path, *parts).message


def test_a_prompt_asked_twice_or_never_is_named(tmp_path: Path) -> None:
    plans = [[("A1", 1), ("A2", 2), ("A3", 1)], [("A3", 1), ("A4", 1), ("A5", 1)]]
    parts = [shard(tmp_path, f"{n}/2", plan=plan) for n, plan in enumerate(plans, start=1)]
    assert refused(tmp_path, *parts).message.splitlines()[1:] == [
        "  asked by two shards: A3",
        "  asked by no shard: A6, A7",
    ]


def test_prompts_dealt_out_otherwise_are_not_taken_for_shards(tmp_path: Path) -> None:
    plan = builders.manifest(SUITE).plan
    parts = [shard(tmp_path, "1/2", plan=plan[:4]), shard(tmp_path, "2/2", plan=plan[4:])]
    assert "  the prompts were dealt out otherwise than today" in refused(tmp_path, *parts).message


def test_an_unfinished_shard_is_named_with_the_way_on(tmp_path: Path) -> None:
    first, second, third = three(tmp_path)
    lines = second.responses_path.read_text().splitlines(keepends=True)
    second.responses_path.write_text("".join(lines[:-1]))
    error = refused(tmp_path, first, second, third)
    assert f"  {second.id}: 1 of 6 samples were not asked" in error.message
    assert f"touchstone measure --resume {second.id}" in (error.hint or "")


def test_a_shard_nobody_judged_among_judged_ones_is_named(tmp_path: Path) -> None:
    first, second, _ = three(tmp_path)
    open_one = shard(tmp_path, "3/3", id="open", judged=None)
    error = refused(tmp_path, first, second, open_one)
    assert "  open: 4 of 4 answers are not judged" in error.message
    assert error.hint == "Judge them first: touchstone judge --bundle open"


def test_what_machines_differ_in_is_not_known_of_the_run(tmp_path: Path) -> None:
    mini = {"chip": "Apple M5", "ram_gb": 64, "os": "macOS 26.1", "python": "3.13.1"}
    found = merge(tmp_path, shard(tmp_path, "1/2"), shard(tmp_path, "2/2", host=mini))
    about = load_run(found).result.provenance
    assert (about.chip, about.ram_gb, about.os) == (None, 64, "macOS 26.1")


@pytest.mark.parametrize(
    ("clean", "whole"),
    [((True, True), True), ((True, False), False), ((None, True), None), ((None, False), False)],
)
def test_a_run_is_clean_only_where_every_shard_was(
    tmp_path: Path, clean: Sequence[bool | None], whole: bool | None
) -> None:
    parts = [
        shard(tmp_path, f"{number}/2", git={"commit": "0" * 40, "clean": state})
        for number, state in enumerate(clean, start=1)
    ]
    assert merge(tmp_path, *parts).manifest.git.clean is whole


def test_launches_are_all_kept_or_none(tmp_path: Path) -> None:
    assert merge(tmp_path / "a", *three(tmp_path / "a")).manifest.launch == "1:1.0 + 2:1.0 + 3:1.0"
    assert merge(tmp_path / "b", *three(tmp_path / "b", launch="7:1.0")).manifest.launch == "7:1.0"
    parts = [shard(tmp_path / "c", "1/2"), shard(tmp_path / "c", "2/2", launch=None)]
    assert merge(tmp_path / "c", *parts).manifest.launch is None


def test_each_answer_is_seen_beside_the_ticks_of_its_own_machine(tmp_path: Path) -> None:
    parts = [shard(tmp_path, f"{number}/2") for number in (1, 2)]
    began = datetime.fromisoformat(builders.STARTED).timestamp()
    for part, used_mb, thermal in zip(parts, (1000.0, 9000.0), ("Nominal", "Heavy"), strict=True):
        with JsonlAppender(part.resources_path) as lines:
            for second in range(20):
                tick = {
                    "ts": began + second,
                    "monotonic": 5.0 + second,
                    "sys_used_mb": used_mb,
                    "thermal": thermal,
                }
                lines.append(tick)
        write_result(part, JUDGED)
    found = merge(tmp_path, *parts)
    seen = {
        value["prompt"]: value["sys_used_mb"]
        for _, value in read_jsonl(found.path / "resources_by_sample.jsonl")
    }
    assert {prompt: seen[prompt] for prompt in ("A1", "A3", "A7")} == dict.fromkeys(("A1", "A3", "A7"), 1000)
    assert {prompt: seen[prompt] for prompt in ("A2", "A4", "A6")} == dict.fromkeys(("A2", "A4", "A6"), 9000)
    assert not found.resources_path.exists(), "what is asked of the merged run later has ticks of its own"


def test_every_line_is_taken_over_as_it_stands(tmp_path: Path) -> None:
    first, second = (shard(tmp_path, f"{number}/2") for number in (1, 2))
    key = first.samples()[0]
    failed = builders.response(key, "", status="error", category="A")
    text = first.responses_path.read_text()
    with JsonlAppender(first.responses_path) as lines:
        lines.append(failed.to_json())
    found = merge(tmp_path, first, second)
    assert found.responses_path.read_text().startswith(text)
    assert found.responses()[key].is_good, "an error after a good answer says nothing new"


def test_merged_again_it_is_the_run_from_then(tmp_path: Path) -> None:
    shards = three(tmp_path)
    before = merge(tmp_path, *shards)
    (parts,) = runs_among(shards)
    assert merged_run(parts, tmp_path, NOW).id == before.id
    assert len(list_bundles(tmp_path)) == 4


def test_a_merge_that_was_cut_off_leaves_nothing_and_the_next_clears_it(tmp_path: Path) -> None:
    left = tmp_path / WORKSHOP_NAME / "20260505T080000Z_pack_old"
    left.mkdir(parents=True)
    (left / "manifest.json").write_text("{}")
    shards = three(tmp_path)
    assert len(list_bundles(tmp_path)) == 3
    merge(tmp_path, *shards)
    assert sorted(path.name for path in (tmp_path / WORKSHOP_NAME).iterdir()) == [".lock"]


def test_a_shard_somebody_works_on_is_left_alone(tmp_path: Path) -> None:
    shards = three(tmp_path)
    with shards[1].lock(), pytest.raises(NotJudgedError, match="another touchstone process"):
        merge(tmp_path, *shards)
    assert len(list_bundles(tmp_path)) == 3


def test_a_copied_folder_keeps_the_runs_name(tmp_path: Path) -> None:
    shards = three(tmp_path / "elsewhere")
    for number, part in enumerate(shards, start=1):
        part.path.rename(tmp_path / f"touchstone-shard-{number}")
    copies = [Bundle(tmp_path / f"touchstone-shard-{number}") for number in (1, 2, 3)]
    assert Part.of(copies[0]).id.startswith("20260504T")
    found = merge(tmp_path / "runs", *copies)
    assert all(
        name.startswith("20260504T") for name in read_json(found.path / "manifest.json")["merged_from"]
    )
