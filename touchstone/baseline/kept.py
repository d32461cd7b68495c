"""What a baseline keeps of runs, and how it is read back: rows and suites, there and back again.

A kept verdict is one line for all runs; a row is one run's. Checks that are listed only (time limits)
are not kept: they say something of the machine, not of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from touchstone.baseline.schema import Baseline, KeptAnswers, KeptCase, KeptVariant, KeptVerdict
from touchstone.errors import BadInputError
from touchstone.files import json_pretty, parse_json
from touchstone.pack.digest import checks_of
from touchstone.pack.suite import Case, Rubric, Suite, VariantText
from touchstone.records import Misfit, record_from
from touchstone.result.schema import CheckScore, Repeat, Row
from touchstone.result.scorecard import score_rows

RowKey = tuple[str, str, str]
"""(model, variant, prompt)."""


def kept_verdict(rows: Sequence[Row], suite: Suite) -> KeptVerdict:
    """One row of several runs as one line. `rows` are in the order of the runs, fully judged."""
    first, repeats = rows[0], [repeat for row in rows for repeat in row.repeats]
    return KeptVerdict(
        model=first.model,
        variant=first.variant,
        prompt=first.prompt,
        repeats=len(first.repeats),
        state=[row.state or "error" for row in rows],
        pct=[row.pct for row in rows],
        scores={
            dimension: [repeat.scores[dimension] for repeat in repeats]
            for dimension in suite.cases[first.prompt].rubric.dimensions
        },
        flags=[repeat.red_flag for repeat in repeats],
        checks={id_: [_score(repeat, id_) for repeat in repeats] for id_ in counting(suite, first.prompt)},
        labels=[repeat.label for repeat in repeats],
        status=[repeat.status or "error" for repeat in repeats],
        chars=[repeat.answer_chars for repeat in repeats],
        prompt_tokens=[repeat.prompt_tokens for repeat in repeats],
        completion_tokens=[repeat.completion_tokens for repeat in repeats],
    )


def kept_answers(rows: Sequence[Row]) -> KeptAnswers:
    """The hashes of one row's answers in all runs."""
    hashes = [repeat.answer_sha256 for row in rows for repeat in row.repeats]
    return KeptAnswers(
        model=rows[0].model,
        variant=rows[0].variant,
        prompt=rows[0].prompt,
        sha256=[answer for answer in hashes if answer is not None],
    )


def counting(suite: Suite, prompt: str) -> list[str]:
    """Ids of a prompt's checks that count, in declared order; the class is not among them."""
    return [check.id for check in checks_of(suite, prompt) if check.counts and check.id is not None]


def draws_of(baseline: Baseline, suite: Suite) -> Iterator[list[Row]]:
    """Run after run, its rows scored under the suite's rules; `baseline` must be of one piece."""
    answers = {(kept.model, kept.variant, kept.prompt): kept.sha256 for kept in baseline.answer_hashes}
    for run in range(len(baseline.runs)):
        rows = (
            _row(kept, answers[kept.model, kept.variant, kept.prompt], run, suite)
            for kept in baseline.verdicts
        )
        yield score_rows(rows, suite)


def kept_variant(variant: VariantText) -> KeptVariant:
    """A variant's text as lines."""
    lines = None if variant.text is None else variant.text.split("\n")
    return KeptVariant(sha256=variant.sha256, source=variant.source, lines=lines)


def kept_case(case: Case) -> KeptCase:
    """A case with prompt and rubric as lines."""
    return KeptCase(
        category=case.category,
        label=case.rubric.label,
        input_sha256=case.input_sha256,
        rubric_sha256=case.rubric_sha256,
        input=case.input.split("\n"),
        rubric=rubric_lines(case.rubric),
    )


def rubric_lines(rubric: Rubric) -> list[str]:
    """A rubric as the lines of its canonical JSON."""
    return json_pretty(rubric.to_json()).rstrip("\n").split("\n")


def suite_of(baseline: Baseline, source: str = "baseline") -> Suite:
    """What was asked and how it was measured. BadInputError where a rubric's lines are not a rubric."""
    return Suite(
        pack_id=baseline.pack.id,
        pack_version=baseline.pack.version,
        pack_title=baseline.pack.title,
        language=baseline.pack.language,
        pack_sha256=baseline.pack.hash,
        instrument=baseline.instrument,
        rules=baseline.rules,
        variants={id_: variant_text(kept) for id_, kept in baseline.variants.items()},
        cases={prompt: _case(kept, f"{source}: cases.{prompt}") for prompt, kept in baseline.cases.items()},
    )


def variant_text(kept: KeptVariant) -> VariantText:
    """A variant's exact text."""
    text = None if kept.lines is None else "\n".join(kept.lines)
    return VariantText(sha256=kept.sha256, source=kept.source, text=text)


def _score(repeat: Repeat, check: str) -> float | None:
    found = repeat.checks.get(check)
    return None if found is None else found.score


def _case(kept: KeptCase, place: str) -> Case:
    value = parse_json("\n".join(kept.rubric), f"{place}.rubric")
    try:
        rubric = record_from(Rubric, value)
    except Misfit as misfit:
        raise BadInputError(f"{place}.rubric: {misfit}") from None
    return Case(
        category=kept.category,
        input="\n".join(kept.input),
        rubric=rubric,
        input_sha256=kept.input_sha256,
        rubric_sha256=kept.rubric_sha256,
    )


def _row(kept: KeptVerdict, hashes: Sequence[str], run: int, suite: Suite) -> Row:
    places = range(run * kept.repeats, (run + 1) * kept.repeats)
    # The file was validated.
    return Row.trusted(
        model=kept.model,
        variant=kept.variant,
        prompt=kept.prompt,
        category=suite.cases[kept.prompt].category,
        state=None,
        pct=None,
        below_line=None,
        repeats=[_repeat(kept, hashes, place, number) for number, place in enumerate(places, start=1)],
    )


def _repeat(kept: KeptVerdict, hashes: Sequence[str], place: int, number: int) -> Repeat:
    return Repeat.trusted(
        repeat=number,
        status=kept.status[place],
        verdict="judged",
        reason=None,
        scores=_shared_scores(tuple((id_, scores[place]) for id_, scores in kept.scores.items())),
        red_flag=kept.flags[place],
        checks={id_: _check(scores[place]) for id_, scores in kept.checks.items()} or NOTHING,
        label=kept.labels[place],
        answer_sha256=hashes[place],
        answer_chars=kept.chars[place],
        prompt_tokens=kept.prompt_tokens[place],
        completion_tokens=kept.completion_tokens[place],
        listed=NOTHING,
        detail=None,
    )


# Rows are frozen, and a large baseline has tens of thousands: what many of them say stands there once.

NOTHING: dict[str, CheckScore] = {}


@lru_cache(maxsize=4096)
def _shared_scores(scores: tuple[tuple[str, int], ...]) -> dict[str, int]:
    return dict(scores)


@lru_cache(maxsize=1024)
def _check(score: float | None) -> CheckScore:
    # Whether the score passes is read under the suite's rules when the row is scored.
    return CheckScore(status="error" if score is None else "pass", score=score)
