"""`touchstone promote`: make runs the baseline, as one file in one commit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.baseline import promote, store
from touchstone.cli.completion import run_names
from touchstone.cli.options import settings_options
from touchstone.cli.proposal import Route, propose, route_of
from touchstone.cli.session import packs_of, say, settings_of, show
from touchstone.config import Effective
from touchstone.errors import BadInputError, ExitCode, RefusedError, UsageError
from touchstone.files import read_bytes, write_atomic
from touchstone.gate.promotion import Prepared, Wanted, drawn_bundles, prepare
from touchstone.gate.runs import load_run
from touchstone.git import Committed, Repository
from touchstone.render.promotion import notes_text, promoted_text, refusals_text
from touchstone.render.pull_request import Promotion, pull_request_markdown
from touchstone.render.words import Language
from touchstone.result.select import select_typical
from touchstone.run.bundle import Bundle
from touchstone.run.find import find_bundle


@click.command(
    epilog='Example: touchstone promote RUN RUN RUN --here --reason "the shorter prompt is wanted"'
)
@click.argument("runs", nargs=-1, metavar="RUN RUN RUN | SELECTED", shell_complete=run_names)
@click.option("--reason", help="Why this is wanted; needed where it is worse, unsafe, or rows are gone.")
@click.option("--here", is_flag=True, help="Commit on the current branch; nothing else is touched.")
@click.option("--no-pr", is_flag=True, help="Commit on a branch of its own, and push nothing.")
@click.option("--draft", is_flag=True, help="Open the pull request as a draft.")
@click.option("--allow-single", is_flag=True, help="Accept one run; its noise stays unknown.")
@click.option("--no-answers", is_flag=True, help="Leave the answers' texts out of the file.")
@click.option("--refresh", type=click.Path(path_type=Path), metavar="FILE", help="Mend a baseline's layout.")
@settings_options(asks=False)
def command(
    *,
    runs: tuple[str, ...],
    reason: str | None,
    here: bool,
    no_pr: bool,
    draft: bool,
    allow_single: bool,
    no_answers: bool,
    refresh: Path | None,
    **given: Any,
) -> int:
    """Make runs the baseline: one file, one commit, one pull request.

    Three runs of the frozen system, or the one `touchstone select` chose from three. Everything that
    would make the reference a lie is refused, all at once, each with its way out. The pull request goes
    into the branch you stand on, from the default branch into that; running it again updates it. The
    working tree, the index and the current branch are left alone.
    """
    if refresh is not None:
        return _refresh(refresh, runs)
    if here and no_pr:
        raise UsageError("--here and --no-pr are two places for one commit", "Leave one of them out.")
    if draft and (here or no_pr):
        raise UsageError("--draft is about a pull request, and none is opened here")
    effective = settings_of(given)
    bundles = drawn_bundles(_named_bundles(runs, effective))
    route, barred = (None, None) if here or no_pr else _route(bundles, effective)
    start, into = (route.start, None) if route else ("HEAD", None) if here else _own_branch(effective.root)
    wanted = Wanted(
        bundles=bundles,
        base=start,
        reason=reason,
        allow_single=allow_single,
        with_answers=not no_answers,
    )
    (loaded,) = packs_of(effective, [bundles[0].manifest.suite.pack_id], Path.cwd())
    prepared = prepare(wanted, loaded, effective.config, effective.root, datetime.now(UTC).date())
    language = effective.config.language
    if prepared.baseline is None:
        # The answers are not about to be published when nothing is.
        show(notes_text([note for note in prepared.notes if note.code != "answers"]))
        say(refusals_text(prepared.refusals).rstrip("\n"))
    if barred is not None:
        raise barred
    if prepared.baseline is None:
        return ExitCode.REFUSED
    show(notes_text(prepared.notes))
    branch = None if here else route.branch if route else _branch(bundles, effective)(into)
    committed = _commit(prepared, wanted, branch)
    show(promoted_text(prepared.baseline, prepared.replaces, language))
    click.echo(f"{prepared.relpath}: commit {committed.commit[:12]} on {committed.branch}")
    if route is not None:
        propose(route, committed, *_pull_texts(prepared, language), draft=draft)
    elif no_pr:
        click.echo(f"  → Push it and open a pull request: git push origin {committed.branch}")
    return ExitCode.NOTHING_WORSE


def _named_bundles(names: tuple[str, ...], effective: Effective) -> list[Bundle]:
    if not names:
        raise UsageError("which runs? touchstone promote RUN RUN RUN, or the one that select chose")
    if "latest" in names:
        raise UsageError("promote takes no `latest`: a promotion names its runs", "See them: touchstone list")
    runs_dir = effective.root / effective.config.runs_dir
    return [find_bundle(name, runs_dir, Path.cwd()) for name in names]


def _own_branch(root: Path) -> tuple[str, str | None]:
    """Where the promotion's own branch starts, and the feature branch it is for; null for the default one."""
    repository = Repository.open(root)
    if repository is None:
        return "HEAD", None
    branch, default = repository.branch(), repository.default_branch()
    if branch is not None and branch != default:
        return "HEAD", branch
    return repository.default_ref() or "HEAD", None


def _branch(bundles: Sequence[Bundle], effective: Effective) -> Callable[[str | None], str]:
    """The name of the promotion's own branch, told what it goes into."""
    config, pack = effective.config, bundles[0].manifest.suite.pack_id
    return lambda into: promote.branch_of(config.tenant, pack, config.target, into)


def _route(bundles: Sequence[Bundle], effective: Effective) -> tuple[Route | None, RefusedError | None]:
    """Where the pull request goes, or what bars the way: said after whatever else speaks against the runs.

    Nowhere without a repository, and then `prepare` refuses.
    """
    repository = Repository.open(effective.root)
    if repository is None or repository.head() is None:
        return None, None
    try:
        return route_of(repository, _branch(bundles, effective), os.environ), None
    except RefusedError as error:
        return None, error


def _pull_texts(prepared: Prepared, language: Language) -> tuple[str, str]:
    """The pull request's title and text."""
    baseline = prepared.baseline
    assert baseline is not None  # noqa: S101  refusals were empty
    results = [load_run(bundle).result for bundle in prepared.bundles]
    selection = select_typical(results) if len(results) > 1 else None
    title = promote.promotion_message(baseline, prepared.replaces).split("\n")[0]
    promotion = Promotion(baseline, prepared.replaces, prepared.comparison, prepared.notes, selection)
    return title, pull_request_markdown(promotion, language)


def _commit(prepared: Prepared, wanted: Wanted, branch: str | None) -> Committed:
    """Commit on a branch of its own; None: right here."""
    baseline = prepared.baseline
    assert baseline is not None  # noqa: S101  refusals were empty
    identity = (baseline.tenant, baseline.pack.id, baseline.target)
    message = promote.promotion_message(baseline, prepared.replaces)
    content = store.dump(baseline).encode()
    trailer = promote.trailer_of(*identity)
    if branch is None:
        return prepared.repository.commit_here(prepared.relpath, content, f"{message}\n{trailer}\n")
    return prepared.repository.commit_in_worktree(
        branch=branch,
        start=wanted.base,
        relpath=prepared.relpath,
        content=content,
        message=message,
        trailer=trailer,
    )


def _refresh(path: Path, runs: tuple[str, ...]) -> int:
    if runs:
        raise UsageError("--refresh takes a file and no runs: touchstone promote --refresh FILE")
    if not path.is_file():
        raise BadInputError(f"{path}: no such file", "Name a baseline: baselines/default/PACK.json")
    before = read_bytes(path)
    after = promote.refresh(before, str(path)).encode()
    if after == before:
        say(f"{path}: its layout is as it should be")
    else:
        write_atomic(path, after)
        say(f"{path}: layout mended; no value changed")
    return ExitCode.NOTHING_WORSE
