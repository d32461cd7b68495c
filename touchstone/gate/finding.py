"""What a look at one thing came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FindingState = Literal["ok", "warning", "fault"]
"""A warning leaves a run possible; with a fault it would not start, or would end without a verdict."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. The words for `code`, and the remedy, are the renderer's; `facts` fill them."""

    topic: str
    state: FindingState
    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contact:
    """A host and why it is spoken to, as a code.

    `models`, `judge`, `proxy`: in every run. `forge`, `git`: by promote and by the check of a pull request.
    """

    host: str
    why: str
