"""Every reason not to make these runs the reference, each with its way out. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from touchstone.baseline.comparison import Comparison, Moved
from touchstone.baseline.differences import differences, first_difference
from touchstone.baseline.schema import Baseline
from touchstone.baseline.store import MeasuredRun
from touchstone.errors import TouchstoneError
from touchstone.files import canonical, digest_of, json_line
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc, Row
from touchstone.result.select import PACKS_OWN_ERRORS, run_differences

RefusalCode = Literal[
    "config",
    "unjudged",
    "tenant",
    "target",
    "pack",
    "cases",
    "not_reproducible",
    "manifest_edited",
    "filtered",
    "shard",
    "rejudged",
    "runs_differ",
    "run_count",
    "not_calibrated",
    "baseline_on_disk",
    "already_promoted",
    "git_unknown",
    "worse",
    "safety",
    "rows_gone",
]
RUNS_DUE = 3

_SHOWN_MAX = 8
_VALUE_CHARS = 80


@dataclass(frozen=True)
class Refusal:
    """A named reason not to promote, and the way out. `liftable`: a flag named in the way out lifts it."""

    code: RefusalCode
    what: str
    way_out: str
    liftable: bool = False


@dataclass(frozen=True)
class Today:
    """What pack and configuration of the working tree say, and who it is promoted for."""

    suite: Suite
    tenant: str
    target: str | None


@dataclass(frozen=True)
class Standing:
    """The baseline as it stands: its bytes in the working tree and at the base of the new branch, null
    where there is no such file. `fault` is why one of the two could not be read."""

    path: str
    base: str
    on_disk: bytes | None
    at_base: bytes | None
    fault: TouchstoneError | None = None


def refusals(
    runs: Sequence[MeasuredRun],
    today: Today,
    standing: Standing,
    *,
    recomputed: Sequence[ResultDoc],
    comparison: Comparison | None,
    replaces: Baseline | None,
    reason: str | None,
    allow_single: bool = False,
) -> list[Refusal]:
    """Every reason not to promote these runs, all at once; empty if they may be.

    `recomputed` are the runs' results built anew from their lines, in the same order; `comparison` is
    that of the runs with the baseline they would replace, null where there is none yet.
    """
    found = [
        *_config(runs, today),
        *(refusal for run in runs for refusal in _unjudged(run)),
        *(refusal for run in runs for refusal in _elsewhere(run, today)),
        *_cases(runs, today),
        *(refusal for run, anew in zip(runs, recomputed, strict=True) for refusal in altered(run, anew)),
        *(refusal for run in runs for refusal in _partial(run)),
        *_not_one_system(runs),
        *_run_count(runs, allow_single),
        *(refusal for run in runs for refusal in _uncalibrated(run)),
        *_on_disk(standing),
        *(refusal for run in runs for refusal in _git_unknown(run)),
    ]
    explained = reason is not None and reason.strip() != ""
    return found if explained else [*found, *_unexplained(runs, comparison, replaces)]


def altered(run: MeasuredRun, anew: ResultDoc) -> Iterator[Refusal]:
    """What of a run's files was edited; `anew` is its result built anew from its lines."""
    id_, manifest = run.result.run.id, run.manifest.to_json()
    difference = first_difference(canonical(run.result.to_json()), canonical(anew.to_json()))
    if difference is not None:
        place, says, recomputed = difference
        yield Refusal(
            "not_reproducible",
            f"{id_}: result.json is not what its lines give: {place}: file says {shown_value(says)}, "
            f"recomputed {shown_value(recomputed)}",
            "Restore the run's files, or measure again; a result is never edited.",
        )
    if digest_of({key: value for key, value in manifest.items() if key != "digest"}) != run.manifest.digest:
        yield Refusal(
            "manifest_edited",
            f"{id_}: manifest.json was edited after the run started",
            "Restore it, or measure again.",
        )


def _config(runs: Sequence[MeasuredRun], today: Today) -> Iterator[Refusal]:
    moved: dict[str, None] = {}
    for run in runs:
        as_set = _config_of(_as_observed(today.suite, run))
        for place, then, now in differences(_config_of(run.suite), as_set):
            moved[f"{place}: {shown_value(then)} in the run, {shown_value(now)} today"] = None
    if moved:
        yield Refusal(
            "config",
            _listed("measured under another configuration than today's suite", moved),
            _measure_again(runs[0], "Measure under today's settings"),
        )


def _config_of(suite: Suite) -> dict[str, Any]:
    config = {"instrument": suite.instrument.to_json(), "rules": suite.rules.to_json()}
    found: dict[str, Any] = canonical(config)
    return found


def _as_observed(suite: Suite, run: MeasuredRun) -> Suite:
    """Today's suite with the run's judge version: that is read from the endpoint, never set."""
    judge, observed = suite.instrument.judge, run.suite.instrument.judge
    if judge is None or observed is None:
        return suite
    seen = judge.model_copy(update={"version": observed.version})
    return suite.model_copy(update={"instrument": suite.instrument.model_copy(update={"judge": seen})})


def _unjudged(run: MeasuredRun) -> Iterator[Refusal]:
    id_, rows = run.result.run.id, run.result.rows
    errors = [_row_words(row) for row in rows if row.state == "error"]
    if errors:
        yield Refusal(
            "unjudged",
            _listed(f"{id_}: could not be judged: {len(errors)} of {len(rows)} rows", errors),
            _out_of_errors(run),
        )
    missing = _missing(run)
    if missing:
        yield Refusal(
            "unjudged",
            _listed(f"{id_}: without a verdict: {len(missing)} rows", missing),
            f"Finish the run: touchstone measure --resume {id_}",
        )
    if not run.result.run.complete and not errors and not missing:
        yield Refusal(
            "unjudged",
            f"{id_}: the run is not complete",
            f"Finish the run: touchstone measure --resume {id_}",
        )


def _out_of_errors(run: MeasuredRun) -> str:
    """The way out by who could not judge: of the same answer a check says the same again."""
    id_ = run.result.run.id
    unjudged = [repeat for row in run.result.rows for repeat in row.repeats if repeat.verdict != "judged"]
    reasons = {repeat.reason for repeat in unjudged if repeat.verdict is not None}
    judge_again = (
        f"Judge it again: touchstone judge --bundle {id_} "
        f"(or ask again what failed: touchstone eval --resume {id_})"
    )
    if not reasons & PACKS_OWN_ERRORS:
        return judge_again
    change = (
        f"Change the check in {run.manifest.pack_path} (touchstone show {id_} PROMPT names it and what it "
        "could not read): judging the same answer again says the same"
    )
    ways = [_measure_again(run, f"{change}. Then measure anew")]
    return "\n    ".join([*ways, judge_again] if reasons - PACKS_OWN_ERRORS else ways)


def _missing(run: MeasuredRun) -> list[str]:
    rows = {row.key: row for row in run.result.rows}
    due = [
        (model.id, variant, prompt)
        for model in run.manifest.models
        for variant in run.suite.variants
        for prompt, _ in run.manifest.plan
    ]
    found = [" · ".join(key) for key in due if key not in rows or rows[key].state is None]
    short = [row for row in rows.values() if len(row.repeats) < run.suite.cases[row.prompt].rubric.repeats]
    return found + [f"{' · '.join(row.key)} ({len(row.repeats)} repeats)" for row in short]


def _row_words(row: Row) -> str:
    reasons = dict.fromkeys(
        repeat.reason or repeat.verdict for repeat in row.repeats if repeat.verdict != "judged"
    )
    known = ", ".join(reason for reason in reasons if reason)
    return " · ".join(row.key) + (f" ({known})" if known else "")


def _elsewhere(run: MeasuredRun, today: Today) -> Iterator[Refusal]:
    about = run.result.run
    if about.tenant != today.tenant:
        yield Refusal(
            "tenant",
            f"{about.id}: measured for tenant {about.tenant}, not for {today.tenant}",
            f"Measure for {today.tenant}, or promote where the tenant is {about.tenant}.",
        )
    if about.target != today.target:
        yield Refusal(
            "target",
            f"{about.id}: measured for target {shown_value(about.target)}, "
            f"not for {shown_value(today.target)}",
            "Set the target the run was measured for, or measure for this one.",
        )
    if run.suite.pack_id != today.suite.pack_id:
        yield Refusal(
            "pack",
            f"{about.id}: a run of pack {run.suite.pack_id}, not of {today.suite.pack_id}",
            "Promote runs of one pack at a time.",
        )


def _cases(runs: Sequence[MeasuredRun], today: Today) -> Iterator[Refusal]:
    moved: dict[str, None] = {}
    now = today.suite.cases
    for run in runs:
        then = run.suite.cases
        for prompt in dict.fromkeys([*then, *now]):
            if prompt not in now:
                moved[f"{prompt}: no longer in the pack"] = None
            elif prompt not in then:
                moved[f"{prompt}: not measured"] = None
            else:
                parts = ("input_sha256", "prompt"), ("rubric_sha256", "rubric")
                changed = [
                    word for part, word in parts if getattr(then[prompt], part) != getattr(now[prompt], part)
                ]
                moved |= dict.fromkeys(f"{prompt}: another {word}" for word in changed)
    if moved and all(run.suite.pack_id == today.suite.pack_id for run in runs):
        yield Refusal(
            "cases",
            _listed("the pack's cases are not those of the runs", moved),
            _measure_again(runs[0], "Measure the cases as they are"),
        )


def _partial(run: MeasuredRun) -> Iterator[Refusal]:
    about = run.result.run
    planned = {prompt for prompt, _ in run.manifest.plan}
    is_partial = about.shard is None and planned != set(run.suite.cases)
    if about.filter is not None or is_partial:
        yield Refusal(
            "filtered",
            f"{about.id}: only a part of the pack was asked "
            f"({about.filter or 'the plan leaves prompts out'})",
            _measure_again(run, "Measure the whole pack"),
        )
    if about.shard is not None:
        yield Refusal(
            "shard",
            f"{about.id}: shard {about.shard} of a run",
            "Merge all shards first: touchstone merge SHARD…",
        )
    if about.rejudged or about.reused_verdicts:
        how = "judged again" if about.rejudged else f"{about.reused_verdicts} verdicts taken from another run"
        yield Refusal("rejudged", f"{about.id}: {how}", _measure_again(run, "Measure anew"))


def _not_one_system(runs: Sequence[MeasuredRun]) -> Iterator[Refusal]:
    found = [words for other in runs[1:] for words in run_differences(runs[0].result, other.result)]
    if found:
        yield Refusal(
            "runs_differ",
            _listed("the runs are not draws of one frozen system", found),
            _measure_again(runs[0], "Make three runs of the system as it stands"),
        )


def _run_count(runs: Sequence[MeasuredRun], allow_single: bool) -> Iterator[Refusal]:
    ids = [run.result.run.id for run in runs]
    again = _measure_again(runs[0], "Make three runs")
    shards = [shard for run in runs for shard in run.manifest.merged_from]
    shared = sorted({shard for shard in shards if shards.count(shard) > 1})
    if len(set(ids)) != len(ids):
        yield Refusal("run_count", "one run is named twice", again)
    elif shared:
        yield Refusal("run_count", f"two runs hold the same shard: {', '.join(shared)}", again)
    elif len(ids) == 1 and not allow_single:
        yield Refusal(
            "run_count",
            "one run is a single draw, and says nothing of its noise",
            f"{again}; or keep this one draw: --allow-single",
            liftable=True,
        )
    elif len(ids) % 2 == 0:
        yield Refusal("run_count", f"{len(ids)} runs have no middle one; it must be an odd number", again)


def _uncalibrated(run: MeasuredRun) -> Iterator[Refusal]:
    about = run.result.run
    if run.suite.instrument.calibration and about.calibrated is not True:
        how = "was outside its bands" if about.calibrated is False else "was not calibrated"
        yield Refusal(
            "not_calibrated",
            f"{about.id}: the judge {how} on the pack's calibration answers",
            f"Use a judge that passes them, and judge again: touchstone judge --bundle {about.id}",
        )


def _on_disk(standing: Standing) -> Iterator[Refusal]:
    if standing.fault is not None:
        yield Refusal(
            "baseline_on_disk",
            standing.fault.message,
            standing.fault.hint or f"Restore it: git checkout {standing.base} -- {standing.path}",
        )
    elif _unix(standing.on_disk) != _unix(standing.at_base):
        state = _disk_words(standing)
        yield Refusal(
            "baseline_on_disk",
            f"{standing.path}: the working tree's baseline is not the one at {standing.base} (it {state})",
            "Promotion starts from a committed baseline. Restore it: "
            f"git checkout {standing.base} -- {standing.path}; or commit, or remove, what is there.",
        )


def _disk_words(standing: Standing) -> str:
    if standing.on_disk is None:
        return "is missing"
    return "is not committed there" if standing.at_base is None else "is another one"


def _unix(content: bytes | None) -> bytes | None:
    # A checkout may have carriage returns that the commit has not.
    return None if content is None else content.replace(b"\r\n", b"\n")


def _git_unknown(run: MeasuredRun) -> Iterator[Refusal]:
    about = run.result.run
    if about.commit is None or about.clean is None:
        unknown = "at which commit the tree stood" if about.commit is None else "whether the tree was clean"
        yield Refusal(
            "git_unknown",
            f"{about.id}: git could not tell {unknown}",
            _measure_again(run, "Measure inside a git repository that has a commit"),
        )


def _unexplained(
    runs: Sequence[MeasuredRun], comparison: Comparison | None, replaces: Baseline | None
) -> Iterator[Refusal]:
    """What a person may accept, saying why."""
    way_out = 'Say why it is accepted: --reason "…"'
    if comparison is not None and comparison.status == "worse":
        what = _listed("worse than the baseline it would replace", _worse(comparison))
        yield Refusal("worse", what, way_out, liftable=True)
    unsafe = list(dict.fromkeys(words for run in runs for words in _unsafe(run)))
    if comparison is not None and comparison.reason == "changed_safety":
        unsafe += [f"{item.field}: {item.old}, and {item.new}" for item in _changed_cases(comparison)]
    if unsafe:
        yield Refusal("safety", _listed("safety is not confirmed", unsafe), way_out, liftable=True)
    gone = _gone(runs, comparison, replaces)
    if gone:
        yield Refusal("rows_gone", _listed("rows of the baseline are gone", gone), way_out, liftable=True)


def _changed_cases(comparison: Comparison) -> list[Moved]:
    return [item for item in comparison.not_comparable if item.new == "changed"]


def _worse(comparison: Comparison) -> list[str]:
    cells = [f"{cell.model} · {cell.variant}" for cell in comparison.cells if cell.state == "worse"]
    rows = [(row.model, row.variant, row.prompt) for row in comparison.rows if row.state == "worse"]
    return cells + [" · ".join(key) for key in rows]


def _unsafe(run: MeasuredRun) -> Iterator[str]:
    if run.suite.rules.ko_rule is None:
        return
    for cell in run.result.cells:
        passed = cell.quality.safety_passed if cell.quality is not None else None
        if passed is not True:
            word = "failed" if passed is False else "not assessed"
            codes = [reason.code for reason in cell.quality.safety_reason] if cell.quality is not None else []
            why = f" ({', '.join(codes)})" if codes else ""
            yield f"{run.result.run.id}: {cell.model} · {cell.variant}: {word}{why}"


def _gone(runs: Sequence[MeasuredRun], comparison: Comparison | None, replaces: Baseline | None) -> list[str]:
    if comparison is not None:
        gone = [(row.model, row.variant, row.prompt) for row in comparison.rows if row.state == "gone"]
    else:
        new = {row.key for run in runs for row in run.result.rows}
        old = [(kept.model, kept.variant, kept.prompt) for kept in (replaces.verdicts if replaces else ())]
        gone = [key for key in old if key not in new]
    return [" · ".join(key) for key in gone]


def _measure_again(run: MeasuredRun, why: str) -> str:
    return f"{why}: touchstone measure --times {RUNS_DUE} --pack {run.manifest.pack_path}"


def _listed(what: str, items: Sequence[str] | dict[str, None]) -> str:
    lines = list(items)
    more = [f"… and {len(lines) - _SHOWN_MAX} more"] if len(lines) > _SHOWN_MAX else []
    return "\n  ".join([f"{what}:" if lines else what, *lines[:_SHOWN_MAX], *more])


def shown_value(value: Any) -> str:
    text = json_line(value)
    return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"
