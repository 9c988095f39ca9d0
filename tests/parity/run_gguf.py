#!/usr/bin/env python3
"""Checks the loader tables of GGUF files: run_gguf.py AXON [FAMILY ...].

Each tiny checkpoint is written as a file too: tensor names and keys of metadata are those of the gguf
package, rows lie as converters put them. The command must give the same logits for both, in float32.
"""

import dataclasses
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import warnings

import gguf
import numpy as np
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from binary import Axon, Failure, near  # noqa: E402 first: it says where axon_verify is
from axon_verify.families import FAMILIES, Family, rope  # noqa: E402
from checkpoints import Tally  # noqa: E402

SAME = 1e-6

# Family, architecture of the file, changes of the base configuration.
CASES = [
    ("llama", "llama", {"head_dim": 10}),
    ("llama", "llama", {"head_dim": 10, "tie_word_embeddings": True, **rope("linear", factor=2.0)}),
    ("mistral", "llama", {"sliding_window": None, "head_dim": 10}),
    ("mixtral", "llama", {"sliding_window": None, "head_dim": 10}),
    ("qwen2", "qwen2", {**rope(theta=1e6)}),
    ("qwen2", "qwen2", {"tie_word_embeddings": True,
                        **rope("yarn", factor=4.0, original_max_position_embeddings=64)}),
    ("qwen3", "qwen3", {**rope(theta=1e6)}),
    ("qwen3", "qwen3", {"tie_word_embeddings": True, "num_key_value_heads": 6}),
    ("gemma", "gemma", {}),
    ("gemma2", "gemma2", {"query_pre_attn_scalar": 14, "attn_logit_softcapping": 3.0, "final_logit_softcapping": 4.0}),
    ("gemma3", "gemma3", {"query_pre_attn_scalar": 14, "num_hidden_layers": 7}),
    ("gemma3", "gemma3", {
        "query_pre_attn_scalar": 14,
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "rope_theta": 20000.0, "factor": 4.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        },
    }),
    ("phi3", "phi3", {"sliding_window": 9}),
    ("phi3", "phi3", {"tie_word_embeddings": True, **rope(partial_rotary_factor=0.6)}),
    ("phi3", "phi3", {
        "original_max_position_embeddings": 32,
        **rope("longrope", short_factor=[1.0, 1.1, 1.3, 1.6, 2.0], long_factor=[1.5, 2.0, 3.0, 5.0, 9.0],
               original_max_position_embeddings=32),
    }),
    ("gpt_neox", "gptneox", {}),
    ("gpt_neox", "gptneox", {"use_parallel_residual": False, **rope(theta=500.0, partial_rotary_factor=1.0)}),
    ("bloom", "bloom", {}),
    ("falcon", "falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    ("falcon", "falcon", {"tie_word_embeddings": False, **rope(theta=500.0)}),
    ("olmoe", "olmoe", {}),
    ("gpt2", "gpt2", {}),
    ("bert", "bert", {"model": "BertModel"}),
    ("t5", "t5", {"num_decoder_layers": 2, "relative_attention_max_distance": 128}),
    ("t5", "t5", {"feed_forward_proj": "gated-gelu",
                  "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128}),
]  # fmt: skip


def rope_of(config: dict) -> dict:
    """Rotary settings, those of full attention where kinds of layers differ."""
    settings = config.get("rope_parameters") or {}
    return settings.get("full_attention", settings)


def interleaved(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows of each head with its halves interleaved."""
    shape = rows.shape
    return (
        rows.reshape(heads, 2, shape[0] // heads // 2, *shape[1:])
        .swapaxes(1, 2)
        .reshape(shape)
    )


def apart(rows: np.ndarray, heads: int, groups: int) -> np.ndarray:
    """Queries, keys and values of all groups one after the other."""
    size = rows.shape[0] // (heads + 2 * groups)
    parts = rows.reshape(groups, heads // groups + 2, size, *rows.shape[1:])
    pieces = (parts[:, :-2], parts[:, -2], parts[:, -1])
    return np.concatenate([piece.reshape(-1, *rows.shape[1:]) for piece in pieces])


def changed(arch: str, name: str, value: np.ndarray, config: dict) -> np.ndarray:
    """A tensor as converters write it."""
    heads = config.get("num_attention_heads") or config.get("n_head")
    if arch == "llama" and re.search(r"\.(q|k)_proj\.", name):
        keys = config.get("num_key_value_heads", heads)
        return interleaved(value, keys if ".k_proj." in name else heads)
    if arch.startswith("gemma") and name.endswith("norm.weight"):
        return value + 1
    if arch in ("gptneox", "bloom", "falcon") and "query_key_value" in name:
        groups = heads
        if arch == "falcon":
            grouped = config["new_decoder_architecture"]
            groups = config["num_kv_heads"] if grouped else 1
        return apart(value, heads, groups)
    if arch == "gpt2" and re.search(r"\.(c_attn|c_proj|c_fc)\.weight$", name):
        return value.T
    return value


def stacked(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Experts of a layer as one tensor for each projection, under the name that the package knows."""
    out, banks = {}, {}
    for name, value in weights.items():
        found = re.fullmatch(r"(.*)\.experts\.(\d+)\.(\w+)\.weight", name)
        if not found:
            out[name] = value
            continue
        head, number, part = found.groups()
        layer = re.search(r"layers\.(\d+)\.", head).group(1)
        mixtral = "block_sparse_moe" in head
        merged = f"layers.{layer}.feed_forward" if mixtral else head
        banks.setdefault(f"{merged}.experts.{part}.weight", {})[int(number)] = value
    for name, items in banks.items():
        out[name] = np.stack([items[number] for number in range(len(items))])
    return out


def add_facts(writer: gguf.GGUFWriter, arch: str, config: dict) -> None:
    """Metadata of the architecture."""

    def first(*keys: str, otherwise=None):
        return next(
            (config[key] for key in keys if config.get(key) is not None), otherwise
        )

    hidden = first("hidden_size", "n_embd", "d_model")
    heads = first("num_attention_heads", "n_head", "num_heads")
    writer.add_context_length(
        first("max_position_embeddings", "n_positions", "seq_length", otherwise=512)
    )
    writer.add_embedding_length(hidden)
    writer.add_block_count(first("num_hidden_layers", "n_layer", "num_layers"))
    writer.add_head_count(heads)
    writer.add_feed_forward_length(
        first(
            "ffn_hidden_size",
            "intermediate_size",
            "d_ff",
            "n_inner",
            otherwise=4 * hidden,
        )
    )
    keys = first("num_key_value_heads", otherwise=heads)
    if arch == "falcon":
        keys = config["num_kv_heads"] if config["new_decoder_architecture"] else 1
    writer.add_head_count_kv(keys)
    if width := first("head_dim", "d_kv"):
        writer.add_key_length(width)
    eps = first("rms_norm_eps") or (
        config["layer_norm_epsilon"] if arch == "t5" else None
    )
    if eps:
        writer.add_layer_norm_rms_eps(eps)
    else:
        writer.add_layer_norm_eps(first("layer_norm_eps", "layer_norm_epsilon"))
    add_rope(writer, config, hidden, heads)
    add_more(writer, arch, config)


def add_rope(writer: gguf.GGUFWriter, config: dict, hidden: int, heads: int) -> None:
    settings = rope_of(config)
    if not settings:
        return
    writer.add_rope_freq_base(settings["rope_theta"])
    width = config.get("head_dim") or hidden // heads
    part = settings.get("partial_rotary_factor", 1.0)
    writer.add_rope_dimension_count(int(part * width))
    kind = settings["rope_type"]
    if kind == "longrope":
        short, long = settings["short_factor"], settings["long_factor"]
        writer.add_tensor("rope_factors_short.weight", np.array(short, np.float32))
        writer.add_tensor("rope_factors_long.weight", np.array(long, np.float32))
        base = config["original_max_position_embeddings"]
        scale = config["max_position_embeddings"] / base
        writer.add_rope_scaling_attn_factors(
            math.sqrt(1 + math.log(scale) / math.log(base))
        )
        writer.add_rope_scaling_orig_ctx_len(base)
    elif kind != "default":
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(settings["factor"])
        if "original_max_position_embeddings" in settings:
            writer.add_rope_scaling_orig_ctx_len(
                settings["original_max_position_embeddings"]
            )


def add_more(writer: gguf.GGUFWriter, arch: str, config: dict) -> None:
    if config.get("sliding_window") and arch in ("gemma2", "gemma3", "phi3"):
        writer.add_sliding_window(config["sliding_window"])
    if config.get("attn_logit_softcapping"):
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
    if config.get("final_logit_softcapping"):
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if experts := config.get("num_experts") or config.get("num_local_experts"):
        writer.add_expert_count(experts)
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if arch == "gptneox":
        writer.add_parallel_residual(config["use_parallel_residual"])
    if arch == "t5":
        writer.add_relative_attn_buckets_count(config["relative_attention_num_buckets"])
        writer.add_decoder_start_token_id(config["decoder_start_token_id"])
        writer.add_decoder_block_count(config["num_decoder_layers"])
    if arch == "bert":
        writer.add_token_type_count(config["type_vocab_size"])


def write_file(folder: pathlib.Path, arch: str, path: pathlib.Path) -> None:
    """The folder's checkpoint as one file."""
    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    kind = next(
        number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == arch
    )
    layers = max(
        [int(found) for name in weights for found in re.findall(r"\.(\d+)\.", name)]
    )
    names = gguf.get_tensor_name_map(kind, layers + 1)
    writer = gguf.GGUFWriter(path, arch)
    add_facts(writer, arch, config)
    for name, value in stacked(weights).items():
        if arch == "bert" and name.startswith("pooler"):
            continue
        known = name.removeprefix("transformer.") if arch == "bloom" else name
        stored = names.get_name(known, try_suffixes=(".weight", ".bias"))
        if stored is None:
            raise Failure(f"the package has no name for {name}")
        rows = changed(arch, name, value.astype(np.float32), config)
        writer.add_tensor(stored, np.ascontiguousarray(rows))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare(
    axon: Axon, family: Family, folder: pathlib.Path, arch: str, path: pathlib.Path
) -> None:
    """The same outputs from both."""
    write_file(folder, arch, path)
    draw = np.random.default_rng(5)
    inputs = {"input_ids": draw.integers(3, 100, (2, 40))}
    if family.kind == "seq2seq":
        inputs["decoder_input_ids"] = draw.integers(3, 100, (2, 12))
    want = axon.forward(folder, inputs)
    found = axon.forward(path, inputs)
    output = "last_hidden_state" if family.kind == "encoder" else "logits"
    near(found[output], want[output], SAME, output)
    axon.call("inspect", path)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from axon_verify import tiny

    by_name = {family.name: family for family in FAMILIES}
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        axon = Axon(pathlib.Path(sys.argv[1]).resolve(), root)
        for number, (name, arch, changes) in enumerate(CASES):
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            family = dataclasses.replace(by_name[name], variants={"file": changes})
            folder = root / f"{name}-{number}"
            tiny.make_variant(family, "file", folder)
            path = root / f"{name}-{number}.gguf"
            tally.check(
                f"{name} as {arch} {number}",
                lambda family=family, folder=folder, arch=arch, path=path: compare(
                    axon, family, folder, arch, path
                ),
            )
        tally.wait()
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
