"""Does the judge's engine hold a model to a schema? Asked once, before judging; not all that say so do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.engine.reply import Ask, ChatRequest
from touchstone.judge.prompt import Brief, response_format
from touchstone.judge.reply import ParsedVerdict, parse_reply
from touchstone.pack.suite import InstrumentDimension

SELF_TEST_TOKENS = 512
_QUESTION = "Write one short sentence about the sea."


def schema_works(
    ask: Ask, model: str, *, max_tokens: int = SELF_TEST_TOKENS, extra_body: Mapping[str, Any] | None = None
) -> bool:
    """Whether a question that asks for no JSON comes back as a verdict when the schema is sent along.

    False for every other outcome, an unreachable or complaining engine included.
    """
    brief = Brief(
        prompt=_QUESTION,
        dimensions=(InstrumentDimension(id="D1", name="D1", weight=1.0),),
        scale={1: "low", 2: "high"},
    )
    request = ChatRequest(
        model=model,
        messages=({"role": "user", "content": _QUESTION},),
        temperature=0.0,
        max_tokens=max_tokens,
        response_format=response_format(brief),
        extra_body=extra_body or {},
    )
    reply = ask(request)
    if reply.status == "error":
        return False
    return isinstance(parse_reply(reply.text, brief, ""), ParsedVerdict)
