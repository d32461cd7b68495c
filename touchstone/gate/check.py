"""The check: every pack measured, held against its reference, confirmed where something is suspect.

The packs go through each phase together, so the models and the judge are loaded once per phase. A fault
of one pack is that pack's; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from touchstone.baseline.brought import settled
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.sides import RowKey
from touchstone.errors import ExitCode, InterruptedRunError, NotJudgedError, TouchstoneError
from touchstone.gate.bench import Bench, Planned, stamp
from touchstone.gate.brought import Brought
from touchstone.gate.budget import calls_of
from touchstone.gate.compared import compared
from touchstone.gate.confirm import Confirm
from touchstone.gate.further import CHECK_DRAW
from touchstone.gate.held import Held
from touchstone.gate.measure import ask_run, judge_run, unjudged
from touchstone.gate.reference import Reference
from touchstone.gate.runs import result_of, stored_result, write_result
from touchstone.gate.start import Order, start_run
from touchstone.pack.load import LoadedPack
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import Bundle
from touchstone.run.plan import WHOLE, Part

WORST_FIRST = (
    ExitCode.WORSE,
    ExitCode.REFUSED,
    ExitCode.NOT_JUDGED,
    ExitCode.NOT_COMPARABLE,
    ExitCode.NOTHING_WORSE,
)
"""Which pack's exit code speaks for all."""


@dataclass
class PackCheck:
    """One pack's check and how far it got. `loaded` starts a run; without it, `bundle` is gone on with.

    `find_brought` looks for a baseline that the change under test brings along; what it finds is `brought`,
    and `own` the run held against it. `require_baseline`: without a reference there is no good end. It ends
    with a `comparison`, or with the `error` that kept it from one; a shard with its `result`, for what it
    is worth is seen only when all are merged.
    """

    pack: str
    find_reference: Callable[[], Reference | None]
    loaded: LoadedPack | None = None
    part: Part = WHOLE
    bundle: Bundle | None = None
    find_brought: Callable[[], Brought | None] = lambda: None
    require_baseline: bool = False
    reference: Reference | None = None
    brought: Brought | None = None
    own: Comparison | None = None
    result: ResultDoc | None = None
    comparison: Comparison | None = None
    error: TouchstoneError | None = None
    confirm: Confirm | None = field(default=None, repr=False)

    @property
    def is_shard(self) -> bool:
        """Whether this is one machine's share of a run."""
        return self.bundle.manifest.shard is not None if self.bundle else self.part.shard is not None

    @property
    def exit(self) -> ExitCode:
        """How this pack ends."""
        if self.error is not None:
            return self.error.exit_code
        if self.is_shard and self.bundle and self.result:
            silent = unjudged(self.result, self.bundle.manifest.suite)
            return ExitCode.NOT_JUDGED if silent else ExitCode.NOTHING_WORSE
        return ExitCode(self.comparison.exit) if self.comparison else ExitCode.NOT_JUDGED

    def answers(self) -> dict[RowKey, tuple[list[str], list[str]]]:
        """Both sides' answers of every row that has them."""
        if self.reference is None or self.bundle is None:
            return {}
        return Held(self.reference, self.bundle).answers()


def run_checks(bench: Bench, checks: Sequence[PackCheck]) -> ExitCode:
    """Carry every check to its end and return the exit code of all.

    Raises InterruptedRunError, with the command that goes on with all of them, when told to stop.
    """
    try:
        _carry(bench, checks)
    except InterruptedRunError as stopped:
        runs = " ".join(f"--resume {check.bundle.id}" for check in checks if check.bundle)
        raise InterruptedRunError(stopped.message, f"Go on with: touchstone check {runs}") from None
    return worst_exit(check.exit for check in checks)


def worst_exit(exits: Iterable[ExitCode]) -> ExitCode:
    """1 before 4 before 2 before 3 before 0."""
    return min(exits, key=WORST_FIRST.index, default=ExitCode.NOTHING_WORSE)


def _carry(bench: Bench, checks: Sequence[PackCheck]) -> None:
    # A reference that cannot be read is found out before anything is asked.
    for step in (_find_reference, _start, _ask, _judge, _hold):
        _each(bench, checks, step)
    while waiting := [check for check in _each(bench, checks, _prepare) if check.confirm]:
        _each(bench, waiting, _ask_again)
        _each(bench, waiting, _judge_again)
    _each(bench, checks, _conclude)


Step = Callable[[Bench, PackCheck], bool]
"""A step of one check; says whether there is more of its kind to do."""


def _each(bench: Bench, checks: Sequence[PackCheck], step: Step) -> list[PackCheck]:
    """Do a step of every check that has no fault; those that have more to do."""
    more = []
    for check in checks:
        if check.error is not None:
            continue
        try:
            if step(bench, check):
                more.append(check)
        except InterruptedRunError:
            raise
        except TouchstoneError as error:
            check.error = _with_the_way_on(error, check)
    return more


def _with_the_way_on(error: TouchstoneError, check: PackCheck) -> TouchstoneError:
    """What could not be carried through can be gone on with; what is refused cannot."""
    if check.bundle is None or not isinstance(error, NotJudgedError):
        return error
    way_on = f"To go on with this check: touchstone check --resume {check.bundle.id}"
    return type(error)(error.message, f"{error.hint}\n  → {way_on}" if error.hint else way_on)


def _find_reference(_bench: Bench, check: PackCheck) -> bool:
    check.reference = check.find_reference()
    check.brought = check.find_brought()
    return False


def _start(bench: Bench, check: PackCheck) -> bool:
    if check.loaded is not None and check.bundle is None:
        check.bundle = start_run(bench, Order(check.loaded, CHECK_DRAW, check.part))
        manifest = check.bundle.manifest
        calls = calls_of(manifest.suite, manifest.plan, len(manifest.models))
        bench.on_step(Planned(check.bundle.id, calls.total, more=not check.is_shard))
    return False


def _ask(bench: Bench, check: PackCheck) -> bool:
    if _bundle(check).open_samples():
        ask_run(bench, _bundle(check))
    return False


def _judge(bench: Bench, check: PackCheck) -> bool:
    bundle = _bundle(check)
    found = result_of(bundle)
    if any(row.state in {None, "error"} for row in found.rows):
        check.result = judge_run(bench, bundle)
        return False
    # A run may have been killed between its last verdict and its result.
    stored = stored_result(bundle)
    kept = stored.run.judged is not None and stored.rows == found.rows
    check.result = stored if kept else write_result(bundle, judged=stamp(bench.now()))
    return False


def _hold(bench: Bench, check: PackCheck) -> bool:
    if check.reference is not None and not check.is_shard:
        check.confirm = Confirm(bench, Held(check.reference, _bundle(check)))
    return False


def _prepare(_bench: Bench, check: PackCheck) -> bool:
    return check.confirm is not None and check.confirm.prepare()


def _ask_again(_bench: Bench, check: PackCheck) -> bool:
    if check.confirm is not None:
        check.confirm.ask()
    return False


def _judge_again(_bench: Bench, check: PackCheck) -> bool:
    if check.confirm is not None:
        check.confirm.judge()
    return False


def _conclude(bench: Bench, check: PackCheck) -> bool:
    bundle, config = _bundle(check), bench.config
    if check.is_shard:
        return False
    if check.confirm is None:
        demanding = config.compare.model_copy(update={"require_baseline": True})
        config = config.model_copy(update={"compare": demanding}) if check.require_baseline else config
        check.comparison = compared(None, bundle, config)
    else:
        check.confirm.control()
        check.comparison = check.confirm.verdict()
    if check.brought is not None:
        check.own = compared(check.brought.own, bundle, config)
        accept = config.compare.accept_promotions
        check.comparison = settled(check.comparison, check.own, check.brought.baseline, accept=accept)
    return False


def _bundle(check: PackCheck) -> Bundle:
    if check.bundle is None:
        raise ValueError("a check without a run has not been started")
    return check.bundle
