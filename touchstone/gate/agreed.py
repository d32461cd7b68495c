"""The settings a change is checked under: those of its base commit, whatever the change says of them.

What the change puts under test is its own: packs, prompts, the models, and the judge, whose every
difference the comparison names. Where a model is asked, and which variable holds a key, is never taken
from a change: a pull request could send a key to a server of its own.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from touchstone.baseline.differences import differences
from touchstone.config import (
    CONFIG_NAME,
    Config,
    Effective,
    Endpoint,
    JudgeSettings,
    Overrides,
    config_from_text,
    load_config,
)
from touchstone.errors import BadInputError
from touchstone.git import Repository

_UNDER_TEST = ("models", "packs", "judge")


class Unused(NamedTuple):
    """A setting of the change that does not count yet, with the value that does."""

    name: str
    counts: Any
    proposed: Any


@dataclass(frozen=True)
class Agreed:
    """`effective` is what is measured and held under; `own` are the settings as the change has them.

    `source` is the base's file, null where it has none; `deleted` that file, where the change takes it away;
    `unused` what the change says, or leaves unsaid, in vain.
    """

    effective: Effective
    own: Effective
    source: str | None
    unused: list[Unused]
    deleted: Path | None = None


def agreed_settings(
    repository: Repository, base: str, cwd: Path, named: Path | None, overrides: Overrides
) -> Agreed:
    """The settings at `base`, in the file `named` or in the usual places; `overrides` go before.

    BadInputError where the base's file cannot be read, or where only the change says where to ask.
    """
    places = [cwd / named] if named is not None else _usual_places(repository, cwd)
    for place in places:
        content = repository.read(base, repository.relative(place))
        if content is not None:
            source = f"{base[:12]}:{repository.relative(place)}"
            agreed = _settings_in(content, source, place, overrides)
            there = next((one for one in places if one.is_file()), None)
            if there is None:
                left = _settings_in(b"schema: 1\n", source, place, overrides)
                return replace(_agreed(agreed, agreed, left, source, overrides), deleted=place)
            own = load_config(there, overrides)
            gone = None if there == place else place
            return replace(_agreed(agreed, own, own, source, overrides), deleted=gone)
    own = load_config(next((place for place in places if place.is_file()), named), overrides)
    first = replace(own, config=_first_config(own.config, overrides))
    return _agreed(first, own, own, None, overrides)


def _usual_places(repository: Repository, cwd: Path) -> list[Path]:
    return list(dict.fromkeys([cwd / CONFIG_NAME, repository.root / CONFIG_NAME]))


def _settings_in(content: bytes, source: str, place: Path, overrides: Overrides) -> Effective:
    plain = {name: value for name, value in overrides.items() if not name.startswith("judge.")}
    found = config_from_text(content, source, place.parent, plain)
    if found.config.judge is None:
        return replace(found, path=place)
    return replace(config_from_text(content, source, place.parent, overrides), path=place)


def _agreed(
    base: Effective, own: Effective, merged: Effective, source: str | None, overrides: Overrides
) -> Agreed:
    """`own` is put under test; `merged` are the settings that would be left after a merge."""
    config = base.config.model_copy(
        update={
            "models": own.config.models,
            "judge": _judge(base.config, own.config, overrides),
            "packs": list(dict.fromkeys([*base.config.packs, *own.config.packs])),
        }
    )
    lost = [entry for entry in base.config.packs if entry not in merged.config.packs]
    unused = [Unused("packs", base.config.packs, merged.config.packs)] if lost else []
    return Agreed(replace(base, config=config), own, source, [*_unused(config, merged.config), *unused])


def _judge(base: Config, own: Config, overrides: Overrides) -> JudgeSettings | None:
    """The change's judge, asked where the base or the command line says."""
    if own.judge is None:
        return None
    endpoint = (
        base.judge.endpoint if base.judge is not None else _given_endpoint(overrides, "judge.endpoint.")
    )
    return own.judge.model_copy(update={"endpoint": endpoint})


def _given_endpoint(overrides: Overrides, group: str) -> Endpoint | None:
    given = {
        name.removeprefix(group): value for name, (value, _) in overrides.items() if name.startswith(group)
    }
    return Endpoint.model_validate(given) if given else None


def _unused(config: Config, own: Config) -> Iterator[Unused]:
    said, counts = own.model_dump(by_alias=True), config.model_dump(by_alias=True)
    for settings in (said, counts):
        for name in _UNDER_TEST:
            del settings[name]
    said["judge"] = {"endpoint": _endpoint_of(own)}
    counts["judge"] = {"endpoint": _endpoint_of(config)}
    for place, value, proposed in differences(counts, said):
        yield Unused(place, value, proposed)


def _endpoint_of(config: Config) -> dict[str, Any] | None:
    endpoint = config.judge.endpoint if config.judge is not None else None
    return None if endpoint is None else endpoint.model_dump()


def _first_config(own: Config, overrides: Overrides) -> Config:
    """Settings where the base has no file: the defaults and what the command line gives.

    A change that brings the first file may name a server on this machine, which needs no key.
    """
    given = _given_endpoint(overrides, "endpoint.")
    endpoint = _first_endpoint(own.endpoint, given, "base-url") or Endpoint()
    judge = own.judge
    if judge is not None:
        asked = _given_endpoint(overrides, "judge.endpoint.")
        judge = judge.model_copy(
            update={"endpoint": _first_endpoint(judge.endpoint, asked, "judge-base-url")}
        )
    return Config(
        **_given_settings(overrides), models=own.models, packs=own.packs, endpoint=endpoint, judge=judge
    )


def _given_settings(overrides: Overrides) -> dict[str, Any]:
    return {name: value for name, (value, _) in overrides.items() if "." not in name}


def _first_endpoint(own: Endpoint | None, given: Endpoint | None, flag: str) -> Endpoint | None:
    if own is None or own.base_url is None or (given is not None and given.base_url is not None):
        return given
    if own.api_key_env is None and _is_loopback(own.base_url):
        return own
    raise BadInputError(
        "the base has no settings yet, and a change may not name the server to ask or its key",
        f"Name it in the workflow, with the input {flag} (and {flag.replace('base-url', 'api-key-env')}), "
        "or merge touchstone.yaml first.",
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
