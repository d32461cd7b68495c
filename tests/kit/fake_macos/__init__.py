"""A Mac on PATH: the commands of macOS as small shell scripts that replay recorded outputs.

What they print lies in a state folder and can be changed while something reads them: unplug the Mac,
heat it, take its sudo away.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "samples" / "macos"

_SCRIPTS = Path(__file__).parent / "bin"
COMMANDS = tuple(sorted(script.name for script in _SCRIPTS.iterdir()))
_FIRST_STATE = {
    "sysctl": "sysctl-named-m4pro-nobattery.txt",
    "pmset-batt": "pmset-batt-ac-charging.txt",
    "pmset-therm": "pmset-therm-applesilicon-always.txt",
    "memory_pressure": "memory_pressure-nominal-48g.txt",
    "memory_pressure-Q": "memory_pressure-Q-short.txt",
    "vm_stat": "vm_stat-16k-applesilicon.txt",
    "sw_vers": "sw_vers-macos26.txt",
}


class FakeMac:
    """A plugged-in M4 Pro on macOS 26.2, cool, with a password-less sudo."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self._state = folder / "state"
        self._state.mkdir(parents=True)
        shutil.copytree(_SCRIPTS, self.bin)
        for name, sample in _FIRST_STATE.items():
            self.show(name, sample)
        self.heat("Nominal")
        self._set("sudo", "allowed")

    def path(self, behind: str | None = None) -> str:
        """A value for PATH in which the fake commands come first."""
        return os.pathsep.join([str(self.bin), os.environ["PATH"] if behind is None else behind])

    def show(self, name: str, sample: str) -> None:
        """Let a command print a recorded output from now on."""
        self._set(name, (SAMPLES / sample).read_text(encoding="utf-8"))

    def unplug(self) -> None:
        """Run on the battery."""
        self.show("pmset-batt", "pmset-batt-battery-discharging.txt")

    def plug_in(self) -> None:
        """Run on the mains."""
        self.show("pmset-batt", "pmset-batt-ac-charging.txt")

    def heat(self, level: str) -> None:
        """Set the thermal level, as powermetrics spells it."""
        self._set("thermal", level)

    def lose_heat(self) -> None:
        """Let powermetrics end, as after a failure, and never start again."""
        self.remove("powermetrics")
        (self._state / "thermal").unlink()

    def limit_samples(self, count: int) -> None:
        """Let powermetrics end after so many samples, whatever it is asked for."""
        self._set("samples", str(count))

    def press(self, level: int) -> None:
        """Set the kernel's memory pressure level."""
        self._set("sysctl", f"kern.memorystatus_vm_pressure_level: {level}\n")

    def deny_sudo(self) -> None:
        """Let sudo ask for a password."""
        self._set("sudo", "denied")

    def remove(self, *commands: str) -> None:
        """Take commands off this Mac; a real one behind it on PATH stays hidden."""
        for command in commands or COMMANDS:
            (self.bin / command).write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")

    def said(self, name: str) -> str:
        """What a fake command noted in the state folder."""
        return (self._state / name).read_text(encoding="utf-8")

    def _set(self, name: str, text: str) -> None:
        draft = self._state / f".{name}"
        draft.write_text(text, encoding="utf-8")
        draft.replace(self._state / name)
