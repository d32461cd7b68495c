"""The bench: what a measurement is made with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from touchstone.config import Config, Endpoint, api_key
from touchstone.engine.client import ChatClient
from touchstone.judge.phase import JudgeProgress
from touchstone.run.runner import EvalProgress


@dataclass(frozen=True, slots=True)
class Loading:
    """A model is about to be asked for the first time, so its engine loads it now: `number` of `of`."""

    model: str
    number: int = 1
    of: int = 1
    is_judge: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """A check is about to ask: how many calls; with `more` others may follow to confirm what is suspect."""

    run: str
    calls: int
    more: bool


@dataclass(frozen=True, slots=True)
class Confirming:
    """A round is about to confirm what is suspect: `answers` of `rows` asked again, `judged` ones judged
    again `judgements` times; `seconds` is null where nothing tells how long that takes."""

    run: str
    rows: int
    answers: int
    judged: int
    judgements: int
    calls: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Controlling:
    """Today's judge is about to see so many stored answers again."""

    run: str
    answers: int
    calls: int


Step = Planned | Confirming | Controlling
"""What a check is about to do, and what it costs."""


@dataclass(frozen=True)
class Bench:
    """What a measurement is made with: settings, this machine's clock and environment, and who listens.

    `root` is the folder the settings' paths are relative to.
    """

    config: Config
    root: Path
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    clock: Callable[[], float] = time.monotonic
    config_path: Path | None = None
    wait_s: float = 0.0
    """How long to wait for another run on the same engine."""
    strict_preflight: bool = False
    stop: Event = field(default_factory=Event)
    """Set when the person or the system says stop."""
    models_left_out: Sequence[str] = ()
    """Names, former ones included, of configured models that were not asked for."""
    halt: Event = field(default_factory=Event)
    """Set then, and when the time is up: whatever waits ends its waiting."""
    say: Callable[[str], None] = lambda _: None
    """Hears notes, which a person may not want to."""
    warn: Callable[[str], None] = lambda _: None
    """Hears what everybody has to know."""
    on_step: Callable[[Step], None] = lambda _: None
    on_load: Callable[[Loading], None] = lambda _: None
    on_answer: Callable[[EvalProgress], None] = lambda _: None
    on_verdict: Callable[[JudgeProgress], None] = lambda _: None
    go_on: str = "touchstone measure --resume"
    """The command that goes on with a run, the flags it was started with included; the run's id follows."""

    def is_stopped(self) -> bool:
        """Whether to stop asking: told to, or out of time."""
        return self.halt.is_set() or self.stop.is_set()

    @property
    def runs_dir(self) -> Path:
        """Where bundles lie."""
        return self.root / self.config.runs_dir

    @property
    def judge_endpoint(self) -> Endpoint:
        """Where the judge is asked: its own endpoint, or the models'."""
        judge = self.config.judge
        return judge.endpoint if judge and judge.endpoint else self.config.endpoint


def client_for(endpoint: Endpoint, bench: Bench) -> ChatClient:
    """A client of an endpoint that stops when the bench does; its key comes from the environment."""
    return ChatClient(endpoint, api_key(endpoint, bench.environ), stop=bench.halt)


def stamp(moment: datetime) -> str:
    """A moment as files keep it: UTC, ISO 8601, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
