"""Doctor's words."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import get_args

import touchstone.gate
from touchstone.forge.github import Rights
from touchstone.gate.finding import Contact, Finding
from touchstone.render.doctor import TEXTS, WHY, doctor_record, doctor_text, words_of

GATE = Path(next(iter(touchstone.gate.__path__)))
CODE = re.compile(r'Finding\(\s*"[a-z ]+",\s*"(?:ok|warning|fault)",\s*"(\w+)"')


def test_every_code_doctor_can_give_has_words() -> None:
    given = {
        code for name in ("doctor", "places") for code in CODE.findall((GATE / f"{name}.py").read_text())
    }
    assert len(given) > 30
    assert given <= set(TEXTS)
    assert {f"token_{word}" for word in get_args(Rights)} <= set(TEXTS)


def test_every_remedy_fills_from_what_the_sentence_knows_or_from_nothing() -> None:
    for code, (text, remedy) in TEXTS.items():
        places = {name for _, name, _, _ in Formatter().parse(remedy or "") if name}
        known = {name for _, name, _, _ in Formatter().parse(text) if name}
        assert places <= known | {"remedy", "first", "path", "name", "listed"}, code


def test_what_is_ok_has_no_remedy_and_what_is_not_has_it_below() -> None:
    fine = Finding("git", "ok", "git_clean", {"commit": "abc"})
    bad = Finding("model", "fault", "model_absent", {"url": "u", "model": "m", "listed": None})
    assert words_of(fine) == ("commit abc, clean", None)
    assert doctor_text([fine, bad], [Contact("h:1", "models")]).splitlines() == [
        "ok       git    commit abc, clean",
        "FAULT    model  u has no m; it has: n/a",
        "                → Load or fetch it there, or name one it has: --model MODEL",
        "",
        "a run contacts, and nobody else:",
        "  h:1  the models, in every run",
    ]


def test_a_remedy_from_elsewhere_may_be_missing_and_may_hold_braces() -> None:
    said = Finding("lock", "fault", "said", {"text": "no {x} here", "remedy": None})
    assert words_of(said) == ("no {x} here", None)
    told = Finding("engine", "fault", "said", {"text": "no", "remedy": "export {KEY}=…"})
    assert words_of(told) == ("no", "export {KEY}=…")


def test_a_servers_words_cannot_drive_the_terminal() -> None:
    evil = Finding("engine", "fault", "engine_down", {"url": "u", "why": "\x1b[2J\nok       engine"})
    (line, *_) = doctor_text([evil], []).splitlines()
    assert "\x1b" not in line
    assert line.startswith("FAULT    engine  u does not answer: \\x1b[2J ok")


def test_a_machine_gets_the_same_words() -> None:
    bad = Finding("packs", "fault", "pack_bad", {"path": "p.yaml", "why": "line 3"})
    record = doctor_record([bad], [Contact(host, why) for host, why in zip("abcde", WHY, strict=True)], 4)
    assert record["exit"] == 4
    assert record["findings"] == [
        {
            "topic": "packs", "state": "fault", "code": "pack_bad",
            "text": "p.yaml cannot be used: line 3", "remedy": "See every problem: touchstone validate",
            "facts": {"path": "p.yaml", "why": "line 3"},
        }
    ]  # fmt: skip
    assert [contact["why"] for contact in record["contacts"]] == list(WHY)
