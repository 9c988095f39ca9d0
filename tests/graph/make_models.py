#!/usr/bin/env python3
"""Writes tests/graph/fixtures/model_*.txt: tiny random models of the zoo, with what Transformers computes."""

import pathlib

import torch
import transformers

HERE = pathlib.Path(__file__).parent / "fixtures"


def show(t):
    if t.is_floating_point():
        return " ".join(
            ["tensor f32", ",".join(map(str, t.shape))]
            + [repr(x) for x in t.float().flatten().tolist()]
        )
    return " ".join(
        ["tensor i64", ",".join(map(str, t.shape))]
        + [str(int(x)) for x in t.flatten().tolist()]
    )


def flat(prefix, value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(f"{prefix}{key}.", inner)
    elif isinstance(value, (bool, int, float, str)):
        kind = {bool: "bool", int: "int", float: "float", str: "string"}[type(value)]
        yield f"config {prefix[:-1]} {kind} {int(value) if kind == 'bool' else value}"


def randomise(model):
    torch.manual_seed(3)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * 0.4 + (1 if p.dim() == 1 else 0))
    return model.float().eval()


def write(name, model, inputs, outputs):
    lines = list(
        flat("", {k: v for k, v in model.config.to_dict().items() if v is not None})
    )
    tensors = model.state_dict()
    tied = (
        set(model._tied_weights_keys or [])
        if getattr(model.config, "tie_word_embeddings", False)
        else set()
    )
    for key, value in tensors.items():
        if key not in tied and "position_ids" not in key:
            lines.append(f"param {key} {show(value)}")
    lines += [f"input {k} {show(v)}" for k, v in inputs.items()]
    lines += [f"result {k} {show(v)}" for k, v in outputs.items()]
    (HERE / f"model_{name}.txt").write_text("\n".join(lines) + "\n")


ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
mask = torch.tensor([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])

config = transformers.LlamaConfig(
    vocab_size=11,
    hidden_size=8,
    intermediate_size=12,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    attention_bias=True,
    tie_word_embeddings=False,
    rope_parameters={
        "rope_type": "llama3",
        "rope_theta": 100.0,
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
)
model = randomise(transformers.LlamaForCausalLM(config))
with torch.no_grad():
    write("llama", model, {"input_ids": ids}, {"logits": model(ids).logits})

config = transformers.GPT2Config(
    vocab_size=11, n_embd=8, n_layer=2, n_head=2, n_positions=16
)
model = randomise(transformers.GPT2LMHeadModel(config))
with torch.no_grad():
    write("gpt2", model, {"input_ids": ids}, {"logits": model(ids).logits})

config = transformers.BertConfig(
    vocab_size=11,
    hidden_size=8,
    intermediate_size=12,
    num_hidden_layers=2,
    num_attention_heads=2,
    max_position_embeddings=16,
)
model = randomise(transformers.BertModel(config))
with torch.no_grad():
    out = model(ids, attention_mask=mask.flip(1))
    write(
        "bert",
        model,
        {"input_ids": ids, "attn_mask": mask.flip(1)},
        {
            "last_hidden_state": out.last_hidden_state,
            "pooler_output": out.pooler_output,
        },
    )
