"""A run as the forms of a report take it: its result, what was said in it, and what it is held against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from touchstone.baseline.pairs import counting_checks
from touchstone.cli.session import say
from touchstone.config import Effective
from touchstone.errors import UsageError
from touchstone.files import json_document
from touchstone.gate.compared import compared
from touchstone.gate.held import Held
from touchstone.gate.reference import Reference, agreed_reference, named_reference, run_reference
from touchstone.gate.runs import load_run, rationales_of
from touchstone.render.comment import preview_text
from touchstone.render.csv import comparison_csv, result_csv
from touchstone.render.flavour import OBSIDIAN
from touchstone.render.junit import comparison_junit, junit_xml
from touchstone.render.reading import Reading
from touchstone.render.report import report_text
from touchstone.render.review import PackReview
from touchstone.render.scorecard import scorecard_markdown
from touchstone.render.words import Language
from touchstone.run.bundle import Bundle
from touchstone.run.find import find_bundle

Form = Callable[[Reading, Language], str]
"""A run as a text."""


def reading_of(
    bundle: Bundle, effective: Effective, against: str | None = None, *, quiet: bool = False
) -> Reading:
    """Everything of a run, and its comparison with `against` (a run, FILE or REF:PATH) where that is given.

    A run without a result is computed from its lines, and that is said.
    """
    rebuilt = say_if_rebuilt(bundle, quiet=quiet)
    suite = bundle.manifest.suite
    checks = {prompt: counting_checks(suite, prompt) for prompt in suite.cases}
    reading = Reading(
        load_run(bundle).result, bundle.answers(), rationales_of(bundle), rebuilt, checks=checks
    )
    if against is None:
        return reading
    reference = reference_of(against, bundle, effective, datetime.now(UTC).date())
    return replace(
        reading,
        comparison=compared(reference, bundle, effective.config),
        both=Held(reference, bundle).answers() if reference else {},
    )


def say_if_rebuilt(bundle: Bundle, *, quiet: bool) -> bool:
    """Whether a run has no stored result, so that it is computed from its lines; said unless `quiet`."""
    rebuilt = not bundle.result_path.exists()
    if rebuilt and not quiet:
        say(f"{bundle.id} has no {bundle.result_path.name}; every number is computed anew from its lines")
    return rebuilt


def reference_of(name: str | None, new: Bundle, effective: Effective, today: date) -> Reference | None:
    """What a run is held against: a run, a baseline FILE or REF:PATH; unnamed, the committed baseline."""
    if name is None:
        return agreed_reference(effective.config, effective.root, new.manifest.suite.pack_id, today)
    named = named_reference(name, effective.root, Path.cwd(), today)
    if named is not None:
        return named
    return run_reference([find_bundle(name, effective.root / effective.config.runs_dir, Path.cwd())])


def _junit(reading: Reading, language: Language) -> str:
    if reading.comparison is not None:
        return comparison_junit(reading.comparison, reading.both, language, reading.result, reading.checks)
    return junit_xml(reading.result, reading.answers, language, reading.checks)


def _comment(reading: Reading, language: Language) -> str:
    if reading.comparison is None:
        run = reading.result.run
        baseline = f"HEAD:baselines/{run.tenant}/{reading.result.provenance.pack_id}.json"
        raise UsageError(
            "a comment tells what moved, so it needs something to hold the run against: --against OLD",
            f"Write: touchstone report {run.id} --against {baseline} --format comment "
            "(touchstone list names the baselines there are)",
        )
    found = reading.comparison
    review = PackReview(found.pack, comparison=found, result=reading.result, answers=reading.both)
    return preview_text(review, found.candidate.commit or "", language)


def _csv(reading: Reading, _language: Language) -> str:
    return result_csv(reading.result) if reading.comparison is None else comparison_csv(reading.comparison)


def _json(reading: Reading, _language: Language) -> str:
    return json_document((reading.comparison or reading.result).to_json())


FORMS: dict[str, Form] = {
    "md": report_text,
    "obsidian": lambda reading, language: report_text(reading, language, OBSIDIAN),
    "comment": _comment,
    "scorecard": scorecard_markdown,
    "junit": _junit,
    "csv": _csv,
    "json": _json,
}
