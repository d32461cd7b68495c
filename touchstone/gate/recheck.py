"""Recheck: what the deterministic checks say of the answers today, held against what is written of them.

Numbers in a file can be edited until they fit each other; that an answer passes a check it fails cannot
be. A judge's scores are taken as they stand: nobody can have them again without asking a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from touchstone.baseline.kept import RowKey, suite_of
from touchstone.baseline.schema import Baseline, KeptVerdict
from touchstone.baseline.store import MeasuredRun
from touchstone.errors import BadInputError
from touchstone.files import sha256_of
from touchstone.judge.checks import Answer, run_check, run_label
from touchstone.judge.records import CheckVerdict
from touchstone.pack.checks import LABEL_CHECK, Check
from touchstone.pack.digest import checks_of
from touchstone.pack.suite import Suite
from touchstone.result.numbers import kept
from touchstone.run.records import SampleKey

NAMED_MAX = 5
"""So many contradictions are told in words, the others counted."""


def contradictions(run: MeasuredRun) -> list[str]:
    """Every judged answer of a run whose checks or class are not what it gives today, in words.

    The run's result must be what its lines give.
    """
    checker = _Checker(run.suite)
    return [
        f"{_place(row.key, repeat.repeat)}: {difference}"
        for row in run.result.rows
        for repeat in row.repeats
        if repeat.verdict == "judged" and repeat.answer_sha256 is not None
        for difference in checker.differences(
            row.prompt,
            _answer_of(run, SampleKey(*row.key, repeat.repeat, run.manifest.draw)),
            _Said({id_: check.score for id_, check in repeat.checks.items()}, repeat.label),
        )
    ]


def kept_contradictions(baseline: Baseline) -> list[str]:
    """The same of a baseline, as far as it keeps the answers: its typical run's, and equal ones of others."""
    checker = _Checker(suite_of(baseline))
    texts = {_key(item): {sha256_of(text): text for text in item.texts} for item in baseline.answers or ()}
    hashes = {_key(item): item.sha256 for item in baseline.answer_hashes}
    return [
        f"{_place(_key(row), place % row.repeats + 1)}: {difference}"
        for row in baseline.verdicts
        for place, hash_ in enumerate(hashes[_key(row)])
        if hash_ in texts.get(_key(row), {})
        for difference in checker.differences(
            row.prompt,
            Answer(texts[_key(row)][hash_], row.completion_tokens[place]),
            _said_in(row, place),
        )
    ]


def require_true(baseline: Baseline, source: str) -> None:
    """Raise BadInputError where what a baseline says of its own answers is not so."""
    found = kept_contradictions(baseline)
    if found:
        raise BadInputError(
            f"{source}: its checks are not what its answers give: {listed(found)}",
            "A baseline is made by `touchstone promote` from runs as they were measured; measure again.",
        )


def listed(found: Sequence[str]) -> str:
    """The first contradictions and how many there are beside them."""
    rest = len(found) - NAMED_MAX
    return "; ".join(found[:NAMED_MAX]) + (f"; and {rest} more" if rest > 0 else "")


@dataclass(frozen=True, slots=True)
class _Said:
    """What is written of one answer. `label` is the class read from it."""

    scores: Mapping[str, float | None]
    label: str | None


@dataclass
class _Checker:
    """Runs each check once per different answer: most baselines hold the same one three times."""

    suite: Suite
    _checks: dict[str, list[Check]] = field(default_factory=dict)
    _seen: dict[tuple[str, Answer], _Said] = field(default_factory=dict)

    def differences(self, prompt: str, answer: Answer, said: _Said) -> Iterator[str]:
        gives = self._seen.get((prompt, answer))
        if gives is None:
            gives = self._seen[prompt, answer] = self._look(prompt, answer)
        for id_, score in gives.scores.items():
            if id_ != LABEL_CHECK or id_ in said.scores:  # a baseline keeps the class alone
                yield from _difference(id_, said.scores.get(id_), score)
        yield from _difference(f"{LABEL_CHECK} (class)", said.label, gives.label)

    def _look(self, prompt: str, answer: Answer) -> _Said:
        scores = {check.id or check.type: _score(_run(check, answer)) for check in self._of(prompt)}
        expected, labels = self.suite.cases[prompt].rubric.label, self.suite.instrument.labels
        if expected is None or labels is None:
            return _Said(scores, None)
        verdict, class_ = run_label(labels, expected, answer)
        return _Said({**scores, LABEL_CHECK: _score(verdict)}, class_)

    def _of(self, prompt: str) -> list[Check]:
        if prompt not in self._checks:
            self._checks[prompt] = [check for check in checks_of(self.suite, prompt) if check.counts]
        return self._checks[prompt]


def _run(check: Check, answer: Answer) -> CheckVerdict:
    """The check's verdict; one that ran out of time on a busy machine has a second try."""
    verdict = run_check(check, answer)
    return run_check(check, answer) if verdict.status == "error" else verdict


def _score(verdict: CheckVerdict) -> float | None:
    return None if verdict.score is None else kept(verdict.score)


def _difference(id_: str, says: float | str | None, gives: float | str | None) -> Iterator[str]:
    if says != gives:
        yield f"{id_} is {_shown(says)} in the file, and the answer gives {_shown(gives)}"


def _shown(value: float | str | None) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else f"{value:g}"


def _answer_of(run: MeasuredRun, key: SampleKey) -> Answer:
    response = run.responses[key]
    return Answer(response.response_text, response.completion_tokens)


def _said_in(row: KeptVerdict, place: int) -> _Said:
    return _Said({id_: scores[place] for id_, scores in row.checks.items()}, row.labels[place])


def _key(item: Any) -> RowKey:
    return (item.model, item.variant, item.prompt)


def _place(key: RowKey, repeat: int) -> str:
    return " · ".join(key) + (f" (repeat {repeat})" if repeat > 1 else "")
