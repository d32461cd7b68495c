"""Why there is no verdict, in words."""

from __future__ import annotations

from typing import get_args

import pytest

from touchstone.judge.reply import FaultCode
from touchstone.render.reasons import REASON_WORDS, verdict_reason
from touchstone.render.words import Words

OTHERS = {"generation_failed", "reasoning_only", "check_error", "no_class", "empty", "reference_not_judged"}


def test_every_code_of_the_judge_has_words() -> None:
    assert set(REASON_WORDS) == set(get_args(FaultCode)) | OTHERS


@pytest.mark.parametrize(
    ("code", "english", "german"),
    [
        ("not_json", "no JSON", "kein JSON"),
        ("no_class", "no class found", "keine Klasse gefunden"),
        ("of_a_later_version", "of a later version", "of a later version"),
        (None, "error", "Fehler"),
    ],
)
def test_a_code_reads_in_both_languages(code: str | None, english: str, german: str) -> None:
    assert (verdict_reason(code, Words("en")), verdict_reason(code, Words("de"))) == (english, german)
