"""What a start costs: ÷ a bare interpreter, measured in turn."""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import ROOT, Effort, Row, process, ratio_to_bare, scratch

VERSION_TARGET = 5
VALIDATE_TARGET = 30
HOOK_TARGET_S = 0.3
PACK_BYTES = 40_000
MORE_PROMPT = """      - id: X{number}
        title: Summary of delivery {number}
        prompt: |
          Sum up the paragraph in two sentences and name the price.
          Delivery {number} came on a Monday and cost 12 euros a piece.
        tests: Two sentences, the price is right.
        green_flags: ["Names 12 euros", "Two sentences"]
        red_flags: [Invents a price]
        checks:
          - {{id: price, type: contains, value: "12 euros"}}
          - {{id: short, type: length, unit: words, max: 60}}
"""


def version(effort: Effort) -> Iterator[Row]:
    """`touchstone --version`."""
    with scratch() as folder:
        cpu, wall = ratio_to_bare(_call("--version"), folder, 3 * effort.tries)
    yield Row(
        "`touchstone --version` ÷ bare interpreter, CPU",
        f"≤ {VERSION_TARGET}",
        f"{cpu:.1f} (by the clock {wall:.1f})",
        met=cpu <= VERSION_TARGET,
    )


def validate(effort: Effort) -> Iterator[Row]:
    """`validate` of one and of twenty packs of 40 kB, made from the shipped ones."""
    with scratch() as folder:
        _write_packs(folder, 200)
        names = sorted(str(path.relative_to(folder)) for path in folder.glob("packs/*.yaml"))
        one, _ = ratio_to_bare(_call("validate", *names[:1]), folder, effort.tries)
        twenty, wall = ratio_to_bare(_call("validate", *names[:20]), folder, effort.tries)
        many = ratio_to_bare(_call("validate", *names), folder, 1)[0] if effort.tenfold else None
    yield Row(
        "`validate` of 20 packs of 40 kB ÷ bare interpreter, CPU",
        f"≤ {VALIDATE_TARGET}",
        f"{twenty:.1f} (by the clock {wall:.1f}; one pack {one:.1f})",
        f"{many:.1f}" if many else "",
        twenty <= VALIDATE_TARGET,
    )


def hook(effort: Effort) -> Iterator[Row]:
    """The hook on one changed pack: through pre-commit, its environment there already, and by itself."""
    with scratch() as folder:
        _write_packs(folder, 1)
        (folder / ".pre-commit-config.yaml").write_text(
            "repos:\n- repo: local\n  hooks:\n  - {id: validate, name: validate, language: system, "
            f"entry: {Path(sys.executable).parent / 'touchstone'} validate, files: ^packs/}}\n"
        )
        for command in (["git", "init", "-q"], ["git", "add", "-A"]):
            process(command, folder)
        names = [str(path.relative_to(folder)) for path in folder.glob("packs/*.yaml")]
        bin_ = Path(sys.executable).parent
        run = [str(bin_ / "pre-commit"), "run", "validate", "--files", *names]
        process(run, folder)
        whole = statistics.median(process(run, folder).wall_s for _ in range(effort.tries))
        alone = [str(bin_ / "touchstone"), "validate", *names]
        own = statistics.median(process(alone, folder).wall_s for _ in range(effort.tries))
    yield Row(
        "hook on one changed pack of 40 kB, by the clock",
        f"< {HOOK_TARGET_S:g} s",
        f"{whole:.2f} s through pre-commit (without it {own:.2f} s)",
        met=whole < HOOK_TARGET_S,
    )


def _call(*args: str) -> list[str]:
    return [str(Path(sys.executable).parent / "touchstone"), *args]


def _write_packs(folder: Path, count: int) -> None:
    shutil.copytree(ROOT / "prompts", folder / "prompts")
    (folder / "packs").mkdir()
    for number in range(count):
        name = ("buero", "ndassist")[number % 2]
        text = (ROOT / f"packs/{name}.yaml").read_text("utf-8").rstrip()
        text = text.replace(f"id: {name}", f"id: {name}-{number}", 1)
        text += "\n  - id: more\n    name: More\n    prompts:\n"
        prompts = 0
        while len(text.encode()) < PACK_BYTES:
            prompts += 1
            text += MORE_PROMPT.format(number=prompts)
        (folder / f"packs/{number:03}.yaml").write_text(text, "utf-8")
