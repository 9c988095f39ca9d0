"""What Transformers says about a checkpoint: logits, greedy tokens and how near each was to another.

All arithmetic is in float32 whatever the files hold, or in float64 where that is asked for.
"""

import inspect
import json
import pathlib

import numpy as np
import torch
import transformers
from safetensors import safe_open
from torch import nn

from axon_verify.answers import Answers
from axon_verify.families import FAMILIES

LENGTHS = (40, 23, 5, 1)
TOKENS = 32


def prompts(vocabulary: int, lengths: tuple[int, ...] = LENGTHS) -> list[list[int]]:
    """A prompt of each length; the smallest ids are left to ends and padding."""
    draw = np.random.default_rng(11)
    return [
        [int(i) for i in draw.integers(3, vocabulary, length)] for length in lengths
    ]


# ---- models ----------------------------------------------------------------------------------


def stored_names(folder: pathlib.Path) -> set[str]:
    """Names of all tensors of a checkpoint."""
    names: set[str] = set()
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "numpy") as file:
            names |= set(file.keys())
    return names


def class_of(folder: pathlib.Path) -> type[nn.Module]:
    """The class that the configuration names."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    name = (config.get("architectures") or ["(none)"])[0]
    kind = getattr(transformers, name, None)
    if kind is None:
        raise LookupError(f"Transformers {transformers.__version__} has no `{name}`")
    return kind


def attention_of(folder: pathlib.Path) -> str:
    """The implementation of attention that says what the family means."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    named = (config.get("architectures") or [""])[0]
    for family in FAMILIES:
        if named in {family.model_of(variant) for variant in family.variants}:
            return family.attention
    return "eager"


def load(folder: pathlib.Path, dtype: torch.dtype = torch.float32) -> nn.Module:
    """The checkpoint's own class; where the class itself says float32 (norms, angles), that is kept."""
    kind = class_of(folder)
    options = {"attn_implementation": attention_of(folder)}
    takes = inspect.signature(kind.__init__).parameters
    pooled = any("pooler" in name for name in stored_names(folder))
    if "add_pooling_layer" in takes and not pooled:
        options["add_pooling_layer"] = False  # else it would be a random one
    return kind.from_pretrained(folder, dtype=dtype, **options).eval()


def kind_of(model: nn.Module) -> str:
    """causal, encoder or seq2seq."""
    if model.config.is_encoder_decoder:
        return "seq2seq"
    return "causal" if model.can_generate() else "encoder"


def windows_of(model: nn.Module) -> list[int]:
    """Sizes of sliding windows that some layer has."""
    config = model.config.get_text_config()
    size = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    used = kinds is None or any("sliding" in kind for kind in kinds)
    return [size] if size and used else []


def rows_are_independent(model: nn.Module) -> bool:
    """Whether the other rows of a batch change nothing: with longrope the longest chooses factors of all."""
    rope = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    return rope.get("rope_type") != "longrope"


# ---- questions -------------------------------------------------------------------------------


def rows(ids: list[int]) -> torch.Tensor:
    return torch.tensor([ids], dtype=torch.int64)


def full_logits(model: nn.Module, ids: list[int]) -> np.ndarray:
    """Logits at every position of one sequence: [S,V]."""
    return model(rows(ids), use_cache=False).logits[0].numpy()


def greedy(
    model: nn.Module, ids: list[int], count: int
) -> tuple[list[int], list[float]]:
    """Greedy tokens after a prompt, and by how much each beat the second; end tokens are taken as any other."""
    tokens, gaps = [], []
    step = model(rows(ids), use_cache=True)
    for _ in range(count):
        best = torch.topk(step.logits[0, -1], 2)
        tokens.append(int(best.indices[0]))
        gaps.append(float(best.values[0] - best.values[1]))
        if len(tokens) < count:
            step = model(rows(tokens[-1:]), cache=step.cache, use_cache=True)
    return tokens, gaps


def padded(
    prompts: list[list[int]], side: str = "right", pad: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask of a batch."""
    width = max(len(ids) for ids in prompts)
    ids = torch.full((len(prompts), width), pad, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        start = 0 if side == "right" else width - len(prompt)
        ids[row, start : start + len(prompt)] = torch.tensor(prompt)
        mask[row, start : start + len(prompt)] = 1
    return ids, mask


def causal(model: nn.Module, arrays: dict, facts: dict, count: int) -> None:
    """Logits of each whole prompt, and greedy tokens after it."""
    facts["greedy"] = []
    for number, ids in enumerate(facts["prompts"]):
        arrays[f"logits.{number}"] = full_logits(model, ids)
        tokens, gaps = greedy(model, ids, count)
        facts["greedy"].append({"prompt": ids, "tokens": tokens, "gaps": gaps})


def encoder(model: nn.Module, arrays: dict, facts: dict, count: int) -> None:
    """Everything that one padded batch gives, and what its first row gives alone."""
    pad = model.config.pad_token_id or 0
    ids, mask = padded(facts["prompts"], pad=pad)
    inputs = {"input_ids": ids, "attn_mask": mask}
    segments = getattr(model.config, "type_vocab_size", 1)
    if segments > 1:
        inputs["token_type_ids"] = torch.arange(ids.shape[1])[None] % segments * mask
    arrays |= {f"input.{name}": value.numpy() for name, value in inputs.items()}
    asked = {
        "attention_mask" if name == "attn_mask" else name: x
        for name, x in inputs.items()
    }
    out = model(**asked)
    alone = model(input_ids=ids[:1])
    for name in ("logits", "last_hidden_state", "pooler_output"):
        if out.get(name) is not None:
            arrays[f"output.{name}"] = out[name].numpy()
            arrays[f"alone.{name}"] = alone[name].numpy()


def seq2seq(model: nn.Module, arrays: dict, facts: dict, count: int) -> None:
    """Greedy tokens for each source alone, and the logits of all of them for a padded batch of sources."""
    facts["greedy"] = []
    taken = []
    for source in facts["prompts"]:
        tokens, gaps = [model.config.decoder_start_token_id], []
        for _ in range(count):
            out = model(input_ids=rows(source), decoder_input_ids=rows(tokens))
            best = torch.topk(out.logits[0, -1], 2)
            tokens.append(int(best.indices[0]))
            gaps.append(float(best.values[0] - best.values[1]))
        taken.append(tokens[:-1])
        facts["greedy"].append({"prompt": source, "tokens": tokens[1:], "gaps": gaps})
    ids, mask = padded(facts["prompts"])
    decoded = torch.tensor(taken)
    out = model(input_ids=ids, attention_mask=mask, decoder_input_ids=decoded)
    arrays["input.input_ids"], arrays["input.attention_mask"] = (
        ids.numpy(),
        mask.numpy(),
    )
    arrays["input.decoder_input_ids"] = decoded.numpy()
    arrays["output.logits"] = out.logits.numpy()


KINDS = {"causal": causal, "encoder": encoder, "seq2seq": seq2seq}


def ask(model: nn.Module, questions: list[list[int]], count: int = TOKENS) -> Answers:
    """Everything that targets are compared with."""
    arrays: dict[str, np.ndarray] = {}
    kind = kind_of(model)
    facts = {
        "kind": kind,
        "class": type(model).__name__,
        "attention": model.config._attn_implementation,
        "dtype": str(model.dtype).removeprefix("torch."),
        "prompts": questions,
        "windows": windows_of(model),
        "independent": rows_are_independent(model),
    }
    with torch.inference_mode():
        KINDS[kind](model, arrays, facts, count)
    arrays = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    return Answers(arrays, facts)
