"""`touchstone doctor`: is everything there that a run needs?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import click

from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import bench_for, settings_of, show
from touchstone.config import Effective
from touchstone.errors import BadInputError, ExitCode
from touchstone.files import json_pretty
from touchstone.forge.github import API_URL, repository_of, token_rights
from touchstone.gate.bench import Bench
from touchstone.gate.doctor import ForgeLook, Needs, examination
from touchstone.gate.finding import Contact
from touchstone.git import Repository
from touchstone.host.service import SERVICE_PATH
from touchstone.render.doctor import doctor_record, doctor_text


@click.command(epilog="Example: touchstone doctor --online")
@settings_options(asks=True)
@click.option("--online", is_flag=True, help="Also ask the forge what the token in the environment may do.")
@click.option(
    "--free-gb", type=click.FloatRange(min=0), default=1.0, show_default=True, help="Room runs must have."
)
@click.option(
    "--service-path",
    default=SERVICE_PATH,
    metavar="PATH",
    help="The PATH a service or runner has here, to look for its python3.",
)
@json_option
def command(online: bool, free_gb: float, service_path: str, as_json: bool, **given: Any) -> int:
    """Look at everything a run needs: one line each, and what to do where something is amiss.

    Engines and their models, the judge (asked for the packs' calibration items), packs, git, token, sudo,
    disk, clocks, lock, Python; and every host a run would contact. Nothing is changed. Exit code 4 if there
    is a fault; a warning leaves a run possible.
    """
    effective = settings_of(given)
    with bench_for(effective, given) as bench:
        look = _forge_look(bench, effective, online=online)
        seen = examination(bench, Needs(free_gb, service_path), look)
    faults = any(finding.state == "fault" for finding in seen.findings)
    code = ExitCode.REFUSED if faults else ExitCode.NOTHING_WORSE
    if as_json:
        record = doctor_record(seen.findings, seen.contacts, int(code))
        click.echo(json_pretty(record, sort_keys=False), nl=False)
    else:
        show(doctor_text(seen.findings, seen.contacts))
    return code


def _forge_look(bench: Bench, effective: Effective, *, online: bool) -> ForgeLook:
    """The repository on the forge, by the runner's word or git's remote, and the hosts that lead there."""
    api_url = bench.environ.get("GITHUB_API_URL") or API_URL
    remote = _remote(effective)
    repository = bench.environ.get("GITHUB_REPOSITORY") or (remote[1] if remote else None)
    contacts = [Contact(remote[0], "git")] if remote else []
    if repository is not None and _speaks_to_forge(remote, bench.environ):
        contacts.append(Contact(urlsplit(api_url).netloc, "forge"))

    def rights_of(asked: str, token: str) -> str:
        return token_rights(api_url, asked, token)

    return ForgeLook(repository, rights_of if online else None, tuple(contacts))


def _remote(effective: Effective) -> tuple[str, str] | None:
    """(host, `owner/name`) of the remote; a repository that cannot be read is found by doctor itself."""
    try:
        repository = Repository.open(effective.root)
    except BadInputError:
        return None
    url = repository.remote_url() if repository else None
    return repository_of(url) if url else None


def _speaks_to_forge(remote: tuple[str, str] | None, environ: Mapping[str, str]) -> bool:
    return bool(environ.get("GITHUB_API_URL")) or (remote is not None and remote[0] == "github.com")
