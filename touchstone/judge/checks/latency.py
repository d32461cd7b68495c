"""`latency`: time to the first token and to the end of the answer. Listed only."""

from __future__ import annotations

from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding, yes_or_no
from touchstone.pack.checks import Latency


def run(check: Latency, answer: Answer) -> Finding:
    """Compare what was measured; a limit whose time is missing cannot be checked."""
    limits = [("first token", check.ttft_max_s, answer.ttft_s), ("end", check.e2e_max_s, answer.e2e_s)]
    met, parts = True, []
    for name, most_s, taken_s in limits:
        if most_s is None:
            continue
        if taken_s is None:
            raise CannotCheckError(f"{name}: not measured")
        met = met and taken_s <= most_s
        parts.append(f"{name} {taken_s:.2f} s of {most_s:g} s")
    if not parts:
        raise CannotCheckError("no limit given")
    return yes_or_no(met, ", ".join(parts), ", ".join(parts))
