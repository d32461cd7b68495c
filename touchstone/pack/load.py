"""Loading: a pack file and the prompt files it names, or every problem of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.errors import BadInputError
from touchstone.files import read_bytes, sha256_of
from touchstone.pack.checks import Check
from touchstone.pack.problems import Faults, present
from touchstone.pack.prompt_files import PromptFileError, read_prompt_file
from touchstone.pack.rules import look_at
from touchstone.pack.schema import Category, Pack, Prompt, PromptVariant
from touchstone.pack.suite import VariantText
from touchstone.yaml_source import KeyPath, ProblemsError, read_document, read_typed, without

PACK_SUFFIXES = (".yaml", ".yml")
MACHINE_NOTE = (
    "machine: is no longer used and was passed over: chip, memory and system are detected, never written down"
)


@dataclass(frozen=True)
class LoadedPack:
    """A pack that passed every rule. Its checks carry their ids and thresholds; `text` is the file's.

    `variants` holds each variant's system prompt as it will be sent. `notes` are for the person, once.
    """

    pack: Pack
    path: Path
    text: str
    variants: dict[str, VariantText]
    notes: list[str] = field(default_factory=list)


def load_pack(path: Path) -> LoadedPack:
    """Load one pack file.

    Raises ProblemsError with everything that is wrong, in the file and in the prompt files it names.
    """
    return pack_from(read_bytes(path), path)


def pack_from(data: bytes, path: Path) -> LoadedPack:
    """A pack from its bytes; `path` is where it lies (or would lie), for messages and prompt files."""
    whole = read_document(data, str(path))
    document = without(whole, "machine")
    typed = read_typed(document, Pack)
    faults = Faults(document, typed.problems, typed.lost)
    variants: dict[str, VariantText] = {}
    if typed.model is not None:
        look_at(typed.model, faults)
        variants = _variant_texts(typed.model, path, faults)
    if faults.problems or typed.model is None:
        raise ProblemsError(faults.problems)
    pack = with_check_defaults(typed.model)
    return LoadedPack(pack, path, whole.text, variants, [MACHINE_NOTE] if document is not whole else [])


def find_packs(entries: Iterable[Path]) -> list[Path]:
    """The pack files meant by files and folders: a folder stands for its `*.yaml` and `*.yml` files.

    Folders are not searched deeper; names beginning with a dot are passed over; a file reached twice is
    named once. Raises BadInputError where an entry does not exist or nothing is found.
    """
    entries = list(entries)
    found: dict[Path, Path] = {}
    for entry in entries:
        for path in _packs_at(entry):
            found.setdefault(_resolved(path), path)
    if not found:
        names = ", ".join(str(entry) for entry in entries) or "nothing"
        raise BadInputError(
            f"no packs found in {names}",
            "Put a pack into packs/, or name one: --pack FILE",
        )
    return list(found.values())


def with_check_defaults(pack: Pack) -> Pack:
    """The pack with every check's id and threshold filled in."""
    return pack.model_copy(
        update={"categories": [_filled_category(category) for category in pack.categories]}
    )


def check_ids(checks: Iterable[Check]) -> list[str]:
    """The id of each check of a prompt: its own, else its type, then `type-2` and so on."""
    checks = list(checks)
    taken = {check.id for check in checks if check.id}
    ids = []
    for check in checks:
        name, number = check.id or check.type, 1
        while not check.id and name in taken:
            number += 1
            name = f"{check.type}-{number}"
        taken.add(name)
        ids.append(name)
    return ids


def _filled_category(category: Category) -> Category:
    return category.model_copy(update={"prompts": [_filled_prompt(prompt) for prompt in category.prompts]})


def _filled_prompt(prompt: Prompt) -> Prompt:
    named = zip(prompt.checks, check_ids(prompt.checks), strict=True)
    return prompt.model_copy(update={"checks": [_filled_check(check, name) for check, name in named]})


def _filled_check(check: Check, name: str) -> Check:
    threshold = check.default_threshold if check.threshold is None else check.threshold
    return check.model_copy(update={"id": name, "threshold": threshold})


def _variant_texts(pack: Pack, path: Path, faults: Faults) -> dict[str, VariantText]:
    return {
        variant.id: _variant_text(variant, ("prompt_variants", index, "system_prompt_file"), path, faults)
        for index, variant in present(pack.prompt_variants)
    }


def _variant_text(variant: PromptVariant, key: KeyPath, path: Path, faults: Faults) -> VariantText:
    text, source = variant.system_prompt, "pack"
    if variant.system_prompt_file is not None:
        try:
            text, source = read_prompt_file(variant.system_prompt_file, path)
        except PromptFileError as error:
            faults.at(key, error.problem, error.hint)
    if text is None:
        return VariantText(sha256=None, source=None, text=None)
    return VariantText(sha256=sha256_of(text), source=source, text=text)


def _packs_at(entry: Path) -> list[Path]:
    if not entry.exists():
        raise BadInputError(
            f"{entry}: no such file or folder", "Check the path, or packs: in touchstone.yaml."
        )
    if not entry.is_dir():
        return [entry]
    try:
        names = sorted(entry.iterdir())
    except OSError as error:
        raise BadInputError(f"{entry}: cannot be read: {error.strerror}") from None
    return [path for path in names if _looks_like_pack(path)]


def _looks_like_pack(path: Path) -> bool:
    return path.suffix.lower() in PACK_SUFFIXES and not path.name.startswith(".") and path.is_file()


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
