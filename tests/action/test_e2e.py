"""The packaged Action run for real: act on this machine, a bare repository, a GitHub that judges both sides.

Nothing of a developer's environment reaches it. The private environment is built from the package index, once
for all tests here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.fake_github import REPOSITORY, TOKEN, FakeGitHub
from tests.kit.runner import NUMBER, Event, Home
from tests.kit.scratch import ScratchRepo, git_environment, scratch_repo
from touchstone.demo.origin import Origin
from touchstone.demo.project import CHECK_PATH, Server, Source, project_texts

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PATH = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
ACTION = "acme/touchstone@v1"
PROMPT_FILE = "prompts/house.md"
WORKFLOW_FILE = ".github/workflows/check.yml"
WORKFLOW = f"""\
name: touchstone
on: [pull_request, workflow_dispatch]
permissions: {{}}
jobs:
  check:
    runs-on: [self-hosted, macOS, ARM64]
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1
        with:
          fetch-depth: 2
          persist-credentials: false
      - id: touchstone
        uses: {ACTION}
      - if: always()
        shell: bash
        env:
          VERDICT: ${{{{ steps.touchstone.outputs.verdict }}}}
          CODE: ${{{{ steps.touchstone.outputs.exit-code }}}}
          URL: ${{{{ steps.touchstone.outputs.comment-url }}}}
        run: echo "after $VERDICT $CODE $URL"
"""


@dataclass
class Ended:
    """How a workflow ended: act's exit code, what it logged, and what its commands said."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str
    annotations: list[str]


@dataclass
class Act:
    """Runs workflows in a checkout."""

    folder: Path
    github: FakeGitHub
    cache: Path
    """Where act keeps workspaces, and with them the runner's tool cache."""

    def run(
        self,
        checkout: ScratchRepo,
        event: Event,
        workflow: str = WORKFLOW_FILE,
        actions: Mapping[str, Path] = MappingProxyType({}),
    ) -> Ended:
        """Run the workflow that a pull request or a person starts; folders stand in for `actions`."""
        actions = {ACTION: self.folder / "action"} | dict(actions)
        replaced = [word for name in actions for word in ("--local-repository", f"{name}={actions[name]}")]
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(event.payload))
        checkout.git("remote", "add", "gh", f"https://github.com/{REPOSITORY}.git")
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("act")), event.name,
                "--workflows", workflow,
                "--eventpath", str(event_file),
                "--platform", "self-hosted=-self-hosted",
                "--remote-name", "gh",
                *replaced,
                "--env", f"GITHUB_API_URL={self.github.url}",
                "--secret", f"GITHUB_TOKEN={TOKEN}",
                "--action-cache-path", str(self.cache),
                "--no-cache-server",
                "--json",
            ],
            cwd=checkout.path,
            env=git_environment(self.folder) | {"PATH": PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        lines = [entry for line in done.stdout.splitlines() if (entry := _entry(line))]
        said = done.stderr + "".join(entry.get("msg", "") + "\n" for entry in lines)
        told = [entry for entry in lines if "touchstone" in str(entry.get("stepID"))]
        return Ended(
            done.returncode,
            said,
            {entry["name"]: entry["arg"] for entry in told if entry.get("command") == "set-output"},
            "".join(entry["content"] for entry in told if entry.get("command") == "summary"),
            [entry["arg"] for entry in told if entry.get("command") in {"error", "warning", "notice"}],
        )


def _entry(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {"msg": line}
    return value if isinstance(value, dict) else {}


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("act")


@pytest.fixture(scope="session")
def server() -> Iterator[ChatServer]:
    with ChatServer(desk.Mind(), models=(desk.MODEL, desk.JUDGE)) as running:
        yield running


@pytest.fixture(scope="session")
def agreed(server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> ScratchRepo:
    repo = desk.agreed(tmp_path_factory.mktemp("agreed") / "project", server.base_url)
    repo.commit("workflow", {WORKFLOW_FILE: WORKFLOW})
    return repo


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        running.pull(NUMBER)
        yield running


@pytest.fixture
def act(tmp_path: Path, github: FakeGitHub, cache: Path) -> Act:
    """act, and the Action as its release holds it."""
    action = tmp_path / "action"
    for name in ("action.yml", "action/run", "requirements/action.lock"):
        (action / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, action / name)
    shutil.copytree(ROOT / "touchstone", action / "touchstone", ignore=shutil.ignore_patterns("__pycache__"))
    return Act(tmp_path, github, cache)


def test_a_pull_request_goes_red_is_pushed_again_and_turns_green(
    agreed: ScratchRepo, act: Act, github: FakeGitHub, tmp_path: Path
) -> None:
    home = Home(agreed, tmp_path)
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    red = act.run(home.checkout(pull.merge, depth=2), pull.event())
    assert red.code == 1, red.log
    assert (red.outputs["exit-code"], red.outputs["verdict"]) == ("1", "worse")
    (comment,) = github.comments[NUMBER]
    assert red.outputs["comment-url"] == comment["html_url"]
    assert f"after worse 1 {comment['html_url']}" in red.log
    for told in (comment["body"], red.summary):
        assert "80.0 % → 10.0 %" in told
        assert "| `A1` | `house` | 100.0 % → 0.0 % | worse" in told
        assert "-Answer carefully.\n+Answer at once." in told
    assert any("desk: WORSE" in line for line in red.annotations)
    assert (Path(red.outputs["run"]) / "comparison.json").is_file()

    pull = home.pushed_again(pull, {PROMPT_FILE: desk.WORSE_PROMPT + "Be kind.\n"})
    still = act.run(home.checkout(pull.merge), pull.event())
    assert still.outputs["comment-url"] == comment["html_url"]
    assert pull.head in github.bodies(NUMBER)[0]

    pull = home.pushed_again(pull, {PROMPT_FILE: desk.OTHER_PROMPT})
    green = act.run(home.checkout(pull.merge), pull.event())
    assert (green.code, green.outputs["verdict"]) == (0, "unchanged"), green.log
    (body,) = github.bodies(NUMBER)
    assert "🟢" in body
    assert TOKEN not in red.log + still.log + green.log


def test_the_very_first_pull_request_and_a_run_without_one(
    agreed: ScratchRepo, act: Act, github: FakeGitHub, tmp_path: Path
) -> None:
    empty = scratch_repo(tmp_path / "empty")
    empty.commit("nothing yet", {"README.md": "A project.\n"})
    home = Home(empty, tmp_path)
    names = (PROMPT_FILE, "packs/desk.yaml", "touchstone.yaml", WORKFLOW_FILE)
    pull = home.pull_request({name: agreed.git("show", f"HEAD:{name}") for name in names})
    first = act.run(home.checkout(pull.merge), pull.event())
    assert (first.code, first.outputs["verdict"]) == (0, "no_reference"), first.log
    assert len(github.bodies(NUMBER)) == 1

    asked = len(github.journal)
    event = Event("workflow_dispatch", {"repository": {"default_branch": "main"}})
    alone = act.run(home.checkout(pull.merge), event)
    assert (alone.code, alone.outputs["exit-code"], alone.outputs["comment-url"]) == (0, "0", "")
    assert len(github.journal) == asked


def test_a_runner_that_cannot_build_the_environment_says_so_in_its_outputs(
    agreed: ScratchRepo, act: Act, tmp_path: Path
) -> None:
    home = Home(agreed, tmp_path)
    workflow = WORKFLOW.replace(
        f"uses: {ACTION}\n", f"uses: {ACTION}\n        with: {{python: /no/such/python}}\n"
    )
    pull = home.pull_request({WORKFLOW_FILE: workflow})
    act.cache = tmp_path / "empty"
    ended = act.run(home.checkout(pull.merge), pull.event())
    assert (ended.code, ended.outputs["exit-code"], ended.outputs["verdict"]) == (1, "4", "refused")
    assert "after refused 4" in ended.log


COMMIT = "0123456789abcdef0123456789abcdef01234567"
UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
DOWNLOAD = "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c"


def shared_by_two() -> str:
    """The workflow that `init --shards 2` writes."""
    source = Source(Origin("https://github.com/acme/touchstone", COMMIT), "acme/touchstone")
    return project_texts(Server(), source, 2)[CHECK_PATH]


def pack_of_one() -> str:
    """The pack with its first prompt alone: too few for two shards."""
    head, _, rest = desk.DESK_PACK.partition("      - {id: A1,")
    return head + "      - {id: A1," + rest.partition("\n")[0] + "\n"


def artifact_actions(folder: Path) -> dict[str, Path]:
    """What stands in for the artifacts' store: a folder that both actions copy from and to."""
    store = folder / "artifacts"
    scripts = {
        UPLOAD: f'mkdir -p "{store}/$NAME" && cp -R "$FOLDER/." "{store}/$NAME"',
        DOWNLOAD: f'mkdir -p "{store}" "$FOLDER" && cp -R "{store}/." "$FOLDER"',
    }
    inputs = "".join(
        f"  {name}: {{}}\n" for name in ("name", "path", "pattern", "if-no-files-found", "retention-days")
    )
    for number, script in enumerate(scripts.values()):
        text = (
            f"name: stand-in\ndescription: copies\ninputs:\n{inputs}runs:\n  using: composite\n  steps:\n"
            "    - shell: bash\n      env:\n"
            "        NAME: ${{ inputs.name }}\n        FOLDER: ${{ inputs.path }}\n"
            f"      run: {json.dumps(script)}\n"
        )
        (folder / f"stand-in-{number}").mkdir()
        (folder / f"stand-in-{number}" / "action.yml").write_text(text)
    return {name: folder / f"stand-in-{number}" for number, name in enumerate(scripts)}


def test_two_macs_share_a_check_and_say_one_verdict(
    agreed: ScratchRepo, act: Act, github: FakeGitHub, tmp_path: Path
) -> None:
    home = Home(agreed, tmp_path)
    actions = {f"acme/touchstone@{COMMIT}": tmp_path / "action", **artifact_actions(tmp_path)}
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT, CHECK_PATH: shared_by_two()})
    red = act.run(home.checkout(pull.merge, depth=2), pull.event(), CHECK_PATH, actions)
    assert red.code == 1, red.log
    (body,) = github.bodies(NUMBER)
    assert "80.0 % → 10.0 %" in body
    assert "confirmed in 6 draws" in body
    assert sorted(path.name for path in (tmp_path / "artifacts").iterdir()) == [
        "touchstone-shard-1",
        "touchstone-shard-2",
    ]

    shutil.rmtree(tmp_path / "artifacts")
    pull = home.pushed_again(pull, {"packs/desk.yaml": pack_of_one()})
    failed = act.run(home.checkout(pull.merge, depth=2), pull.event(), CHECK_PATH, actions)
    assert failed.code == 1, failed.log
    assert "no run in this folder" in github.bodies(NUMBER)[0], "the last job runs where shards failed"
