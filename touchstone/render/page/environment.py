"""Templates filled: autoescape on, text made visible, and nothing missing printed unnoticed."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from touchstone.render.page.phrases import page_phrase
from touchstone.render.phrases import phrase
from touchstone.render.plain import visible, without_commands_in_markup
from touchstone.render.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment


def filled(template: str, words: Words, **values: object) -> str:
    """A template of this folder, filled, as a whole page.

    Raises jinja2's UndefinedError for a name nobody gave, ValueError for a value that is missing.
    """
    style, policy = _style()
    page = (
        _environment()
        .get_template(template)
        .render(
            words=words,
            say=lambda key, **places: page_phrase(words, key, **places),
            phrase=lambda key, **places: phrase(words, key, **places),
            style=style,
            policy=policy,
            **values,
        )
    )
    return without_commands_in_markup(page)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  only for pages

    return Environment(
        loader=PackageLoader("touchstone.render.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printed,
    )


def _printed(value: object) -> object:
    """What a template may print: text with its invisible characters written out; never a missing value."""
    if value is None:
        raise ValueError("a page was about to print a missing value")
    # Markup is a str too, and already a template's own.
    return visible(value) if type(value) is str else value


@cache
def _style() -> tuple[object, str]:
    """The style sheet, and the policy under which nothing else has an effect."""
    from markupsafe import Markup  # noqa: PLC0415  only for pages

    text = resources.files("touchstone.render.page").joinpath("templates", "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return (
        Markup(text),  # noqa: S704  our own file; its hash is the only style the page allows
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
    )
