"""`touchstone validate` as the hook and a person call it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit import builders
from tests.kit.builders import Outcome
from tests.kit.measured import kept, three
from touchstone.baseline.store import dump
from touchstone.cli.validate import as_github, command
from touchstone.pack.load import load_pack
from touchstone.yaml_source import Problem

CASES = Path(__file__).parent.parent / "cases" / "packs"
PACK = """schema: 1
id: demo
version: 1
title: Demo
categories:
  - id: A
    name: Greetings
    prompts:
      - {id: greet, prompt: Say hello., checks: [{type: contains, value: hello}]}
"""
WITH_FILE = PACK.replace(
    "categories:", "prompt_variants: [{id: v, system_prompt_file: ../prompts/house.md}]\ncategories:"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one good pack, as the current folder."""
    for name in (".git", "packs", "prompts"):
        (tmp_path / name).mkdir()
    (tmp_path / "packs" / "demo.yaml").write_text(PACK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_is_printed_when_nothing_is_wrong(project: Path) -> None:
    (project / "touchstone.yaml").write_text("tenant: a\n")
    for arguments in ((), ("packs",), ("packs/demo.yaml", "touchstone.yaml")):
        assert _run(*arguments) == (0, "")


def test_a_broken_pack_is_exit_4_with_its_line(project: Path) -> None:
    (project / "packs" / "demo.yaml").write_text(PACK.replace("version: 1", "version: one"))
    code, output = _run()
    assert code == 4
    hint = "(write it in plain decimal digits, without leading zeros)"
    assert output == f"packs/demo.yaml:3:10: version: a whole number is due, not one {hint}\n"


def test_paths_are_printed_as_seen_from_here(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "packs" / "demo.yaml").write_text("")
    assert _run(str(project / "packs" / "demo.yaml"))[1].startswith("packs/demo.yaml:1:1: ")
    monkeypatch.chdir(project / "packs")
    assert _run("demo.yaml")[1].startswith("demo.yaml:1:1: ")


def test_settings_are_told_from_packs_by_content(project: Path) -> None:
    (project / "ci.yaml").write_text("tenent: a\nendpoint: {retries: 99}\n")
    (project / "touchstone.yaml").write_text("nonsense: 1\n")
    _, output = _run("ci.yaml", "touchstone.yaml")
    assert "ci.yaml:1:1: tenent: unknown key" in output
    assert "ci.yaml:2:21: endpoint.retries: must be at most 10" in output
    assert "touchstone.yaml:1:1: nonsense: unknown key" in output
    assert "categories" not in output


def test_broken_settings_are_told_once(project: Path) -> None:
    (project / "touchstone.yaml").write_text("tenent: a\n")
    (project / "prompts" / "house.md").write_text("x\n")
    code, output = _run("touchstone.yaml", "prompts/house.md", "prompts/house.md")
    assert code == 4
    assert output.count("tenent") == 2  # the path and the key in one line
    assert _run()[1] == output


def test_a_prompt_file_brings_in_the_packs_that_name_it(project: Path) -> None:
    (project / "packs" / "house.yaml").write_text(WITH_FILE)
    (project / "packs" / "broken.yaml").write_text("id: [\n")
    (project / "prompts" / "house.md").write_bytes(b"\xff\n")
    code, output = _run("prompts/house.md")
    assert code == 4
    assert output == (
        "packs/house.yaml:5:47: prompt_variants[0].system_prompt_file: "
        "house.md is not UTF-8 (byte 0xff on line 1) (save it as UTF-8)\n"
    )
    (project / "prompts" / "house.md").write_text("Be kind.\n")
    assert _run("prompts/house.md") == (0, "")
    assert _run("prompts")[0] == 4  # a folder given is a folder of packs


def test_a_prompt_file_of_no_pack_is_nobodys_business(project: Path) -> None:
    (project / "notes.txt").write_text("x\n")
    assert _run("notes.txt") == (0, "")


def test_two_packs_of_one_id_clash(project: Path) -> None:
    (project / "packs" / "other.yaml").write_text("# copied\n" + PACK)
    code, output = _run("packs")
    assert code == 4
    assert output.startswith('packs/other.yaml:3:1: id: pack "demo" is also in packs/demo.yaml')
    assert _run("packs/demo.yaml", "packs/demo.yaml") == (0, "")


def test_a_missing_file_is_named(project: Path) -> None:
    assert _run("gone.md") == (4, "gone.md: no such file\n")
    code, output = _run("gone.yaml")
    assert (code, output.startswith("gone.yaml: cannot be read")) == (4, True)


def test_no_packs_at_all_is_no_silent_pass(project: Path) -> None:
    shutil.rmtree(project / "packs")
    assert _run()[0] == 4
    (project / "packs").mkdir()
    code, output = _run()
    assert code == 4
    assert "no packs found" in output


@pytest.mark.parametrize(
    "content", ["{", "<<<<<<< ours\n", '{"schema_version": 99}', "[]", '{"a": 1, "a": 2}']
)
def test_a_broken_baseline_is_refused(project: Path, content: str) -> None:
    path = project / "baselines" / "default" / "demo.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    for arguments in ((), ("baselines/default/demo.json",)):
        code, output = _run(*arguments)
        assert code == 4
        assert output.startswith("baselines/default/demo.json:")


def test_a_baseline_that_says_of_its_answers_what_they_do_not_give_is_refused(project: Path) -> None:
    suite = builders.checks_suite(("A1",))
    path = project / "baselines" / "default" / "pack.json"
    path.parent.mkdir(parents=True)
    path.write_text(dump(kept(three(suite, {"A1": Outcome(text="yes it is", checks=1.0)}))))
    assert _run("baselines/default/pack.json") == (0, "")
    path.write_text(dump(kept(three(suite, {"A1": Outcome(text="I do not know", checks=1.0)}))))
    code, output = _run("baselines/default/pack.json")
    assert code == 4
    assert "its checks are not what its answers give: m · none · A1: contains is 1 in the file" in output


def test_json_is_a_list_of_problems(project: Path) -> None:
    assert _run("--json") == (0, "[]\n")
    (project / "packs" / "demo.yaml").write_text(PACK.replace("title: Demo", "title: no"))
    code, output = _run("--format", "json")
    assert code == 4
    assert json.loads(output) == [
        {
            "file": "packs/demo.yaml",
            "line": 4,
            "column": 8,
            "path": "title",
            "problem": "a text is due, but YAML can read no as false",
            "hint": 'quote it: "no"',
        }
    ]


def test_github_annotations_point_at_the_line(project: Path) -> None:
    (project / "packs" / "demo.yaml").write_text(PACK.replace("title: Demo", "title: no"))
    code, output = _run("--format", "github")
    assert code == 4
    assert output == (
        "::error file=packs/demo.yaml,line=4,col=8::"
        'title: a text is due, but YAML can read no as false (quote it: "no")\n'
    )


HOSTILE = [
    "a\n::set-output name=x::y",
    "a\r::stop-commands::t",
    "##[add-mask]x",
    "50%0A::error::x",
    "\x1b]0;t\x07",
    "\u202ex",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", ["text", "github"])
def test_no_pack_text_becomes_a_workflow_command(project: Path, text: str, form: str) -> None:
    key = json.dumps(text)
    (project / "packs" / "demo.yaml").write_text(f"{PACK}{key}: 1\n", "utf-8")
    code, output = _run("--format", form)
    assert code == 4
    assert output.count("\n") == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]|##\[", output)
    if form == "github":
        assert output.startswith("::error file=packs/demo.yaml,line=10,col=1::")
        assert "%0A" not in output.replace("%250A", "")


def test_a_file_name_cannot_end_its_property() -> None:
    problem = Problem("a,line=9::b:c%\n", 1, 2, "p", "wrong", None)
    assert as_github([problem]) == "::error file=a%2Cline=9%3A%3Ab%3Ac%25\\n,line=1,col=2::p: wrong\n"


def test_a_file_name_cannot_begin_a_command(project: Path) -> None:
    (project / "::error::x.yaml").write_text("")
    assert not _run("::error::x.yaml")[1].startswith("::")


def test_every_bad_case_is_refused_and_every_good_one_passes() -> None:
    for path in sorted((CASES / "good").glob("*.yaml")):
        assert _run(str(path)) == (0, ""), path.name
    for path in sorted((CASES / "bad").glob("*.yaml")):
        assert _run(str(path))[0] == 4, path.name


def test_a_prompt_that_moved_away_from_its_baseline_is_told_and_no_problem(project: Path) -> None:
    (project / "packs" / "demo.yaml").write_text(WITH_FILE)
    prompt = project / "prompts" / "house.md"
    prompt.write_text("Be kind.\n")
    kept = {"variants": {"v": {"sha256": load_pack(project / "packs/demo.yaml").variants["v"].sha256}}}
    folder = project / "baselines" / "default"
    folder.mkdir(parents=True)
    (folder / "demo.json").write_text(json.dumps(kept))
    (folder / "demo.laptop.json").write_text(json.dumps(kept))
    (folder / "demo-two.json").write_text('{"variants": {"v": {"sha256": "sha256:other"}}}')
    assert _run("packs") == (0, "")
    prompt.write_text("Be brief.\n")
    (folder / "demo.laptop.json").write_text("no baseline at all")
    told = (
        "packs/demo.yaml: variant v: prompt changed, baseline stale: baselines/default/demo.json holds "
        "another text (touchstone check tells what it changed)\n"
    )
    for arguments in (["packs"], ["prompts/house.md"], ["packs/demo.yaml"]):
        assert _run(*arguments) == (0, told)
    assert _run("packs", "--quiet") == (0, "")
    # The hook says it where it became so, and not at every commit after that.
    assert _run("--also-settings", "prompts/house.md") == (0, told)
    assert _run("--also-settings") == (0, "")
    assert CliRunner().invoke(command, ["packs"]).stdout == ""


def test_the_imports_stay_light(project: Path) -> None:
    """The hook runs at every commit: only click, yaml, pydantic and what those bring."""
    script = (
        "import sys, click.testing, touchstone.cli.validate as v\n"
        "assert click.testing.CliRunner().invoke(v.command, []).exit_code == 0\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
        "print(*sorted(name for name in sys.modules if name.startswith('touchstone.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project, check=True, capture_output=True, text=True
    )
    packages, ours = (set(line.split()) for line in done.stdout.splitlines())
    foreign = {name for name in packages if name not in sys.stdlib_module_names and not name.startswith("_")}
    allowed = {"click", "yaml", "pydantic", "pydantic_core", "annotated_types", "typing_extensions"}
    assert foreign <= allowed | {"cython_runtime", "typing_inspection", "touchstone"}
    rooms = {name.split(".")[1] for name in ours}
    assert rooms <= {"cli", "config", "errors", "files", "pack", "records", "yaml_source"}


def _run(*arguments: str) -> tuple[int, str]:
    result: Result = CliRunner().invoke(command, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output
