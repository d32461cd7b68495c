"""Complaints in the shapes and words of many servers."""

from __future__ import annotations

import json

import pytest

from touchstone.engine.faults import Fault, fault_in, fault_of_event, fault_of_status, says_loading

OVERFLOWS = [
    {"error": {"type": "exceed_context_size_error", "message": "request too large"}},
    {"error": {"code": "context_length_exceeded", "message": "too long"}},
    {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
    {"error": {"message": "This model's maximum context length is 4096 tokens."}},
    {"detail": "input is too long for this model"},
    {"error": "Context size has been exceeded."},
]
NO_MODELS = [
    {"error": {"message": "model 'x' not found, try pulling it first", "type": "not_found_error"}},
    {"error": {"message": "The model `x` does not exist.", "code": 404}},
    {"error": "No models loaded. Please load a model."},
    {"detail": {"error": {"message": "nope", "type": "model_not_found"}}},
]
OTHERS = [{"error": "out of memory"}, {"error": {"message": "invalid temperature"}}, {"detail": "Not Found"}]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *((body, "context_overflow") for body in OVERFLOWS),
        *((body, "no_such_model") for body in NO_MODELS),
        *((body, "in_band") for body in OTHERS),
    ],
)
def test_kinds_by_words(body: object, kind: str) -> None:
    found = fault_in(body)
    assert found is not None
    assert found.kind == kind
    expected = "http" if kind == "in_band" else kind
    assert fault_of_status(400, json.dumps(body).encode()).kind == expected


@pytest.mark.parametrize(
    "fine",
    [
        {"choices": [], "error": None},
        {"choices": [], "error": {}},
        {"choices": [], "detail": "a field of our own"},
        {"usage": {}, "message": "ignored"},
        {},
        [],
        None,
        "text",
        7,
    ],
)
def test_what_is_no_complaint(fine: object) -> None:
    assert fault_in(fine) is None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "HTTP 500 without an explanation"),
        (b"Not\n  Found", "HTTP 500: Not Found"),
        (b"\xff\xfe", "HTTP 500: \ufffd\ufffd"),
        (b'{"error": {"reason": "odd"}}', 'HTTP 500: {"reason": "odd"}'),
        (b'{"error": true}', "HTTP 500: true"),
        (b'[{"error": {"message": "in a list"}}]', "HTTP 500: in a list"),
        (b"[" * 100_000, "HTTP 500: " + "[" * 500),
    ],
)
def test_any_body_of_a_bad_status_is_said(raw: bytes, message: str) -> None:
    assert fault_of_status(500, raw).message == message


def test_an_error_event_without_words() -> None:
    assert fault_of_event("error", {}) == Fault("an error event without text", "in_band")
    assert fault_of_event("", {}) is None


def test_a_long_complaint_is_shortened() -> None:
    found = fault_in({"error": "word " * 1000})
    assert found is not None
    assert len(found.message) == 500


@pytest.mark.parametrize(
    ("status", "said", "loading"),
    [
        (503, "Loading model", True),
        (503, "The model is not ready yet", True),
        (503, "server overloaded", False),
        (503, "system load too high", False),
        (500, "Loading model", False),
    ],
)
def test_loading_is_told_from_overload(status: int, said: str, loading: bool) -> None:
    assert says_loading(fault_of_status(status, json.dumps({"error": said}).encode())) is loading
