"""Turns the embedded engine's GGUF into a folder mlx-lm can load. Runs in the MLX environment, not in ours.

    python repack.py MODEL.gguf FOLDER

The 4-bit groups are taken over as they are, so both engines hold the very same weights. What changes is
the names of the tensors, and a tokenizer made from the one inside the GGUF.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

GROUP = 32
CONTROL_TOKEN = 3
LAYER_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP_PARTS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def repack(gguf: Path, folder: Path) -> None:
    """Write weights, config and tokenizer; the config comes last, as the mark of a finished folder."""
    tensors, told = mx.load(str(gguf), return_metadata=True)
    weights = {mlx_name(name): tensor for name, tensor in tensors.items()}
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    tokenizer_of(told).save(str(folder / "tokenizer.json"))
    _write(folder / "tokenizer_config.json", tokenizer_config(told))
    _write(folder / "config.json", model_config(told, weights))


def mlx_name(name: str) -> str:
    """`blk.3.attn_q.weight` → `model.layers.3.self_attn.q_proj.weight`."""
    head, *rest = name.split(".")
    if head == "blk":
        layer, part, kind = rest
        return f"model.layers.{layer}.{LAYER_PARTS[part]}.{kind}"
    return ".".join([TOP_PARTS[head], *rest])


def model_config(told: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    """The architecture as mlx-lm reads it. GGUF keeps query and key rows interleaved (`rope_traditional`)."""

    def llama(key: str) -> Any:
        return told[f"llama.{key}"].item()

    heads = llama("attention.head_count")
    return {
        "model_type": "llama",
        "hidden_size": llama("embedding_length"),
        "num_hidden_layers": llama("block_count"),
        "intermediate_size": llama("feed_forward_length"),
        "num_attention_heads": heads,
        "num_key_value_heads": llama("attention.head_count_kv"),
        "head_dim": llama("embedding_length") // heads,
        "rms_norm_eps": llama("attention.layer_norm_rms_epsilon"),
        "rope_theta": llama("rope.freq_base"),
        "rope_traditional": True,
        "max_position_embeddings": llama("context_length"),
        "vocab_size": len(told["tokenizer.ggml.tokens"]),
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "bos_token_id": told["tokenizer.ggml.bos_token_id"].item(),
        "eos_token_id": told["tokenizer.ggml.eos_token_id"].item(),
        "quantization": quantization(weights),
    }


def quantization(weights: dict[str, Any]) -> dict[str, Any]:
    """Four bits, except where the packed width says otherwise (the embeddings have eight)."""
    found: dict[str, Any] = {"group_size": GROUP, "bits": 4}
    for name, scales in weights.items():
        part, _, kind = name.rpartition(".")
        if kind != "scales":
            continue
        bits = weights[f"{part}.weight"].shape[-1] * 32 // (scales.shape[-1] * GROUP)
        if bits != found["bits"]:
            found[part] = {"group_size": GROUP, "bits": bits}
    return found


def tokenizer_of(told: dict[str, Any]) -> Tokenizer:
    """A byte-level BPE with the file's words, merges and control tokens."""
    words = told["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ", 1)) for pair in told["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={word: id_ for id_, word in enumerate(words)}, merges=merges))
    digits, level = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, level])
    tokenizer.decoder = decoders.ByteLevel()
    kinds = told["tokenizer.ggml.token_type"].tolist()
    control = [word for word, kind in zip(words, kinds, strict=True) if kind == CONTROL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in control])
    return tokenizer


def tokenizer_config(told: dict[str, Any]) -> dict[str, Any]:
    """Start and end marks, and the chat template."""
    words = told["tokenizer.ggml.tokens"]
    start, end = (words[told[f"tokenizer.ggml.{mark}_token_id"].item()] for mark in ("bos", "eos"))
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": start,
        "eos_token": end,
        "pad_token": end,
        "clean_up_tokenization_spaces": False,
        "chat_template": told["tokenizer.chat_template"],
    }


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1))


if __name__ == "__main__":
    repack(Path(sys.argv[1]), Path(sys.argv[2]))
