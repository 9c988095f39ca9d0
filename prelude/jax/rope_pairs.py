"""Rotary positions on neighbouring elements of each head."""

import jax.numpy as jnp
from jax import Array


def rope_pairs(x: Array, sin: Array, cos: Array) -> Array:
    """Turns element 2i with element 2i + 1 by the angles of its position: [B, H, S, D]."""
    turned = jnp.stack((-x[..., 1::2], x[..., ::2]), axis=-1).reshape(x.shape)
    return x * cos.astype(x.dtype) + turned * sin.astype(x.dtype)
