"""Which baselines a pack's prompts have moved away from: information, never a fault.

Only the texts' hashes are read: a hook that looks at a changed prompt has no time for a whole baseline, and
whether that is sound is another question.
"""

from __future__ import annotations

from pathlib import Path

from touchstone.errors import BadInputError
from touchstone.files import read_json
from touchstone.pack.load import LoadedPack


def stale_variants(loaded: LoadedPack, baselines_dir: Path) -> list[tuple[Path, str]]:
    """(baseline, variant) wherever the pack's baselines, of any tenant and target, hold another text."""
    pack = loaded.pack.id
    files = sorted([*baselines_dir.glob(f"*/{pack}.json"), *baselines_dir.glob(f"*/{pack}.*.json")])
    return [(file, variant) for file in files for variant in _moved(loaded, _hashes(file))]


def _moved(loaded: LoadedPack, kept: dict[str, object]) -> list[str]:
    return [
        variant
        for variant, text in loaded.variants.items()
        if variant in kept and kept[variant] != text.sha256
    ]


def _hashes(file: Path) -> dict[str, object]:
    """Variant → hash of its text; empty where the file does not tell."""
    try:
        value = read_json(file)
    except BadInputError:
        return {}
    variants = value.get("variants") if isinstance(value, dict) else None
    if not isinstance(variants, dict):
        return {}
    return {id_: text.get("sha256") for id_, text in variants.items() if isinstance(text, dict)}
