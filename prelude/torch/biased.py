"""What attention adds to its scores."""

from torch import Tensor


def biased(bias: Tensor, keep: Tensor | None) -> Tensor:
    """The bias, and minus infinity where a key is not seen."""
    return bias if keep is None else bias.masked_fill(~keep, float("-inf"))
