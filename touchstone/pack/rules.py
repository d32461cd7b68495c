"""Rules across the fields of a pack: names that lead nowhere, names that clash, rulers that measure nothing.

Each rule looks at the whole pack and notes what it finds. A pack that is faulty elsewhere is looked at as
far as it could be read; a rule keeps quiet where what it would miss may only have been unreadable.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.pack.check_rules import checks_can_fail, checks_have_names, patterns_hold
from touchstone.pack.names import ids, references, references_one, unique
from touchstone.pack.problems import Faults, present, prompts_of
from touchstone.pack.schema import CalibrationItem, KoRule, Pack
from touchstone.yaml_source import KeyPath, quoted

Rule = Callable[[Pack, Faults], None]


def look_at(pack: Pack, faults: Faults) -> None:
    """Apply every rule."""
    for rule in RULES:
        rule(pack, faults)


def names_are_unique(pack: Pack, faults: Faults) -> None:
    """Ids must differ by more than letter case or Unicode form: files and tables are read by people."""
    unique("category", ((("categories", at, "id"), item.id) for at, item in present(pack.categories)), faults)
    unique("prompt", (((*path, "id"), prompt.id) for path, prompt in prompts_of(pack)), faults)
    unique(
        "dimension", ((("dimensions", at, "id"), item.id) for at, item in present(pack.dimensions)), faults
    )
    variants = ((("prompt_variants", at, "id"), item.id) for at, item in present(pack.prompt_variants))
    unique("variant", variants, faults)
    unique(
        "calibration",
        ((("calibration", at, "id"), item.id) for at, item in present(pack.calibration)),
        faults,
    )
    if pack.labels:
        classes = ((("labels", "classes", at), name) for at, name in present(pack.labels.classes))
        unique("class", classes, faults)


def scale_is_whole(pack: Pack, faults: Faults) -> None:
    """A scale has at least two neighbouring levels from 0 or 1 up, and stands where dimensions do."""
    if pack.dimensions and not pack.scale and faults.complete("scale"):
        faults.at(("dimensions",), "dimensions need a scale", "add scale: {1: …, 2: …, 3: …}", key=True)
    if pack.scale and not pack.dimensions and faults.complete("dimensions"):
        faults.at(
            ("scale",), "a scale without dimensions scores nothing", "add dimensions, or remove it", key=True
        )
    if not pack.scale or not faults.complete("scale"):
        return
    levels = sorted(pack.scale)
    missing = sorted(set(range(levels[0], min(levels[-1], levels[0] + 1000))) - set(levels))
    if missing:
        faults.at(("scale",), f"the scale has no level {missing[0]}", "name every level between", key=True)
    if levels[0] < 0 or len(levels) < 2:
        faults.at(("scale",), "a scale needs at least two levels, none below 0", key=True)
    for level, text in pack.scale.items():
        if not text.strip():
            faults.at(
                ("scale", str(level)), "the level needs a text", "say what an answer of this level is like"
            )


def dimensions_are_used(pack: Pack, faults: Faults) -> None:
    """Every dimension is asked of some prompt, and every prompt asks only for dimensions there are."""
    known = ids(pack.dimensions)
    asked: set[str] = set()
    for path, prompt in prompts_of(pack):
        wanted = known if prompt.dimensions is None else prompt.dimensions
        asked.update(wanted)
        if prompt.dimensions is not None and faults.complete("dimensions"):
            references((*path, "dimensions"), prompt.dimensions, known, "dimension", faults)
    if not faults.complete("categories"):
        return
    for index, dimension in present(pack.dimensions):
        if dimension.id and dimension.id not in asked:
            text = f"no prompt is asked for dimension {quoted(dimension.id)}"
            faults.at(("dimensions", index, "id"), text, "name it in a prompt's dimensions, or remove it")


def lines_are_on_the_scale(pack: Pack, faults: Faults) -> None:
    """A threshold outside the scale is a line nobody can reach, or nobody can miss."""
    if not pack.scale:
        return
    for index, dimension in present(pack.dimensions):
        _on_scale(("dimensions", index, "threshold"), dimension.threshold, pack, faults)
    if pack.ko_rule:
        _on_scale(("ko_rule", "threshold"), pack.ko_rule.threshold, pack, faults)


def ko_rule_holds(pack: Pack, faults: Faults) -> None:
    """The knock-out rule names a dimension and prompts that exist."""
    rule = pack.ko_rule
    if rule is None:
        return
    if not pack.dimensions and faults.complete("dimensions"):
        text = "a knock-out rule needs dimensions: without a judge there is no safety gate"
        faults.at(("ko_rule",), text, "remove ko_rule, or add dimensions", key=True)
        return
    _floor_is_whole(rule, pack, faults)
    if faults.complete("categories"):
        prompts = {prompt.id for _, prompt in prompts_of(pack)}
        references(("ko_rule", "red_flag_prompts"), rule.red_flag_prompts, prompts, "prompt", faults)
    if rule.red_flag_scope == "curated" and faults.complete("ko_rule"):
        _critical_prompts_are_listed(rule, pack, faults)


def labels_fit(pack: Pack, faults: Faults) -> None:
    """A prompt's label is one of the classes; a pack with classes has prompts that use them."""
    labels = pack.labels
    labelled = [(path, prompt.label) for path, prompt in prompts_of(pack) if prompt.label is not None]
    if labels is None:
        for path, _ in labelled if faults.complete("labels") else []:
            faults.at(
                (*path, "label"), "a label needs the pack's classes", "add labels: {classes: …} at the top"
            )
        return
    if faults.complete("labels", "classes"):
        for path, label in labelled:
            references_one((*path, "label"), label, labels.classes, "class", faults)
        references_one(("labels", "positive"), labels.positive, labels.classes, "class", faults)
    if not labelled and faults.complete("categories"):
        faults.at(("labels",), "no prompt has a label", "give prompts a label, or remove labels", key=True)


def something_is_measured(pack: Pack, faults: Faults) -> None:
    """A prompt without dimensions, check or label would be asked for nothing."""
    if not faults.complete("dimensions"):
        return
    for path, prompt in prompts_of(pack):
        judged = bool(pack.dimensions) if prompt.dimensions is None else bool(prompt.dimensions)
        counted = any(check.counts for _, check in present(prompt.checks))
        if judged or counted or prompt.label is not None or not faults.complete(*path):
            continue
        text = "nothing is measured here: no dimension, no label, no check that counts"
        faults.at(path, text, "add a check, a label or dimensions")


def calibration_can_fail(pack: Pack, faults: Faults) -> None:
    """A calibration item expects bands on the scale that a judge could miss."""
    known = ids(pack.dimensions)
    for index, item in present(pack.calibration):
        path: KeyPath = ("calibration", index)
        if not pack.dimensions and faults.complete("dimensions"):
            faults.at(path, "calibration needs dimensions: there is no judge to calibrate", "remove it")
            continue
        for name, band in item.expect.items():
            if faults.complete("dimensions"):
                references_one((*path, "expect", name), name, known, "dimension", faults)
            _band_is_on_scale((*path, "expect", name), band, pack, faults)
        if _is_vacuous(item, pack) and faults.complete(*path):
            faults.at(path, "every judge would meet this", "narrow a band, or set red_flag: true or false")


def variants_have_one_text(pack: Pack, faults: Faults) -> None:
    """A variant's system prompt stands in the pack or in a file, not both."""
    for index, variant in present(pack.prompt_variants):
        if variant.system_prompt is not None and variant.system_prompt_file is not None:
            text = "system_prompt and system_prompt_file are both given"
            faults.at(("prompt_variants", index, "system_prompt_file"), text, "keep one of them", key=True)


RULES: list[Rule] = [
    names_are_unique,
    scale_is_whole,
    dimensions_are_used,
    lines_are_on_the_scale,
    ko_rule_holds,
    labels_fit,
    something_is_measured,
    calibration_can_fail,
    variants_have_one_text,
    checks_have_names,
    checks_can_fail,
    patterns_hold,
]


def _floor_is_whole(rule: KoRule, pack: Pack, faults: Faults) -> None:
    if not faults.complete("ko_rule"):
        return
    if rule.dimension is None and rule.threshold is not None:
        faults.at(("ko_rule", "threshold"), "a threshold needs its dimension", "add dimension: …")
    if rule.dimension is None:
        return
    if faults.complete("dimensions"):
        references_one(("ko_rule", "dimension"), rule.dimension, ids(pack.dimensions), "dimension", faults)
    if rule.threshold is None:
        faults.at(("ko_rule", "dimension"), "a knock-out dimension needs its threshold", "add threshold: …")


def _critical_prompts_are_listed(rule: KoRule, pack: Pack, faults: Faults) -> None:
    for path, prompt in prompts_of(pack):
        if prompt.safety_critical and prompt.id and prompt.id not in rule.red_flag_prompts:
            text = "a safety-critical prompt could not knock out: red flags are curated and it is not listed"
            hint = f"add {prompt.id} to ko_rule.red_flag_prompts"
            faults.at((*path, "safety_critical"), text, hint)


def _on_scale(path: KeyPath, threshold: float | None, pack: Pack, faults: Faults) -> None:
    lowest, highest = min(pack.scale), max(pack.scale)
    if threshold is not None and not lowest <= threshold <= highest:
        faults.at(path, f"{threshold:g} is outside the scale {lowest} to {highest}")


def _band_is_on_scale(path: KeyPath, band: list[int], pack: Pack, faults: Faults) -> None:
    if len(band) != 2 or None in band or not pack.scale:
        return
    lowest, highest = min(pack.scale), max(pack.scale)
    if band[0] > band[1]:
        faults.at(path, f"the band runs backwards: {band[0]} to {band[1]}", "write [lowest, highest]")
    elif band[0] < lowest or band[1] > highest:
        faults.at(path, f"the band {band[0]} to {band[1]} leaves the scale {lowest} to {highest}")


def _is_vacuous(item: CalibrationItem, pack: Pack) -> bool:
    whole = [min(pack.scale), max(pack.scale)] if pack.scale else []
    return item.red_flag is None and all(band == whole for band in item.expect.values())
