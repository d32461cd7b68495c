"""Model names fit to be stored."""

from __future__ import annotations

import pytest

from touchstone.engine.names import clean_model_id, same_model, told


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("qwen3-8b", "qwen3-8b"),
        ("mlx-community/Qwen3-8B-4bit", "mlx-community/Qwen3-8B-4bit"),
        ("models/smollm2-mlx", "models/smollm2-mlx"),
        ("llama3.1:8b-instruct-q4_K_M", "llama3.1:8b-instruct-q4_K_M"),
        ("/Users/ada/models/smollm2-mlx", "smollm2-mlx"),
        ("/Users/ada/models/smollm2-mlx/", "smollm2-mlx"),
        ("~/models/x.gguf", "x.gguf"),
        ("file:///srv/models/x.gguf", "x.gguf"),
        (r"C:\models\x.gguf", "x.gguf"),
        ("/home/a/.cache/hub/models--mlx-community--Qwen3/snapshots/0a1b", "mlx-community/Qwen3"),
        ("https://user:pw@example.invalid/m/x?token=abc", "example.invalid/m/x"),
        ("model-hf_abcdefghijklmnop", "model-***"),
        (" x ", "x"),
    ],
)
def test_folders_and_secrets_are_gone(name: str, clean: str) -> None:
    assert clean_model_id(name) == clean


@pytest.mark.parametrize("word", ["", " ", "unknown", "Unknown", "b0-unknown", "n/a", None, 7, []])
def test_unknown_is_not_told(word: object) -> None:
    assert told(word) is None


def test_the_same_model_by_other_spellings() -> None:
    assert same_model("llama3", "llama3:latest")
    assert same_model("/a/b/smollm2", "/c/smollm2")
    assert not same_model("a", "b")
