"""Start: a pack and the settings become a frozen run, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone import __version__
from touchstone.config import Config, Endpoint, ModelSettings, api_key
from touchstone.engine.names import storable
from touchstone.engine.probe import BuildMetadata, probe_build_metadata
from touchstone.errors import BadInputError, EngineError
from touchstone.gate.bench import Bench, client_for, stamp
from touchstone.gate.budget import calls_of, require_within
from touchstone.git import Repository
from touchstone.host.info import host_info
from touchstone.host.launch import launch_id
from touchstone.judge.prompt import PROMPT_VERSION, prompt_sha256
from touchstone.pack.digest import hashes_of, suite_of
from touchstone.pack.load import LoadedPack, load_pack
from touchstone.pack.suite import JudgeInstrument, Suite
from touchstone.run.bundle import Bundle, sealed
from touchstone.run.ids import new_run_id
from touchstone.run.plan import WHOLE, Part, filter_words, planned_prompts
from touchstone.run.records import EngineInfo, GitState, HostInfo, JudgeSetup, ModelUnderTest
from touchstone.run.retention import remove_surplus


@dataclass(frozen=True)
class Order:
    """What a run asks: a part of a pack (default: all of it), as the `draw`-th draw."""

    loaded: LoadedPack
    draw: int = 0
    part: Part = WHOLE


def start_run(bench: Bench, order: Order) -> Bundle:
    """Freeze a run: check that it can be asked, probe what will answer, write the manifest.

    Raises BadInputError or EngineError before anything is written or asked.
    """
    models = _models_under_test(bench.config)
    require_engine(bench)
    suite = suite_for(bench.config, order.loaded)
    plan = planned_prompts(order.loaded.pack, order.part)
    started = bench.now()
    require_within(calls_of(suite, plan, len(models)).total, bench.config.max_calls)
    manifest = sealed(
        {
            "id": new_run_id(bench.runs_dir, suite.pack_id, started),
            "started": stamp(started),
            "tool_version": __version__,
            "tenant": bench.config.tenant,
            "target": bench.config.target,
            "draw": order.draw,
            "pack_path": _relative(order.loaded.path, bench.root),
            "pack_text": order.loaded.text,
            "suite": suite,
            "judge": judge_setup(bench.config, suite),
            "git": git_state(order.loaded.path.parent, files_of(order.loaded, bench.config_path)),
            "host": HostInfo(**vars(host_info())),
            "concurrency": bench.config.endpoint.concurrency,
            "filter": filter_words(order.part),
            "shard": str(order.part.shard) if order.part.shard else None,
            "models_left_out": list(bench.models_left_out),
            "plan": plan,
            **_engine_fields(bench, models),
        }
    )
    bundle = Bundle.create(bench.runs_dir, manifest)
    remove_surplus(bench.runs_dir, bench.config.keep_runs, bench.say)
    return bundle


def moved_since(bench: Bench, bundle: Bundle) -> list[str]:
    """What of a run's frozen suite is otherwise in the tree by now; a resumed run goes on as frozen."""
    frozen, path = bundle.manifest.suite, bench.root / bundle.manifest.pack_path
    try:
        today = suite_for(bench.config, load_pack(path))
    except BadInputError as error:
        return [f"the pack cannot be read any more ({error.message.splitlines()[0]})"]
    old, new = hashes_of(frozen), hashes_of(today)
    moved = [
        f"{name}: {then or 'none'} when it started, {now or 'none'} today"
        for name, then, now in (
            ("models", *_models(bundle.manifest.models, bench.config.models)),
            ("judge", _judge_name(frozen), _judge_name(today)),
            ("instrument", old.instrument, new.instrument),
            ("rules", old.rules, new.rules),
        )
        if then != now
    ]
    moved += [
        f"variant {id_}: its text"
        for id_ in frozen.variants
        if frozen.variants[id_] != today.variants.get(id_)
    ]
    return moved + [f"prompt {id_}" for id_ in frozen.cases if frozen.cases[id_] != today.cases.get(id_)]


def _models(frozen: Sequence[ModelUnderTest], today: Sequence[ModelSettings]) -> tuple[str, str]:
    """The models then and now; alike where all that are asked are configured still: --model may narrow."""
    then, now = [model.id for model in frozen], [model.id for model in today]
    return ", ".join(then), ", ".join(now if set(then) - set(now) else then)


def _judge_name(suite: Suite) -> str | None:
    judge = suite.instrument.judge
    return judge.model if judge else None


def suite_for(config: Config, loaded: LoadedPack) -> Suite:
    """The suite a pack and the settings make; a pack with dimensions needs a judge to be named."""
    instrument = None
    if loaded.pack.dimensions:
        instrument = judge_instrument(config, f"{loaded.path}: pack {loaded.pack.id}")
    extra_body = {model.id: model.extra_body for model in config.models if model.extra_body}
    return suite_of(loaded, compare=config.compare, judge=instrument, extra_body=extra_body)


def judge_instrument(config: Config, whose: str) -> JudgeInstrument:
    """Today's judge as an instrument; BadInputError, naming `whose` dimensions, where there is none."""
    judge = config.judge
    if judge is None:
        raise BadInputError(
            f"{whose} has dimensions, and no judge is named to score them",
            "Name one: --judge-model MODEL, or judge.model in touchstone.yaml",
        )
    return JudgeInstrument(
        model=judge.model,
        temperature=judge.temperature,
        seed=judge.seed,
        samples=judge.samples,
        prompt_version=PROMPT_VERSION,
        prompt_sha256=prompt_sha256(),
        thinking="off" if judge.thinking == "suppress" else None,
    )


def judge_setup(config: Config, suite: Suite) -> JudgeSetup | None:
    """How a run asks its judge; null for a suite that needs none."""
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


def require_engine(bench: Bench) -> None:
    """Refuse to start without an engine that answers."""
    url = _base_url(bench.config.endpoint)
    with client_for(bench.config.endpoint, bench) as client:
        try:
            client.models()
        except EngineError as error:
            raise EngineError(
                f"no model server answers at {url}: {error.message}",
                "Start it, or name another: --base-url URL (touchstone engine start runs a small one).",
            ) from None


def engine_info(build: BuildMetadata) -> EngineInfo:
    """What a probe told of the engine itself."""
    return EngineInfo(
        engine=build.engine,
        engine_version=build.engine_version,
        runtime=build.runtime,
        origins=dict(build.origins),
    )


def git_state(root: Path, files: Sequence[Path]) -> GitState:
    """Commit and cleanliness of the repository a run starts in; null where there is none to ask.

    A pack, prompt or settings file that git does not track counts as not clean.
    """
    repository = Repository.open(root)
    if repository is None:
        return GitState(commit=None, clean=None)
    return GitState(commit=repository.head(), clean=repository.is_clean(files))


def files_of(loaded: LoadedPack, config_path: Path | None) -> list[Path]:
    """Every file the asking depends on."""
    folder = loaded.path.parent
    named = (variant.system_prompt_file for variant in loaded.pack.prompt_variants)
    files = [loaded.path, *(folder / name for name in named if name is not None)]
    return files + ([config_path] if config_path else [])


def _engine_fields(bench: Bench, models: Sequence[ModelSettings]) -> Mapping[str, Any]:
    """What the engine says of itself and of the models."""
    endpoint = bench.config.endpoint
    ids = [model.id for model in models]
    build = probe_build_metadata(endpoint, api_key(endpoint, bench.environ), ids)
    return {
        "models": [_model_record(model, build) for model in models],
        "engine": engine_info(build),
        "launch": launch_id(_base_url(endpoint)),
    }


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


def _relative(path: Path, root: Path) -> str:
    """The path as it is kept: relative to the settings' folder, or the bare name outside it."""
    try:
        kept = path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        kept = path.name
    if storable(kept) != kept:
        raise BadInputError(f"{path}: the name is no UTF-8, so no file can hold it", "Rename it.")
    return kept
