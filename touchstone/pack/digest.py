"""From a pack to a suite, and the hashes over it.

Four hashes decide different things: **instrument** whether two results may be compared, **rules** only
how rows are labelled, **config** (both) whether a run may be promoted, **pack** which file it was. Each
case has two of its own. Names, titles, tags, languages and the variants' texts, which are the thing under
test, are in none of the first three.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.config import CompareSettings
from touchstone.files import digest_of, sha256_of
from touchstone.pack.checks import CHECKS, Check, CheckBase
from touchstone.pack.load import LoadedPack
from touchstone.pack.schema import KoRule, Pack, Prompt
from touchstone.pack.suite import (
    Case,
    Hashes,
    Instrument,
    InstrumentDimension,
    JudgeInstrument,
    Line,
    Rubric,
    Rules,
    Suite,
)


def suite_of(
    loaded: LoadedPack,
    *,
    compare: CompareSettings,
    judge: JudgeInstrument | None,
    extra_body: Mapping[str, dict[str, Any]],
) -> Suite:
    """Everything that is asked and how it is measured. `extra_body` is per model id."""
    pack = loaded.pack
    return Suite(
        pack_id=pack.id,
        pack_version=pack.version,
        pack_title=pack.title,
        language=pack.language,
        pack_sha256=pack_hash(pack),
        instrument=_instrument(pack, judge, extra_body),
        rules=_rules(pack, compare),
        variants=dict(loaded.variants),
        cases={prompt.id: case_of(pack, category.id, prompt) for category, prompt in pack.prompts()},
    )


def hashes_of(suite: Suite) -> Hashes:
    """The four hashes of a suite."""
    instrument, rules = suite.instrument.to_json(), suite.rules.to_json()
    return Hashes(
        instrument=digest_of(instrument),
        rules=digest_of(rules),
        config=digest_of({"instrument": instrument, "rules": rules}),
        pack=suite.pack_sha256,
    )


def pack_hash(pack: Pack) -> str:
    """The hash over the canonical parsed pack: same meaning, same hash, however it is laid out."""
    parsed = pack.model_dump(mode="json", by_alias=True, exclude={"language", "prompt_variants"})
    return digest_of({**parsed, "prompt_variants": [variant.id for variant in pack.prompt_variants]})


def case_of(pack: Pack, category: str, prompt: Prompt) -> Case:
    """A prompt with its rubric and the hash of each."""
    rubric = _rubric(pack, prompt)
    input_sha256, rubric_sha256 = case_hashes(prompt.prompt, rubric)
    return Case(
        category=category,
        input=prompt.prompt,
        rubric=rubric,
        input_sha256=input_sha256,
        rubric_sha256=rubric_sha256,
    )


def case_hashes(text: str, rubric: Rubric) -> tuple[str, str]:
    """The hash over a prompt's text as sent, and the one over its rubric."""
    return sha256_of(text), digest_of(rubric.to_json())


def checks_of(suite: Suite, prompt_id: str) -> list[Check]:
    """A prompt's checks as they run: id, threshold and tolerance filled in.

    `latency` is among them; the implicit check of a label is not. A check the rules do not know (they
    may be those of an older baseline) has the threshold of its type.
    """
    checks = CHECKS.validate_python(suite.cases[prompt_id].rubric.checks)
    return [_with_line(check, suite.rules.checks.get(f"{prompt_id}/{check.id}")) for check in checks]


def _instrument(
    pack: Pack, judge: JudgeInstrument | None, extra_body: Mapping[str, dict[str, Any]]
) -> Instrument:
    return Instrument(
        scale=pack.scale,
        dimensions=[
            InstrumentDimension(id=item.id, name=item.name, weight=item.weight, about=item.about)
            for item in pack.dimensions
        ],
        sampling=pack.sampling,
        extra_body={model: body for model, body in extra_body.items() if body},
        labels=pack.labels,
        calibration=pack.calibration,
        judge=judge,
    )


def _rules(pack: Pack, compare: CompareSettings) -> Rules:
    lines = {item.id: Line(threshold=item.threshold, tolerance=item.tolerance) for item in pack.dimensions}
    checks = {
        f"{prompt.id}/{check.id}": Line(threshold=check.threshold, tolerance=check.tolerance)
        for _, prompt in pack.prompts()
        for check in prompt.checks
    }
    ko_rule = (pack.ko_rule or KoRule()) if pack.dimensions else None
    return Rules(dimensions=lines, checks=checks, ko_rule=ko_rule, compare=compare)


def _rubric(pack: Pack, prompt: Prompt) -> Rubric:
    asked = [item.id for item in pack.dimensions if prompt.dimensions is None or item.id in prompt.dimensions]
    return Rubric(
        tests=prompt.tests,
        green_flags=prompt.green_flags,
        red_flags=prompt.red_flags,
        dimensions=asked,
        checks=[_ruler(check) for check in prompt.checks],
        repeats=prompt.repeats,
        max_tokens=prompt.max_tokens,
        label=prompt.label,
        safety_critical=prompt.safety_critical,
    )


def _ruler(check: CheckBase) -> dict[str, Any]:
    return check.model_dump(mode="json", by_alias=True, exclude={"threshold", "tolerance"})


def _with_line(check: Check, line: Line | None) -> Check:
    threshold = line.threshold if line else None
    return check.model_copy(
        update={
            "threshold": check.default_threshold if threshold is None else threshold,
            "tolerance": line.tolerance if line else 0.0,
        }
    )
