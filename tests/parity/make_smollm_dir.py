#!/usr/bin/env python3
"""Turns a GGUF file of the llama architecture into a Hugging Face directory.

make_smollm_dir.py MODEL.gguf OUT [--dtype float32|bfloat16]: weights dequantised, the rotary order of
query and key rows put back, and the tokenizer rebuilt from the metadata.
"""

import argparse
import json
import pathlib

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

LAYER_NAMES = {
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
OTHER_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
CONTROL = 3  # token type of special tokens


class Metadata:
    """Values of a GGUF file by key."""

    def __init__(self, reader: gguf.GGUFReader) -> None:
        self.fields = reader.fields

    def get(self, key: str, default=None):
        return self.fields[key].contents() if key in self.fields else default


def decimal(value: float) -> float:
    """The shortest decimal of a number that was stored in single precision."""
    return float(str(np.float32(value)))


def hugging_face_name(name: str) -> str:
    """`blk.3.attn_q.weight` becomes `model.layers.3.self_attn.q_proj.weight`."""
    parts = name.split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{LAYER_NAMES[parts[2]]}.{parts[3]}"
    return f"{OTHER_NAMES[parts[0]]}.{parts[1]}"


def unpermuted(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of each head from (pair, half) order back to (half, pair) order."""
    rows = weight.shape[0]
    shape = (heads, rows // heads // 2, 2, *weight.shape[1:])
    return weight.reshape(shape).swapaxes(1, 2).reshape(weight.shape)


def tensors(
    reader: gguf.GGUFReader, meta: Metadata, dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """All weights under their Hugging Face names."""
    heads = meta.get("llama.attention.head_count")
    kv_heads = meta.get("llama.attention.head_count_kv", heads)
    out = {}
    for tensor in reader.tensors:
        weight = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if ".attn_q." in tensor.name:
            weight = unpermuted(weight, heads)
        elif ".attn_k." in tensor.name:
            weight = unpermuted(weight, kv_heads)
        out[hugging_face_name(tensor.name)] = torch.from_numpy(
            np.ascontiguousarray(weight)
        ).to(dtype)
    return out


def config(meta: Metadata, tied: bool, dtype: str) -> dict:
    """config.json in the spelling of Transformers 4."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": meta.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": meta.get("tokenizer.ggml.eos_token_id"),
        "hidden_act": "silu",
        "hidden_size": meta.get("llama.embedding_length"),
        "intermediate_size": meta.get("llama.feed_forward_length"),
        "max_position_embeddings": meta.get("llama.context_length"),
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": meta.get("llama.attention.head_count"),
        "num_hidden_layers": meta.get("llama.block_count"),
        "num_key_value_heads": meta.get("llama.attention.head_count_kv"),
        "pad_token_id": meta.get("tokenizer.ggml.padding_token_id"),
        "rms_norm_eps": decimal(meta.get("llama.attention.layer_norm_rms_epsilon")),
        "rope_scaling": None,
        "rope_theta": decimal(meta.get("llama.rope.freq_base", 10000.0)),
        "tie_word_embeddings": tied,
        "torch_dtype": dtype,
        "vocab_size": len(meta.get("tokenizer.ggml.tokens")),
    }


def tokenizer(meta: Metadata) -> Tokenizer:
    """The byte-level BPE of the metadata, with digits taken one by one as this family does."""
    tokens = meta.get("tokenizer.ggml.tokens")
    kinds = meta.get("tokenizer.ggml.token_type")
    merges = [tuple(pair.split(" ")) for pair in meta.get("tokenizer.ggml.merges")]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    out = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    out.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    out.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, kinds) if kind == CONTROL]
    out.add_special_tokens(
        [AddedToken(token, normalized=False, special=True) for token in special]
    )
    return out


def tokenizer_config(meta: Metadata) -> dict:
    """tokenizer_config.json with the chat template."""
    tokens = meta.get("tokenizer.ggml.tokens")

    def named(role: str) -> str:
        return tokens[meta.get(f"tokenizer.ggml.{role}_token_id")]

    return {
        "add_prefix_space": False,
        "bos_token": named("bos"),
        "chat_template": meta.get("tokenizer.chat_template"),
        "clean_up_tokenization_spaces": False,
        "eos_token": named("eos"),
        "model_max_length": meta.get("llama.context_length"),
        "pad_token": named("padding"),
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": named("unknown"),
    }


def write_json(path: pathlib.Path, value: dict) -> None:
    path.write_text(
        json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def make(source: pathlib.Path, out: pathlib.Path, dtype: str) -> None:
    """Writes the directory."""
    out.mkdir(parents=True, exist_ok=True)
    reader = gguf.GGUFReader(source)
    meta = Metadata(reader)
    weights = tensors(reader, meta, getattr(torch, dtype))
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    write_json(
        out / "config.json", config(meta, "lm_head.weight" not in weights, dtype)
    )
    roles = {"bos": "bos", "eos": "eos", "pad": "padding"}
    generation = {
        f"{ours}_token_id": meta.get(f"tokenizer.ggml.{theirs}_token_id")
        for ours, theirs in roles.items()
    }
    write_json(out / "generation_config.json", generation)
    tokenizer(meta).save(str(out / "tokenizer.json"))
    write_json(out / "tokenizer_config.json", tokenizer_config(meta))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    args = parser.parse_args()
    make(args.source, args.out, args.dtype)


if __name__ == "__main__":
    main()
