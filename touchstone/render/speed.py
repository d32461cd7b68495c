"""Speed old and new in a few lines: side by side where that means something, else why it does not."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.comparison import ComparedSpeed, Moved
from touchstone.render import numbers
from touchstone.render.plain import one_line, visible
from touchstone.render.words import Words

Figures = tuple[float | None, float | None]
"""Seconds to the first token, tokens per second."""


def speed_lines(speeds: Sequence[ComparedSpeed], words: Words) -> list[str]:
    """A line per cell, or one per reason why there is none; empty where nothing was measured."""
    several = len({speed.model for speed in speeds}) > 1
    told = dict.fromkeys(_line(speed, words, several=several) for speed in speeds)
    return [visible(line) for line in told]


def _line(speed: ComparedSpeed, words: Words, *, several: bool) -> str:
    if speed.differs:
        reasons = "; ".join(_reason(moved, words) for moved in speed.differs)
        of = f" ({speed.model})" if several else ""
        return f"{words['speed_not_comparable']}{of}: {reasons}"
    old, new = zip(speed.ttft_p50, speed.decode_med, strict=True)
    name, (was, now) = f"{speed.model} · {speed.variant}", speed.chip
    if was is not None and was == now:
        return f"{words['speed_one_system']}: {name}: {_from_to(old, new, words)}"
    sides = " | ".join(
        f"{one_line(chip or words['na'], 40)}: {_figures(figures, words)}"
        for chip, figures in ((was, old), (now, new))
    )
    return f"{words['speed_two_systems']}: {name}: {sides}"


def _reason(moved: Moved, words: Words) -> str:
    if moved.old is None and moved.new is None:
        return f"{moved.field} {words['not_known']}"
    return f"{moved.field} {_told(moved.old, words)} → {_told(moved.new, words)}"


def _told(value: object, words: Words) -> str:
    return words["na"] if value is None else one_line(str(value), 60)


def _from_to(old: Figures, new: Figures, words: Words) -> str:
    (old_ttft, old_rate), (new_ttft, new_rate) = old, new
    return (
        f"{words['first_token']} {_seconds(old_ttft, words)} → {_seconds(new_ttft, words)}, "
        f"{words['decoding']} {_plain(old_rate, words)} → {_rate(new_rate, words)}"
    )


def _figures(figures: Figures, words: Words) -> str:
    ttft, rate = figures
    return f"{words['first_token']} {_seconds(ttft, words)}, {words['decoding']} {_rate(rate, words)}"


def _seconds(value: float | None, words: Words) -> str:
    return _plain(value, words) + ("" if value is None else " s")


def _rate(value: float | None, words: Words) -> str:
    return _plain(value, words) + ("" if value is None else f" {words['tokens_per_s']}")


def _plain(value: float | None, words: Words) -> str:
    """Two significant digits, as kept."""
    if value is None:
        return words["na"]
    decimals = 0 if value >= 10 else 1 if value >= 1 else 2 if value >= 0.1 else 3
    return numbers.number(value, words, decimals)
