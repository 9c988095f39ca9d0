"""Parameters from the safetensors files of a checkpoint directory."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike
from safetensors import safe_open

from .leaf_name import leaf_name
from .params import Params, Stored

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


def load_params(
    shapes: Params, directory: str | Path, dtype: DTypeLike
) -> tuple[Params, list[str]]:
    """The tree with the directory's weights, and the names of tensors that it does not read."""
    paths, tree = jax.tree_util.tree_flatten_with_path(
        shapes, is_leaf=lambda node: isinstance(node, Stored)
    )
    wanted: dict[str, Stored] = {leaf_name(path): leaf for path, leaf in paths}
    found: dict[str, Array] = {}
    unread: list[str] = []
    for file in weight_files(Path(directory)):
        with safe_open(file, "numpy") as tensors:
            for stored in tensors.keys():
                name = stored if stored in wanted else present_name(stored)
                if name not in wanted:
                    unread.append(stored)
                    continue
                shape, turned = wanted[name]
                tensor = tensors.get_tensor(stored)
                tensor = tensor.T if turned else tensor
                if tensor.shape != shape:
                    raise ValueError(f"{stored}: {tensor.shape}, expected {shape}")
                found[name] = jnp.asarray(tensor, dtype)
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        raise ValueError(f"not in {directory}: {', '.join(missing)}")
    return jax.tree.unflatten(tree, [found[name] for name in wanted]), sorted(unread)
