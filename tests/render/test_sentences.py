from __future__ import annotations

from typing import get_args

from touchstone.baseline.comparison import State, Status
from touchstone.baseline.notes import NOTES
from touchstone.render.sentences import NOTES_DE, REASONS
from touchstone.render.words import WORDS
from touchstone.result.schema import RubricLevel


def test_every_note_has_a_sentence_in_both_languages() -> None:
    assert set(NOTES_DE) == set(NOTES)


def test_every_status_state_and_level_has_a_word() -> None:
    assert set(get_args(Status)) | set(get_args(State)) | set(get_args(RubricLevel)) <= set(WORDS)


def test_no_word_recommends_or_suits() -> None:
    every = " ".join(
        [text for pair in [*WORDS.values(), *REASONS.values()] for text in pair]
        + list(NOTES.values())
        + list(NOTES_DE.values())
    ).lower()
    for word in ("geeignet", "empfehl", "recommend", "suitable", "eignung"):
        assert word not in every
