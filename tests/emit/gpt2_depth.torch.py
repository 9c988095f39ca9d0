"""gpt2 as a PyTorch module, written by axon 0.

Made again by: axon compile gpt2_depth
Hash of the program and its configuration: 5a0f5309f45469dd
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn


class TransposedLinear(nn.Module):
    """x @ weight + bias, with the weight [in, out]."""

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        if self.bias is None:
            return x @ self.weight
        rows = x.reshape(-1, x.shape[-1])
        return torch.addmm(self.bias, rows, self.weight).reshape(*x.shape[:-1], -1)


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


def newest(x: Tensor, last: int | None) -> Tensor:
    """The last positions of `x` [B, S, ...], as many as asked for; all where it is None."""
    if last is None:
        return x
    if last < 1:
        raise ValueError(f"last is {last}, needs 1 or more")
    return x[:, -last:]


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


def causal_mask(
    slots: Tensor, count: int, real: Tensor | None, window: int | None = None
) -> Tensor:
    """The mask [B or 1, 1, S, count] of keys at or before each query's slot, padding out."""
    behind = slots[:, None] - torch.arange(count, device=slots.device)
    keep = behind >= 0 if window is None else (behind >= 0) & (behind < window)
    return keep[None, None] if real is None else keep & real[:, None, None, :]


def causal_keep(slots: Tensor, count: int, real: Tensor | None) -> Tensor | None:
    """The mask of `causal_mask`; None where the queries' own keys are all there are."""
    if real is None and count == slots.shape[0]:
        return None
    return causal_mask(slots, count, real)


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


def pack_transposed(model: nn.Module, rows: int) -> None:
    """Replaces them as `pack_linears` does others."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if not isinstance(child, TransposedLinear):
                continue
            linear = linear_of(child.weight.T, child.bias)
            whole = packed(linear, rows)
            if whole is not linear:
                sizes = [child.weight.shape[1]]
                setattr(module, name, LinearPart(whole, sizes, 0, turned=True))


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


class Gpt2Output(NamedTuple):
    """What a call gives."""

    logits: Tensor
    new_kv: Cache | None


class Attn(nn.Module):
    """`transformer.h.{i}.attn`."""

    def __init__(self) -> None:
        super().__init__()
        self.c_attn = TransposedLinear(60, 180)
        self.c_proj = TransposedLinear(60, 60)

    def forward(
        self,
        x: Tensor,
        keep: Tensor | None,
        scale: float,
        slots: Tensor,
        past: Store | None,
    ) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        B, S, _ = x.shape
        q, k, v = self.c_attn(x).chunk(3, -1)
        k = k.reshape(B, S, 5, 12).transpose(1, 2)
        v = v.reshape(B, S, 5, 12).transpose(1, 2)
        if past is not None:
            k, v = past.update(slots, k, v)
        q = q.reshape(B, S, 5, 12).transpose(1, 2)
        x = F.scaled_dot_product_attention(
            q, k, v, attn_mask=keep, is_causal=keep is None, scale=scale
        )
        return self.c_proj(x.transpose(1, 2).reshape(B, S, 60))


class Mlp(nn.Module):
    """`transformer.h.{i}.mlp`."""

    def __init__(self) -> None:
        super().__init__()
        self.c_fc = TransposedLinear(60, 84)
        self.c_proj = TransposedLinear(84, 60)

    def forward(self, x: Tensor) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        return self.c_proj(F.relu(self.c_fc(x)))


class H(nn.Module):
    """`transformer.h.{i}` (gpt2.axon:63)."""

    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(60, eps=1e-05)
        self.attn = Attn()
        self.ln_2 = nn.LayerNorm(60, eps=1e-05)
        self.mlp = Mlp()

    @compiled_once
    def forward(
        self,
        x: Tensor,
        keep: Tensor | None,
        scale: float,
        slots: Tensor,
        past: Store | None,
    ) -> Tensor:
        """x [B, S, HIDDEN] -> [B, S, HIDDEN]."""
        x = x + self.attn(self.ln_1(x), keep, scale, slots, past)
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Module):
    """`transformer` (gpt2.axon:84)."""

    def __init__(self) -> None:
        super().__init__()
        self.wte = nn.Embedding(127, 60)
        self.wpe = nn.Embedding(128, 60)
        self.h = nn.ModuleList(H() for _ in range(3))
        self.ln_f = nn.LayerNorm(60, eps=1e-05)

    def forward(
        self,
        input_ids: Tensor,
        positions: Tensor,
        keep: Tensor | None,
        slots: Tensor,
        stores: Sequence[Store | None],
        last: int | None,
    ) -> Tensor:
        """input_ids [B, S], positions [B, S] -> [B, S, VOCAB]."""
        y = self.wte(input_ids) + self.wpe(positions)
        for h, past, scale in zip(
            self.h, stores, (1 / math.sqrt(12), 1 / math.sqrt(48), 1 / math.sqrt(108))
        ):
            y = h(y, keep, scale, slots, past)
        x = self.ln_f(y)
        x = newest(x, last)
        return tied_linear(x, self.wte)


class Gpt2(nn.Module):
    """The program `gpt2`."""

    def __init__(self) -> None:
        super().__init__()
        self.transformer = Transformer()

    def forward(
        self,
        input_ids: Tensor,
        attn_mask: Tensor | None = None,
        past_kv: Cache | None = None,
        use_cache: bool = False,
        capacity: int | None = None,
        last: int | None = None,
    ) -> Gpt2Output:
        """input_ids [B, S], attn_mask [B, K] -> logits [B, S, VOCAB].

        `attn_mask` is 0 at padding; K positions, from the first of the cache.
        """
        if use_cache and past_kv is None:
            past_kv = self.init_cache(input_ids.shape[0], capacity)
        slots, key_count = call_span(past_kv, input_ids)
        stores: Sequence[Store | None] = (
            [None] * 3 if past_kv is None else past_kv.layers
        )
        if attn_mask is not None:
            attn_mask = fit_mask(attn_mask, key_count)
        B, S = input_ids.shape
        keep = causal_keep(slots, key_count, attn_mask)
        if attn_mask is None:
            positions = slots.reshape(1, S).expand(B, S)
        else:
            positions = torch.where(
                attn_mask, attn_mask.long().cumsum(1) - 1, 1
            ).index_select(1, slots)
        logits = self.transformer(input_ids, positions, keep, slots, stores, last)
        if past_kv is not None:
            past_kv.advance(slots.shape[0])
        return Gpt2Output(logits, past_kv)

    @classmethod
    def from_pretrained(
        cls,
        directory: str | Path,
        dtype: torch.dtype = torch.float32,
        device: str | torch.device = "cpu",
    ) -> "Gpt2":
        """The model with the weights of a directory's safetensors files.

        Tensors that the program does not read are dropped and listed in `unread`.
        """
        return load_weights(cls, directory, dtype, device)

    def pack_for_inference(self, rows: int = 1) -> "Gpt2":
        """Lays weights out for fast inference, in place: the last step before it.

        Names and values of `state_dict` stay as they are; no gradients from then on.
        """
        pack_transposed(self, rows)
        pack_linears(self, rows)
        self.transformer.wte = packed_table(self.transformer.wte)
        return self

    def init_cache(self, batch: int, capacity: int | None = None) -> Cache:
        """Empty stores with room for `capacity` positions."""
        if capacity is None:
            capacity = 128
        like = next(self.parameters())
        layers = [
            Store.create(like, (batch, 5, capacity, 12), (batch, 5, capacity, 12))
            for _ in range(3)
        ]
        return Cache(layers, capacity, like.device)

    @torch.no_grad()
    def generate(
        self,
        input_ids: Tensor,
        attn_mask: Tensor | None = None,
        max_new_tokens: int = 20,
        eos_token_id: int | Sequence[int] | None = (),
        pad_token_id: int | None = None,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The prompt followed by new tokens, [B, S + new]: the likeliest each, or drawn at a
        `temperature` above 0. A row ends at an end token; rows are padded on the left.
        """
        cache = self.init_cache(input_ids.shape[0], input_ids.shape[1] + max_new_tokens)
        pick = Sampling(temperature, top_k, top_p, generator)
        return generate(
            self,
            cache,
            input_ids,
            attn_mask,
            max_new_tokens,
            eos_token_id,
            pad_token_id,
            pick,
        )
