"""Normalisation by the root of the mean square."""

import jax.numpy as jnp
from jax import Array, lax


def rms_norm(x: Array, weight: Array | float = 1.0, eps: float = 1e-6) -> Array:
    """Scales the last axis to a mean square of one, in float32 within."""
    wide = x.astype(jnp.float32)
    scale = lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + eps)
    return (wide * scale).astype(x.dtype) * weight
