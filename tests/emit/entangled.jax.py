"""entangled as JAX functions, written by axon 0.

Made again by: axon compile entangled
Hash of the program and its configuration: c5e7e41064e5ae07
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import PartitionSpec
from jax.tree_util import KeyPath, keystr
from jax.typing import DTypeLike
from safetensors import safe_open


def embed(ids: Array, weight: Array) -> Array:
    """Rows of the table: [...] -> [..., width]."""
    return weight[ids]


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """x @ weight + bias: [..., in] -> [..., out]."""
    # Of half precision XLA's fast products on processors give float32, of two rows or more.
    alone = x.dtype != jnp.float32 and x.size == x.shape[-1] and x.ndim > 1
    rows = jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, 1), (0, 0)]) if alone else x
    wide = jnp.matmul(rows, weight, preferred_element_type=jnp.float32)
    y = wide[..., :1, :] if alone else wide
    return (y if bias is None else y + bias).astype(jnp.result_type(x, weight))


def leaf_name(path: KeyPath) -> str:
    """The name in the checkpoint: `model.layers.0.mlp.up_proj.weight`."""
    return keystr(path, simple=True, separator=".")


Params = dict[str, Any]


class Stored(NamedTuple):
    """A parameter's shape here; in the checkpoint, `turned` ones have their axes reversed."""

    shape: tuple[int, ...]
    turned: bool = False


def dense(
    inputs: int, outputs: int, bias: bool = True, turned: bool = True
) -> dict[str, Stored]:
    """A linear layer: its weight is [in, out] here and mostly stored [out, in]."""
    weight = {"weight": Stored((inputs, outputs), turned)}
    return weight | {"bias": Stored((outputs,))} if bias else weight


def scale(size: int, bias: bool = False) -> dict[str, Stored]:
    """A normalisation's weight, and its bias where it has one."""
    weight = {"weight": Stored((size,))}
    return weight | {"bias": Stored((size,))} if bias else weight


def table(rows: int, width: int) -> dict[str, Stored]:
    """Vectors that are looked up by number."""
    return {"weight": Stored((rows, width))}


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


def partition_specs(tree: Params, rules: Sequence[tuple[str, PartitionSpec]]) -> Params:
    """The tree with a partition spec for each parameter.

    The first rule whose pattern matches the whole name decides; what no rule names is replicated.
    """

    def spec(path: KeyPath, _: object) -> PartitionSpec:
        name = leaf_name(path)
        found = (spec for pattern, spec in rules if re.fullmatch(pattern, name))
        return next(found, PartitionSpec())

    return jax.tree_util.tree_map_with_path(spec, tree)


def shapes() -> Params:
    """The shapes of all parameters."""
    return {
        "words": table(31, 12),
        "pair": {"first": dense(12, 12), "second": dense(12, 12)},
        "between": dense(12, 12, bias=False),
        "head": dense(12, 31, bias=False),
    }


def forward(params: Params, input_ids: Array) -> Array:
    """The program `entangled` (entangled.axon:19).

    input_ids [B, S] -> logits [B, S, VOCAB].

    Ids and positions outside of a table read another row of it.
    """
    first = linear(embed(input_ids, **params["words"]), **params["pair"]["first"])
    second = linear(
        linear(jax.nn.silu(first), **params["between"]), **params["pair"]["second"]
    )
    return linear(second + first, **params["head"])


def load(
    directory: str | Path, dtype: DTypeLike = jnp.float32
) -> tuple[Params, list[str]]:
    """The parameters from a directory's safetensors files, and the names of tensors there
    that the program does not read.
    """
    return load_params(shapes(), directory, dtype)
