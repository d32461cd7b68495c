"""A call's outcomes, pack by pack, each with the sentences that a reader is to see first."""

from __future__ import annotations

from touchstone.cli.call import Call
from touchstone.errors import NotComparableError
from touchstone.gate.brought import Brought
from touchstone.gate.change import Change
from touchstone.gate.check import PackCheck
from touchstone.pack.load import LoadedPack
from touchstone.render.first import first_sentence, unexplained_sentence, unused_sentence
from touchstone.render.review import PackReview

_DIGEST_SHOWN = len("sha256:") + 12


def say_first(call: Call, change: Change) -> None:
    """Which commit is checked, what counts, and what of the change does not yet."""
    base, agreed = change.base, change.agreed
    short = {"head": call.head[:12], "base": base.commit[:12], "tested": base.tested[:12]}
    call.first.append(first_sentence(base.found, call.words, **short))
    if agreed.source is None:
        url = agreed.effective.config.endpoint.base_url
        told_by = "no_settings" if url is None or call.given["base_url"] else "own_server"
        call.first.append(first_sentence(told_by, call.words, url=url))
    told = unused_sentence(agreed.unused, call.words)
    if agreed.deleted is not None:
        path = change.repository.relative(agreed.deleted)
        told = [first_sentence("settings_deleted", call.words, path=path), *told]
    call.first += told
    call.is_news = bool(told)


def review_of(call: Call, change: Change, check: PackCheck, loaded: LoadedPack | None) -> PackReview:
    """A pack's outcome, with what is said first of it."""
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


def promotion_review(call: Call, change: Change, loaded: LoadedPack, brought: Brought) -> PackReview:
    """A promotion on its own."""
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
            replaces=first_sentence(told, words, digest=(old or "")[:_DIGEST_SHOWN]),
        )
    ]
    if baseline.reason:
        sentences.append(first_sentence("reason", words, reason=baseline.reason))
    if not change.agreed.effective.config.compare.accept_promotions:
        sentences.append(first_sentence("not_accepted", words))
    return sentences + unexplained_sentence(brought.unexplained, words)


def tell_lost(call: Call, change: Change, packs: set[str]) -> None:
    """A pack that was agreed to and is not there any more can no longer be worse; that is said."""
    for pack, retired in change.lost_packs(packs):
        if retired:
            call.first.append(first_sentence("retired", call.words, pack=pack))
            call.is_news = True
            continue
        call.reviews.append(PackReview(pack, error=_lost(pack, change)))


def _lost(pack: str, change: Change) -> NotComparableError:
    path, file = change.path_of(pack), change.unnamed_file_of(pack)
    if file is None:
        return NotComparableError(
            f"pack {pack} is not in this tree any more, and its baseline {path} still stands",
            f"Bring the pack back; or retire it, and delete its baseline too: git rm {path}",
        )
    return NotComparableError(
        f"{file}: pack {pack} is in none of the places that `packs` names in the settings any more, and its "
        f"baseline {path} still stands",
        "Name its place in `packs` of touchstone.yaml again. Or retire the pack, both files: "
        f"git rm {file} {path}",
    )
