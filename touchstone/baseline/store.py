"""The baseline file: made from runs, written in one form, read with a full self-check.

The form is for `git diff`: top-level fields in the order of the record, keys sorted inside records, one
line per row, cell, run and answer, one line per line of a prompt or rubric.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.baseline import selfcheck
from touchstone.baseline.differences import first_difference
from touchstone.baseline.kept import kept_answers, kept_case, kept_variant, kept_verdict
from touchstone.baseline.schema import (
    BASELINE_SCHEMA,
    Baseline,
    KeptAnswers,
    KeptCase,
    KeptCell,
    KeptGit,
    KeptProvenance,
    KeptRun,
    KeptSpeed,
    KeptTexts,
    KeptVerdict,
    PackIdentity,
    Replaces,
)
from touchstone.errors import BadInputError
from touchstone.files import canonical, json_line, json_pretty, parse_json, read_bytes
from touchstone.pack.suite import Suite
from touchstone.records import AnyRecord, Misfit, check_schema, record_from
from touchstone.result.schema import Cell, ResultDoc
from touchstone.result.select import cost_of
from touchstone.run.records import EvalResponse, Manifest, SampleKey

LINE_PER_ITEM = ("cells", "runs", "verdicts", "answer_hashes", "answers")
"""Fields whose list items stand on one line each."""

LONG_FIELDS: dict[str, type[AnyRecord]] = {
    "cases": KeptCase,
    "verdicts": KeptVerdict,
    "answer_hashes": KeptAnswers,
    "answers": KeptTexts,
}
"""Fields with an item per case or row, and what an item is."""

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Schema number → the step that turns a file of that schema into one of the next."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True)
class MeasuredRun:
    """A run as a baseline needs it: what was planned, its numbers, and the answers themselves."""

    manifest: Manifest
    result: ResultDoc
    responses: Mapping[SampleKey, EvalResponse]

    @property
    def suite(self) -> Suite:
        """The suite as it measured: with the judge that really judged."""
        return self.manifest.suite.model_copy(
            update={"instrument": self.result.instrument, "rules": self.result.rules}
        )


class LayoutDamage(BadInputError):  # noqa: N818 - a finding that may be raised, not only an error
    """A baseline whose content is whole but whose layout is not ours (a formatter was there)."""


def baseline_from(
    runs: Sequence[MeasuredRun],
    typical: int,
    *,
    reason: str | None,
    replaces: Baseline | None,
    with_answers: bool,
) -> Baseline:
    """The baseline of an odd number of complete, judged runs of one frozen system.

    `typical` is the index of the run whose numbers are shown; its day, commit and provenance are the
    baseline's. What must hold of the runs is asked beforehand (`touchstone.baseline.promote`).
    """
    shown = runs[typical]
    suite, document = shown.suite, shown.result
    by_key = [{row.key: row for row in run.result.rows} for run in runs]
    draws = [[rows[row.key] for rows in by_key] for row in document.rows]
    cells = [_kept_cell(cell) for cell in document.cells]
    draft = Baseline(
        tenant=document.run.tenant,
        target=document.run.target,
        pack=PackIdentity(
            id=suite.pack_id,
            version=suite.pack_version,
            title=suite.pack_title,
            language=suite.language,
            hash=suite.pack_sha256,
        ),
        date=document.provenance.date,
        git=KeptGit(commit=document.run.commit, clean=document.run.clean),
        reason=reason,
        replaces=None if replaces is None else _replaced(replaces, cells),
        hashes=document.hashes,
        instrument=suite.instrument,
        rules=suite.rules,
        provenance=kept_provenance(shown.manifest, document),
        judge=document.judge,
        variants={id_: kept_variant(variant) for id_, variant in suite.variants.items()},
        cases={prompt: kept_case(case) for prompt, case in suite.cases.items()},
        cells=cells,
        runs=[_kept_run(run.result, number == typical) for number, run in enumerate(runs)],
        verdicts=[kept_verdict(rows, suite) for rows in draws],
        answer_hashes=[kept_answers(rows) for rows in draws],
        answers=_texts(shown) if with_answers else None,
        digest="",
    )
    kept = Baseline.model_validate(canonical(draft.to_json()))
    return kept.model_copy(update={"digest": selfcheck.content_digest(kept.to_json())})


def kept_provenance(manifest: Manifest, document: ResultDoc) -> KeptProvenance:
    """What produced the answers of a run."""
    found, models = document.provenance, manifest.models
    return KeptProvenance(
        chip=found.chip,
        ram_gb=found.ram_gb,
        os=found.os,
        engine=found.engine,
        engine_version=found.engine_version,
        runtime=found.runtime,
        served_model={model.id: model.served_model for model in models},
        quant={model.id: model.quant for model in models},
        quant_origin={model.id: model.quant_origin for model in models},
    )


def kept_speed(cell: Cell) -> KeptSpeed:
    """A cell's speed as it is kept."""
    return KeptSpeed(ttft_p50=_two_digits(cell.perf.ttft_p50), decode_med=_two_digits(cell.perf.decode_med))


def dump(baseline: Baseline) -> str:
    """The one text of a baseline."""
    return "".join(_pieces(baseline))


def parse(text: str | bytes, source: str) -> Baseline:
    """Read a baseline and verify it. `source` (file or REF:PATH) begins every message.

    Raises BadInputError for a file that is no baseline, of a newer schema, in conflict or edited by hand;
    then it names the first number that is not what it is derived from. Another layout is no reason to
    refuse it: see `layout_damage`.
    """
    raw = _document(text, source)
    _share_lines(raw)
    # The digest is that of the file as it was written, before any upgrade.
    digest, says = selfcheck.content_digest(raw), raw.get("digest")
    baseline = _validated(_upgraded(raw, source), source)
    del raw  # a large file's, and as large as what was made of it
    if layout_damage(text, baseline, source) is not None:
        _check_values(_upgraded(parse_json(text, source), source), baseline, source)
    selfcheck.check(baseline, source)
    _check_digest(digest, says, source)
    return baseline


def _document(text: str | bytes, source: str) -> dict[str, Any]:
    try:
        raw = parse_json(text, source)
    except BadInputError as error:
        # A conflict or an LFS pointer has a remedy of its own.
        raise BadInputError(error.message, error.hint or selfcheck.hand_edit_hint(source)) from None
    if not isinstance(raw, dict):
        raise BadInputError(f"{source}: not a baseline (no JSON object)", selfcheck.hand_edit_hint(source))
    return raw


def layout_damage(text: str | bytes, baseline: Baseline, source: str) -> LayoutDamage | None:
    """The finding that a file which holds `baseline` is not written the way we write it."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    if _is_written(data, baseline):
        return None
    return LayoutDamage(
        f"{source}: the content is whole, but another program changed its layout",
        f"Write it anew: touchstone promote --refresh {source} (and keep formatters off the folder)",
    )


def load(path: Path) -> Baseline:
    """Read and verify a baseline file."""
    return parse(read_bytes(path), str(path))


def verify(path: Path) -> Baseline:
    """Read a baseline file the way a hook does: damaged layout is raised too (LayoutDamage)."""
    content = read_bytes(path)
    baseline = parse(content, str(path))
    damage = layout_damage(content, baseline, str(path))
    if damage is not None:
        raise damage
    return baseline


def verify_at(path: Path) -> Baseline:
    """`verify`, and that the file lies where a baseline of its tenant, pack and target belongs."""
    baseline = verify(path)
    require_place(baseline, path)
    return baseline


def require_place(baseline: Baseline, path: Path) -> None:
    """Refuse a baseline that lies at another one's path: it would be compared and replaced as that one."""
    due = path_of(path.parent.parent, baseline.tenant, baseline.pack.id, baseline.target)
    if (due.parent.name, due.name) != (path.parent.name, path.name):
        raise BadInputError(
            f"{path}: this is the baseline of pack {baseline.pack.id}, tenant {baseline.tenant}"
            + (f", target {baseline.target}" if baseline.target else ""),
            f"It belongs at {due.parent.name}/{due.name}; restore the file that was here from git.",
        )


def path_of(baselines_dir: Path, tenant: str, pack: str, target: str | None) -> Path:
    """`<baselines_dir>/<tenant>/<pack>[.<target>].json`.

    Names are lower case only, so two of them never become one file on a disk that ignores case.
    """
    for name in (tenant, pack, *([] if target is None else [target])):
        if not _NAME.fullmatch(name):
            raise BadInputError(f"{name!r}: names of tenant, pack and target are like a-z0-9 and dashes")
    return baselines_dir / tenant / (f"{pack}.json" if target is None else f"{pack}.{target}.json")


def _kept_cell(cell: Cell) -> KeptCell:
    if cell.quality is None:
        raise BadInputError(f"{cell.model} · {cell.variant}: not judged yet", "touchstone judge --bundle RUN")
    return KeptCell(
        model=cell.model,
        variant=cell.variant,
        quality=cell.quality,
        labels=cell.labels,
        counts=cell.counts,
        answer_tokens_med=cell.answer_tokens_med,
        answer_chars_med=cell.answer_chars_med,
        speed=kept_speed(cell),
    )


def _two_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.2g}")


def _kept_run(document: ResultDoc, typical: bool) -> KeptRun:
    run, cost = document.run, cost_of(document)
    return KeptRun(
        id=run.id,
        day=document.provenance.date,
        launch=run.launch,
        commit=run.commit,
        clean=run.clean,
        calls=cost.calls,
        tokens=cost.tokens,
        typical=typical,
    )


def _replaced(old: Baseline, cells: Sequence[KeptCell]) -> Replaces:
    was = {(cell.model, cell.variant): cell.quality.pct for cell in old.cells}
    now = {(cell.model, cell.variant): cell.quality.pct for cell in cells}
    differences = {
        f"{model} · {variant}": _difference(was.get((model, variant)), now.get((model, variant)))
        for model, variant in dict.fromkeys([*now, *was])
    }
    return Replaces(digest=old.digest, pct_difference=differences)


def _difference(was: float | None, now: float | None) -> float | None:
    return None if was is None or now is None else now - was


def _texts(run: MeasuredRun) -> list[KeptTexts]:
    draw, answers = run.manifest.draw, run.responses
    return [
        KeptTexts(
            model=row.model,
            variant=row.variant,
            prompt=row.prompt,
            texts=[answers[SampleKey(*row.key, repeat.repeat, draw)].response_text for repeat in row.repeats],
        )
        for row in run.result.rows
    ]


def _is_written(data: bytes, baseline: Baseline) -> bool:
    place = 0
    for piece in _pieces(baseline):
        due = piece.encode("utf-8")
        if not data.startswith(due, place):
            return False
        place += len(due)
    return place == len(data)


def _pieces(baseline: Baseline) -> Iterator[str]:
    """The text of a baseline, an item at a time."""
    between = "{\n"
    for field in Baseline.model_fields:
        yield f'{between}  "{field}": '
        yield from _laid_out(field, getattr(baseline, field))
        between = ",\n"
    yield "\n}\n"


def _laid_out(field: str, value: Any) -> Iterator[str]:
    if field in LINE_PER_ITEM and value:
        for number, item in enumerate(value):
            yield f"{',' if number else '['}\n    {json_line(item.to_json())}"
        yield "\n  ]"
    elif field in ("variants", "cases") and value:
        # A map of records: its keys stay in declared order, the records' own are sorted.
        for number, (key, item) in enumerate(value.items()):
            yield f"{',' if number else '{'}\n    {json_line(key)}: {_indented(item, 4)}"
        yield "\n  }"
    else:
        yield _indented(value, 2)


def _indented(value: Any, by: int) -> str:
    value = value.to_json() if isinstance(value, AnyRecord) else value
    return json_pretty(value).rstrip("\n").replace("\n", "\n" + " " * by)


def _upgraded(value: dict[str, Any], source: str) -> dict[str, Any]:
    version = value.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise BadInputError(f"{source}: not a baseline (no schema_version)")
    check_schema(value, BASELINE_SCHEMA, source)
    while version < BASELINE_SCHEMA:
        value = UPGRADES[version](value)
        version = value["schema_version"]
    return value


def _validated(value: dict[str, Any], source: str) -> Baseline:
    try:
        return record_from(Baseline, value, LONG_FIELDS)
    except Misfit as misfit:
        what = "unknown field" if misfit.code == "extra_forbidden" else misfit.message
        raise BadInputError(
            f"{source}: {_place(misfit.place)}: {what}", selfcheck.hand_edit_hint(source)
        ) from None


def _place(location: Sequence[int | str]) -> str:
    place = ""
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place


def _check_values(value: dict[str, Any], baseline: Baseline, source: str) -> None:
    """A number written as a text, or a field left out, reads well and would be written differently."""
    difference = first_difference(canonical(value), canonical(baseline.to_json()))
    if difference is not None:
        place, says, meant = difference
        raise BadInputError(
            f"{source}: {place}: file says {says!r}, touchstone writes {meant!r}",
            selfcheck.hand_edit_hint(source),
        )


def _share_lines(raw: dict[str, Any]) -> None:
    """Keep each line of the rubrics once: they are much alike, and a quarter of a large file."""
    cases = raw.get("cases")
    for case in cases.values() if isinstance(cases, dict) else ():
        lines = case.get("rubric") if isinstance(case, dict) else None
        if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
            case["rubric"] = [sys.intern(line) for line in lines]


def _check_digest(digest: str, says: object, source: str) -> None:
    if digest != says:
        raise BadInputError(
            f"{source}: edited by hand: the content's digest is {digest}, the file says {says}",
            selfcheck.hand_edit_hint(source),
        )
