"""A run as a page, with the history of its baseline where git has one."""

from __future__ import annotations

from datetime import UTC, datetime

from touchstone.cli.reading import reference_of, say_if_rebuilt
from touchstone.config import Effective
from touchstone.gate.compared import compared
from touchstone.gate.history import History, history_of
from touchstone.gate.page import page_facts, page_facts_beside
from touchstone.git import Repository
from touchstone.render.page import page_html
from touchstone.run.bundle import Bundle

PROMOTIONS_MAX = 20
"""Of the history beside a comparison; `touchstone history --html` has them all."""


def page_of(bundle: Bundle, effective: Effective, against: str | None, *, quiet: bool) -> str:
    """The page of a run by itself, or held against a run, a baseline FILE or REF:PATH."""
    say_if_rebuilt(bundle, quiet=quiet)
    language = effective.config.language
    reference = against and reference_of(against, bundle, effective, datetime.now(UTC).date())
    if not reference:
        return page_html(page_facts(bundle), language=language)
    comparison = compared(reference, bundle, effective.config)
    facts = page_facts_beside(bundle, reference, comparison)
    return page_html(facts, _history(bundle, effective), language)


def _history(bundle: Bundle, effective: Effective) -> list[History]:
    if Repository.open(effective.root) is None:
        return []
    pack = bundle.manifest.suite.pack_id
    found = history_of(effective.config, effective.root, pack, PROMOTIONS_MAX)
    return [found] if found else []
