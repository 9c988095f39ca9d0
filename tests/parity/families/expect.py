"""What Transformers says about the tiny checkpoints of the families."""

import json
import pathlib

import numpy as np
import oracle
import torch
import transformers
from cases import Family
from safetensors.numpy import save_file

LENGTHS = (40, 23, 5)  # the first is longer than any window
TOKENS = 32


def prompts(vocabulary: int) -> list[list[int]]:
    """One prompt of each length; the smallest ids are left to ends and padding."""
    draw = np.random.default_rng(11)
    return [
        [int(i) for i in draw.integers(3, vocabulary, length)] for length in LENGTHS
    ]


def load(family: Family, variant: str, folder: pathlib.Path) -> torch.nn.Module:
    """The family's own class in float32."""
    kind = getattr(transformers, family.model_of(variant))
    settings = {"dtype": torch.float32, "attn_implementation": family.attention}
    return kind.from_pretrained(folder, **settings).eval()


def causal(model: torch.nn.Module, arrays: dict, facts: dict) -> None:
    """Logits of each whole prompt, and greedy tokens after it."""
    for number, ids in enumerate(facts["prompts"]):
        arrays[f"logits.{number}"] = oracle.full_logits(model, ids)
    facts["greedy"] = []
    for ids in facts["prompts"]:
        tokens, gaps = oracle.greedy(model, ids, TOKENS)
        facts["greedy"].append({"prompt": ids, "tokens": tokens, "gaps": gaps})


def encoder(model: torch.nn.Module, arrays: dict, facts: dict) -> None:
    """Everything that one padded batch gives."""
    ids, mask = oracle.padded(facts["prompts"])
    ids = torch.where(mask == 1, ids, model.config.pad_token_id)
    out = model(input_ids=ids, attention_mask=mask)
    arrays["ids"], arrays["mask"] = ids.numpy(), mask.numpy()
    for name in ("logits", "last_hidden_state", "pooler_output"):
        if out.get(name) is not None:
            arrays[name] = out[name].numpy()


def seq2seq(model: torch.nn.Module, arrays: dict, facts: dict) -> None:
    """Greedy tokens for the longest source, and logits of all of them for a padded batch of sources."""
    ids, mask = oracle.padded(facts["prompts"])
    tokens, gaps = [model.config.decoder_start_token_id], []
    for _ in range(TOKENS):
        out = model(input_ids=ids[:1], decoder_input_ids=oracle.rows(tokens))
        best = torch.topk(out.logits[0, -1], 2)
        tokens.append(int(best.indices[0]))
        gaps.append(float(best.values[0] - best.values[1]))
    decoded = oracle.rows(tokens[:-1]).expand(len(ids), -1)
    out = model(input_ids=ids, attention_mask=mask, decoder_input_ids=decoded)
    arrays["ids"], arrays["mask"] = ids.numpy(), mask.numpy()
    arrays["decoded"], arrays["logits"] = decoded.numpy(), out.logits.numpy()
    facts["greedy"] = [
        {"prompt": facts["prompts"][0], "tokens": tokens[1:], "gaps": gaps}
    ]


def ask(family: Family, variant: str, folder: pathlib.Path, out: pathlib.Path) -> None:
    """Arrays and facts of one checkpoint."""
    config = json.loads((folder / "config.json").read_text())
    arrays: dict[str, np.ndarray] = {}
    facts: dict = {"prompts": prompts(config["vocab_size"])}
    with torch.inference_mode():
        kinds = {"causal": causal, "encoder": encoder, "seq2seq": seq2seq}
        kinds[family.kind](load(family, variant, folder), arrays, facts)
    arrays = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    save_file(arrays, out / f"{folder.name}.safetensors")
    (out / f"{folder.name}.json").write_text(json.dumps(facts))
