"""Every hostile text as a model's answer, all at once, through a whole check: nothing of it becomes live."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer
from tests.kit.fake_github import FakeGitHub
from tests.kit.hostile import HOSTILE
from tests.kit.markdown import found_in_text, links, tags
from tests.kit.runner import NUMBER, Home, Runner, live_commands, sections
from tests.kit.scratch import ScratchRepo, scratch_repo
from touchstone.errors import ExitCode

TEXTS = list(HOSTILE.values())


class Eve:
    """A model that answers well until its prompt changes, and then with whatever does harm."""

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered."""
        number = int(body["messages"][-1]["content"].removeprefix("number "))
        kind = "carefully" in body["messages"][0]["content"]
        return answer(f"fine {number}" if kind else TEXTS[number], model=desk.MODEL, pieces=1)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScratchRepo]:
    with ChatServer(Eve(), models=(desk.MODEL,)) as server:
        repo = scratch_repo(tmp_path_factory.mktemp("hostile") / "project")
        repo.commit("base", files(server.base_url))
        desk.promote(repo)
        yield repo


def files(base_url: str) -> dict[str, str]:
    rows = "".join(
        f'      - {{id: H{n}, prompt: "number {n}", checks: [{{type: starts_with, value: fine}}]}}\n'
        for n in range(len(TEXTS))
    )
    head = desk.DESK_PACK.split("      - {id: A1")[0]
    return {
        "packs/desk.yaml": head + rows,
        "prompts/house.md": desk.PROMPT,
        ".gitignore": "runs/\n",
        "touchstone.yaml": (
            f"endpoint: {{base_url: '{base_url}', retries: 0}}\nmodels: [{{id: {desk.MODEL}}}]\n"
            "host: {sampler: false}\ncompare: {case_reruns: 1}\n"
        ),
    }


def test_no_hostile_answer_is_live_in_comment_summary_annotation_log_or_output(
    hostile: ScratchRepo, tmp_path: Path, runner: Runner, github: FakeGitHub
) -> None:
    home = Home(hostile, tmp_path)
    pull = home.pull_request({"prompts/house.md": desk.WORSE_PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.WORSE, "worse")
    (body,) = github.bodies(NUMBER)
    for told in (sections(body), done.summary):
        assert tags(told) <= OUR_TAGS
        assert set(links(told)) == {"https://github.com/acme/desk/actions/runs/4711"}
        assert found_in_text(told) == []
    assert live_commands(done.out) == [line for line in done.annotations if line.startswith("::error title=")]
    assert live_commands(done.err) == []
    assert not any(line.lstrip().startswith("::") for line in done.err.splitlines())
    assert set(done.outputs) == OUTPUTS
    assert "\x1b" not in done.out + done.err + done.summary + body
    assert TEXTS[0] not in done.outputs["headline"]


OUTPUTS = {"exit-code", "verdict", "headline", "run", "report", "comparison", "comment-url"}
OUR_TAGS = {"<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"}
