"""The servers a run would ask: do they answer, hold the models, stand free, judge as they should?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.config import Endpoint, JudgeSettings, api_key
from touchstone.engine.address import address_of
from touchstone.engine.build import BuildMetadata
from touchstone.engine.load import requests_running
from touchstone.engine.lock import engine_lock
from touchstone.engine.names import clean_model_id, same_model
from touchstone.engine.probe import probe_build_metadata
from touchstone.engine.reply import Ask
from touchstone.errors import BadInputError, InterruptedRunError, NotJudgedError, TouchstoneError
from touchstone.gate.bench import Bench, client_for
from touchstone.gate.finding import Finding
from touchstone.gate.start import judge_setup, suite_for
from touchstone.host.state import busy_share
from touchstone.judge.calibration import Calibration, tried
from touchstone.judge.opinion import THINKING_OFF, JudgeCalls
from touchstone.judge.prompt import PROMPT_VERSION
from touchstone.judge.records import JudgeIdentity
from touchstone.judge.self_test import schema_works
from touchstone.pack.load import LoadedPack

USUAL_PORTS = (1234, 8080, 8000, 11434)
"""LM Studio, mlx_lm and llama.cpp, vLLM, Ollama."""

LOOK_S = 5.0
BUSY_SHARE = 0.5
"""From this share of all cores on, other programs slow an engine on this machine down."""
LISTED_MAX = 8


@dataclass(frozen=True)
class Place:
    """A server and the models a run would ask it for."""

    endpoint: Endpoint
    models: tuple[str, ...]
    roles: tuple[str, ...]
    """`models`, `judge` or both."""

    @property
    def url(self) -> str:
        """Its base URL."""
        return self.endpoint.base_url or ""


def places_of(bench: Bench) -> list[Place]:
    """Each configured server once per key."""
    config, judge = bench.config, bench.config.judge
    tested = tuple(model.id for model in config.models)
    wanted = [(config.endpoint, tested, "models")]
    if judge is not None:
        wanted.append((bench.judge_endpoint, (judge.model,), "judge"))
    places: dict[tuple[str, str | None], Place] = {}
    for endpoint, models, role in wanted:
        if endpoint.base_url is None:
            continue
        key = endpoint.base_url, endpoint.api_key_env
        known = places.get(key, Place(endpoint, (), ()))
        asked = tuple(dict.fromkeys([*known.models, *models]))
        places[key] = Place(known.endpoint, asked, (*known.roles, role))
    return list(places.values())


@dataclass(frozen=True)
class Answering:
    """A server that answers, though nobody configured it."""

    url: str
    engine: str | None
    """Name, version and runtime, as far as it tells them."""
    models: tuple[str, ...]
    """As it lists them."""


def answering(bench: Bench, urls: Sequence[str] | None = None) -> list[Answering]:
    """The servers that answer at these addresses, by default at the usual loopback ports."""
    usual = [f"http://127.0.0.1:{port}/v1" for port in USUAL_PORTS]
    return [found for url in urls or usual if (found := _answering(bench, url)) is not None]


def usual_places(bench: Bench) -> list[Finding]:
    """Without a configured server: what answers on the usual loopback ports."""
    found = [Finding("engine", "warning", "engine_unnamed", _told_of(place)) for place in answering(bench)]
    ports = ", ".join(map(str, USUAL_PORTS))
    return found or [Finding("engine", "fault", "engine_none", {"ports": ports})]


def engine_findings(bench: Bench, place: Place) -> list[Finding]:
    """Whether the server answers and holds each model; then whether it stands free."""
    try:
        listed = _listed(bench, place.endpoint)
    except BadInputError as error:
        return [Finding("engine", "fault", "said", {"text": error.message, "remedy": error.hint})]
    except TouchstoneError as error:
        return [Finding("engine", "fault", "engine_down", {"url": place.url, "why": error.message})]
    build = probe_build_metadata(place.endpoint, _key(bench, place.endpoint), place.models)
    return [
        Finding("engine", "ok", "engine_answers", {"url": place.url, "engine": _engine_words(build)}),
        *(_model_finding(place, model, listed, build) for model in place.models),
        _lock_finding(place),
        _load_finding(bench, place),
    ]


def no_model(bench: Bench, place: Place) -> Finding | None:
    """A server is named and no model to test on it."""
    if bench.config.models or "models" not in place.roles:
        return None
    try:
        listed = _listed(bench, place.endpoint)
    except TouchstoneError:
        listed = []
    return Finding("model", "fault", "model_unnamed", {"listed": _names(listed)})


def judge_findings(bench: Bench, packs: Sequence[LoadedPack], *, answers: bool) -> list[Finding]:
    """Whether the judge gives the packs' calibration items the scores they are worth; asks it for each.

    `answers`: whether its server does; where not, that has been said.
    """
    judge = bench.config.judge
    judged = [loaded for loaded in packs if loaded.pack.dimensions]
    if judge is None:
        ids = ", ".join(loaded.pack.id for loaded in judged)
        if judged:
            return [Finding("judge", "fault", "judge_unnamed", {"packs": ids})]
        return [Finding("judge", "ok", "judge_not_needed")] if packs else []
    if not answers:
        return []
    proving = [loaded for loaded in judged if loaded.pack.calibration]
    if not proving:
        return [Finding("judge", "warning", "judge_unproven", {"judge": judge.model})]
    return _calibrated(bench, judge, proving)


def _calibrated(bench: Bench, judge: JudgeSettings, packs: Sequence[LoadedPack]) -> list[Finding]:
    endpoint = bench.judge_endpoint
    try:
        with engine_lock(endpoint.base_url or "", wait_s=0, say=bench.say):
            return _asked(bench, judge, packs)
    except NotJudgedError:
        return [Finding("judge", "warning", "judge_busy", {"judge": judge.model})]


def _asked(bench: Bench, judge: JudgeSettings, packs: Sequence[LoadedPack]) -> list[Finding]:
    endpoint, findings = bench.judge_endpoint, list[Finding]()
    version = probe_build_metadata(endpoint, _key(bench, endpoint), [judge.model]).engine_version
    identity = JudgeIdentity(model=judge.model, version=version, prompt_version=PROMPT_VERSION)
    with client_for(endpoint, bench) as client:
        use_schema = schema_works(client.ask, judge.model)
        for loaded in packs:
            suite = suite_for(bench.config, loaded)
            setup = judge_setup(bench.config, suite)
            assert setup is not None  # noqa: S101 - a judge is named and the pack has dimensions
            calls = JudgeCalls(setup, use_schema, THINKING_OFF if judge.thinking == "suppress" else {})
            bench.say(f"asking the judge about the calibration items of {suite.pack_id} …")
            calibration = Calibration(suite, identity, calls, calls.seed(0, 0))
            findings.append(_tried(calibration, client.ask, bench.stop.is_set))
    return findings


def _tried(calibration: Calibration, ask: Ask, stop: Callable[[], bool]) -> Finding:
    suite, judge = calibration.suite, calibration.identity.model
    told = {"judge": judge, "pack": suite.pack_id, "items": len(suite.instrument.calibration)}
    try:
        for _ in tried(calibration, ask, stop):
            pass
    except NotJudgedError as error:
        return Finding("judge", "fault", "judge_unfit", told | {"why": error.message, "remedy": error.hint})
    if stop():
        raise InterruptedRunError("stopped before everything was looked at", "touchstone doctor")
    return Finding("judge", "ok", "judge_calibrated", told)


def _answering(bench: Bench, url: str) -> Answering | None:
    endpoint = Endpoint(base_url=url)
    try:
        listed = _listed(bench, endpoint)
    except TouchstoneError:
        return None
    return Answering(url, _engine_words(probe_build_metadata(endpoint, None, [])), tuple(listed))


def _told_of(place: Answering) -> dict[str, Any]:
    first = place.models[0] if place.models else "MODEL"
    return {"url": place.url, "engine": place.engine, "listed": _names(place.models), "first": first}


def _listed(bench: Bench, endpoint: Endpoint) -> list[str]:
    """The models a server lists, asked once and not for long."""
    quick = endpoint.model_copy(update={"retries": 0, "load_s": min(endpoint.load_s, LOOK_S)})
    with client_for(quick, bench) as client:
        return client.models()


def _key(bench: Bench, endpoint: Endpoint) -> str | None:
    return api_key(endpoint, bench.environ)


def _engine_words(build: BuildMetadata) -> str | None:
    """Name, version and runtime, as far as the engine tells them."""
    return ", ".join(filter(None, [build.engine, build.engine_version, build.runtime])) or None


def _names(listed: Sequence[str]) -> str | None:
    names = [clean_model_id(name) for name in listed]
    more = f" and {len(names) - LISTED_MAX} more" if len(names) > LISTED_MAX else ""
    return ", ".join(names[:LISTED_MAX]) + more if names else None


def _model_finding(place: Place, model: str, listed: Sequence[str], build: BuildMetadata) -> Finding:
    told = {"url": place.url, "model": model, "listed": _names(listed)}
    if any(same_model(model, name) for name in listed):
        return Finding("model", "ok", "model_there", told)
    held = build.served_model.get(model)
    if build.engine == "llama.cpp" and held is not None and len(listed) == 1:
        return Finding("model", "warning", "model_any_name", told | {"held": held})
    return Finding("model", "fault", "model_absent", told)


def _lock_finding(place: Place) -> Finding:
    try:
        with engine_lock(place.url, wait_s=0, say=lambda _: None):
            return Finding("lock", "ok", "lock_free", {"url": place.url})
    except NotJudgedError:
        return Finding("lock", "fault", "lock_held", {"url": place.url})
    except BadInputError as error:
        return Finding("lock", "fault", "said", {"text": error.message, "remedy": error.hint})


def _idle(place: Place) -> Finding:
    return Finding("load", "ok", "load_none", {"url": place.url})


def _load_finding(bench: Bench, place: Place) -> Finding:
    """What the engine says of itself, else how busy this machine is, if the engine runs on it."""
    running = requests_running(place.endpoint, _key(bench, place.endpoint))
    if running is not None:
        told = {"url": place.url, "running": running}
        return Finding("load", "warning", "load_requests", told) if running else _idle(place)
    if not address_of(place.url).is_loopback:
        return Finding("load", "ok", "load_unknown", {"url": place.url})
    share = busy_share()
    if share is None:
        return Finding("load", "ok", "load_unknown", {"url": place.url})
    told = {"url": place.url, "percent": round(share * 100)}
    return Finding("load", "warning" if share >= BUSY_SHARE else "ok", "load_cpu", told)
