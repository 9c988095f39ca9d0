"""t5 as JAX functions, written by axon 0.

Made again by: axon compile t5
Hash of the program and its configuration: eb3379a6f2deef53
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.sharding import PartitionSpec
from jax.tree_util import KeyPath, keystr, register_dataclass
from jax.typing import DTypeLike
from safetensors import safe_open


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


def rms_norm(x: Array, weight: Array | float = 1.0, eps: float = 1e-6) -> Array:
    """Scales the last axis to a mean square of one, in float32 within."""
    wide = x.astype(jnp.float32)
    scale = lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + eps)
    return (wide * scale).astype(x.dtype) * weight


def embed(ids: Array, weight: Array) -> Array:
    """Rows of the table: [...] -> [..., width]."""
    return weight[ids]


def biased(bias: Array, keep: Array | None) -> Array:
    """The bias, and the least number where a key is not seen."""
    return bias if keep is None else jnp.where(keep, bias, jnp.finfo(bias.dtype).min)


def causal_keep(slots: Array, count: int, real: Array | None) -> Array:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    keep = slots[:, None] >= jnp.arange(count)
    return keep[None, None] if real is None else keep & real[:, None, None, :]


def newest(x: Array, last: int | None) -> Array:
    """The last positions of `x` [B, S, ...], as many as asked for; all where it is None."""
    if last is None:
        return x
    if last < 1:
        raise ValueError(f"last is {last}, needs 1 or more")
    return x[:, -last:]


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


@register_dataclass
@dataclass(frozen=True)
class Store:
    """The tensors of one layer, each [B, H, capacity, D]."""

    tensors: tuple[Array, ...]
    empty: bool = field(default=True, metadata={"static": True})

    @classmethod
    def create(cls, dtype: DTypeLike, *shapes: tuple[int, ...]) -> "Store":
        """Zeros of the given shapes."""
        return cls(tuple(jnp.zeros(shape, dtype) for shape in shapes))

    def update(self, slots: Array, *new: Array) -> tuple["Store", tuple[Array, ...]]:
        """The store with the new positions, and all that later positions see."""
        tensors = tuple(
            lax.dynamic_update_slice_in_dim(store, x.astype(store.dtype), slots[0], 2)
            for store, x in zip(self.tensors, new)
        )
        return Store(tensors, empty=False), new if self.empty else tensors


@register_dataclass
@dataclass(frozen=True)
class Cache:
    """The stores of all layers and how many positions are written.

    `layers` is a list of stores, or one store whose tensors have a leading axis of layers. Whether
    it is empty is part of the structure: `jit` compiles once for either case.
    """

    layers: Any
    length: Array
    empty: bool = field(default=True, metadata={"static": True})

    def advance(self, layers: Any, count: int) -> "Cache":
        """The cache after a call that has written `count` positions."""
        return Cache(layers, self.length + count, empty=False)

    @property
    def capacity(self) -> int:
        """How many positions there is room for."""
        return jax.tree.leaves(self.layers)[0].shape[-2]


def call_span(past: Cache | None, ids: Array) -> tuple[Array, int]:
    """The positions that a call on `ids` [B, S] writes, [S], and the number of keys it sees.

    A call that starts a cache sees its own positions only; later ones see the whole stores. Inside
    `jit` nobody sees that a later one has no room: it would overwrite the last positions.
    """
    count = ids.shape[1]
    slots = jnp.arange(count)
    if past is not None:
        begin = (
            0
            if past.empty or isinstance(past.length, jax.core.Tracer)
            else int(past.length)
        )
        if begin + count > past.capacity:
            raise ValueError(
                f"{begin + count} positions, the cache has room for {past.capacity}"
            )
    if past is None or past.empty:
        return slots, count
    return slots + past.length, past.capacity


def fit_mask(mask: Array, count: int) -> Array:
    """A padding mask as booleans, [B, count]; positions that it does not name are real."""
    mask = mask[:, :count].astype(bool)
    rest = ((0, 0), (0, count - mask.shape[1]))
    return jnp.pad(mask, rest, constant_values=True)


# Logits [B, V] behind the last of some ids [B, S], and the cache with them.
Model = Callable[[Params, Array, Array | None, Cache], tuple[Array, Cache]]


class Sampling(NamedTuple):
    """How the next token is drawn from logits."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def pick(self, logits: Array, key: Array) -> Array:
        """The likeliest token of each row, or one drawn: [B, V] -> [B]."""
        if self.temperature <= 0:
            return logits.argmax(-1)
        logits = logits.astype(jnp.float32) / self.temperature
        if self.top_k > 0:
            least = lax.top_k(logits, min(self.top_k, logits.shape[-1]))[0][:, -1:]
            logits = jnp.where(logits < least, -jnp.inf, logits)
        if self.top_p < 1.0:
            ranked = jnp.sort(logits, axis=-1, descending=True)
            weights = jax.nn.softmax(ranked, axis=-1)
            within = weights.cumsum(-1) - weights <= self.top_p
            least = jnp.where(within, ranked, jnp.inf).min(-1, keepdims=True)
            logits = jnp.where(logits < least, -jnp.inf, logits)
        return jax.random.categorical(key, logits)


class State(NamedTuple):
    """What goes from token to token; `tokens` [B, capacity] is filled up to `length`."""

    tokens: Array
    length: Array
    running: Array
    cache: Cache
    key: Array

    def append(
        self, logits: Array, cache: Cache, ends: Array, pad: Array, sampling: Sampling
    ) -> "State":
        """Picks each row's next token; ended rows get the padding token."""
        key, now = jax.random.split(self.key)
        token = jnp.where(self.running, sampling.pick(logits, now), pad)
        tokens = self.tokens.at[:, self.length].set(token)
        running = self.running & ~jnp.isin(token, ends)
        return State(tokens, self.length + 1, running, cache, key)


@partial(jax.jit, static_argnames=("model", "sampling"), donate_argnames="cache")
def read_prompt(
    model: Model,
    params: Params,
    ids: Array,
    mask: Array | None,
    cache: Cache,
    ends: Array,
    pad: Array,
    key: Array,
    sampling: Sampling,
) -> State:
    """Runs the prompt and appends the first token: compiled once per prompt length."""
    rows, prompt = ids.shape
    tokens = jnp.full((rows, cache.capacity), pad).at[:, :prompt].set(ids)
    state = State(tokens, jnp.array(prompt), jnp.ones(rows, bool), cache, key)
    logits, cache = model(params, ids, mask, cache)
    return state.append(logits, cache, ends, pad, sampling)


@partial(jax.jit, static_argnames=("model", "sampling"), donate_argnames="state")
def append_tokens(
    model: Model,
    params: Params,
    mask: Array | None,
    state: State,
    ends: Array,
    pad: Array,
    sampling: Sampling,
) -> State:
    """Appends tokens while there is room and until all rows have ended: compiled once."""

    def goes_on(state: State) -> Array:
        return (state.length < state.tokens.shape[1]) & state.running.any()

    def step(state: State) -> State:
        ids = lax.dynamic_slice_in_dim(state.tokens, state.length - 1, 1, axis=1)
        logits, cache = model(params, ids, mask, state.cache)
        return state.append(logits, cache, ends, pad, sampling)

    return lax.while_loop(goes_on, step, state)


def generate_tokens(
    model: Model,
    params: Params,
    ids: Array,
    cache: Cache,
    ends: int | Sequence[int] | None,
    pad: int | None,
    key: Array | None,
    sampling: Sampling,
    mask: Array | None = None,
) -> Array:
    """Appends tokens to `ids` [B, S] up to the cache's capacity; ended rows get the padding token."""
    rows, prompt = ids.shape
    if ids.size == 0:
        raise ValueError(f"the prompt is {rows}x{prompt}, needs a row and a token")
    if mask is not None and mask.shape != ids.shape:
        raise ValueError(f"the mask is {mask.shape}, the prompt {rows}x{prompt}")
    if not 0 <= sampling.top_p <= 1:
        raise ValueError(f"top_p is {sampling.top_p}, needs 0 to 1")
    stops = jnp.array(() if ends is None else ends, ids.dtype).ravel()
    if pad is None:
        pad = int(stops[0]) if len(stops) else 0
    key = jax.random.key(0) if key is None else key
    whole = None if mask is None else fit_mask(mask, cache.capacity)
    padding = jnp.array(pad, ids.dtype)
    state = read_prompt(model, params, ids, mask, cache, stops, padding, key, sampling)
    state = append_tokens(model, params, whole, state, stops, padding, sampling)
    return state.tokens[:, : int(state.length)]


class T5Encoded(NamedTuple):
    """What all calls on the same source share."""

    keep: Array | None
    all_k: list[Array]
    all_v: list[Array]


class T5Output(NamedTuple):
    """What a call gives."""

    logits: Array
    new_kv: Any


def self_attention_shapes(has_relative_attention_bias: bool) -> Params:
    """The shapes of `encoder.block.{i}.layer.0.SelfAttention`."""
    tree: Params = {
        "k": dense(60, 56, bias=False),
        "v": dense(60, 56, bias=False),
        "q": dense(60, 56, bias=False),
        "o": dense(56, 60, bias=False),
    }
    if has_relative_attention_bias:
        tree["relative_attention_bias"] = table(12, 4)
    return tree


def self_attention(params: Params, y: Array, bias: Array) -> Array:
    """`encoder.block.{i}.layer.0.SelfAttention`.

    y [B, S, HIDDEN], bias [B, HEADS, S, S] -> [B, S, HIDDEN].
    """
    B, S, _ = y.shape
    q = linear(y, **params["q"]).reshape(B, S, 4, 14).swapaxes(1, 2)
    k = linear(y, **params["k"]).reshape(B, S, 4, 14).swapaxes(1, 2)
    v = linear(y, **params["v"]).reshape(B, S, 4, 14).swapaxes(1, 2)
    return linear(
        attend(q, k, v, bias=bias, scale=1.0).swapaxes(1, 2).reshape(B, S, 56),
        **params["o"],
    )


def layer_0_shapes(has_relative_attention_bias: bool) -> Params:
    """The shapes of `encoder.block.{i}.layer.0`."""
    return {
        "layer_norm": scale(60),
        "SelfAttention": self_attention_shapes(has_relative_attention_bias),
    }


def layer_0(params: Params, x: Array, bias: Array) -> Array:
    """`encoder.block.{i}.layer.0`.

    x [B, S, HIDDEN], bias [B, HEADS, S, S] -> [B, S, HIDDEN].
    """
    return self_attention(
        params["SelfAttention"], rms_norm(x, **params["layer_norm"], eps=1e-06), bias
    )


def dense_relu_dense_shapes() -> Params:
    """The shapes of `encoder.block.{i}.layer.1.DenseReluDense`."""
    return {"wi": dense(60, 76, bias=False), "wo": dense(76, 60, bias=False)}


def dense_relu_dense(params: Params, x: Array) -> Array:
    """`encoder.block.{i}.layer.1.DenseReluDense`.

    x [B, S, HIDDEN] -> [B, S, HIDDEN].
    """
    return linear(jax.nn.relu(linear(x, **params["wi"])), **params["wo"])


def layer_1_shapes() -> Params:
    """The shapes of `encoder.block.{i}.layer.1`."""
    return {"layer_norm": scale(60), "DenseReluDense": dense_relu_dense_shapes()}


def layer_1(params: Params, x: Array) -> Array:
    """`encoder.block.{i}.layer.1`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    return dense_relu_dense(
        params["DenseReluDense"], rms_norm(x, **params["layer_norm"], eps=1e-06)
    )


def block_shapes(has_relative_attention_bias: bool) -> Params:
    """The shapes of `encoder.block.{i}`."""
    return {"layer": [layer_0_shapes(has_relative_attention_bias), layer_1_shapes()]}


def block(params: Params, x: Array, bias: Array) -> Array:
    """`encoder.block.{i}` (t5.axon:96).

    x [B, S, HIDDEN], bias [B, HEADS, S, S] -> [B, S, HIDDEN].
    """
    x = x + layer_0(params["layer"][0], x, bias)
    return x + layer_1(params["layer"][1], x)


def encoder_shapes() -> Params:
    """The shapes of `encoder`."""
    return {
        "block": [block_shapes(has_relative_attention_bias=i == 0) for i in range(3)],
        "final_layer_norm": scale(60),
    }


def encoder(params: Params, keep: Array | None, x: Array) -> Array:
    """`encoder`: x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    S = x.shape[1]
    x_2 = jnp.arange(S)
    distance = x_2.reshape(1, S) - x_2.reshape(S, 1)
    away = jnp.where(distance >= 0, distance, -distance)
    share = jnp.log(jnp.clip(away, min=3).astype(jnp.float32) / 3) / math.log(20 / 3)
    x_2 = jnp.clip(jnp.floor(share * 3).astype(int) + 3, max=5)
    bucket = jnp.where(away >= 3, x_2, away)
    rows = embed(
        bucket + (distance >= 1).astype(int) * 6,
        **params["block"][0]["layer"][0]["SelfAttention"]["relative_attention_bias"],
    )
    bias = biased(jnp.expand_dims(rows.transpose(2, 0, 1), 0), keep)
    for block_params in params["block"]:
        x = block(block_params, x, bias)
    return rms_norm(x, **params["final_layer_norm"], eps=1e-06)


def decoder_self_attention(
    params: Params, y: Array, bias: Array, slots: Array, past: Store | None
) -> tuple[Array, Store | None]:
    """`decoder.block.{i}.layer.0.SelfAttention`.

    y [B, T, HIDDEN], bias [B, HEADS, T, C] -> [B, T, HIDDEN].
    """
    B, T, _ = y.shape
    k = linear(y, **params["k"]).reshape(B, T, 4, 14).swapaxes(1, 2)
    v = linear(y, **params["v"]).reshape(B, T, 4, 14).swapaxes(1, 2)
    if past is not None:
        past, (k, v) = past.update(slots, k, v)
    q = linear(y, **params["q"]).reshape(B, T, 4, 14).swapaxes(1, 2)
    y = linear(
        attend(q, k, v, bias=bias, scale=1.0).swapaxes(1, 2).reshape(B, T, 56),
        **params["o"],
    )
    return y, past


def decoder_layer_0(
    params: Params, x: Array, bias: Array, slots: Array, past: Store | None
) -> tuple[Array, Store | None]:
    """`decoder.block.{i}.layer.0`.

    x [B, T, HIDDEN], bias [B, HEADS, T, C] -> [B, T, HIDDEN].
    """
    return decoder_self_attention(
        params["SelfAttention"],
        rms_norm(x, **params["layer_norm"], eps=1e-06),
        bias,
        slots,
        past,
    )


def enc_dec_attention_shapes() -> Params:
    """The shapes of `decoder.block.{i}.layer.1.EncDecAttention`."""
    return {
        "k": dense(60, 56, bias=False),
        "v": dense(60, 56, bias=False),
        "q": dense(60, 56, bias=False),
        "o": dense(56, 60, bias=False),
    }


def encode_enc_dec_attention(params: Params, seen: Array) -> tuple[Array, Array]:
    """seen [B, S, HIDDEN] -> [B, HEADS, S, HEAD_DIM], [B, HEADS, S, HEAD_DIM]."""
    B, S, _ = seen.shape
    return (
        linear(seen, **params["k"]).reshape(B, S, 4, 14).swapaxes(1, 2),
        linear(seen, **params["v"]).reshape(B, S, 4, 14).swapaxes(1, 2),
    )


def enc_dec_attention(
    params: Params, x: Array, keep: Array | None, k: Array, v: Array
) -> Array:
    """`decoder.block.{i}.layer.1.EncDecAttention`.

    x [B, T, HIDDEN], k [B, HEADS, S, HEAD_DIM],
    v [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
    """
    B, T, _ = x.shape
    q = linear(x, **params["q"]).reshape(B, T, 4, 14).swapaxes(1, 2)
    return linear(
        attend(q, k, v, keep, scale=1.0).swapaxes(1, 2).reshape(B, T, 56), **params["o"]
    )


def decoder_layer_1_shapes() -> Params:
    """The shapes of `decoder.block.{i}.layer.1`."""
    return {"EncDecAttention": enc_dec_attention_shapes(), "layer_norm": scale(60)}


def decoder_layer_1(
    params: Params, x: Array, keep: Array | None, k: Array, v: Array
) -> Array:
    """`decoder.block.{i}.layer.1`.

    x [B, T, HIDDEN], k [B, HEADS, S, HEAD_DIM],
    v [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
    """
    x = rms_norm(x, **params["layer_norm"], eps=1e-06)
    return enc_dec_attention(params["EncDecAttention"], x, keep, k, v)


def decoder_block_shapes(has_relative_attention_bias: bool) -> Params:
    """The shapes of `decoder.block.{i}`."""
    return {
        "layer": [
            layer_0_shapes(has_relative_attention_bias),
            decoder_layer_1_shapes(),
            layer_1_shapes(),
        ],
    }


def decoder_block(
    params: Params,
    x: Array,
    bias: Array,
    keep: Array | None,
    k: Array,
    v: Array,
    slots: Array,
    past: Store | None,
) -> tuple[Array, Store | None]:
    """`decoder.block.{i}` (t5.axon:107).

    x [B, T, HIDDEN], bias [B, HEADS, T, C], k [B, HEADS, S, HEAD_DIM],
    v [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
    """
    y, past = decoder_layer_0(params["layer"][0], x, bias, slots, past)
    x = x + y
    x = x + decoder_layer_1(params["layer"][1], x, keep, k, v)
    return x + layer_1(params["layer"][2], x), past


def decoder_shapes() -> Params:
    """The shapes of `decoder`."""
    return {
        "block": [
            decoder_block_shapes(has_relative_attention_bias=i == 0) for i in range(2)
        ],
        "final_layer_norm": scale(60),
    }


def encode_decoder(params: Params, seen: Array) -> tuple[list[Array], list[Array]]:
    """seen [B, S, HIDDEN] -> list of [B, HEADS, S, HEAD_DIM],
    list of [B, HEADS, S, HEAD_DIM].
    """
    all_k: list[Array] = []
    all_v: list[Array] = []
    for block_params in params["block"]:
        k, v = encode_enc_dec_attention(
            block_params["layer"][1]["EncDecAttention"], seen
        )
        all_k.append(k)
        all_v.append(v)
    return all_k, all_v


def decoder(
    params: Params,
    keep: Array,
    x: Array,
    keep_2: Array | None,
    all_k: list[Array],
    all_v: list[Array],
    slots: Array,
    stores: list[Store | None],
) -> tuple[Array, list[Store | None]]:
    """`decoder`.

    keep [B, 1, T, C], x [B, T, HIDDEN], all_k list of [B, HEADS, S, HEAD_DIM],
    all_v list of [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
    """
    _, _, T, C = keep.shape
    stores = list(stores)
    distance = jnp.clip(-(jnp.arange(C).reshape(1, C) - slots.reshape(T, 1)), min=0)
    share = jnp.log(jnp.clip(distance, min=6).astype(jnp.float32) / 6) / math.log(
        10 / 3
    )
    x_2 = jnp.clip(jnp.floor(share * 6).astype(int) + 6, max=11)
    rows = embed(
        jnp.where(distance >= 6, x_2, distance),
        **params["block"][0]["layer"][0]["SelfAttention"]["relative_attention_bias"],
    )
    bias = biased(jnp.expand_dims(rows.transpose(2, 0, 1), 0), keep)
    for i, (block_params, k, v) in enumerate(zip(params["block"], all_k, all_v)):
        x, stores[i] = decoder_block(
            block_params, x, bias, keep_2, k, v, slots, stores[i]
        )
    return rms_norm(x, **params["final_layer_norm"], eps=1e-06), stores


def shapes() -> Params:
    """The shapes of all parameters."""
    return {
        "shared": table(113, 60),
        "encoder": encoder_shapes(),
        "decoder": decoder_shapes(),
    }


def encode(
    params: Params, input_ids: Array, attention_mask: Array | None = None
) -> T5Encoded:
    """input_ids [B, S], attention_mask [B, S] -> [B, 1, S, S],
    list of [B, HEADS, S, HEAD_DIM], list of [B, HEADS, S, HEAD_DIM].
    """
    x = None if attention_mask is None else attention_mask.astype(bool)
    keep = None if x is None else x[:, None, None, :]
    all_k, all_v = encode_decoder(
        params["decoder"],
        encoder(params["encoder"], keep, embed(input_ids, **params["shared"])),
    )
    return T5Encoded(keep, all_k, all_v)


def forward(
    params: Params,
    input_ids: Array,
    decoder_input_ids: Array,
    attention_mask: Array | None = None,
    decoder_attention_mask: Array | None = None,
    past_kv: Cache | None = None,
    last: int | None = None,
    encoded: T5Encoded | None = None,
) -> T5Output:
    """The program `t5` (t5.axon:134).

    input_ids [B, S], attention_mask [B, S], decoder_input_ids [B, T],
    decoder_attention_mask [B, K] -> logits [B, T, VOCAB].

    `decoder_attention_mask` is 0 at padding; K positions, from the first of the cache.

    Ids and positions outside of a table read another row of it.
    """
    slots, key_count = call_span(past_kv, decoder_input_ids)
    stores: list[Store | None] = [None] * 2 if past_kv is None else list(past_kv.layers)
    if decoder_attention_mask is not None:
        decoder_attention_mask = fit_mask(decoder_attention_mask, key_count)
    if encoded is None:
        encoded = encode(params, input_ids, attention_mask)
    keep, all_k, all_v = encoded
    keep_2 = causal_keep(slots, key_count, decoder_attention_mask)
    x = params["shared"]["weight"][decoder_input_ids]
    x, stores = decoder(params["decoder"], keep_2, x, keep, all_k, all_v, slots, stores)
    x = x / math.sqrt(60)
    x = newest(x, last)
    logits = x @ params["shared"]["weight"].T
    if past_kv is not None:
        past_kv = past_kv.advance(stores, slots.shape[0])
    return T5Output(logits, past_kv)


def load(
    directory: str | Path, dtype: DTypeLike = jnp.float32
) -> tuple[Params, list[str]]:
    """The parameters from a directory's safetensors files, and the names of tensors there
    that the program does not read.
    """
    return load_params(shapes(), directory, dtype)


# For calls one by one: compiled once for a prompt's length and once for all later tokens.
# The cache given is used up.
compiled = jax.jit(forward, static_argnames="last", donate_argnames="past_kv")
compiled_encode = jax.jit(encode)


def init_cache(
    batch: int, capacity: int = 512, dtype: DTypeLike = jnp.float32
) -> Cache:
    """Empty stores with room for `capacity` positions."""
    layers = [
        Store.create(dtype, (batch, 4, capacity, 14), (batch, 4, capacity, 14))
        for _ in range(2)
    ]
    return Cache(layers, jnp.zeros((), jnp.int32))


def next_logits(
    given: Params, ids: Array, _: Array | None, cache: Cache
) -> tuple[Array, Cache]:
    """Logits [B, V] behind the last of `ids`, and the cache; `given` has the rest."""
    out = forward(**given, decoder_input_ids=ids, past_kv=cache, last=1)
    return out.logits[:, -1], out.new_kv


def generate(
    params: Params,
    input_ids: Array,
    attention_mask: Array | None = None,
    max_new_tokens: int = 20,
    eos_token_id: int | Sequence[int] | None = (),
    pad_token_id: int | None = None,
    sampling: Sampling = Sampling(),
    key: Array | None = None,
    decoder_start_token_id: int = 0,
) -> Array:
    """The first token and those after it, [B, 1 + new]: the likeliest each, or drawn with `key`
    at a temperature above 0. A row ends at an end token.
    Its steps are compiled; it is not for `jax.jit` itself.
    """
    dtype = jax.tree.leaves(params)[0].dtype
    rows = input_ids.shape[0]
    cache = init_cache(rows, 1 + max_new_tokens, dtype)
    given = {
        "params": params,
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "encoded": compiled_encode(params, input_ids, attention_mask),
    }
    start = jnp.full((rows, 1), decoder_start_token_id, input_ids.dtype)
    return generate_tokens(
        next_logits, given, start, cache, eos_token_id, pad_token_id, key, sampling
    )
