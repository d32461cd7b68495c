"""The JSON Schemas: published as generated, and of one mind with what reads the files."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from tests.kit import desk
from touchstone.cli.schema import DRAFT, KINDS, command, schema_of
from touchstone.config import config_from_text
from touchstone.demo.scaffold import write_scaffold
from touchstone.yaml_source import ProblemsError

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "packs"
SHIPPED = sorted((ROOT / "packs").glob("*.yaml"))
GOOD = sorted((CASES / "good").glob("*.yaml"))
BAD = sorted((CASES / "bad").glob("*.txt"))

STRUCTURAL = re.compile(
    r"unknown key|unknown type|is missing \(|is due, not |is newer than|may not be empty$"
    r"|(is|are) due, this is (a list|a mapping|a single value|nothing$)"
    r"|must be (at (least|most)|greater|a language)|beginning with a letter",
    re.MULTILINE,
)
"""Problems a schema must see as well: keys, kinds of value, limits of one value, forms of a name."""


@cache
def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(schema_of(kind))


def faults(kind: str, document: Any) -> list[str]:
    """What a schema finds in a document, as `path: message`."""
    return [f"{error.json_path}: {error.message}" for error in validator(kind).iter_errors(document)]


def from_yaml(text: str) -> Any:
    """A YAML file as an editor hands it to a schema: keys are texts."""
    return json.loads(json.dumps(yaml.load(text, Loader=yaml.CSafeLoader), default=str))


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_schema_is_the_generated_one(kind: str) -> None:
    done = CliRunner().invoke(command, [kind])
    assert done.exit_code == 0
    assert (ROOT / "schemas" / f"{kind}.json").read_text() == done.stdout, "run: make schemas"


def test_nothing_else_is_published_and_the_kinds_are_listed() -> None:
    assert {path.stem for path in (ROOT / "schemas").iterdir()} == set(KINDS)
    assert CliRunner().invoke(command, []).stdout.split() == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one_of_2020_12_with_a_relative_id_titles_and_words(kind: str) -> None:
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    assert (schema["$schema"], schema["$id"]) == (DRAFT, f"{kind}.json")
    assert schema["title"].startswith("touchstone ")
    parts = [schema, *schema["$defs"].values()]
    assert all(part["description"] for part in parts if part.get("type") == "object")
    assert "discriminator" not in json.dumps(schema)


def test_a_docstring_below_a_field_becomes_its_description() -> None:
    config = schema_of("config")
    assert config["properties"]["packs"]["description"] == "Pack files and folders of packs."
    comparison = schema_of("comparison")["$defs"]["ComparedCell"]["properties"]
    assert comparison["identical"]["description"].startswith("Rows whose answers are the same")


# packs


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_pack_fits_and_tells_the_editor_so(path: Path) -> None:
    text = path.read_text()
    first = text.splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named, first
    assert (path.parent / named[1]).resolve() == ROOT / "schemas" / "pack.json"
    assert faults("pack", from_yaml(text)) == []


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_every_good_pack_fits(path: Path) -> None:
    assert faults("pack", from_yaml(path.read_text("utf-8-sig"))) == []


@pytest.mark.parametrize(
    "listed", [path for path in BAD if STRUCTURAL.search(path.read_text())], ids=lambda path: path.stem
)
def test_a_bad_pack_of_a_structural_kind_is_refused(listed: Path) -> None:
    assert faults("pack", from_yaml(listed.with_suffix(".yaml").read_text("utf-8-sig")))


def test_scale_keys_are_whole_numbers_and_the_schema_key_has_its_own_name() -> None:
    pack = from_yaml(desk.CARE_PACK)
    assert faults("pack", pack) == []
    assert faults("pack", pack | {"scale": {"one": "poor", "02": "fair"}}) != []
    assert faults("pack", {key: value for key, value in pack.items() if key != "schema"}) != []
    assert faults("pack", pack | {"schema_": 1}) != []


def test_an_old_machine_key_is_passed_over_here_too() -> None:
    assert faults("pack", from_yaml(desk.DESK_PACK) | {"machine": ["anything"]}) == []
    assert faults("config", {"machine": "a label"}) == []
    assert faults("result", {"machine": "a label"}) != []


# settings

CONFIGS = {
    "": True,
    "schema: 1\ntenant: acme\npacks: [packs, more/x.yaml]\n": True,
    "models: [{id: m, was: old, quant: null, extra_body: {top_k: 1}}]\n": True,
    "judge: {model: j, endpoint: {base_url: 'http://127.0.0.1:1/v1', api_key_env: MY_KEY}}\n": True,
    "compare: {fail_on: suspect, strict_rows: true, min_drop: 3}\nmax_minutes: 1.5\n": True,
    "schema: 2\n": False,
    "tenants: acme\n": False,
    "tenant: Acme Ltd\n": False,
    "endpoint: {base_url: 1}\n": False,
    "endpoint: {retries: 11}\n": False,
    "endpoint: {api_key_env: GITHUB_TOKEN}\n": False,
    "endpoint: null\n": False,
    "models: [m]\n": False,
    "judge: {temperature: 0}\n": False,
    "compare: {fail_on: never}\n": False,
    "keep_runs: 2\n": False,
    "language: fr\n": False,
}


@pytest.mark.parametrize(("text", "fits"), CONFIGS.items(), ids=[text.strip() for text in CONFIGS])
def test_settings_fit_where_they_load_and_nowhere_else(text: str, fits: bool, tmp_path: Path) -> None:
    try:
        config_from_text(text or "{}", "touchstone.yaml", tmp_path)
        loads = True
    except ProblemsError:
        loads = False
    assert loads is fits
    assert (faults("config", from_yaml(text or "{}")) == []) is fits


def test_the_demos_settings_fit(tmp_path: Path) -> None:
    write_scaffold(tmp_path / "story", "http://127.0.0.1:1/v1", "some-model")
    assert faults("config", from_yaml((tmp_path / "story" / "touchstone.yaml").read_text())) == []


# what programs read


@pytest.mark.parametrize("kind", ["result", "baseline", "comparison"])
def test_kept_documents_fit(kind: str) -> None:
    document = json.loads((ROOT / "tests" / "golden" / f"{kind}.json").read_text())
    assert faults(kind, document) == []
    assert faults(kind, document | {"schema_version": 2}) != []
    assert faults(kind, document | {"more": 1}) != []
