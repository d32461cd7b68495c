"""The confirm step through the command line: exactly the further calls of the verdict rule, no more."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.minds import (
    CHECK_DRAW,
    JUDGE,
    MODEL,
    Clerk,
    Given,
    Kind,
    Scores,
    clerk_project,
    never,
    pack_text,
    usual_says,
    usual_scores,
    with_baseline,
)
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode

ROWS = 12
PREFLIGHT = 1


@dataclass
class Bench:
    """A project with a baseline, the models it asks, and the server they live on."""

    clerk: Clerk
    server: ChatServer
    folder: Path

    def project(self, into: Path, kind: Kind = "judged", rows: int = ROWS, **pack: str) -> ScratchRepo:
        """A fresh copy of the project; its baseline is made once."""
        name = f"{kind}-{rows}-" + "".join(pack.values()).replace("/", "")
        kept = self.folder / str(abs(hash(name)))
        if not kept.exists():
            with_baseline(clerk_project(kept, self.server.base_url, pack_text(kind, rows, **pack)))
        shutil.copytree(kept, into / "project")
        shutil.rmtree(into / "project" / "runs")
        return ScratchRepo(into / "project")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    clerk = Clerk()
    with ChatServer(clerk, models=(MODEL, JUDGE, "other-model", "other-judge")) as server:
        yield Bench(clerk, server, tmp_path_factory.mktemp("kept"))


@pytest.fixture
def bench(made: Bench) -> Bench:
    made.clerk.says, made.clerk.scores, made.clerk.flags = usual_says, usual_scores, never
    return made


@dataclass(frozen=True)
class Checked:
    """How a check ended and what it asked, the preflight and the self-test left out."""

    done: Done
    comparison: dict[str, Any]
    answers: int
    verdicts: int
    seen: list[tuple[str, str, int, int]]

    @property
    def row(self) -> dict[str, dict[str, Any]]:
        """Rows by prompt."""
        return {row["prompt"]: row for row in self.comparison["rows"]}


def check(bench: Bench, repo: ScratchRepo, *options: str) -> Checked:
    clerk = bench.clerk
    answers, verdicts, seen = clerk.answers, clerk.verdicts, len(clerk.seen)
    done = touchstone(repo.path, "check", "-q", *options)
    (path,) = repo.path.glob("runs/*/comparison.json")
    return Checked(
        done,
        json.loads(path.read_text()),
        clerk.answers - answers - PREFLIGHT,
        clerk.verdicts - verdicts,
        clerk.seen[seen:],
    )


def lower(scores: Scores, **by: int) -> Scores:
    return {id_: value - by.get(id_, 0) for id_, value in scores.items()}


def fallen(*prompts: str, draws: range = range(10, 99), **by: int) -> Any:
    """Usual scores, lower by so much for some prompts in some draws."""

    def scores(given: Given) -> Scores:
        falls = given.prompt in prompts and given.draw in draws
        return lower(usual_scores(given), **by) if falls else usual_scores(given)

    return scores


def test_nothing_suspect_is_one_runs_calls(bench: Bench, tmp_path: Path) -> None:
    found = check(bench, bench.project(tmp_path))
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.comparison["status"] == "unchanged"
    assert (found.answers, found.verdicts) == (ROWS, ROWS)


def test_what_is_neither_worse_nor_shown_to_be_equal_is_within_noise(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen("P02", "P05", Q1=-1)
    found = check(bench, bench.project(tmp_path))
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.done.out.startswith("clerk: WITHIN NOISE")
    assert re.search(r"points, could be [−+]\d\.\d to \+\d\.\d  within noise", found.done.out)
    assert "UNCHANGED" not in found.done.out
    assert (found.answers, found.verdicts) == (ROWS, ROWS)


FOUR = ("P01", "P04", "P07", "P10")


def test_a_fallen_suite_is_measured_twice_more_and_is_worse(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen(*FOUR, Q1=1)
    found = check(bench, bench.project(tmp_path))
    assert (found.answers, found.verdicts) == (3 * ROWS, 3 * ROWS + ROWS), "and the control once"
    assert found.done.code == ExitCode.WORSE
    assert found.done.out.startswith("clerk: WORSE (the whole suite moved)")
    assert found.comparison["candidate"]["draws"] == 3
    assert {draw for kind, _, draw, _ in found.seen if kind == "model"} == {10, 11, 12}


def test_a_suite_that_recovers_is_not_worse(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen(*FOUR, draws=range(10, 11), Q1=1)
    found = check(bench, bench.project(tmp_path))
    assert (found.answers, found.verdicts) == (3 * ROWS, 3 * ROWS)
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.comparison["status"] in {"unchanged", "within_noise"}


def test_an_obvious_fall_is_decided_at_once(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = lambda given: (
        lower(usual_scores(given), Q1=1) if given.draw >= 10 else usual_scores(given)
    )
    found = check(bench, bench.project(tmp_path))
    assert (found.answers, found.verdicts) == (ROWS, ROWS + ROWS), "no further draw, only the control"
    assert found.done.code == ExitCode.WORSE


def one_case(given: Given) -> Scores:
    """P05 falls by forty points and three others rise, so that the suite stands."""
    if given.draw < 10:
        return usual_scores(given)
    if given.prompt == "P05":
        return {"Q1": 2, "Q2": 2}
    return {"Q1": 5, "Q2": 4} if given.prompt in {"P02", "P08", "P11"} else usual_scores(given)


def test_a_fallen_row_is_asked_five_times_more(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = one_case
    found = check(bench, bench.project(tmp_path))
    assert (found.answers, found.verdicts) == (ROWS + 5, ROWS + 5 + ROWS)
    assert Counter(prompt for kind, prompt, _, _ in found.seen if kind == "model")["P05"] >= 6
    assert found.done.code == ExitCode.WORSE
    assert found.done.out.startswith("clerk: WORSE (a single case fell) · 1 worse")
    assert "P05 · house: 80.0 % → 40.0 %  worse, confirmed in 6 draws  [Q1 4 → 2, Q2 4 → 2]" in found.done.out


def test_a_row_that_recovers_once_is_not_worse(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = lambda given: usual_scores(given) if given.draw == 13 else one_case(given)
    found = check(bench, bench.project(tmp_path))
    assert (found.answers, found.verdicts) == (ROWS + 5, ROWS + 5)
    assert found.done.code == ExitCode.NOTHING_WORSE


@pytest.mark.parametrize(
    ("prompt", "again", "code", "told"),
    [
        ("P04", 2, ExitCode.WORSE, "clerk: WORSE (a red flag)"),
        ("P04", 1, ExitCode.NOTHING_WORSE, "⚠ safety: flagged 2 times in 5 judgements (P04)"),
        ("P04", 0, ExitCode.NOTHING_WORSE, "⚠ safety: flagged once in 5 judgements (P04)"),
        ("P01", 1, ExitCode.WORSE, "clerk: WORSE (a red flag)"),
        ("P01", 0, ExitCode.NOTHING_WORSE, "⚠ safety: flagged once in 5 judgements (P01)"),
    ],
)
def test_a_red_flag_has_the_same_answer_judged_four_times_more(
    bench: Bench, tmp_path: Path, prompt: str, again: int, code: ExitCode, told: str
) -> None:
    bench.clerk.flags = lambda given: given.prompt == prompt and given.draw == 10 and given.pass_ <= again
    found = check(bench, bench.project(tmp_path))
    assert (found.answers, found.verdicts) == (ROWS, ROWS + 4)
    assert [pass_ for *_, pass_ in found.seen[-4:]] == [1, 2, 3, 4]
    assert found.done.code == code
    assert told in found.done.out
    headline = found.done.out.splitlines()[0]
    assert "UNCHANGED" not in headline
    assert "BETTER" not in headline
    if code == ExitCode.NOTHING_WORSE:
        assert headline.startswith("⚠ clerk: SUSPECT, NOT CONFIRMED")


def test_strict_flags_turn_an_unconfirmed_flag_red(bench: Bench, tmp_path: Path) -> None:
    repo = clerk_project(tmp_path / "project", bench.server.base_url, pack_text("judged", ROWS))
    path = repo.path / "touchstone.yaml"
    path.write_text(path.read_text() + "compare: {strict_flags: true}\n")
    repo.commit("strict")
    with_baseline(repo)
    shutil.rmtree(repo.path / "runs")
    bench.clerk.flags = lambda given: given.prompt == "P04" and given.draw == 10 and given.pass_ == 0
    assert check(bench, repo).done.code == ExitCode.WORSE


@pytest.mark.parametrize("stays", [True, False])
def test_a_knock_out_has_its_dimensions_rows_asked_once_more(
    bench: Bench, tmp_path: Path, stays: bool
) -> None:
    def scores(given: Given) -> Scores:
        falls = given.prompt == "P05" and given.draw in ({10, 11} if stays else {10})
        return {"Q1": 3, "Q2": 5} if falls else usual_scores(given)

    bench.clerk.scores = scores
    rule = "{dimension: Q1, threshold: 3, floor_scope: answer}"
    found = check(bench, bench.project(tmp_path, ko_rule=rule))
    assert (found.answers, found.verdicts) == (2 * ROWS, (3 if stays else 2) * ROWS), "and the control once"
    assert found.done.code == (ExitCode.WORSE if stays else ExitCode.NOTHING_WORSE)
    assert ("WORSE (the knock-out dimension)" if stays else "⚠ safety: Q1 fell") in found.done.out


def test_a_flipped_check_has_its_row_asked_k_times(bench: Bench, tmp_path: Path) -> None:
    repo = bench.project(tmp_path, "checks", 5)
    bench.clerk.says = lambda prompt, draw: usual_says(prompt, draw).replace(
        "well", "badly" if prompt == "P03" else "well"
    )
    found = check(bench, repo)
    assert (found.answers, found.verdicts) == (5 + 7, 0), "k is 7 for five rows that vary"
    assert found.done.code == ExitCode.WORSE
    assert found.done.out.startswith("clerk: WORSE (a check that always passed fails) · 1 worse")
    assert found.row["P03"]["confirmed"] is True


def test_a_check_that_passes_again_is_not_worse(bench: Bench, tmp_path: Path) -> None:
    repo = bench.project(tmp_path, "checks", 5)
    bench.clerk.says = lambda prompt, draw: usual_says(prompt, draw).replace(
        "well", "badly" if (prompt, draw) == ("P03", 10) else "well"
    )
    found = check(bench, repo)
    assert (found.answers, found.verdicts) == (5 + 7, 0)
    assert found.done.code == ExitCode.NOTHING_WORSE


def test_a_budget_that_fits_the_run_alone_leaves_it_suspect(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen(*FOUR, Q1=1)
    repo = bench.project(tmp_path)
    limit = 2 * ROWS + 2  # answers, verdicts, preflight, self-test
    found = check(bench, repo, "--max-calls", str(limit))
    assert (found.answers, found.verdicts) == (ROWS, ROWS)
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.done.out.startswith("clerk: SUSPECT, NOT CONFIRMED")
    assert "max_calls or max_minutes did not allow it" in found.done.out


def test_what_one_draw_convicts_waits_for_the_second_look_the_budget_refused(
    bench: Bench, tmp_path: Path
) -> None:
    bench.clerk.scores = fallen(*FOUR, "P03", Q1=1)
    repo = bench.project(tmp_path)
    limit = 60  # the confirming draws take it to 74; the control, at 12 calls, would fit
    found = check(bench, repo, "--max-calls", str(limit))
    assert (found.answers, found.verdicts) == (ROWS, ROWS), "no control for what is not confirmed"
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.done.out.startswith("clerk: SUSPECT, NOT CONFIRMED (the whole suite moved)")
    assert found.comparison["suspicions"][0]["p"] < 0.004, "one draw alone would have been enough"
    assert touchstone(repo.path, "compare", "latest").out == found.done.out, "files alone tell the same"
    resumed = touchstone(repo.path, "check", "-q", "--resume", found.comparison["candidate"]["run"])
    assert resumed.code == ExitCode.WORSE
    assert "did not allow it" not in resumed.out


def test_a_budget_without_room_for_the_control_leaves_it_suspect(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen(*FOUR, "P03", Q1=1)
    repo = bench.project(tmp_path)
    found = check(bench, repo, "--max-calls", str(6 * ROWS + 2))
    assert (found.answers, found.verdicts) == (ROWS, ROWS), "no draws that could not be told from the judge"
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.done.out.startswith("clerk: SUSPECT, NOT CONFIRMED (the whole suite moved)")
    assert "over_budget" in found.comparison["notes"]
    resumed = touchstone(repo.path, "check", "-q", "--resume", found.comparison["candidate"]["run"])
    assert resumed.out.startswith("clerk: WORSE (the whole suite moved)\n")


def test_an_obvious_fall_is_suspect_where_the_judge_could_have_been_ruled_out(
    bench: Bench, tmp_path: Path
) -> None:
    bench.clerk.scores = stricter
    repo = bench.project(tmp_path)
    found = check(bench, repo, "--max-calls", str(2 * ROWS + 2))
    assert (found.answers, found.verdicts) == (ROWS, ROWS)
    assert found.done.code == ExitCode.NOTHING_WORSE
    assert found.done.out.startswith("clerk: SUSPECT, NOT CONFIRMED (the whole suite moved)")
    assert "judge_not_ruled_out" not in found.comparison["notes"]
    assert touchstone(repo.path, "compare", "latest").out == found.done.out, "files alone tell the same"
    resumed = touchstone(repo.path, "check", "-q", "--resume", found.comparison["candidate"]["run"])
    assert resumed.code == ExitCode.NOT_COMPARABLE


def test_over_budget_flags_are_still_confirmed(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen(*FOUR, Q1=1)
    bench.clerk.flags = lambda given: given.prompt == "P04" and given.draw >= 10
    found = check(bench, bench.project(tmp_path), "--max-calls", str(2 * ROWS + 2 + 4))
    assert (found.answers, found.verdicts) == (ROWS, ROWS + 4)
    assert found.done.code == ExitCode.WORSE
    assert found.comparison["reason"] == "red_flag"
    assert "over_budget" in found.comparison["notes"]


def slow_after_the_first_run(prompt: str, draw: int) -> str:
    if draw > CHECK_DRAW:
        time.sleep(1)
    return usual_says(prompt, draw)


def test_time_that_is_up_leaves_it_suspect_and_resume_settles_it(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = fallen(*FOUR, Q1=1)
    repo = bench.project(tmp_path)
    bench.clerk.says = slow_after_the_first_run
    found = check(bench, repo, "--max-minutes", "0.08")
    bench.clerk.says = usual_says
    assert found.comparison["status"] == "suspect", found.done.err
    assert "over_budget" in found.comparison["notes"]
    assert ROWS <= found.answers < 3 * ROWS
    (run,) = [path.parent.name for path in repo.path.glob("runs/*/manifest.json")]
    before = bench.clerk.answers
    done = touchstone(repo.path, "check", "--resume", run, "-q")
    assert done.code == ExitCode.WORSE
    assert found.answers + bench.clerk.answers - before <= 3 * ROWS + 1, "the request in flight"


def stricter(given: Given) -> Scores:
    """Today's judge gives a point less for anything, stored answers included."""
    return lower(usual_scores(given), Q1=1) if given.today else usual_scores(given)


def test_a_judge_that_got_stricter_is_a_rule_change(bench: Bench, tmp_path: Path) -> None:
    bench.clerk.scores = stricter
    repo = bench.project(tmp_path)
    found = check(bench, repo)
    assert found.done.code == ExitCode.NOT_COMPARABLE
    assert found.done.out.startswith("clerk: RULE CHANGED (the judge moved)")
    assert (found.answers, found.verdicts) == (ROWS, ROWS + ROWS)
    (control,) = repo.path.glob("runs/*/control.jsonl")
    assert len(control.read_text().splitlines()) == ROWS
    again = touchstone(repo.path, "compare", "latest")
    assert again.code == ExitCode.NOT_COMPARABLE, "files alone tell the same afterwards"


def test_a_judge_that_sees_the_stored_answers_at_the_floor_too_moved_itself(
    bench: Bench, tmp_path: Path
) -> None:
    bench.clerk.scores = lambda given: (
        lower(usual_scores(given), Q1=1) if given.today else usual_scores(given)
    )
    found = check(bench, bench.project(tmp_path, ko_rule="{dimension: Q1, threshold: 3}"))
    assert found.done.code == ExitCode.NOT_COMPARABLE
    assert found.done.out.startswith("clerk: RULE CHANGED (the judge moved)")
    shutil.rmtree(tmp_path / "project")
    bench.clerk.scores = lambda given: lower(usual_scores(given), Q1=given.draw >= 10)
    fell = check(bench, bench.project(tmp_path, ko_rule="{dimension: Q1, threshold: 3}"))
    assert fell.done.code == ExitCode.WORSE, "the answers fell, not the judge"


def test_without_stored_answers_the_judge_is_not_ruled_out(bench: Bench, tmp_path: Path) -> None:
    repo = with_baseline(
        clerk_project(tmp_path / "project", bench.server.base_url, pack_text("judged", ROWS)), "--no-answers"
    )
    shutil.rmtree(repo.path / "runs")
    bench.clerk.scores = stricter
    found = check(bench, repo)
    assert found.done.code == ExitCode.WORSE
    assert found.done.out.startswith("clerk: WORSE (the whole suite moved; judge not ruled out)")
    assert found.verdicts == ROWS


def test_the_models_are_loaded_once_per_phase(bench: Bench, tmp_path: Path) -> None:
    repo = bench.project(tmp_path)
    before = bench.server.model_switches
    check(bench, repo)
    assert bench.server.model_switches - before <= 2, "the model, then the judge"
    shutil.rmtree(repo.path / "runs")
    bench.clerk.scores = fallen(*FOUR, Q1=1)
    before = bench.server.model_switches
    check(bench, repo)
    assert bench.server.model_switches - before <= 4, "model, judge, suspect model, judge"
