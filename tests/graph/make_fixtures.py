#!/usr/bin/env python3
"""Writes tests/graph/fixtures/*.txt: operands and results of primitives, computed with PyTorch."""

import itertools
import math

import torch
import torch.nn.functional as F
from fixture_sweeps import (
    sweep_elementwise,
    sweep_layers,
    sweep_layout,
    sweep_reductions,
    sweep_scatter,
)
from fixture_text import FLOATS, Path, case, error, ints, rand, write

torch.manual_seed(1)


def elementwise():
    shapes = [
        ((3,), (3,)),
        ((2, 1, 3), (4, 1)),
        ((1,), (2, 2)),
        ((), (3,)),
        ((0, 3), (3,)),
        ((2, 3), ()),
    ]
    for a, b in shapes:
        for da, db in [
            (FLOATS[0], FLOATS[0]),
            (FLOATS[1], FLOATS[1]),
            (FLOATS[2], FLOATS[2]),
        ]:
            x, y = rand(*a, dtype=da), rand(*b, dtype=db)
            case("add", [x, y], x + y)
            case("mul", [x, y], x * y)
            case("div", [x, y], x / y)
            case("core.binary.-", [x, y], x - y)
            case("eq", [x, x], x == x)
            case("le", [x, y], x <= y)
            case("core.binary.<", [x, y], x < y)
            case("core.binary.>=", [x, y], x >= y)
            case("core.binary.!=", [x, y], x != y)
    # Promotion. Operands have an axis each, because PyTorch lets rank 0 be weaker; ours does not.
    kinds = FLOATS + [torch.int64, torch.int32, torch.bool]
    for da, db in itertools.product(kinds, kinds):
        x = (
            rand(2, 2, dtype=da)
            if da.is_floating_point
            else ints(2, 2, low=0, dtype=da)
        )
        y = rand(2, dtype=db) if db.is_floating_point else ints(2, low=1, dtype=db)
        case("add", [x, y], x + y)
        case("mul", [x, y], x * y)
        case("div", [x, y], x / y)
        case("le", [x, y], x <= y)
        case("and", [x, y], torch.logical_and(x, y))
        case("core.binary.or", [x, y], torch.logical_or(x, y))
        case(
            "where",
            [torch.tensor([True, False]), x, y],
            torch.where(torch.tensor([True, False]), x, y),
        )
    for dt in kinds:
        x = rand(2, 3, dtype=dt) if dt.is_floating_point else ints(2, 3, dtype=dt)
        for s in [2, 0.5, -3]:
            case("add", [x, s], x + s)
            case("core.binary.*", [s, x], s * x)
            case("core.binary./", [x, s], x / s)
            case("core.binary.>", [x, s], x > s)
            if dt != torch.bool:
                case("core.binary.-", [s, x], s - x)
                case("core.binary.%", [x, s], x % s)
            case("where", [x > 0, x, s], torch.where(x > 0, x, s))
        case("eq", [x, 1], x == 1)
    for dt in FLOATS:
        x = rand(2, 5, dtype=dt)
        case("exp", [x], x.exp())
        case("log", [x.abs()], x.abs().log())
        case("sin", [x], x.sin())
        case("cos", [x], x.cos())
        case("sqrt", [x.abs()], x.abs().sqrt())
        case("acos", [x.clamp(-1, 1)], x.clamp(-1, 1).acos())
        case("pow", [x, 2], x**2)
        case("pow", [x.abs(), 0.5], x.abs() ** 0.5)
        case("pow", [x.abs(), x], x.abs() ** x)
        case("pow", [2.0, x], 2.0**x)
        case("floor", [x * 3], (x * 3).floor())
        case("round", [x * 3], (x * 3).round())
        case("clamp", [x, -0.5, 0.5], x.clamp(-0.5, 0.5))
        case("clamp", [x, None, 0.25], x.clamp(max=0.25))
        case("clamp", [x, 0, None], x.clamp(min=0))
        case("core.binary.%", [x, x.flip(1)], x % x.flip(1))
        a = {
            "gelu": F.gelu(x),
            "tanh": x.tanh(),
            "sigmoid": x.sigmoid(),
            "silu": F.silu(x),
            "relu": F.relu(x),
            "relu2": F.relu(x) ** 2,
            "gelu_new": F.gelu(x, approximate="tanh"),
            "gelu_pytorch_tanh": F.gelu(x, approximate="tanh"),
            "swiglu": (F.silu(x.float()) * x.float()).to(dt),
        }
        for name, out in a.items():
            case("activations_" + name, [x], out)
        g, l = x[:, :4].float()[..., 0::2], x[:, :4].float()[..., 1::2]
        case(
            "activations_gegelu",
            [x[:, :4], None],
            (g * torch.sigmoid(1.702 * g) * (l + 1)).to(dt),
        )
        gc, lc = g.clamp(max=0.5), l.clamp(-0.5, 0.5)
        case(
            "activations_gegelu",
            [x[:, :4], 0.5],
            (gc * torch.sigmoid(1.702 * gc) * (lc + 1)).to(dt),
        )
    odd = torch.tensor(
        [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, float("inf"), float("nan"), -float("inf")]
    )
    case("round", [odd], odd.round())
    case("clamp", [odd, -1.0, 1.0], odd.clamp(-1, 1))
    case("exp", [odd], odd.exp())
    case("activations_relu", [odd], F.relu(odd))
    case("eq", [odd, odd], odd == odd)
    case("le", [odd, odd], odd <= odd)
    case("core.binary.!=", [odd, odd], odd != odd)
    i = ints(6)
    case("clamp", [i, -2, 2], i.clamp(-2, 2))
    case("clamp", [7, 0, 5], 5)
    case("clamp", [0.25, 0.5, None], 0.5)
    case("floor", [i], i)
    case("sqrt", [i.abs()], i.abs().sqrt())
    case("pow", [i, 3], i**3)
    big = torch.tensor([2**62, -(2**62), 3**39])
    case("mul", [big, 6364136223846793005], big * 6364136223846793005)
    case("add", [big, big], big + big)
    case("core.binary.%", [big, 1000003], big % 1000003)
    small = torch.tensor([2**30, -(2**31)], dtype=torch.int32)
    case("add", [small, small], small + small)
    case("mul", [small, 3], small * 3)
    x = rand(2, 3)
    ap, an, beta, eps = (
        torch.tensor([0.4]),
        torch.tensor([0.2]),
        torch.tensor(0.5),
        torch.tensor(-1e-6),
    )
    p, n = F.softplus(ap), beta + F.softplus(an)
    case(
        "activations_xielu",
        [x, ap, an, beta, eps],
        torch.where(
            x > 0,
            p * x * x + beta * x,
            (torch.expm1(torch.min(x, eps)) - x) * n + beta * x,
        ),
    )
    case(
        "where_indices",
        [torch.tensor([[0, 2, 0], [1, 0, 3]])],
        tuple(torch.where(torch.tensor([[0, 2, 0], [1, 0, 3]]) != 0)),
    )
    case(
        "where_indices",
        [torch.zeros(2, 2, dtype=torch.bool)],
        (torch.zeros(0).long(), torch.zeros(0).long()),
    )
    c, a3, b3 = rand(2, 1, 1) > 0, rand(1, 3, 1), rand(4)
    case("where", [c, a3, b3], torch.where(c, a3, b3))
    case("where", [True, 3, x], 3)
    case("where", [False, 3, None], None)
    case("where", [c, 1, 0], torch.where(c, 1, 0))
    case("where", [c, 1.5, 0], torch.where(c, 1.5, 0.0))
    error("add", [rand(2), rand(3)], "RUN-SHAPE")
    error("mul", [rand(2), None], "RUN-NULL")
    error("le", [None, 1], "RUN-NULL")
    error("core.binary.%", [i, 0], "RUN-DIV-ZERO")
    error("activations_gegelu", [rand(2, 3), None], "RUN-SHAPE")
    error("activations_relu", [3], "RUN-VALUE")
    error("activations_relu", [None], "RUN-NULL")
    write("elementwise.txt")


def scalars():
    case("core.binary./", [7, 2], 3)
    case("core.binary./", [-7, 2], -4)
    case("core.binary./", [8, -2], -4)
    case("core.binary./", [7.0, 2], 3.5)
    case("core.binary./", [1.0, 0], math.inf)
    case("div", [7, 2], 3)
    case("div", [7, 2.0], 3.5)
    case("core.binary.%", [-7, 3], 2)
    case("core.binary.%", [7, -3], -2)
    case("core.binary.%", [-7.5, 2], 0.5)
    case("core.binary.+", [2, 0.5], 2.5)
    case("core.binary.+", [None, 3], 3)
    case("core.binary.+", [3, None], 3)
    case("core.binary.+", ["a", "b"], "ab")
    case("core.binary.-", [3, None], 3)
    case("core.binary.==", [None, None], True)
    case("core.binary.==", [None, rand(2)], False)
    case("core.binary.!=", [rand(2), None], True)
    case("eq", [None, 3], False)
    case("eq", [3, 3.0], True)
    case("core.binary.==", ["a", "a"], True)
    case("core.binary.==", [Path("a.b"), Path("a.c")], False)
    case("core.binary.==", [[1, 2], [1, 2]], True)
    case("core.binary.<", [2, 2.5], True)
    case("core.binary.and", [True, False], False)
    case("core.binary.or", [None, True], True)
    case("pow", [2, 10], 1024)
    case("pow", [2, 0.5], 2**0.5)
    case("pow", [-1, -3], -1)
    case("sqrt", [9], 3.0)
    case("exp", [0.5], math.exp(0.5))
    case("log", [2.0], math.log(2.0))
    case("floor", [-1.5], -2)
    case("floor", [3], 3)
    case("round", [2.5], 2)
    case("round", [-3.5], -4)
    error("core.binary./", [1, 0], "RUN-DIV-ZERO")
    error("core.binary.%", [1, 0], "RUN-DIV-ZERO")
    error("core.binary.+", [2**63 - 1, 1], "RUN-OVERFLOW")
    error("core.binary.*", [2**40, 2**40], "RUN-OVERFLOW")
    error("core.binary./", [-(2**63), -1], "RUN-OVERFLOW")
    error("core.binary.-", [None, 3], "RUN-NULL")
    error("core.binary.*", [3, None], "RUN-NULL")
    error("core.binary.<", [3, None], "RUN-NULL")
    error("core.binary.<", ["a", "b"], "RUN-VALUE")
    error("pow", [2, -1], "RUN-VALUE")
    error("log", [0], "RUN-VALUE")
    error("sqrt", [-1.0], "RUN-VALUE")
    error("floor", [1e300], "RUN-OVERFLOW")
    case("list_init", [], [])
    case("list_append", [None, 3], [3])
    case("list_append", [[1], 2], [1, 2])
    case("list_index", [[4, 5, 6], 1], 5)
    case("list_index", [[4, 5, 6], -1], 6)
    case("list_index", [None, 1], None)
    case("list_length", [[4, 5]], 2)
    case("list_length", [None], 0)
    case("require", [3], 3)
    error("require", [None], "RUN-NULL")
    error("list_index", [[1], 1], "RUN-INDEX")
    error("list_index", [[1], -2], "RUN-INDEX")
    write("scalars.txt")


def layout():
    x = rand(2, 3, 4)
    case("shape", [x], [2, 3, 4])
    case("tensor_size", [x, -1], 4)
    case("reshape", [x, [6, -1]], x.reshape(6, 4))
    case("reshape", [x, [24]], x.reshape(24))
    case("reshape", [rand(0, 3), [3, 0]], torch.zeros(3, 0))
    case("permute", [x, [2, 0, 1]], x.permute(2, 0, 1))
    case("permute", [x, [-1, 0, 1]], x.permute(2, 0, 1))
    case("transpose", [x, 0, -1], x.transpose(0, -1))
    case("transpose", [x, 1, 1], x)
    for d in [0, 1, 3, -1, -2, -4]:
        case("unsqueeze", [x, d], x.unsqueeze(d))
    y = rand(2, 1, 4)
    case("expand", [y, [2, 3, 4]], y.expand(2, 3, 4))
    case("expand", [y, [5, -1, 3, -1]], y.expand(5, -1, 3, -1))
    z = rand(2, 1, 4)
    case("concat", [x, z, 1], torch.cat([x, z], 1))
    case("concat", [x, x], torch.cat([x, x], -1))
    case("concat", [[x, z, z], None, 1], torch.cat([x, z, z], 1))
    h = rand(2, 3, dtype=torch.bfloat16)
    k = ints(2, 2)
    case("concat", [h, k, -1], torch.cat([h, k.to(torch.bfloat16)], -1))
    case("concat", [rand(0, 4), x[0], 0], x[0])
    case("slice", [x, 1, 1, 3], x[:, 1:3])
    case("slice", [x, -1, 2, 2], x[..., 2:2])
    case("split", [x, -1, [1, 3]], list(x.split([1, 3], -1)))
    case("split", [x, 1, [0, 3]], list(x.split([0, 3], 1)))
    case("chunk", [x, -1, 2], list(x.chunk(2, -1)))
    case("chunk", [x, -1, 3], list(x.chunk(3, -1)))
    f = rand(1, 5)
    case("chunk", [f, 1, 4], list(f.chunk(4, 1)))
    case("repeat", [x, 2, 1], x.repeat_interleave(2, 1))
    case("repeat", [x, 1, 0], x)
    case("repeat", [x, 3, -1], x.repeat_interleave(3, -1))
    case("arange", [x], torch.arange(0, 3))
    case("arange", [x[0]], torch.arange(0, 4))
    case("arange", [x, 2, 6], torch.arange(2, 6))
    case("arange", [x, 2, 2], torch.arange(2, 2))
    case("zeros", [k, [2, 2]], torch.zeros(2, 2).long())
    case("zeros", [k, [2, 2], "fp16"], torch.zeros(2, 2).half())
    case("zeros_like", [h], torch.zeros_like(h))
    case("full", [h, [2], 0.1], torch.full([2], 0.1, dtype=torch.bfloat16))
    case("full", [h, [2], 7, "long"], torch.full([2], 7))
    case("full", [k, [2], True, "bool"], torch.full([2], True))
    case("fill", [x, 3], torch.full_like(x, 3))
    case("fill", [x, -1.5, "half"], torch.full_like(x, -1.5, dtype=torch.float16))
    case("tensor_like", [k, x], k.float())
    case("tensor_like", [[1, 2, 3], k], torch.tensor([1, 2, 3]))
    case(
        "tensor_like",
        [[0.5, 2], x, "bf16"],
        torch.tensor([0.5, 2], dtype=torch.bfloat16),
    )
    case("tensor_like", [2, h], torch.full_like(h, 2))
    v = torch.tensor([0.0, -0.5, 1.9, -1.9, 300.7, 1e-8])
    for name, dt in [
        ("float32", torch.float32),
        ("half", torch.float16),
        ("bfloat16", torch.bfloat16),
        ("int", torch.int32),
        ("long", torch.int64),
        ("boolean", torch.bool),
    ]:
        case("cast", [v, name], v.to(dt))
        case("cast", [k, name], k.to(dt))
        case("cast_like", [v, torch.zeros(1, dtype=dt)], v.to(dt))
    case("cast", [h, None], h)
    case("cast", [h, "default"], h)
    halves = torch.tensor(
        [1.00048828125, 65519.0, 65520.0, 6e-8, 2.9e-8, -1.0009765625, 0.1, 1e30]
    )
    case("cast", [halves, "float16"], halves.half())
    case("cast", [halves, "bfloat16"], halves.bfloat16())
    wide = torch.tensor([2**40 + 5, -(2**31) - 1])
    case("cast", [wide, "int32"], wide.to(torch.int32))
    for dt in FLOATS:
        info = torch.finfo(dt)
        for kind in ["min", "max", "eps", "tiny"]:
            case(
                "dtype_value",
                [torch.zeros(1, dtype=dt), kind],
                float(getattr(info, kind)),
            )
        case("dtype_value", [torch.zeros(1, dtype=dt), "-inf"], -math.inf)
    error("reshape", [x, [5, -1]], "RUN-SHAPE")
    error("reshape", [x, [-1, -1]], "RUN-VALUE")
    error("reshape", [x, []], "RUN-SHAPE")
    error("reshape", [x, None], "RUN-NULL")
    error("permute", [x, [0, 0, 1]], "RUN-VALUE")
    error("expand", [x, [2, 4, 4]], "RUN-SHAPE")
    error("concat", [x, x[0]], "RUN-SHAPE")
    error("slice", [x, 1, 2, 4], "RUN-INDEX")
    error("slice", [x, 1, -1, 2], "RUN-INDEX")
    error("slice", [x, 3, 0, 1], "RUN-INDEX")
    error("split", [x, -1, [1, 2]], "RUN-SHAPE")
    error("chunk", [x, -1, 0], "RUN-VALUE")
    error("chunk", [x, -1, None], "RUN-NULL")
    error("cast", [x, "float8"], "RUN-DTYPE")
    error("dtype_value", [k, "max"], "RUN-VALUE")
    error("dtype_value", [x, "most"], "RUN-VALUE")
    write("layout.txt")


def reductions():
    for dt in FLOATS:
        x = rand(2, 3, 4, dtype=dt)
        for d in [0, 1, -1]:
            case("sum", [x, d], x.sum(d))
            case("sum", [x, d, True], x.sum(d, keepdim=True))
            case("cumsum", [x, d], x.float().cumsum(d).to(dt))
            case("softmax", [x, d], x.softmax(d))
            v, i = x.sort(dim=d, descending=True, stable=True)
            case("topk", [x, 2, d], (v.narrow(d, 0, 2), i.narrow(d, 0, 2)))
            v, i = x.sort(dim=d, stable=True)
            case("topk", [x, 2, d, False], (v.narrow(d, 0, 2), i.narrow(d, 0, 2)))
            case("argsort", [x, d], x.argsort(dim=d, stable=True))
            case(
                "argsort", [x, d, True], x.argsort(dim=d, descending=True, stable=True)
            )
        case("softmax", [x, -1, "float32"], x.float().softmax(-1))
        y = rand(4, 5, dtype=dt)
        case("matmul", [x, y], x @ y)
        b = rand(3, 4, 2, dtype=dt)
        case("matmul", [x.reshape(2, 1, 3, 4), b], x.reshape(2, 1, 3, 4) @ b)
        case("matmul", [x.float(), y], x.float().to(dt) @ y)
        case("matmul", [x, y.float()], x.float() @ y.float())
    i = ints(2, 5)
    case("sum", [i, -1], i.sum(-1))
    case("sum", [i > 0, 0], (i > 0).sum(0))
    case("sum", [i.int(), 0], i.int().sum(0))
    case("cumsum", [i > 0, 1], (i > 0).cumsum(1))
    case("cumsum", [i], i.cumsum(-1))
    case("sum", [rand(0, 3), 0], torch.zeros(3))
    j = ints(5, 2)
    case("matmul", [i, j], i @ j)
    case("matmul", [torch.zeros(2, 0), torch.zeros(0, 3)], torch.zeros(2, 3))
    ties = torch.tensor([1.0, 3.0, 3.0, float("nan"), 1.0, -float("inf")])
    case("topk", [ties, 4], (ties[[3, 1, 2, 0]], torch.tensor([3, 1, 2, 0])))
    case("topk", [ties, 3, -1, False], (ties[[5, 0, 4]], torch.tensor([5, 0, 4])))
    m = torch.tensor(
        [[0.0, -float("inf"), 2.0], [1e30, -1e30, 1e30], [1e4, 1e4 + 1, 0]]
    )
    case("softmax", [m], m.softmax(-1))
    case("softmax", [torch.full((2,), -float("inf"))], torch.full((2,), float("nan")))
    error("sum", [rand(2), 1], "RUN-INDEX")
    error("topk", [rand(2), 3], "RUN-INDEX")
    error("matmul", [rand(2, 3), rand(2, 3)], "RUN-SHAPE")
    error("matmul", [rand(3), rand(3, 2)], "RUN-VALUE")
    error("softmax", [ints(3)], "RUN-VALUE")

    x, index = rand(2, 4, 3), torch.randint(0, 4, (2, 5, 3))
    case("gather", [x, index, 1], x.gather(1, index))
    case("gather", [x, index[:1, :, :2], 1], x.gather(1, index[:1, :, :2]))
    once = (
        torch.stack([torch.randperm(4)[:2] for _ in range(6)])
        .reshape(2, 3, 2)
        .transpose(1, 2)
        .contiguous()
    )
    src = rand(2, 2, 3)
    case("scatter", [x, once, src, 1], x.scatter(1, once, src))
    case("scatter", [x, once, 7.5, 1], x.scatter(1, once, 7.5))
    i4 = ints(4)
    case(
        "scatter",
        [i4, torch.tensor([0, 2]), 9],
        i4.scatter(-1, torch.tensor([0, 2]), 9),
    )
    wide = torch.randint(0, 4, (2, 6, 3))
    s = rand(2, 6, 3)
    for how, theirs in [
        ("sum", "sum"),
        ("prod", "prod"),
        ("mean", "mean"),
        ("max", "amax"),
        ("min", "amin"),
    ]:
        for own in [True, False]:
            case(
                "scatter_reduce",
                [x, wide, s, 1, how, own],
                x.scatter_reduce(1, wide, s, theirs, include_self=own),
            )
    case(
        "index_add",
        [x, torch.tensor([3, 0, 3]), s[:, :3], 1],
        x.index_add(1, torch.tensor([3, 0, 3]), s[:, :3]),
    )
    a2 = ints(2)
    case(
        "index_add",
        [i4, torch.tensor([1, 1]), a2],
        i4.index_add(0, torch.tensor([1, 1]), a2),
    )
    case("index_add", [x, torch.zeros(0).long(), torch.zeros(2, 0, 3), 1], x)

    def assigned(x, src, d, start, end):
        out = x.clone()
        out.narrow(d, start, end - start).copy_(src)
        return out

    case("assign_slice", [x, src, 1, 1, 3], assigned(x, src, 1, 1, 3))
    case(
        "assign_slice",
        [x.half(), src[:, :1], 1, 0, 3],
        assigned(x.half(), src[:, :1], 1, 0, 3),
    )
    case("assign_slice", [x, src[:, :0], 1, 2, 2], x)
    case("assign_unit_slice", [x, src[:, :1], 1, 3], assigned(x, src[:, :1], 1, 3, 4))
    error("gather", [x, index + 4, 1], "RUN-INDEX")
    error("gather", [x, index[:, :, :1].expand(2, 5, 4), 1], "RUN-SHAPE")
    error("scatter", [x, once, src[:1], 1], "RUN-SHAPE")
    error("index_add", [x, torch.tensor([4]), s[:, :1], 1], "RUN-INDEX")
    error("index_add", [x, torch.tensor([1]), s[:, :2], 1], "RUN-SHAPE")
    error("assign_slice", [x, src, 1, 3, 5], "RUN-INDEX")
    error("assign_slice", [x, src, 1, 1, 4], "RUN-SHAPE")
    error("scatter_reduce", [x, wide, s, 1, "median"], "RUN-VALUE")
    write("reductions.txt")


def layers():
    for dt in FLOATS:
        x, w, b = rand(2, 3, 4, dtype=dt), rand(5, 4), rand(5)
        params = {"p.weight": w, "p.bias": b, "t": w.t().contiguous()}
        case("linear", [Path("p"), x], F.linear(x, w.to(dt)), params)
        case("linear", [Path("p"), x, 5, True], F.linear(x, w.to(dt), b.to(dt)), params)
        case(
            "linear",
            [Path("p"), x, None, False, True, None, Path("t")],
            F.linear(x, w.to(dt)),
            params,
        )
        case(
            "linear",
            [Path("p"), x, None, True, False, None, Path("p.weight"), Path("none")],
            F.linear(x, w.to(dt)),
            params,
        )
        bank, bb = rand(3, 5, 4), rand(3, 5)
        params = {"e.weight": bank, "e.bias": bb, "s.bias": b}
        case(
            "linear",
            [Path("e"), x, None, True, False, 2],
            F.linear(x, bank[2].to(dt), bb[2].to(dt)),
            params,
        )
        case(
            "linear",
            [Path("e"), x, None, True, False, 1, Path("e.weight"), Path("s.bias")],
            F.linear(x, bank[1].to(dt), b.to(dt)),
            params,
        )
        idx = ints(2, 3, low=0, high=3)
        out = torch.einsum("bti,btoi->bto", x.float(), bank[idx]).to(dt)
        case("expert_linear", [Path("e"), x, idx], out, params)
        case(
            "expert_linear",
            [Path("e"), x, idx, None, True],
            out + bb[idx].to(dt),
            params,
        )
        case(
            "expert_linear",
            [Path("e"), x, idx, None, False, True, Path("q")],
            out,
            {"q": bank.transpose(1, 2).contiguous()},
        )
        g, h = rand(4), rand(4)
        params = {"n.weight": g, "n.bias": h}
        case(
            "layernorm",
            [Path("n"), x, 1e-3],
            F.layer_norm(x.float(), (4,), g, h, 1e-3).to(dt),
            params,
        )
        case(
            "layernorm",
            [Path("n"), x, None, None, Path("n.weight"), False],
            F.layer_norm(x.float(), (4,), g, None, 1e-5).to(dt),
            params,
        )
        case(
            "layernorm",
            [Path("n"), x],
            F.layer_norm(x.float(), (4,), g, None, 1e-5).to(dt),
            {"n.weight": g},
        )
        case(
            "rmsnorm",
            [x, 1e-4, None, True],
            F.rms_norm(x.float(), (4,), None, 1e-4).to(dt),
        )
        case("rmsnorm", [x], F.rms_norm(x.float(), (4,), None, 1e-6).to(dt))
        case("l2norm", [x], F.rms_norm(x.float(), (4,), None, 1e-6).to(dt))
    table = rand(6, 3, dtype=torch.bfloat16)
    ids = ints(2, 4, low=0, high=6)
    case(
        "embedding", [Path("tok"), ids], F.embedding(ids, table), {"tok.weight": table}
    )
    case("params_param", [Path("tok.weight")], table, {"tok.weight": table})
    case(
        "linear",
        [Path("p"), torch.zeros(0, 4)],
        torch.zeros(0, 5),
        {"p.weight": rand(5, 4)},
    )
    for root, out in [
        ("", True),
        ("tok", True),
        ("to", False),
        ("tok.weight", True),
        ("weight", False),
    ]:
        case("params_has_root", [root], out, {"tok.weight": table})
    case("params_has_root", [Path("tok")], True, {"tok.weight": table})
    error("params_param", [Path("no")], "RUN-PARAM", {"tok.weight": table})
    error(
        "embedding",
        [Path("tok"), torch.tensor([6])],
        "RUN-INDEX",
        {"tok.weight": table},
    )
    error("linear", [Path("p"), rand(2, 3)], "RUN-SHAPE", {"p.weight": rand(5, 4)})
    error("linear", [Path("p"), rand(2, 4)], "RUN-PARAM")
    error(
        "linear",
        [Path("p"), rand(2, 4), None, False, False, 5],
        "RUN-INDEX",
        {"p.weight": rand(3, 5, 4)},
    )
    error("layernorm", [Path("p"), rand(2, 3)], "RUN-SHAPE", {"p.weight": rand(4)})
    error(
        "expert_linear",
        [Path("p"), rand(2, 4), torch.tensor([0, 3])],
        "RUN-INDEX",
        {"p.weight": rand(3, 5, 4)},
    )
    for stride, left, right, dilation, groups in [
        (1, 2, 0, 1, 4),
        (1, 0, 0, 1, 1),
        (2, 1, 1, 1, 2),
        (1, 2, 2, 2, 2),
    ]:
        x, w, b = rand(2, 4, 6), rand(4, 4 // groups, 3), rand(4)
        y = F.conv1d(
            F.pad(x, (left, right)),
            w,
            b,
            stride=stride,
            dilation=dilation,
            groups=groups,
        )
        case("conv1d", [x, w, b, stride, left, right, dilation, groups], y)
        y = F.conv1d(
            F.pad(x, (left, right)),
            w,
            None,
            stride=stride,
            dilation=dilation,
            groups=groups,
        )
        case("conv1d", [x, w, None, stride, left, right, dilation, groups], y)
    error("conv1d", [rand(1, 3, 4), rand(4, 2, 2), None, 1, 0, 0, 1, 2], "RUN-SHAPE")
    write("layers.txt")


def more():
    sweep_elementwise()
    sweep_layout()
    sweep_reductions()
    sweep_scatter()
    sweep_layers()
    write("more.txt")


elementwise()
scalars()
layout()
reductions()
layers()
more()
