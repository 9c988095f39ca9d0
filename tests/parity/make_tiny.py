#!/usr/bin/env python3
"""Writes small random checkpoints of the zoo's families: make_tiny.py OUT.

Sizes are odd, every bias and norm is random, and weights are scaled so that logits have a spread of
about one. Each checkpoint is a folder; `oracle.json` in it says which folder the oracle loads where a
spelling of the files is ours (renamed tensors, older configuration keys).
"""

import json
import math
import pathlib
import shutil
import sys

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

LLAMA = {"vocab_size": 131, "hidden_size": 60, "intermediate_size": 92, "num_hidden_layers": 3,
         "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 14, "rms_norm_eps": 1e-5,
         "max_position_embeddings": 256, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
GPT2 = {"vocab_size": 127, "n_embd": 60, "n_layer": 3, "n_head": 5, "n_positions": 128,
        "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
BERT = {"vocab_size": 113, "hidden_size": 60, "num_hidden_layers": 3, "num_attention_heads": 5,
        "intermediate_size": 76, "max_position_embeddings": 96, "type_vocab_size": 3}  # fmt: skip

LLAMA_CASES = {
    "llama-grouped": {"rope_parameters": {"rope_type": "default", "rope_theta": 5000.0}},
    "llama-linear-tied": {
        "rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0},
        "num_key_value_heads": 6, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True,
    },
    "llama-llama3": {
        "rope_parameters": {
            "rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
        },
        "num_key_value_heads": 1, "attention_bias": True,
    },
    "llama-plain": {
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, "head_dim": 10,
        "hidden_act": "gelu", "mlp_bias": True,
    },
}  # fmt: skip
GPT2_CASES = {
    "gpt2-prefix": {},
    "gpt2-inner": {
        "n_inner": 84,
        "activation_function": "relu",
        "scale_attn_by_inverse_layer_idx": True,
    },
    "gpt2-untied": {
        "tie_word_embeddings": False,
        "activation_function": "gelu",
        "scale_attn_weights": False,
    },
}


def randomise(model: torch.nn.Module, seed: int) -> None:
    """Random values for everything, so that no bias or gain hides at zero or one."""
    gen = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=gen)
            if weight.dim() >= 2:
                fan_in = weight.shape[0] if is_conv1d(model, name) else weight.shape[-1]
                weight.copy_(
                    noise
                    * (1.0 if "embed" in name and "lm" not in name else 1.3)
                    / math.sqrt(fan_in)
                )
            elif (
                "norm" in name.lower()
                and name.endswith("weight")
                or ".ln_" in name
                and name.endswith("weight")
            ):
                weight.copy_(1.0 + 0.3 * noise)
            else:
                weight.copy_(0.3 * noise)
    model.eval()


def is_conv1d(model: torch.nn.Module, name: str) -> bool:
    """Whether the parameter's matrix is stored [in,out]."""
    owner = model.get_submodule(name.rpartition(".")[0])
    return type(owner).__name__ == "Conv1D"


def save(model, folder: pathlib.Path, **options) -> None:
    """A checkpoint with its class in the configuration, as from_pretrained expects it."""
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, **options)
    add_tokenizer(folder)


def add_tokenizer(folder: pathlib.Path) -> None:
    """A tokenizer with a word for each id, so that commands that print text have one."""
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    vocabulary = {"[UNK]": 0} | {f"w{number}": number for number in range(1, size)}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.save(str(folder / "tokenizer.json"))


def respelled(
    source: pathlib.Path, folder: pathlib.Path, rename=None, edit=None
) -> None:
    """A copy with other tensor names or configuration keys; the oracle goes on reading the source."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    if rename:
        weights = load_file(folder / "model.safetensors")
        out = {rename(name): weight for name, weight in weights.items() if rename(name)}
        save_file(out, folder / "model.safetensors", metadata={"format": "pt"})
    if edit:
        path = folder / "config.json"
        path.write_text(json.dumps(edit(json.loads(path.read_text())), indent=2))
    (folder / "oracle.json").write_text(json.dumps({"source": source.name}))


def old_rotary(config: dict) -> dict:
    """The rotary keys of Transformers 4."""
    rotary = config.pop("rope_parameters")
    config["rope_theta"] = rotary.pop("rope_theta")
    kind = rotary.pop("rope_type")
    config["rope_scaling"] = None if kind == "default" else {"type": kind, **rotary}
    return config


def llama(out: pathlib.Path) -> None:
    for number, (name, changes) in enumerate(LLAMA_CASES.items()):
        settings = {**LLAMA, **changes}
        model = LlamaForCausalLM(LlamaConfig(**settings))
        randomise(model, 10 + number)
        save(model, out / name)
        if name == "llama-grouped":
            save(model, out / "llama-sharded", max_shard_size="60KB")
    respelled(out / "llama-linear-tied", out / "llama-linear-old", edit=old_rotary)
    respelled(out / "llama-llama3", out / "llama-llama3-old", edit=old_rotary)

    def bare(config: dict) -> dict:
        """Only what has no class default, as older files leave it."""
        config = old_rotary(config)
        return {
            key: value
            for key, value in config.items()
            if key not in ("head_dim", "attention_bias", "mlp_bias")
        }

    respelled(out / "llama-plain", out / "llama-plain-bare", edit=bare)


def gpt2(out: pathlib.Path) -> None:
    for number, (name, changes) in enumerate(GPT2_CASES.items()):
        model = GPT2LMHeadModel(GPT2Config(**{**GPT2, **changes}))
        randomise(model, 20 + number)
        save(model, out / name)
    respelled(
        out / "gpt2-prefix",
        out / "gpt2-bare",
        rename=lambda name: name.removeprefix("transformer."),
    )


def bert(out: pathlib.Path) -> None:
    model = BertModel(BertConfig(**BERT))
    randomise(model, 30)
    save(model, out / "bert-pooler")
    model = BertModel(BertConfig(**BERT, hidden_act="relu"), add_pooling_layer=False)
    randomise(model, 31)
    save(model, out / "bert-bare")
    model = BertForMaskedLM(BertConfig(**BERT, hidden_act="gelu_new"))
    randomise(model, 32)
    save(model, out / "bert-mlm")

    def original(name: str) -> str:
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        )

    respelled(out / "bert-mlm", out / "bert-mlm-original", rename=original)


def make(out: pathlib.Path) -> None:
    """Writes all checkpoints below `out`."""
    out.mkdir(parents=True, exist_ok=True)
    llama(out)
    gpt2(out)
    bert(out)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
