"""t5 as a PyTorch module, written by axon 0.

Made again by: axon compile t5
Hash of the program and its configuration: eb3379a6f2deef53
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

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


def biased(bias: Tensor, keep: Tensor | None) -> Tensor:
    """The bias, and minus infinity where a key is not seen."""
    return bias if keep is None else bias.masked_fill(~keep, float("-inf"))


def encode(module: nn.Module | Tensor, *given: Any) -> Any:
    """What the module's own `encode` gives; the type of a list's elements has no such method."""
    made = getattr(module, "encode")(*given)
    # A region that is compiled once may not be given two views of one tensor.
    if isinstance(made, tuple) and torch.compiler.is_compiling():
        return tuple(y.clone() if isinstance(y, Tensor) else y for y in made)
    return made


def causal_mask(
    slots: Tensor, count: int, real: Tensor | None, window: int | None = None
) -> Tensor:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    behind = slots[:, None] - torch.arange(count, device=slots.device)
    keep = behind >= 0 if window is None else (behind >= 0) & (behind < window)
    return keep[None, None] if real is None else keep & real[:, None, None, :]


def newest(x: Tensor, last: int | None) -> Tensor:
    """The last positions of `x` [B, S, ...], as many as asked for; all where it is None."""
    if last is None:
        return x
    if last < 1:
        raise ValueError(f"last is {last}, needs 1 or more")
    return x[:, -last:]


class TiedEmbedding(nn.Module):
    """An embedding whose table makes logits as well, for which it is kept in blocks too."""

    def __init__(self, plain: nn.Embedding) -> None:
        super().__init__()
        self.weight = plain.weight
        self.refresh()
        self.register_load_state_dict_post_hook(TiedEmbedding.refresh)

    def forward(self, ids: Tensor) -> Tensor:
        """[...] -> [..., width]."""
        return F.embedding(ids, self.weight)

    def refresh(self, *_: Any) -> None:
        """Follows the table; in a list the blocks are no part of `state_dict`."""
        self.head = [BlockedLinear(linear_of(self.weight, None))]

    def _apply(self, change: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        super()._apply(change, recurse)
        self.refresh()
        return self


def packed_table(table: nn.Embedding) -> Any:
    """The embedding in the form that suits its element type and device."""
    kind = type(packed(linear_of(table.weight[:1], None), 1))
    if kind is BlockedLinear:
        return TiedEmbedding(table)
    if kind is not nn.Linear:
        table.weight.data = laid_out(table.weight)
    return table


def tied_linear(x: Tensor, table: nn.Embedding) -> Tensor:
    """x @ table.T: [..., in] -> [..., out], with oneDNN where that is faster."""
    weight = table.weight
    if torch.compiler.is_compiling():
        return F.linear(x, weight)
    if isinstance(table, TiedEmbedding):
        return table.head[0](x)
    if weight.is_contiguous() or x.numel() == x.shape[-1] or x.dtype != weight.dtype:
        return F.linear(x, weight)
    return torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")


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


class Store:
    """The tensors of one layer, each [B, H, capacity, D]."""

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors
        self.empty = True

    @classmethod
    def create(cls, like: Tensor, *shapes: tuple[int, ...]) -> "Store":
        """Zeros of the given shapes, with the element type and device of `like`."""
        return cls(*(like.new_zeros(shape) for shape in shapes))

    def update(self, slots: Tensor, *new: Tensor) -> list[Tensor]:
        """Writes new positions; gives all that later positions see."""
        stores = [
            store.index_copy_(2, slots, x.to(store.dtype))
            for store, x in zip(self.tensors, new)
        ]
        return list(new) if self.empty else stores


class Cache:
    """The stores of all layers and how many positions are written."""

    def __init__(
        self, layers: list[Store], capacity: int, device: torch.device
    ) -> None:
        self.layers = layers
        self.capacity = capacity
        self.length = torch.zeros((), dtype=torch.int64, device=device)
        self.empty = True

    def advance(self, count: int) -> None:
        """Counts positions that a call has written."""
        self.length += count
        self.empty = False
        for layer in self.layers:
            layer.empty = False


def call_span(past: Cache | None, ids: Tensor) -> tuple[Tensor, int]:
    """The positions that a call on `ids` [B, S] writes, [S], and the number of keys it sees.

    A call that starts a cache sees its own positions only; later ones see the whole stores.
    """
    count = ids.shape[1]
    if past is not None and count > past.capacity:
        raise ValueError(f"{count} positions, the cache has room for {past.capacity}")
    slots = torch.arange(count, device=ids.device)
    if past is None or past.empty:
        return slots, count
    return slots + past.length, past.capacity


def fit_mask(mask: Tensor, count: int) -> Tensor:
    """A padding mask as booleans, [B, count]; positions that it does not name are real."""
    if mask.shape[1] < count:
        mask = F.pad(mask, (0, count - mask.shape[1]), value=1)
    return mask[:, :count].bool()


class Sampling(NamedTuple):
    """How the next token is drawn from logits."""

    temperature: float
    top_k: int
    top_p: float
    generator: torch.Generator | None

    def pick(self, logits: Tensor) -> Tensor:
        """The likeliest token of each row, or one drawn: [B, V] -> [B]."""
        if self.temperature <= 0:
            return logits.argmax(-1)
        logits = logits.float() / self.temperature
        if self.top_k > 0:
            least = logits.topk(min(self.top_k, logits.shape[-1])).values[:, -1:]
            logits = logits.masked_fill(logits < least, float("-inf"))
        weights = logits.softmax(-1)
        if self.top_p < 1.0:
            ranked, order = weights.sort(-1, descending=True)
            ranked = ranked * (ranked.cumsum(-1) - ranked <= self.top_p)
            weights = torch.zeros_like(weights).scatter(-1, order, ranked)
        return torch.multinomial(weights, 1, generator=self.generator)[:, 0]


def generate(
    model: Callable[..., Any],
    cache: Cache,
    ids: Tensor,
    mask: Tensor | None,
    count: int,
    ends: int | Sequence[int] | None,
    pad: int | None,
    sampling: Sampling,
) -> Tensor:
    """Appends up to `count` tokens to `ids` [B, S]; ended rows get the padding token."""
    rows, prompt = ids.shape
    if ids.numel() == 0:
        raise ValueError(f"the prompt is {rows}x{prompt}, needs a row and a token")
    if mask is not None and mask.shape != ids.shape:
        raise ValueError(f"the mask is {tuple(mask.shape)}, the prompt {rows}x{prompt}")
    if count < 0:
        raise ValueError(f"{count} new tokens, needs 0 or more")
    if not 0 <= sampling.top_p <= 1:
        raise ValueError(f"top_p is {sampling.top_p}, needs 0 to 1")
    stops = torch.as_tensor(() if ends is None else ends, device=ids.device).ravel()
    if pad is None:
        pad = int(stops[0]) if len(stops) else 0
    out = ids.new_full((rows, prompt + count), pad)
    out[:, :prompt] = ids
    if mask is not None:  # as wide as the cache from the start: new tokens are real
        mask = torch.cat((mask.bool(), mask.new_ones((rows, count)).bool()), 1)
    running = torch.ones(rows, dtype=torch.bool, device=ids.device)
    for place in range(prompt, prompt + count):
        logits = model(ids, mask, cache, last=1)[0]
        token = torch.where(running, sampling.pick(logits[:, -1]), pad)
        out[:, place] = token
        ids = token[:, None]
        if len(stops):
            running = running & ~torch.isin(token, stops)
            if not running.any():
                return out[:, : place + 1]
    return out


@dataclass(frozen=True)
class Decoding:
    """A model with its source, as a model of the decoder's tokens."""

    model: nn.Module
    source: dict[str, Any]
    ids: str  # the names of the decoder's inputs
    past: str

    def __call__(self, ids: Tensor, _: Tensor | None, past: Cache, last: int) -> Any:
        """What the model gives for further tokens [B, T]."""
        given = {self.ids: ids, self.past: past, "last": last}
        return self.model(**self.source, **given)


class EncoderDecoder(nn.Module):
    """A module with `encode` beside `forward`: `compile` is for both."""

    encode: Callable[..., Any]

    def compile(self, *args: Any, **options: Any) -> None:
        """Compiles `forward`, and `encode` for calls of it alone."""
        super().compile(*args, **options)
        self.encode = torch.compile(self.encode, *args, **options)

    def __getstate__(self) -> dict[str, Any]:
        """Copies start with nothing compiled, as those of other modules do."""
        state: dict[str, Any] = super().__getstate__()
        state.pop("encode", None)
        return state


class T5Encoded(NamedTuple):
    """What all calls on the same source share."""

    keep: Tensor | None
    all_k: list[Tensor]
    all_v: list[Tensor]


class T5Output(NamedTuple):
    """What a call gives."""

    logits: Tensor
    new_kv: Cache | None


class SelfAttention(nn.Module):
    """`encoder.block.{i}.layer.0.SelfAttention`."""

    def __init__(self, has_relative_attention_bias: bool) -> None:
        super().__init__()
        self.k = nn.Linear(60, 56, bias=False)
        self.v = nn.Linear(60, 56, bias=False)
        self.q = nn.Linear(60, 56, bias=False)
        self.o = nn.Linear(56, 60, bias=False)
        if has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(12, 4)

    def forward(self, y: Tensor, bias: Tensor) -> Tensor:
        """y [B, S, HIDDEN], bias [B, HEADS, S, S] -> [B, S, HIDDEN]."""
        B, S, _ = y.shape
        k, v, q = joined(y, self.k, self.v, self.q)
        q = q.reshape(B, S, 4, 14).transpose(1, 2)
        k = k.reshape(B, S, 4, 14).transpose(1, 2)
        x = F.scaled_dot_product_attention(
            q, k, v.reshape(B, S, 4, 14).transpose(1, 2), attn_mask=bias, scale=1.0
        )
        return self.o(x.transpose(1, 2).reshape(B, S, 56))


class Layer(nn.Module):
    """`encoder.block.{i}.layer.0`."""

    def __init__(self, has_relative_attention_bias: bool) -> None:
        super().__init__()
        self.layer_norm = nn.RMSNorm(60, eps=1e-06)
        self.SelfAttention = SelfAttention(has_relative_attention_bias)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [B, S, HIDDEN], bias [B, HEADS, S, S] -> [B, S, HIDDEN]."""
        return self.SelfAttention(self.layer_norm(x), bias)


class DenseReluDense(nn.Module):
    """`encoder.block.{i}.layer.1.DenseReluDense`."""

    def __init__(self) -> None:
        super().__init__()
        self.wi = nn.Linear(60, 76, bias=False)
        self.wo = nn.Linear(76, 60, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.wo(F.relu(self.wi(x)))


class BlockLayer(nn.Module):
    """`encoder.block.{i}.layer.1`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer_norm = nn.RMSNorm(60, eps=1e-06)
        self.DenseReluDense = DenseReluDense()

    def forward(self, x: Tensor) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.DenseReluDense(self.layer_norm(x))


class Block(nn.Module):
    """`encoder.block.{i}` (t5.axon:96)."""

    def __init__(self, has_relative_attention_bias: bool) -> None:
        super().__init__()
        self.layer = nn.ModuleList([Layer(has_relative_attention_bias), BlockLayer()])

    @compiled_once
    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [B, S, HIDDEN], bias [B, HEADS, S, S] -> [B, S, HIDDEN]."""
        x = x + self.layer[0](x, bias)
        return x + self.layer[1](x)


class Encoder(nn.Module):
    """`encoder`."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.ModuleList(
            Block(has_relative_attention_bias=i == 0) for i in range(3)
        )
        self.final_layer_norm = nn.RMSNorm(60, eps=1e-06)

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        S = x.shape[1]
        x_2 = torch.arange(S, device=x.device)
        distance = x_2.reshape(1, S) - x_2.reshape(S, 1)
        away = torch.where(distance >= 0, distance, -distance)
        shared = (
            ((away.clamp(min=3).float() / 3).log() / math.log(20 / 3) * 3)
            .floor()
            .long()
        )
        bucket = torch.where(away >= 3, (shared + 3).clamp(max=5), away)
        rows = self.get_submodule(
            "block.0.layer.0.SelfAttention.relative_attention_bias"
        )(bucket + (distance >= 1).long() * 6)
        bias = biased(rows.permute(2, 0, 1).unsqueeze(0), keep)
        for block in self.block:
            x = block(x, bias)
        return self.final_layer_norm(x)


class LayerSelfAttention(nn.Module):
    """`decoder.block.{i}.layer.0.SelfAttention`."""

    def __init__(self, has_relative_attention_bias: bool) -> None:
        super().__init__()
        self.k = nn.Linear(60, 56, bias=False)
        self.v = nn.Linear(60, 56, bias=False)
        self.q = nn.Linear(60, 56, bias=False)
        self.o = nn.Linear(56, 60, bias=False)
        if has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(12, 4)

    def forward(
        self, y: Tensor, bias: Tensor, slots: Tensor, past: Store | None
    ) -> Tensor:
        """y [B, T, HIDDEN], bias [B, HEADS, T, C] -> [B, T, HIDDEN]."""
        B, T, _ = y.shape
        k, v, q = joined(y, self.k, self.v, self.q)
        k = k.reshape(B, T, 4, 14).transpose(1, 2)
        v = v.reshape(B, T, 4, 14).transpose(1, 2)
        if past is not None:
            k, v = past.update(slots, k, v)
        x = F.scaled_dot_product_attention(
            q.reshape(B, T, 4, 14).transpose(1, 2), k, v, attn_mask=bias, scale=1.0
        )
        return self.o(x.transpose(1, 2).reshape(B, T, 56))


class DecoderLayer(nn.Module):
    """`decoder.block.{i}.layer.0`."""

    def __init__(self, has_relative_attention_bias: bool) -> None:
        super().__init__()
        self.layer_norm = nn.RMSNorm(60, eps=1e-06)
        self.SelfAttention = LayerSelfAttention(has_relative_attention_bias)

    def forward(
        self, x: Tensor, bias: Tensor, slots: Tensor, past: Store | None
    ) -> Tensor:
        """x [B, T, HIDDEN], bias [B, HEADS, T, C] -> [B, T, HIDDEN]."""
        return self.SelfAttention(self.layer_norm(x), bias, slots, past)


class EncDecAttention(nn.Module):
    """`decoder.block.{i}.layer.1.EncDecAttention`."""

    def __init__(self) -> None:
        super().__init__()
        self.k = nn.Linear(60, 56, bias=False)
        self.v = nn.Linear(60, 56, bias=False)
        self.q = nn.Linear(60, 56, bias=False)
        self.o = nn.Linear(56, 60, bias=False)

    def encode(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """seen [B, S, HIDDEN] -> [B, HEADS, S, HEAD_DIM], [B, HEADS, S, HEAD_DIM]."""
        B, S, _ = seen.shape
        k, v = joined(seen, self.k, self.v)
        return (
            k.reshape(B, S, 4, 14).transpose(1, 2),
            v.reshape(B, S, 4, 14).transpose(1, 2),
        )

    def forward(self, x: Tensor, keep: Tensor | None, k: Tensor, v: Tensor) -> Tensor:
        """x [B, T, HIDDEN], k [B, HEADS, S, HEAD_DIM],
        v [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
        """
        B, T, _ = x.shape
        q = self.q(x).reshape(B, T, 4, 14).transpose(1, 2)
        x = F.scaled_dot_product_attention(
            q, k, v, attn_mask=keep, scale=1.0
        ).transpose(1, 2)
        return self.o(x.reshape(B, T, 56))


class Layer_2(nn.Module):
    """`decoder.block.{i}.layer.1`."""

    def __init__(self) -> None:
        super().__init__()
        self.EncDecAttention = EncDecAttention()
        self.layer_norm = nn.RMSNorm(60, eps=1e-06)

    def forward(self, x: Tensor, keep: Tensor | None, k: Tensor, v: Tensor) -> Tensor:
        """x [B, T, HIDDEN], k [B, HEADS, S, HEAD_DIM],
        v [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
        """
        return self.EncDecAttention(self.layer_norm(x), keep, k, v)


class LayerDenseReluDense(nn.Module):
    """`decoder.block.{i}.layer.2.DenseReluDense`."""

    def __init__(self) -> None:
        super().__init__()
        self.wi = nn.Linear(60, 76, bias=False)
        self.wo = nn.Linear(76, 60, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B, T, HIDDEN] -> [B, T, HIDDEN]."""
        return self.wo(F.relu(self.wi(x)))


class Layer_3(nn.Module):
    """`decoder.block.{i}.layer.2`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer_norm = nn.RMSNorm(60, eps=1e-06)
        self.DenseReluDense = LayerDenseReluDense()

    def forward(self, x: Tensor) -> Tensor:
        """x [B, T, HIDDEN] -> [B, T, HIDDEN]."""
        return self.DenseReluDense(self.layer_norm(x))


class DecoderBlock(nn.Module):
    """`decoder.block.{i}` (t5.axon:107)."""

    def __init__(self, has_relative_attention_bias: bool) -> None:
        super().__init__()
        self.layer = nn.ModuleList(
            [DecoderLayer(has_relative_attention_bias), Layer_2(), Layer_3()]
        )

    @compiled_once
    def forward(
        self,
        x: Tensor,
        bias: Tensor,
        keep: Tensor | None,
        k: Tensor,
        v: Tensor,
        slots: Tensor,
        past: Store | None,
    ) -> Tensor:
        """x [B, T, HIDDEN], bias [B, HEADS, T, C], k [B, HEADS, S, HEAD_DIM],
        v [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
        """
        x = x + self.layer[0](x, bias, slots, past)
        x = x + self.layer[1](x, keep, k, v)
        return x + self.layer[2](x)


class Decoder(nn.Module):
    """`decoder`."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.ModuleList(
            DecoderBlock(has_relative_attention_bias=i == 0) for i in range(2)
        )
        self.final_layer_norm = nn.RMSNorm(60, eps=1e-06)

    def encode(self, seen: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """seen [B, S, HIDDEN] -> list of [B, HEADS, S, HEAD_DIM],
        list of [B, HEADS, S, HEAD_DIM].
        """
        all_k: list[Tensor] = []
        all_v: list[Tensor] = []
        for block in self.block:
            k, v = encode(block.get_submodule("layer.1.EncDecAttention"), seen)
            all_k.append(k)
            all_v.append(v)
        return all_k, all_v

    def forward(
        self,
        x: Tensor,
        keep: Tensor,
        keep_2: Tensor | None,
        all_k: list[Tensor],
        all_v: list[Tensor],
        slots: Tensor,
        stores: Sequence[Store | None],
    ) -> Tensor:
        """x [B, T, HIDDEN], keep [B, 1, T, C], all_k list of [B, HEADS, S, HEAD_DIM],
        all_v list of [B, HEADS, S, HEAD_DIM] -> [B, T, HIDDEN].
        """
        T = x.shape[1]
        C = keep.shape[3]
        column = torch.arange(C, device=x.device).reshape(1, C)
        distance = (-(column - slots.reshape(T, 1))).clamp(min=0)
        x_2 = ((distance.clamp(min=6).float() / 6).log() / math.log(10 / 3) * 6).floor()
        x_2 = (x_2.long() + 6).clamp(max=11)
        rows = self.get_submodule(
            "block.0.layer.0.SelfAttention.relative_attention_bias"
        )(torch.where(distance >= 6, x_2, distance))
        bias = biased(rows.permute(2, 0, 1).unsqueeze(0), keep)
        for block, past, k, v in zip(self.block, stores, all_k, all_v):
            x = block(x, bias, keep_2, k, v, slots, past)
        return self.final_layer_norm(x)


class T5(EncoderDecoder):
    """The program `t5` (t5.axon:134)."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Embedding(113, 60)
        self.encoder = Encoder()
        self.decoder = Decoder()

    def encode(
        self, input_ids: Tensor, attention_mask: Tensor | None = None
    ) -> T5Encoded:
        """input_ids [B, S], attention_mask [B, S] -> [B, 1, S, S],
        list of [B, HEADS, S, HEAD_DIM], list of [B, HEADS, S, HEAD_DIM].
        """
        x = None if attention_mask is None else attention_mask.bool()
        keep = None if x is None else x[:, None, None, :]
        all_k, all_v = self.decoder.encode(self.encoder(self.shared(input_ids), keep))
        return T5Encoded(keep, all_k, all_v)

    def forward(
        self,
        input_ids: Tensor,
        decoder_input_ids: Tensor,
        attention_mask: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        past_kv: Cache | None = None,
        use_cache: bool = False,
        capacity: int | None = None,
        last: int | None = None,
        encoded: T5Encoded | None = None,
    ) -> T5Output:
        """input_ids [B, S], attention_mask [B, S], decoder_input_ids [B, T],
        decoder_attention_mask [B, K] -> logits [B, T, VOCAB].

        `decoder_attention_mask` is 0 at padding; K positions, from the first of the cache.
        """
        if use_cache and past_kv is None:
            past_kv = self.init_cache(decoder_input_ids.shape[0], capacity)
        slots, key_count = call_span(past_kv, decoder_input_ids)
        stores: Sequence[Store | None] = (
            [None] * 2 if past_kv is None else past_kv.layers
        )
        if decoder_attention_mask is not None:
            decoder_attention_mask = fit_mask(decoder_attention_mask, key_count)
        if encoded is None:
            encoded = self.encode(input_ids, attention_mask)
        keep, all_k, all_v = encoded
        keep_2 = causal_mask(slots, key_count, decoder_attention_mask)
        x = F.embedding(decoder_input_ids, self.shared.weight)
        x = self.decoder(x, keep_2, keep, all_k, all_v, slots, stores) / math.sqrt(60)
        x = newest(x, last)
        logits = tied_linear(x, self.shared)
        if past_kv is not None:
            past_kv.advance(slots.shape[0])
        return T5Output(logits, past_kv)

    @classmethod
    def from_pretrained(
        cls,
        directory: str | Path,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> "T5":
        """The model with the weights of a directory's safetensors files.

        Tensors that the program does not read are dropped and listed in `unread`.
        """
        return load_weights(cls, directory, dtype, device)

    def pack_for_inference(self, rows: int = 1) -> "T5":
        """Lays weights out for fast inference, in place: the last step before it.

        Names and values of `state_dict` stay as they are; no gradients from then on.
        """
        join_linears(self, rows, SelfAttention, "k", "v", "q")
        join_linears(self, rows, LayerSelfAttention, "k", "v", "q")
        join_linears(self, rows, EncDecAttention, "k", "v")
        pack_linears(self, rows)
        self.shared = packed_table(self.shared)
        return self

    def init_cache(self, batch: int, capacity: int | None = None) -> Cache:
        """Empty stores with room for `capacity` positions."""
        if capacity is None:
            capacity = 512
        like = next(self.parameters())
        layers = [
            Store.create(like, (batch, 4, capacity, 14), (batch, 4, capacity, 14))
            for _ in range(2)
        ]
        return Cache(layers, capacity, like.device)

    @torch.no_grad()
    def generate(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        max_new_tokens: int = 20,
        eos_token_id: int | Sequence[int] | None = (),
        pad_token_id: int | None = None,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        generator: torch.Generator | None = None,
        decoder_start_token_id: int = 0,
    ) -> Tensor:
        """The first token and those after it, [B, 1 + new]: the likeliest each, or drawn at a
        `temperature` above 0. A row ends at an end token.
        """
        cache = self.init_cache(input_ids.shape[0], 1 + max_new_tokens)
        pick = Sampling(temperature, top_k, top_p, generator)
        source = {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "encoded": self.encode(input_ids, attention_mask),
        }
        step = Decoding(self, source, "decoder_input_ids", "past_kv")
        start = input_ids.new_full((input_ids.shape[0], 1), decoder_start_token_id)
        return generate(
            step, cache, start, None, max_new_tokens, eos_token_id, pad_token_id, pick
        )
