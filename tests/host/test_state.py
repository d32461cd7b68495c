from __future__ import annotations

from tests.kit.fake_macos import FakeMac
from touchstone.host.readers.pmset import PowerSource
from touchstone.host.readers.sysctl import Swap
from touchstone.host.state import MachineState, machine_state

MAINS = PowerSource("ac", 61, "charging", "1:24 remaining")


def test_everything_a_mac_tells(mac: FakeMac) -> None:
    mac.heat("Heavy")
    assert machine_state() == MachineState(
        power=MAINS,
        pressure="normal",
        thermal="heavy",
        thermal_refusal=None,
        free_pct=46,
        compressed_mb=118203 / 64,
        swap=Swap(2048.0, 913.25, 1134.75),
        gpu_limit="default",
    )


def test_a_mac_without_its_commands_tells_nothing(mac: FakeMac) -> None:
    mac.remove()
    assert machine_state("darwin") == MachineState(
        power=PowerSource(None, None, None, None),
        pressure=None,
        thermal=None,
        thermal_refusal="powermetrics gave no level",
    )


def test_an_intel_mac_without_sudo_has_its_speed_limit(mac: FakeMac) -> None:
    mac.deny_sudo()
    mac.show("pmset-therm", "pmset-therm-intel-throttled.txt")
    seen = machine_state()
    assert (seen.thermal, seen.thermal_refusal) == ("other:speed limit 41 %", "sudo asks for a password")


def test_linux_has_no_thermal_source() -> None:
    seen = machine_state("linux")
    assert (seen.thermal, seen.thermal_refusal) == (None, "no source on this system")
    assert seen.pressure in {None, "normal", "warn", "critical"}
