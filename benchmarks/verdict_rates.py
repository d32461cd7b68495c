"""False alarms and power of the verdict rule, over simulated pull requests.

    python benchmarks/verdict_rates.py [--full] [--only TEXT] [--seed N] [--jobs N]

Every pull request is drawn from a latent world with known truth: three baseline runs, a run of the
candidate, and whatever the rule then asks to be measured again. What decides is the product's own code
(`touchstone.baseline.pairs` and `rule`), fed until its plan is empty; nothing of the rule is copied here.
The figures are percent of pull requests called worse, with the one-sided upper 95 % bound (Wilson); calls
are fresh answers and repeated judgements per row of the suite. Points are points of pct.

The worlds are those of the study the rule comes from (three noise levels, graded answers on six
dimensions) and the ones it lacked: engines that repeat themselves while a harmless edit shakes the answers,
checks that flake, one dimension, labels, very small suites, several cells, a shared error as large as is
promised for at every noise level.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kit import builders
from touchstone.baseline.comparability import Ruler
from touchstone.baseline.evidence import Evidence
from touchstone.baseline.finding import limits_of
from touchstone.baseline.pairs import pair_up
from touchstone.baseline.rule import findings_of
from touchstone.config import CompareSettings

SCALE_MAX = 5
POINTS_PER_LEVEL = 20.0
BASELINE_RUNS = 3
ROUNDS_MAX = 4
TARGET = 0.01
RIGHT_SHARE = 0.9
"""Of the rows with a check or a class that do not flake."""


# What the rule reads of a row, in the cheapest form that has it.


@dataclass(slots=True)
class Said:
    """Stands for a check's score."""

    status: str


@dataclass(slots=True)
class Answer:
    """Stands for a repeat."""

    answer_sha256: str
    scores: dict[str, int]
    red_flag: bool
    checks: dict[str, Said]
    label: str | None = None
    repeat: int = 1
    verdict: str = "judged"


@dataclass(slots=True)
class Line:
    """Stands for a row."""

    model: str
    variant: str
    prompt: str
    pct: float
    state: str
    repeats: list[Answer]


@dataclass(frozen=True)
class Draws:
    """Stands for the baseline's side."""

    suite: object
    draws: tuple
    typical: int = 0


# Worlds


@dataclass(frozen=True)
class Noise:
    """Standard deviations in scale levels. `run`: points a whole run is off by."""

    judge: float
    halo: float
    answer: float
    fork_share: float
    fork: float
    flaky_share: float
    run: float


LOW = Noise(0.10, 0.05, 0.05, 0.05, 0.35, 0.02, 0.2)
MEDIUM = Noise(0.26, 0.13, 0.16, 0.08, 0.45, 0.04, 0.4)
HIGH = Noise(0.50, 0.27, 0.33, 0.10, 0.60, 0.08, 0.6)
NOISES = {"low": LOW, "medium": MEDIUM, "high": HIGH}

SIX = {"Q1": 0.30, "Q2": 0.20, "Q3": 0.15, "Q4": 0.15, "Q5": 0.10, "Q6": 0.10}
ONE = {"Q1": 1.0}


@dataclass(frozen=True)
class World:
    """One kind of pull request. `drop`: points every case is lower by; `change`: none, few or flag."""

    name: str
    rows: int
    kind: str = "judged"
    noise: Noise = MEDIUM
    weights: dict[str, float] = field(default_factory=lambda: SIX)
    cells: int = 1
    change: str = "none"
    drop: float = 0.0
    fixed_share: float = 0.0
    """Rows the engine answers alike every time."""
    edit_share: float = 0.0
    """Share of those answers that a harmless edit replaces by another, as good on average."""
    edit: float = 0.35
    """How far such an answer lies from the old one, in levels."""
    judge_repeats: bool = False
    flaky_share: float = 0.10
    """Checks and labels: rows that pass sometimes; the others nearly always or never."""
    short_answers: bool = False
    """The same outcome is the same text, so that rows which do not flake look fixed."""


class JudgedCase:
    """A prompt whose answers a judge scores in every dimension."""

    def __init__(self, world: World, prompt: str, rng: random.Random) -> None:
        self.world, self.prompt, self.rng = world, prompt, rng
        level = min(5.1, max(1.6, rng.gauss(4.0, 0.75)))
        self.levels = {id_: level + rng.gauss(0, 0.40) for id_ in world.weights}
        self.size = math.exp(rng.gauss(-0.18, 0.6))
        self.flaky = rng.random() < world.noise.flaky_share
        self.false_flags = 0.03 if rng.random() < 0.05 else 0.0005
        self.fixed = rng.random() < world.fixed_share
        self.seed = rng.random()
        self.shift = 0.0
        self.unsafe = 0.0
        self.kept = ("fixed", self._offset()) if self.fixed else None

    def edited(self) -> None:
        """A harmless edit: another answer of the same expected worth."""
        if self.fixed and self.rng.random() < self.world.edit_share:
            self.kept = ("edited", self._offset() + self.rng.gauss(0, self.world.edit))

    def answer(self, salt: str) -> tuple[str, float, bool]:
        """(what identifies the text, quality offset in levels, unsafe)."""
        id_, offset = self.kept or (salt, self._offset())
        unsafe = self.unsafe > 0 and self.rng.random() < self.unsafe
        return f"{self.prompt} {id_}", offset + self.shift, unsafe

    def judged(self, answer: tuple[str, float, bool], run: float) -> Line:
        """One judgement of an answer; `run` in levels."""
        id_, quality, unsafe = answer
        noise, rng = self.world.noise, self.rng
        if self.world.judge_repeats:
            rng = random.Random(f"{self.seed} {id_}")
        base = quality + run + rng.gauss(0, noise.halo) * self.size
        scores = {
            name: min(SCALE_MAX, max(1, round(level + base + rng.gauss(0, noise.judge) * self.size)))
            for name, level in self.levels.items()
        }
        flag = rng.random() < (0.95 if unsafe else self.false_flags)
        got = sum(weight * scores[name] for name, weight in self.world.weights.items())
        pct = 100 * got / (SCALE_MAX * sum(self.world.weights.values()))
        return Line("m", "", self.prompt, pct, "pass", [Answer(id_, scores, flag, {})])

    def _offset(self) -> float:
        noise, rng = self.world.noise, self.rng
        offset = rng.gauss(0, noise.answer) * self.size
        if rng.random() < noise.fork_share:
            offset += rng.gauss(0, noise.fork)
        return offset - 1.6 if self.flaky and rng.random() < 0.2 else offset


class PassedCase:
    """A prompt with one check, or with a class to name: right or wrong."""

    def __init__(self, world: World, prompt: str, rng: random.Random) -> None:
        self.world, self.prompt, self.rng = world, prompt, rng
        flaky = rng.random() < world.flaky_share
        self.rate = rng.uniform(0.2, 0.98) if flaky else float(rng.random() < RIGHT_SHARE)
        self.fixed = rng.random() < world.fixed_share
        self.shift = 0.0
        self.unsafe = 0.0
        self.kept = ("fixed", self._right()) if self.fixed else None

    def edited(self) -> None:
        """A harmless edit: some answers change and are as often right as the others."""
        if self.fixed and self.rng.random() < self.world.edit_share:
            self.kept = ("edited", self.rng.random() < RIGHT_SHARE)

    def answer(self, salt: str) -> tuple[str, bool, bool]:
        """(what identifies the text, right, False)."""
        id_, right = self.kept or (salt, self._right())
        if self.shift and self.rng.random() < self.shift:
            id_, right = f"{id_} changed", False
        return f"{self.prompt} {right if self.world.short_answers else id_}", right, False

    def judged(self, answer: tuple[str, bool, bool], run: float) -> Line:
        """What the check says of it."""
        del run
        id_, right, _ = answer
        status = "pass" if right else "fail"
        checks = {"label" if self.world.kind == "labelled" else "contains": Said(status)}
        return Line("m", "", self.prompt, 100.0 * right, status, [Answer(id_, {}, False, checks)])

    def _right(self) -> bool:
        return self.rng.random() < self.rate


Case = JudgedCase | PassedCase


@dataclass
class Cell:
    """The cases of one cell, and the answers of the candidate's first run."""

    variant: str
    cases: dict[str, Case]
    first: dict[str, tuple] = field(default_factory=dict)

    def run(self, salt: str, error: float, prompts: list[str] | None = None) -> list[Line]:
        """One run of some or all prompts."""
        lines = []
        for prompt in self.cases if prompts is None else prompts:
            case = self.cases[prompt]
            answer = case.answer(salt)
            if salt == "new0":
                self.first[prompt] = answer
            line = case.judged(answer, error)
            line.variant = self.variant
            lines.append(line)
        return lines


class PullRequest:
    """One pull request of a world: its baseline, its first run, and what is measured on demand."""

    def __init__(self, world: World, suite: object, rng: random.Random) -> None:
        self.world, self.suite, self.rng = world, suite, rng
        kind = JudgedCase if world.kind == "judged" else PassedCase
        self.cells = {
            f"v{number}": Cell(f"v{number}", {id_: kind(world, id_, rng) for id_ in suite.cases})
            for number in range(world.cells)
        }
        self.baseline = tuple(tuple(self._run(f"old{number}")) for number in range(BASELINE_RUNS))
        self._change()
        self.draws = [self._run("new0")]
        self.flags: dict[tuple, list[bool]] = {}
        self.rejudged: list[Line] = []
        self.calls = 0

    def verdict(self) -> set[str]:
        """The rules that say worse, once nothing more is to be measured."""
        side = Draws(self.suite, self.baseline)
        limits = limits_of(self.suite, self.world.cells)
        for _ in range(ROUNDS_MAX):
            cells = pair_up(side, self.draws, self.suite, RULER)
            found = findings_of(cells, limits, Evidence(flags=self.flags, rejudged=self.rejudged))
            needs = {
                (need.kind, need.model, need.variant, need.prompt, need.repeat): 0
                for f in found
                for need in f.needs
            }
            for finding in found:
                for need in finding.needs:
                    key = (need.kind, need.model, need.variant, need.prompt, need.repeat)
                    needs[key] = max(needs[key], need.times)
            if not needs:
                break
            self._measure(needs)
        return {finding.rule for finding in found if finding.outcome == "worse"}

    def _run(self, salt: str) -> list[Line]:
        error = self.rng.gauss(0, self.world.noise.run) / POINTS_PER_LEVEL
        return [line for cell in self.cells.values() for line in cell.run(salt, error)]

    def _change(self) -> None:
        world, bad = self.world, next(iter(self.cells.values()))
        for cell in self.cells.values():
            for case in cell.cases.values():
                case.edited()
        cases = list(bad.cases.values())
        if world.drop:
            shift = latent_drop(world)
            for case in cases:
                case.shift = shift
        elif world.change == "few":
            for case in self.rng.sample(cases, max(1, round(0.06 * len(cases)))):
                case.shift = -2.0
        elif world.change == "flag":
            cases[0].unsafe = 0.9

    def _measure(self, needs: dict[tuple, int]) -> None:
        asks = {}
        for (kind, model, variant, prompt, repeat), times in needs.items():
            self.calls += times
            if kind == "ask":
                asks[(variant, prompt)] = times
            else:
                case = self.cells[variant].cases[prompt]
                answer = self.cells[variant].first[prompt]
                again = [case.judged(answer, 0.0).repeats[0].red_flag for _ in range(times)]
                self.flags.setdefault((model, variant, prompt, repeat), []).extend(again)
        for number in range(max(asks.values(), default=0)):
            error = self.rng.gauss(0, self.world.noise.run) / POINTS_PER_LEVEL
            salt = f"new{len(self.draws)}"
            lines = []
            for cell in self.cells.values():
                prompts = [p for p in cell.cases if asks.get((cell.variant, p), 0) > number]
                lines += cell.run(salt, error, prompts)
            self.draws.append(lines)


RULER = Ruler([], [], {"m": "m"}, False, False, frozenset(), frozenset())

_LATENT: dict[tuple, float] = {}


def latent_drop(world: World) -> float:
    """The shift of every case whose mean effect on what is seen is `world.drop` points."""
    if world.kind != "judged":
        # A right answer turns wrong with this chance, on the 88 % or so that are right.
        return world.drop / 88.0
    key = (world.noise, tuple(world.weights), world.drop)
    if key not in _LATENT:
        low, high = 0.0, 3.0
        before = _mean_seen(world, 0.0)
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if before - _mean_seen(world, -middle) < world.drop else (low, middle)
        _LATENT[key] = -(low + high) / 2
    return _LATENT[key]


def _mean_seen(world: World, shift: float) -> float:
    rng = random.Random(5)
    total = 0.0
    for number in range(4000):
        case = JudgedCase(replace(world, fixed_share=0.0, judge_repeats=False), str(number), rng)
        case.shift = shift
        total += case.judged(case.answer("x"), 0.0).pct
    return total / 4000


def suite_of(world: World, settings: CompareSettings) -> object:
    """The suite the rule reads kind, span, checks and settings from."""
    prompts = [f"c{number:03}" for number in range(world.rows)]
    if world.kind == "judged":
        return builders.judged_suite(prompts, dimensions=dict(world.weights), compare=settings)
    if world.kind == "labelled":
        return builders.labelled_suite(dict.fromkeys(prompts, "relevant"), compare=settings)
    return builders.checks_suite(prompts, compare=settings)


# The tables

SHAKEN = {"fixed_share": 1.0, "edit_share": 0.6}
CALM = {**SHAKEN, "judge_repeats": True}
CHECKS = {"kind": "checks"}
LABELS = {"kind": "labelled"}
EDITED_LABELS = {"kind": "labelled", "fixed_share": 1.0, "edit_share": 0.1, "flaky_share": 0.0}


def unchanged_worlds() -> list[World]:
    """Nothing got worse, and the target of 1 % holds or is missed."""
    return [
        *(
            world
            for name, noise in NOISES.items()
            for world in (
                *_sizes(f"study, {name} noise", (3, 5, 9, 10, 20, 50, 200), noise=noise),
                *_sizes(f"study, {name} noise, 4 cells", (5, 9, 10, 20, 50), noise=noise, cells=4),
                *_sizes(f"one dimension, {name} noise", (10, 50, 200), noise=noise, weights=ONE),
                *_sizes(
                    f"fixed engine, harmless edit, {name} noise", (5, 10, 20, 50, 200), noise=noise, **SHAKEN
                ),
            )
        ),
        *(
            world
            for name in ("low", "medium")
            for world in (
                *_sizes(f"run error 0.6, {name} noise", (5, 10, 20, 50, 200), noise=_shaky(name)),
                *_sizes(f"run error 0.6, {name} noise, 4 cells", (10, 20, 50), noise=_shaky(name), cells=4),
            )
        ),
        World("fixed engine, harmless edit, medium noise, 4 cells", 50, cells=4, **SHAKEN),
        World("engine fixed on 60 % of rows, harmless edit", 50, fixed_share=0.6, edit_share=0.6),
        World("engine fixed on 30 % of rows, harmless edit", 50, fixed_share=0.3, edit_share=0.6),
        *_sizes("checks, 10 % of rows flake", (5, 10, 20, 50, 200), **CHECKS),
        World("checks, 10 % of rows flake, 4 cells", 50, cells=4, **CHECKS),
        *_sizes("checks, 10 % flake, short answers", (5, 10, 20, 50, 200), short_answers=True, **CHECKS),
        *_sizes("labels, 10 % of rows flake", (10, 21, 50, 200), **LABELS),
        *_sizes("labels, fixed engine, edit changes 10 %", (10, 21, 50, 200), **EDITED_LABELS),
    ]


def beyond_worlds() -> list[World]:
    """Nothing got worse either, and the target is not promised: named here with what they give."""
    return [
        World("run error 1 point", 50, noise=replace(MEDIUM, run=1.0)),
        World("run error 2 points", 50, noise=replace(MEDIUM, run=2.0)),
        *_sizes("12 cells", (10, 20), cells=12),
        *_sizes(
            "fixed engine and fixed judge, harmless edit (a wrong flag is a fact)", (10, 50, 200), **CALM
        ),
        *_sizes("fixed judge, engine varies (a wrong flag comes back)", (10, 50, 200), judge_repeats=True),
    ]


def changed_worlds() -> list[World]:
    """Something got worse: here the first figure is power."""
    return [
        *(
            world
            for name, noise in NOISES.items()
            for world in (
                *_sizes(f"5 points lower, {name} noise", (10, 20, 50, 200), noise=noise, drop=5.0),
                World(f"4 points lower, {name} noise", 50, noise=noise, drop=4.0),
                World(f"5 points lower, fixed engine, {name} noise", 50, noise=noise, drop=5.0, **SHAKEN),
                World(f"6 % of cases lose two levels, {name} noise", 50, noise=noise, change="few"),
                World(f"one red flag in 90 % of answers, {name} noise", 50, noise=noise, change="flag"),
            )
        ),
        *_sizes("5 points lower in 1 of 4 cells, medium noise", (10, 20, 50), cells=4, drop=5.0),
        World("5 points lower, one dimension, medium noise", 50, weights=ONE, drop=5.0),
        *_sizes("checks, 10 points lower", (50, 200), drop=10.0, **CHECKS),
        *_sizes("labels, 10 points lower", (50, 200), drop=10.0, **LABELS),
    ]


TABLES = {
    "Nothing changed: false alarms (target: at most 1, upper bound at most 1.3)": unchanged_worlds,
    "Nothing changed, beyond what is promised": beyond_worlds,
    "Something got worse: power": changed_worlds,
}


def _shaky(name: str) -> Noise:
    """A noise level whose runs are off by as much as is promised for."""
    return replace(NOISES[name], run=0.6)


def _sizes(name: str, sizes: tuple[int, ...], **others: object) -> list[World]:
    return [World(name, rows, **others) for rows in sizes]


@dataclass(frozen=True)
class Rate:
    """How often worse was said in one world, and by which rules."""

    world: World
    tried: int
    worse: int
    by_rule: dict[str, int]
    calls: float
    seconds: float

    @property
    def share(self) -> float:
        """Share called worse."""
        return self.worse / self.tried

    @property
    def upper(self) -> float:
        """One-sided 95 % upper bound (Wilson)."""
        return self._bound(1.6449)

    @property
    def lower(self) -> float:
        """One-sided 95 % lower bound."""
        return self._bound(-1.6449)

    def _bound(self, z: float) -> float:
        n, p = self.tried, self.share
        centre = p + z * z / (2 * n)
        return (centre + z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def measured(world: World, tries: int, seed: int, settings: CompareSettings) -> Rate:
    """Simulate one world."""
    began = time.perf_counter()
    rng = random.Random(f"{seed} {world.name} {world.rows}")
    suite = suite_of(world, settings)
    by_rule: dict[str, int] = {}
    worse, calls = 0, 0
    for _ in range(tries):
        request = PullRequest(world, suite, rng)
        said = request.verdict()
        worse += bool(said)
        calls += request.calls
        for rule in said:
            by_rule[rule] = by_rule.get(rule, 0) + 1
    rows = world.rows * world.cells
    return Rate(world, tries, worse, by_rule, 1 + calls / tries / rows, time.perf_counter() - began)


HEAD = """| world | rows | worse, % | upper 95 % | of these, by rule, % | calls per row | PRs |
| --- | ---: | ---: | ---: | --- | ---: | ---: |"""


OTHER_TRIES = {
    ("study, high noise", 10): 18_000,
    ("fixed judge, engine varies (a wrong flag comes back)", 200): 600,
}
"""Of worlds that the usual number leaves in doubt, or that are beyond any."""


def tries_of(world: World, full: bool) -> int:
    """Fewer for big suites and for power, whose bound need not be as tight."""
    changed = world.change != "none" or world.drop
    usual = 600 if changed else max(3000, min(6000, 200_000 // (world.rows * world.cells)))
    wanted = OTHER_TRIES.get((world.name, world.rows), usual)
    return wanted if full else wanted // 10


def row_of(rate: Rate) -> str:
    """One line of the table."""
    rules = ", ".join(
        f"{rule} {100 * count / rate.tried:.1f}" for rule, count in sorted(rate.by_rule.items())
    )
    return (
        f"| {rate.world.name} | {rate.world.rows} | {100 * rate.share:.2f} | {100 * rate.upper:.2f} "
        f"| {rules or '–'} | {rate.calls:.2f} | {rate.tried} |"
    )


def main() -> int:
    """Print the tables as Markdown; 1 when a world of the first one surely misses the target."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--full", action="store_true", help="ten times the tries; about 20 minutes of two cores"
    )
    options.add_argument("--only", default="", help="worlds whose name holds this text")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1, help="processes")
    options.add_argument("--set", default="{}", help="settings of `compare` as JSON, to try others")
    given = options.parse_args()
    settings = CompareSettings.model_validate_json(given.set)
    missed = False
    with ProcessPoolExecutor(given.jobs) as pool:
        for title, listed in TABLES.items():
            chosen = [world for world in listed() if given.only in world.name]
            tries = [tries_of(world, given.full) for world in chosen]
            print(f"\n{title}\n\n{HEAD}" if chosen else "", flush=True)
            rest = [[value] * len(chosen) for value in (given.seed, settings)]
            for rate in pool.map(measured, chosen, tries, *rest):
                print(row_of(rate), flush=True)
                missed |= listed is unchanged_worlds and rate.lower > TARGET
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
