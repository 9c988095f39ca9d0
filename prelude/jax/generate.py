"""Generation with a cache: greedy or by sampling, rows padded on the left."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from .cache import Cache, fit_mask
from .params import Params

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
