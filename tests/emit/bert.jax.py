"""bert_mlm as JAX functions, written by axon 0.

Made again by: axon compile bert
Hash of the program and its configuration: 97b9ed77df27a069
"""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.sharding import PartitionSpec
from jax.tree_util import KeyPath, keystr
from jax.typing import DTypeLike
from safetensors import safe_open


def embed(ids: Array, weight: Array) -> Array:
    """Rows of the table: [...] -> [..., width]."""
    return weight[ids]


def layer_norm(
    x: Array, weight: Array, bias: Array | None = None, eps: float = 1e-5
) -> Array:
    """Gives the last axis mean zero and variance one, in float32 within."""
    wide = x.astype(jnp.float32)
    # Held apart: XLA would compute them again for every element that they scale.
    mean = lax.optimization_barrier(wide.mean(-1, keepdims=True))
    variance = jnp.square(wide - mean).mean(-1, keepdims=True)
    scale = lax.optimization_barrier(lax.rsqrt(variance + eps))
    y = (wide - mean) * scale * weight
    return (y if bias is None else y + bias).astype(jnp.result_type(x, weight))


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """x @ weight + bias: [..., in] -> [..., out]."""
    # Of half precision XLA's fast products on processors give float32, of two rows or more.
    alone = x.dtype != jnp.float32 and x.size == x.shape[-1] and x.ndim > 1
    rows = jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, 1), (0, 0)]) if alone else x
    wide = jnp.matmul(rows, weight, preferred_element_type=jnp.float32)
    y = wide[..., :1, :] if alone else wide
    return (y if bias is None else y + bias).astype(jnp.result_type(x, weight))


def attend(
    q: Array,
    k: Array,
    v: Array,
    keep: Array | None = None,
    bias: Array | None = None,
    scale: float | None = None,
    cap: float | None = None,
) -> Array:
    """softmax(q k' * scale + bias) v over the keys in `keep`: q [B, H, S, D] -> [B, H, S, D].

    k and v [B, G, T, D] may have fewer heads: neighbouring heads of q share one. `keep` is
    [B or 1, 1, S, T], `bias` [B or 1, H or 1, S, T]. Scores are float32, within -cap ... cap.
    """
    batch, heads, count, width = q.shape
    groups = k.shape[1]
    shared = q.reshape(batch, groups, -1, count, width)
    scores = jnp.einsum(
        "bghsd,bgtd->bghst", shared, k, preferred_element_type=jnp.float32
    )
    scores *= 1 / math.sqrt(width) if scale is None else scale
    if cap is not None:
        scores = jnp.tanh(scores / cap) * cap
    if bias is not None:
        parts = (groups, -1) if bias.shape[1] == heads else (1, 1)
        scores += bias.reshape(bias.shape[0], *parts, *bias.shape[2:])
    if keep is not None:
        scores = jnp.where(keep[:, :, None], scores, jnp.finfo(scores.dtype).min)
    weights = jnp.exp(scores - lax.stop_gradient(scores.max(-1, keepdims=True)))
    mixed = jnp.einsum(
        "bghst,bgtd->bghsd",
        weights.astype(v.dtype),
        v,
        preferred_element_type=jnp.float32,
    )
    mixed /= weights.sum(-1, keepdims=True)
    return mixed.reshape(batch, heads, count, -1).astype(v.dtype)


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


def embeddings_shapes() -> Params:
    """The shapes of `bert.embeddings`."""
    return {
        "word_embeddings": table(113, 60),
        "position_embeddings": table(96, 60),
        "token_type_embeddings": table(3, 60),
        "LayerNorm": scale(60, bias=True),
    }


def embeddings(params: Params, input_ids: Array, token_type_ids: Array) -> Array:
    """`bert.embeddings` (bert.axon:65).

    input_ids [B, S], token_type_ids [B, S] -> [B, S, HIDDEN].
    """
    B, S = input_ids.shape
    places = embed(
        jnp.broadcast_to(jnp.arange(S).reshape(1, S), (B, S)),
        **params["position_embeddings"],
    )
    kinds = embed(token_type_ids, **params["token_type_embeddings"])
    y = embed(input_ids, **params["word_embeddings"]) + kinds
    return layer_norm(y + places, **params["LayerNorm"], eps=1e-12)


def attention_self_shapes() -> Params:
    """The shapes of `bert.encoder.layer.{i}.attention.self`."""
    return {"query": dense(60, 60), "key": dense(60, 60), "value": dense(60, 60)}


def attention_self(params: Params, x: Array, keep: Array | None) -> Array:
    """`bert.encoder.layer.{i}.attention.self`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    B, S, _ = x.shape
    q = linear(x, **params["query"]).reshape(B, S, 5, 12).swapaxes(1, 2)
    v = linear(x, **params["value"]).reshape(B, S, 5, 12).swapaxes(1, 2)
    k = linear(x, **params["key"]).reshape(B, S, 5, 12).swapaxes(1, 2)
    return attend(q, k, v, keep).swapaxes(1, 2).reshape(B, S, 60)


def output_shapes() -> Params:
    """The shapes of `bert.encoder.layer.{i}.attention.output`."""
    return {"dense": dense(60, 60), "LayerNorm": scale(60, bias=True)}


def output(params: Params, x: Array, x_2: Array) -> Array:
    """`bert.encoder.layer.{i}.attention.output` (bert.axon:45).

    x [B, S, HIDDEN], x_2 [B, S, HIDDEN] -> [B, S, HIDDEN].
    """
    return layer_norm(
        linear(x, **params["dense"]) + x_2, **params["LayerNorm"], eps=1e-12
    )


def attention_shapes() -> Params:
    """The shapes of `bert.encoder.layer.{i}.attention`."""
    return {"self": attention_self_shapes(), "output": output_shapes()}


def attention(params: Params, x: Array, keep: Array | None) -> Array:
    """`bert.encoder.layer.{i}.attention`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    return output(params["output"], attention_self(params["self"], x, keep), x)


def layer_output_shapes() -> Params:
    """The shapes of `bert.encoder.layer.{i}.output`."""
    return {"dense": dense(76, 60), "LayerNorm": scale(60, bias=True)}


def layer_output(params: Params, inner: Array, x: Array) -> Array:
    """`bert.encoder.layer.{i}.output` (bert.axon:45).

    inner [B, S, INNER], x [B, S, HIDDEN] -> [B, S, HIDDEN].
    """
    return layer_norm(
        linear(inner, **params["dense"]) + x, **params["LayerNorm"], eps=1e-12
    )


def layer_shapes() -> Params:
    """The shapes of `bert.encoder.layer.{i}`."""
    return {
        "attention": attention_shapes(),
        "intermediate": {"dense": dense(60, 76)},
        "output": layer_output_shapes(),
    }


def layer(params: Params, x: Array, keep: Array | None) -> Array:
    """`bert.encoder.layer.{i}`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    x = attention(params["attention"], x, keep)
    inner = jax.nn.gelu(linear(x, **params["intermediate"]["dense"]))
    return layer_output(params["output"], inner, x)


def encoder_shapes() -> Params:
    """The shapes of `bert.encoder`."""
    return {"layer": [layer_shapes() for _ in range(3)]}


def encoder(params: Params, x: Array, keep: Array | None) -> Array:
    """`bert.encoder`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    for layer_params in params["layer"]:
        x = layer(layer_params, x, keep)
    return x


def bert_shapes() -> Params:
    """The shapes of `bert`."""
    return {"embeddings": embeddings_shapes(), "encoder": encoder_shapes()}


def bert(
    params: Params, input_ids: Array, token_type_ids: Array, keep: Array | None
) -> Array:
    """`bert`: input_ids [B, S], token_type_ids [B, S] -> [B, S, HIDDEN]."""
    x = embeddings(params["embeddings"], input_ids, token_type_ids)
    return encoder(params["encoder"], x, keep)


def transform_shapes() -> Params:
    """The shapes of `cls.predictions.transform`."""
    return {"dense": dense(60, 60), "LayerNorm": scale(60, bias=True)}


def transform(params: Params, x: Array) -> Array:
    """`cls.predictions.transform`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    return layer_norm(
        jax.nn.gelu(linear(x, **params["dense"])), **params["LayerNorm"], eps=1e-12
    )


def shapes() -> Params:
    """The shapes of all parameters."""
    return {
        "bert": bert_shapes(),
        "cls": {
            "predictions": {"transform": transform_shapes(), "bias": Stored((113,))},
        },
    }


def forward(
    params: Params,
    input_ids: Array,
    attn_mask: Array | None = None,
    token_type_ids: Array | None = None,
) -> Array:
    """The program `bert_mlm`.

    input_ids [B, S], attn_mask [B, S],
    token_type_ids [B, S] -> logits [B, S, VOCAB].

    Ids and positions outside of a table read another row of it.
    """
    if attn_mask is not None:
        attn_mask = attn_mask.astype(bool)
    keep = None if attn_mask is None else attn_mask[:, None, None, :]
    if token_type_ids is None:
        token_type_ids = jnp.zeros_like(input_ids)
    x = transform(
        params["cls"]["predictions"]["transform"],
        bert(params["bert"], input_ids, token_type_ids, keep),
    )
    return (
        x @ params["bert"]["embeddings"]["word_embeddings"]["weight"].T
        + params["cls"]["predictions"]["bias"]
    )


def load(
    directory: str | Path, dtype: DTypeLike = jnp.float32
) -> tuple[Params, list[str]]:
    """The parameters from a directory's safetensors files, and the names of tensors there
    that the program does not read.
    """
    return load_params(shapes(), directory, dtype)
