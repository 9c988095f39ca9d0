"""Attention of all heads at once."""

import math

import jax.numpy as jnp
from jax import Array, lax


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
