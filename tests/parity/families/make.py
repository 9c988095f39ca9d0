"""Writes the tiny random checkpoints of the families, one folder for each variant."""

import math
import pathlib

import torch
import transformers
from cases import Family
from make_tiny import is_conv1d, respelled, save


def is_gain(name: str) -> bool:
    """Whether a vector multiplies what a norm gives."""
    owner = name.rpartition(".")[0].rpartition(".")[2].lower()
    return name.endswith("weight") and ("norm" in owner or owner.startswith("ln_"))


def randomise(model: torch.nn.Module, family: Family, seed: int) -> None:
    """Random values for everything: no bias, gain or table hides at zero or one."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=draw)
            if weight.dim() >= 2:
                fan_in = weight.shape[0] if is_conv1d(model, name) else weight.shape[-1]
                size = 1.0 if "embed" in name else 1.3
                size *= family.queries if name.endswith("Attention.q.weight") else 1.0
                weight.copy_(noise * size / math.sqrt(fan_in))
            else:
                weight.copy_((family.gain if is_gain(name) else 0.0) + 0.3 * noise)
    model.eval()


def make_variant(family: Family, number: int, name: str, folder: pathlib.Path) -> None:
    """One checkpoint of a family."""
    config = getattr(transformers, family.config)(**family.settings(name))
    model = getattr(transformers, family.model_of(name))(config)
    randomise(model, family, 1000 + number)
    save(model, folder)


def make_spelling(
    family: Family, name: str, source: pathlib.Path, folder: pathlib.Path
) -> None:
    """The same checkpoint under other names."""
    spelling = family.spellings[name]
    respelled(source, folder, rename=spelling.rename, edit=spelling.edit)
