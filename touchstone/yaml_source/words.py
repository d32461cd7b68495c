"""What pydantic finds, in words a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

NAME_FORMS = {
    r"^[a-z0-9][a-z0-9-]{0,63}$": (
        "may hold lower-case letters, digits and dashes, at most 64, beginning with a letter or digit"
    ),
    r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$": (
        "may hold letters (a-z), digits, dots, dashes and underscores, at most 64, "
        "beginning with a letter or digit"
    ),
    r"^[A-Za-z_][A-Za-z0-9_]{0,127}$": (
        "must be the name of an environment variable, such as MY_API_KEY, never the key itself"
    ),
    r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$": "must be a language code such as en, de or pt-BR",
}
"""What each pattern of our schemas means."""

_Words = Callable[[Mapping[str, Any]], str]

_LIMITS: dict[str, _Words] = {
    "string_too_short": lambda at: (
        "may not be empty" if at["min_length"] == 1 else f"needs at least {at['min_length']} characters"
    ),
    "string_too_long": lambda at: f"may have at most {at['max_length']} characters",
    "string_pattern_mismatch": lambda at: NAME_FORMS.get(at["pattern"], f"must fit {at['pattern']}"),
    "greater_than": lambda at: f"must be greater than {at['gt']:g}",
    "greater_than_equal": lambda at: f"must be at least {at['ge']:g}",
    "less_than": lambda at: f"must be less than {at['lt']:g}",
    "less_than_equal": lambda at: f"must be at most {at['le']:g}",
    "too_short": lambda at: f"needs at least {_entries(at['min_length'])}",
    "too_long": lambda at: f"may have at most {_entries(at['max_length'])}",
    "literal_error": lambda at: f"must be one of {at['expected']}".replace("'", ""),
    "value_error": lambda at: str(at["error"]),
    "missing": lambda _: "is missing",
    "extra_forbidden": lambda _: "is not a key known here",
    "string_type": lambda _: "must be a text",
    "int_type": lambda _: "must be a whole number",
    "float_type": lambda _: "must be a number",
    "finite_number": lambda _: "must be a finite number",
    "bool_type": lambda _: "must be true or false",
    "list_type": lambda _: "must be a list",
    "dict_type": lambda _: "must be a mapping",
    "model_type": lambda _: "must be a mapping",
}


def limit_words(kind: str, context: Mapping[str, Any]) -> str:
    """One of pydantic's findings as a sentence about the value it stands at."""
    words = _LIMITS.get(kind)
    return words(context) if words else "is not a value that fits here"


def _entries(count: int) -> str:
    return "one entry" if count == 1 else f"{count} entries"
