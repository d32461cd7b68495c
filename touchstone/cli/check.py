"""`touchstone check`: did this change make the answers worse than the ones we agreed to keep?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.cli.inputs import ci_options, refuse_outside_a_job
from touchstone.cli.keeping import keep
from touchstone.cli.merge import merged
from touchstone.cli.options import merge_option, part_of, refuse_mixed_start, run_options
from touchstone.cli.session import bench_for, packs_of, resumed, say, settings_of, show
from touchstone.config import Effective
from touchstone.errors import ExitCode
from touchstone.files import json_pretty
from touchstone.gate.bench import Bench
from touchstone.gate.check import PackCheck, run_checks
from touchstone.gate.reference import Reference, agreed_reference, committed_reference
from touchstone.render.comparison import comparison_text
from touchstone.render.first import shard_sentence
from touchstone.render.phrases import phrase
from touchstone.render.words import Language, Words
from touchstone.run.bundle import Bundle

AUTO = "auto"


@click.command(epilog="Example: touchstone check --pack packs/starter.yaml --baseline-from origin/main")
@click.option(
    "--baseline-from",
    "ref",
    default=AUTO,
    metavar="REF",
    help="Commit whose baselines are the reference (auto: the merge base with the default branch).",
)
@ci_options
@merge_option
@run_options(resumes="Go on with a check; repeatable.")
def command(*, ref: str, ci: str | None, as_json: bool, **given: Any) -> int:
    """Did this change make the answers worse than the ones we agreed to keep?

    Measures every pack once and holds it against its committed baseline: at the merge base with the
    default branch, else at HEAD; never the working tree. What looks worse is measured again before it is
    called worse. With --only or --limit, only what was asked is compared. With --shard it is measured and
    judged alone; --merge then holds all the shards against the baseline as the one run they are.

    With --ci github, in a job: the base commit is told from the event, its settings count, and the verdict
    goes to outputs, summary, comment and annotations.
    """
    context = click.get_current_context()
    if ci is not None:
        from touchstone.cli.ci import check_on_github  # noqa: PLC0415  only in a job

        return check_on_github(context)
    refuse_outside_a_job(context)
    refuse_mixed_start(given)
    effective = settings_of(given)
    with bench_for(effective, given, go_on="touchstone check --resume") as bench:
        runs = [*given["runs"], *_merged(given["shards"], bench)]
        if runs:
            checks = [_gone_on(resumed(name, bench), effective, ref) for name in runs]
        else:
            loaded = packs_of(effective, given["packs"], Path.cwd())
            checks = [
                PackCheck(one.pack.id, _finder(effective, one.pack.id, ref), one, part_of(given))
                for one in loaded
            ]
        code = run_checks(bench, checks)
    keep(checks, bench)
    if as_json:
        click.echo(json_pretty(_as_json(checks, code), sort_keys=False), nl=False)
    else:
        _show(checks, code, effective.config.language)
    return code


def _merged(folder: str | None, bench: Bench) -> list[str]:
    return [] if folder is None else [str(bundle.path) for bundle in merged([folder], bench.runs_dir)]


def _gone_on(bundle: Bundle, effective: Effective, ref: str) -> PackCheck:
    pack = bundle.manifest.suite.pack_id
    return PackCheck(pack, _finder(effective, pack, ref), bundle=bundle)


def _finder(effective: Effective, pack: str, ref: str) -> Callable[[], Reference | None]:
    config, root, today = effective.config, effective.root, datetime.now(UTC).date()
    if ref == AUTO:
        return lambda: agreed_reference(config, root, pack, today)
    return lambda: committed_reference(config, root, pack, today, ref)


def _show(checks: Sequence[PackCheck], code: ExitCode, language: Language) -> None:
    texts = [
        comparison_text(check.comparison, language, check.answers()) for check in checks if check.comparison
    ]
    show("\n".join(texts))
    for check in checks:
        if check.is_shard and check.bundle is not None and check.error is None:
            click.echo(shard_sentence(check.bundle.manifest, Words(language)))
        if check.error is not None:
            say(f"touchstone: {check.pack}: {check.error.message}")
            if check.error.hint:
                say(f"  → {check.error.hint}")
    if len(checks) > 1:
        exits = ", ".join(f"{check.pack} {int(check.exit)}" for check in checks)
        click.echo("\n" + phrase(Words(language), "exit_codes", exits=exits, code=int(code)))


def _as_json(checks: Sequence[PackCheck], code: ExitCode) -> dict[str, Any]:
    return {"exit": int(code), "packs": [_pack_json(check) for check in checks]}


def _pack_json(check: PackCheck) -> dict[str, Any]:
    error = check.error
    return {
        "pack": check.pack,
        "exit": int(check.exit),
        "run": check.bundle.id if check.bundle else None,
        "comparison": check.comparison.to_json() if check.comparison else None,
        "error": {"message": error.message, "hint": error.hint} if error else None,
    }
