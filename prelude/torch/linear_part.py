"""A linear layer of which a packed one has the weight."""

from typing import Any

from torch import Tensor, nn


def linear_of(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    """A layer with this weight [out, in], for inference."""
    linear = nn.Linear(weight.shape[1], weight.shape[0], False, device="meta")
    linear.weight = nn.Parameter(weight.detach(), requires_grad=False)
    if bias is not None:
        linear.bias = nn.Parameter(bias.detach(), requires_grad=False)
    return linear


class LinearPart(nn.Module):
    """One of the layers that `whole` is; `state_dict` has its weight and bias as they were."""

    def __init__(
        self, whole: nn.Module, sizes: list[int], index: int, turned: bool = False
    ) -> None:
        super().__init__()
        self.whole = whole
        self.sizes = sizes
        self.rows = slice(sum(sizes[:index]), sum(sizes[: index + 1]))
        self.turned = turned  # its own weight is [in, out]
        self.register_state_dict_post_hook(LinearPart.take)
        self.register_load_state_dict_pre_hook(LinearPart.give)

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        return self.whole(x)[..., self.rows]

    def take(self, state: dict[str, Tensor], prefix: str, _: Any) -> None:
        """Gives its rows of the whole its own names."""
        for name in ("weight", "bias"):
            whole = state.pop(f"{prefix}whole.{name}", None)
            if whole is not None:
                part = whole[self.rows].t() if self.turned else whole[self.rows]
                state[prefix + name] = part.contiguous()

    def give(
        self,
        state: dict[str, Tensor],
        prefix: str,
        _: Any,
        __: bool,
        missing: list[str],
        ___: list[str],
        errors: list[str],
    ) -> None:
        """The reverse of `take`."""
        for name in ("weight", "bias"):
            whole: Tensor | None = getattr(self.whole, name)
            if whole is None:
                continue
            part = state.pop(prefix + name, None)
            whole = whole.detach().clone()
            own = whole[self.rows]
            if part is None:
                missing.append(prefix + name)
            elif (part := part.t() if self.turned else part).shape != own.shape:
                errors.append(f"{prefix}{name} is {part.shape}, needs {own.shape}")
            else:
                own.copy_(part)
            state[f"{prefix}whole.{name}"] = whole
