"""Where a call's verdict is told: outputs, summary, log and the one comment.

The order is that one: whatever fails later, the verdict stands. A comment that cannot be written never
changes it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from touchstone.baseline.comparison import Comparison
from touchstone.cli.boundary import ended_by
from touchstone.cli.call import WHOLE_CALL, Call
from touchstone.cli.job import write_outputs, write_summary
from touchstone.cli.session import say, show
from touchstone.errors import ExitCode
from touchstone.files import json_pretty
from touchstone.forge import FORGES, CommentMark, ForgeError, Posted
from touchstone.render.annotations import Annotation, command_line
from touchstone.render.comment import comment_text, worth_posting
from touchstone.render.comparison import comparison_text
from touchstone.render.first import first_sentence
from touchstone.render.plain import in_one_line, one_line, visible
from touchstone.render.review import PackReview, headline, overall
from touchstone.render.summary import sentences_text, summary_text
from touchstone.run.bundle import COMPARISON_NAME, REPORT_NAME


def tell(call: Call) -> list[str]:
    """Outputs, summary, log, comment, in this order; the notices about what could not be told."""
    write_outputs(call.job.output, _outputs(call))
    write_summary(call.job.summary, _summary(call))
    _print(call)
    posted = _posted(call)
    if posted is None:
        return []
    if posted.url is not None:
        write_outputs(call.job.output, {"comment-url": posted.url})
    if posted.detail is None:
        return []
    missing = first_sentence("no_comment", call.words)
    told = f"{missing} {posted.detail}{f' → {posted.hint}' if posted.hint else ''}"
    write_summary(call.job.summary, f"\n{missing}\n")
    say(told)
    return [command_line(Annotation("notice", "touchstone", told))]


def unfinished_outputs(error: BaseException, code: int) -> dict[str, str]:
    """The outputs of a call that nobody expected to end with this exit code; without a verdict."""
    said = "interrupted" if code == ExitCode.INTERRUPTED else one_line(str(error), 200)
    told = f"a bug in touchstone: {type(error).__name__}" if code == ExitCode.BUG else said
    return {"exit-code": str(code), "verdict": "", "headline": f"{WHOLE_CALL}: {told}"}


def _summary(call: Call) -> str:
    if not call.is_share:
        return summary_text(call.reviews, call.occasion, call.language)
    return sentences_text(call.first)


def _outputs(call: Call) -> dict[str, str]:
    folders = [bundle.path for bundle in call.bundles]
    return {
        "exit-code": str(int(call.exit)),
        "verdict": "shard" if call.is_share else overall(call.reviews),
        "headline": one_line(_headline(call), 500),
        "run": "\n".join(map(str, folders)),
        "report": _files(folders, REPORT_NAME),
        "comparison": _files(folders, COMPARISON_NAME),
        "comment-url": "",
    }


def _headline(call: Call) -> str:
    if call.is_share:
        return call.first[-1]
    error = call.reviews[0].error if len(call.reviews) == 1 else None
    why = f" ({in_one_line(error.message)})" if error is not None else ""
    return headline(call.reviews, call.words) + why


def _files(folders: Sequence[Path], name: str) -> str:
    return "\n".join(str(folder / name) for folder in folders if (folder / name).is_file())


def _print(call: Call) -> None:
    if call.given.get("as_json"):
        told = {"exit": int(call.exit), "packs": [_as_json(review) for review in call.reviews]}
        click.echo(json_pretty(told, sort_keys=False), nl=False)
        return
    for sentence in call.first:
        show(visible(sentence) + "\n")
    for review in call.reviews:
        click.echo()
        for sentence in review.first:
            show(visible(sentence) + "\n")
        if review.comparison is not None:
            show(comparison_text(review.comparison, call.language, review.answers))
        if review.error is not None:
            whose = "" if review.pack == WHOLE_CALL else f"{review.pack}: "
            say(f"touchstone: {whose}{review.error.message}")
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


def _posted(call: Call) -> Posted | None:
    """What became of the one comment; whatever happens on the way there, the verdict is told already."""
    try:
        return _post(call)
    except Exception as error:  # noqa: BLE001  a comment that fails never changes the verdict
        ended_by(error)
        return Posted("not_posted", None, f"{type(error).__name__}: the job's log says more")


def _post(call: Call) -> Posted | None:
    """The one comment; None where there is no pull request to write it on, or none is wanted."""
    number = call.event.number if call.event is not None else None
    wanted = call.given["comment"]
    if call.is_share or call.exit == ExitCode.INTERRUPTED:
        return None
    if number is None or wanted == "never":
        return None
    if call.job.place is None:
        return Posted("not_posted", None, first_sentence("no_place", call.words))
    if call.job.token is None:
        return Posted("not_posted", None, first_sentence("no_token", call.words))
    occasion, comparisons = call.occasion, _comparisons(call.reviews)
    mark = CommentMark(
        occasion.tenant, occasion.target, occasion.name, call.job.run_id, call.job.attempt, call.head
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
