"""What a page could be made of: a judged pack with everything on it, and one that holds a text everywhere."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from tests.kit import builders, reviews
from tests.kit.builders import Outcome
from tests.kit.compared import compared, varying
from touchstone.baseline.comparison import ComparedRow
from touchstone.baseline.schema import KeptProvenance
from touchstone.baseline.sides import RowKey, Side
from touchstone.gate.history import Agreed, AgreedCell, History
from touchstone.gate.page import Beside, PageFacts, Profile, facts_beside, facts_of
from touchstone.pack.checks import Check, Contains
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc

OLD_PROMPT = "You are the help desk.\nBe brief.\nName the hotline where somebody may be hurt."
NEW_PROMPT = "You are the help desk.\nBe thorough and friendly."
VARIANTS = ("none", "house")
MACHINES = (
    {"chip": "Apple M2 Max", "ram_gb": 32, "os": "macOS 15.5", "python": "3.12.1"},
    {"chip": "Apple M5 Pro", "ram_gb": 64, "os": "macOS 26.1", "python": "3.13.1"},
)
DIMENSIONS = {"right": 3.0, "kind": 1.0, "brief": 1.0}
ASKED = [f"C{number}" for number in range(1, 13)]


@cache
def judged() -> PageFacts:
    """Two variants, twelve prompts, three dimensions, another prompt and machine; a flag, a flipped check,
    a case that is new, one that is gone and one that could not be judged.
    """
    rng = random.Random(7)
    before, after = _suite(ASKED, OLD_PROMPT, 3.0), _suite([*ASKED[:-1], "C13"], NEW_PROMPT, 3.5)
    tables = [_table(rng, ASKED, 0) for _ in range(3)]
    now = _table(rng, [*ASKED[:-1], "C13"], -1)
    now["m", "house", "C4"] = Outcome((2, 2, 3), flag=True)
    now["m", "house", "C7"] = Outcome((4, 4, 4), checks=0.0)
    now["m", "none", "C9"] = Outcome(verdict="error", reason="no_json")
    old = varying(before, *tables, host=MACHINES[0])
    new = varying(after, now, host=MACHINES[1], salt="new")
    return _beside(after, old, new, now)


def alone() -> PageFacts:
    """The same run, held against nothing."""
    facts = judged()
    return replace(facts, beside=None, profiles=[replace(one, old=None) for one in facts.profiles])


def results() -> list[ResultDoc]:
    """The same run on two machines, and a third time under another judge."""
    here, there = (str(machine["chip"]) for machine in MACHINES)
    told = ((here, "judge-7b"), (there, "judge-7b"), (here, "other"))
    return [_elsewhere(judged().result, number, *each) for number, each in enumerate(told)]


def many(rows: int, *, moved: bool = True) -> PageFacts:
    """So many rows of one cell; `moved`: each with another score and another answer of 2,000 letters."""
    rng = random.Random(1)
    prompts = [f"P{number:05}" for number in range(rows)]
    suite = builders.judged_suite(prompts, variants={"house": OLD_PROMPT})
    after = builders.judged_suite(prompts, variants={"house": NEW_PROMPT})
    then = dict.fromkeys(prompts, (4, 4))
    now = {prompt: (rng.choice((1, 2, 3, 5)), 3) if moved else (4, 4) for prompt in prompts}
    old = varying(suite, then, then, then)
    new = varying(after, now, salt="new" if moved else "")
    facts = _beside(after, old, new, now)
    texts = {key: [_words(rng)] for key in facts.answers}
    assert facts.beside is not None
    earlier = {key: [_words(rng)] for key in texts} if moved else texts
    return replace(facts, answers=texts, beside=replace(facts.beside, answers=earlier))


def saying(text: str) -> PageFacts:
    """A page's facts with the text in every place that is not ours."""
    told = reviews.saying(text)[0]
    assert told.comparison is not None
    assert told.result is not None
    # How often a flag was repeated is ours; a page could not read a text there.
    doubted = [one.model_copy(update={"detail": "1/5"}) for one in told.comparison.suspicions]
    comparison = told.comparison.model_copy(update={"suspicions": doubted})
    result = _result_saying(told.result, text)
    keys = [(row.model, row.variant, row.prompt) for row in comparison.rows]
    return PageFacts(
        title=text,
        result=result,
        scale=(1, 5),
        questions={key[2]: text for key in keys},
        answers={key: [f"new {text}"] for key in keys},
        rationales={key: [text] for key in keys},
        profiles=[Profile(cell.model, cell.variant, text, text, 3.0, 4.0, 2.0) for cell in comparison.cells],
        beside=Beside(
            comparison=comparison,
            provenance=KeptProvenance.model_construct(
                chip=text,
                ram_gb=8.0,
                os=text,
                engine=text,
                engine_version=text,
                runtime=text,
                served_model={text: text},
                quant={text: text},
                quant_origin={text: text},
            ),
            instrument=result.instrument,
            old_draws={key: [80.0, 60.0, None] for key in keys},
            new_draws={key: [40.0, 50.0] for key in keys},
            answers={key: [text] for key in keys},
        ),
    )


def saying_alone(text: str) -> PageFacts:
    """The same as a run by itself."""
    facts = saying(text)
    rows = [row.replaced(model=text, prompt=text) for row in facts.result.rows]
    result = facts.result.model_copy(update={"rows": rows})
    keys = [row.key for row in rows]
    return replace(
        facts,
        result=result,
        answers={key: [text] for key in keys},
        rationales={key: [text] for key in keys},
        beside=None,
    )


def history(promotions: int = 6) -> History:
    """A baseline over time: two cells, the prompt another one twice, and a commit without a number."""
    rng = random.Random(3)
    commits = [_agreed(rng, number) for number in range(promotions)]
    gone = Agreed(commit="f" * 40, date="2025-12-01", author="Ada", subject="out", fault="removed")
    return History(pack="care", file="baselines/default/care.json", commits=[*reversed(commits), gone])


def history_saying(text: str) -> History:
    """A history with the text in every place that is not ours."""
    cells = [
        AgreedCell.model_construct(
            model=text, variant=text, pct=value, level=None, safety=None, prompt_sha256=text + str(value)
        )
        for value in (70.0, 80.0)
    ]
    commits = [
        Agreed.model_construct(
            commit=text, date=text, author=text, subject=text, reason=text, cells=[cell], trials=3, fault=None
        )
        for cell in cells
    ]
    fault = Agreed.model_construct(commit=text, date=text, author=text, subject=text, cells=[], fault=text)
    return History.model_construct(pack=text, file=text, commits=[*commits, fault])


def without(facts: PageFacts, **rows: Any) -> PageFacts:
    """The facts with fields of every compared row replaced."""
    assert facts.beside is not None
    comparison = facts.beside.comparison
    changed: list[ComparedRow] = [row.model_copy(update=rows) for row in comparison.rows]
    told = comparison.model_copy(update={"rows": changed})
    return replace(facts, beside=replace(facts.beside, comparison=told))


def _suite(prompts: Sequence[str], house: str, threshold: float) -> Suite:
    checks: dict[str, list[Check]] = {"C7": [Contains(type="contains", value="yes")]}
    suite = builders.judged_suite(
        prompts,
        dimensions=DIMENSIONS,
        thresholds={"right": threshold},
        variants={"none": None, "house": house},
        checks=checks,
        critical=["C4"],
        inputs={prompt: f"Question {prompt}: what do I do now?" for prompt in prompts},
        pack_id="care",
    )
    return suite.model_copy(update={"pack_title": "Care at the help desk"})


def _table(rng: random.Random, prompts: Sequence[str], fall: int) -> dict[Any, Any]:
    table: dict[Any, Any] = {}
    for variant in VARIANTS:
        for prompt in prompts:
            low = (4 if variant == "house" else 3) + fall * (prompt in {"C2", "C3"})
            table["m", variant, prompt] = Outcome(
                (low + rng.choice((0, 0, 1)), low, 3), text=_answer(prompt, variant, rng)
            )
    return table


def _answer(prompt: str, variant: str, rng: random.Random) -> str:
    endings = ("Call us on Monday.", "Rest, and call a doctor if it lasts.", "Write to the desk.")
    return f"About {prompt}, as the {variant} desk: please keep calm.\n\n{rng.choice(endings)}"


def _words(rng: random.Random) -> str:
    words = ("Größe", "and", "Ärger", "`code`", "那个", "answer", "<b>", "✓", "\n")
    return " ".join(rng.choices(words, k=400))[:2000]


def _beside(suite: Suite, old: Side, new: Side, table: Mapping[Any, Any]) -> PageFacts:
    result = builders.result(suite, table, host=MACHINES[1], id="20260505T080000Z_care_0a1b2c")
    comparison = compared(old, new)
    texts: Mapping[RowKey, Sequence[str]] = new.answers or {}
    rationales = {key: ["Because it is so."] for key in texts}
    alone = facts_of(suite, result, texts, rationales)
    return facts_beside(alone, old, new, comparison, old.answers or {}, renamed={})


def _result_saying(result: ResultDoc, text: str) -> ResultDoc:
    provenance = result.provenance.model_copy(
        update=dict.fromkeys(("chip", "os", "engine", "engine_version", "runtime", "pack_id"), text)
    )
    judge = result.instrument.judge
    instrument = result.instrument.model_copy(
        update={"judge": judge and judge.model_copy(update={"model": text, "version": text})}
    )
    run = result.run.model_copy(update={"id": text, "commit": text, "clean": False})
    cells = [cell.model_copy(update={"quant": text, "quant_origin": text}) for cell in result.cells]
    return result.model_copy(
        update={"provenance": provenance, "instrument": instrument, "run": run, "cells": cells}
    )


def _elsewhere(result: ResultDoc, number: int, chip: str, judge: str) -> ResultDoc:
    """A result as another machine and another judge would have given it."""
    run = result.run.model_copy(update={"id": f"20260505T08000{number}Z_care_0a1b2c"})
    provenance = result.provenance.model_copy(update={"chip": chip})
    known, said = result.instrument.judge, result.judge
    instrument = result.instrument.model_copy(
        update={"judge": known and known.model_copy(update={"model": judge})}
    )
    named = said and said.model_copy(update={"model": judge})
    return result.model_copy(
        update={"run": run, "provenance": provenance, "instrument": instrument, "judge": named}
    )


def _agreed(rng: random.Random, number: int) -> Agreed:
    prompt = f"sha256:{(number + 1) // 3:064x}"
    return Agreed(
        commit=f"{number + 10:02x}" * 20,
        date=f"2026-{number % 12 + 1:02}-{rng.randint(1, 28):02}",
        author=("Ada", "Björn")[number % 2],
        subject="baseline: promote care (default)",
        reason=("A shorter greeting", None, "C4 lower, accepted: the hotline is named elsewhere")[number % 3],
        runs=3,
        trials=3,
        cells=[
            AgreedCell(
                model="m",
                variant=variant,
                pct=value + 2 * number + rng.uniform(-2, 2),
                level="solide",
                safety=number != 2,
                prompt_sha256=prompt if variant == "house" else None,
            )
            for variant, value in (("none", 62.0), ("house", 77.0))
        ],
    )
