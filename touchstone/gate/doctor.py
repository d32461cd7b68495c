"""Doctor: everything a run depends on, looked at before it starts. Nothing is changed or kept.

The forge is no door of this room: what it says of a token comes in as a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from touchstone.engine.address import Address, address_of
from touchstone.engine.wire import proxy_place
from touchstone.errors import BadInputError
from touchstone.gate.bench import Bench
from touchstone.gate.finding import Contact, Finding, FindingState
from touchstone.gate.places import Place, engine_findings, judge_findings, no_model, places_of, usual_places
from touchstone.gate.start import files_of, git_state
from touchstone.git import Repository
from touchstone.host.clock import clock_look
from touchstone.host.command import this_system
from touchstone.host.info import host_info
from touchstone.host.readers.powermetrics import is_permission
from touchstone.host.readers.words import PRESSURE_WORDS, THERMAL_WORDS
from touchstone.host.service import SERVICE_PATH, python_on
from touchstone.host.state import MachineState, machine_state
from touchstone.host.storage import Storage, storage_of
from touchstone.host.thermal import SUDO_REMEDY
from touchstone.pack.load import LoadedPack, find_packs, load_pack

OLDEST_PYTHON = (3, 11)
TOKEN_NAMES = ("GITHUB_TOKEN", "GH_TOKEN")
CLOCK_TOLERANCE_S = 1.0
PARTED_S = 0.1
GB = 2**30

_TOKEN_KINDS = {
    "ghp_": "personal access token (classic)",
    "github_pat_": "fine-grained personal access token",
    "ghs_": "app or workflow token",
    "gho_": "OAuth token",
    "ghu_": "app user token",
}
_TOKEN_STATES: dict[str, FindingState] = {"write": "ok", "rejected": "fault"}


@dataclass(frozen=True)
class Needs:
    """What must be there: room for runs, and Python where a service looks for it."""

    free_gb: float = 1.0
    service_path: str = SERVICE_PATH


RightsOf = Callable[[str, str], str]
"""(`owner/name`, token) → a word of `touchstone.forge.github.Rights`."""


@dataclass(frozen=True)
class ForgeLook:
    """What is known of the forge: the repository there, its hosts, and how to ask; null: not to be asked."""

    repository: str | None = None
    rights_of: RightsOf | None = None
    contacts: tuple[Contact, ...] = ()


@dataclass(frozen=True)
class Examination:
    """Every finding in the order of looking, and every host a run would contact."""

    findings: list[Finding]
    contacts: list[Contact]


def examination(bench: Bench, needs: Needs, forge: ForgeLook) -> Examination:
    """Look at everything. Asks the judge for the packs' calibration items, and contacts nobody else than the
    configured servers, the usual loopback ports where none is configured, and the forge if it may be asked.
    """
    places = places_of(bench)
    packs, pack_findings = _packs(bench)
    engines = _engines(bench, places)
    answering = {found.facts["url"] for found in engines if found.code == "engine_answers"}
    judge_answers = bench.judge_endpoint.base_url in answering
    findings: list[Finding] = [
        *engines,
        *pack_findings,
        *judge_findings(bench, packs, answers=judge_answers),
        _git_finding(bench, packs),
        _token_finding(bench, forge),
        *_machine_findings(places),
        *_storage_findings(bench, needs),
        _clock_finding(),
        Finding("python", "ok", "python_here", {"version": host_info().python}),
        _service_finding(needs),
    ]
    return Examination(findings, [*_contacts(places), *forge.contacts])


def _engines(bench: Bench, places: Sequence[Place]) -> list[Finding]:
    if bench.config.endpoint.base_url is None:
        found = usual_places(bench)
    else:
        found = [finding for place in places if (finding := no_model(bench, place)) is not None]
    return [*(finding for place in places for finding in engine_findings(bench, place)), *found]


def _packs(bench: Bench) -> tuple[list[LoadedPack], list[Finding]]:
    """The packs that can be read, and what is to be said of all of them."""
    packs, findings = list[LoadedPack](), list[Finding]()
    try:
        paths = find_packs(bench.root / entry for entry in bench.config.packs)
    except BadInputError:
        return [], [Finding("packs", "warning", "packs_none", {"places": ", ".join(bench.config.packs)})]
    for path in paths:
        try:
            packs.append(load_pack(path))
        except BadInputError as error:
            why = error.message.splitlines()[0]
            findings.append(Finding("packs", "fault", "pack_bad", {"path": path.name, "why": why}))
    if packs:
        ids = ", ".join(loaded.pack.id for loaded in packs)
        findings.append(Finding("packs", "ok", "packs_read", {"ids": ids}))
    return packs, findings


def _git_finding(bench: Bench, packs: Sequence[LoadedPack]) -> Finding:
    try:
        if Repository.open(bench.root) is None:
            return Finding("git", "warning", "git_none")
        files = [path for loaded in packs for path in files_of(loaded, bench.config_path)]
        state = git_state(bench.root, files)
    except BadInputError as error:
        return Finding("git", "fault", "said", {"text": error.message, "remedy": error.hint})
    if state.commit is None:
        return Finding("git", "warning", "git_empty")
    commit = {"commit": state.commit[:12]}
    if state.clean is None:
        return Finding("git", "warning", "git_unknown", commit)
    return Finding(
        "git", "ok" if state.clean else "warning", "git_clean" if state.clean else "git_dirty", commit
    )


def _token_finding(bench: Bench, forge: ForgeLook) -> Finding:
    name = next((name for name in TOKEN_NAMES if bench.environ.get(name)), None)
    if name is None:
        return Finding("token", "ok", "token_none")
    token = bench.environ[name]
    kind = next((words for prefix, words in _TOKEN_KINDS.items() if token.startswith(prefix)), "token")
    told = {"name": name, "kind": kind, "repository": forge.repository}
    if forge.rights_of is None:
        return Finding("token", "ok", "token_unasked", told)
    if forge.repository is None:
        return Finding("token", "warning", "token_nowhere", told)
    rights = forge.rights_of(forge.repository, token)
    return Finding("token", _TOKEN_STATES.get(rights, "warning"), f"token_{rights}", told)


def _machine_findings(places: Sequence[Place]) -> list[Finding]:
    state, on_mac = machine_state(), this_system() == "darwin"
    findings = _fitness(state)
    if on_mac:
        findings = [_thermal_finding(state), *findings]
        hosts = [_address(place).authority for place in places if not _address(place).is_loopback]
        findings += [Finding("local network", "warning", "local_network", {"host": host}) for host in hosts]
    return findings


def _thermal_finding(state: MachineState) -> Finding:
    if is_permission(state.thermal_refusal):
        return Finding(
            "sudo", "warning", "sudo_denied", {"why": state.thermal_refusal, "remedy": SUDO_REMEDY}
        )
    if state.thermal is None:
        return Finding("sudo", "warning", "thermal_unknown", {"why": state.thermal_refusal})
    return Finding("sudo", "ok", "sudo_allowed", {"thermal": state.thermal})


def _fitness(state: MachineState) -> list[Finding]:
    """What of the machine's state would spoil times now; what cannot be read spoils nothing."""
    findings = []
    if state.power.power == "battery":
        findings.append(Finding("machine", "warning", "on_battery"))
    if state.thermal not in {None, THERMAL_WORDS[0]}:
        findings.append(Finding("machine", "warning", "throttled", {"thermal": state.thermal}))
    if state.pressure not in {None, PRESSURE_WORDS[0]}:
        findings.append(Finding("machine", "warning", "under_pressure", {"pressure": state.pressure}))
    return findings


def _storage_findings(bench: Bench, needs: Needs) -> list[Finding]:
    seen = storage_of(bench.runs_dir)
    told = {"folder": bench.config.runs_dir, "needed_gb": needs.free_gb, "free_gb": _gb(seen)}
    findings = []
    if not seen.is_writable:
        findings.append(Finding("disk", "fault", "disk_closed", told | {"parent": str(seen.folder)}))
    if seen.free_bytes is None:
        findings.append(Finding("disk", "warning", "disk_unknown", told))
    elif seen.free_bytes < needs.free_gb * GB:
        findings.append(Finding("disk", "fault", "disk_full", told))
    elif seen.is_writable:
        findings.append(Finding("disk", "ok", "disk_free", told))
    if seen.clock_ahead_s is not None and abs(seen.clock_ahead_s) > CLOCK_TOLERANCE_S:
        off = {"seconds": round(seen.clock_ahead_s, 1)}
        findings.append(Finding("clock", "warning", "clock_of_disk", told | off))
    return findings


def _gb(seen: Storage) -> float | None:
    return None if seen.free_bytes is None else round(seen.free_bytes / GB, 1)


def _clock_finding() -> Finding:
    look = clock_look()
    if look.behind_s > CLOCK_TOLERANCE_S:
        return Finding("clock", "fault", "clock_behind", {"hours": round(look.behind_s / 3600, 1)})
    if abs(look.parted_s) > PARTED_S:
        return Finding("clock", "warning", "clock_jumps", {"seconds": round(look.parted_s, 2)})
    return Finding("clock", "ok", "clock_even")


def _service_finding(needs: Needs) -> Finding:
    found = python_on(needs.service_path)
    told = {"path": needs.service_path}
    if found is None:
        return Finding("service python", "warning", "service_python_none", told)
    told |= {"python": found.path}
    if found.version is None:
        return Finding("service python", "warning", "service_python_mute", told)
    told |= {"version": ".".join(map(str, found.version))}
    if found.version < OLDEST_PYTHON:
        return Finding("service python", "warning", "service_python_old", told)
    return Finding("service python", "ok", "service_python_fits", told)


def _contacts(places: Sequence[Place]) -> list[Contact]:
    """Each server with the roles it has, and the proxies of those that may use one."""
    found = [Contact(_host(_address(place)), role) for place in places for role in place.roles]
    for place in places:
        proxy = proxy_place(_address(place)) if place.endpoint.trust_env else None
        found += [Contact(proxy, "proxy")] if proxy else []
    return list(dict.fromkeys(found))


def _address(place: Place) -> Address:
    return address_of(place.url)


def _host(address: Address) -> str:
    return f"{address.host}:{address.port}"
