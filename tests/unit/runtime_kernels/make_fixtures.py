"""Writes kernels.txt and blocks.txt: inputs and PyTorch (or gguf) results for the kernel tests.

Lines: `case NAME OPERATION TOLERANCE`, `param NAME VALUE` (a float has a point), `in STORAGE SHAPE HEX`,
`none` (an absent operand), `out STORAGE SHAPE HEX`. Shapes are comma separated; HEX is little-endian.
"""

import os

import gguf
import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(7)
RNG = np.random.default_rng(7)
NAMES = {
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.bool: "BOOL",
}
LINES = []


def raw(t):
    t = t.contiguous()
    if t.dtype == torch.bfloat16:
        t = t.view(torch.int16)
    return t.numpy().tobytes().hex()


def shape_text(shape):
    return ",".join(str(int(d)) for d in shape) or "scalar"


def tensor(word, t):
    LINES.append(f"{word} {NAMES[t.dtype]} {shape_text(t.shape)} {raw(t)}".rstrip())


def case(name, operation, inputs, outputs, tolerance=1e-5, **params):
    LINES.append(f"case {name} {operation} {tolerance}")
    for key, value in params.items():
        if isinstance(value, bool):
            value = int(value)
        LINES.append(f"param {key} {value}")
    for t in inputs:
        if t is None:
            LINES.append("none")
        elif isinstance(t, tuple):
            LINES.append(f"in {t[0]} {shape_text(t[1])} {t[2].hex()}")
        else:
            tensor("in", t)
    for t in outputs:
        tensor("out", t)


def save(name):
    path = os.path.join(HERE, name)
    with open(path, "w") as f:
        f.write("\n".join(LINES) + "\n")
    print(name, os.path.getsize(path))
    LINES.clear()


HALVES = {
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
    "IQ4_NL": [0],
    "MXFP4": [],
}


def blocks(name, rows, k):
    kind = gguf.GGMLQuantizationType[name]
    per, size = gguf.GGML_QUANT_SIZES[kind]
    data = RNG.integers(0, 256, (rows * k // per, size), dtype=np.uint8)
    for at in HALVES[name]:
        scale = (
            RNG.uniform(0.01, 0.03, len(data)) * RNG.choice([-1, 1], len(data))
        ).astype(np.float16)
        data[:, at : at + 2] = scale.view(np.uint8).reshape(-1, 2)
    if name == "MXFP4":
        data[:, 0] = RNG.integers(118, 126, len(data))
    dense = gguf.dequantize(data.reshape(rows, -1), kind).reshape(rows, k)
    return data.tobytes(), torch.from_numpy(dense.astype(np.float32))


ACTS = {
    "none": lambda x: x,
    "relu": F.relu,
    "relu2": lambda x: F.relu(x) ** 2,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def linear_expected(
    x, w, bias=None, gate=None, residual=None, activation="none", scale=None
):
    y = F.linear(x.double(), w.double(), None if bias is None else bias.double())
    y = ACTS[activation](y)
    if gate is not None:
        y = y * gate.double()
    if scale is not None:
        y = y * scale
    if residual is not None:
        y = y + residual.double()
    return y.float()


def linears():
    for k in [1, 7, 8, 9, 15, 16, 17, 33, 64]:
        x, w = torch.randn(2, k), torch.randn(5, k)
        case(f"k{k}", "linear", [x, w, None, None, None], [linear_expected(x, w)])
    for n, o in [(1, 1), (1, 4), (3, 9), (4, 8), (5, 2)]:
        x, w = torch.randn(n, 16), torch.randn(o, 16)
        case(f"n{n}o{o}", "linear", [x, w, None, None, None], [linear_expected(x, w)])
    for i, act in enumerate(ACTS):
        x, w, b = torch.randn(2, 2, 11), torch.randn(6, 11), torch.randn(6)
        g, r = torch.randn(2, 2, 6), torch.randn(2, 2, 6)
        case(
            f"epilogue_{act}",
            "linear",
            [x, w, b, g, r],
            [linear_expected(x, w, b, g, r, act, 0.75)],
            activation=i,
            scale=0.75,
        )
        case(
            f"act_{act}",
            "linear",
            [x, w, None, None, None],
            [linear_expected(x, w, activation=act)],
            activation=i,
        )
    x, w, b, r = (
        torch.randn(3, 12),
        torch.randn(7, 12),
        torch.randn(7),
        torch.randn(3, 7),
    )
    case("bias", "linear", [x, w, b, None, None], [linear_expected(x, w, b)])
    case(
        "residual",
        "linear",
        [x, w, None, None, r],
        [linear_expected(x, w, None, None, r)],
    )
    for dtype in (torch.float16, torch.bfloat16):
        wh = w.to(dtype)
        case(
            f"weight_{NAMES[dtype]}",
            "linear",
            [x, wh, b, None, None],
            [linear_expected(x, wh.float(), b)],
        )
    for name in HALVES:
        k = max(64, gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][0])
        data, dense = blocks(name, 3, k)
        x = torch.randn(2, k) * 0.3
        case(
            f"weight_{name}",
            "linear",
            [x, (name, (3, k), data), None, None, None],
            [linear_expected(x, dense)],
            2e-4,
        )
    xs, index = torch.randn(2, 3, 8), torch.tensor([[0, 2, 1], [1, 1, 3]])
    bank, bias = torch.randn(4, 5, 8), torch.randn(4, 5)
    expected = torch.einsum("bsk,bsok->bso", xs, bank[index]) + bias[index]
    case("bank", "expert_linear", [xs, index, bank, bias], [expected])
    case(
        "bank_plain",
        "expert_linear",
        [xs, index, bank, None],
        [torch.einsum("bsk,bsok->bso", xs, bank[index])],
    )
    for a, b in [
        ((2, 3), (3, 4)),
        ((2, 3, 5), (2, 5, 4)),
        ((2, 1, 3, 5), (1, 3, 5, 2)),
        ((1, 1), (1, 1)),
    ]:
        a, b = torch.randn(a), torch.randn(b)
        y = a @ b
        case(
            "matmul",
            "matmul",
            [
                a.expand(*y.shape[:-2], *a.shape[-2:]),
                b.expand(*y.shape[:-2], *b.shape[-2:]),
            ],
            [y],
        )


def tables():
    table, ids = torch.randn(6, 9), torch.tensor([[0, 5, 3], [2, 2, 1]])
    case("f32", "embedding", [ids, table], [table[ids]])
    case("scaled", "embedding", [ids, table], [table[ids] * 3.5], scale=3.5)
    case("bf16", "embedding", [ids, table.bfloat16()], [table.bfloat16().float()[ids]])
    data, dense = blocks("Q8_0", 6, 32)
    case("q8_0", "embedding", [ids, ("Q8_0", (6, 32), data)], [dense[ids]])
    x = torch.randn(2, 3, 5)
    rows = torch.tensor([5, 0, 2])
    case("rows", "select_rows", [x, rows], [x.reshape(6, 5)[rows]])


def norms():
    for d in [1, 7, 8, 9, 33]:
        x, w, b = torch.randn(2, 3, d), torch.randn(d), torch.randn(d)
        case(f"d{d}", "rms_norm", [x, w], [F.rms_norm(x, (d,), w, 1e-5)], eps=1e-5)
        case(
            f"d{d}",
            "layer_norm",
            [x, w, b],
            [F.layer_norm(x, (d,), w, b, 1e-5)],
            2e-5,
            eps=1e-5,
        )
    case("plain", "rms_norm", [x, None], [F.rms_norm(x, (33,), None, 1e-6)], eps=1e-6)
    case(
        "unit_offset",
        "rms_norm",
        [x, w],
        [F.rms_norm(x, (33,), w + 1, 1e-6)],
        eps=1e-6,
        unit_offset=True,
    )
    case(
        "no_bias",
        "layer_norm",
        [x, w, None],
        [F.layer_norm(x, (33,), w, None, 1e-12)],
        2e-5,
        eps=1e-12,
    )
    for d, r in [(8, 8), (10, 4), (6, 6)]:
        x = torch.randn(2, 3, 4, d)
        angle = torch.randn(2, 1, 4, r // 2)
        for inter in (False, True):
            full = (
                angle.repeat_interleave(2, -1)
                if inter
                else torch.cat([angle, angle], -1)
            )
            sin, cos = full.sin(), full.cos()
            h = x[..., :r]
            if inter:
                turned = torch.stack([-h[..., 1::2], h[..., 0::2]], -1).flatten(-2)
            else:
                turned = torch.cat([-h[..., r // 2 :], h[..., : r // 2]], -1)
            y = torch.cat([h * cos + turned * sin, x[..., r:]], -1)
            case(
                f"d{d}r{r}{'i' if inter else 'h'}",
                "rope",
                [x, sin, cos],
                [y],
                interleaved=inter,
                rotary_dim=r,
            )


def attention_expected(
    q, k, v, scale, keep, bias=None, additive=None, sinks=None, softcap=0.0
):
    g = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(g, 1).double(), v.repeat_interleave(g, 1).double()
    s = q.double() @ k.transpose(-1, -2) * scale
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    if bias is not None:
        s = s + bias
    if additive is not None:
        s = s + additive
    s = s.masked_fill(~keep, float("-inf"))
    if sinks is not None:
        s = torch.cat([s, sinks.double().view(1, -1, 1, 1).expand(*s.shape[:3], 1)], -1)
    p = torch.nan_to_num(torch.softmax(s, -1), nan=0.0)
    p = p[..., : k.shape[2]].masked_fill(~keep, 0)
    return (p @ v).float()


def attentions():
    def run(
        name,
        B=1,
        HQ=2,
        HK=2,
        S=3,
        C=6,
        D=5,
        E=4,
        offset=0,
        length=None,
        causal=False,
        window=None,
        key_keep=None,
        bias=None,
        mask=None,
        additive=None,
        sinks=None,
        softcap=0.0,
        scale=None,
        store=torch.float32,
    ):
        q = torch.randn(B, HQ, S, D)
        k, v = torch.randn(B, HK, C, D).to(store), torch.randn(B, HK, C, E).to(store)
        i, j = torch.arange(S).view(S, 1) + offset, torch.arange(C).view(1, C)
        keep = (j < (C if length is None else length)).expand(S, C).clone()
        if causal:
            keep &= j <= i
        if window is not None:
            keep &= (j > i - window) if causal else ((j - i).abs() <= window)
        keep = keep.view(1, 1, S, C).expand(B, HQ, S, C).clone()
        if key_keep is not None:
            keep &= key_keep.view(B, 1, 1, C)
        if mask is not None:
            keep &= mask
        params = {"causal": causal, "offset": offset}
        if scale is not None:
            params["scale"] = scale
        if length is not None:
            params["length"] = length
        if window is not None:
            params["window"] = window
        if softcap:
            params["softcap"] = softcap
        y = attention_expected(
            q,
            k.float(),
            v.float(),
            scale or D**-0.5,
            keep,
            bias,
            additive,
            sinks,
            softcap,
        )
        m = mask if mask is not None else additive
        m = None if m is None else m.expand(B, HQ, S, C)
        b = None if bias is None else bias.expand(B, HQ, S, C)
        case(name, "attention", [q, k, v, key_keep, b, m, sinks], [y], 2e-5, **params)

    run("full")
    run("one_key", S=1, C=1)
    run("causal", causal=True, S=6)
    run("causal_offset", causal=True, offset=2, S=3, length=5)
    run("step", B=2, HQ=4, HK=2, S=1, C=9, D=8, E=8, causal=True, offset=6, length=7)
    run("gqa", B=2, HQ=6, HK=2, S=4, C=4, D=16, E=16, causal=True)
    run("window", causal=True, S=6, window=2)
    run("window_both", S=6, window=1)
    run(
        "padding",
        B=2,
        S=4,
        C=4,
        causal=True,
        key_keep=torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]]).bool(),
    )
    run("bias", bias=torch.randn(1, 2, 3, 6))
    run("mask", mask=torch.rand(1, 1, 3, 6) > 0.5)
    run("empty_rows", mask=torch.tensor([1, 0, 1]).bool().view(1, 1, 3, 1))
    run("additive", additive=torch.randn(1, 1, 3, 6))
    run("sinks", sinks=torch.randn(2), causal=True, S=6)
    run("softcap", softcap=2.0, causal=True, S=6)
    run("scale", scale=0.2)
    run("f16_store", store=torch.float16, D=16, E=16)
    run("bf16_store", store=torch.bfloat16, D=7, E=9)


UNARY = [
    "neg",
    "exp",
    "log",
    "sin",
    "cos",
    "acos",
    "sqrt",
    "rsqrt",
    "floor",
    "round",
    "relu",
    "relu2",
    "silu",
    "gelu",
    "gelu_tanh",
    "sigmoid",
    "tanh",
    "not",
    "abs",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "mod",
    "pow",
    "min",
    "max",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and",
    "or",
]


def elementwise():
    x = torch.randn(3, 7) * 2
    plain = {
        "neg": torch.neg,
        "exp": torch.exp,
        "log": torch.log,
        "sin": torch.sin,
        "cos": torch.cos,
        "acos": torch.acos,
        "sqrt": torch.sqrt,
        "rsqrt": torch.rsqrt,
        "floor": torch.floor,
        "round": torch.round,
        "abs": torch.abs,
        **ACTS,
    }
    for code, name in enumerate(UNARY):
        if name == "not":
            b = torch.tensor([[True, False, True]])
            case("not", "unary", [b], [~b], code=code)
            continue
        v = x
        if name in ("log", "sqrt", "rsqrt"):
            v = x.abs() + 0.1
        elif name == "acos":
            v = torch.rand(3, 7) * 2 - 1
        elif name == "round":
            v = torch.tensor([[0.5, 1.5, 2.5, -0.5, -1.5, 3.2, -3.7]])
        case(name, "unary", [v], [plain[name](v)], code=code)
    case("neg_int", "unary", [torch.tensor([3, -4])], [torch.tensor([-3, 4])], code=0)
    ops = {
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "div": torch.div,
        "mod": torch.remainder,
        "pow": torch.pow,
        "min": torch.minimum,
        "max": torch.maximum,
        "eq": torch.eq,
        "ne": torch.ne,
        "lt": torch.lt,
        "le": torch.le,
        "gt": torch.gt,
        "ge": torch.ge,
        "and": torch.logical_and,
        "or": torch.logical_or,
    }
    a, b = torch.tensor([[1.5, -2.0, 3.0, 0.0]]), torch.tensor([[2.0, 3.0, 3.0, -1.5]])
    i, j = torch.tensor([[7, -7, 3, 0]]), torch.tensor([[2, 2, 3, 5]])
    for code, name in enumerate(BINARY):
        base = a.abs() + 0.5 if name == "pow" else a
        case(name, "binary", [base, b], [ops[name](base, b)], code=code)
        case(
            name + "_scalar",
            "binary_scalar",
            [base],
            [ops[name](base, torch.tensor(2.5))],
            code=code,
            value=2.5,
        )
        if name == "div":
            case(
                "div_int",
                "binary",
                [i, j],
                [torch.div(i, j, rounding_mode="floor")],
                code=code,
            )
            continue
        case(name + "_int", "binary", [i, j], [ops[name](i, j)], code=code)
        case(
            name + "_int_scalar",
            "binary_scalar",
            [i],
            [ops[name](i, torch.tensor(2))],
            code=code,
            value=2,
        )
    case(
        "sub_reversed",
        "binary_scalar",
        [a],
        [1.0 - a],
        code=1,
        value=1.0,
        reversed=True,
    )
    case("add_f16", "binary", [a.half(), b.half()], [a.half() + b.half()], code=0)
    case("add_broadcast", "binary", [x, x[:1].expand(3, 7)], [x + x[:1]], code=0)
    c = torch.tensor([[True, False, True, False]])
    case("where", "where", [c, a, b], [torch.where(c, a, b)])
    case("where_int", "where", [c, i, j], [torch.where(c, i, j)])
    for dtype in NAMES:
        case("cast", "cast", [a], [a.to(dtype)])
        case("cast_back", "cast", [a.to(dtype)], [a.to(dtype).float()])
    case("copy", "copy", [x], [x])
    case("fill", "fill", [], [torch.full((2, 3), 1.5)], value=1.5)
    case("fill_int", "fill", [], [torch.full((5,), -3)], value=-3)
    case("arange", "arange", [], [torch.arange(3, 20)], start=3)
    case("clamp", "clamp", [x], [x.clamp(-1.0, 0.5)], min=-1.0, max=0.5)
    case("clamp_min", "clamp", [i], [i.clamp(min=1)], min=1)
    y = torch.randn(2, 2, 3, 2)
    case("repeat", "repeat_axis", [y], [y.repeat_interleave(3, 1)], axis=1, repeats=3)
    z = torch.randn(2, 5, 3)
    s = torch.randn(2, 2, 3)
    w = z.clone()
    w[:, 1:3] = s
    case("assign", "assign_slice", [z, s], [w], axis=1, start=1)


def reductions():
    x = torch.randn(2, 5, 3)
    n = torch.randint(-5, 5, (2, 5, 3))
    for axis in (0, 1, 2):
        for code, f in enumerate(
            [torch.sum, torch.amax, torch.amin, torch.prod, torch.mean]
        ):
            case(f"code{code}", "reduce", [x], [f(x, axis)], code=code, axis=axis)
        case("sum_int", "reduce", [n], [n.sum(axis, keepdim=True)], code=0, axis=axis)
        case("cumsum", "cumsum", [x], [x.cumsum(axis)], axis=axis)
        case("cumsum_int", "cumsum", [n], [n.cumsum(axis)], axis=axis)
        case("softmax", "softmax", [x], [x.softmax(axis)], axis=axis)
        v, i = x.topk(2, axis)
        case("topk", "topk", [x], [v, i], k=2, axis=axis, largest=True, sorted=True)
        v, i = x.topk(2, axis, largest=False)
        case(
            "smallest", "topk", [x], [v, i], k=2, axis=axis, largest=False, sorted=True
        )
        case(
            "argsort",
            "argsort",
            [n],
            [n.argsort(dim=axis, stable=True)],
            axis=axis,
            stable=True,
        )
        case(
            "argsort_down",
            "argsort",
            [n],
            [n.argsort(dim=axis, descending=True, stable=True)],
            axis=axis,
            descending=True,
            stable=True,
        )
    case("sum_bool", "reduce", [x > 0], [(x > 0).sum(1)], code=0, axis=1)
    index = torch.randint(0, 5, (2, 4, 3))
    case("gather", "gather", [x, index], [x.gather(1, index)], axis=1)
    unique = (
        torch.stack([torch.randperm(5)[:3] for _ in range(6)])
        .view(2, 3, 3)
        .transpose(1, 2)
        .contiguous()
    )
    src = torch.randn(2, 3, 3)
    case("scatter", "scatter", [x, unique, src], [x.scatter(1, unique, src)], axis=1)
    case(
        "scatter_value",
        "scatter",
        [x, unique, None],
        [x.scatter(1, unique, 2.5)],
        axis=1,
        value=2.5,
    )
    src = torch.randn(2, 4, 3)
    for code, name in enumerate(["sum", "amax", "amin", "prod", "mean"]):
        for own in (True, False):
            y = x.scatter_reduce(1, index, src, name, include_self=own)
            case(
                name,
                "scatter_reduce",
                [x, index, src],
                [y],
                axis=1,
                code=code,
                include_self=own,
            )
    places = torch.tensor([1, 1, 4])
    add = torch.randn(2, 3, 3)
    case(
        "index_add",
        "index_add",
        [x, places, add],
        [x.index_add(1, places, add)],
        axis=1,
    )
    for stride, left, right, dilation, groups in [
        (1, 0, 0, 1, 1),
        (2, 2, 1, 1, 2),
        (1, 3, 0, 2, 4),
    ]:
        a, w, b = torch.randn(2, 4, 7), torch.randn(8, 4 // groups, 3), torch.randn(8)
        y = F.conv1d(F.pad(a, (left, right)), w, b, stride, 0, dilation, groups)
        case(
            "conv",
            "conv1d",
            [a, w, b],
            [y],
            2e-5,
            stride=stride,
            padding_left=left,
            padding_right=right,
            dilation=dilation,
            groups=groups,
        )


def decoded_blocks():
    for name in HALVES:
        per = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][0]
        data, dense = blocks(name, 1, 4 * per if per == 32 else 2 * per)
        LINES.append(f"{name} {data.hex()} {raw(dense)}")


decoded_blocks()
save("blocks.txt")
linears()
tables()
save("products.txt")
norms()
attentions()
save("attention.txt")
elementwise()
reductions()
save("general.txt")


def strange_numbers():
    """NaN and infinity come out of kernels as PyTorch gives them, wherever in a row they stand."""
    nan, inf = float("nan"), float("inf")
    for place in (0, 9, 18):
        x = torch.linspace(-3, 3, 19).repeat(2, 1)
        x[0, place] = nan
        case("softmax_nan", "softmax", [x], [x.softmax(1)], axis=1)
        x[1, place] = -inf
        for code, name in enumerate(UNARY):
            if name in ("sigmoid", "tanh", "silu", "relu"):
                case(f"{name}_nan", "unary", [x], [ACTS[name](x)], code=code)


strange_numbers()
save("strange.txt")
