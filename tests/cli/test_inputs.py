"""The Action's inputs are `check`'s flags, and what a flag refuses an input is refused for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from touchstone.cli.check import command
from touchstone.cli.inputs import INPUTS, ONLY_IN_A_JOB, variable_of, with_inputs
from touchstone.errors import UsageError

ACTION = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))
ELSEWHERE = {"github-token": "GITHUB_TOKEN", "python": "TOUCHSTONE_INPUT_PYTHON"}


def given(*words: str, **inputs: str) -> dict[str, Any]:
    context = command.make_context("check", ["--ci", "github", *words])
    return with_inputs(
        context, {variable_of(name.replace("_", "-")): value for name, value in inputs.items()}
    )


def test_every_input_of_the_action_reaches_its_flag_and_none_is_left_over() -> None:
    assert set(ACTION["inputs"]) == set(INPUTS) | set(ELSEWHERE)
    (step,) = ACTION["runs"]["steps"]
    wanted = {variable_of(name): f"${{{{ inputs.{name} }}}}" for name in INPUTS}
    wanted |= {variable: f"${{{{ inputs.{name} }}}}" for name, variable in ELSEWHERE.items()}
    assert step["env"] == wanted


def test_every_flag_that_an_input_stands_for_is_one_of_checks() -> None:
    flags = {flag for parameter in command.params for flag in parameter.opts}
    assert set(INPUTS.values()) <= flags


def test_what_only_a_job_takes_is_an_input() -> None:
    assert {name.replace("_", "-") for name in ONLY_IN_A_JOB} <= set(INPUTS)


def test_nothing_given_is_nothing_said() -> None:
    plain = command.make_context("check", ["--ci", "github"]).params | {"ci": None}
    assert given() | {"ci": None} == plain
    assert given(max_calls="", tenant="  ") | {"ci": None} == plain


def test_packs_are_names_between_spaces_or_lines_and_quotes_hold_them_together() -> None:
    assert given(packs="a.yaml\n b.yaml 'my pack.yaml'")["packs"] == ("a.yaml", "b.yaml", "my pack.yaml")


@pytest.mark.parametrize(
    ("inputs", "parameter", "value"),
    [
        ({"max_calls": "40"}, "max_calls", 40),
        ({"max_minutes": "1.5"}, "max_minutes", 1.5),
        ({"fail_on": "worse"}, "fail_on", "worse"),
        ({"require_baseline": "true"}, "require_baseline", True),
        ({"allow_forks": "false"}, "allow_forks", False),
        ({"baseline_from": "origin/main"}, "ref", "origin/main"),
        ({"judge_api_key_env": "JUDGE_KEY"}, "judge_api_key_env", "JUDGE_KEY"),
        ({"config": "sub/touchstone.yaml"}, "config_path", Path("sub/touchstone.yaml")),
        ({"working_directory": "a folder"}, "working_directory", "a folder"),
        ({"name": "--ci"}, "name", "--ci"),
        ({"tenant": "$(id); echo ::error::"}, "tenant", "$(id); echo ::error::"),
    ],
)
def test_an_input_is_its_flags_value(inputs: dict[str, str], parameter: str, value: object) -> None:
    assert given(**inputs)[parameter] == value


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"allow_forks": "yes"}, "allow-forks is true or false, not 'yes'"),
        ({"require_baseline": "True"}, "require-baseline is true or false"),
        ({"max_calls": "many"}, "'many' is not a valid integer"),
        ({"fail_on": "never"}, "'never' is not one of"),
        ({"packs": "'open"}, "packs cannot be split into names: no closing quotation"),
    ],
)
def test_what_the_flag_would_not_take_is_wrong_usage(inputs: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        given(**inputs)


def test_what_stands_on_the_command_line_goes_before() -> None:
    assert given("--max-calls", "7", max_calls="40")["max_calls"] == 7
    assert given("--comment", "auto", comment="never")["comment"] == "auto"


@pytest.mark.parametrize("flags", [("--allow-forks",), ("--fail-on", "worse"), ("--name", "x")])
def test_outside_a_job_such_a_flag_is_wrong_usage(flags: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--ci github"):
        command.main(list(flags), standalone_mode=False)


def test_the_action_is_one_step_without_logic_or_templates() -> None:
    assert ACTION["runs"]["using"] == "composite"
    (step,) = ACTION["runs"]["steps"]
    assert set(step) == {"id", "shell", "env", "run"}
    assert "${{" not in step["run"]
    assert len(step["run"].splitlines()) == 1


def test_every_output_is_the_steps() -> None:
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.check.outputs.{name} }}}}"
