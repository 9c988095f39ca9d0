"""Linear layers whose weights lie as a processor reads them fastest."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Measured with PyTorch 2.13 on x86: a product of one row in float32 reads a weight kept as [out, in]
# at 11 GB/s, and kept as [in, out] at 15 to 20 where there are no fewer outputs than inputs. Of more
# rows oneDNN takes either layout faster than `F.linear` does; its own layout takes few rows in half
# the time, and in bfloat16 one row too.
ONEDNN = torch.ops.mkldnn
# An operator's name holds for the whole process: each file that is loaded has its own.
OWN_NAME = "".join(c if c.isascii() and c.isalnum() else "_" for c in __name__)


def laid_out(weight: Tensor) -> Tensor:
    """The weight [out, in] with the strides that suit one row."""
    weight = weight.detach()
    return weight.t().contiguous().t() if weight.shape[0] >= weight.shape[1] else weight


@torch.library.custom_op(f"axon::{OWN_NAME}_linear_rows", mutates_args=())
def linear_rows(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """[..., in] -> [..., out] by oneDNN: `torch.compile` would copy or refuse the weight."""
    return ONEDNN._linear_pointwise(x, weight, bias, "none", [], "")


@linear_rows.register_fake
def shape_of_rows(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """What the product is like, for compilations."""
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def convertible(weight: Tensor) -> Tensor:
    """The weight, if its element type and device are ones that packed layers have."""
    if weight.dtype in (torch.float32, torch.bfloat16) and weight.device.type == "cpu":
        return weight
    found = f"{weight.dtype} on {weight.device}"
    raise TypeError(f"packed layers have no {found}: convert the model, then pack it")


def fits_onednn(x: Tensor, weight: Tensor) -> bool:
    """Whether the private product does: it records no gradients, and `autocast` does not see it."""
    return x.dtype == weight.dtype and not x.requires_grad


class LaidOutLinear(nn.Module):
    """A linear layer in float32 with the strides that suit one row."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(laid_out(linear.weight), requires_grad=False)
        self.bias = linear.bias

    def _apply(self, change: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        convertible(change(self.weight))
        return super()._apply(change, recurse)

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        if x.numel() == x.shape[-1] or not fits_onednn(x, self.weight):
            return F.linear(x, self.weight, self.bias)
        if torch.compiler.is_compiling():
            return linear_rows(x, self.weight, self.bias)
        return ONEDNN._linear_pointwise(x, self.weight, self.bias, "none", [], "")


def blocked(weight: Tensor) -> Tensor:
    """The weight [out, in] in oneDNN's layout."""
    return ONEDNN._reorder_linear_weight(weight.contiguous())


class BlockedLinear(nn.Module):
    """A linear layer with oneDNN's layout; `state_dict` has the weight as it was."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.blocks = blocked(linear.weight.detach())
        self.bias = linear.bias
        self.register_state_dict_post_hook(BlockedLinear.unblock)
        self.register_load_state_dict_pre_hook(BlockedLinear.block)

    @property
    def weight(self) -> Tensor:
        """The weight [out, in] as it was."""
        return self.blocks.to_dense()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"blocks": self.weight}  # which can be copied

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.blocks = blocked(self.blocks)

    def _apply(self, change: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        self.blocks = blocked(convertible(change(self.weight)))
        return super()._apply(change, recurse)

    def unblock(self, state: dict[str, Tensor], prefix: str, _: Any) -> None:
        """Gives the weight its own name."""
        state[prefix + "weight"] = self.weight

    def block(
        self,
        state: dict[str, Tensor],
        prefix: str,
        _: Any,
        __: bool,
        missing: list[str],
        *___: Any,
    ) -> None:
        """The reverse of `unblock`."""
        weight = state.pop(prefix + "weight", None)
        if weight is None:
            missing.append(prefix + "weight")
        else:
            self.blocks = blocked(weight.to(self.blocks.dtype))

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        if not fits_onednn(x, self.blocks):
            return F.linear(x, self.weight, self.bias)
        if torch.compiler.is_compiling():
            return linear_rows(x, self.blocks, self.bias)
        return ONEDNN._linear_pointwise(x, self.blocks, self.bias, "none", [], "")


def packed(layer: nn.Module, rows: int) -> nn.Module:
    """The layer in the form that suits its element type and device."""
    if type(layer) is not nn.Linear or layer.weight.device.type != "cpu":
        return layer
    if layer.weight.dtype == torch.float32 and torch.backends.mkldnn.is_available():
        return LaidOutLinear(layer) if rows == 1 else BlockedLinear(layer)
    if layer.weight.dtype == torch.bfloat16 and ONEDNN._is_mkldnn_bf16_supported():
        return BlockedLinear(layer)
    return layer


def pack_linears(model: nn.Module, rows: int) -> None:
    """Replaces linear layers by packed ones; no parameter wants gradients from then on."""
    model.requires_grad_(False)
    done: dict[nn.Module, nn.Module] = {}
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if child not in done:
                done[child] = packed(child, rows)
            setattr(module, name, done[child])
