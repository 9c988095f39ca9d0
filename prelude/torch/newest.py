"""The positions at the end that a caller asks for."""

from torch import Tensor


def newest(x: Tensor, last: int | None) -> Tensor:
    """The last positions of `x` [B, S, ...], as many as asked for; all where it is None."""
    if last is None:
        return x
    if last < 1:
        raise ValueError(f"last is {last}, needs 1 or more")
    return x[:, -last:]
