"""What is told while a run goes on: counts, the model, the time left. One line that fits a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.gate.bench import Confirming, Controlling, Planned, Step
from touchstone.judge.outcome import JudgeProgress
from touchstone.render.plain import one_line
from touchstone.render.words import Words
from touchstone.run.runner import EvalProgress

NAME_WIDTH = 24

PROGRESS: dict[str, tuple[str, str]] = {
    "asking": ("asking", "fragt"),
    "judging": ("judging", "bewertet"),
    "loading": ("loading {model} (model {number} of {of})", "lädt {model} (Modell {number} von {of})"),
    "loading_judge": ("loading the judge {model}", "lädt den Judge {model}"),
    "judged": ("{n} judged", "{n} bewertet"),
    "calibrating": ("calibrating", "kalibriert"),
    "about_left": ("about {time} left", "noch etwa {time}"),
    "minutes": ("{n} min", "{n} min"),
    "seconds": ("{n} s", "{n} s"),
    "run_of": ("run {n} of {of}: {run}", "Lauf {n} von {of}: {run}"),
    "planned": ("{run}: {calls}", "{run}: {calls}"),
    "planned_more": (
        "{run}: {calls}, more only to confirm what is suspect",
        "{run}: {calls}, weitere nur, um Verdächtiges zu bestätigen",
    ),
    "confirming": (
        "{run}: to confirm what is suspect, {what}: {calls}",
        "{run}: um Verdächtiges zu bestätigen, {what}: {calls}",
    ),
    "asked_again": ("{rows} asked again ({answers})", "{rows} erneut gefragt ({answers})"),
    "judged_again": ("{answers} judged again ({times})", "{answers} erneut bewertet ({times})"),
    "and": (" and ", " und "),
    "about": (", about {time}", ", etwa {time}"),
    "controlling": (
        "{run}: today's judge sees {answers} again ({calls})",
        "{run}: der heutige Judge sieht {answers} erneut ({calls})",
    ),
}

THINGS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "calls": (("call", "calls"), ("Aufruf", "Aufrufe")),
    "more_calls": (("more call", "more calls"), ("weiterer Aufruf", "weitere Aufrufe")),
    "rows": (("row", "rows"), ("Zeile", "Zeilen")),
    "answers": (("answer", "answers"), ("Antwort", "Antworten")),
    "stored": (("stored answer", "stored answers"), ("gespeicherte Antwort", "gespeicherte Antworten")),
    "judgements": (("judgement", "judgements"), ("Urteil", "Urteile")),
}


def progress_phrase(words: Words, key: str, **values: object) -> str:
    """A sentence in the reader's language, its places filled."""
    return PROGRESS[key][words.language == "de"].format(**values)


def answered_note(event: EvalProgress, words: Words) -> str:
    """After an answer: how many are ok, how many failed, whose it was."""
    counts = f"{event.done - event.errors} {words['ok']} · {event.errors} {words['error']}"
    return f"{counts} · {one_line(event.response.model, NAME_WIDTH)}"


def judged_note(event: JudgeProgress, words: Words) -> str:
    """After a verdict: how many there are, how many could not be judged, how many there was nothing to."""
    if event.calibration is not None:
        return progress_phrase(words, "calibrating")
    judged = event.done - event.errors - event.unscored
    told = f"{progress_phrase(words, 'judged', n=judged)} · {event.errors} {words['error']}"
    return told + (f" · {event.unscored} {words['unscored']}" if event.unscored else "")


def loading_line(model: str, number: int, of: int, words: Words) -> str:
    """A model's block begins, and with it the wait until the engine has it in memory."""
    return progress_phrase(words, "loading", model=one_line(model, NAME_WIDTH), number=number, of=of)


def loading_judge_line(model: str, words: Words) -> str:
    """The judge is asked for the first time."""
    return progress_phrase(words, "loading_judge", model=one_line(model, NAME_WIDTH))


def step_line(step: Step, words: Words) -> str:
    """What a check is about to do, and what it costs."""
    if isinstance(step, Planned):
        key = "planned_more" if step.more else "planned"
        return progress_phrase(words, key, run=step.run, calls=_things(words, "calls", step.calls))
    if isinstance(step, Controlling):
        answers, calls = _things(words, "stored", step.answers), _things(words, "calls", step.calls)
        return progress_phrase(words, "controlling", run=step.run, answers=answers, calls=calls)
    what = progress_phrase(words, "and").join(_confirmed(step, words))
    calls = _things(words, "more_calls", step.calls)
    told = progress_phrase(words, "confirming", run=step.run, what=what, calls=calls)
    if step.seconds is None:
        return told
    return told + progress_phrase(words, "about", time=_duration(step.seconds, words))


def time_left(seconds: float, words: Words) -> str:
    """Rounded to what can be known."""
    return progress_phrase(words, "about_left", time=_duration(seconds, words))


def _confirmed(step: Confirming, words: Words) -> Iterator[str]:
    if step.rows:
        rows, answers = _things(words, "rows", step.rows), _things(words, "answers", step.answers)
        yield progress_phrase(words, "asked_again", rows=rows, answers=answers)
    if step.judged:
        answers, times = (
            _things(words, "answers", step.judged),
            _things(words, "judgements", step.judgements),
        )
        yield progress_phrase(words, "judged_again", answers=answers, times=times)


def _things(words: Words, key: str, number: int) -> str:
    one, many = THINGS[key][words.language == "de"]
    return f"{number} {one if number == 1 else many}"


def _duration(seconds: float, words: Words) -> str:
    if seconds < 90:
        return progress_phrase(words, "seconds", n=f"{seconds:.0f}")
    return progress_phrase(words, "minutes", n=f"{seconds / 60:.0f}")
