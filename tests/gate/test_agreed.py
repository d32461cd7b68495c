"""Which settings count: the base's, and of a change only what it puts under test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.scratch import ScratchRepo, isolate, scratch_repo
from touchstone.config import NO_OVERRIDES, Overrides
from touchstone.errors import BadInputError
from touchstone.gate.agreed import Agreed, agreed_settings
from touchstone.git import Repository
from touchstone.yaml_source import ProblemsError

BASE = """\
schema: 1
endpoint: {base_url: 'http://agreed.example/v1', api_key_env: AGREED_KEY}
models: [{id: old-model}]
judge: {model: old-judge, endpoint: {base_url: 'http://judge.example/v1', api_key_env: JUDGE_KEY}}
compare: {min_drop: 2, fail_on: not-judged}
max_calls: 100
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScratchRepo:
    isolate(monkeypatch, tmp_path / "home")
    repo = scratch_repo(tmp_path / "project")
    repo.commit("base", {"notes": "1"})
    monkeypatch.chdir(repo.path)
    return repo


def agreed(
    repo: ScratchRepo,
    base: str | None,
    own: str | None,
    *,
    overrides: Overrides = NO_OVERRIDES,
    cwd: Path | None = None,
) -> Agreed:
    """Settings of a change from `base` to `own`; None where there is no file."""
    commit = repo.commit("settings", {"touchstone.yaml": base}) if base is not None else repo.head()
    (repo.path / "touchstone.yaml").unlink(missing_ok=True)
    if own is not None:
        repo.write("touchstone.yaml", own)
    repository = Repository.open(repo.path)
    assert repository is not None
    return agreed_settings(repository, commit, cwd or repo.path, None, overrides)


def test_settings_that_are_deleted_leave_the_defaults_which_is_said(repo: ScratchRepo) -> None:
    found = agreed(repo, BASE, None)
    assert found.deleted == repo.path / "touchstone.yaml"
    assert [model.id for model in found.own.config.models] == ["old-model"]
    assert ("max_calls", 100, None) in found.unused
    assert ("endpoint.api_key_env", "AGREED_KEY", None) in found.unused


def test_packs_that_are_named_no_more_are_said_and_packs_beside_them_are_not(repo: ScratchRepo) -> None:
    less = agreed(repo, BASE + "packs: [one, two]\n", BASE + "packs: [two]\n")
    assert ("packs", ["one", "two"], ["two"]) in less.unused
    assert less.effective.config.packs == ["one", "two"]
    more = agreed(repo, BASE + "packs: [one]\n", BASE + "packs: [one, two]\n")
    assert more.unused == []
    assert more.deleted is None


def test_where_to_ask_and_with_which_key_is_the_bases(repo: ScratchRepo) -> None:
    own = BASE.replace("agreed.example", "evil.example").replace("AGREED_KEY", "DEPLOY_KEY")
    own = own.replace("judge.example", "evil.example").replace("JUDGE_KEY", "DEPLOY_KEY")
    found = agreed(repo, BASE, own)
    endpoint, judge = found.effective.config.endpoint, found.effective.config.judge
    assert (endpoint.base_url, endpoint.api_key_env) == ("http://agreed.example/v1", "AGREED_KEY")
    assert judge is not None
    assert judge.endpoint is not None
    assert (judge.endpoint.base_url, judge.endpoint.api_key_env) == ("http://judge.example/v1", "JUDGE_KEY")
    assert {one.name for one in found.unused} == {
        "endpoint.base_url", "endpoint.api_key_env", "judge.endpoint.base_url", "judge.endpoint.api_key_env",
    }  # fmt: skip


def test_thresholds_of_the_verdict_and_limits_are_the_bases(repo: ScratchRepo) -> None:
    own = BASE.replace("min_drop: 2", "min_drop: 50").replace("not-judged", "worse").replace("100", "9")
    found = agreed(repo, BASE, own)
    config = found.effective.config
    assert (config.compare.min_drop, config.compare.fail_on, config.max_calls) == (2, "not-judged", 100)
    assert [tuple(one) for one in found.unused] == [
        ("compare.min_drop", 2.0, 50.0), ("compare.fail_on", "not-judged", "worse"), ("max_calls", 100, 9),
    ]  # fmt: skip


def test_models_and_judge_are_the_changes_own_and_asked_where_the_base_says(repo: ScratchRepo) -> None:
    own = BASE.replace("old-model", "new-model").replace("old-judge", "new-judge")
    found = agreed(repo, BASE, own)
    config = found.effective.config
    assert [model.id for model in config.models] == ["new-model"]
    assert config.judge is not None
    assert (config.judge.model, found.unused) == ("new-judge", [])


def test_a_judge_that_the_change_brings_is_asked_where_the_models_are(repo: ScratchRepo) -> None:
    without = "\n".join(line for line in BASE.splitlines() if not line.startswith("judge"))
    found = agreed(repo, without, BASE)
    assert found.effective.config.judge is not None
    assert found.effective.config.judge.endpoint is None
    assert [one.name for one in found.unused] == ["judge.endpoint"]


def test_packs_of_both_are_checked(repo: ScratchRepo) -> None:
    found = agreed(repo, BASE + "packs: [packs]\n", BASE + "packs: [elsewhere]\n")
    assert found.effective.config.packs == ["packs", "elsewhere"]


def test_a_change_without_a_file_is_held_under_the_bases(repo: ScratchRepo) -> None:
    found = agreed(repo, BASE, None)
    assert [model.id for model in found.effective.config.models] == ["old-model"]
    assert found.source is not None
    assert found.source.endswith(":touchstone.yaml")


def test_a_file_that_a_change_puts_nearer_does_not_count(repo: ScratchRepo) -> None:
    repo.commit("settings", {"touchstone.yaml": BASE})
    repo.write("sub/touchstone.yaml", BASE.replace("agreed.example", "evil.example"))
    found = agreed(repo, None, BASE, cwd=repo.path / "sub")
    assert found.effective.config.endpoint.base_url == "http://agreed.example/v1"
    assert found.effective.root == repo.path


def test_a_flag_goes_before_both(repo: ScratchRepo) -> None:
    overrides = {"endpoint.base_url": ("http://flag.example/v1", "--base-url")}
    found = agreed(repo, BASE, BASE.replace("agreed", "evil"), overrides=overrides)
    assert found.effective.config.endpoint.base_url == "http://flag.example/v1"
    assert found.unused == []


@pytest.mark.parametrize("base", ["endpoint: [\n", "endpoint: {base_url: 7}\n", "schema: 99\n"])
def test_a_base_that_cannot_be_read_is_an_error(repo: ScratchRepo, base: str) -> None:
    with pytest.raises(ProblemsError, match=r":touchstone\.yaml"):
        agreed(repo, base, BASE)


def test_a_link_in_the_base_is_an_error(repo: ScratchRepo) -> None:
    repo.write("real.yaml", BASE)
    (repo.path / "touchstone.yaml").symlink_to("real.yaml")
    repo.commit("link")
    with pytest.raises(BadInputError, match="not a regular file"):
        agreed(repo, None, BASE)


# --- the very first change ---------------------------------------------------------------------------


def test_the_first_change_may_name_a_server_on_this_machine(repo: ScratchRepo) -> None:
    own = "endpoint: {base_url: 'http://127.0.0.1:1234/v1'}\nmodels: [{id: m}]\n"
    found = agreed(repo, None, own)
    config = found.effective.config
    assert (config.endpoint.base_url, [model.id for model in config.models]) == (
        "http://127.0.0.1:1234/v1",
        ["m"],
    )
    assert (found.source, found.unused) == (None, [])


@pytest.mark.parametrize(
    "endpoint",
    [
        "{base_url: 'https://evil.example/v1'}",
        "{base_url: 'http://127.0.0.1:1234/v1', api_key_env: DEPLOY_KEY}",
        "{base_url: 'http://127.0.0.1.evil.example/v1'}",
    ],
)
def test_any_other_server_of_the_first_change_is_refused_naming_the_input(
    repo: ScratchRepo, endpoint: str
) -> None:
    with pytest.raises(BadInputError) as refused:
        agreed(repo, None, f"endpoint: {endpoint}\n")
    assert "input base-url" in str(refused.value.hint)


def test_so_is_its_judges(repo: ScratchRepo) -> None:
    own = (
        "endpoint: {base_url: 'http://localhost:1/v1'}\n"
        "judge: {model: j, endpoint: {base_url: 'https://evil.example/v1'}}\n"
    )
    with pytest.raises(BadInputError) as refused:
        agreed(repo, None, own)
    assert "input judge-base-url" in str(refused.value.hint)


def test_an_input_that_names_the_server_leaves_nothing_to_the_change(repo: ScratchRepo) -> None:
    overrides = {"endpoint.base_url": ("http://flag.example/v1", "--base-url")}
    own = "endpoint: {base_url: 'https://evil.example/v1', api_key_env: DEPLOY_KEY}\n"
    found = agreed(repo, None, own, overrides=overrides)
    assert found.effective.config.endpoint.base_url == "http://flag.example/v1"
    assert found.effective.config.endpoint.api_key_env is None


def test_an_input_for_the_key_alone_does_not_send_it_to_the_changes_server(repo: ScratchRepo) -> None:
    overrides = {"endpoint.api_key_env": ("AGREED_KEY", "--api-key-env")}
    with pytest.raises(BadInputError):
        agreed(repo, None, "endpoint: {base_url: 'http://127.0.0.1:1/v1'}\n", overrides=overrides)


def test_the_first_changes_other_settings_do_not_count_and_are_named(repo: ScratchRepo) -> None:
    found = agreed(repo, None, "tenant: mine\ncompare: {min_drop: 90}\n")
    config = found.effective.config
    assert (config.tenant, config.compare.min_drop) == ("default", 2.0)
    assert [one.name for one in found.unused] == ["tenant", "compare.min_drop"]
