"""`label`: the implicit check of a labelled prompt: the class read from the answer is the right one."""

from __future__ import annotations

import re

from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding, yes_or_no
from touchstone.judge.checks.patterns import first_match
from touchstone.judge.visible import visible
from touchstone.pack.schema import Labels


def class_of(labels: Labels, answer: Answer) -> str:
    """The class an answer names: group 1 of the extraction's pattern, or its whole match, stripped.

    Raises CannotCheckError where nothing matches or what matches is no class of the pack.
    """
    fold = str.casefold if labels.extract.ignore_case else str
    found = first_match(labels.extract.regex, answer.text, re.IGNORECASE if labels.extract.ignore_case else 0)
    if found is None:
        raise CannotCheckError("no class found")
    named = (found.group(1) if found.re.groups else found.group()) or ""
    for known in labels.classes:
        if fold(known.strip()) == fold(named.strip()):
            return known
    raise CannotCheckError(f"“{visible(named.strip(), 40)}” is no class of the pack")


def run(expected: str, found: str) -> Finding:
    """Compare the class with the prompt's."""
    return yes_or_no(found == expected, f"class {found}", f"class {found}, wanted {expected}")
