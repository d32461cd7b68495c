"""Every recorded output parses to the values its format note says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.fake_macos import SAMPLES
from touchstone.host.readers import linux
from touchstone.host.readers.memory_pressure import MemoryPressure, memory_pressure_of
from touchstone.host.readers.pmset import PowerSource, power_source_of, speed_limit_of, thermal_of_limit
from touchstone.host.readers.powermetrics import (
    is_permission,
    refusal_of,
    thermal_word_of_line,
    thermal_words_of,
)
from touchstone.host.readers.sw_vers import MacVersion, mac_version_of
from touchstone.host.readers.sysctl import (
    CHIP,
    GPU_LIMIT,
    MEMORY_BYTES,
    PRESSURE,
    SWAP,
    Swap,
    gpu_limit_of,
    pressure_of,
    swap_of,
    values_by_name,
    whole_number,
)
from touchstone.host.readers.vm_stat import COMPRESSOR, vm_stat_of
from touchstone.host.readers.words import POWER_WORDS, PRESSURE_WORDS, THERMAL_WORDS, worst_of


def sysctl_facts(text: str) -> tuple[object, ...]:
    """Chip, bytes of memory, system version, swap used, pressure, GPU limit: each by its name."""
    values = values_by_name(text)
    swap = swap_of(values.get(SWAP))
    return (
        values.get(CHIP),
        whole_number(values.get(MEMORY_BYTES)),
        values.get("kern.osproductversion"),
        swap.used_mb if swap else None,
        pressure_of(values.get(PRESSURE)),
        gpu_limit_of(values.get(GPU_LIMIT)),
    )


def vm_facts(text: str) -> tuple[object, ...]:
    stat = vm_stat_of(text)
    return stat.page_size, len(stat.counts), stat.counts["Translation faults"], stat.megabytes(COMPRESSOR)


def thermal_facts(text: str) -> list[str]:
    return thermal_words_of(text.encode())


def absent(*known: object) -> tuple[object, ...]:
    """The sysctl facts when only the given ones are there."""
    return (*known, *[None] * (6 - len(known)))


AC_PAIRS = {
    "ac-attached-not-charging": (80, "AC attached", "not charging"),
    "ac-charged": (100, "charged", "0:00 remaining"),
    "ac-charging": (61, "charging", "1:24 remaining"),
    "ac-finishing-noestimate": (98, "finishing charge", "(no estimate)"),
    "old-without-id": (84, "charging", "0:52 remaining"),
    "desktop-nobattery": (None, None, None),
}
BATTERY_PAIRS = {
    "battery-discharging": (72, "discharging", "4:11 remaining"),
    "battery-noestimate": (95, "discharging", "(no estimate)"),
    "battery-warning-line": (6, "discharging", "0:18 remaining"),
}
EXPECTED: dict[str, tuple[Callable[[str], Any], Any]] = {
    "memory_pressure-Q-short": (memory_pressure_of, MemoryPressure(2**34, 16384, 46)),
    "memory_pressure-intel-4k-16g": (memory_pressure_of, MemoryPressure(2**34, 4096, 66)),
    "memory_pressure-low-free-16g": (memory_pressure_of, MemoryPressure(2**34, 16384, 31)),
    "memory_pressure-nominal-48g": (memory_pressure_of, MemoryPressure(48 * 2**30, 16384, 83)),
    **{f"pmset-batt-{n}": (power_source_of, PowerSource("ac", *rest)) for n, rest in AC_PAIRS.items()},
    **{f"pmset-batt-{n}": (power_source_of, PowerSource("battery", *r)) for n, r in BATTERY_PAIRS.items()},
    "pmset-therm-applesilicon-always": (speed_limit_of, None),
    "pmset-therm-intel-nominal": (speed_limit_of, 100),
    "pmset-therm-intel-throttled": (speed_limit_of, 41),
    "powermetrics-cpu-gpu-thermal-heavy": (thermal_facts, ["heavy"]),
    "powermetrics-cpu_power-m1max-p0-p1": (thermal_facts, []),
    "powermetrics-cpu_power-m4-e-p": (thermal_facts, []),
    "powermetrics-cpu_power-m5-s-m": (thermal_facts, []),
    "powermetrics-cpu_power-ultra-numbered": (thermal_facts, []),
    "powermetrics-notroot": (refusal_of, "needs root"),
    "powermetrics-plist-last-cut": (thermal_facts, ["moderate"]),
    "powermetrics-plist-one-nominal": (thermal_facts, ["nominal"]),
    "powermetrics-plist-two-samples-nul": (thermal_facts, ["nominal", "heavy"]),
    "powermetrics-sudo-n-denied": (refusal_of, "sudo asks for a password"),
    "powermetrics-thermal-heavy": (thermal_facts, ["heavy"]),
    "powermetrics-thermal-moderate": (thermal_facts, ["moderate"]),
    "powermetrics-thermal-nominal": (thermal_facts, ["nominal"]),
    "powermetrics-thermal-two-samples": (thermal_facts, ["nominal", "moderate"]),
    "sw_vers-macos13-rapid-response": (mac_version_of, MacVersion("macOS", "13.4.1", "(c)", "22F770820d")),
    "sw_vers-macos15": (mac_version_of, MacVersion("macOS", "15.6.1", None, "24G90")),
    "sw_vers-macos26": (mac_version_of, MacVersion("macOS", "26.2", None, "25C56")),
    "sysctl-brand-virtual": (sysctl_facts, absent("Apple M1 (Virtual)", 2**32)),
    "sysctl-iogpu-default": (sysctl_facts, (*[None] * 5, "default")),
    "sysctl-iogpu-set": (sysctl_facts, (*[None] * 5, 57344)),
    "sysctl-iogpu-write-echo": (sysctl_facts, (*[None] * 5, 57344)),
    "sysctl-n-positional-m4pro": (sysctl_facts, absent()),
    "sysctl-n-positional-missing-one": (sysctl_facts, absent()),
    "sysctl-named-m2max-battery-warn": (
        sysctl_facts,
        ("Apple M2 Max", 2**35, "15.6.1", 6021.5, "warn", 28672),
    ),
    "sysctl-named-m4pro-nobattery": (
        sysctl_facts,
        ("Apple M4 Pro", 48 * 2**30, "26.2", 913.25, "normal", "default"),
    ),
    "sysctl-pressure-critical": (sysctl_facts, (*[None] * 4, "critical", None)),
    "sysctl-pressure-normal": (sysctl_facts, (*[None] * 4, "normal", None)),
    "sysctl-pressure-warn": (sysctl_facts, (*[None] * 4, "warn", None)),
    "sysctl-silent-empty": (sysctl_facts, absent()),
    "sysctl-swapusage-comma-locale": (sysctl_facts, (None, None, None, 1871.25, None, None)),
    "sysctl-swapusage-used": (sysctl_facts, (None, None, None, 4310.75, None, None)),
    "sysctl-swapusage-zero": (sysctl_facts, (None, None, None, 0.0, None, None)),
    "sysctl-unknown-oid": (sysctl_facts, absent()),
    "vm_stat-16k-applesilicon": (vm_facts, (16384, 22, 812203344, 118203 / 64)),
    "vm_stat-4k-intel": (vm_facts, (4096, 22, 402211903, 240112 / 256)),
}


def test_every_sample_has_its_expected_values() -> None:
    assert {path.stem for path in SAMPLES.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_parses_to_what_its_note_says(name: str) -> None:
    parse, expected = EXPECTED[name]
    assert parse((SAMPLES / f"{name}.txt").read_text(encoding="utf-8")) == expected


PARSERS: list[Callable[[str], object]] = [
    memory_pressure_of,
    power_source_of,
    speed_limit_of,
    thermal_facts,
    refusal_of,
    mac_version_of,
    sysctl_facts,
    vm_stat_of,
    linux.chip_of,
    linux.memory_bytes_of,
    linux.os_of,
    linux.stall_of,
]
EMPTY: list[object] = [
    MemoryPressure(None, None, None),
    PowerSource(None, None, None, None),
    None,
    [],
    None,
    MacVersion(None, None, None, None),
    absent(),
    vm_stat_of(""),
    None,
    None,
    None,
    None,
]


@pytest.mark.parametrize(("parse", "nothing"), list(zip(PARSERS, EMPTY, strict=True)))
@pytest.mark.parametrize(
    "text", ["", "\n\n", "zsh: command not found: pmset\n", "\ufffd\ufffd\n", "<plist", ":"]
)
def test_what_is_absent_is_never_invented(parse: Callable[[str], object], nothing: object, text: str) -> None:
    assert parse(text) == nothing


LINES = [line for path in SAMPLES.iterdir() for line in path.read_text(encoding="utf-8").splitlines(True)]


@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=30)), max_size=8).map("".join))
def test_no_parser_crashes_on_a_jumble(text: str) -> None:
    for parse in PARSERS:
        parse(text)


@given(st.sampled_from([path.read_bytes() for path in SAMPLES.glob("powermetrics-*")]), st.data())
def test_an_output_cut_anywhere_has_the_first_of_its_samples_and_no_other(
    whole: bytes, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(whole)))
    words = thermal_words_of(whole[:cut])
    assert words == thermal_words_of(whole)[: len(words)]


@pytest.mark.parametrize(
    ("level", "word"),
    [
        ("Nominal", "nominal"),
        ("Light", "light"),
        ("Trapping", "trapping"),
        ("Sleeping", "sleeping"),
        ("Serious", "other:Serious"),
    ],
)
def test_a_thermal_word_outside_the_vocabulary_is_kept_as_read(level: str, word: str) -> None:
    assert thermal_word_of_line(f"Current pressure level: {level}\n") == word


def test_an_unknown_power_source_is_kept_as_read() -> None:
    assert power_source_of("Now drawing from 'UPS Power'\n").power == "other:UPS Power"


@pytest.mark.parametrize(
    ("limit", "word"),
    [(None, None), (100, "nominal"), (99, "other:speed limit 99 %"), (41, "other:speed limit 41 %")],
)
def test_intels_speed_limit_as_a_thermal_word(limit: int | None, word: str | None) -> None:
    assert thermal_of_limit(limit) == word


@pytest.mark.parametrize("amount", ["1024.50M", "1049088.00K", "1.00048828125G"])
def test_swap_is_in_mebibytes_whatever_its_unit(amount: str) -> None:
    assert swap_of(f"total = {amount}  used = 0.00M  free = {amount}") == Swap(1024.5, 0.0, 1024.5)


@pytest.mark.parametrize(
    ("words", "scale", "worst"),
    [
        ([], PRESSURE_WORDS, None),
        ([None, None], THERMAL_WORDS, None),
        ([None, "nominal"], THERMAL_WORDS, "nominal"),
        (["nominal", "heavy", "light"], THERMAL_WORDS, "heavy"),
        (["nominal", "other:Serious"], THERMAL_WORDS, "other:Serious"),
        (["light", "other:Serious"], THERMAL_WORDS, "light"),
        (["battery", "ac"], POWER_WORDS, "battery"),
        (["warn", "critical", "normal"], PRESSURE_WORDS, "critical"),
    ],
)
def test_the_worst_word_wins_and_an_unknown_one_never_passes_for_harmless(
    words: list[str | None], scale: tuple[str, ...], worst: str | None
) -> None:
    assert worst_of(words, scale) == worst


def test_only_known_refusals_point_to_sudoers() -> None:
    assert is_permission(refusal_of("sudo: a password is required"))
    assert not is_permission(refusal_of("sudo: powermetrics: command not found"))
    assert not is_permission(None)


CPUINFO_X86 = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\n\nmodel name\t: second\n"
CPUINFO_PI = (
    "processor\t: 0\nBogoMIPS\t: 108.00\n\nRevision\t: c04170\nModel\t\t: Raspberry Pi 5 Model B Rev 1.0\n"
)
CPUINFO_ARM_SERVER = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n"


@pytest.mark.parametrize(
    ("cpuinfo", "chip"),
    [
        (CPUINFO_X86, "Intel(R) Xeon(R) CPU @ 2.20GHz"),
        (CPUINFO_PI, "Raspberry Pi 5 Model B Rev 1.0"),
        (CPUINFO_ARM_SERVER, None),
    ],
)
def test_the_chip_of_a_linux_machine(cpuinfo: str, chip: str | None) -> None:
    assert linux.chip_of(cpuinfo) == chip


@pytest.mark.parametrize(
    ("os_release", "name"),
    [
        ('NAME=Fedora\nPRETTY_NAME="Fedora Linux 43 (Workstation)"\n', "Fedora Linux 43 (Workstation)"),
        ("PRETTY_NAME=Alpine\n", "Alpine"),
        ('PRETTY_NAME="unclosed\n', '"unclosed'),
        ("NAME=x\n", None),
    ],
)
def test_the_name_of_a_linux_system(os_release: str, name: str | None) -> None:
    assert linux.os_of(os_release) == name


@pytest.mark.parametrize(
    ("some", "full", "word"),
    [(0.0, 0.0, "normal"), (9.99, 9.99, "normal"), (10.0, 9.99, "warn"), (60.0, 10.0, "critical")],
)
def test_the_thresholds_of_linux_pressure(some: float, full: float, word: str) -> None:
    rest = "avg60=99.00 avg300=99.00 total=1"
    assert linux.stall_of(f"some avg10={some:.2f} {rest}\nfull avg10={full:.2f} {rest}\n") == word


def test_linux_pressure_without_the_full_line_is_not_critical() -> None:
    assert linux.stall_of("some avg10=80.00 avg60=0.00 avg300=0.00 total=1\n") == "warn"
