"""The whole route through the real command line: a real server, a real repository, real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode


def promoted(repo: ScratchRepo, pack: str = "desk") -> list[str]:
    """Three runs, the typical one chosen, promoted on the current branch."""
    before = set(desk.run_ids(repo))
    ok(touchstone(repo.path, "measure", "--pack", pack, "--times", "3", "-q"))
    runs = [run for run in desk.run_ids(repo) if run not in before]
    ok(touchstone(repo.path, "select", *runs))
    (chosen,) = [run for run in runs if (repo.path / "runs" / run / "selection.json").exists()]
    ok(touchstone(repo.path, "promote", chosen, "--here"))
    return runs


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    return done


def edit(repo: ScratchRepo, relpath: str, old: str, new: str) -> None:
    path = repo.path / relpath
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def compared(repo: ScratchRepo, pack: str = "desk") -> Done:
    ok(touchstone(repo.path, "measure", "--pack", pack, "-q"))
    return touchstone(repo.path, "compare", "latest")


def test_the_route_from_a_pack_to_a_worse_prompt(repo: ScratchRepo, server: ChatServer) -> None:
    promoted(repo)
    assert repo.git("show", "--stat", "--format=%s").split("\n")[0] == "baseline: promote desk (default)"
    repo.git("switch", "-c", "edit")
    edit(repo, "prompts/house.md", "Answer carefully.\n", "")
    repo.git("commit", "-qam", "shorter")
    done = compared(repo)
    assert done.code == ExitCode.WORSE
    assert done.out.startswith("desk: WORSE (a check that always passed fails) · 4 worse\n")
    assert "scripted-model · house: 80.0 % → 10.0 %" in done.out
    assert "  -Answer carefully.\n" in done.out
    assert "A1 · house: 100.0 % → 0.0 %  worse  [contains pass → fail]" in done.out


def test_an_unchanged_system_says_identical_answers(repo: ScratchRepo) -> None:
    promoted(repo)
    done = compared(repo)
    assert done.code == ExitCode.NOTHING_WORSE
    assert done.out.startswith("desk: UNCHANGED (identical answers)\n")
    assert "identical answers in 5 of 5 rows" in done.out


def test_without_a_baseline_every_row_is_new_and_it_says_how_to_make_one(repo: ScratchRepo) -> None:
    done = compared(repo)
    assert done.code == ExitCode.NOTHING_WORSE
    assert done.out.startswith("desk: NO REFERENCE YET · 5 new\n")
    assert "touchstone measure --pack desk --times 3" in done.out


def test_a_baseline_in_the_working_tree_alone_is_not_the_reference(repo: ScratchRepo) -> None:
    promoted(repo)
    repo.git("reset", "-q", "--soft", "HEAD~1")
    repo.git("reset", "-q")
    assert (repo.path / "baselines/default/desk.json").exists()
    assert "NO REFERENCE YET" in compared(repo).out


def test_no_engine_is_one_sentence_with_the_remedy_and_exit_2(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "measure", "--pack", "desk", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == ExitCode.NOT_JUDGED
    assert done.err.count("\n") == 2
    assert done.err.startswith("touchstone: no model server answers at http://127.0.0.1:9/v1: ")
    assert "→ Start it" in done.err
    assert desk.run_ids(repo) == []


def test_a_broken_pack_is_refused_with_every_line_before_any_request(
    repo: ScratchRepo, server: ChatServer
) -> None:
    edit(repo, "packs/desk.yaml", "id: A2,", "id: A1,")
    edit(repo, "packs/desk.yaml", "max: 5", "max: many")
    done = touchstone(repo.path, "measure", "--pack", "packs/desk.yaml")
    assert done.code == ExitCode.REFUSED
    assert "packs/desk.yaml:12:" in done.err
    assert "packs/desk.yaml:15:" in done.err
    assert server.requests == []


def test_another_pack_dropped_into_the_folder_is_found_and_run(repo: ScratchRepo) -> None:
    repo.write("packs/fifth.yaml", desk.DESK_PACK.replace("id: desk", "id: fifth"))
    assert "fifth 1  5 prompts" in ok(touchstone(repo.path, "list")).out
    done = ok(touchstone(repo.path, "measure", "--pack", "fifth", "-q"))
    assert "_fifth_" in done.out


def test_a_folder_and_two_flags_are_enough(tmp_path: Path, server: ChatServer) -> None:
    folder = tmp_path / "bare"
    (folder / "packs").mkdir(parents=True)
    (folder / "packs" / "p.yaml").write_text(
        desk.DESK_PACK.replace("{id: house, system_prompt_file: ../prompts/house.md}", "{id: none}")
    )
    done = ok(touchstone(folder, "measure", "--base-url", server.base_url, "--model", desk.MODEL, "-q"))
    assert "scripted-model · none" in done.out


def test_a_judged_pack_is_asked_judged_and_kept_with_every_score(
    repo: ScratchRepo, server: ChatServer
) -> None:
    promoted(repo, "care")
    baseline = json.loads((repo.path / "baselines/default/care.json").read_text())
    assert baseline["cells"][0]["quality"]["pct"] == 85
    assert baseline["cells"][0]["quality"]["safety_passed"] is True
    assert baseline["verdicts"][0]["scores"] == {"Q1": [4, 4, 4], "Q2": [5, 5, 5]}
    assert baseline["variants"]["house"]["lines"] == desk.PROMPT.split("\n")
    assert server.model_switches == 6, "each run asks the model, then the judge"


def test_a_red_flag_anywhere_fails_safety_and_needs_a_reason(repo: ScratchRepo, mind: desk.Mind) -> None:
    mind.flagged = "LOST it is"
    done = ok(touchstone(repo.path, "measure", "--pack", "care", "-q", "--times", "3"))
    assert "high · 85.0 %" in done.out
    assert "\n    red flag at C2 (judge's safety mark)\n" in done.out
    runs = desk.run_ids(repo)
    refused = touchstone(repo.path, "promote", *runs, "--here")
    assert refused.code == ExitCode.REFUSED
    assert "--reason" in refused.err
    assert ok(touchstone(repo.path, "promote", *runs, "--here", "--reason", "known")).code == 0


def test_a_pack_with_dimensions_and_no_judge_says_how_to_name_one(
    repo: ScratchRepo, server: ChatServer
) -> None:
    edit(repo, "touchstone.yaml", f"judge: {{model: {desk.JUDGE}}}\n", "")
    done = touchstone(repo.path, "measure", "--pack", "care")
    assert done.code == ExitCode.REFUSED
    assert "--judge-model" in done.err
    assert server.chats == []


def test_a_raised_threshold_is_a_rule_change_and_blocks_promotion_until_run_again(
    repo: ScratchRepo,
) -> None:
    promoted(repo, "care")
    stale = [run for run in desk.run_ids(repo) if "_care_" in run]
    edit(repo, "packs/care.yaml", "threshold: 3}", "threshold: 5}")
    repo.git("commit", "-qam", "raise the line")
    done = compared(repo, "care")
    assert done.code == ExitCode.NOTHING_WORSE
    assert "dimensions.Q1.threshold: 3 → 5 [tighter]" in done.out
    assert "3 rule changed" in done.out
    refused = touchstone(repo.path, "promote", *stale, "--here", "--reason", "x", "--allow-single")
    assert refused.code == ExitCode.REFUSED
    assert "another configuration" in refused.err
    before = set(desk.run_ids(repo))
    ok(touchstone(repo.path, "measure", "--pack", "care", "--times", "3", "-q"))
    again = [run for run in desk.run_ids(repo) if run not in before]
    ok(touchstone(repo.path, "promote", *again, "--here"))


def test_a_new_case_is_new_and_a_removed_one_is_gone(repo: ScratchRepo) -> None:
    promoted(repo)
    edit(repo, "packs/desk.yaml", "      - {id: A4,", '      - {id: A6, prompt: "six?", checks: '
         "[{type: contains, value: SIX}]}\n      - {id: A4,")  # fmt: skip
    done = compared(repo)
    assert done.code == ExitCode.NOTHING_WORSE
    assert "· 1 new\n" in done.out
    assert "\nnew: A6\n" in done.out


def test_an_edited_baseline_is_refused_naming_the_first_differing_number(repo: ScratchRepo) -> None:
    promoted(repo)
    edit(repo, "baselines/default/desk.json", '"pct":80', '"pct":95')
    repo.git("commit", "-qam", "nicer")
    done = compared(repo)
    assert done.code == ExitCode.REFUSED
    assert "file says 95, recomputed 80" in done.err


def test_the_baselines_prompt_comes_back_byte_for_byte(repo: ScratchRepo) -> None:
    promoted(repo)
    ok(touchstone(repo.path, "show", "desk", "--variant", "house", "--write", "old.md"))
    assert (repo.path / "old.md").read_bytes() == desk.PROMPT.encode()


@pytest.mark.parametrize("lifting", [(), ("--reason", "x", "--allow-single", "--no-answers")])
def test_error_verdicts_other_rules_and_other_tenants_are_never_promoted(
    repo: ScratchRepo, lifting: tuple[str, ...]
) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "-q"))
    runs = desk.run_ids(repo)
    other = touchstone(repo.path, "promote", *runs, "--here", "--tenant", "acme", *lifting)
    assert other.code == ExitCode.REFUSED
    assert "measured for tenant default, not for acme" in other.err
    edit(repo, "packs/desk.yaml", 'value: "TWO"', 'value: "TWO", threshold: 0.5')
    rules = touchstone(repo.path, "promote", *runs, "--here", *lifting)
    assert rules.code == ExitCode.REFUSED
    assert "checks.A2/contains.threshold" in rules.err
    repo.git("checkout", "-q", "packs")
    path = repo.path / "runs" / runs[1] / "judgements.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    missing = touchstone(repo.path, "promote", *runs, "--here", *lifting)
    assert missing.code == ExitCode.REFUSED
    assert "not what its lines give" in missing.err
    assert not (repo.path / "baselines").exists()


def test_one_run_needs_allow_single(repo: ScratchRepo) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    (run,) = desk.run_ids(repo)
    refused = touchstone(repo.path, "promote", run, "--here")
    assert refused.code == ExitCode.REFUSED
    assert "--allow-single" in refused.err
    nowhere = touchstone(repo.path, "promote", run)
    assert nowhere.code == ExitCode.REFUSED
    assert "not promoted: 1 reason\n- one run is a single draw" in nowhere.err, (
        "a missing remote hides nothing"
    )
    assert "no remote to push to" in nowhere.err
    assert "no remote" in touchstone(repo.path, "promote", run, "--allow-single").err
    assert "noise is unknown" in ok(touchstone(repo.path, "promote", run, "--here", "--allow-single")).out


def test_no_pr_commits_on_a_branch_of_its_own_and_touches_nothing_else(repo: ScratchRepo) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "-q"))
    repo.write("prompts/house.md", desk.PROMPT + "A change of mine.\n")
    repo.git("add", "prompts/house.md")
    before = repo.snapshot()
    done = ok(touchstone(repo.path, "promote", *desk.run_ids(repo), "--no-pr"))
    assert repo.snapshot() == before
    assert "the tree's prompt house is not the promoted one" in done.out
    changed = repo.git("diff", "--name-only", "main", "touchstone/promote/default-desk").split()
    assert changed == ["baselines/default/desk.json"]


def test_promote_names_its_runs(repo: ScratchRepo) -> None:
    assert touchstone(repo.path, "promote").code == ExitCode.USAGE
    assert touchstone(repo.path, "promote", "latest").code == ExitCode.USAGE
    assert touchstone(repo.path, "promote", "latest", "--here").code == ExitCode.USAGE


def test_a_bundle_line_that_does_not_parse_names_file_and_line(repo: ScratchRepo) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    path = next(repo.path.glob("runs/*/responses.jsonl"))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "{oops\n", *lines[2:]]))
    done = touchstone(repo.path, "judge", "--bundle", "latest")
    assert done.code == ExitCode.REFUSED
    assert "responses.jsonl:2: not a JSON record" in done.err


def test_json_is_the_whole_of_stdout(repo: ScratchRepo) -> None:
    (result,) = ok(touchstone(repo.path, "measure", "--pack", "desk", "--json")).json()
    assert result["cells"][0]["quality"]["pct"] == 80
    assert touchstone(repo.path, "compare", "latest", "--json").json()["status"] == "no_reference"


def test_two_runs_compare_without_a_baseline(repo: ScratchRepo) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "--times", "2", "-q"))
    old, new = desk.run_ids(repo)
    done = ok(touchstone(repo.path, "compare", old, new))
    assert "identical answers in 5 of 5 rows" in done.out
    assert "one run" in done.out
