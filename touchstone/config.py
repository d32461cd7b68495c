"""Ground: the effective settings and where each came from.

`touchstone.yaml` is optional; a flag beats the file, the file beats the default.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

CONFIG_SCHEMA = 1
CONFIG_NAME = "touchstone.yaml"

_RUNNER_PREFIXES = ("GITHUB_", "ACTIONS_", "RUNNER_")


def _not_the_runners(name: str) -> str:
    if name.startswith(_RUNNER_PREFIXES):
        raise ValueError("names beginning with GITHUB_, ACTIONS_ or RUNNER_ belong to the runner")
    return name


Tenant = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
EnvironmentName = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"), AfterValidator(_not_the_runners)
]
EngineName = Literal[
    "auto", "lm-studio", "mlx-lm", "mlx-openai-server", "ollama", "llama.cpp", "vllm", "openai-compatible"
]


class Settings(BaseModel):
    """Base of every settings group: unknown keys refused, no conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Endpoint(Settings):
    """Where a model is asked. Keys are named by environment variable, never written. Times in seconds."""

    base_url: str | None = None
    api_key_env: EnvironmentName | None = None
    engine: EngineName = "auto"
    load_s: float = Field(default=600, gt=0)
    idle_s: float = Field(default=120, gt=0)
    total_s: float = Field(default=900, gt=0)
    retries: int = Field(default=3, ge=0, le=10)
    concurrency: int = Field(default=1, ge=1, le=256)
    trust_env: bool = False
    strict_model: bool = False


class ModelSettings(Settings):
    """A model under test. `was` is the name it had in the baseline; `quant` fills in
    where the engine tells none."""

    id: str = Field(min_length=1)
    was: str | None = None
    quant: str | None = None
    extra_body: dict[str, Any] = {}


class JudgeSettings(Settings):
    """The model that scores. `endpoint` absent: the same as the models'."""

    model: str = Field(min_length=1)
    endpoint: Endpoint | None = None
    temperature: float = Field(default=0.0, ge=0)
    seed: int | None = 42
    max_tokens: int | None = Field(default=2048, gt=0)
    samples: int = Field(default=1, ge=1, le=99)
    max_consecutive_failures: int = Field(default=3, ge=0)


class CompareSettings(Settings):
    """The verdict rule's settings, in points of pct for a span of 80 (a 1–5 scale); other spans scale."""

    false_alarm: float = Field(default=0.01, gt=0, lt=0.5)
    suspect_drop: float = Field(default=1.0, ge=0)
    min_drop: float = Field(default=2.0, ge=0)
    obvious_drop: float = Field(default=5.0, ge=0)
    case_drop: float = Field(default=16.0, ge=0)
    equal_margin: float = Field(default=3.0, ge=0)
    launch_allowance: float = Field(default=0.3, ge=0)
    case_reruns: int = Field(default=5, ge=1)
    confirm_runs: int = Field(default=2, ge=1)
    flag_rejudge: int = Field(default=4, ge=1)
    strict_rows: bool = False
    strict_flags: bool = False
    require_baseline: bool = False
    accept_promotions: bool = True
    fail_on: Literal["worse", "not-judged", "suspect"] = "not-judged"


class HostSettings(Settings):
    """What is watched on this machine while a run goes on."""

    sampler: bool = True


class Config(Settings):
    """Every setting with its default. Folders are relative to the configuration file."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    tenant: Tenant = "default"
    target: Tenant | None = None
    endpoint: Endpoint = Endpoint()
    models: list[ModelSettings] = []
    judge: JudgeSettings | None = None
    packs: list[str] = ["packs"]
    """Pack files and folders of packs."""
    runs_dir: str = "runs"
    keep_runs: int = Field(default=20, ge=3)
    baselines_dir: str = "baselines"
    compare: CompareSettings = CompareSettings()
    host: HostSettings = HostSettings()
    language: Literal["en", "de"] = "en"
    max_calls: int | None = Field(default=None, gt=0)
    max_minutes: float | None = Field(default=None, gt=0)
