"""What is told while a run goes on: counts, the model, the time left. One line that fits a terminal."""

from __future__ import annotations

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


def time_left(seconds: float, words: Words) -> str:
    """Rounded to what can be known."""
    if seconds < 90:
        told = progress_phrase(words, "seconds", n=f"{seconds:.0f}")
    else:
        told = progress_phrase(words, "minutes", n=f"{seconds / 60:.0f}")
    return progress_phrase(words, "about_left", time=told)
