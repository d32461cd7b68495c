"""Rules about checks and patterns: every check has a name, can run, and can fail.

A check that passes whatever the model says is worse than none: it reads as good.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from touchstone.pack.checks import (
    LABEL_CHECK,
    Check,
    CheckBase,
    Count,
    JsonSchema,
    Latency,
    Length,
    NotRegex,
    Numeric,
    Regex,
)
from touchstone.pack.limits import CpuAllowance, CpuSpentError
from touchstone.pack.names import unique
from touchstone.pack.patterns import Fault, search_fault, shun_fault
from touchstone.pack.problems import Faults, present, prompts_of
from touchstone.pack.schema import Pack
from touchstone.yaml_source import KeyPath, quoted

STEP_CPU_S = 0.3
PATTERNS_CPU_S = 3.0
"""CPU seconds one pattern or schema, and all of a pack, may take to be looked at."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_Step = tuple[KeyPath, Callable[[], Fault | None]]


def checks_have_names(pack: Pack, faults: Faults) -> None:
    """Ids of a prompt's checks are well formed and unique, and none takes the implicit check's name."""
    for path, prompt in prompts_of(pack):
        named = [((*path, "checks", at, "id"), check.id) for at, check in present(prompt.checks) if check.id]
        unique("check", named, faults)
        for place, name in named:
            if not _ID.fullmatch(name):
                text = "may hold letters (a-z), digits, dots, dashes and underscores, at most 64"
                faults.at(place, text, "begin it with a letter or digit")
            if name == LABEL_CHECK:
                faults.at(place, f"{quoted(name)} is the name of a label's own check", "give it another name")


def checks_can_fail(pack: Pack, faults: Faults) -> None:
    """Bounds that every answer keeps are refused."""
    for path, check in _checks(pack):
        if check.threshold == 0:
            faults.at((*path, "threshold"), "every score reaches 0, so the check cannot fail", "raise it")
        if check.id == "":
            faults.at((*path, "id"), "may not be empty", "leave it out for a name made from the type")
        if isinstance(check, (Count, Length)):
            _bounds_bind(path, check, faults)
        if isinstance(check, Latency) and check.ttft_max_s is None and check.e2e_max_s is None:
            faults.at(path, "no limit is given, so the check cannot fail", "add ttft_max_s or e2e_max_s")


def patterns_hold(pack: Pack, faults: Faults) -> None:
    """Every regular expression and JSON Schema can be used, and tells answers apart.

    All of them share an allowance of CPU time: a pack is data, and data must not be able to hang us. The
    first that uses it up ends the looking.
    """
    allowance = CpuAllowance(each_s=STEP_CPU_S, total_s=PATTERNS_CPU_S)
    for path, fault_of in _steps(pack):
        if not faults.complete(*path):
            continue
        try:
            with allowance.step():
                fault = fault_of()
        except CpuSpentError:
            faults.at(path, "takes too long to look at", "make it simpler, or split the pack")
            return
        if fault:
            faults.at(path, fault.text, fault.hint)


def _checks(pack: Pack) -> Iterator[tuple[KeyPath, Check]]:
    for path, prompt in prompts_of(pack):
        for index, check in present(prompt.checks):
            yield (*path, "checks", index), check


def _bounds_bind(path: KeyPath, check: Count | Length, faults: Faults) -> None:
    if check.min is not None and check.max is not None and check.min > check.max:
        text = f"no answer can have at least {check.min} and at most {check.max}"
        faults.at((*path, "min"), text, "swap min and max")
    if not check.min and check.max is None and faults.complete(*path):
        faults.at(
            path, "every answer keeps these bounds, so the check cannot fail", "set min above 0, or max"
        )


def _steps(pack: Pack) -> Iterator[_Step]:
    labels = pack.labels
    if labels and labels.extract.regex:
        flags = re.IGNORECASE if labels.extract.ignore_case else 0
        extract = labels.extract.regex
        yield ("labels", "extract", "regex"), lambda: search_fault(extract, flags)
    for path, check in _checks(pack):
        yield from _check_steps(path, check)


def _check_steps(path: KeyPath, check: CheckBase) -> Iterator[_Step]:
    if isinstance(check, NotRegex):
        yield (*path, "pattern"), lambda: shun_fault(check.pattern)
    elif isinstance(check, (Regex, Count)):
        yield (*path, "pattern"), lambda: search_fault(check.pattern)
    elif isinstance(check, Numeric) and check.pattern is not None:
        pattern = check.pattern
        yield (*path, "pattern"), lambda: search_fault(pattern)
    elif isinstance(check, JsonSchema):
        from touchstone.pack.json_schemas import schema_fault  # noqa: PLC0415 - loads a large library

        yield (*path, "schema"), lambda: schema_fault(check.schema_)
