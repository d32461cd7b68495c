"""Prompt files: the product's own texts, read where the product keeps them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from touchstone.config import git_top
from touchstone.yaml_source.reader import BYTES_MAX, LFS_POINTER

_CONFLICT_START = re.compile(r"^<{7} ", re.MULTILINE)
_CONFLICT_END = re.compile(r"^>{7} ", re.MULTILINE)


class PromptFileError(Exception):
    """A prompt file that cannot be used, and what to do about it."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def read_prompt_file(name: str, pack_path: Path) -> tuple[str, str]:
    """The text of a prompt file and its path from the top of the repository.

    `name` is relative to the pack file. After resolving links the file must lie inside the git top level
    that holds the pack, outside `.git`; without git, inside the parent of the pack's folder. A byte order
    mark is dropped, CRLF becomes LF, the last newline stays. Raises PromptFileError.
    """
    # Links stay links here: the repository is the one the pack is named in, not one it is linked from.
    folder = Path(os.path.abspath(pack_path.parent))  # noqa: PTH100
    top = (git_top(folder) or folder.parent).resolve()
    path = _inside(name, folder, top)
    where = path.relative_to(top).as_posix()
    if not where.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in where):
        raise PromptFileError(f"the path {where!r} is no UTF-8", "rename it")
    return _text_of(path), where


def _inside(name: str, folder: Path, top: Path) -> Path:
    if not name or Path(name).is_absolute() or "\0" in name:
        raise PromptFileError("a path relative to the pack file is due", "such as ../prompts/assistant.md")
    try:
        path = (folder / name).resolve(strict=True)
    except (OSError, RuntimeError):
        raise PromptFileError(f"no such file: {name}", "the path is relative to the pack file") from None
    if not path.is_relative_to(top):
        raise PromptFileError(f"{name} leaves the repository", "keep prompt files inside it")
    if any(part.casefold() == ".git" for part in path.relative_to(top).parts):
        raise PromptFileError(f"{name} is inside .git", "keep prompt files outside it")
    if not path.is_file():
        raise PromptFileError(f"{name} is not a file")
    return path


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise PromptFileError(f"{path.name} cannot be read: {error.strerror}") from None
    if len(data) > BYTES_MAX:
        raise PromptFileError(f"{path.name} has more than {BYTES_MAX} bytes")
    if data.startswith(LFS_POINTER):
        raise PromptFileError(f"{path.name} is a Git LFS pointer, not the file", "git lfs pull")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = f"{path.name} is not UTF-8 (byte 0x{data[error.start]:02x} on line {line})"
        raise PromptFileError(fault, "save it as UTF-8") from None
    if _CONFLICT_START.search(text) and _CONFLICT_END.search(text):
        raise PromptFileError(f"{path.name} holds an unresolved merge conflict", "resolve it")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
