"""Normalisation by mean and variance."""

import jax.numpy as jnp
from jax import Array, lax


def layer_norm(
    x: Array, weight: Array, bias: Array | None = None, eps: float = 1e-5
) -> Array:
    """Gives the last axis mean zero and variance one, in float32 within."""
    wide = x.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    scale = lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + eps)
    y = (centred * scale).astype(x.dtype) * weight
    return y if bias is None else y + bias
