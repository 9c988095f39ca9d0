"""entangled as a PyTorch module, written by axon 0.

Made again by: axon compile entangled
Hash of the program and its configuration: c5e7e41064e5ae07
"""

import json
from pathlib import Path
from typing import TypeVar

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn


AnyModule = TypeVar("AnyModule", bound=nn.Module)


# Endings of names in old checkpoints.
OLD_ENDINGS = {
    ".LayerNorm.gamma": ".LayerNorm.weight",
    ".LayerNorm.beta": ".LayerNorm.bias",
}


def present_name(name: str) -> str:
    """The name under which a stored tensor is read."""
    for old, new in OLD_ENDINGS.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def weight_files(directory: Path) -> list[Path]:
    """The files that the index names, or the one file."""
    index = directory / "model.safetensors.index.json"
    if not index.exists():
        return [directory / "model.safetensors"]
    names = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    return [directory / name for name in sorted(set(names))]


def load_weights(
    kind: type[AnyModule],
    directory: str | Path,
    dtype: torch.dtype,
    device: str | torch.device,
) -> AnyModule:
    """A model of class `kind` with the directory's weights, each under its stored name."""
    with torch.device("meta"):
        model = kind()
    wanted = model.state_dict().keys()
    weights: dict[str, Tensor] = {}
    unread: list[str] = []
    for file in weight_files(Path(directory)):
        for stored, tensor in load_file(file).items():
            name = stored if stored in wanted else present_name(stored)
            if name in wanted:
                weights[name] = tensor.to(device=device, dtype=dtype)
            else:
                unread.append(stored)
    model.load_state_dict(weights, strict=True, assign=True)
    setattr(model, "unread", sorted(unread))
    return model.eval()


class Pair(nn.Module):
    """`pair`."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(12, 12)
        self.second = nn.Linear(12, 12)


class Entangled(nn.Module):
    """The program `entangled` (entangled.axon:19)."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(31, 12)
        self.pair = Pair()
        self.between = nn.Linear(12, 12, bias=False)
        self.head = nn.Linear(12, 31, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B, S] -> logits [B, S, VOCAB]."""
        first = self.pair.first(self.words(input_ids))
        return self.head(self.pair.second(self.between(F.silu(first))) + first)

    @classmethod
    def from_pretrained(
        cls,
        directory: str | Path,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> "Entangled":
        """The model with the weights of a directory's safetensors files.

        Tensors that the program does not read are dropped and listed in `unread`.
        """
        return load_weights(cls, directory, dtype, device)
