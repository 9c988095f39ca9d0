"""Weights from the safetensors files of a checkpoint directory."""

import json
from pathlib import Path
from typing import TypeVar

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


def weight_files(directory: Path) -> list[Path]:
    """The files that the index names, or the one file."""
    index = directory / "model.safetensors.index.json"
    if not index.exists():
        return [directory / "model.safetensors"]
    names = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    return [directory / name for name in sorted(set(names))]


def load_weights(
    kind: type[Model],
    directory: str | Path,
    dtype: torch.dtype,
    device: str | torch.device,
) -> Model:
    """A model of class `kind` with the directory's weights, each under its stored name."""
    with torch.device("meta"):
        model = kind()
    wanted = model.state_dict().keys()
    weights: dict[str, Tensor] = {}
    unread: list[str] = []
    for file in weight_files(Path(directory)):
        for name, tensor in load_file(file).items():
            if name in wanted:
                weights[name] = tensor.to(device=device, dtype=dtype)
            else:
                unread.append(name)
    model.load_state_dict(weights, strict=True, assign=True)
    setattr(model, "unread", sorted(unread))
    return model.eval()
