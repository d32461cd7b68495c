"""`touchstone validate`: packs, settings and baselines, offline. Also the pre-commit hook.

Prints only what is wrong. Imports stay light: it runs at every commit.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from touchstone.config import CONFIG_NAME, Config, Effective, load_config
from touchstone.errors import BadInputError, ExitCode
from touchstone.files import json_pretty, read_bytes
from touchstone.pack.load import PACK_SUFFIXES, LoadedPack, find_packs, load_pack
from touchstone.pack.schema import Pack
from touchstone.yaml_source import Problem, ProblemsError, quoted, seen

_SHARED_KEYS = {"schema", "language"}
_PACK_KEYS = set(Pack.model_fields) - _SHARED_KEYS
_CONFIG_KEYS = set(Config.model_fields) - _SHARED_KEYS
_TOP_KEY = re.compile(rb"^([a-z_]+)[ \t]*:", re.MULTILINE)


@click.command(name="validate", epilog="Example: touchstone validate packs/ touchstone.yaml")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="How problems are printed (github: annotations of a workflow run).",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    help="Settings file (default: touchstone.yaml here or at the top of the repository).",
)
@click.option(
    "--also-settings",
    is_flag=True,
    help="Beside PATHS the settings and their packs, where there are any: a deleted file is in no PATHS.",
)
@click.option("--quiet", "-q", is_flag=True, help="No notes on stderr.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    paths: tuple[Path, ...],
    form: str,
    config_path: Path | None,
    also_settings: bool,
    quiet: bool,
) -> None:
    """Check packs, settings and baselines. Exit 4 when anything is wrong.

    PATHS may be packs, folders of packs, touchstone.yaml, baselines, and prompt files, which bring in the
    packs that name them. Without PATHS: the settings, their packs and their baselines. A prompt that has
    moved away from its baseline is told on stderr and is no problem.
    """
    problems, notes = find_problems(paths, config_path, also_settings=also_settings)
    text = FORMATS[form](problems)
    if text:
        click.echo(text, nl=False)
    for note in () if quiet else notes:
        click.echo(seen(note), err=True)
    if problems:
        ctx.exit(ExitCode.REFUSED)


def find_problems(
    paths: Sequence[Path], config_path: Path | None = None, *, also_settings: bool = False
) -> tuple[list[Problem], list[str]]:
    """Everything wrong with the files, sorted, and what is worth knowing. No paths: all the settings name.

    `also_settings`: of the settings and their packs too, but not their baselines, only what is wrong.
    """
    review = _Review(config_path)
    for path in paths:
        review.look_at(path)
    if not paths and not also_settings:
        review.look_at_everything()
    notes = list(review.notes())
    if also_settings:
        review.look_at_packs()
    return sorted(set(review.problems), key=lambda problem: problem.order), notes


def as_text(problems: Sequence[Problem]) -> str:
    """One `file:line:column: path: problem (hint)` per line."""
    return "".join(f"{problem}\n" for problem in problems)


def as_json(problems: Sequence[Problem]) -> str:
    """A list of objects with the fields of a problem."""
    fields = ("file", "line", "column", "path", "problem", "hint")
    return json_pretty(
        [{name: getattr(problem, name) for name in fields} for problem in problems], sort_keys=False
    )


def as_github(problems: Sequence[Problem]) -> str:
    """Error annotations of a workflow run; nothing in a pack can end one and begin another command."""
    return "".join(_annotation(problem) for problem in problems)


FORMATS: dict[str, Callable[[Sequence[Problem]], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
}


class _Review:
    """Looks at files one after another; each pack once, whatever brought it in."""

    def __init__(self, config_path: Path | None) -> None:
        self.problems: list[Problem] = []
        self._config_path = config_path
        self._settings: Effective | None = None
        self._seen: set[Path] = set()
        self._packs: dict[str, LoadedPack] = {}

    def look_at_everything(self) -> None:
        settings = self._load_settings()
        if settings is None:
            return
        self._collect("", lambda: self._packs_of([settings.root / entry for entry in settings.config.packs]))
        for path in sorted((settings.root / settings.config.baselines_dir).glob("*/*.json")):
            self._baseline(_shown(path))

    def look_at_packs(self) -> None:
        """Those the settings name; where there are no settings, those in the usual place, if any."""
        settings = self._load_settings()
        if settings is None:
            return
        entries = [settings.root / entry for entry in settings.config.packs]
        if settings.path is not None or any(any(entry.glob("*.y*ml")) for entry in entries):
            self._collect("", lambda: self._packs_of(entries))

    def look_at(self, path: Path) -> None:
        path = _shown(path)
        suffix = path.suffix.lower()
        if path.is_dir():
            self._collect(str(path), lambda: self._packs_of([path]))
        elif suffix in PACK_SUFFIXES:
            self._collect(str(path), lambda: self._yaml(path))
        elif suffix == ".json":
            self._baseline(path)
        elif path.exists():
            self._prompt_file(path)
        else:
            self.problems.append(Problem(str(path), None, None, "", "no such file"))

    def notes(self) -> Iterator[str]:
        """Packs whose prompts are not those of their baseline any more."""
        folder = self._baselines_dir()
        if folder is None or not folder.is_dir():
            return
        from touchstone.baseline.staleness import stale_variants  # noqa: PLC0415  as in _baseline

        for loaded in self._packs.values():
            for file, variant in stale_variants(loaded, folder):
                yield (
                    f"{loaded.path}: variant {variant}: prompt changed, baseline stale: {_shown(file)} holds "
                    "another text (touchstone check tells what it changed)"
                )

    def _baselines_dir(self) -> Path | None:
        """Where baselines lie; null where the settings cannot be read, which is told elsewhere."""
        try:
            settings = self._settings or load_config(self._config_path)
        except BadInputError:
            return None
        return settings.root / settings.config.baselines_dir

    def _yaml(self, path: Path) -> None:
        if _is_config(path, read_bytes(path)):
            load_config(path)
        else:
            self._pack(path)

    def _packs_of(self, entries: Sequence[Path]) -> None:
        for path in find_packs(entries):
            self._pack(_shown(path))

    def _pack(self, path: Path) -> None:
        if path.resolve() in self._seen:
            return
        self._seen.add(path.resolve())
        self._collect(str(path), lambda: self._load(path))

    def _load(self, path: Path) -> None:
        loaded = load_pack(path)
        first = self._packs.setdefault(loaded.pack.id, loaded)
        if first is not loaded:
            text = f"pack {quoted(loaded.pack.id)} is also in {first.path}: they would share a baseline"
            line = _line_of_id(loaded.text)
            self.problems.append(Problem(str(path), line, 1, "id", text, "give one of them another id"))

    def _baseline(self, path: Path) -> None:
        # Only where there is a baseline to look at: a commit seldom holds one.
        from touchstone.baseline.store import verify_at  # noqa: PLC0415
        from touchstone.gate.recheck import require_true  # noqa: PLC0415

        self._collect(str(path), lambda: require_true(verify_at(path), str(path)))

    def _prompt_file(self, path: Path) -> None:
        """Packs that mention the file's name are looked at with the file as it is now."""
        settings = self._load_settings()
        if settings is None:
            return
        folders = [place for entry in settings.config.packs if (place := settings.root / entry).exists()]
        name = unicodedata.normalize("NFC", path.name)
        for pack in find_packs(folders) if folders else []:
            text = read_bytes(pack).decode("utf-8", "replace")
            if name in unicodedata.normalize("NFC", text):
                self._pack(_shown(pack))

    def _load_settings(self) -> Effective | None:
        if self._settings is None:
            self._collect(CONFIG_NAME, self._read_settings)
        return self._settings

    def _read_settings(self) -> None:
        self._settings = load_config(self._config_path)

    def _collect(self, file: str, look: Callable[[], object]) -> None:
        try:
            look()
        except ProblemsError as error:
            self.problems += error.problems
        except BadInputError as error:
            self.problems.append(_whole_file(file, error))


def _is_config(path: Path, data: bytes) -> bool:
    """Decided by the top-level keys; by the name where they do not tell."""
    keys = {match.group(1).decode() for match in _TOP_KEY.finditer(data)}
    for_config, for_pack = len(keys & _CONFIG_KEYS), len(keys & _PACK_KEYS)
    return for_config > for_pack or (for_config == for_pack and path.stem == Path(CONFIG_NAME).stem)


def _shown(path: Path) -> Path:
    """The path as seen from here, for messages."""
    here = Path.cwd()
    return Path(os.path.relpath(path)) if path.is_absolute() and path.is_relative_to(here) else path


def _line_of_id(text: str) -> int:
    found = re.search(r"^id[ \t]*:", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _whole_file(file: str, error: BadInputError) -> Problem:
    """A problem from an error whose message begins with the file and perhaps a line."""
    found = re.match(rf"{re.escape(file)}(?::(\d+))?(?::(\d+))?: ", error.message)
    if not found:
        return Problem(file, None, None, "", error.message, error.hint)
    line, column = (int(part) if part else None for part in found.groups())
    return Problem(file, line, column, "", error.message[found.end() :], error.hint)


def _annotation(problem: Problem) -> str:
    subject = f"{problem.path}: " if problem.path else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    properties = ",".join(_properties(problem))
    return f"::error {properties}::{_command_data(seen(subject + problem.problem + hint))}\n"


def _properties(problem: Problem) -> Iterator[str]:
    for name, value in (("file", problem.file), ("line", problem.line), ("col", problem.column)):
        if value not in (None, ""):
            yield f"{name}={_command_data(seen(str(value))).replace(':', '%3A').replace(',', '%2C')}"


def _command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
