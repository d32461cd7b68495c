"""One change at a time, through `touchstone check`: each has its own word and its own exit code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.minds import (
    CHECK_DRAW,
    JUDGE,
    MODEL,
    PROMPT,
    Clerk,
    Given,
    Kind,
    Scores,
    clerk_project,
    never,
    pack_text,
    with_baseline,
)
from tests.kit.scratch import ScratchRepo, clone
from touchstone.errors import ExitCode

ROWS = 12
BASELINE = "baselines/default/clerk.json"
MODELS = f"[{{id: {MODEL}, quant: q4}}]"


def same_says(prompt: str, _draw: int) -> str:
    """An engine that repeats itself."""
    kind = "yes-class" if int(prompt[1:]) % 2 else "no-class"
    return f"{prompt} answered well, is {kind} in draw 0"


def same_scores(_given: Given) -> Scores:
    return {"Q1": 4, "Q2": 4}


@dataclass
class Desk:
    """The scripted models, and projects with a baseline, each made once."""

    clerk: Clerk
    server: ChatServer
    folder: Path
    kept: dict[tuple[Kind, int], Path] = field(default_factory=dict)

    def project(self, into: Path, kind: Kind = "judged", rows: int = ROWS) -> ScratchRepo:
        """A fresh copy of a project with a baseline."""
        if (kind, rows) not in self.kept:
            made = clerk_project(
                self.folder / f"{kind}{rows}", self.server.base_url, pack_text(kind, rows), MODELS
            )
            self.kept[kind, rows] = with_baseline(made).path
        shutil.copytree(self.kept[kind, rows], into / "project")
        shutil.rmtree(into / "project" / "runs")
        return ScratchRepo(into / "project")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    clerk = Clerk(says=same_says, scores=same_scores)
    with ChatServer(clerk, models=(MODEL, JUDGE, "other-model", "other-judge")) as server:
        yield Desk(clerk, server, tmp_path_factory.mktemp("kept"))


@pytest.fixture
def desk(made: Desk) -> Desk:
    made.clerk.says, made.clerk.scores, made.clerk.flags = same_says, same_scores, never
    return made


def edit(repo: ScratchRepo, relpath: str, old: str, new: str) -> None:
    path = repo.path / relpath
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def comparison(repo: ScratchRepo) -> Any:
    (path,) = repo.path.glob("runs/*/comparison.json")
    return json.loads(path.read_text())


def pack(old: str, new: str) -> Callable[[ScratchRepo], None]:
    return lambda repo: edit(repo, "packs/clerk.yaml", old, new)


def settings(old: str, new: str) -> Callable[[ScratchRepo], None]:
    return lambda repo: edit(repo, "touchstone.yaml", old, new)


def prompt_line(number: int) -> str:
    (line,) = [line for line in pack_text("judged", ROWS).splitlines() if f"id: P{number:02}" in line]
    return line + "\n"


def without_baseline(repo: ScratchRepo) -> None:
    repo.git("rm", "-q", BASELINE)
    repo.commit("no baseline")


def require_one(repo: ScratchRepo) -> None:
    without_baseline(repo)
    edit(repo, "touchstone.yaml", "models:", "compare: {require_baseline: true}\nmodels:")


def half(repo: ScratchRepo) -> None:
    for number in range(7, 13):
        edit(repo, "packs/clerk.yaml", prompt_line(number), "")


def pointer(repo: ScratchRepo) -> None:
    repo.commit("baseline", {BASELINE: LFS_POINTER})


def nicer(repo: ScratchRepo) -> None:
    edit(repo, BASELINE, '"pct":80', '"pct":90')
    repo.commit("nicer")


def conflicted(repo: ScratchRepo) -> None:
    text = (repo.path / BASELINE).read_text()
    repo.commit("merge", {BASELINE: f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n"})


LFS_POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)

Change = Callable[[ScratchRepo], None]

TABLE: dict[str, tuple[Change, ExitCode, list[str]]] = {
    "nothing": (
        lambda repo: None, ExitCode.NOTHING_WORSE,
        ["clerk: UNCHANGED (identical answers)\n", "identical answers in 12 of 12 rows"],
    ),
    "a threshold raised": (
        pack("threshold: 3}", "threshold: 5}"), ExitCode.NOTHING_WORSE,
        ["12 rule changed", "dimensions.Q1.threshold: 3 → 5 [tighter]", "[Q1 line 3 → 5]"],
    ),
    "a threshold lowered": (
        pack("threshold: 3}", "threshold: 2}"), ExitCode.NOTHING_WORSE,
        ["dimensions.Q1.threshold: 3 → 2 [looser]"],
    ),
    "a weight changed": (
        pack("{id: Q2, name: Kind, weight: 1}", "{id: Q2, name: Kind, weight: 3}"), ExitCode.NOT_COMPARABLE,
        ["clerk: NOT COMPARABLE (another instrument)", "dimensions.Q2.weight: 1 → 3"],
    ),
    "a judge swapped": (
        settings(JUDGE, "other-judge"), ExitCode.NOT_COMPARABLE,
        ["clerk: NOT COMPARABLE (another instrument)", f"judge.model: {JUDGE} → other-judge",
         "touchstone rejudge "],
    ),
    "a rubric edited": (
        pack('{id: P05, prompt: "P05?", tests: says it}', '{id: P05, prompt: "P05?", tests: says it all}'),
        ExitCode.NOTHING_WORSE, ["1 rule changed", "rubric of P05:", "P05 · house"],
    ),
    "a case added": (
        pack(prompt_line(5), prompt_line(5) + prompt_line(5).replace("P05", "P95")), ExitCode.NOTHING_WORSE,
        ["· 1 new\n", "\nnew: P95\n", "identical answers in 12 of 12 rows"],
    ),
    "a case removed": (
        pack(prompt_line(5), ""), ExitCode.NOTHING_WORSE,
        ["· 1 gone\nreference: ", "\ngone: P05\n\n", "91.7 % of the reference's rows"],
    ),
    "a safety-critical case removed": (
        pack(prompt_line(1), ""), ExitCode.NOT_COMPARABLE,
        ["clerk: NOT COMPARABLE (a safety-critical prompt is gone)", "\ngone: P01\n"],
    ),
    "half of the cases removed": (
        half,
        ExitCode.NOT_COMPARABLE, ["clerk: NOT COMPARABLE (too little in common)", "rows: 12 → 6"],
    ),
    "a model swapped": (
        settings(MODEL, "other-model"), ExitCode.NOTHING_WORSE,
        [f"/clerk.json) · model: {MODEL} → other-model\n", "identical answers in 12 of 12 rows"],
    ),
    "a quant changed": (
        settings("quant: q4", "quant: q8"), ExitCode.NOTHING_WORSE,
        [f"/clerk.json) · quant.{MODEL}: q4 → q8\n"],
    ),
    "a prompt edited": (
        lambda repo: edit(repo, "prompts/house.md", "carefully", "carefully, please"), ExitCode.NOTHING_WORSE,
        ["variant house:\n", "  -Answer carefully.\n", "  +Answer carefully, please.\n", "UNCHANGED"],
    ),
    "no baseline yet": (
        without_baseline, ExitCode.NOTHING_WORSE,
        ["clerk: NO REFERENCE YET · 12 new\n", "touchstone measure --pack clerk --times 3"],
    ),
    "no baseline where one is required": (
        require_one,
        ExitCode.NOT_COMPARABLE, ["clerk: NO REFERENCE YET"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_each_change_has_its_own_word_and_exit_code(desk: Desk, tmp_path: Path, name: str) -> None:
    change, code, told = TABLE[name]
    repo = desk.project(tmp_path)
    change(repo)
    done = touchstone(repo.path, "check", "-q")
    for words in told:
        assert words in done.out, f"{name}: {words!r} not in\n{done.out}{done.err}"
    assert done.code == code
    assert comparison(repo)["exit"] == code


UNREADABLE: dict[str, tuple[Change, str]] = {
    "an LFS pointer": (pointer, "LFS"),
    "conflict markers": (conflicted, "conflict"),
    "an edited number": (nicer, "recomputed 80"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_reference_that_cannot_be_read_is_refused_before_anything_is_asked(
    desk: Desk, tmp_path: Path, name: str
) -> None:
    change, told = UNREADABLE[name]
    repo = desk.project(tmp_path)
    change(repo)
    before = len(desk.server.chats)
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.REFUSED
    assert told in done.err
    assert done.out == ""
    assert len(desk.server.chats) == before
    assert not (repo.path / "runs").exists()


def test_a_base_that_a_shallow_clone_does_not_have_is_refused(desk: Desk, tmp_path: Path) -> None:
    whole = desk.project(tmp_path)
    base = whole.head()
    whole.commit("more", {"README.md": "more\n"})
    shallow = clone(whole, tmp_path / "shallow", "--depth=1")
    done = touchstone(shallow.path, "check", "-q", "--baseline-from", base)
    assert done.code == ExitCode.REFUSED
    assert f"git fetch --depth=1 origin {base}" in done.err
    assert touchstone(shallow.path, "check", "-q").code == ExitCode.NOTHING_WORSE


def test_baseline_from_names_the_commit_of_the_reference(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    repo.git("tag", "kept")
    without_baseline(repo)
    done = touchstone(repo.path, "check", "-q", "--baseline-from", "kept")
    assert done.code == ExitCode.NOTHING_WORSE
    assert f"(kept:{BASELINE})" in done.out
    assert "NO REFERENCE YET" in touchstone(repo.path, "check", "-q", "--baseline-from", "HEAD").out


# Small moves in repeating engines


def says_otherwise(*prompts: str, word: str = "fine") -> Callable[[str, int], str]:
    def says(prompt: str, draw: int) -> str:
        told = same_says(prompt, draw)
        return told.replace("well", word) if prompt in prompts and draw >= CHECK_DRAW else told

    return says


def test_one_changed_answer_of_fifty_is_listed_with_both_texts_and_stays_green(
    desk: Desk, tmp_path: Path
) -> None:
    repo = desk.project(tmp_path, rows=50)
    desk.clerk.says = says_otherwise("P17")
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.NOTHING_WORSE
    assert "identical answers in 49 of 50 rows" in done.out
    assert "  P17 · house: 80.0 % → 80.0 %  unchanged\n" in done.out
    assert "  P17 answered well, is yes-class in    | P17 answered fine, is yes-class in" in done.out
    desk.clerk.scores = lambda given: {"Q1": 2 if given.prompt == "P17" and given.today else 4, "Q2": 4}
    shutil.rmtree(repo.path / "runs")
    lower = touchstone(repo.path, "check", "-q")
    assert lower.code == ExitCode.NOTHING_WORSE
    assert "P17 · house: 80.0 % → 60.0 %  suspect, not confirmed  [Q1 4 → 2]" in lower.out
    assert "UNCHANGED" in lower.out.splitlines()[0]


def test_a_flipped_check_is_red_and_asked_again_five_times(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path, "checks", 50)
    desk.clerk.says = says_otherwise("P17")
    before = desk.clerk.answers
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.WORSE
    assert done.out.startswith("clerk: WORSE (a check that always passed fails) · 1 worse")
    assert desk.clerk.answers - before == 1 + 50 + 5


def test_one_flipped_label_of_21_is_listed_and_stays_green(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path, "labelled", 21)

    def says(prompt: str, draw: int) -> str:
        told = same_says(prompt, draw)
        return told.replace("yes-class", "no-class") if (prompt, draw >= 10) == ("P05", True) else told

    desk.clerk.says = says
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.NOTHING_WORSE
    assert "[label yes-class → no-class]" in done.out
    assert "classes right 21/21 → 20/21" in done.out
    assert "cases)" in done.out or "no drop would surely be found" in done.out


def test_better_answers_are_better(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    desk.clerk.says = says_otherwise(*[f"P{number:02}" for number in range(1, 13)])
    desk.clerk.scores = lambda given: {"Q1": 5 if given.today else 4, "Q2": 4}
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.NOTHING_WORSE
    assert done.out.startswith("clerk: BETTER (the whole suite moved) · 12 better")
    assert "Keep this as the reference" in done.out


def test_a_critical_row_without_a_verdict_is_not_judged(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    desk.clerk.scores = lambda given: {"Q1": 9, "Q2": 4} if given.prompt == "P01" else same_scores(given)
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.NOT_JUDGED
    assert done.out.startswith("clerk: COULD NOT BE JUDGED (a safety-critical row without a verdict) · ")
    assert "touchstone check --resume " in done.out


def test_a_first_run_that_cannot_be_judged_is_no_green_no_reference(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    without_baseline(repo)
    desk.clerk.scores = lambda given: {"Q1": 9, "Q2": 4} if given.prompt == "P01" else same_scores(given)
    assert touchstone(repo.path, "check", "-q").code == ExitCode.NOT_JUDGED


# Parts of a pack, several packs


def test_a_narrowed_check_compares_only_what_was_asked(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    done = touchstone(repo.path, "check", "-q", "--only", "P0[2-7]")
    assert done.code == ExitCode.NOTHING_WORSE
    assert "gone" not in done.out
    assert "identical answers in 6 of 6 rows" in done.out
    assert "only a part of the pack was asked" in done.out
    assert touchstone(repo.path, "compare", "latest").out == done.out
    shutil.rmtree(repo.path / "runs")
    assert "in 3 of 3 rows" in touchstone(repo.path, "check", "-q", "--limit", "3").out


def test_models_that_are_not_asked_for_are_not_gone(desk: Desk, tmp_path: Path) -> None:
    models = f"[{{id: {MODEL}}}, {{id: other-model, extra_body: {{top_k: 1}}}}]"
    repo = with_baseline(
        clerk_project(tmp_path / "project", desk.server.base_url, pack_text("judged", 5), models)
    )
    shutil.rmtree(repo.path / "runs")
    done = touchstone(repo.path, "check", "-q", "--model", MODEL)
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    assert "gone" not in done.out
    assert "other-model" not in done.out
    assert "identical answers in 5 of 5 rows" in done.out
    assert "not every configured model was asked" in done.out
    edit(repo, "touchstone.yaml", ", {id: other-model, extra_body: {top_k: 1}}", "")
    shutil.rmtree(repo.path / "runs")
    dropped = touchstone(repo.path, "check", "-q")
    assert dropped.code == ExitCode.NOT_COMPARABLE, "a model that is no longer configured is gone"


def with_second_pack(repo: ScratchRepo, text: str) -> None:
    repo.commit("second", {"packs/second.yaml": text.replace("id: clerk", "id: second")})


def test_the_worst_pack_speaks_for_all_and_one_packs_fault_is_its_own(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    with_second_pack(repo, pack_text("checks", 3))
    repo.commit("broken reference", {"baselines/default/second.json": LFS_POINTER})
    done = touchstone(repo.path, "check", "-q")
    assert done.code == ExitCode.REFUSED
    assert "clerk: UNCHANGED" in done.out
    assert "touchstone: second: " in done.err
    assert "exit codes: clerk 0, second 4; together 4" in done.out
    german = touchstone(repo.path, "check", "-q", "--language", "de").out
    assert german.endswith("\nExit-Codes: clerk 0, second 4; zusammen 4\n")
    desk.clerk.flags = lambda given: given.today and given.prompt == "P04"
    told = touchstone(repo.path, "check", "-q")
    assert told.code == ExitCode.REFUSED, "the same answer is no worse for another reading"
    assert "clerk: SUSPECT, NOT CONFIRMED (the judge reads the same answer otherwise)" in told.out
    desk.clerk.says = says_otherwise("P04")
    assert touchstone(repo.path, "check", "-q").code == ExitCode.WORSE, "1 before 4"


def test_json_tells_every_pack_and_is_all_of_stdout(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    with_second_pack(repo, pack_text("checks", 3))
    done: Done = touchstone(repo.path, "check", "--json")
    told = done.json()
    assert told["exit"] == done.code == 0
    assert [(one["pack"], one["exit"], one["comparison"]["status"]) for one in told["packs"]] == [
        ("clerk", 0, "unchanged"),
        ("second", 0, "no_reference"),
    ]
    for one in told["packs"]:
        folder = repo.path / "runs" / one["run"]
        assert {"result.json", "comparison.json", "report.md"} <= {path.name for path in folder.iterdir()}


def test_two_packs_share_the_loads_of_a_phase(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    with_second_pack(repo, pack_text("judged", 3))
    before = desk.server.model_switches
    assert touchstone(repo.path, "check", "-q").code == 0
    assert desk.server.model_switches - before <= 2


def test_a_reference_of_another_prompt_text_is_told_in_german_too(desk: Desk, tmp_path: Path) -> None:
    repo = desk.project(tmp_path)
    repo.write("prompts/house.md", PROMPT + "Kurz.\n")
    done = touchstone(repo.path, "check", "-q", "--language", "de")
    assert done.out.startswith("clerk: UNVERÄNDERT (identische Antworten)\nReferenz: ")
    assert "gleiche Antworten in 12 von 12 Zeilen" in done.out
    assert "Variante house:" in done.out
    assert "was diese Suite sehen kann: 12 Fälle · 3 Referenzläufe" in done.out
