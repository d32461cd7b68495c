"""Ground: the effective settings and where each came from.

`touchstone.yaml` is optional; a flag beats the file, the file beats the default.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from touchstone.errors import BadInputError
from touchstone.files import read_bytes
from touchstone.yaml_source import (
    Document,
    KeyPath,
    Problem,
    ProblemsError,
    Typed,
    dotted,
    limit_words,
    quoted,
    read_document,
    read_typed,
    without,
)

CONFIG_SCHEMA = 1
CONFIG_NAME = "touchstone.yaml"
MACHINE_NOTE = "machine: is no longer used and was passed over: chip, memory and system are detected"

_RUNNER_PREFIXES = ("GITHUB_", "ACTIONS_", "RUNNER_")


def _not_the_runners(name: str) -> str:
    if name.startswith(_RUNNER_PREFIXES):
        raise ValueError("names beginning with GITHUB_, ACTIONS_ or RUNNER_ belong to the runner")
    return name


Tenant = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
EnvironmentName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
        json_schema_extra={"not": {"pattern": f"^({'|'.join(_RUNNER_PREFIXES)})"}},
    ),
    AfterValidator(_not_the_runners),
]
EngineName = Literal[
    "auto", "lm-studio", "mlx-lm", "mlx-openai-server", "ollama", "llama.cpp", "vllm", "openai-compatible"
]


class Settings(BaseModel):
    """Base of every settings group: unknown keys refused, no conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


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
    thinking: Literal["suppress", "allow"] = "suppress"
    """Whether a thinking judge is asked not to think aloud, by the hint most engines understand."""


class CompareSettings(Settings):
    """The verdict rule's settings, in points of pct for a span of 80 (a 1–5 scale); other spans scale."""

    false_alarm: float = Field(default=0.01, gt=0, lt=0.5)
    suspect_drop: float = Field(default=1.0, ge=0)
    min_drop: float = Field(default=2.0, ge=0)
    obvious_drop: float = Field(default=5.0, ge=0)
    case_drop: float = Field(default=16.0, ge=0)
    equal_margin: float = Field(default=3.0, ge=0)
    launch_allowance: float = Field(default=0.5, ge=0)
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
    power_every_s: float = Field(default=30.0, ge=0.5, le=3600)
    """How often the power source is asked for: unplugging is seen no sooner."""


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


Override = tuple[object, str]
"""A value given on the command line, and the flag it came with."""
Overrides = Mapping[str, Override]
"""Key path (`endpoint.base_url`) → override."""

NOTHING_READ: Typed[Config] = Typed(None, None, [], [])
NO_OVERRIDES: Overrides = MappingProxyType({})


@dataclass(frozen=True)
class Effective:
    """The settings in force. `origins` names for every setting the default, the file's line or the flag.

    Folders in `config` are relative to `root`. `path` is null where no file was found. `notes` are for
    the person, once.
    """

    config: Config
    origins: dict[str, str]
    path: Path | None
    root: Path
    notes: list[str]


def load_config(path: Path | None, overrides: Overrides = NO_OVERRIDES) -> Effective:
    """The settings of a file, or of `touchstone.yaml` in this folder or its git top level, or the defaults.

    Raises ProblemsError (every fault of the file and the flags) or BadInputError (unreadable).
    """
    found = path or find_config(Path.cwd())
    if found is None:
        return _effective(None, "", None, Path.cwd(), overrides)
    return _effective(read_bytes(found), _shown(found), found, found.absolute().parent, overrides)


def config_from_text(
    text: str | bytes, source: str, root: Path, overrides: Overrides = NO_OVERRIDES
) -> Effective:
    """The settings in a text that is no file here, such as another commit's; `source` names it."""
    return _effective(text, source, None, root, overrides)


def find_config(folder: Path) -> Path | None:
    """`touchstone.yaml` in the folder, else at the top of the git repository it lies in."""
    places = [folder, git_top(folder) or folder]
    return next((path for place in places if (path := place / CONFIG_NAME).is_file()), None)


def git_top(folder: Path) -> Path | None:
    """The nearest folder upwards that holds `.git`, be it a folder or a file; null outside a repository."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def api_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The endpoint's key from the environment; null where none is configured.

    Raises BadInputError, naming the variable and never the key, where it is unset or cannot be a header.
    """
    name = endpoint.api_key_env
    if name is None:
        return None
    key = environ.get(name, "").strip()
    if not key:
        raise BadInputError(
            f"the environment variable {name} is not set: api_key_env names it for the endpoint's key",
            f"export {name}=… or remove api_key_env",
        )
    if not key.isascii() or not key.isprintable():
        raise BadInputError(f"the key in {name} holds characters no header can carry", f"Set {name} again.")
    return key


def _shown(path: Path) -> str:
    """The path as a person in this folder would write it."""
    return os.path.relpath(path) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path)


def _effective(
    text: bytes | str | None, source: str, path: Path | None, root: Path, overrides: Overrides
) -> Effective:
    whole = None if text is None else read_document(text, source)
    document = None if whole is None else without(whole, "machine")
    typed = NOTHING_READ if document is None else read_typed(document, Config)
    faults = _Faults(document, overrides, list(typed.problems))
    config = _validated(typed.values or {}, faults)
    faults.look_at(config or typed.model)
    if faults.problems or config is None:
        raise ProblemsError(faults.problems)
    notes = [MACHINE_NOTE] if document is not whole else []
    return Effective(config, _origins(config, document, overrides), path, root, notes)


class _Faults:
    """Problems of the file and of the flags; each at its line or under its flag."""

    def __init__(self, document: Document | None, overrides: Overrides, problems: list[Problem]) -> None:
        self.problems = problems
        self.overrides = overrides
        self._document = document

    def at(self, path: KeyPath, text: str, hint: str | None = None) -> None:
        """Note a problem of a setting where its value came from."""
        flag = _flag_of(path, self.overrides)
        if flag is None and self._document is not None:
            self.problems.append(self._document.problem(path, text, hint))
        else:
            self.problems.append(Problem(flag or dotted(path), None, None, "", text, hint))

    def look_at(self, config: Config | None) -> None:
        """Rules across settings, as far as the settings could be read."""
        if config is None:
            return
        _models_differ(config, self)
        _url_is_plain(("endpoint", "base_url"), config.endpoint.base_url, self)
        if config.judge and config.judge.endpoint:
            _url_is_plain(("judge", "endpoint", "base_url"), config.judge.endpoint.base_url, self)


def _validated(values: dict[str, Any], faults: _Faults) -> Config | None:
    """The settings with the flags over them; a flag is checked like the setting it stands for."""
    from_file = bool(faults.problems)
    try:
        return Config.model_validate(_merged(values, faults.overrides))
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            missing = fault["type"] == "missing"
            path, words = fault["loc"], limit_words(fault["type"], fault.get("ctx", {}))
            # What the file itself got wrong has been noted with its line.
            if not from_file or (not missing and _flag_of(path, faults.overrides)):
                faults.at(path[:-1] if missing else path, f"{dotted(path)} {words}" if missing else words)
    return None


def _merged(values: dict[str, Any], overrides: Overrides) -> dict[str, Any]:
    merged = dict(values)
    for name, (value, _) in overrides.items():
        *groups, key = name.split(".")
        place = merged
        for group in groups:
            inner = place.get(group)
            place[group] = dict(inner) if isinstance(inner, dict) else {}
            place = place[group]
        place[key] = value
    return merged


def _flag_of(path: KeyPath, overrides: Overrides) -> str | None:
    """The flag a setting's value came with: its own, one of a group above it, or one inside it."""
    parts = tuple(str(part) for part in path)
    for name, (_, flag) in overrides.items():
        given = tuple(name.split("."))
        shared = min(len(parts), len(given))
        if parts[:shared] == given[:shared]:
            return flag
    return None


def _models_differ(config: Config, faults: _Faults) -> None:
    for key in ("id", "was"):
        taken: dict[str, int] = {}
        for index, model in enumerate(config.models):
            name = getattr(model, key, None)
            if not name:
                continue
            first = taken.setdefault(unicodedata.normalize("NFC", name), index)
            if first != index:
                text = f"{quoted(name)} is also that of models[{first}]"
                faults.at(("models", index, key), text, "every model needs its own")


def _url_is_plain(path: KeyPath, url: str | None, faults: _Faults) -> None:
    """The message never repeats the URL: what is wrong with it may be a password."""
    if url is None:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() or not character.isprintable() for character in url):
        faults.at(path, "must be an http:// or https:// address", "such as http://127.0.0.1:1234/v1")
    elif parts.username is not None or parts.password is not None:
        hint = "name the variable that holds the key in api_key_env"
        faults.at(path, "a user name or key may not stand in the address", hint)
    elif parts.query or parts.fragment:
        faults.at(path, "may not hold ? or #", "such as http://127.0.0.1:1234/v1")


def _origins(config: Config, document: Document | None, overrides: Overrides) -> dict[str, str]:
    origins = {}
    for path in _setting_paths(config):
        name = dotted(path)
        place = document.place_of(path) if document and document.node_at(path) else None
        line = f"{document.file}:{place[0]}" if document and place else "default"
        origins[name] = next((flag for key, (_, flag) in overrides.items() if _covers(key, name)), line)
    return origins


def _covers(given: str, name: str) -> bool:
    return name == given or name.startswith(given + ".")


def _setting_paths(group: Settings, path: KeyPath = ()) -> Iterator[KeyPath]:
    for name, info in type(group).model_fields.items():
        value = getattr(group, name)
        place = (*path, info.alias or name)
        if isinstance(value, Settings):
            yield from _setting_paths(value, place)
        else:
            yield place
