"""`touchstone check --ci github`: the check of a pull request, told where the pull request is read.

The order is outputs, summary, comment, the comment's address, annotations, then the exit code: whatever
fails later, the verdict stands. A comment that cannot be written never changes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.baseline.comparison import Comparison
from touchstone.cli.check import keep
from touchstone.cli.inputs import with_inputs
from touchstone.cli.job import Job, commands_stopped, take_job, write_outputs, write_summary
from touchstone.cli.merge import merged
from touchstone.cli.options import overrides_of, part_of, refuse_mixed_start
from touchstone.cli.proposal import credential_for
from touchstone.cli.session import bench_for, packs_of, resumed, say
from touchstone.config import Effective
from touchstone.errors import BadInputError, ExitCode, NotComparableError, RefusedError, TouchstoneError
from touchstone.files import json_pretty
from touchstone.forge import FORGES, CommentMark, ForgeError, Posted
from touchstone.gate.agreed import agreed_settings
from touchstone.gate.base import base_of
from touchstone.gate.bench import Bench
from touchstone.gate.brought import Brought
from touchstone.gate.change import Change
from touchstone.gate.check import PackCheck, run_checks, worst_exit
from touchstone.gate.event import Event, read_event
from touchstone.git import Repository
from touchstone.pack.load import LoadedPack
from touchstone.render.annotations import Annotation, annotation_lines, command_line
from touchstone.render.comment import comment_text, worth_posting
from touchstone.render.comparison import comparison_text
from touchstone.render.first import (
    first_sentence,
    shard_sentence,
    unexplained_sentence,
    unused_sentence,
)
from touchstone.render.plain import for_log, one_line
from touchstone.render.review import Occasion, PackReview, headline, overall
from touchstone.render.summary import sentences_text, summary_text
from touchstone.render.words import Language, Words
from touchstone.run.bundle import COMPARISON_NAME, REPORT_NAME, Bundle

WHOLE_CALL = "touchstone"
"""What stands in a pack's place where something kept all of them from being checked."""

_FAILING = {
    "worse": frozenset({ExitCode.WORSE, ExitCode.REFUSED}),
    "not-judged": frozenset(ExitCode) - {ExitCode.NOTHING_WORSE},
    "suspect": frozenset(ExitCode) - {ExitCode.NOTHING_WORSE},
}
"""Which of the exit codes fail a job, beside those that say touchstone itself did not get through."""
_ALWAYS_FAILING = frozenset({ExitCode.USAGE, ExitCode.BUG, ExitCode.INTERRUPTED})


@dataclass
class Call:
    """One call in a job, as far as it has come."""

    job: Job
    given: dict[str, Any]
    words: Words = field(default_factory=Words)
    fail_on: str = "not-judged"
    event: Event | None = None
    change: Change | None = None
    reviews: list[PackReview] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    shards: list[PackCheck] = field(default_factory=list)
    """What was measured and has no verdict of its own."""
    stopped: ExitCode | None = None
    """What kept the whole call from its end."""
    is_news: bool = False
    """Whether the sentences say something a reader must know, though no row moved."""

    @property
    def language(self) -> Language:
        """The reader's language."""
        return self.words.language

    @property
    def exit(self) -> ExitCode:
        """touchstone's own exit code, whatever fails the job."""
        if self.stopped is not None:
            return self.stopped
        shares = [check.exit for check in self.shards]
        return worst_exit([*(review.exit for review in self.reviews), *shares])

    @property
    def is_share(self) -> bool:
        """Whether there is nothing to tell but that a share was measured."""
        return bool(self.shards) and not self.reviews

    @property
    def occasion(self) -> Occasion:
        """Where and for what this runs."""
        effective = self.change.agreed.effective if self.change is not None else None
        return Occasion(
            run_id=self.job.run_id,
            attempt=self.job.attempt,
            head_sha=self.head,
            run_url=self.job.run_url,
            base=self.change.base.commit if self.change is not None else None,
            name=self.given.get("name"),
            tenant=effective.config.tenant if effective else "default",
            target=effective.config.target if effective else None,
            first=self.first,
        )

    @property
    def head(self) -> str:
        """The commit a reader knows this by."""
        told = self.event.head if self.event is not None else None
        return told or (self.change.base.tested if self.change is not None else "")


def check_on_github(context: click.Context) -> int:
    """Check what started this job, tell it everywhere, and return the job's exit code."""
    job = take_job(os.environ)
    with commands_stopped():
        call = Call(job, {"comment": "auto"})
        try:
            _checked(call, context)
        except TouchstoneError as error:
            _stop(call, error)
        except BaseException as error:
            write_outputs(job.output, _unfinished(error))
            raise
        notices = _tell(call)
    for line in [*annotation_lines(call.reviews, call.language), *notices]:
        click.echo(line)
    return _job_exit(call)


# --- checking ----------------------------------------------------------------------------------------


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
    _say_first(call, call.change)
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
    config = effective.config.model_copy(update={"packs": there or effective.config.packs})
    return packs_of(replace(effective, config=config), call.given["packs"], Path.cwd())


def _measure(call: Call, change: Change, loaded: Sequence[LoadedPack]) -> None:
    given, effective = call.given | {"wait": True}, change.agreed.effective
    with bench_for(effective, given, go_on="touchstone check --resume") as bench:
        paths = {one.pack.id: one for one in loaded}
        runs = [*given["runs"], *_merged(given["shards"], change, bench)]
        checks = [_going_on(call, change, resumed(name, bench), paths) for name in runs]
        checks += [] if runs else [_starting(call, change, one) for one in loaded]
        run_checks(bench, checks)
    keep(checks, bench)
    call.bundles = [check.bundle for check in checks if check.bundle is not None]
    call.shards = [check for check in checks if check.is_shard and check.error is None]
    told = [check for check in checks if check.error is not None or not check.is_shard]
    call.reviews = [_review(call, change, check, paths.get(check.pack)) for check in told]
    call.first += [shard_sentence(check.bundle.manifest, call.words) for check in call.shards if check.bundle]
    if not given["packs"] and not given["runs"]:
        _tell_lost(call, change, set(paths))


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


def _merged(folder: str | None, change: Change, bench: Bench) -> list[str]:
    """The runs the shards in a folder make; those of another commit are not this change."""
    bundles = [] if folder is None else merged([folder], bench.runs_dir)
    for bundle in bundles:
        commit = bundle.manifest.git.commit
        if commit != change.base.tested:
            raise RefusedError(
                f"the shards of {bundle.manifest.suite.pack_id} were measured at commit {commit}, "
                f"and this job is at {change.base.tested}",
                "Give this job the shards of its own run: actions/download-artifact, without a run-id.",
            )
    return [str(bundle.path) for bundle in bundles]


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
            call.reviews.append(_promotion(call, change, one, brought))
    for path in change.promoted_elsewhere({one.pack.id for one in loaded}):
        try:
            change.require_whole(path)
        except TouchstoneError as error:
            call.reviews.append(PackReview(path, error=error))


# --- what is told ------------------------------------------------------------------------------------


def _say_first(call: Call, change: Change) -> None:
    base, agreed = change.base, change.agreed
    short = {"head": call.head[:12], "base": base.commit[:12], "tested": base.tested[:12]}
    call.first.append(first_sentence(base.found, call.words, **short))
    if agreed.source is None:
        call.first.append(first_sentence("no_settings", call.words))
    unused = unused_sentence(agreed.unused, call.words)
    call.first += unused
    call.is_news = bool(unused)


def _review(call: Call, change: Change, check: PackCheck, loaded: LoadedPack | None) -> PackReview:
    brought = check.brought
    first = _brought_sentences(call, change, check.pack, brought) if brought is not None else []
    if change.deletes(check.pack):
        first.append(first_sentence("deleted", call.words, path=change.path_of(check.pack)))
        call.is_news = True
    return PackReview(
        check.pack,
        comparison=check.comparison,
        result=check.result,
        answers=check.answers(),
        error=check.error,
        first=first,
        own=check.own,
        path=change.repository.relative(loaded.path) if loaded is not None else None,
    )


def _promotion(call: Call, change: Change, loaded: LoadedPack, brought: Brought) -> PackReview:
    return PackReview(
        loaded.pack.id,
        comparison=brought.verdict(),
        answers=brought.answers(),
        first=_brought_sentences(call, change, loaded.pack.id, brought),
        path=change.repository.relative(loaded.path),
    )


def _brought_sentences(call: Call, change: Change, pack: str, brought: Brought) -> list[str]:
    words, baseline = call.words, brought.baseline
    old = brought.old.info.digest if brought.old is not None else None
    told = "brings_first" if old is None else "brings_instead"
    sentences = [
        first_sentence(
            "brings",
            words,
            pack=pack,
            runs=len(baseline.runs),
            day=baseline.date,
            replaces=first_sentence(told, words, digest=old),
        )
    ]
    if baseline.reason:
        sentences.append(first_sentence("reason", words, reason=baseline.reason))
    if not change.agreed.effective.config.compare.accept_promotions:
        sentences.append(first_sentence("not_accepted", words))
    return sentences + unexplained_sentence(brought.unexplained, words)


def _tell_lost(call: Call, change: Change, packs: set[str]) -> None:
    """A pack that was agreed to and is not there any more can no longer be worse; that is said."""
    for pack, retired in change.lost_packs(packs):
        if retired:
            call.first.append(first_sentence("retired", call.words, pack=pack))
            call.is_news = True
            continue
        error = NotComparableError(
            f"pack {pack} is not in this tree any more, and its baseline {change.path_of(pack)} still stands",
            f"Bring the pack back; or retire it, and delete its baseline too: git rm {change.path_of(pack)}",
        )
        call.reviews.append(PackReview(pack, error=error))


def _stop(call: Call, error: TouchstoneError) -> None:
    call.stopped = error.exit_code
    call.reviews.append(PackReview(WHOLE_CALL, error=error))


def _unfinished(error: BaseException) -> dict[str, str]:
    """The outputs of a call that nobody expected to end like this; without a verdict."""
    interrupted = isinstance(error, KeyboardInterrupt)
    code = ExitCode.INTERRUPTED if interrupted else ExitCode.BUG
    told = "interrupted" if interrupted else f"a bug in touchstone: {type(error).__name__}"
    return {"exit-code": str(int(code)), "headline": f"{WHOLE_CALL}: {told}"}


# --- telling -----------------------------------------------------------------------------------------


def _tell(call: Call) -> list[str]:
    """Outputs, summary, log, comment, in this order; the notices about what could not be told."""
    write_outputs(call.job.output, _outputs(call))
    write_summary(call.job.summary, _summary(call))
    _print(call)
    posted = _post(call)
    if posted is None:
        return []
    if posted.url is not None:
        write_outputs(call.job.output, {"comment-url": posted.url})
    if posted.detail is None:
        return []
    told = " ".join(filter(None, [posted.detail, posted.hint]))
    write_summary(call.job.summary, f"\n{first_sentence('no_comment', call.words)}\n")
    say(f"{first_sentence('no_comment', call.words)} {told}")
    return [
        command_line(Annotation("notice", "touchstone", f"{first_sentence('no_comment', call.words)} {told}"))
    ]


def _summary(call: Call) -> str:
    if not call.is_share:
        return summary_text(call.reviews, call.occasion, call.language)
    return sentences_text(call.first)


def _outputs(call: Call) -> dict[str, str]:
    folders = [bundle.path for bundle in call.bundles]
    return {
        "exit-code": str(int(call.exit)),
        "verdict": "shard" if call.is_share else overall(call.reviews),
        "headline": one_line(call.first[-1] if call.is_share else headline(call.reviews, call.words), 500),
        "run": "\n".join(map(str, folders)),
        "report": _files(folders, REPORT_NAME),
        "comparison": _files(folders, COMPARISON_NAME),
        "comment-url": "",
    }


def _files(folders: Sequence[Path], name: str) -> str:
    return "\n".join(str(folder / name) for folder in folders if (folder / name).is_file())


def _print(call: Call) -> None:
    if call.given.get("as_json"):
        told = {"exit": int(call.exit), "packs": [_as_json(review) for review in call.reviews]}
        click.echo(json_pretty(told, sort_keys=False), nl=False)
        return
    for sentence in call.first:
        click.echo(for_log(sentence))
    for review in call.reviews:
        click.echo()
        for sentence in review.first:
            click.echo(for_log(f"{review.pack}: {sentence}"))
        if review.comparison is not None:
            click.echo(for_log(comparison_text(review.comparison, call.language, review.answers)), nl=False)
        if review.error is not None:
            say(f"touchstone: {review.pack}: {review.error.message}")
            if review.error.hint:
                say(f"  → {review.error.hint}")
    sys.stdout.flush()


def _as_json(review: PackReview) -> dict[str, Any]:
    error, found = review.error, review.comparison
    return {
        "pack": review.pack,
        "exit": int(review.exit),
        "comparison": found.to_json() if found is not None else None,
        "error": {"message": error.message, "hint": error.hint} if error is not None else None,
    }


def _post(call: Call) -> Posted | None:
    """The one comment; None where there is no pull request to write it on, or none is wanted."""
    number = call.event.number if call.event is not None else None
    wanted = call.given["comment"]
    if call.is_share or call.exit == ExitCode.INTERRUPTED:
        return None
    if number is None or call.job.place is None or wanted == "never":
        return None
    if call.job.token is None:
        return Posted("not_posted", None, first_sentence("no_token", call.words))
    occasion, comparisons = call.occasion, _comparisons(call.reviews)
    mark = CommentMark(
        occasion.tenant, occasion.target, occasion.name, occasion.run_id, occasion.attempt, occasion.head_sha
    )
    forge = FORGES["github"](call.job.place, call.job.token)
    create = wanted == "always" or call.is_news or worth_posting(comparisons, existing=False)
    try:
        kept = forge.own_comment(number, mark)
    except ForgeError as error:
        return Posted("not_posted", None, error.message, error.hint)
    text = comment_text(call.reviews, occasion, call.language, earlier=kept.body if kept else None)
    return forge.upsert_comment(number, mark, text, create=create)


def _comparisons(reviews: Sequence[PackReview]) -> list[Comparison | None]:
    return [review.comparison if review.error is None else None for review in reviews]


def _job_exit(call: Call) -> int:
    code = call.exit
    if code in _ALWAYS_FAILING | _FAILING[call.fail_on]:
        return code
    suspect = any(review.status == "suspect" for review in call.reviews)
    return ExitCode.WORSE if suspect and call.fail_on == "suspect" else ExitCode.NOTHING_WORSE
