"""One server with every fault a server has, each on a question of its own: in one run as the model's, in
another as the judge's. What is answered well beside them is kept and scored; no fault becomes a number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer, Script, answer, chunk, event, whole
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo, scratch_repo

MODEL, JUDGE = "model", "judge"
VERDICT = json.dumps({"rationale": "As seen.", "scores": {"Q1": 4}, "red_flag": False})
LIMITS = "load_s: 2, idle_s: 1, total_s: 2.5, retries: 0"

ELSEWHERE = "http://127.0.0.1:9/v1/chat/completions"
TOO_MANY = whole({"error": {"message": "slow down", "code": 429}}, 429, headers=(("Retry-After", "0"),))


def _stream(*texts: str, **changes: Any) -> Script:
    """The beginning of an answer, and how it goes on."""
    return replace(Script([event(chunk({"content": text})) for text in texts]), **changes)


def _raw(data: bytes, **changes: Any) -> Script:
    return replace(Script([data]), **changes)


FAULTS: dict[str, Script] = {
    "reset_at_once": Script(ending="reset"),
    "reset_in_the_middle": _stream("half an ", ending="reset"),
    "cut_in_the_middle": _stream("half an ", ending="cut"),
    "hangs_up": Script(status=0),
    "never_says_a_byte": Script(ending="hang"),
    "falls_silent": _stream("half an ", ending="hang"),
    "drips_for_ever": _stream(*["drip "] * 60, delays=(0.1,), ending="hang"),
    "comments_for_ever": Script([b": still here\n\n"] * 60, delays=(0.1,), ending="hang"),
    "never_ends": Script([event(chunk({"content": "x" * 60_000}))] * 1200),
    "one_endless_line": Script([b"data: " + b"x" * 60_000] * 1200),
    "http_500": whole({"error": {"message": "planned"}}, 500),
    "http_500_page": _raw(b"<html><h1>Internal Server Error</h1></html>", status=500, framing="length"),
    "429_storm": TOO_MANY,
    "200_with_an_error": whole({"error": {"message": "model crashed", "type": "server_error"}}),
    "error_after_text": Script(
        [event(chunk({"content": "half an "})), event({"error": {"message": "out of memory"}})]
    ),
    "redirect_to_another_host": Script(status=307, headers=(("Location", ELSEWHERE),), framing="length"),
    "a_web_page": _raw(b"<html>Welcome</html>", headers=(("Content-Type", "text/html"),), framing="length"),
    "no_json": _raw(b"data: {half\n\ndata: [DONE]\n\n"),
    "nothing_at_all": _raw(b"", framing="length"),
}  # fmt: skip
"""Each has no usable answer."""


LARGE = {"never_ends", "one_endless_line"}
"""More than 64 MiB each: the client's limit, seen once."""


DRESSED: dict[str, Callable[[str], Script]] = {
    "slow_drip": lambda text: answer(text, pieces=5, delays=(0.02,)),
    "five_megabytes": lambda text: answer(f"{' ' * 5_000_000}{text}", pieces=40),
    "ten_thousand_tokens": lambda text: answer(f"{' ' * 10_000}{text}", pieces=10_000),
    "wrong_content_type": lambda text: replace(answer(text), headers=(("Content-Type", "application/x"),)),
    "not_streamed": lambda text: whole(
        {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    ),
    "cr_alone": lambda text: Script([b"".join(answer(text).chunks).replace(b"\n", b"\r")]),
    "a_byte_at_a_time": lambda text: Script([bytes([byte]) for byte in b"".join(answer(text).chunks)]),
}
"""Odd ways to send a text that is an answer all the same."""


def names() -> list[str]:
    return [*FAULTS, *DRESSED]


@dataclass
class Faulty:
    """Answers the question `NAME?` with its fault; good questions stand between the faulty ones."""

    as_judge: bool = False

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered."""
        asked = body["messages"][-1]["content"]
        name = next((name for name in names() if f"{name}?" in asked), None)
        is_judge = body["model"] == JUDGE
        text = VERDICT if is_judge else f"{name or 'good'} well answered"
        if name is None or is_judge != self.as_judge or (is_judge and name in LARGE):
            return answer(text)
        return FAULTS[name] if name in FAULTS else DRESSED[name](text)


def pack() -> str:
    """A pack with a question per fault, and a good one behind each, so that no server seems to be gone."""
    prompts = [
        line for name in names() for line in (_prompt(f"f.{name}", name), _prompt(f"g.{name}", "good"))
    ]
    return (
        "schema: 1\nid: faults\nversion: 1\ntitle: Faults\nscale: {1: bad, 2: poor, 3: fair, 4: good}\n"
        "dimensions: [{id: Q1, name: Right, weight: 1}]\n"
        "categories:\n  - id: A\n    name: All\n    prompts:\n" + "".join(prompts)
    )


def _prompt(id_: str, asked: str) -> str:
    return f'      - {{id: {id_}, prompt: "{asked}?", tests: "{asked}?"}}\n'


@pytest.fixture
def faulty() -> Faulty:
    return Faulty()


@pytest.fixture
def repo(tmp_path: Path, faulty: Faulty) -> Iterator[ScratchRepo]:
    with ChatServer(faulty, models=(MODEL, JUDGE)) as server:
        made = scratch_repo(tmp_path / "project")
        settings = (
            f"schema: 1\nendpoint: {{base_url: '{server.base_url}', {LIMITS}}}\nmodels: [{{id: {MODEL}}}]\n"
            f"judge: {{model: {JUDGE}}}\nhost: {{sampler: false}}\n"
        )
        made.commit(
            "base", {"packs/faults.yaml": pack(), "touchstone.yaml": settings, ".gitignore": "runs/\n"}
        )
        yield made


def result_of(repo: ScratchRepo) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The one run's only cell, and its rows by prompt."""
    (path,) = repo.path.glob("runs/*/result.json")
    result = json.loads(path.read_text())
    (cell,) = result["cells"]
    return cell, {row["prompt"]: row for row in result["rows"]}


def lines_of(repo: ScratchRepo, name: str) -> dict[str, dict[str, Any]]:
    (path,) = repo.path.glob(f"runs/*/{name}")
    return {line["prompt"]: line for line in map(json.loads, path.read_text().splitlines())}


def is_told(done: Done, repo: ScratchRepo) -> None:
    """The run says nothing, as too much of it failed, and can be told in every form."""
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    for form in ("md", "junit"):
        told = touchstone(repo.path, "report", "latest", "--format", form)
        assert told.code == 0, told.err


ERRORS = {
    "reset_at_once": "transport",
    "reset_in_the_middle": "transport",
    "cut_in_the_middle": "transport",
    "hangs_up": "transport",
    "never_says_a_byte": "timeout_load",
    "falls_silent": "timeout_idle",
    "drips_for_ever": "timeout_total",
    "comments_for_ever": "timeout_total",
    "never_ends": "in_band",
    "one_endless_line": "in_band",
    "http_500": "http",
    "http_500_page": "http",
    "429_storm": "http",
    "200_with_an_error": "in_band",
    "error_after_text": "in_band",
    "redirect_to_another_host": "http",
    "a_web_page": "empty_stream",
    "no_json": "in_band",
    "nothing_at_all": "empty_stream",
}


def test_a_model_with_every_fault_loses_just_those_answers(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "measure", "-q", timeout=300)
    is_told(done, repo)
    cell, rows = result_of(repo)
    kept = lines_of(repo, "responses.jsonl")
    told = {name: (kept[f"f.{name}"]["error"] or {"class": None})["class"] for name in FAULTS}
    assert told == ERRORS
    for name in FAULTS:
        row = rows[f"f.{name}"]
        assert (row["state"], row["pct"]) == ("error", None), name
        assert row["repeats"][0]["scores"] == {}
    fine = [f"g.{name}" for name in names()] + [f"f.{name}" for name in DRESSED]
    assert {id_: (rows[id_]["state"], rows[id_]["pct"]) for id_ in fine} == dict.fromkeys(fine, ("pass", 100))
    assert cell["counts"]["answered"] == len(fine)
    assert cell["quality"]["pct"] == 100, "the mean is that of what was answered"
    assert kept["f.falls_silent"]["response_text"] == "half an ", "a partial answer is kept as such"
    assert len(kept["f.five_megabytes"]["response_text"]) > 5_000_000
    assert kept["f.redirect_to_another_host"]["error"]["message"].count("not followed") == 1


def test_a_judge_with_every_fault_scores_just_the_rest(repo: ScratchRepo, faulty: Faulty) -> None:
    faulty.as_judge = True
    done = touchstone(repo.path, "measure", "-q", timeout=300)
    is_told(done, repo)
    cell, rows = result_of(repo)
    verdicts = lines_of(repo, "judgements.jsonl")
    faulty_ones = FAULTS.keys() - LARGE
    for name in faulty_ones:
        row = rows[f"f.{name}"]
        assert row["state"] in {"error", None}, name
        assert row["pct"] is None, name
        assert verdicts.get(f"f.{name}", {"scores": {}})["scores"] == {}, name
    fine = sorted(rows.keys() - {f"f.{name}" for name in faulty_ones})
    assert {id_: (rows[id_]["state"], rows[id_]["pct"]) for id_ in fine} == dict.fromkeys(fine, ("pass", 100))
    assert (cell["counts"]["answered"], cell["counts"]["judged"]) == (2 * len(names()), len(fine))


def test_a_judge_that_never_answers_ends_the_phase_and_loses_nothing(
    repo: ScratchRepo, faulty: Faulty
) -> None:
    faulty.as_judge = True
    silent = ("never_says_a_byte", "falls_silent", "comments_for_ever")
    only = [word for name in silent for word in ("--only", f"f.{name}")]
    done = touchstone(repo.path, "measure", "-q", *only, timeout=300)
    assert done.code == 2
    assert "failed 3 times in a row" in done.err
    assert "touchstone measure --resume" in done.err
    assert len(lines_of(repo, "responses.jsonl")) == 3
    faulty.as_judge = False
    (run,) = repo.path.glob("runs/*/manifest.json")
    assert touchstone(repo.path, "judge", "--bundle", run.parent.name, "-q").code == 0
    assert {row["state"] for row in result_of(repo)[1].values()} == {"pass"}
