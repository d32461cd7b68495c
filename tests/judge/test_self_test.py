"""Whether an engine holds a model to a schema is found out, not believed."""

from __future__ import annotations

import pytest

from tests.judge.scenes import always, gone, verdict_text
from touchstone.engine.reply import Reply
from touchstone.judge.self_test import schema_works


def test_a_verdict_where_no_json_was_asked_for_shows_the_schema_at_work() -> None:
    asked = always(verdict_text({"D1": 2}))
    assert schema_works(asked, "judge-7b", extra_body={"a": 1})
    [request] = asked.requests
    assert request.response_format is not None
    assert "JSON" not in request.messages[0]["content"]
    assert (request.model, request.extra_body) == ("judge-7b", {"a": 1})


@pytest.mark.parametrize(
    "reply",
    [
        "The sea is blue.",
        "",
        verdict_text({"D1": 3}),
        verdict_text({"D1": "2"}),
        gone(),
        Reply(status="error", text=verdict_text({"D1": 2}), error_class="http", error_message="no"),
    ],
)
def test_anything_else_does_not(reply: str | Reply) -> None:
    assert not schema_works(always(reply), "judge-7b")
