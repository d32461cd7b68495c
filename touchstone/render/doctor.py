"""What doctor found, one line each with its remedy, and the hosts a run contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from touchstone.gate.finding import Contact, Finding
from touchstone.render.plain import one_line

TEXTS: dict[str, tuple[str, str | None]] = {
    "said": ("{text}", "{remedy}"),
    # engines
    "engine_answers": ("{url} answers ({engine})", None),
    "engine_down": (
        "{url} does not answer: {why}",
        "Start it, or name another: --base-url URL (touchstone engine start runs a small one).",
    ),
    "engine_unnamed": (
        "no server is configured; {url} answers ({engine}, models: {listed})",
        "Use it: touchstone measure --base-url {url} --model {first}, or write both into touchstone.yaml.",
    ),
    "engine_none": (
        "no server is configured, and none answers on the usual ports ({ports})",
        "Start one (touchstone engine start runs a small one), then name it: --base-url URL.",
    ),
    "model_there": ("{model} is there", None),
    "model_any_name": (
        "{model} is not the name of the model at {url}; it answers under any name, with {held}",
        "Name the model it holds: --model {listed}",
    ),
    "model_absent": (
        "{url} has no {model}; it has: {listed}",
        "Load or fetch it there, or name one it has: --model MODEL",
    ),
    "model_unnamed": (
        "no model is named; there are: {listed}",
        "Name it: --model MODEL, or models: [{{id: MODEL}}] in touchstone.yaml.",
    ),
    "lock_free": ("nobody else measures on {url}", None),
    "lock_held": (
        "another touchstone run is using {url}",
        "Wait until it is done, or start with --wait.",
    ),
    "load_none": ("{url} is idle", None),
    "load_unknown": ("{url} does not tell how busy it is", None),
    "load_cpu": (
        "{percent} % of this machine's processor time is taken",
        "End what else is at work, or read times with care: quality is not touched.",
    ),
    "load_requests": (
        "{url} is answering somebody else ({running} requests)",
        "Let it finish first: two at once make every time longer.",
    ),
    "local_network": (
        "{host} is not this machine: macOS lets programs reach the local network only with permission",
        "Allow it for the terminal or the runner: System Settings > Privacy & Security > Local Network.",
    ),
    # packs and judge
    "packs_read": ("{ids}", None),
    "packs_none": (
        "no pack in {places}",
        "Put one into packs/, or name it: --pack FILE.",
    ),
    "pack_bad": ("{path} cannot be used: {why}", "See every problem: touchstone validate"),
    "judge_not_needed": ("not needed: every pack is scored by checks", None),
    "judge_unnamed": (
        "no judge is named, and these packs need one: {packs}",
        "Name one: --judge-model MODEL, or judge: {{model: MODEL}} in touchstone.yaml.",
    ),
    "judge_unproven": (
        "{judge} is not proven: no pack has calibration items",
        "Add at least one good and one bad answer of known worth to the pack: calibration: […].",
    ),
    "judge_busy": (
        "{judge} was not asked: another touchstone run is using its server",
        "Run doctor again when that is done.",
    ),
    "judge_calibrated": ("{judge} scores the {items} calibration items of {pack} as they are worth", None),
    "judge_unfit": (
        "{why} (pack {pack})",
        "{remedy}",
    ),
    # git and the forge
    "git_clean": ("commit {commit}, clean", None),
    "git_dirty": (
        "commit {commit}, with files that are changed or that git does not know",
        "Commit them before the runs of a promotion: git status",
    ),
    "git_unknown": ("commit {commit}, and git cannot tell whether the tree is clean", "Look: git status"),
    "git_none": (
        "this is no git repository: runs can be measured and compared, nothing can be promoted",
        "git init && git add . && git commit -m 'packs and prompts'",
    ),
    "git_empty": (
        "nothing is committed yet: runs can be measured and compared, none of them can be promoted",
        "git add . && git commit -m 'packs and prompts'",
    ),
    "token_none": ("none set: promote pushes with git's own access and prints the link to open", None),
    "token_unasked": ("{name} is set ({kind}); ask for its rights with --online", None),
    "token_nowhere": (
        "{name} is set ({kind}), and no repository is known to ask about",
        "Add the remote (git remote add origin URL), or set GITHUB_REPOSITORY=owner/name.",
    ),
    "token_write": ("{name} may write to {repository} ({kind})", None),
    "token_read_only": (
        "{name} may only read {repository} ({kind}): no comment, no pull request",
        "Give it write access to contents and pull requests (in a workflow: the key permissions).",
    ),
    "token_not_told": (
        "{name} can reach {repository}; GitHub does not list the rights of a token of this kind ({kind})",
        "See that the workflow has permissions: contents: write and pull-requests: write.",
    ),
    "token_rejected": ("{name} is not accepted ({kind})", "Make a new one, or unset {name}."),
    "token_no_access": (
        "{name} cannot see {repository} ({kind})",
        "Give the token access to this repository, or set GITHUB_REPOSITORY=owner/name.",
    ),
    "token_unreachable": ("the forge does not answer, so nothing is known of {name}", "Try again later."),
    # this machine
    "sudo_allowed": ("powermetrics may be asked; thermal level: {thermal}", None),
    "sudo_denied": ("powermetrics may not be asked ({why}): the thermal level is n/a", "{remedy}"),
    "thermal_unknown": ("the thermal level is n/a ({why})", None),
    "on_battery": (
        "this machine runs on battery: answers are left out of timing medians",
        "Plug it in.",
    ),
    "throttled": (
        "this machine throttles ({thermal}): answers are left out of timing medians",
        "Let it cool down first.",
    ),
    "under_pressure": (
        "memory is short ({pressure})",
        "Close what is not needed, or use a smaller model.",
    ),
    "disk_free": ("{free_gb} GB free where runs are kept ({folder})", None),
    "disk_full": (
        "{free_gb} GB free where runs are kept ({folder}), {needed_gb} GB are due",
        "Make room, keep fewer runs (keep_runs in touchstone.yaml), or elsewhere: --runs-dir FOLDER",
    ),
    "disk_closed": (
        "{parent} may not be written to, and runs are kept there ({folder})",
        "Keep runs elsewhere: --runs-dir FOLDER",
    ),
    "disk_unknown": ("free space where runs are kept cannot be read ({folder})", None),
    "clock_even": ("moves evenly; whether it is right cannot be told offline", None),
    "clock_jumps": (
        "wall clock and monotonic clock parted by {seconds} s in a moment",
        "Let the time service settle; times of that moment are not kept.",
    ),
    "clock_behind": (
        "it is set {hours} hours before touchstone was installed",
        "Set the date and time, best by the system's time service.",
    ),
    "clock_of_disk": (
        "the disk of {folder} is {seconds} s ahead of this machine",
        "Keep runs on this machine's own disk: --runs-dir FOLDER",
    ),
    "python_here": ("{version}", None),
    "service_python_fits": ("{python} is {version}", None),
    "service_python_old": (
        "a service would start {python}, which is {version}; 3.11 or newer is due",
        "Give the Action its input `python`, or put a newer python3 first on the service's PATH ({path}).",
    ),
    "service_python_mute": (
        "a service would start {python}, which does not say its version",
        "Give the Action its input `python`. On a Mac: xcode-select --install, or Python from python.org.",
    ),
    "service_python_none": (
        "a service would find no python3 ({path})",
        "Install Python 3.11 or newer there, or give the Action its input `python`.",
    ),
}

WHY = {
    "models": "the models, in every run",
    "judge": "the judge, in every run",
    "proxy": "the proxy of the environment, in every run",
    "forge": "promote, and the check of a pull request",
    "git": "promote, through git",
}

_SIGNS = {"ok": "ok", "warning": "warning", "fault": "FAULT"}


def doctor_text(findings: Sequence[Finding], contacts: Sequence[Contact]) -> str:
    """One line per finding, its remedy under it, then the hosts."""
    width = max(len(found.topic) for found in findings)
    lines = []
    for found in findings:
        text, remedy = words_of(found)
        lines.append(f"{_SIGNS[found.state]:<8} {found.topic:<{width}}  {text}")
        lines += [f"{'':<8} {'':<{width}}  → {remedy}"] if remedy and found.state != "ok" else []
    return "\n".join([*lines, "", *_contact_lines(contacts)]) + "\n"


def doctor_record(findings: Sequence[Finding], contacts: Sequence[Contact], code: int) -> dict[str, Any]:
    """The same for a machine."""
    return {
        "exit": code,
        "findings": [_record(found) for found in findings],
        "contacts": [{"host": contact.host, "why": contact.why} for contact in contacts],
    }


def words_of(found: Finding) -> tuple[str, str | None]:
    """A finding's sentence and, where it is not ok, the remedy."""
    sentence, remedy = TEXTS[found.code]
    facts = {key: "n/a" if value is None else value for key, value in found.facts.items()}
    told = found.facts.get("remedy", "") if remedy == "{remedy}" else remedy
    needs = remedy is not None and told is not None and found.state != "ok"
    return one_line(sentence.format(**facts)), one_line(remedy.format(**facts)) if needs and remedy else None


def _record(found: Finding) -> dict[str, Any]:
    text, remedy = words_of(found)
    return {
        "topic": found.topic,
        "state": found.state,
        "code": found.code,
        "text": text,
        "remedy": remedy,
        "facts": dict(found.facts),
    }


def _contact_lines(contacts: Sequence[Contact]) -> list[str]:
    if not contacts:
        return ["a run contacts: nobody, as long as no server is configured"]
    width = max(len(contact.host) for contact in contacts)
    return [
        "a run contacts, and nobody else:",
        *(f"  {one_line(contact.host):<{width}}  {WHY[contact.why]}" for contact in contacts),
    ]
