"""`touchstone check --ci github`: what started the job is read from its event, checked, and told."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from touchstone.cli.boundary import ended_by
from touchstone.cli.call import Call, job_exit
from touchstone.cli.inputs import with_inputs
from touchstone.cli.job import Job, commands_stopped, take_job, write_outputs
from touchstone.cli.keeping import keep
from touchstone.cli.merge import merged
from touchstone.cli.options import overrides_of, part_of, refuse_mixed_start
from touchstone.cli.proposal import credential_for
from touchstone.cli.reviews import promotion_review, review_of, say_first, tell_lost
from touchstone.cli.session import bench_for, packs_of, resumed
from touchstone.cli.telling import tell, unfinished_outputs
from touchstone.config import Effective
from touchstone.errors import BadInputError, RefusedError, TouchstoneError
from touchstone.gate.agreed import agreed_settings
from touchstone.gate.base import base_of
from touchstone.gate.bench import Bench
from touchstone.gate.change import Change
from touchstone.gate.check import PackCheck, run_checks
from touchstone.gate.event import Event, read_event
from touchstone.git import Repository
from touchstone.pack.load import LoadedPack, find_packs
from touchstone.render.annotations import annotation_lines
from touchstone.render.first import first_sentence, shard_sentence
from touchstone.render.review import PackReview
from touchstone.render.words import Words
from touchstone.run.bundle import Bundle


def check_on_github(context: click.Context) -> int:
    """Check what started this job, tell it everywhere, and return the job's exit code."""
    job = take_job(os.environ)
    with commands_stopped():
        call = Call(job, {"comment": "auto"})
        try:
            _checked_or_stopped(call, context)
            notices = tell(call)
        except BaseException as error:  # noqa: BLE001  said here, where no line of it is a command
            code = ended_by(error)
            write_outputs(job.output, unfinished_outputs(error, code))
            return code
    for line in [*annotation_lines(call.reviews, call.language), *notices]:
        click.echo(line)
    return job_exit(call)


def _checked_or_stopped(call: Call, context: click.Context) -> None:
    try:
        _checked(call, context)
    except TouchstoneError as error:
        call.stop(error)


def _checked(call: Call, context: click.Context) -> None:
    call.given = with_inputs(context, os.environ)
    call.words = Words(call.given["language"] or "en")
    call.fail_on = call.given["fail_on"] or call.fail_on
    call.event = read_event(call.job.event, call.job.payload())
    _refuse_fork(call.event, call)
    call.change = _change(call, _entered(call))
    effective = call.change.agreed.effective
    call.words = Words(effective.config.language)
    call.fail_on = call.given["fail_on"] or effective.config.compare.fail_on
    say_first(call, call.change)
    refuse_mixed_start(call.given)
    loaded = [] if call.given["runs"] else _packs(call, call.change)
    if not call.given["runs"] and call.change.is_only_promotions():
        _verify(call, call.change, loaded)
    else:
        _measure(call, call.change, loaded)


def _refuse_fork(event: Event, call: Call) -> None:
    if event.from_fork and call.job.self_hosted and not call.given["allow_forks"]:
        call.event = replace(event, number=None)  # a fork's token could not comment anyway
        raise RefusedError(
            "this pull request comes from a fork: its code would run on your own machine",
            "Let a maintainer push the branch to this repository. A workflow that may run forks, on a runner "
            "that is thrown away afterwards, says so: allow-forks: true",
        )


def _entered(call: Call) -> Repository:
    """The repository of the folder to work in; that folder becomes the current one."""
    folder = call.job.workspace / (call.given["working_directory"] or ".")
    if call.given["working_directory"]:
        if not folder.is_dir():
            raise BadInputError(f"working-directory {folder}: no such folder", "Name one of the checkout.")
        os.chdir(folder)
    repository = Repository.open(Path.cwd())
    if repository is None:
        raise BadInputError(
            f"{Path.cwd()}: no git repository here, or no git", "Let actions/checkout come before this step."
        )
    return repository


def _change(call: Call, repository: Repository) -> Change:
    place, token, given = call.job.place, call.job.token, call.given
    assert call.event is not None  # noqa: S101  it was read before
    credential = credential_for(repository.remote_url(), place, token)
    base = base_of(
        call.event,
        repository,
        lambda what: repository.fetch_commit(what, credential=credential),
        None if given["ref"] == "auto" else given["ref"],
    )
    agreed = agreed_settings(repository, base.commit, Path.cwd(), given["config_path"], overrides_of(given))
    kept = _outliving(agreed.effective, call.job)
    return Change(repository, base, replace(agreed, effective=kept), datetime.now(UTC).date())


def _outliving(effective: Effective, job: Job) -> Effective:
    """The settings with runs where the next checkout does not delete them, unless somebody names a place."""
    if effective.origins.get("runs_dir") != "default" or job.runs_dir is None:
        return effective
    return replace(effective, config=effective.config.model_copy(update={"runs_dir": str(job.runs_dir)}))


def _packs(call: Call, change: Change) -> list[LoadedPack]:
    effective = change.agreed.effective
    there = [entry for entry in effective.config.packs if (effective.root / entry).exists()]
    if not call.given["packs"] and _none_in(effective.root, there) and any(change.lost_packs(())):
        return []  # whoever tells of lost packs says whether they were retired
    config = effective.config.model_copy(update={"packs": there or effective.config.packs})
    # Messages about a pack name it as the repository does, not as this machine does.
    near = Path(os.path.relpath(effective.root))
    return packs_of(replace(effective, config=config, root=near), call.given["packs"], Path.cwd())


def _none_in(root: Path, entries: Sequence[str]) -> bool:
    try:
        return not (entries and find_packs([root / entry for entry in entries]))
    except BadInputError:
        return True


def _measure(call: Call, change: Change, loaded: Sequence[LoadedPack]) -> None:
    given, effective = call.given | {"wait": True}, change.agreed.effective
    with bench_for(effective, given, go_on="touchstone check --resume") as bench:
        paths = {one.pack.id: one for one in loaded}
        runs = [*given["runs"], *_merged(given["shards"], bench)]
        checks = [
            _going_on(call, change, _of_this_commit(resumed(name, bench), change), paths) for name in runs
        ]
        checks += [] if runs else [_starting(call, change, one) for one in loaded]
        run_checks(bench, checks)
    keep(checks, bench)
    call.bundles = [check.bundle for check in checks if check.bundle is not None]
    call.shards = [check for check in checks if check.is_shard and check.error is None]
    told = [check for check in checks if check.error is not None or not check.is_shard]
    call.reviews = [review_of(call, change, check, paths.get(check.pack)) for check in told]
    call.first += [shard_sentence(check.bundle.manifest, call.words) for check in call.shards if check.bundle]
    if not (given["packs"] or given["runs"] or given["shard"]):
        tell_lost(call, change, set(paths))


def _starting(call: Call, change: Change, loaded: LoadedPack) -> PackCheck:
    pack = loaded.pack.id
    return PackCheck(
        pack,
        lambda: change.reference(pack),
        loaded,
        part_of(call.given),
        find_brought=lambda: change.brought(loaded),
        require_baseline=call.given["require_baseline"],
    )


def _merged(folder: str | None, bench: Bench) -> list[str]:
    """The runs that the shards in a folder make."""
    return [] if folder is None else [str(bundle.path) for bundle in merged([folder], bench.runs_dir)]


def _of_this_commit(bundle: Bundle, change: Change) -> Bundle:
    """The run; RefusedError where it is not one of the commit that is checked."""
    commit, pack = bundle.manifest.git.commit, bundle.manifest.suite.pack_id
    if commit != change.base.tested:
        raise RefusedError(
            f"the run of {pack} was made at commit {commit}, and this job is at {change.base.tested}",
            "Give this job the runs of its own commit; shards by actions/download-artifact without a run-id.",
        )
    return bundle


def _going_on(call: Call, change: Change, bundle: Bundle, loaded: Mapping[str, LoadedPack]) -> PackCheck:
    pack = bundle.manifest.suite.pack_id
    in_tree = loaded.get(pack)
    return PackCheck(
        pack,
        lambda: change.reference(pack),
        bundle=bundle,
        find_brought=lambda: change.brought(in_tree) if in_tree is not None else None,
        require_baseline=call.given["require_baseline"],
    )


def _verify(call: Call, change: Change, loaded: Sequence[LoadedPack]) -> None:
    """A change of baselines alone: nothing is measured, everything is recomputed."""
    call.first.append(first_sentence("only_promotion", call.words))
    for one in loaded:
        try:
            brought = change.brought(one)
        except TouchstoneError as error:
            call.reviews.append(PackReview(one.pack.id, error=error))
            continue
        if brought is not None:
            call.reviews.append(promotion_review(call, change, one, brought))
    for path in change.promoted_elsewhere({one.pack.id for one in loaded}):
        try:
            change.require_whole(path)
        except TouchstoneError as error:
            call.reviews.append(PackReview(path, error=error))
