"""A pull request that carries a promotion: verified, shown first, and green only for what it explains."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import touchstone
from tests.kit.fake_github import FakeGitHub
from tests.kit.runner import NUMBER, Event, Files, Home, Pull, Runner
from tests.kit.scratch import ScratchRepo, clone
from touchstone.baseline import store
from touchstone.errors import ExitCode
from touchstone.files import read_json
from touchstone.gate.runs import load_run, write_result
from touchstone.run.bundle import Bundle

PROMPT_FILE = "prompts/house.md"


def run(home: Home, runner: Runner, pull: Pull, *options: str) -> tuple[int, str, str]:
    """(job's exit code, verdict, headline)."""
    done = runner.run(home.checkout(pull.merge), pull.event(), *options)
    return done.code, done.outputs["verdict"], done.outputs["headline"]


def first_lines(github: FakeGitHub) -> str:
    (body,) = github.bodies(NUMBER)
    return "\n".join(body.replace("\\", "").replace("\u200b", "").splitlines()[:12])


def asked_of(server: ChatServer) -> int:
    return len(server.requests)


def test_a_change_of_baselines_alone_is_verified_and_nothing_is_asked(
    home: Home, runner: Runner, github: FakeGitHub, promotions: dict[str, Files], desk_server: ChatServer
) -> None:
    before = asked_of(desk_server)
    pull = home.pull_request(promotions["same"])
    code, verdict, headline = run(home, runner, pull)
    assert (code, verdict) == (ExitCode.NOTHING_WORSE, "promotion")
    assert headline.startswith("desk: PROMOTION")
    assert asked_of(desk_server) == before
    told = first_lines(github)
    assert "Only baselines changed: they were verified, nothing was measured." in told
    assert "This change brings a baseline for desk: 3 runs" in told
    assert "Its reason: measured anew" in told
    assert "80.0 % → 80.0 %" in github.bodies(NUMBER)[0]


def test_so_it_is_after_the_merge_and_in_the_queue(
    home: Home, runner: Runner, promotions: dict[str, Files], desk_server: ChatServer
) -> None:
    before = asked_of(desk_server)
    pull = home.pull_request(promotions["same"])
    checkout = home.checkout(pull.merge)
    for event in (
        Event("push", {"before": pull.base, "after": pull.merge}),
        Event("merge_group", {"merge_group": {"head_sha": pull.merge, "base_sha": pull.base}}),
    ):
        assert runner.run(checkout, event).outputs["verdict"] == "promotion"
    assert asked_of(desk_server) == before


def test_a_promotion_with_its_prompt_is_green_where_nothing_is_worse(
    home: Home, runner: Runner, github: FakeGitHub, promotions: dict[str, Files]
) -> None:
    pull = home.pull_request({**promotions["other"], PROMPT_FILE: desk.OTHER_PROMPT})
    code, verdict, _ = run(home, runner, pull)
    assert (code, verdict) == (ExitCode.NOTHING_WORSE, "promotion")
    assert "Against the baseline in this pull request: desk: UNCHANGED" in github.bodies(NUMBER)[0]


def test_a_worse_promotion_is_green_with_its_reason_in_the_first_line(
    home: Home, runner: Runner, github: FakeGitHub, promotions: dict[str, Files]
) -> None:
    pull = home.pull_request({**promotions["worse"], PROMPT_FILE: desk.WORSE_PROMPT})
    done = runner.run(*checked(home, pull))
    headline = f"desk: PROMOTION: 4 worse, accepted: {desk.REASON}"
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "promotion")
    assert done.outputs["headline"] == headline
    (body,) = github.bodies(NUMBER)
    assert f"## 🔵 {headline}" in body.splitlines()[2]
    assert "80.0 % → 10.0 %" in body
    assert "Against the baseline in this pull request: desk: UNCHANGED" in body
    assert {line.split()[0] for line in done.annotations} == {"::notice"}


def test_without_a_reason_it_stays_red_and_says_what_is_missing(
    home: Home, runner: Runner, github: FakeGitHub, promotions: dict[str, Files]
) -> None:
    files = {**unexplained(promotions["worse"]), PROMPT_FILE: desk.WORSE_PROMPT}
    code, verdict, _ = run(home, runner, home.pull_request(files))
    assert (code, verdict) == (ExitCode.WORSE, "worse")
    assert "It gives no reason, and needs one for: what is worse" in first_lines(github)


def test_a_baseline_promoted_under_other_settings_than_the_trees_is_refused(
    home: Home, runner: Runner, promotions: dict[str, Files]
) -> None:
    settings = home.source.git("show", "HEAD:touchstone.yaml") + "compare: {accept_promotions: false}\n"
    files = {**promotions["worse"], PROMPT_FILE: desk.WORSE_PROMPT}
    pull = home.pull_request(files, onto={"touchstone.yaml": settings})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert "rules.compare.accept_promotions: true in it, false in the tree" in done.err


def test_a_run_that_does_not_keep_to_the_baseline_it_brings_is_worse(
    home: Home, runner: Runner, promotions: dict[str, Files], desk_server: ChatServer
) -> None:
    """The new baseline is that of a better model than the one that answers now."""
    mind = desk_server.script
    pull = home.pull_request({**promotions["other"], PROMPT_FILE: desk.OTHER_PROMPT})
    assert isinstance(mind, desk.Mind)
    try:
        desk_server.script = desk.Careless()
        code, verdict, headline = run(home, runner, pull)
    finally:
        desk_server.script = mind
    assert (code, verdict) == (ExitCode.WORSE, "worse")
    assert "4 worse" in headline


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("number", "cells[0].quality.pct: file says 20, recomputed 80"),
        ("digest", "edited by hand"),
        ("conflict", "conflict"),
        ("elsewhere", "this is the baseline of pack desk"),
    ],
)
def test_a_forged_baseline_is_refused_before_anything_is_asked(
    home: Home, runner: Runner, promotions: dict[str, Files], desk_server: ChatServer, what: str, said: str
) -> None:
    text = str(promotions["other"][desk.BASELINE])
    files: Files = {
        "number": {desk.BASELINE: re.sub('"pct":80', '"pct":20', text, count=1)},
        "digest": {desk.BASELINE: text.replace('"digest": "sha256:', '"digest": "sha256:0', 1)},
        "conflict": {desk.BASELINE: f"<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n"},
        "elsewhere": {"baselines/default/other.json": text},
    }[what]
    before = asked_of(desk_server)
    done = runner.run(*checked(home, home.pull_request(files)))
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert said in done.err
    assert asked_of(desk_server) == before


def test_a_baseline_whose_answers_contradict_its_checks_is_refused(
    home: Home, runner: Runner, agreed: ScratchRepo, tmp_path: Path, desk_server: ChatServer
) -> None:
    copy = clone(agreed, tmp_path / "copy")
    assert touchstone(copy.path, "measure", "--times", "3", "-q").code == ExitCode.NOTHING_WORSE
    bundles = [Bundle(copy.path / "runs" / run) for run in desk.run_ids(copy)]
    for bundle in bundles:
        lines = bundle.judgements_path.read_text()
        bundle.judgements_path.write_text(
            lines.replace('"score":0,"status":"fail"', '"score":1,"status":"pass"')
        )
        write_result(bundle, read_json(bundle.result_path)["run"]["judged"])
    refused = touchstone(copy.path, "promote", *(bundle.id for bundle in bundles), "--here")
    assert refused.code == ExitCode.REFUSED
    assert (
        "its checks are not what its answers give: scripted-model · house · A4: contains is 1" in refused.err
    )
    standing = store.load(copy.path / desk.BASELINE)
    forged = store.baseline_from(
        [load_run(bundle) for bundle in bundles], 1, reason=None, replaces=standing, with_answers=True
    )
    before = asked_of(desk_server)
    done = runner.run(*checked(home, home.pull_request({desk.BASELINE: store.dump(forged)})))
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert "its checks are not what its answers give: scripted-model · house · A4" in done.err
    assert asked_of(desk_server) == before


def test_a_mixed_change_with_a_forged_baseline_is_refused_too(
    home: Home, runner: Runner, promotions: dict[str, Files], desk_server: ChatServer
) -> None:
    text = str(promotions["worse"][desk.BASELINE]).replace(desk.REASON, "no reason at all")
    before = asked_of(desk_server)
    pull = home.pull_request({desk.BASELINE: text, PROMPT_FILE: desk.WORSE_PROMPT})
    done = runner.run(*checked(home, pull))
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert asked_of(desk_server) == before


def test_a_baseline_of_another_prompt_is_refused_by_name(
    home: Home, runner: Runner, promotions: dict[str, Files]
) -> None:
    done = runner.run(*checked(home, home.pull_request(promotions["worse"])))
    assert done.code == ExitCode.REFUSED
    assert "the prompt of variant house is not the tree's" in done.err
    assert "touchstone promote" in done.err


def test_a_baseline_that_replaces_another_than_the_bases_is_refused(
    home: Home, runner: Runner, promotions: dict[str, Files]
) -> None:
    pull = home.pull_request({**promotions["other"], PROMPT_FILE: desk.OTHER_PROMPT}, onto=promotions["same"])
    home.work.git("switch", "--quiet", "--detach", pull.merge)
    merge = home.committed(promotions["other"])
    home.work.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/edit")
    event = Event("push", {"before": pull.base, "after": merge})
    done = runner.run(home.checkout(merge), event)
    assert done.code == ExitCode.REFUSED
    assert "it replaces sha256:" in done.err


def checked(home: Home, pull: Pull) -> tuple[ScratchRepo, Event]:
    return home.checkout(pull.merge), pull.event()


def unexplained(files: Files) -> Files:
    """A promotion somebody took the reason out of, and whose digest is right all the same."""
    from touchstone.baseline import store  # noqa: PLC0415
    from touchstone.baseline.selfcheck import content_digest  # noqa: PLC0415

    baseline = store.parse(str(files[desk.BASELINE]), "f")
    bare = baseline.model_copy(update={"reason": None})
    sealed = bare.model_copy(update={"digest": content_digest(json.loads(store.dump(bare)))})
    return {desk.BASELINE: store.dump(sealed)}
