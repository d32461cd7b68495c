"""What the reference lists is what there is: options, settings, keys of packs, inputs, hooks, examples."""

from __future__ import annotations

import contextlib
import copy
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from tests.kit.documents import DOCUMENTS, ROOT, Block, blocks, calls, spoken, table_rows
from touchstone.cli.inputs import INPUTS
from touchstone.cli.main import GROUPS, VERBS, touchstone
from touchstone.cli.options import SETTING_FLAGS
from touchstone.config import Config, JudgeSettings, ModelSettings, config_from_text
from touchstone.errors import EXIT_MEANINGS
from touchstone.pack import schema as pack_schema
from touchstone.pack.checks import Check, CheckBase
from touchstone.pack.load import load_pack

REFERENCE = ROOT / "docs" / "reference"
OPTIONS = REFERENCE / "options.md"
ACTION_PAGE = ROOT / "docs" / "how-to" / "github-action.md"

PACK_TABLES: dict[str, type[BaseModel]] = {
    "Pack": pack_schema.Pack,
    "Dimension": pack_schema.Dimension,
    "Knock-out rule": pack_schema.KoRule,
    "Prompt variant": pack_schema.PromptVariant,
    "Sampling": pack_schema.Sampling,
    "Labels": pack_schema.Labels,
    "Calibration item": pack_schema.CalibrationItem,
    "Category": pack_schema.Category,
    "Prompt": pack_schema.Prompt,
}


# --- the options of every verb -----------------------------------------------------------------------


def test_options_page_is_what_help_prints() -> None:
    text = options_page()
    if os.environ.get("UPDATE_GOLDEN"):
        OPTIONS.write_text(text)
    assert OPTIONS.read_text() == text, "run: UPDATE_GOLDEN=1 pytest tests/test_docs_reference.py"


def options_page() -> str:
    """`docs/reference/options.md`: the help of every verb as it is printed, 100 columns wide."""
    lines = [
        "# Options",
        "",
        "What `touchstone VERB --help` prints, verb by verb. This page is generated.",
        "",
    ]
    for group in GROUPS:
        for name in (name for name, verb in VERBS.items() if verb.group == group):
            lines += [f"## {name}", ""]
            for words, command in _with_children([name], command_of(name)):
                lines += ["```text", _help(words, command), "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def command_of(name: str) -> click.Command:
    found = importlib.import_module(f"touchstone.cli.{name}").command
    assert isinstance(found, click.Command)
    return found


def _with_children(words: list[str], command: click.Command) -> Iterator[tuple[list[str], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield [*words, name], child


def _help(words: list[str], command: click.Command) -> str:
    parent = click.Context(touchstone, info_name="touchstone", terminal_width=100, max_content_width=100)
    for word in words[:-1]:
        parent = click.Context(touchstone, info_name=word, parent=parent)
    context = click.Context(
        command,
        info_name=words[-1],
        parent=parent,
        terminal_width=100,
        help_option_names=["-h", "--help"],
    )
    fresh = copy.copy(command)
    vars(fresh)["_help_option"] = None  # kept by whoever asked for help first, with the names it had there
    return "\n".join(line.rstrip() for line in fresh.get_help(context).splitlines())


# --- tables --------------------------------------------------------------------------------------------


def test_commands_page_lists_the_verbs_there_are() -> None:
    text = (REFERENCE / "cli.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \| (.+) \|$", text.partition("\n## ")[0], re.MULTILINE)
    assert dict(listed) == {name: verb.line for name, verb in VERBS.items()}


@pytest.mark.parametrize("document", ["README.md", "README.de.md", "docs/reference/cli.md"])
def test_exit_codes_are_those_of_the_program(document: str) -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", (ROOT / document).read_text(), re.MULTILINE)
    assert [int(code) for code, _ in rows] == [int(code) for code in EXIT_MEANINGS]
    if document != "README.de.md":
        assert [meaning for _, meaning in rows] == list(EXIT_MEANINGS.values())


def test_settings_page_lists_every_setting_with_its_default_and_flag() -> None:
    lines = (REFERENCE / "settings.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line[:3] == "| `"]
    flags = {flag.path: f"`{flag.name}`" for flag in SETTING_FLAGS} | {"models[].id": "`--model`"}
    due = {f"`{path}`": (default, flags.get(path, "")) for path, default in settings(Config)}
    assert {path: (default, flag) for path, _, default, flag in cells} == due


def settings(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every setting's path with its default as the page writes it."""
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from settings(type(default), f"{path}.")
        elif path in {"models", "judge"}:
            listed = (ModelSettings, "models[].") if path == "models" else (JudgeSettings, "judge.")
            yield from settings(*listed)
        elif field.is_required():
            yield path, "required"
        else:
            yield path, "none" if default is None else f"`{json.dumps(default)}`"


@pytest.mark.parametrize("heading", PACK_TABLES)
def test_packs_page_lists_every_key(heading: str) -> None:
    rows = table_rows((REFERENCE / "packs.md").read_text(), heading)
    fields = PACK_TABLES[heading].model_fields
    listed = {row[0].strip("`"): row[2] for row in rows}
    assert list(listed) == [field.alias or name for name, field in fields.items()]
    required = {field.alias or name for name, field in fields.items() if field.is_required()}
    assert {name for name, default in listed.items() if default == ""} == required


def test_packs_page_lists_every_check_with_its_keys() -> None:
    rows = table_rows((REFERENCE / "packs.md").read_text(), "Checks")
    common = {*CheckBase.model_fields, "type"}
    checks: tuple[type[CheckBase], ...] = get_args(get_args(Check)[0])
    due = {
        get_args(check.model_fields["type"].annotation)[0]: [
            field.alias or name for name, field in check.model_fields.items() if name not in common
        ]
        for check in checks
    }
    assert {row[0].strip("`"): re.findall(r"`(\w+)`", row[2]) for row in rows} == due


def test_action_page_lists_every_input_with_its_flag() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    rows = table_rows(ACTION_PAGE.read_text(), "Inputs")
    assert [row[0].strip("`") for row in rows] == list(action["inputs"])
    flags = {row[0].strip("`"): row[1].strip("`") for row in rows if row[1].startswith("`")}
    assert flags == INPUTS


def test_action_page_lists_every_output() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    rows = table_rows(ACTION_PAGE.read_text(), "Outputs")
    assert [row[0].strip("`") for row in rows] == list(action["outputs"])


@pytest.mark.parametrize("document", ["README.md", "README.de.md", "docs/how-to/hooks.md"])
def test_hooks_named_are_those_there_are(document: str) -> None:
    there = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    named = set(re.findall(r"- id: (touchstone-[\w-]+)", (ROOT / document).read_text()))
    assert named
    assert named <= there


# --- examples ------------------------------------------------------------------------------------------


TYPED = [
    pytest.param(words, id=f"{block.place} {' '.join(words)}"[:90])
    for document in DOCUMENTS
    for block in blocks(document, "sh")
    for words in calls(block)
]
NAMED = [
    pytest.param(words, id=f"{document.relative_to(ROOT)} {' '.join(words)}"[:90])
    for document in DOCUMENTS
    for words in spoken(document)
]


@pytest.mark.parametrize("words", TYPED)
def test_every_command_to_type_is_understood(words: list[str]) -> None:
    command_of(words[0]).make_context(words[0], list(words[1:]))


@pytest.mark.parametrize("words", NAMED)
def test_every_command_in_running_text_has_what_it_names(words: list[str]) -> None:
    """Its verb and options; what it is given may be left out where it is only talked of."""
    talked_of = (click.MissingParameter, click.BadOptionUsage, click.exceptions.NoArgsIsHelpError)
    with contextlib.suppress(*talked_of):
        command_of(words[0]).make_context(words[0], list(words[1:]))


YAML_BLOCKS = [
    pytest.param(block, id=block.place) for document in DOCUMENTS for block in blocks(document, "yaml")
]


@pytest.mark.parametrize("block", YAML_BLOCKS)
def test_every_yaml_example_is_taken_by_what_reads_it(block: Block, tmp_path: Path) -> None:
    value = yaml.safe_load(block.text)
    if isinstance(value, list):
        _is_taken_as_steps(value)
    elif "repos" in value:
        _is_taken_as_hooks(value)
    elif "jobs" in value:
        _is_taken_by_schema(block, tmp_path, "vendor.github-workflows")
        _is_taken_as_steps([step for job in value["jobs"].values() for step in job["steps"]])
    elif "categories" in value:
        _is_taken_as_pack(block, value, tmp_path)
    else:
        assert list(schema("config").iter_errors(value)) == []
        config_from_text(block.text, block.place, tmp_path)


def _is_taken_as_pack(block: Block, value: Any, folder: Path) -> None:
    assert list(schema("pack").iter_errors(json.loads(json.dumps(value)))) == []
    (folder / ".git").mkdir()
    (folder / "prompts").mkdir()
    (folder / "prompts" / "assistant.md").write_text("Be brief.\n")
    (folder / "packs").mkdir()
    path = folder / "packs" / "example.yaml"
    path.write_text(block.text)
    load_pack(path)


def _is_taken_as_hooks(value: Any) -> None:
    there = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for repo in value["repos"] for hook in repo["hooks"]} <= there


def _is_taken_as_steps(steps: list[Any]) -> None:
    """Whatever a workflow hands to the Action is one of its inputs."""
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    for step in steps:
        if "touchstone@" in step.get("uses", ""):
            assert set(step.get("with", {})) <= set(inputs)


def _is_taken_by_schema(block: Block, folder: Path, name: str) -> None:
    path = folder / "workflow.yml"
    path.write_text(block.text)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@cache
def schema(kind: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((ROOT / "schemas" / f"{kind}.json").read_text()))
