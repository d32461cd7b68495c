"""No check outlasts its time limit, reaches the network, or disturbs who else uses the alarm."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from typing import Any

import pytest
from pydantic import TypeAdapter

from touchstone.judge.checks import Answer, run_check, run_label
from touchstone.judge.checks.finding import CannotCheckError
from touchstone.judge.checks.limit import within_limit
from touchstone.judge.records import CheckVerdict
from touchstone.pack.checks import Check
from touchstone.pack.schema import LabelExtract, Labels

CHECK: TypeAdapter[Any] = TypeAdapter(Check)
TOLERANCE_S = 1.5
"""The limit is 0.2 s; a busy machine, and one deaf attempt of the matcher, may add to it."""


def timed(fields: dict[str, Any], text: str) -> tuple[CheckVerdict, float]:
    check = CHECK.validate_python(fields)
    begun = time.perf_counter()
    return run_check(check, Answer(text)), time.perf_counter() - begun


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 40 + "b"),
        (r"(a|aa)+$", "a" * 60 + "b"),
        (r"(.*)*x", "a" * 40),
        (r"a*b", "a" * 900_000),
        (r"\s+$", "a" + " " * 900_000 + "b"),
        (r"(?:(?=a*c)|a)*d", "a" * 300_000),
    ],
)
@pytest.mark.parametrize("type_", ["regex", "not_regex", "count", "json_schema"])
def test_a_regex_bomb_is_stopped(type_: str, pattern: str, text: str) -> None:
    fields: dict[str, Any] = {"type": type_, "pattern": pattern}
    if type_ == "json_schema":
        fields, text = {"type": type_, "schema": {"pattern": pattern}}, f'"{text}"'
    verdict, seconds = timed(fields, text)
    assert (verdict.status, verdict.detail) == ("error", "took longer than 200 ms")
    assert seconds < TOLERANCE_S


def test_a_bomb_in_a_labels_pattern_is_stopped() -> None:
    labels = Labels(classes=["a", "b"], positive="a", extract=LabelExtract(regex=r"(a+)+$"))
    verdict, found = run_label(labels, "a", Answer("a" * 40 + "c"))
    assert (verdict.status, found) == ("error", None)


def test_a_schema_that_takes_long_is_stopped() -> None:
    nested: dict[str, Any] = {"type": "integer"}
    for _ in range(12):
        nested = {"allOf": [nested, nested]}
    numbers = ", ".join("1" * 500)
    verdict, seconds = timed({"type": "json_schema", "schema": {"items": nested}}, f"[{numbers}]")
    assert verdict.status == "error"
    assert seconds < TOLERANCE_S


def test_levenshtein_of_long_answers_does_not_hang() -> None:
    value = "All happy families are alike. " * 333
    fields = {"type": "levenshtein", "value": value}
    verdict, seconds = timed(fields, value.replace("happy", "sad") + "x")
    assert verdict.status == "pass"
    assert seconds < 0.2
    verdict, seconds = timed({"type": "levenshtein", "value": value * 40}, value * 40 + "x")
    assert verdict.status == "error"
    assert seconds < TOLERANCE_S


def test_a_ref_never_opens_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        opened: list[object] = []
        monkeypatch.setattr(socket.socket, "connect", lambda _self, address: opened.append(address))
        for schema in ({"$ref": url}, {"allOf": [{"$ref": url}]}, {"$id": url, "$ref": "other.json"}):
            verdict, _ = timed({"type": "json_schema", "schema": schema}, "{}")
            assert verdict.status == "error"
            assert "$ref" in verdict.detail
        with pytest.raises(TimeoutError):
            server.accept()
    assert opened == []


def test_outside_the_main_thread_a_check_is_an_error() -> None:
    verdicts: list[CheckVerdict] = []
    check = CHECK.validate_python({"type": "contains", "value": "x"})
    thread = threading.Thread(target=lambda: verdicts.append(run_check(check, Answer("x"))))
    thread.start()
    thread.join()
    assert verdicts[0].status == "error"
    assert "main thread" in verdicts[0].detail


def test_earlier_handler_and_timer_are_set_again() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        assert within_limit(lambda: 7) == 7
        assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(0.15, abs=0.05)
        with pytest.raises(CannotCheckError):
            within_limit(lambda: time.sleep(1), limit_s=0.3)
        time.sleep(0.05)
        assert rung, "the earlier alarm, due while the check ran, rings afterwards"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_no_timer_is_left_behind() -> None:
    within_limit(lambda: None)
    with pytest.raises(CannotCheckError):
        within_limit(lambda: time.sleep(1), limit_s=0.01)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_work_that_swallows_exceptions_is_stopped_all_the_same() -> None:
    def stubborn() -> None:
        while True:
            try:
                time.sleep(0.001)
            except Exception:  # noqa: BLE001 - the point of the test
                continue

    with pytest.raises(CannotCheckError):
        within_limit(stubborn, limit_s=0.05)


def test_an_error_of_the_work_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        within_limit(lambda: 1 // 0)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_that_falls_into_a_destructor_says_nothing_and_rings_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Slow:
        def __del__(self) -> None:
            time.sleep(0.3)

    def work() -> None:
        Slow()
        time.sleep(1)

    begun = time.perf_counter()
    hook = sys.unraisablehook
    with pytest.raises(CannotCheckError, match="took longer than 50 ms"):
        within_limit(work, 0.05)
    assert time.perf_counter() - begun < 1
    assert sys.unraisablehook is hook
    assert capsys.readouterr().err == ""
