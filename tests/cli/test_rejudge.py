"""`touchstone rejudge` through the real command line: stored answers, another judge, no model asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode

OTHER = "stricter-judge"


@pytest.fixture
def server(mind: desk.Mind) -> Iterator[ChatServer]:
    """The usual desk, and a second judge that gives every dimension one point less."""

    def say(body: dict[str, Any]) -> Script:
        if body["model"] != OTHER:
            return mind(body)
        scores = {dimension: score - 1 for dimension, score in mind.scores.items()}
        return answer(json.dumps({"rationale": "Hm.", "scores": scores, "red_flag": False}), model=OTHER)

    with ChatServer(say, models=(desk.MODEL, desk.JUDGE, OTHER)) as running:
        yield running


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    return done


def measured(repo: ScratchRepo, *options: str) -> str:
    """One more run of the judged pack; its id."""
    return the_new_run(repo, "measure", "--pack", "care", "-q", *options)


def the_new_run(repo: ScratchRepo, *args: str) -> str:
    before = set(desk.run_ids(repo))
    ok(touchstone(repo.path, *args))
    (new,) = set(desk.run_ids(repo)) - before
    return new


def promoted(repo: ScratchRepo, *options: str) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "care", "--times", "3", "-q"))
    ok(touchstone(repo.path, "promote", *desk.run_ids(repo), "--here", *options))


def result_of(repo: ScratchRepo, run: str) -> Any:
    return json.loads((repo.path / "runs" / run / "result.json").read_text())


def lines_of(repo: ScratchRepo, run: str, name: str) -> list[Any]:
    text = (repo.path / "runs" / run / name).read_text()
    return [json.loads(line) for line in text.splitlines()]


def files_of(repo: ScratchRepo, run: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (repo.path / "runs" / run).iterdir()}


def test_a_run_is_judged_again_beside_itself(repo: ScratchRepo, server: ChatServer) -> None:
    old = measured(repo)
    before, asked = files_of(repo, old), len(server.chats)
    done = ok(touchstone(repo.path, "rejudge", old, "--judge-model", OTHER))
    (new,) = set(desk.run_ids(repo)) - {old}
    assert f"Today's judge on the stored answers ({new}):" in done.out
    assert "scripted-model · house: 85.0 % → 65.0 %  −20.0 points" in done.out
    assert "judged again: to be compared, never promoted" in done.out
    assert "never promoted" in (repo.path / "runs" / new / "report.md").read_text()
    assert {chat.body["model"] for chat in server.chats[asked:]} == {OTHER}
    assert files_of(repo, old) == before
    result, was = result_of(repo, new), result_of(repo, old)
    assert result["run"]["rejudged"] is True
    assert result["judge"]["model"] == OTHER
    assert result["cells"][0]["quality"]["pct"] == 65
    assert result["provenance"] == was["provenance"], "where and when the answers were given stays"
    assert result["cells"][0]["perf"] == was["cells"][0]["perf"]
    assert lines_of(repo, new, "responses.jsonl") == lines_of(repo, old, "responses.jsonl")
    manifest = json.loads((repo.path / "runs" / new / "manifest.json").read_text())
    assert manifest["rejudged_from"] == old


def test_latest_stays_the_run_that_was_asked(repo: ScratchRepo) -> None:
    old = measured(repo)
    again = the_new_run(repo, "rejudge", "latest", "--judge-model", OTHER, "-q")
    assert ok(touchstone(repo.path, "report", "latest", "--format", "json")).json()["run"]["id"] == old
    (third,) = ok(touchstone(repo.path, "rejudge", "latest", "--json", "-q")).json()
    kept = json.loads((repo.path / "runs" / third["run"]["id"] / "manifest.json").read_text())
    assert kept["rejudged_from"] == old
    twice = the_new_run(repo, "rejudge", again, "-q")
    kept = json.loads((repo.path / "runs" / twice / "manifest.json").read_text())
    assert kept["rejudged_from"] == old, "the origin is where the answers were given"


def test_a_baseline_shows_how_much_the_judge_itself_moved(repo: ScratchRepo) -> None:
    promoted(repo)
    measured(repo, "--judge-model", OTHER)
    first = touchstone(repo.path, "compare", "latest")
    assert first.code == ExitCode.NOT_COMPARABLE
    assert "judge.model: scripted-judge → stricter-judge" in first.out
    assert "See what the judge itself moved: touchstone rejudge " in first.out
    named = first.out.rsplit("touchstone rejudge ", 1)[1].strip()
    done = ok(touchstone(repo.path, "rejudge", named, "--judge-model", OTHER, "-q"))
    assert "scripted-model · house: 85.0 % → 65.0 %  −20.0 points" in done.out
    beside = touchstone(repo.path, "compare", "latest", "--json")
    assert beside.code == ExitCode.NOT_COMPARABLE, "the ruler is still another one"
    (moved,) = beside.json()["judge_moved"]
    assert (moved["old"], moved["new"], moved["safety"]) == (85, 65, [True, True])
    text = touchstone(repo.path, "compare", "latest").out
    assert f"Today's judge on the stored answers ({moved['run']}):" in text
    assert "See what the judge itself moved" not in text
    # Under one judge the two stand beside each other as runs do.
    assert "65.0 % → 65.0 %" in ok(touchstone(repo.path, "compare", moved["run"], "latest")).out


def test_another_judge_than_the_runs_has_nothing_to_show(repo: ScratchRepo) -> None:
    promoted(repo)
    ok(touchstone(repo.path, "rejudge", "care", "--judge-model", OTHER, "-q"))
    measured(repo)
    assert ok(touchstone(repo.path, "compare", "latest", "--json")).json()["judge_moved"] == []


def test_what_a_baseline_does_not_keep_stays_unknown(repo: ScratchRepo) -> None:
    promoted(repo)
    new = the_new_run(repo, "rejudge", "baselines/default/care.json", "-q")
    result = result_of(repo, new)
    typical = next(run for run in desk.run_ids(repo) if result_of(repo, run)["run"]["id"] != new)
    was = result_of(repo, typical)
    assert result["run"]["rejudged"] is True
    assert result["cells"][0]["perf"]["e2e_med"] is None
    assert result["cells"][0]["counts"] == was["cells"][0]["counts"]
    assert [row["repeats"][0]["answer_sha256"] for row in result["rows"]] == [
        row["repeats"][0]["answer_sha256"] for row in was["rows"]
    ]
    assert result["provenance"]["date"] == was["provenance"]["date"]
    assert result["hashes"] == was["hashes"]


def test_a_baseline_without_answers_says_so_before_anything_is_asked(
    repo: ScratchRepo, server: ChatServer
) -> None:
    promoted(repo, "--no-answers")
    asked, runs = len(server.chats), desk.run_ids(repo)
    done = touchstone(repo.path, "rejudge", "care", "--judge-model", OTHER)
    assert done.code == ExitCode.REFUSED
    assert "kept without its answers" in done.err
    assert (len(server.chats), desk.run_ids(repo)) == (asked, runs)


def test_checks_alone_leave_a_judge_nothing_to_say(repo: ScratchRepo) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    done = touchstone(repo.path, "rejudge", "latest")
    assert done.code == ExitCode.REFUSED
    assert "pack desk has no dimensions" in done.err


def test_without_a_judge_or_a_run_it_says_what_to_name(repo: ScratchRepo) -> None:
    measured(repo)
    unknown = touchstone(repo.path, "rejudge", "nothing-of-that-name")
    assert unknown.code == ExitCode.REFUSED
    assert "no such run" in unknown.err
    settings = repo.path / "touchstone.yaml"
    settings.write_text(settings.read_text().replace(f"judge: {{model: {desk.JUDGE}}}\n", ""))
    done = touchstone(repo.path, "rejudge", "latest")
    assert done.code == ExitCode.REFUSED
    assert "--judge-model" in done.err
    over = touchstone(repo.path, "rejudge", "latest", "--judge-model", OTHER, "--max-calls", "2")
    assert over.code == ExitCode.REFUSED
    assert "max_calls is 2" in over.err
    assert len(desk.run_ids(repo)) == 1


@pytest.mark.parametrize(
    "lifting", [("--allow-single",), ("--allow-single", "--reason", "x", "--no-answers")]
)
def test_a_rejudged_run_is_never_promoted(repo: ScratchRepo, lifting: tuple[str, ...]) -> None:
    measured(repo)
    again = the_new_run(repo, "rejudge", "latest", "-q")
    done = touchstone(repo.path, "promote", again, "--here", *lifting)
    assert done.code == ExitCode.REFUSED
    assert f"{again}: judged again" in done.err
    assert not (repo.path / "baselines").exists()
    forged = repo.path / "runs" / again
    for name, old, new in (
        ("result.json", '"rejudged": true', '"rejudged": false'),
        ("manifest.json", '"rejudged_from"', '"from_baseline_"'),
    ):
        text = (forged / name).read_text()
        assert old in text
        (forged / name).write_text(text.replace(old, new))
        done = touchstone(repo.path, "promote", again, "--here", *lifting)
        assert done.code == ExitCode.REFUSED, "neither file can hide it"
    assert not (repo.path / "baselines").exists()


def test_a_judge_that_fails_keeps_what_it_judged_and_can_go_on(
    repo: ScratchRepo, server: ChatServer, mind: desk.Mind
) -> None:
    old = measured(repo)
    mind.dies_after = mind.asked + 2  # the schema's self-test and one verdict
    done = touchstone(repo.path, "rejudge", old, "-q")
    assert done.code == ExitCode.NOT_JUDGED
    (new,) = set(desk.run_ids(repo)) - {old}
    assert len(lines_of(repo, new, "judgements.jsonl")) == 1
    mind.dies_after = None
    ok(touchstone(repo.path, "judge", "--bundle", new, "-q"))
    assert result_of(repo, new)["run"]["rejudged"] is True
    assert result_of(repo, new)["cells"][0]["quality"]["pct"] == 85


def test_a_copied_bundle_says_where_it_is(repo: ScratchRepo) -> None:
    path = repo.path / "runs" / measured(repo)
    new = the_new_run(repo, "rejudge", str(path), "-q")
    assert Path(repo.path / "runs" / new / "blocks.jsonl").exists(), "what the engine told comes along"
