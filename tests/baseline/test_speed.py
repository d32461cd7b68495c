"""Speed beside speed: under one model, engine, version, runtime and quantisation, or the field is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.kit.builders import Outcome, judged_suite
from tests.kit.measured import kept, measured, three
from touchstone.baseline.comparison import ComparedSpeed
from touchstone.baseline.schema import KeptProvenance, KeptSpeed
from touchstone.baseline.sides import Side, side_of_baseline, side_of_runs
from touchstone.baseline.speed import compared_speed
from touchstone.render.speed import speed_lines
from touchstone.render.words import Words

TABLE = {"A": Outcome([5, 5]), "B": Outcome([5, 5])}
CELL = [(("m", "none"), "m")]
SYSTEM: dict[str, Any] = {
    "chip": "Apple M4", "ram_gb": 48.0, "os": "macOS 26.2", "engine": "lm-studio", "engine_version": "0.4.1",
    "runtime": "mlx", "served_model": {"m": "weights"}, "quant": {"m": "4bit"},
    "quant_origin": {"m": "probe"},
}  # fmt: skip


def side(ttft: float | None = 0.2, rate: float | None = 34.0, **moved: Any) -> Side:
    run = measured(judged_suite(list(TABLE)), TABLE)
    whole = side_of_runs([run.result], [run.manifest])
    return replace(
        whole,
        provenance=KeptProvenance.model_validate(SYSTEM | moved),
        speed={("m", "none"): KeptSpeed(ttft_p50=ttft, decode_med=rate)},
    )


def speed(old: Side, new: Side) -> ComparedSpeed:
    (found,) = compared_speed(old, new, CELL)
    return found


def line(old: Side, new: Side, language: Any = "en") -> str:
    (told,) = speed_lines(compared_speed(old, new, CELL), Words(language))
    return told


def test_on_one_system_the_figures_stand_old_to_new() -> None:
    old, new = side(0.21, 34.0), side(0.034, 9.5)
    assert line(old, new) == "speed: m · none: first token 0.21 s → 0.034 s, decoding 34 → 9.5 tokens/s"
    assert "erstes Token 0,21 s → 0,034 s" in line(old, new, "de")


@pytest.mark.parametrize(
    ("moved", "reason"),
    [
        ({"engine": "ollama"}, "engine lm-studio → ollama"),
        ({"engine_version": "0.4.2"}, "engine_version 0.4.1 → 0.4.2"),
        ({"runtime": None}, "runtime mlx → n/a"),
        ({"served_model": {"m": "others"}}, "served_model weights → others"),
        ({"quant": {"m": "8bit"}}, "quant 4bit → 8bit"),
    ],
)
def test_another_build_is_not_compared_and_the_field_is_named(moved: dict[str, Any], reason: str) -> None:
    assert line(side(), side(**moved)) == f"speed not comparable: {reason}"


def test_what_nobody_told_is_not_the_same() -> None:
    unknown = side(engine=None, quant={"m": None})
    assert line(unknown, unknown) == "speed not comparable: engine not known; quant not known"


def test_of_the_two_versions_an_engine_may_keep_one_to_itself() -> None:
    assert speed(side(engine_version=None), side(engine_version=None)).differs == []
    assert speed(side(runtime=None), side(runtime=None)).differs == []
    silent = side(engine_version=None, runtime=None)
    assert line(silent, silent) == "speed not comparable: engine_version not known; runtime not known"


def test_without_a_served_model_the_names_must_agree() -> None:
    silent = side(served_model={"m": None})
    assert speed(silent, side()).differs == []
    renamed = replace(silent, speed={("n", "none"): silent.speed["m", "none"]})
    (found,) = compared_speed(renamed, side(), [(("m", "none"), "n")])
    assert [(item.field, item.old, item.new) for item in found.differs if item.field != "quant"] == [
        ("model", "n", "m")
    ]


@pytest.mark.parametrize("chips", [("Apple M1", "Apple M4"), (None, None), ("Apple M4", None)])
def test_another_chip_is_another_system_and_no_verdict(chips: tuple[str | None, str | None]) -> None:
    old, new = side(0.5, 12.0, chip=chips[0]), side(0.2, 34.0, chip=chips[1])
    assert line(old, new) == (
        "speed of two systems, side by side and without a verdict: m · none: "
        f"{chips[0] or 'n/a'}: first token 0.50 s, decoding 12 tokens/s | "
        f"{chips[1] or 'n/a'}: first token 0.20 s, decoding 34 tokens/s"
    )


def test_what_was_not_measured_is_not_available_and_nothing_measured_is_no_line() -> None:
    assert "first token n/a → 0.20 s, decoding 34 → n/a" in line(side(None, 34.0), side(0.2, None))
    assert compared_speed(side(None, None), side(None, None), CELL) == []


def test_a_cell_only_one_side_has_is_not_spoken_of() -> None:
    assert compared_speed(side(), replace(side(), speed={}), CELL) == []


def test_one_reason_is_one_line_whatever_the_number_of_cells() -> None:
    found = speed(side(), side(engine="ollama"))
    assert len(speed_lines([found, found.model_copy(update={"variant": "house"})], Words())) == 1


def test_a_reason_is_told_of_each_of_several_models() -> None:
    found = speed(side(), side(engine="ollama"))
    one, other = speed_lines([found, found.model_copy(update={"model": "n"})], Words())
    assert one.replace(f"({found.model})", "(n)") == other != one


def test_a_baseline_and_a_run_bring_their_typical_runs_speed() -> None:
    suite = judged_suite(list(TABLE))
    slow = {key: Outcome([5, 5], response={"decode_tps": 12.345}) for key in TABLE}
    old = side_of_baseline(kept(three(suite, TABLE, slow, TABLE), typical=1))
    assert old.speed["m", "none"].decode_med == 12
    runs = three(suite, TABLE, slow, TABLE)
    new = side_of_runs([run.result for run in runs], [run.manifest for run in runs], typical=1)
    assert new.speed == old.speed
