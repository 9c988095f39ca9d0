"""bert_mlm as a PyTorch module, written by axon 0.

Made again by: axon compile bert
Hash of the program and its configuration: 97b9ed77df27a069
"""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
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


def joined(x: Tensor, *layers: nn.Module) -> Sequence[Tensor]:
    """What each of the layers makes of `x`: one product where `join_linears` has joined them."""
    first = layers[0]
    if isinstance(first, LinearPart):
        return first.whole(x).split(first.sizes, -1)
    return [layer(x) for layer in layers]


def join_linears(
    model: nn.Module, rows: int, kind: type[nn.Module], *names: str
) -> None:
    """Makes the layers of these names one packed layer, in every module of class `kind`."""
    for module in [part for part in model.modules() if type(part) is kind]:
        layers = [module.get_submodule(name) for name in names]
        plain = [layer for layer in layers if type(layer) is nn.Linear]
        if len(plain) < len(names):
            continue
        bias = None
        if plain[0].bias is not None:
            bias = torch.cat([layer.bias for layer in plain])
        weight = torch.cat([layer.weight for layer in plain])
        whole = packed(linear_of(weight, bias), rows)
        sizes = [layer.out_features for layer in plain]
        for index, name in enumerate(names):
            module.set_submodule(name, LinearPart(whole, sizes, index))


P = ParamSpec("P")
R = TypeVar("R")


def compiled_once(forward: Callable[P, R]) -> Callable[P, R]:
    """One compilation for all layers of a kind; not where gradients are recorded, which PyTorch
    2.13 compiles wrongly for such regions.
    """
    region: Callable[P, R] = torch.compiler.nested_compile_region(forward)

    @wraps(forward)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if torch.is_grad_enabled() or not torch.compiler.is_compiling():
            return forward(*args, **kwargs)
        return region(*args, **kwargs)

    return call


AnyModule = TypeVar("AnyModule", bound=nn.Module)


# Endings of names in old checkpoints.
OLD_ENDINGS = {
    ".LayerNorm.gamma": ".LayerNorm.weight",
    ".LayerNorm.beta": ".LayerNorm.bias",
}


def present_name(name: str) -> str:
    """The name under which a stored tensor is read."""
    for old, new in OLD_ENDINGS.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def weight_files(directory: Path) -> list[Path]:
    """The files that the index names, or the one file."""
    index = directory / "model.safetensors.index.json"
    if not index.exists():
        return [directory / "model.safetensors"]
    names = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    return [directory / name for name in sorted(set(names))]


def load_weights(
    kind: type[AnyModule],
    directory: str | Path,
    dtype: torch.dtype,
    device: str | torch.device,
) -> AnyModule:
    """A model of class `kind` with the directory's weights, each under its stored name."""
    with torch.device("meta"):
        model = kind()
    wanted = model.state_dict().keys()
    weights: dict[str, Tensor] = {}
    unread: list[str] = []
    for file in weight_files(Path(directory)):
        for stored, tensor in load_file(file).items():
            name = stored if stored in wanted else present_name(stored)
            if name in wanted:
                weights[name] = tensor.to(device=device, dtype=dtype)
            else:
                unread.append(stored)
    model.load_state_dict(weights, strict=True, assign=True)
    setattr(model, "unread", sorted(unread))
    return model.eval()


class Embeddings(nn.Module):
    """`bert.embeddings` (bert.axon:65)."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(113, 60)
        self.position_embeddings = nn.Embedding(96, 60)
        self.token_type_embeddings = nn.Embedding(3, 60)
        self.LayerNorm = nn.LayerNorm(60, eps=1e-12)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids [B, S], token_type_ids [B, S] -> [B, S, HIDDEN]."""
        B, S = input_ids.shape
        places = self.position_embeddings(
            torch.arange(S, device=input_ids.device).reshape(1, S).expand(B, S)
        )
        kinds = self.token_type_embeddings(token_type_ids)
        return self.LayerNorm(self.word_embeddings(input_ids) + kinds + places)


class AttentionSelf(nn.Module):
    """`bert.encoder.layer.{i}.attention.self`."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(60, 60)
        self.key = nn.Linear(60, 60)
        self.value = nn.Linear(60, 60)

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        B, S, _ = x.shape
        q, k, v = joined(x, self.query, self.key, self.value)
        q = q.reshape(B, S, 5, 12).transpose(1, 2)
        k = k.reshape(B, S, 5, 12).transpose(1, 2)
        x = F.scaled_dot_product_attention(
            q, k, v.reshape(B, S, 5, 12).transpose(1, 2), attn_mask=keep
        )
        return x.transpose(1, 2).reshape(B, S, 60)


class Output(nn.Module):
    """`bert.encoder.layer.{i}.attention.output` (bert.axon:45)."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(60, 60)
        self.LayerNorm = nn.LayerNorm(60, eps=1e-12)

    def forward(self, x: Tensor, x_2: Tensor) -> Tensor:
        """x [B, S, HIDDEN], x_2 [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.LayerNorm(self.dense(x) + x_2)


class Attention(nn.Module):
    """`bert.encoder.layer.{i}.attention`."""

    def __init__(self) -> None:
        super().__init__()
        self.self = AttentionSelf()
        self.output = Output()

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.output(self.self(x, keep), x)


class Intermediate(nn.Module):
    """`bert.encoder.layer.{i}.intermediate`."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(60, 76)


class LayerOutput(nn.Module):
    """`bert.encoder.layer.{i}.output` (bert.axon:45)."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(76, 60)
        self.LayerNorm = nn.LayerNorm(60, eps=1e-12)

    def forward(self, inner: Tensor, x: Tensor) -> Tensor:
        """inner [B, S, INNER], x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.LayerNorm(self.dense(inner) + x)


class Layer(nn.Module):
    """`bert.encoder.layer.{i}`."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.intermediate = Intermediate()
        self.output = LayerOutput()

    @compiled_once
    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        x = self.attention(x, keep)
        inner = F.gelu(self.intermediate.dense(x), approximate="tanh")
        return self.output(inner, x)


class Encoder(nn.Module):
    """`bert.encoder`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        for layer in self.layer:
            x = layer(x, keep)
        return x


class Bert(nn.Module):
    """`bert`."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = Encoder()

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor, keep: Tensor | None
    ) -> Tensor:
        """input_ids [B, S], token_type_ids [B, S] -> [B, S, HIDDEN]."""
        return self.encoder(self.embeddings(input_ids, token_type_ids), keep)


class Transform(nn.Module):
    """`cls.predictions.transform`."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(60, 60)
        self.LayerNorm = nn.LayerNorm(60, eps=1e-12)

    def forward(self, x: Tensor) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.LayerNorm(F.gelu(self.dense(x), approximate="tanh"))


class Predictions(nn.Module):
    """`cls.predictions`."""

    def __init__(self) -> None:
        super().__init__()
        self.transform = Transform()
        self.bias = nn.Parameter(0.02 * torch.randn(113))


class Cls(nn.Module):
    """`cls`."""

    def __init__(self) -> None:
        super().__init__()
        self.predictions = Predictions()


class BertMlm(nn.Module):
    """The program `bert_mlm`."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = Bert()
        self.cls = Cls()

    def forward(
        self,
        input_ids: Tensor,
        attn_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Tensor:
        """input_ids [B, S], attn_mask [B, S],
        token_type_ids [B, S] -> logits [B, S, VOCAB].
        """
        if attn_mask is not None:
            attn_mask = attn_mask.bool()
        keep = None if attn_mask is None else attn_mask[:, None, None, :]
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        x = self.cls.predictions.transform(self.bert(input_ids, token_type_ids, keep))
        return F.linear(
            x, self.bert.embeddings.word_embeddings.weight, self.cls.predictions.bias
        )

    @classmethod
    def from_pretrained(
        cls,
        directory: str | Path,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> "BertMlm":
        """The model with the weights of a directory's safetensors files.

        Tensors that the program does not read are dropped and listed in `unread`.
        """
        return load_weights(cls, directory, dtype, device)

    def pack_for_inference(self, rows: int = 1) -> "BertMlm":
        """Lays weights out for fast inference, in place: the last step before it.

        Names and values of `state_dict` stay as they are; no gradients from then on.
        """
        join_linears(self, rows, AttentionSelf, "query", "key", "value")
        pack_linears(self, rows)
        return self
