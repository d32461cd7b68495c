"""Measure: a pack and the settings in, a bundle with its result out.

Three steps that each can be resumed on their own: `start_run` freezes what will be asked, `ask_run` asks
what is open, `judge_run` judges what is open and completes `result.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from touchstone import __version__
from touchstone.config import Config, Endpoint, ModelSettings, api_key
from touchstone.engine.client import ChatClient
from touchstone.engine.probe import BuildMetadata, probe_build_metadata
from touchstone.errors import BadInputError, EngineError, InterruptedRunError
from touchstone.files import write_document
from touchstone.git import Repository
from touchstone.host.info import host_info
from touchstone.host.launch import launch_id
from touchstone.judge.phase import JudgeProgress, judge_bundle, read_verdicts
from touchstone.judge.prompt import PROMPT_VERSION, prompt_sha256
from touchstone.judge.records import JudgeIdentity, Verdict
from touchstone.pack.digest import suite_of
from touchstone.pack.load import LoadedPack
from touchstone.pack.suite import JudgeInstrument, Suite
from touchstone.result.build import build_result_doc
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import Bundle, sealed
from touchstone.run.plan import filter_words, planned_prompts
from touchstone.run.records import (
    EngineInfo,
    GitState,
    HostInfo,
    JudgeSetup,
    Manifest,
    ModelUnderTest,
)
from touchstone.run.runner import EvalProgress, run_eval

OPEN_SHARE_MAX = 0.05
"""Beyond max(1 row, this share) unanswered or unjudged rows a run says nothing."""


@dataclass(frozen=True)
class Bench:
    """What a measurement is made with: settings, this machine's clock and environment, and who listens.

    `root` is the folder the settings' paths are relative to; `token` gives six hex digits.
    """

    config: Config
    root: Path
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    token: Callable[[], str]
    config_path: Path | None = None
    stop: Event = field(default_factory=Event)
    say: Callable[[str], None] = lambda _: None
    on_answer: Callable[[EvalProgress], None] = lambda _: None
    on_verdict: Callable[[JudgeProgress], None] = lambda _: None

    @property
    def runs_dir(self) -> Path:
        """Where bundles lie."""
        return self.root / self.config.runs_dir

    @property
    def judge_endpoint(self) -> Endpoint:
        """Where the judge is asked: its own endpoint, or the models'."""
        judge = self.config.judge
        return judge.endpoint if judge and judge.endpoint else self.config.endpoint


@dataclass(frozen=True)
class Order:
    """What a run asks: a pack, narrowed by `only` and `limit`, as the `draw`-th draw."""

    loaded: LoadedPack
    draw: int = 0
    only: Sequence[str] = ()
    limit: int | None = None
    engine: BuildMetadata | None = field(default=None, repr=False)


def start_run(bench: Bench, order: Order) -> Bundle:
    """Freeze a run: check that it can be asked, probe what will answer, write the manifest.

    Raises BadInputError or EngineError before anything is written or asked.
    """
    models = _models_under_test(bench.config)
    require_engine(bench)
    suite = suite_for(bench.config, order.loaded)
    plan = planned_prompts(order.loaded.pack, order.only, order.limit)
    ids = [model.id for model in models]
    key = api_key(bench.config.endpoint, bench.environ)
    build = order.engine or probe_build_metadata(bench.config.endpoint, key, ids)
    started = bench.now()
    manifest = sealed(
        {
            "id": f"{started:%Y%m%dT%H%M%SZ}_{suite.pack_id}_{bench.token()}",
            "started": stamp(started),
            "tool_version": __version__,
            "tenant": bench.config.tenant,
            "target": bench.config.target,
            "draw": order.draw,
            "pack_path": _relative(order.loaded.path, bench.root),
            "pack_text": order.loaded.text,
            "suite": suite,
            "models": [_model_record(model, build) for model in models],
            "judge": _judge_setup(bench.config, suite),
            "engine": EngineInfo(
                engine=build.engine,
                engine_version=build.engine_version,
                runtime=build.runtime,
                origins=dict(build.origins),
            ),
            "git": git_state(order.loaded.path.parent, _files_of(bench, order.loaded)),
            "host": HostInfo(**vars(host_info())),
            "launch": launch_id(_base_url(bench.config.endpoint)),
            "concurrency": bench.config.endpoint.concurrency,
            "filter": filter_words(order.only, order.limit),
            "shard": None,
            "plan": plan,
        }
    )
    return Bundle.create(bench.runs_dir, manifest)


def ask_run(bench: Bench, bundle: Bundle) -> ResultDoc:
    """Ask everything open in a bundle and write `result.json` with quality null.

    Raises InterruptedRunError when told to stop, with the command that goes on.
    """
    with bundle.lock(), _client(bench.config.endpoint, bench) as client:
        finished = run_eval(bundle, client.ask, progress=bench.on_answer, stop=bench.stop.is_set)
    result = write_result(bundle)
    if not finished:
        raise InterruptedRunError(
            f"stopped; every answer so far is in {bundle.path}",
            f"Go on with: touchstone measure --resume {bundle.id}",
        )
    return result


def judge_run(bench: Bench, bundle: Bundle) -> ResultDoc:
    """Judge everything open in a bundle and complete `result.json`."""
    manifest = bundle.manifest
    with bundle.lock():
        if manifest.judge is None:
            judge_bundle(bundle, None, identity=None, progress=bench.on_verdict, stop=bench.stop.is_set)
        else:
            _ask_the_judge(bench, bundle, manifest.judge)
    if bench.stop.is_set():
        raise InterruptedRunError(
            f"stopped; every verdict so far is in {bundle.path}",
            f"Go on with: touchstone judge --bundle {bundle.id}",
        )
    return write_result(bundle, judged=stamp(bench.now()))


def write_result(bundle: Bundle, judged: str | None = None) -> ResultDoc:
    """Recompute a bundle's result from its lines and replace `result.json`."""
    result = result_of(bundle, judged)
    write_document(bundle.result_path, result.to_json())
    return result


def result_of(bundle: Bundle, judged: str | None = None) -> ResultDoc:
    """A bundle's result, recomputed from its lines; `judged` is when the last verdict fell."""
    manifest, verdicts = bundle.manifest, read_verdicts(bundle.path)
    return build_result_doc(
        manifest,
        bundle.responses(),
        verdicts,
        judged=judged,
        calibrated=_calibrated(manifest, verdicts.values()),
    )


def suite_for(config: Config, loaded: LoadedPack) -> Suite:
    """The suite a pack and the settings make; a pack with dimensions needs a judge to be named."""
    judge = config.judge
    if loaded.pack.dimensions and judge is None:
        raise BadInputError(
            f"{loaded.path}: pack {loaded.pack.id} has dimensions, and no judge is named to score them",
            "Name one: --judge-model MODEL, or judge.model in touchstone.yaml",
        )
    instrument = None
    if judge is not None and loaded.pack.dimensions:
        instrument = JudgeInstrument(
            model=judge.model,
            temperature=judge.temperature,
            seed=judge.seed,
            samples=judge.samples,
            prompt_version=PROMPT_VERSION,
            prompt_sha256=prompt_sha256(),
        )
    extra_body = {model.id: model.extra_body for model in config.models if model.extra_body}
    return suite_of(loaded, compare=config.compare, judge=instrument, extra_body=extra_body)


def require_engine(bench: Bench) -> None:
    """Refuse to start without an engine that answers."""
    url = _base_url(bench.config.endpoint)
    with _client(bench.config.endpoint, bench) as client:
        try:
            client.models()
        except EngineError as error:
            raise EngineError(
                f"no model server answers at {url}: {error.message}",
                "Start it, or name another: --base-url URL (touchstone engine start runs a small one).",
            ) from None


def unanswered(result: ResultDoc) -> bool:
    """Whether more than max(1 row, 5 %) have no answer: the run says nothing (exit 2)."""
    missing = [row for row in result.rows if any(repeat.status in {None, "error"} for repeat in row.repeats)]
    return _too_many(len(missing), len(result.rows))


def unjudged(result: ResultDoc, suite: Suite) -> bool:
    """Whether more than max(1 row, 5 %), or one safety-critical row, could not be judged (exit 2)."""
    missing = [row for row in result.rows if row.state in {None, "error"}]
    critical = any(suite.cases[row.prompt].rubric.safety_critical for row in missing)
    return critical or _too_many(len(missing), len(result.rows))


def stamp(moment: datetime) -> str:
    """A moment as files keep it: UTC, ISO 8601, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _too_many(missing: int, rows: int) -> bool:
    return missing > max(1, OPEN_SHARE_MAX * rows)


def git_state(root: Path, files: Sequence[Path]) -> GitState:
    """Commit and cleanliness of the repository a run starts in; null where there is none to ask.

    A pack, prompt or settings file that git does not track counts as not clean.
    """
    repository = Repository.open(root)
    if repository is None:
        return GitState(commit=None, clean=None)
    return GitState(commit=repository.head(), clean=repository.is_clean(files))


def _calibrated(manifest: Manifest, verdicts: Iterable[Verdict]) -> bool | None:
    """A judge judges nothing before it is calibrated, so one of its verdicts says that it was."""
    if not manifest.suite.instrument.calibration:
        return None
    return any(verdict.judge is not None for verdict in verdicts)


def _files_of(bench: Bench, loaded: LoadedPack) -> list[Path]:
    """Every file the asking depends on."""
    folder = loaded.path.parent
    named = (variant.system_prompt_file for variant in loaded.pack.prompt_variants)
    files = [loaded.path, *(folder / name for name in named if name is not None)]
    return files + ([bench.config_path] if bench.config_path else [])


def _client(endpoint: Endpoint, bench: Bench) -> ChatClient:
    return ChatClient(endpoint, api_key(endpoint, bench.environ), stop=bench.stop)


def _ask_the_judge(bench: Bench, bundle: Bundle, setup: JudgeSetup) -> None:
    endpoint = bench.judge_endpoint
    build = probe_build_metadata(endpoint, api_key(endpoint, bench.environ), [setup.model])
    identity = JudgeIdentity(model=setup.model, version=build.engine_version, prompt_version=PROMPT_VERSION)
    with _client(endpoint, bench) as client:
        judge_bundle(
            bundle,
            client.ask,
            identity=identity,
            progress=bench.on_verdict,
            stop=bench.stop.is_set,
            concurrency=endpoint.concurrency,
        )


def _base_url(endpoint: Endpoint) -> str:
    if endpoint.base_url is None:
        raise EngineError(
            "no model server is named",
            "Name it: --base-url http://127.0.0.1:1234/v1, or endpoint.base_url in touchstone.yaml "
            "(LM Studio listens on 1234, mlx_lm.server on 8080, Ollama on 11434).",
        )
    return endpoint.base_url


def _models_under_test(config: Config) -> list[ModelSettings]:
    if not config.models:
        raise BadInputError(
            "no model is named", "Name it: --model MODEL, or models: [{id: MODEL}] in touchstone.yaml"
        )
    return config.models


def _model_record(model: ModelSettings, build: BuildMetadata) -> ModelUnderTest:
    told = build.quant_by_model.get(model.id)
    return ModelUnderTest(
        id=model.id,
        was=model.was,
        quant=told or model.quant,
        quant_origin="probe" if told else "config" if model.quant else None,
        served_model=build.served_model.get(model.id),
        context_length=build.context_length.get(model.id),
        extra_body=model.extra_body,
    )


def _judge_setup(config: Config, suite: Suite) -> JudgeSetup | None:
    judge = config.judge
    if judge is None or suite.instrument.judge is None:
        return None
    return JudgeSetup(
        model=judge.model,
        temperature=judge.temperature,
        seed=judge.seed,
        samples=judge.samples,
        max_tokens=judge.max_tokens,
        max_consecutive_failures=judge.max_consecutive_failures,
    )


def _relative(path: Path, root: Path) -> str:
    """The path as it is kept: relative to the settings' folder, or the bare name outside it."""
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.name
