"""`equals`: the whole answer, trailing white space aside."""

from __future__ import annotations

import unicodedata

from touchstone.judge.checks.finding import Answer, Finding, yes_or_no
from touchstone.judge.visible import visible
from touchstone.pack.checks import Equals


def run(check: Equals, answer: Answer) -> Finding:
    """Compare in full; `normalize` first folds white space to single blanks and Unicode to NFC."""
    same = _form(check.value, check) == _form(answer.text, check)
    return yes_or_no(same, "equal", f"is “{visible(answer.text.rstrip(), 40)}”")


def _form(text: str, check: Equals) -> str:
    form = text.rstrip()
    if check.normalize:
        form = unicodedata.normalize("NFC", " ".join(form.split()))
    return form.casefold() if check.ignore_case else form
