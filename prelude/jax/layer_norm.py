"""Normalisation by mean and variance."""

import jax.numpy as jnp
from jax import Array, lax


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
