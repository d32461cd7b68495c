"""One look at the machine: is it fit to be timed? For `doctor`."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.host import sources
from touchstone.host.command import run, text_of, this_system
from touchstone.host.readers import sysctl
from touchstone.host.readers.memory_pressure import memory_pressure_of
from touchstone.host.readers.pmset import PowerSource, power_source_of, thermal_of_limit
from touchstone.host.readers.powermetrics import refusal_of, thermal_words_of
from touchstone.host.readers.vm_stat import COMPRESSOR, vm_stat_of
from touchstone.host.readers.words import THERMAL_WORDS, worst_of
from touchstone.host.thermal import NO_LEVEL, NO_SOURCE

_BUSY_LOOK_S = 0.5
_POWERMETRICS = ("sudo", "-n", "powermetrics", "--samplers", "thermal", "-i", "200", "-n", "1", "-f", "plist")


@dataclass(frozen=True)
class MachineState:
    """What can be read now; None where it cannot. Memory in MiB.

    `thermal_refusal` says why there is no thermal level. `gpu_limit` is the wired memory limit of the GPU
    in MiB, or `default`.
    """

    power: PowerSource
    pressure: str | None
    thermal: str | None
    thermal_refusal: str | None
    free_pct: int | None = None
    compressed_mb: float | None = None
    swap: sysctl.Swap | None = None
    gpu_limit: int | str | None = None


def machine_state(system: str | None = None) -> MachineState:
    """Ask each source once; takes about a second on a Mac."""
    where = system or this_system()
    return _mac_state() if where == "darwin" else _linux_state(where)


def busy_share() -> float | None:
    """Share of all cores at work now, 0…1, over half a second; None where it cannot be read."""
    import psutil  # noqa: PLC0415 - only who asks pays for it

    try:
        return psutil.cpu_percent(interval=_BUSY_LOOK_S) / 100
    except (OSError, RuntimeError):
        return None


def _linux_state(system: str) -> MachineState:
    return MachineState(
        power=PowerSource(sources.power(system), None, None, None),
        pressure=sources.pressure(system),
        thermal=None,
        thermal_refusal=NO_SOURCE,
    )


def _mac_state() -> MachineState:
    thermal, refusal = _thermal()
    return MachineState(
        power=power_source_of(text_of("pmset", "-g", "batt")),
        pressure=sources.pressure("darwin"),
        free_pct=memory_pressure_of(text_of("memory_pressure", "-Q")).free_pct,
        compressed_mb=vm_stat_of(text_of("vm_stat")).megabytes(COMPRESSOR),
        swap=sysctl.swap_of(sources.sysctl_value(sysctl.SWAP)),
        thermal=thermal,
        thermal_refusal=refusal,
        gpu_limit=sysctl.gpu_limit_of(sources.sysctl_value(sysctl.GPU_LIMIT)),
    )


def _thermal() -> tuple[str | None, str | None]:
    """The level and, without powermetrics, why: Intel's speed limit then speaks for it."""
    output = run(*_POWERMETRICS)
    word = worst_of(thermal_words_of(output.out), THERMAL_WORDS) if output else None
    if word is not None:
        return word, None
    refusal = refusal_of(output.complaint) if output else None
    return thermal_of_limit(sources.speed_limit("darwin")), refusal or NO_LEVEL
