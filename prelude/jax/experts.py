"""Functions of one form, of which every row of an array goes through the one chosen for it."""

from collections.abc import Callable, Sequence
from functools import partial

import jax.numpy as jnp
from jax import Array, lax

from .params import Params


def experts(
    expert: Callable[[Params, Array], Array],
    params: Sequence[Params],
    x: Array,
    chosen: Array,
) -> Array:
    """[..., D] and the numbers of experts [...] -> [..., E].

    A few rows go through their experts one by one. Of many, all go through each expert: no size
    depends on the data.
    """
    rows, numbers = x.reshape(-1, x.shape[-1]), chosen.reshape(-1)
    if numbers.size < len(params):
        branches = [partial(expert, each) for each in params]
        out = lax.map(lambda row: lax.switch(row[1], branches, row[0]), (rows, numbers))
    else:
        out = expert(params[0], rows)
        for number, each in enumerate(params[1:], 1):
            out = jnp.where((numbers == number)[:, None], expert(each, rows), out)
    return out.reshape(*chosen.shape, -1)
