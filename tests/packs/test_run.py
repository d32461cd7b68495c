"""The shipped packs through the real command line, with a scripted model and a scripted judge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo
from tests.packs.samples import ROOT, checked_prompts, packs, samples_of
from tests.packs.scripted import MODEL, Mind
from touchstone.errors import ExitCode

JUDGED = ["ndassist", "buero"]
SAMPLED = [name for name, pack in packs().items() if set(samples_of(name)) >= set(checked_prompts(pack))]


def measured(repo: ScratchRepo, pack: str, *only: str) -> dict[str, Any]:
    chosen = [word for id_ in only for word in ("--only", id_)]
    done = touchstone(repo.path, "measure", "--pack", pack, *chosen, "--json", "-q")
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    (result,) = json.loads(done.out)
    assert isinstance(result, dict)
    return result


def qualities(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell["quality"] for cell in result["cells"]]


@pytest.mark.parametrize("name", SAMPLED)
def test_a_shipped_pack_runs_from_its_prompts_to_its_numbers(
    repo: ScratchRepo, server: ChatServer, mind: Mind, name: str
) -> None:
    mind.score = 100  # the top of any scale
    pack = packs()[name]
    result = measured(repo, name)
    prompts = [prompt for _, prompt in pack.prompts()]
    assert result["run"]["complete"] is True
    assert len(result["rows"]) == len(prompts) * len(pack.prompt_variants)
    assert {row["state"] for row in result["rows"]} == {"pass"}
    asked = [request for request in server.chats if request.body["model"] == MODEL]
    assert len(asked) >= len(result["rows"])


@pytest.mark.parametrize("name", JUDGED)
def test_a_judged_pack_is_safe_and_solid_when_all_is_well(repo: ScratchRepo, name: str) -> None:
    result = measured(repo, name)
    assert result["run"]["calibrated"] is True
    for quality in qualities(result):
        assert quality["safety_passed"] is True
        assert quality["safety_reason"] == []
        assert quality["pct"] == 80
        assert quality["rubric_level"] == "solide"
        assert quality["checks"]["passed"] == quality["checks"]["of"] > 20


def test_support_any_red_flag_knocks_out_however_high_the_score(repo: ScratchRepo, mind: Mind) -> None:
    mind.score, mind.flagged = 5, "Seit drei Tagen liegt die nasse Wäsche"
    for quality in qualities(measured(repo, "ndassist", "A1", "E1")):
        assert (quality["pct"], quality["rubric_level"]) == (100, "hoch")
        assert quality["safety_passed"] is False
        assert quality["red_flags"] == ["A1"]


def test_office_a_red_flag_knocks_out_on_a_bait_and_only_there(repo: ScratchRepo, mind: Mind) -> None:
    mind.flagged = "Fassen Sie den Text in einem Satz"
    for quality in qualities(measured(repo, "buero", "C5", "D5")):
        assert quality["safety_passed"] is True
        assert quality["red_flags"] == ["C5"]
    mind.flagged = "Wie lautet die Durchwahl"
    for quality in qualities(measured(repo, "buero", "C5", "D5")):
        assert quality["safety_passed"] is False
        assert quality["red_flags"] == ["D5"]


@pytest.mark.parametrize(("name", "floor"), [("ndassist", "sicherheit"), ("buero", "belegtreue")])
def test_the_knock_out_dimension_has_a_floor(repo: ScratchRepo, mind: Mind, name: str, floor: str) -> None:
    mind.score, mind.scores = 5, {floor: 2}
    for quality in qualities(measured(repo, name, "A1", "A2")):
        assert quality["pct"] == 85
        assert quality["safety_passed"] is False
        assert [reason["ids"] for reason in quality["safety_reason"]] == [[floor, "2"]]


@pytest.mark.parametrize("name", JUDGED)
def test_a_judge_without_an_opinion_is_not_calibrated(repo: ScratchRepo, mind: Mind, name: str) -> None:
    mind.blind = True
    done = touchstone(repo.path, "measure", "--pack", name, "-q")
    assert done.code == ExitCode.NOT_JUDGED
    assert "judge is not calibrated" in done.err


def test_a_fifth_pack_needs_no_change_outside_the_folder(repo: ScratchRepo) -> None:
    text = (ROOT / "packs" / "triage.yaml").read_text()
    repo.write("packs/fifth.yaml", text.replace("\nid: triage\n", "\nid: fifth\n"))
    listed = ok(touchstone(repo.path, "list")).out
    assert [name for name in (*packs(), "fifth") if f"{name} 1  " not in listed] == []
    assert ok(touchstone(repo.path, "validate")).out == ""
    result = measured(repo, "fifth")
    (cell,) = result["cells"]
    assert cell["labels"]["accuracy"] == {"hits": 24, "of": 24, "value": 1}
    assert cell["labels"]["precision"]["of"] == 11


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    return done
