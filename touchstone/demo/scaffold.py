"""The demo's files: settings, the starter pack and the prompt it tests, as a person would lay them out."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from touchstone.errors import BadInputError
from touchstone.files import write_atomic

PACK_PATH = "packs/starter.yaml"
PROMPT_PATH = "prompts/assistant.md"

_SHIPPED = {PACK_PATH: "starter.yaml", PROMPT_PATH: "assistant.md"}
_IGNORED = "/runs/\n"
_SETTINGS = """\
# What `touchstone` does here without any option. Every key is optional; `touchstone config` shows them all.
schema: 1
endpoint:
  base_url: {base_url}
models:
  - id: {model}
packs: [packs]
"""

_EDIT_OLD = """\
- A library card costs 12 euros a year and is free for children.
- Books may be kept for 28 days and renewed once.
- A late book costs 20 cents a day.
"""
_EDIT_NEW = """\
- Card: 12 euros a year, free for children. Late books: 20 cents a day.
- Books may be kept for 28 days and renewed once.
"""


def write_scaffold(folder: Path, base_url: str, model: str) -> list[str]:
    """Write the demo's files into a folder that must be new or empty; returns their relative paths."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError(
            f"{folder} is not an empty folder", "Name a new one: touchstone demo --into FOLDER"
        )
    texts = {path: shipped_text(name) for path, name in _SHIPPED.items()}
    texts["touchstone.yaml"] = _SETTINGS.format(base_url=base_url, model=model)
    texts[".gitignore"] = _IGNORED
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / path, text)
    return sorted(texts)


def require_empty(folder: Path) -> None:
    """BadInputError unless the folder is new or empty: the demo writes over nothing."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError(
            f"{folder} is not an empty folder", "Name a new one: touchstone demo --into FOLDER"
        )


def shipped_text(name: str) -> str:
    """A file that comes with touchstone, without the line that names a schema file of touchstone's own
    repository to editors: a project has none, until `touchstone schema` writes one.
    """
    text = (files("touchstone.demo") / "files" / name).read_text(encoding="utf-8")
    first, _, rest = text.partition("\n")
    return rest if first.startswith("# yaml-language-server:") else text


def shortened(prompt: str) -> str:
    """The prompt with the story's edit: two lines made one, every fact kept.

    It reads like a harmless clean-up, which is the point; the small model loses several answers over it.
    """
    if _EDIT_OLD not in prompt:
        raise BadInputError(f"{PROMPT_PATH} is not the demo's prompt any more")
    return prompt.replace(_EDIT_OLD, _EDIT_NEW)
