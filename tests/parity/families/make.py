"""Writes the tiny random checkpoints of the families, one folder for each variant."""

import math
import pathlib

import torch
import transformers
from cases import FAMILIES, Family
from make_tiny import is_conv1d, save


def is_gain(name: str) -> bool:
    """Whether a vector multiplies what a norm gives."""
    owner = name.rpartition(".")[0].rpartition(".")[2].lower()
    return name.endswith("weight") and ("norm" in owner or owner.startswith("ln_"))


def randomise(model: torch.nn.Module, gain: float, seed: int) -> None:
    """Random values for everything: no bias, gain or table hides at zero or one."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=draw)
            if weight.dim() >= 2:
                fan_in = weight.shape[0] if is_conv1d(model, name) else weight.shape[-1]
                size = 1.0 if "embed" in name else 1.3
                weight.copy_(noise * size / math.sqrt(fan_in))
            else:
                weight.copy_((gain if is_gain(name) else 0.0) + 0.3 * noise)
    model.eval()


def make_variant(family: Family, number: int, name: str, folder: pathlib.Path) -> None:
    """One checkpoint of a family."""
    settings = {**family.base, **family.variants[name]}
    config = getattr(transformers, family.config)(**settings)
    model = getattr(transformers, family.model)(config)
    randomise(model, family.gain, 1000 + 10 * FAMILIES.index(family) + number)
    save(model, folder)


def make(out: pathlib.Path) -> None:
    """All checkpoints below `out`."""
    for family in FAMILIES:
        for number, name in enumerate(family.variants):
            make_variant(family, number, name, out / f"{family.name}-{name}")
