"""The confirm step of one run: only what is suspect is measured again, round by round, within budget.

A round is frozen before any of it is asked, so a run killed anywhere ends like one that was not. The
judge is asked after the models, and sees the baseline's stored answers before scores say "worse".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from touchstone.baseline.comparison import Comparison
from touchstone.baseline.evidence import Measure
from touchstone.gate.bench import Bench, Confirming, Controlling
from touchstone.gate.budget import calls_of
from touchstone.gate.control import control_calls, measure_control
from touchstone.gate.further import Round, next_round, write_confirm_plan
from touchstone.gate.held import Held
from touchstone.gate.measure import ask_further, judge_further, require_not_stopped, todays_judge
from touchstone.judge.phase import read_verdicts
from touchstone.run.records import SampleKey

ROUNDS_MAX = 4
"""What one round brings may make another thing suspect; after so many the rest stays unconfirmed."""


class Confirm:
    """What is done with one run: `prepare`, then `ask` and `judge`, while it says so; `control` last."""

    def __init__(self, bench: Bench, held: Held) -> None:
        self._bench = bench
        self._held = held
        # What a limit left out the last time may fit this time.
        self._plan = held.plan().model_copy(update={"over_budget": False})
        self._measured = 0
        self._out_of_time = False

    def prepare(self) -> bool:
        """Freeze the next round, or take up one that was begun; False when nothing is left to measure."""
        while self._measured < len(self._plan.rounds):
            if self._is_open(self._plan.rounds[self._measured]):
                return True
            self._measured += 1
        needs = self._held.needs(self._plan)
        measures = self._affordable(needs)
        if not measures:
            self._leave_out(needs)
            return False
        round_ = next_round(measures, self._held.bundle.manifest, self._plan.rounds)
        self._plan = self._plan.followed_by(round_)
        write_confirm_plan(self._held.bundle, self._plan)
        self._bench.on_step(self._announced(round_))
        return True

    def ask(self) -> None:
        """Ask the round's further draws."""
        samples = self._round.samples
        if self._held.bundle.open_samples(samples):
            ask_further(self._bench, self._held.bundle, samples)
        self._look_at_the_clock()

    def judge(self) -> None:
        """Judge what the round has to be judged."""
        if not self._out_of_time:
            judge_further(self._bench, self._held.bundle, self._round.samples, self._again(self._round))
            self._look_at_the_clock()
        self._measured += 1

    def control(self) -> None:
        """Before scores say worse: the stored answers under today's judge."""
        bundle = self._held.bundle
        keys = self._held.control_needs(self._plan)
        if not keys:
            return
        calls = control_calls(bundle, self._held.old, keys)
        if self._out_of_time or calls > self._calls_left():
            self._leave_out(keys)
            return
        self._bench.on_step(Controlling(bundle.id, len(keys), calls))
        with todays_judge(self._bench, bundle, keep_self_test=True) as judge:
            measure_control(bundle, self._held.old, keys, judge, self._bench.is_stopped)
        self._look_at_the_clock()
        if self._bench.is_stopped():
            self._leave_out(self._held.control_needs(self._plan))

    def verdict(self) -> Comparison:
        """The comparison on everything measured."""
        if self._plan != self._held.plan():
            write_confirm_plan(self._held.bundle, self._plan)
        return self._held.comparison(self._plan)

    def _leave_out(self, what: Sequence[object]) -> None:
        self._plan = self._plan.model_copy(update={"over_budget": bool(what)})

    @property
    def _round(self) -> Round:
        return self._plan.rounds[self._measured]

    def _is_open(self, round_: Round) -> bool:
        """Whether a line is missing that the round names."""
        bundle = self._held.bundle
        if bundle.open_samples(round_.samples):
            return True
        kept = read_verdicts(bundle.path)
        if not all(key in kept for key in round_.samples):
            return True
        return any(
            key not in read_verdicts(bundle.path, pass_)
            for pass_, keys in self._again(round_).items()
            for key in keys
        )

    def _again(self, round_: Round) -> dict[int, list[SampleKey]]:
        draw = self._held.bundle.manifest.draw
        again: dict[int, list[SampleKey]] = {}
        for model, variant, prompt, repeat, pass_ in round_.judged:
            again.setdefault(pass_, []).append(SampleKey(model, variant, prompt, repeat, draw))
        return dict(sorted(again.items()))

    def _affordable(self, measures: Sequence[Measure]) -> list[Measure]:
        """All of them; over `max_calls` the flags alone; none when the time is up.

        Fresh draws are worth their calls only if the judge can then be ruled out: its control is kept back.
        """
        if self._out_of_time or len(self._plan.rounds) >= ROUNDS_MAX:
            return []
        left = self._calls_left()
        for wanted in (list(measures), [measure for measure in measures if measure.kind == "judge"]):
            calls = self._calls(next_round(wanted, self._held.bundle.manifest, self._plan.rounds))
            if wanted and calls + self._kept_back(wanted) <= left:
                return wanted
        return []

    def _kept_back(self, measures: Sequence[Measure]) -> int:
        """The calls of the control that may follow fresh draws; a flag needs none."""
        cells = {(measure.model, measure.variant) for measure in measures if measure.kind == "ask"}
        keys = self._held.control_at_most(cells)
        return control_calls(self._held.bundle, self._held.old, keys) if keys else 0

    def _calls_left(self) -> float:
        """What `max_calls` leaves beside the first run and the rounds so far."""
        limit, manifest = self._bench.config.max_calls, self._held.bundle.manifest
        if limit is None:
            return float("inf")
        first = calls_of(manifest.suite, manifest.plan, len(manifest.models)).total
        return limit - first - sum(map(self._calls, self._plan.rounds))

    def _calls(self, round_: Round) -> int:
        suite = self._held.bundle.manifest.suite
        judge = suite.instrument.judge
        judged = [key for key in round_.samples if suite.cases[key.prompt].rubric.dimensions]
        samples = judge.samples if judge else 0
        return len(round_.samples) + samples * (len(judged) + len(round_.judged))

    def _announced(self, round_: Round) -> Confirming:
        return Confirming(
            self._held.bundle.id,
            rows=len({key[:3] for key in round_.samples}),
            answers=len(round_.samples),
            judged=len({key[:4] for key in round_.judged}),
            judgements=len(round_.judged),
            calls=self._calls(round_),
            seconds=self._seconds(round_),
        )

    def _seconds(self, round_: Round) -> float | None:
        """How long a round takes if it goes on as the first run went; null where that is not known."""
        bundle = self._held.bundle
        answers = _mean(
            response.t_end - response.t_start
            for response in bundle.outlines().values()
            if response.t_end is not None and response.t_start is not None
        )
        verdicts = _mean(
            verdict.seconds for verdict in read_verdicts(bundle.path).values() if verdict.seconds is not None
        )
        if answers is None or (verdicts is None and self._calls(round_) > len(round_.samples)):
            return None
        asked, judged = len(round_.samples), self._calls(round_) - len(round_.samples)
        return (asked * answers + judged * (verdicts or 0.0)) / bundle.manifest.concurrency

    def _look_at_the_clock(self) -> None:
        """Out of time is a limit like any other; told to stop is not."""
        require_not_stopped(self._bench, self._held.bundle)
        self._out_of_time = self._bench.is_stopped()


def _mean(values: Iterable[float]) -> float | None:
    """The mean; null of nothing."""
    known = list(values)
    return math.fsum(known) / len(known) if known else None
