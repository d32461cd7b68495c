"""What servers tell, made fit to be stored: no folders of this machine, no secrets, no half characters."""

from __future__ import annotations

import re
from pathlib import PureWindowsPath
from urllib.parse import urlsplit

_HUB_FOLDER = re.compile(r"(?:^|[\\/])models--([^\\/]+?)--([^\\/]+)")
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_SECRET = re.compile(r"\b(?:sk|pk|hf|gh[pousr]|glpat|xox[bp])[-_][A-Za-z0-9_-]{12,}")
KEY_REMOVED = "[key removed]"
_SHORTEST_SECRET = 8
_ABSENT = {"", "unknown", "none", "null", "n/a", "b0-unknown"}


def clean_model_id(name: str) -> str:
    """The name without folders, credentials or tokens.

    An absolute path becomes its last part, a hub cache folder becomes `publisher/name`; a name such as
    `publisher/name` or a relative path stays as it is.
    """
    name = _without_url_parts(name.strip())
    if _is_absolute(name):
        hub = _HUB_FOLDER.search(name)
        name = f"{hub[1]}/{hub[2]}" if hub else PureWindowsPath(name.rstrip("/\\")).name
    return _SECRET.sub("***", name)


def without_key(text: str, key: str | None) -> str:
    """The text without the key it was asked with, which a server may echo anywhere.

    A key of fewer than eight characters may stand in any text by chance, and stays.
    """
    return text.replace(key, KEY_REMOVED) if key is not None and len(key) >= _SHORTEST_SECRET else text


def storable(text: str) -> str:
    """The text as UTF-8 can hold it: halves of characters that came apart joined, a lone half U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def told(value: object) -> str | None:
    """A text the server really said; "unknown" and its like count as not said."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    return None if text.lower() in _ABSENT else text


def same_model(asked: str, served: str) -> bool:
    """Whether a reply's model name is the one asked for, folders and Ollama's `:latest` aside."""
    one, two = (clean_model_id(name).removesuffix(":latest") for name in (asked, served))
    return one == two


def _is_absolute(name: str) -> bool:
    return name.startswith(("/", "~", "\\\\", "<")) or bool(_DRIVE.match(name))


def _without_url_parts(name: str) -> str:
    if "://" not in name:
        return name
    try:
        parts = urlsplit(name)
        host = parts.hostname or ""
    except ValueError:
        return name.partition("://")[2].rpartition("@")[2].partition("?")[0]
    return parts.path if parts.scheme == "file" else f"{host}{parts.path}"
