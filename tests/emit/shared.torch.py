"""shared as a PyTorch module, written by axon 0.

Made again by: axon compile shared
Hash of the program and its configuration: d7911ad0bb7fb308
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


class Embeddings(nn.Module):
    """`embeddings`."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(31, 12)


class Layer(nn.Module):
    """`encoder.layer` (shared.axon:19)."""

    def __init__(self) -> None:
        super().__init__()
        self.ffn = nn.Linear(12, 20)
        self.ffn_output = nn.Linear(20, 12)
        self.norm = nn.LayerNorm(12, eps=1e-05)

    def forward(self, x: Tensor) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        for _ in range(4):
            x = self.norm(x + self.ffn_output(F.gelu(self.ffn(x))))
        return x


class Encoder(nn.Module):
    """`encoder`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = Layer()


class Shared(nn.Module):
    """The program `shared`."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = Encoder()

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B, S] -> logits [B, S, VOCAB]."""
        return F.linear(
            self.encoder.layer(self.embeddings.word_embeddings(input_ids)),
            self.embeddings.word_embeddings.weight,
        )

    @classmethod
    def from_pretrained(
        cls,
        directory: str | Path,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> "Shared":
        """The model with the weights of a directory's safetensors files.

        Tensors that the program does not read are dropped and listed in `unread`.
        """
        return load_weights(cls, directory, dtype, device)
