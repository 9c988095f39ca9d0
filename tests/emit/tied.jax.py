"""llama as JAX functions, written by axon 0.

Made again by: axon compile tied
Hash of the program and its configuration: b3b279648450e04f
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


def rope(x: Array, sin: Array, cos: Array) -> Array:
    """Turns element i with element i + D / 2 by the angles of its position: [B, H, S, D]."""
    first, second = jnp.split(x, 2, axis=-1)
    turned = jnp.concatenate((-second, first), axis=-1)
    return x * cos.astype(x.dtype) + turned * sin.astype(x.dtype)


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


def newest(x: Array, last: int | None) -> Array:
    """The last positions of `x` [B, S, ...], as many as asked for; all where it is None."""
    if last is None:
        return x
    if last < 1:
        raise ValueError(f"last is {last}, needs 1 or more")
    return x[:, -last:]


def causal_keep(slots: Array, count: int, real: Array | None) -> Array:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    keep = slots[:, None] >= jnp.arange(count)
    return keep[None, None] if real is None else keep & real[:, None, None, :]


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


class LlamaOutput(NamedTuple):
    """What a call gives."""

    logits: Array
    new_kv: Any


def self_attn_shapes() -> Params:
    """The shapes of `model.layers.{i}.self_attn`."""
    return {
        "q_proj": dense(60, 84),
        "k_proj": dense(60, 84),
        "v_proj": dense(60, 84),
        "o_proj": dense(84, 60),
    }


def self_attn(
    params: Params,
    x: Array,
    sin: Array,
    cos: Array,
    keep: Array | None,
    slots: Array,
    past: Store | None,
) -> tuple[Array, Store | None]:
    """`model.layers.{i}.self_attn`.

    x [B, S, HIDDEN], sin [B, 1, S, HEAD_DIM],
    cos [B, 1, S, HEAD_DIM] -> [B, S, HIDDEN].
    """
    B, S, _ = x.shape
    q = linear(x, **params["q_proj"]).reshape(B, S, 6, 14).swapaxes(1, 2)
    k = linear(x, **params["k_proj"]).reshape(B, S, 6, 14).swapaxes(1, 2)
    k = rope(k, sin, cos)
    v = linear(x, **params["v_proj"]).reshape(B, S, 6, 14).swapaxes(1, 2)
    if past is not None:
        past, (k, v) = past.update(slots, k, v)
    y = linear(
        attend(rope(q, sin, cos), k, v, keep).swapaxes(1, 2).reshape(B, S, 84),
        **params["o_proj"],
    )
    return y, past


def mlp_shapes() -> Params:
    """The shapes of `model.layers.{i}.mlp`."""
    return {
        "gate_proj": dense(60, 92),
        "up_proj": dense(60, 92),
        "down_proj": dense(92, 60),
    }


def mlp(params: Params, x: Array) -> Array:
    """`model.layers.{i}.mlp` (llama.axon:78): x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
    gate = jax.nn.silu(linear(x, **params["gate_proj"]))
    return linear(gate * linear(x, **params["up_proj"]), **params["down_proj"])


def layer_shapes() -> Params:
    """The shapes of `model.layers.{i}`."""
    return {
        "input_layernorm": scale(60),
        "self_attn": self_attn_shapes(),
        "post_attention_layernorm": scale(60),
        "mlp": mlp_shapes(),
    }


def layer(
    params: Params,
    x: Array,
    sin: Array,
    cos: Array,
    keep: Array | None,
    slots: Array,
    past: Store | None,
) -> tuple[Array, Store | None]:
    """`model.layers.{i}` (llama.axon:84).

    x [B, S, HIDDEN], sin [B, 1, S, HEAD_DIM],
    cos [B, 1, S, HEAD_DIM] -> [B, S, HIDDEN].
    """
    x_2 = rms_norm(x, **params["input_layernorm"], eps=1e-05)
    y, past = self_attn(params["self_attn"], x_2, sin, cos, keep, slots, past)
    x = x + y
    y = mlp(params["mlp"], rms_norm(x, **params["post_attention_layernorm"], eps=1e-05))
    return x + y, past


def model_shapes() -> Params:
    """The shapes of `model`."""
    return {
        "embed_tokens": table(131, 60),
        "layers": [layer_shapes() for _ in range(3)],
        "norm": scale(60),
    }


def model(
    params: Params,
    input_ids: Array,
    sin: Array,
    cos: Array,
    keep: Array | None,
    slots: Array,
    stores: list[Store | None],
    last: int | None,
) -> tuple[Array, list[Store | None]]:
    """`model`.

    input_ids [B, S], sin [B, 1, S, HEAD_DIM],
    cos [B, 1, S, HEAD_DIM] -> [B, S, VOCAB].
    """
    stores = list(stores)
    x = embed(input_ids, **params["embed_tokens"])
    for i, layer_params in enumerate(params["layers"]):
        x, stores[i] = layer(layer_params, x, sin, cos, keep, slots, stores[i])
    x = rms_norm(x, **params["norm"], eps=1e-05)
    x = newest(x, last)
    return x @ params["embed_tokens"]["weight"].T, stores


def shapes() -> Params:
    """The shapes of all parameters."""
    return {"model": model_shapes()}


def forward(
    params: Params,
    input_ids: Array,
    attn_mask: Array | None = None,
    past_kv: Cache | None = None,
    last: int | None = None,
) -> LlamaOutput:
    """The program `llama`.

    input_ids [B, S], attn_mask [B, K] -> logits [B, S, VOCAB].

    `attn_mask` is 0 at padding; K positions, from the first of the cache.

    Ids and positions outside of a table read another row of it.
    """
    slots, key_count = call_span(past_kv, input_ids)
    stores: list[Store | None] = [None] * 3 if past_kv is None else list(past_kv.layers)
    if attn_mask is not None:
        attn_mask = fit_mask(attn_mask, key_count)
    B, S = input_ids.shape
    if attn_mask is None:
        positions = jnp.broadcast_to(slots.reshape(1, S), (B, S))
    else:
        positions = jnp.where(attn_mask, attn_mask.astype(int).cumsum(1) - 1, 1)[
            :, slots
        ]
    frequency = jnp.exp(
        jnp.arange(7).astype(jnp.float32) * 2.0 / 14 * -math.log(10000)
    ).reshape(1, 1, 1, 7)
    position = (positions.astype(jnp.float32) / 3.0).reshape(B, 1, S, 1)
    angle = position * frequency
    sin = jnp.sin(angle)
    cos = jnp.cos(angle)
    keep = causal_keep(slots, key_count, attn_mask)
    sin = jnp.concatenate((sin, sin), axis=-1)
    cos = jnp.concatenate((cos, cos), axis=-1)
    logits, stores = model(
        params["model"], input_ids, sin, cos, keep, slots, stores, last
    )
    if past_kv is not None:
        past_kv = past_kv.advance(stores, slots.shape[0])
    return LlamaOutput(logits, past_kv)


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


def init_cache(
    batch: int, capacity: int = 256, dtype: DTypeLike = jnp.float32
) -> Cache:
    """Empty stores with room for `capacity` positions."""
    layers = [
        Store.create(dtype, (batch, 6, capacity, 14), (batch, 6, capacity, 14))
        for _ in range(3)
    ]
    return Cache(layers, jnp.zeros((), jnp.int32))


def next_logits(
    params: Params, ids: Array, mask: Array | None, cache: Cache
) -> tuple[Array, Cache]:
    """Logits [B, V] behind the last of `ids` [B, S], and the cache with them."""
    out = forward(params, ids, attn_mask=mask, past_kv=cache, last=1)
    return out.logits[:, -1], out.new_kv


def generate(
    params: Params,
    input_ids: Array,
    attn_mask: Array | None = None,
    max_new_tokens: int = 20,
    eos_token_id: int | Sequence[int] | None = (),
    pad_token_id: int | None = None,
    sampling: Sampling = Sampling(),
    key: Array | None = None,
) -> Array:
    """The prompt followed by new tokens, [B, S + new]: the likeliest each, or drawn with `key`
    at a temperature above 0. A row ends at an end token; rows are padded on the left.
    Its steps are compiled; it is not for `jax.jit` itself.
    """
    dtype = jax.tree.leaves(params)[0].dtype
    capacity = input_ids.shape[1] + max_new_tokens
    cache = init_cache(input_ids.shape[0], capacity, dtype)
    return generate_tokens(
        next_logits,
        params,
        input_ids,
        cache,
        eos_token_id,
        pad_token_id,
        key,
        sampling,
        attn_mask,
    )
