"""What machine this is: detected, never configured."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from touchstone.host.command import text_of, this_system
from touchstone.host.readers import linux, sysctl
from touchstone.host.readers.sw_vers import mac_version_of
from touchstone.host.sources import file_text, sysctl_value

_BYTES_PER_GB = 2**30


@dataclass(frozen=True)
class HostFacts:
    """The machine as it names itself; None where it does not.

    `ram_gb` counts 2**30 bytes, one decimal. `chip` is verbatim, so a virtual Mac is another host.
    """

    chip: str | None
    ram_gb: float | None
    os: str | None
    python: str


def host_info(system: str | None = None, root: Path = Path("/")) -> HostFacts:
    """The facts of this machine; `system` is that of `sys.platform`, `root` where /proc and /etc lie."""
    on_mac = (system or this_system()) == "darwin"
    chip, memory_bytes, os_name = _mac_facts() if on_mac else _linux_facts(root)
    ram_gb = None if memory_bytes is None else round(memory_bytes / _BYTES_PER_GB, 1)
    return HostFacts(chip, ram_gb, os_name, platform.python_version())


def _mac_facts() -> tuple[str | None, int | None, str | None]:
    memory_bytes = sysctl.whole_number(sysctl_value(sysctl.MEMORY_BYTES))
    return sysctl_value(sysctl.CHIP), memory_bytes, mac_version_of(text_of("sw_vers")).title


def _linux_facts(root: Path) -> tuple[str | None, int | None, str | None]:
    return (
        linux.chip_of(file_text(root / "proc/cpuinfo")),
        linux.memory_bytes_of(file_text(root / "proc/meminfo")),
        linux.os_of(file_text(root / "etc/os-release")),
    )
