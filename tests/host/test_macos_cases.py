"""The public failures of kind macos, each by its id in `tests/cases/public/index.tsv`.

Where an expectation says "unknown" or "unknown(n)" our words are null and `other:n`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.kit.fake_macos import SAMPLES, FakeMac
from touchstone.host import state
from touchstone.host.info import host_info
from touchstone.host.readers.pmset import PowerSource, power_source_of, speed_limit_of, thermal_of_limit
from touchstone.host.readers.powermetrics import thermal_words_of
from touchstone.host.readers.sw_vers import mac_version_of
from touchstone.host.readers.sysctl import (
    MEMORY_BYTES,
    SWAP,
    Swap,
    gpu_limit_of,
    pressure_of,
    swap_of,
    values_by_name,
)
from touchstone.host.readers.vm_stat import COMPRESSOR, vm_stat_of
from touchstone.host.readers.words import THERMAL_WORDS, worst_of
from touchstone.host.sampler import start_sampler
from touchstone.host.tick import read_ticks

PUBLIC = Path(__file__).parents[1] / "cases" / "public"


def case(name: str) -> bytes:
    return (PUBLIC / "macos" / name).read_bytes()


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def test_every_macos_case_of_the_index_has_a_test() -> None:
    with (PUBLIC / "index.tsv").open(encoding="utf-8") as handle:
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        ids = {row["id"] for row in rows if row["kind"] == "macos"}
    assert ids == {name.split("_")[1] for name in globals() if name.startswith("test_M")}


def test_M01_without_root_the_level_is_null_with_a_reason_and_the_run_goes_on(
    mac: FakeMac, tmp_path: Path
) -> None:
    mac.deny_sudo()
    seen = state.machine_state()
    assert (seen.thermal, seen.thermal_refusal) == (None, "sudo asks for a password")
    with start_sampler(tmp_path / "resources.jsonl") as sampler:
        absent, awake = sampler.notes
    assert "thermal level (sudo asks for a password)" in absent
    assert "/etc/sudoers.d/touchstone" in absent
    assert "caffeinate" in awake
    tick = read_ticks(tmp_path / "resources.jsonl")[0]
    assert (tick.thermal, tick.pressure, tick.power) == (None, "normal", "ac")


@pytest.mark.parametrize("chip", ["m1max-p0-p1", "m4-e-p", "m5-s-m", "ultra-numbered"])
def test_M03_the_thermal_level_does_not_depend_on_cluster_lines(chip: str) -> None:
    level = "\n**** Thermal pressure ****\n\nCurrent pressure level: Moderate\n"
    text = sample(f"powermetrics-cpu_power-{chip}.txt") + level
    assert thermal_words_of(text.encode()) == ["moderate"]


def test_M04_two_samples_worst_heavy_and_the_cut_one_ignored() -> None:
    words = thermal_words_of(case("M04-plist-two-samples-cut.bin"))
    assert words == ["nominal", "heavy"]
    assert worst_of(words, THERMAL_WORDS) == "heavy"


def test_M05_apple_silicons_notes_are_unknown_and_never_nominal() -> None:
    assert thermal_of_limit(speed_limit_of(sample("pmset-therm-applesilicon-always.txt"))) is None


@pytest.mark.parametrize(
    ("level", "word"), [("1", "normal"), ("2", "warn"), ("4", "critical"), ("0", "other:0"), ("3", "other:3")]
)
def test_M07_the_kernels_pressure_level(level: str, word: str) -> None:
    assert pressure_of(level) == word


def test_M09_no_swap_is_zero_used_and_no_percentage() -> None:
    swap = swap_of(values_by_name(sample("sysctl-swapusage-zero.txt"))[SWAP])
    assert swap == Swap(0.0, 0.0, 0.0)
    assert swap.used_pct is None


def test_M10_a_decimal_comma_is_read() -> None:
    assert swap_of(case("M10-swap-comma.txt").decode()) == Swap(3072.0, 1871.25, 1200.75)


def test_M11_a_desktop_runs_on_mains_and_has_no_battery() -> None:
    text = sample("pmset-batt-desktop-nobattery.txt")
    assert power_source_of(text) == PowerSource("ac", None, None, None)


def test_M12_a_warning_line_changes_nothing() -> None:
    seen = power_source_of(case("M12-batt-warning.txt").decode())
    assert seen == PowerSource("battery", 6, "discharging", "0:18 remaining")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (" -InternalBattery-0 (id=1)\t80%; AC attached; not charging present: true", (80, "AC attached")),
        (
            " -InternalBattery-0 \t84%; finishing charge; (no estimate) present: true",
            (84, "finishing charge"),
        ),
        (" -InternalBattery-0 (id=1)\t100%; charged; 0:00 remaining present: true", (100, "charged")),
        (" -InternalBattery-0 (id=1)\t55%; resting; some day present: true", (55, "resting")),
    ],
)
def test_M13_the_battery_state_is_kept_as_written(line: str, expected: tuple[int, str]) -> None:
    seen = power_source_of(f"Now drawing from 'AC Power'\n{line}\n")
    assert (seen.power, seen.battery_pct, seen.state) == ("ac", *expected)


@pytest.mark.parametrize(
    ("name", "page_size", "megabytes"), [("16k-applesilicon", 16384, 1846.92), ("4k-intel", 4096, 937.94)]
)
def test_M14_the_page_size_is_the_headers(name: str, page_size: int, megabytes: float) -> None:
    stat = vm_stat_of(sample(f"vm_stat-{name}.txt"))
    assert stat.page_size == page_size
    assert stat.megabytes(COMPRESSOR) == pytest.approx(megabytes, abs=0.01)
    assert vm_stat_of(f"{COMPRESSOR}:   118203.\n").megabytes(COMPRESSOR) is None


def test_M15_values_without_their_names_are_nobodys(mac: FakeMac) -> None:
    assert values_by_name(case("M15-sysctl-positional-shift.txt").decode()) == {}
    mac.show("sysctl", "sysctl-brand-virtual.txt")
    seen = host_info()
    assert (seen.chip, seen.ram_gb) == ("Apple M1 (Virtual)", 4.0)


@pytest.mark.parametrize("missing", ["sysctl-unknown-oid.txt", "sysctl-silent-empty.txt"])
def test_M16_a_missing_name_is_null_for_that_field_only(mac: FakeMac, missing: str) -> None:
    assert values_by_name(sample(missing)) == {}
    mac.show("sysctl", "sysctl-iogpu-set.txt")
    seen = host_info()
    assert (seen.chip, seen.ram_gb, seen.os) == (None, None, "macOS 26.2, build 25C56")
    assert state.machine_state().gpu_limit == 57344
    assert MEMORY_BYTES not in values_by_name(sample("sysctl-iogpu-set.txt"))


def test_M17_a_gpu_limit_of_zero_is_the_systems_default() -> None:
    assert gpu_limit_of("0") == "default"
    assert gpu_limit_of("57344") == 57344
    assert gpu_limit_of(None) is None


def test_M22_a_virtual_mac_is_another_host(mac: FakeMac) -> None:
    real = host_info()
    mac.show("sysctl", "sysctl-brand-virtual.txt")
    virtual = host_info()
    assert (virtual.chip, virtual.ram_gb) == ("Apple M1 (Virtual)", 4.0)
    assert real != virtual


def test_M23_a_rapid_security_response_is_read_by_label(mac: FakeMac) -> None:
    version = mac_version_of(case("M23-sw-vers-extra.txt").decode())
    assert (version.version, version.extra, version.build) == ("13.4.1", "(c)", "22F770820d")
    mac.show("sw_vers", "sw_vers-macos13-rapid-response.txt")
    assert host_info().os == "macOS 13.4.1 (c), build 22F770820d"
