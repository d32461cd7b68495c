"""Settings: where each comes from, and every fault at its line or under its flag."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from touchstone.config import (
    Config,
    Effective,
    Endpoint,
    api_key,
    config_from_text,
    find_config,
    git_top,
    load_config,
)
from touchstone.errors import BadInputError
from touchstone.yaml_source import ProblemsError

FULL = """schema: 1
tenant: werkstatt
target: studio
endpoint:
  base_url: http://127.0.0.1:1234/v1
  api_key_env: STUDIO_KEY
  engine: lm-studio
  load_s: 60
  idle_s: 12.5
  total_s: 90
  retries: 1
  concurrency: 2
  trust_env: true
  strict_model: true
models:
  - id: small
    was: smaller
    quant: Q4_K_M
    extra_body: {top_k: 1, chat_template_kwargs: {enable_thinking: false}}
  - {id: large}
judge:
  model: judge
  endpoint: {base_url: "http://127.0.0.1:8080/v1"}
  temperature: 0
  seed: null
  max_tokens: 100
  samples: 3
  max_consecutive_failures: 5
  thinking: allow
packs: [packs, more/pack.yaml]
runs_dir: out
keep_runs: 5
baselines_dir: kept
compare: {false_alarm: 0.02, strict_rows: true, fail_on: suspect}
host: {sampler: false, power_every_s: 5}
language: de
max_calls: 100
max_minutes: 7.5
"""


def test_every_setting_can_be_written(tmp_path: Path) -> None:
    effective = config_from_text(FULL, "touchstone.yaml", tmp_path)
    assert effective.config.endpoint.idle_s == 12.5
    assert effective.config.models[0].extra_body["chat_template_kwargs"] == {"enable_thinking": False}
    assert effective.config.judge is not None
    assert effective.config.judge.seed is None
    written = {name for name, origin in effective.origins.items() if origin != "default"}
    unwritten = set(effective.origins) - written
    assert not [name for name in unwritten if not name.startswith(("compare.", "judge.endpoint."))]


def test_no_file_means_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    effective = load_config(None)
    assert effective == Effective(Config(), effective.origins, None, tmp_path, [])
    assert set(effective.origins.values()) == {"default"}
    assert {"schema", "endpoint.base_url", "compare.min_drop", "judge", "models"} <= set(effective.origins)


def test_the_file_is_found_here_then_at_the_git_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "touchstone.yaml").write_text("tenant: top\n")
    monkeypatch.chdir(inner)
    assert load_config(None).config.tenant == "default"  # no repository: only this folder counts
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")  # a worktree's .git is a file
    effective = load_config(None)
    assert effective.config.tenant == "top"
    assert (effective.path, effective.root) == (tmp_path / "touchstone.yaml", tmp_path)
    (inner / "touchstone.yaml").write_text("tenant: here\n")
    assert load_config(None).config.tenant == "here"
    assert load_config(None).origins["tenant"] == "touchstone.yaml:1"
    assert find_config(tmp_path / "a") == tmp_path / "touchstone.yaml"
    assert git_top(inner) == tmp_path


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"gone\.yaml: cannot be read"):
        load_config(tmp_path / "gone.yaml")


def test_each_setting_names_its_origin(tmp_path: Path) -> None:
    text = "tenant: a\nendpoint:\n  retries: 2\n  base_url: http://a/v1\n"
    flags = {"endpoint.base_url": ("http://b/v1", "--base-url"), "judge.model": ("j", "--judge-model")}
    effective = config_from_text(text, "touchstone.yaml", tmp_path, flags)
    assert effective.config.endpoint.base_url == "http://b/v1"
    assert effective.config.endpoint.retries == 2
    assert effective.config.judge is not None
    origins = effective.origins
    assert origins["tenant"] == "touchstone.yaml:1"
    assert origins["endpoint.retries"] == "touchstone.yaml:3"
    assert origins["endpoint.base_url"] == "--base-url"
    assert origins["endpoint.idle_s"] == "default"
    assert origins["judge.model"] == "--judge-model"
    assert origins["judge.seed"] == "default"


def test_a_flag_fills_a_group_the_file_leaves_empty(tmp_path: Path) -> None:
    flags = {"judge.endpoint.base_url": ("http://b/v1", "--judge-base-url")}
    effective = config_from_text("judge: {model: j}\n", "f", tmp_path, flags)
    assert effective.config.judge is not None
    assert effective.config.judge.endpoint == Endpoint(base_url="http://b/v1")
    flags = {"judge.model": ("j", "--judge-model")}
    assert config_from_text("judge: null\n", "f", tmp_path, flags).config.judge is not None


def test_a_flag_replaces_a_list(tmp_path: Path) -> None:
    flags: dict[str, tuple[object, str]] = {"models": ([{"id": "x"}], "--model")}
    effective = config_from_text("models: [{id: a}, {id: b}]\n", "f", tmp_path, flags)
    assert [model.id for model in effective.config.models] == ["x"]
    assert effective.origins["models"] == "--model"


FAULTS = """
tenent: x
1:1: tenent: unknown key "tenent" (did you mean tenant?)

tenant: Werkstatt
1:9: tenant: may hold lower-case letters, digits and dashes, at most 64, beginning with a letter or digit

target: no
1:9: target: a text is due, but YAML can read no as false (quote it: "no")

endpoint: {api_key: secret}
1:12: endpoint.api_key: unknown key "api_key" (did you mean api_key_env?)

endpoint: {api_key_env: sk-live-123}
1:25: endpoint.api_key_env: must be the name of an environment variable, such as MY_API_KEY, never the key itself

endpoint: {api_key_env: GITHUB_TOKEN}
1:25: endpoint.api_key_env: names beginning with GITHUB_, ACTIONS_ or RUNNER_ belong to the runner

endpoint: {engine: lmstudio}
1:20: endpoint.engine: auto, lm-studio, mlx-lm, mlx-openai-server, ollama, llama.cpp, vllm or openai-compatible is due, not "lmstudio" (did you mean lm-studio?)

endpoint: {concurrency: 0}
1:25: endpoint.concurrency: must be at least 1

endpoint: {retries: 11}
1:21: endpoint.retries: must be at most 10

compare: {false_alarm: 0.5}
1:24: compare.false_alarm: must be less than 0.5

endpoint: {base_url: 127.0.0.1:1234}
1:22: endpoint.base_url: must be an http:// or https:// address (such as http://127.0.0.1:1234/v1)

endpoint: {base_url: "http://[::1"}
1:22: endpoint.base_url: must be an http:// or https:// address (such as http://127.0.0.1:1234/v1)

endpoint: {base_url: "http://user:hunter2@host/v1"}
1:22: endpoint.base_url: a user name or key may not stand in the address (name the variable that holds the key in api_key_env)

judge: {model: j, endpoint: {base_url: "http://h/v1?key=hunter2"}}
1:40: judge.endpoint.base_url: may not hold ? or # (such as http://127.0.0.1:1234/v1)

models: [{id: a}, {id: a}]
1:24: models[1].id: "a" is also that of models[0] (every model needs its own)

models: [{id: a, was: c}, {id: b, was: c}]
1:40: models[1].was: "c" is also that of models[0] (every model needs its own)

judge: {samples: 3}
1:1: judge: model is missing (add model: …)

keep_runs: 2
1:12: keep_runs: must be at least 3

schema: 9
1:9: schema: schema 9 is newer than this touchstone knows (1) (upgrade touchstone)
"""  # noqa: E501


@pytest.mark.parametrize("fault", FAULTS.strip().split("\n\n"))
def test_a_fault_reads(fault: str, tmp_path: Path) -> None:
    text, line = fault.split("\n")
    with pytest.raises(ProblemsError) as refused:
        config_from_text(text, "f", tmp_path)
    assert refused.value.message == f"f:{line}"
    assert "hunter2" not in refused.value.message


FORM = "may hold lower-case letters, digits and dashes, at most 64, beginning with a letter or digit"
FLAG_FAULTS: list[tuple[str, object, str]] = [
    ("endpoint.concurrency", 0, "must be at least 1"),
    ("endpoint.concurrency", "two", "must be a whole number"),
    ("endpoint.idle_s", "soon", "must be a number"),
    ("endpoint.trust_env", "maybe", "must be true or false"),
    (
        "endpoint.base_url",
        "localhost",
        "must be an http:// or https:// address (such as http://127.0.0.1:1234/v1)",
    ),
    ("endpoint.base_url", 5, "must be a text"),
    ("tenant", "A B", FORM),
    ("judge.max_tokens", 5, "judge.model is missing"),
    ("models", [{"id": "a"}, {"id": "a"}], '"a" is also that of models[0] (every model needs its own)'),
    ("models", "a", "must be a list"),
    ("language", "fr", "must be one of en or de"),
    ("compare.nonsense", 1, "is not a key known here"),
]


@pytest.mark.parametrize(("path", "value", "words"), FLAG_FAULTS)
@pytest.mark.parametrize("text", [None, "runs_dir: out\n"], ids=["no file", "a file"])
def test_a_flags_fault_names_the_flag(
    path: str, value: object, words: str, text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if text:
        Path("touchstone.yaml").write_text(text)
    with pytest.raises(ProblemsError) as refused:
        load_config(None, {path: (value, "--flag")})
    assert refused.value.message == f"--flag: {words}"


def test_a_fault_of_the_file_is_not_laid_on_a_flag(tmp_path: Path) -> None:
    flags = {"endpoint.concurrency": (0, "--concurrency")}
    with pytest.raises(ProblemsError) as refused:
        config_from_text("endpoint: {retries: 99}\n", "f", tmp_path, flags)
    assert [str(problem) for problem in refused.value.problems] == [
        "--concurrency: must be at least 1",
        "f:1:21: endpoint.retries: must be at most 10",
    ]


def test_a_flag_does_not_excuse_the_file(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match=r"f:1:21: endpoint\.retries"):
        config_from_text("endpoint: {retries: 99}\n", "f", tmp_path, {"endpoint.retries": (1, "--retries")})


def test_an_old_machine_key_is_passed_over_and_mentioned_once(tmp_path: Path) -> None:
    effective = config_from_text("machine: Mac Studio\ntenant: a\n", "f", tmp_path)
    assert effective.config.tenant == "a"
    assert len(effective.notes) == 1
    assert config_from_text("tenant: a\n", "f", tmp_path).notes == []


def test_an_empty_file_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="the file is empty"):
        config_from_text("# nothing yet\n", "f", tmp_path)


def test_the_key_comes_from_the_environment() -> None:
    assert api_key(Endpoint(), {"KEY": "x"}) is None
    assert api_key(Endpoint(api_key_env="KEY"), {"KEY": " sk-1\n"}) == "sk-1"


@pytest.mark.parametrize("environ", [{}, {"KEY": ""}, {"KEY": " \n"}])
def test_an_unset_key_is_named_by_its_variable(environ: dict[str, str]) -> None:
    with pytest.raises(BadInputError, match="KEY is not set") as refused:
        api_key(Endpoint(api_key_env="KEY"), environ)
    assert "export KEY=" in str(refused.value.hint)


@pytest.mark.parametrize("key", ["a\r\nX-Evil: 1", "schlüssel", "a\x00b"])
def test_a_key_that_is_no_header_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(BadInputError) as refused:
        api_key(Endpoint(api_key_env="KEY"), {"KEY": key})
    assert key not in refused.value.message


def test_settings_without_a_file_need_no_yaml(tmp_path: Path) -> None:
    script = "import sys, touchstone.config as c; c.load_config(None); assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


_VALUES = [
    "x",
    "no",
    "1",
    "-1",
    "1.5",
    "~",
    "{}",
    "[]",
    "{id: a}",
    "[{id: a}]",
    "{base_url: x}",
    "[[]]",
    "'q'",
]
_LINES = st.dictionaries(
    st.sampled_from([*Config.model_fields, "schema", "machine", "zz"]), st.sampled_from(_VALUES), max_size=5
)


@given(_LINES)
@examples(max_examples=300, deadline=None)
def test_whatever_is_written_either_loads_or_is_named(lines: dict[str, str]) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in lines.items())
    with contextlib.suppress(ProblemsError):
        config_from_text(text, "f", Path("/"))
