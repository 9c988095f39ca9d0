"""A norm whose weight is stored less one."""

from jax import Array

from .rms_norm import rms_norm


def offset_rms_norm(x: Array, weight: Array, eps: float) -> Array:
    """x / rms(x) * (weight + 1), over the last axis."""
    return rms_norm(x, weight + 1.0, eps)
