"""What each engine tells of its build, from recorded and documented answers; nothing is ever invented."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer, Script, Scripted, whole
from tests.kit.recordings import answers_by_path
from touchstone.config import Endpoint, EngineName
from touchstone.engine import probe as probe_module
from touchstone.engine.probe import ENGINES, BuildMetadata, probe_build_metadata

FINGERPRINT = "0.32.2-0.32.4-Linux-6.x-x86_64-with-glibc2.36-x86_64"


def probed(
    routes: dict[str, Scripted],
    *models: str,
    engine: EngineName = "auto",
    fingerprint: str | None = None,
    key: str | None = None,
) -> BuildMetadata:
    with ChatServer(routes=routes) as server:
        if "/v1/models" not in routes:
            del server.routes["/v1/models"]
        return probe_build_metadata(
            Endpoint(base_url=server.base_url, engine=engine), key, models, fingerprint
        )


# --- llama.cpp ---------------------------------------------------------------------------------------


def test_llamacpp_as_recorded() -> None:
    name = "smollm2-135m-instruct"
    assert probed({**answers_by_path("llamacpp")}, name) == BuildMetadata(
        engine="llama.cpp",
        engine_version=None,  # the wheel says b0-unknown
        served_model={name: "SmolLM2-135M-Instruct.Q4_1.gguf"},
        quant_by_model={name: "Q4_1"},
        context_length={name: 1024},
        origins={
            "engine": "llama.cpp:/props",
            "served_model": "llama.cpp:/props",
            "quant_by_model": "llama.cpp:/props",
            "context_length": "llama.cpp:/props",
        },
    )


def test_llamacpp_with_a_build() -> None:
    props = {
        "default_generation_settings": {"n_ctx": 4096},
        "build_info": "b6500-0a1b2c3",
        "model_path": "/m/x.gguf",
    }
    found = probed({"/props": whole(props)}, "any")
    assert (found.engine_version, found.served_model) == ("b6500-0a1b2c3", {"any": "x.gguf"})
    assert found.origins["engine_version"] == "llama.cpp:/props"
    assert found.quant_by_model == {}


def test_llamacpp_with_props_switched_off_still_lists_its_model() -> None:
    listed = answers_by_path("llamacpp")["/v1/models"]
    off = whole({"error": {"message": "not supported"}}, 501, [("Server", "llama.cpp")])
    found = probed({"/props": off, "/v1/models": listed}, "m", fingerprint="b6500-0a1b2c3")
    assert (found.engine, found.engine_version) == ("llama.cpp", "b6500-0a1b2c3")
    assert (found.quant_by_model, found.context_length) == ({"m": "Q4_1"}, {"m": 1024})
    assert found.origins["quant_by_model"] == "llama.cpp:/v1/models"


def test_llamacpp_as_a_router_tells_only_of_loaded_models() -> None:
    entries = [
        {"id": "a", "status": {"value": "loaded"}, "meta": {"ftype": "Q8_0", "n_ctx": 512}},
        {"id": "b", "status": {"value": "unloaded"}, "meta": {"ftype": "Q4_0", "n_ctx": 512}},
    ]
    props = {"default_generation_settings": {"n_ctx": 0}, "model_ftype": "F16", "build_info": "b7000-aa"}
    found = probed({"/props": whole(props), "/v1/models": whole({"data": entries})}, "a", "c")
    assert (found.quant_by_model["a"], found.served_model["a"]) == ("Q8_0", "a")


# --- the MLX servers ---------------------------------------------------------------------------------


def test_mlx_lm_by_its_fingerprint() -> None:
    found = probed({**answers_by_path("mlx-lm")}, "default_model", fingerprint=FINGERPRINT)
    assert (found.engine, found.engine_version, found.runtime) == ("mlx-lm", "0.32.2", "mlx 0.32.4")
    assert found.origins["runtime"] == "mlx-lm:system_fingerprint"
    assert not found.quant_by_model
    assert not found.served_model


def test_mlx_lm_without_a_fingerprint_is_recognised_by_its_habits_and_tells_nothing_more() -> None:
    assert probed({**answers_by_path("mlx-lm")}, "m") == BuildMetadata(
        engine="mlx-lm", origins={"engine": "mlx-lm:/health"}
    )


def test_mlx_openai_server_as_recorded() -> None:
    name = "models/smollm2-mlx"
    found = probed({**answers_by_path("mlx-openai-server")}, name, "other")
    assert found == BuildMetadata(
        engine="mlx-openai-server",
        served_model={name: name},
        origins={"engine": "mlx-openai-server:/health", "served_model": "mlx-openai-server:/health"},
    )


def test_mlx_openai_server_path_is_stripped_and_a_model_not_ready_is_no_evidence() -> None:
    health = {"status": "ok", "model_id": "/Users/ada/models/m", "model_status": "initialized (1 model(s))"}
    assert probed({"/health": whole(health)}, "m").served_model == {"m": "m"}
    waiting = {**health, "model_status": "not initialized"}
    assert probed({"/health": whole(waiting)}, "m").served_model == {}


# --- LM Studio ---------------------------------------------------------------------------------------

V0 = {
    "object": "list",
    "data": [
        {
            "id": "qwen3-8b",
            "type": "llm",
            "arch": "qwen3",
            "compatibility_type": "mlx",
            "quantization": "4bit",
            "state": "loaded",
            "max_context_length": 40960,
            "loaded_context_length": 8192,
        },
        {"id": "gemma-3", "compatibility_type": "gguf", "quantization": "Q4_K_M", "state": "not-loaded"},
    ],
}
NATIVE = {
    "choices": [],
    "runtime": {"name": "mlx-llm-mac-arm64", "version": "0.30.1", "supported_formats": ["mlx"]},
}
UNEXPECTED = whole({"error": "Unexpected endpoint or method. (GET /api/version)"})


def test_lm_studio_tells_only_of_loaded_models() -> None:
    routes: dict[str, Scripted] = {"/api/v0/models": whole(V0), "/api/v0/chat/completions": whole(NATIVE)}
    found = probed({**routes, "/api/version": UNEXPECTED, "/props": UNEXPECTED}, "qwen3-8b", "gemma-3")
    assert (found.engine, found.engine_version) == ("lm-studio", None)
    assert found.runtime == "mlx-llm-mac-arm64 0.30.1"
    assert found.quant_by_model == {"qwen3-8b": "4bit"}
    assert found.context_length == {"qwen3-8b": 8192}
    assert found.served_model == {"qwen3-8b": "qwen3-8b"}
    assert found.origins["runtime"] == "lm-studio:/api/v0/chat/completions"


def test_lm_studio_is_asked_natively_only_for_loaded_models() -> None:
    routes: dict[str, Scripted] = {"/api/v0/models": whole(V0), "/api/v0/chat/completions": whole(NATIVE)}
    with ChatServer(routes=routes) as server:
        found = probe_build_metadata(Endpoint(base_url=server.base_url), None, ["gemma-3"])
        assert server.chats == []
    assert found == BuildMetadata(engine="lm-studio", origins={"engine": "lm-studio:/api/v0/models"})


def test_lm_studio_without_a_native_reply_keeps_the_kind_of_weights() -> None:
    found = probed({"/api/v0/models": whole(V0), "/api/v0/chat/completions": whole({}, 500)}, "qwen3-8b")
    assert (found.runtime, found.origins["runtime"]) == ("mlx", "lm-studio:/api/v0/models")


def test_lm_studio_by_its_newer_list() -> None:
    entry = {
        "key": "qwen/qwen3-8b",
        "format": "gguf",
        "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
        "loaded_instances": [{"id": "qwen3-8b", "config": {"context_length": 4096}}],
        "max_context_length": 40960,
    }
    resting = {**entry, "key": "other", "loaded_instances": []}
    found = probed({"/api/v1/models": whole({"models": [entry, resting]})}, "qwen3-8b", "other")
    assert found.quant_by_model == {"qwen3-8b": "Q4_K_M"}
    assert found.context_length == {"qwen3-8b": 4096}
    assert found.served_model == {"qwen3-8b": "qwen/qwen3-8b"}
    assert found.runtime == "gguf"


# --- Ollama ------------------------------------------------------------------------------------------

RUNNING = {
    "name": "llama3.1:latest",
    "model": "llama3.1:latest",
    "digest": "46e0c10c039e019119339687c3c1757cc81b9da49709a3b3924863ba87ca666e",
    "details": {"format": "gguf", "quantization_level": "Q4_K_M"},
    "context_length": 4096,
}


def test_ollama_tells_of_running_models() -> None:
    routes: dict[str, Scripted] = {
        "/api/version": whole({"version": "0.12.3"}),
        "/api/ps": whole({"models": [RUNNING]}),
    }
    found = probed(routes, "llama3.1", "phi4")
    assert (found.engine, found.engine_version) == ("ollama", "0.12.3")
    assert found.quant_by_model == {"llama3.1": "Q4_K_M"}
    assert found.context_length == {"llama3.1": 4096}
    assert found.served_model == {"llama3.1": "llama3.1:latest@46e0c10c039e"}
    assert found.origins["quant_by_model"] == "ollama:/api/ps"


def test_ollama_shows_the_weights_where_the_running_list_does_not() -> None:
    bare = {key: value for key, value in RUNNING.items() if key != "details"}
    routes: dict[str, Scripted] = {
        "/api/version": whole({"version": "0.12.3"}),
        "/api/ps": whole({"models": [bare]}),
        "/api/show": lambda body: whole({"details": {"quantization_level": "Q8_0"}} if body["model"] else {}),
    }
    found = probed(routes, "llama3.1")
    assert (found.quant_by_model, found.origins["quant_by_model"]) == (
        {"llama3.1": "Q8_0"},
        "ollama:/api/show",
    )


def test_ollama_with_nothing_running_tells_its_version_only() -> None:
    routes: dict[str, Scripted] = {
        "/api/version": whole({"version": "0.12.3"}),
        "/api/ps": whole({"models": []}),
        "/api/show": whole({"details": {"quantization_level": "Q8_0"}}),
    }
    found = probed(routes, "llama3.1")
    assert (found.engine_version, found.quant_by_model, found.served_model) == ("0.12.3", {}, {})


# --- vLLM and the rest -------------------------------------------------------------------------------


def test_vllm() -> None:
    entry = {"id": "qwen", "owned_by": "vllm", "root": "/models/Qwen3-8B-AWQ", "max_model_len": 32768}
    other = {**entry, "id": "not-asked-for"}
    found = probed(
        {"/version": whole({"version": "0.11.2"}), "/v1/models": whole({"data": [entry, other]})}, "qwen"
    )
    assert (found.engine, found.engine_version) == ("vllm", "0.11.2")
    assert found.served_model == {"qwen": "Qwen3-8B-AWQ"}
    assert found.context_length == {"qwen": 32768}


def test_a_version_page_beside_somebody_elses_models_is_not_vllm() -> None:
    listed = whole({"data": [{"id": "m", "owned_by": "me"}]})
    found = probed({"/version": whole({"version": "9"}), "/v1/models": listed}, "m")
    assert found == BuildMetadata(
        engine="openai-compatible", origins={"engine": "openai-compatible:/v1/models"}
    )


def test_a_version_called_unknown_is_absent() -> None:
    assert probed({"/version": whole({"version": "unknown"})}, "m").engine_version is None


# --- whatever comes ----------------------------------------------------------------------------------


def test_a_server_that_tells_nothing() -> None:
    assert probed({}, "m") == BuildMetadata()


def test_no_server_and_no_usable_address_give_nothing_at_once() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    began = time.monotonic()
    assert probe_build_metadata(Endpoint(base_url=url), None, ["m"]) == BuildMetadata()
    assert probe_build_metadata(Endpoint(base_url="nonsense"), None, ["m"]) == BuildMetadata()
    assert probe_build_metadata(Endpoint(), "a\nb", ["m"]) == BuildMetadata()
    assert time.monotonic() - began < 1


def test_a_silent_server_costs_two_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "ATTEMPT_S", 0.2)
    began = time.monotonic()
    paths = (
        "/api/v0/models",
        "/api/v1/models",
        "/api/version",
        "/props",
        "/version",
        "/health",
        "/v1/models",
    )
    assert probed(dict.fromkeys(paths, Script(ending="hang", delays=())), "m") == BuildMetadata()
    assert time.monotonic() - began < 1.5


MALFORMED: list[Any] = [
    None,
    [],
    "text",
    7,
    {},
    {"data": 7, "models": 7, "version": 7},
    {"data": [7, None, {}], "models": [7, {}], "version": {}},
    {"data": [{"state": "loaded", "id": "m", "quantization": 7, "loaded_context_length": "8192"}]},
    {"models": [{"loaded_instances": [7, {"id": "m", "config": 7}], "quantization": "x", "key": 7}]},
    {"version": "1", "models": [{"model": "m", "details": [], "context_length": -1, "digest": 5}]},
    {"default_generation_settings": 7, "model_path": 7, "build_info": [], "data": [{"id": 5, "aliases": 7}]},
    {"status": "ok", "model_status": 7, "model_id": {}},
]


@pytest.mark.parametrize("body", MALFORMED)
@pytest.mark.parametrize("engine", ["auto", *ENGINES])
def test_malformed_answers_are_never_evidence(body: Any, engine: EngineName) -> None:
    paths = ("/api/v0/models", "/api/v1/models", "/api/version", "/api/ps", "/api/show", "/props", "/version")
    more = ("/health", "/v1/models", "/api/v0/chat/completions")
    found = probed(dict.fromkeys((*paths, *more), whole(body)), "m", engine=engine)
    assert not found.quant_by_model
    assert not found.context_length
    assert found.engine_version in (None, "1")
    assert found.runtime is None


def test_an_engine_named_in_the_settings_is_the_only_one_asked() -> None:
    with ChatServer(routes={"/api/version": whole({"version": "0.12.3"})}) as server:
        found = probe_build_metadata(Endpoint(base_url=server.base_url, engine="vllm"), None, ["m"])
        assert [one.path for one in server.requests] == ["/version"]
    assert found == BuildMetadata(engine="vllm", origins={"engine": "config:endpoint.engine"})


def test_the_key_is_sent_and_the_prefix_kept() -> None:
    with ChatServer(routes={"/llm/version": whole({"version": "0.11.2"})}) as server:
        found = probe_build_metadata(Endpoint(base_url=f"{server.url}/llm/v1"), "sk-1", ["m"])
        assert {one.headers["Authorization"] for one in server.requests} == {"Bearer sk-1"}
    assert (found.engine, found.engine_version) == ("vllm", "0.11.2")


def test_every_configurable_engine_has_a_reader() -> None:
    names = set(EngineName.__args__) - {"auto"}  # type: ignore[attr-defined]
    assert set(ENGINES) == names
