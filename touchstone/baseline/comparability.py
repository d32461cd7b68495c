"""The same ruler? What differs between two sides, and what that does to the comparison (design 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.baseline.comparison import Moved, MovedKind
from touchstone.baseline.sides import Side
from touchstone.config import CompareSettings
from touchstone.errors import RefusedError
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import Instrument, Line, Rules, Suite
from touchstone.result.schema import Row
from touchstone.result.scorecard import score_rows

ENGINE_FIELDS = ("engine", "engine_version", "runtime")
MACHINE_FIELDS = ("chip", "ram_gb", "os")

_TIGHTER_WHEN_HIGHER = {"false_alarm", "strict_rows", "strict_flags", "require_baseline"}
_LOOSER_WHEN_HIGHER = {
    "suspect_drop", "min_drop", "obvious_drop", "case_drop", "equal_margin", "launch_allowance",
    "case_reruns", "accept_promotions",
}  # fmt: skip
_FAIL_ON = {"worse": 0, "not-judged": 1, "suspect": 2}

_Direction = Callable[[Any, Any], MovedKind]


@dataclass(frozen=True)
class Ruler:
    """What moved between two sides.

    `models` gives each model of the new side its name on the old one. `engine_moved`: the answers came
    from other weights or another engine, where near ties fork. `changed` are the prompts whose input or
    rubric differs.
    """

    instrument: list[Moved]
    moved: list[Moved]
    models: Mapping[str, str]
    engine_moved: bool
    rules_moved: bool
    changed: frozenset[str]
    same_variants: frozenset[str]


def same_ruler(old: Side, new: Side, renamed: Mapping[str, str]) -> Ruler:
    """What differs. Raises RefusedError for sides that belong to different packs, tenants or targets."""
    refuse_strangers(old, new)
    models = model_names(_models(old), _models(new), renamed)
    provenance = [*_moved_models(models), *_moved_provenance(old, new, models)]
    texts = [*_moved_variants(old.suite, new.suite), *_moved_cases(old.suite, new.suite)]
    rules = list(_moved_rules(old.suite.rules, new.suite.rules))
    changed = [id_ for id_, case in new.suite.cases.items() if _case_moved(old.suite, id_, case)]
    same = [id_ for id_, text in new.suite.variants.items() if _same_variant(old.suite, id_, text.text)]
    return Ruler(
        instrument=list(moved_instrument(old.suite.instrument, new.suite.instrument, models)),
        moved=[*provenance, *texts, *rules],
        models=models,
        engine_moved=any(_is_engine(item.field) for item in provenance),
        rules_moved=bool(rules),
        changed=frozenset(changed),
        same_variants=frozenset(same),
    )


def refuse_strangers(old: Side, new: Side) -> None:
    """Raise RefusedError unless both sides are of one pack, tenant and target."""
    pairs = [
        ("pack", old.suite.pack_id, new.suite.pack_id),
        ("tenant", old.tenant, new.tenant),
        ("target", old.target, new.target),
    ]
    for what, theirs, ours in pairs:
        if theirs != ours:
            raise RefusedError(
                f"the reference is of {what} {_named(theirs)}, the run of {what} {_named(ours)}",
                f"Compare runs of one {what}; `touchstone list` shows which run belongs where.",
            )


def model_names(old: Iterable[str], new: Iterable[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """New model → its name on the old side: as configured by `was`, by its own name, or the only one.

    `renamed` gives the name on the old side the name it has now.
    """
    before, after = list(old), list(new)
    was = {now: then for then, now in renamed.items()}
    names = {}
    for model in after:
        known_as = was.get(model, model)
        if known_as in before:
            names[model] = known_as
        elif model in before:
            names[model] = model
    if len(before) == len(after) == 1:
        names = {after[0]: before[0]}
    return names


def under_old_rules(draws: Iterable[Iterable[Row]], old: Suite, new: Suite) -> tuple[Suite, list[list[Row]]]:
    """The new suite with the old one's rules, wherever that has a line to read by, and the draws read so."""
    rules = new.rules.model_copy(
        update={
            "dimensions": new.rules.dimensions | _known(old.rules.dimensions, new.rules.dimensions),
            "checks": new.rules.checks | _known(old.rules.checks, new.rules.checks),
            "ko_rule": old.rules.ko_rule,
            "compare": old.rules.compare,
        }
    )
    suite = new.model_copy(update={"rules": rules})
    return suite, [score_rows(rows, suite) for rows in draws]


def _named(value: str | None) -> str:
    return "(none)" if value is None else f"{value!r}"


def _models(side: Side) -> list[str]:
    return list(dict.fromkeys(row.model for draw in side.draws for row in draw))


def _known(old: Mapping[str, Line], new: Mapping[str, Line]) -> dict[str, Line]:
    return {key: line for key, line in old.items() if key in new}


def _is_engine(field: str) -> bool:
    return field.split(".", maxsplit=1)[0] in {*ENGINE_FIELDS, "model", "served_model", "quant"}


# Instrument


def moved_instrument(old: Instrument, new: Instrument, models: Mapping[str, str]) -> Iterator[Moved]:
    """Every field in which two instruments differ; `models` gives each new model its name in the old one."""
    before, after = _instrument_fields(old, {}), _instrument_fields(new, models)
    yield from _differing(before, after, "instrument")


def _instrument_fields(instrument: Instrument, models: Mapping[str, str]) -> dict[str, Any]:
    """Every single field with its path; the models of `extra_body` under the old side's names."""
    record = instrument.to_json()
    record["extra_body"] = {models.get(id_, id_): body for id_, body in record["extra_body"].items()}
    for listed in ("dimensions", "calibration"):
        items = record.pop(listed)
        record[listed] = {item["id"]: {k: v for k, v in item.items() if k != "id"} for item in items}
        # The judge reads them in this order.
        record[f"{listed} (order)"] = [item["id"] for item in items]
    return dict(_leaves("", record))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield path, value
        return
    for key, item in value.items():
        yield from _leaves(f"{path}.{key}" if path else str(key), item)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any], kind: MovedKind) -> Iterator[Moved]:
    for field in dict.fromkeys([*old, *new]):
        if old.get(field) != new.get(field):
            yield Moved(field=field, old=old.get(field), new=new.get(field), kind=kind)


# Provenance


def _moved_models(models: Mapping[str, str]) -> list[Moved]:
    return [
        Moved(field="model", old=was, new=now, kind="provenance") for now, was in models.items() if now != was
    ]


def _moved_provenance(old: Side, new: Side, models: Mapping[str, str]) -> Iterator[Moved]:
    before, after = old.provenance, new.provenance
    for field in (*ENGINE_FIELDS, *MACHINE_FIELDS):
        was, now = getattr(before, field), getattr(after, field)
        if was != now:
            yield Moved(field=field, old=was, new=now, kind="provenance")
    for model, known_as in models.items():
        for field in ("served_model", "quant"):
            was, now = getattr(before, field).get(known_as), getattr(after, field).get(model)
            if was != now:
                yield Moved(field=f"{field}.{model}", old=was, new=now, kind="provenance")


# Prompts and cases


def _same_variant(old: Suite, id_: str, text: str | None) -> bool:
    return id_ in old.variants and old.variants[id_].text == text


def _moved_variants(old: Suite, new: Suite) -> Iterator[Moved]:
    before = {f"variants.{id_}": text.sha256 for id_, text in old.variants.items()}
    after = {f"variants.{id_}": text.sha256 for id_, text in new.variants.items()}
    yield from _differing(before, after, "prompt")


def _case_moved(old: Suite, id_: str, case: Any) -> bool:
    if id_ not in old.cases:
        return False
    before = old.cases[id_]
    return bool(before.input_sha256 != case.input_sha256 or before.rubric_sha256 != case.rubric_sha256)


def _moved_cases(old: Suite, new: Suite) -> Iterator[Moved]:
    for id_ in dict.fromkeys([*old.cases, *new.cases]):
        before, after = old.cases.get(id_), new.cases.get(id_)
        for what in ("input", "rubric"):
            was, now = (case and getattr(case, f"{what}_sha256") for case in (before, after))
            if was != now:
                yield Moved(field=f"cases.{id_}.{what}", old=was, new=now, kind="case")


# Rules


def _moved_rules(old: Rules, new: Rules) -> Iterator[Moved]:
    yield from _moved_lines("dimensions", old.dimensions, new.dimensions)
    yield from _moved_lines("checks", old.checks, new.checks)
    yield from _moved_knock_out(old.ko_rule, new.ko_rule)
    yield from _moved_settings(old.compare, new.compare)


def _moved_lines(group: str, old: Mapping[str, Line], new: Mapping[str, Line]) -> Iterator[Moved]:
    for id_ in (id_ for id_ in old if id_ in new):
        before, after = old[id_], new[id_]
        yield from _moved_rule(f"{group}.{id_}.threshold", before.threshold, after.threshold, _raised)
        yield from _moved_rule(f"{group}.{id_}.tolerance", before.tolerance, after.tolerance, _lowered)


def _moved_knock_out(old: KoRule | None, new: KoRule | None) -> Iterator[Moved]:
    if old is None or new is None:
        if old is not new:
            yield Moved(
                field="ko_rule", old=old and old.model_dump(), new=new and new.model_dump(),
                kind="tighter" if old is None else "looser",
            )  # fmt: skip
        return
    yield from _moved_rule("ko_rule.dimension", old.dimension, new.dimension, _set)
    yield from _moved_rule("ko_rule.threshold", old.threshold, new.threshold, _raised)
    yield from _moved_rule(
        "ko_rule.red_flag_scope", old.red_flag_scope, new.red_flag_scope,
        lambda _, now: "tighter" if now == "all" else "looser",
    )  # fmt: skip
    yield from _moved_rule(
        "ko_rule.red_flag_prompts", sorted(old.red_flag_prompts), sorted(new.red_flag_prompts), _wider
    )
    yield from _moved_rule(
        "ko_rule.floor_scope", old.floor_scope, new.floor_scope,
        lambda _, now: "tighter" if now == "answer" else "looser",
    )  # fmt: skip


def _moved_settings(old: CompareSettings, new: CompareSettings) -> Iterator[Moved]:
    for field in CompareSettings.model_fields:
        was, now = getattr(old, field), getattr(new, field)
        yield from _moved_rule(f"compare.{field}", was, now, _setting_direction(field))


def _setting_direction(field: str) -> _Direction:
    if field == "fail_on":
        return _stricter
    if field in _TIGHTER_WHEN_HIGHER:
        return _raised
    return _lowered if field in _LOOSER_WHEN_HIGHER else _neither


def _moved_rule(field: str, old: Any, new: Any, direction: _Direction) -> Iterator[Moved]:
    if old != new:
        yield Moved(field=field, old=old, new=new, kind=direction(old, new))


def _raised(old: Any, new: Any) -> MovedKind:
    """A higher value is tighter, and so is a line where there was none."""
    if old is None or new is None:
        return _set(old, new)
    return "tighter" if new > old else "looser"


def _lowered(old: Any, new: Any) -> MovedKind:
    return "tighter" if new < old else "looser"


def _stricter(old: str, new: str) -> MovedKind:
    return _raised(_FAIL_ON[old], _FAIL_ON[new])


def _set(old: Any, new: Any) -> MovedKind:
    if old is None:
        return "tighter"
    return "looser" if new is None else "rule"


def _wider(old: list[str], new: list[str]) -> MovedKind:
    if set(old) < set(new):
        return "tighter"
    return "looser" if set(new) < set(old) else "rule"


def _neither(_old: Any, _new: Any) -> MovedKind:
    return "rule"
