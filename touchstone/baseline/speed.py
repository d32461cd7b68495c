"""Speed beside speed, never as better or worse: what may be set side by side, and why the rest may not.

Figures of two runs say something of each other only under the same model, engine, engine version, runtime
and quantisation. What nobody told is not the same, with one allowance: engines tell their own version or
their runtime's, hardly ever both, so one of the two suffices. Another chip is another system: shown, not
judged.
"""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.baseline.comparison import ComparedSpeed, Moved
from touchstone.baseline.schema import KeptSpeed
from touchstone.baseline.sides import Side
from touchstone.result.rows import CellKey

VERSION_FIELDS = ("engine_version", "runtime")

_UNMEASURED = KeptSpeed(ttft_p50=None, decode_med=None)


def compared_speed(old: Side, new: Side, cells: Iterable[tuple[CellKey, str]]) -> list[ComparedSpeed]:
    """One record per cell that both sides have and at least one of them measured.

    `cells` are the new side's, each with its model's name on the old one.
    """
    found = []
    for (model, variant), known_as in cells:
        if (model, variant) not in new.speed or (known_as, variant) not in old.speed:
            continue
        before, after = old.speed[known_as, variant], new.speed[model, variant]
        if (before, after) != (_UNMEASURED, _UNMEASURED):
            found.append(
                ComparedSpeed(
                    model=model,
                    variant=variant,
                    differs=_differing(old, new, known_as, model),
                    chip=(old.provenance.chip, new.provenance.chip),
                    ttft_p50=(before.ttft_p50, after.ttft_p50),
                    decode_med=(before.decode_med, after.decode_med),
                )
            )
    return found


def _differing(old: Side, new: Side, known_as: str, model: str) -> list[Moved]:
    before, after = old.provenance, new.provenance
    served = before.served_model.get(known_as), after.served_model.get(model)
    fields = [("served_model", *served) if None not in served else ("model", known_as, model)]
    fields.append(("engine", before.engine, after.engine))
    versions = [(name, getattr(before, name), getattr(after, name)) for name in VERSION_FIELDS]
    told = [version for version in versions if version[1:] != (None, None)]
    fields += told or versions
    fields.append(("quant", before.quant.get(known_as), after.quant.get(model)))
    return [
        Moved(field=name, old=was, new=now, kind="provenance")
        for name, was, now in fields
        if was is None or was != now
    ]
