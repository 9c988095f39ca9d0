"""Which keys each query sees in a causal model, where that is not plain."""

from torch import Tensor

from .causal_mask import causal_mask


def causal_keep(slots: Tensor, count: int, real: Tensor | None) -> Tensor | None:
    """The mask of `causal_mask`; None where the queries' own keys are all there are."""
    if real is None and count == slots.shape[0]:
        return None
    return causal_mask(slots, count, real)
