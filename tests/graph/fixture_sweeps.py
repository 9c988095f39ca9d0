"""Many shapes and element types of each primitive, beside the cases chosen by hand."""

import itertools

import torch
import torch.nn.functional as F
from fixture_text import FLOATS, Path, case, ints, rand


def rounded(y, dt):
    """Computed in float32, rounded once."""
    return y.to(dt) if y.is_floating_point() else y


ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "silu": F.silu,
    "swiglu": lambda x: F.silu(x) * x,
}


def sweep_elementwise():
    shapes = [(17,), (1, 3, 5), (2, 0, 3), (1, 1), (2, 9)]
    for dt, shape in itertools.product(FLOATS, shapes):
        x = rand(*shape, dtype=dt) * 3
        for name, f in ACTIVATIONS.items():
            case(f"activations_{name}", [x], rounded(f(x.float()), dt))
        for name in ("exp", "sin", "cos", "floor"):
            case(name, [x], rounded(getattr(torch, name)(x.float()), dt))
        case("round", [x], x.float().round().to(dt))
        case("sqrt", [x.abs()], rounded(x.float().abs().sqrt(), dt))
        case("log", [x.abs() + 1], rounded((x.abs() + 1).float().log(), dt))
        case("acos", [x.sin()], rounded(x.sin().float().acos(), dt))
        case("clamp", [x, -0.5, 0.5], x.clamp(-0.5, 0.5))
        case("zeros_like", [x], torch.zeros_like(x))
        case("fill", [x, 0.25], torch.full_like(x, 0.25))
        case("cast_like", [x, torch.zeros(1, dtype=torch.int64)], x.long())
    for dt in FLOATS:
        a, b = rand(2, 1, 5, dtype=dt), rand(3, 1, dtype=dt)
        low, high = -rand(5, dtype=dt).abs(), rand(3, 1, dtype=dt).abs()
        case("clamp", [a, low, high], torch.minimum(torch.maximum(a, low), high))
        case("where", [a > 0, a, b], torch.where(a > 0, a, b))
        case("eq", [a, a], a == a)
        case("le", [a, b], a <= b)
        case("and", [a, b], torch.logical_and(a, b))
        for one in (torch.zeros(1, dtype=dt), torch.ones(1, dtype=dt)):
            x, eps = rand(3, 5, dtype=dt), torch.full((1,), -1e-3, dtype=dt)
            ap, an, beta, e = (t.float() for t in (one, one * 0.5, one * 0.25, eps))
            p, n, v = F.softplus(ap), beta + F.softplus(an), x.float()
            y = torch.where(
                v > 0,
                p * v * v + beta * v,
                (torch.expm1(torch.min(v, e)) - v) * n + beta * v,
            )
            case("activations_xielu", [x, one, one * 0.5, one * 0.25, eps], y.to(dt))
    a, b = ints(3, 1, 4), ints(2, 1)
    for name in ("add", "mul"):
        for x, y in [(a, b), (a.int(), b), (a, 2), (2, b), (a > 0, b > 0)]:
            both = {"add": lambda p, q: p + q, "mul": lambda p, q: p * q}[name]
            case(name, [x, y], both(x, y))
    case("div", [a, b.abs() + 1], a / (b.abs() + 1))


def sweep_layout():
    for dt in [torch.float32, torch.bfloat16, torch.int64, torch.bool]:
        x = (rand(3, 1, 5) * 3).to(dt)
        for shape in ([5, 3], [-1], [3, -1], [1, 15, 1]):
            case("reshape", [x, shape], x.reshape(shape))
        case("permute", [x, [-1, 0, 1]], x.permute(2, 0, 1))
        case("transpose", [x, -1, 0], x.transpose(-1, 0))
        case("expand", [x, [2, 3, 4, 5]], x.expand(2, 3, 4, 5))
        case("expand", [x, [-1, 2, -1]], x.expand(3, 2, 5))
        case("unsqueeze", [x, -2], x.unsqueeze(-2))
        case("repeat", [x, 3, -1], x.repeat_interleave(3, -1))
        case("repeat", [x, 0, 0], x.repeat_interleave(0, 0))
        case("slice", [x, -1, 1, 4], x[..., 1:4])
        case("slice", [x, 0, 3, 3], x[3:3])
        case("split", [x, -1, [2, 0, 3]], list(x.split([2, 0, 3], -1)))
        case("chunk", [x, 0, 2], list(x.chunk(2, 0)))
        case("concat", [x, x, -2], torch.cat([x, x], -2))
        case("concat", [[x, x[:0], x], None, 0], torch.cat([x, x[:0], x], 0))
        case("shape", [x], [3, 1, 5])
        case("tensor_size", [x, -1], 5)
        case("arange", [x, 2, 7], torch.arange(2, 7))
        case("arange", [x, 0, 0], torch.arange(0))
        case("zeros", [x, [2, 0, 3]], torch.zeros(2, 0, 3, dtype=dt))
        case("empty", [x, [0]], torch.zeros(0, dtype=dt))
        case("empty_like", [x[:0]], x[:0])
        case("full", [x, [2, 2], 1], torch.ones(2, 2, dtype=dt))


def sweep_reductions():
    shapes = [(13,), (3, 1, 5), (2, 0, 3), (3, 7)]
    for dt, shape in itertools.product(FLOATS + [torch.int64], shapes):
        x = (rand(*shape) * 3).to(dt)
        for axis in {-1, 0, len(shape) - 2} & set(range(-1, len(shape))):
            wide = x.float() if x.is_floating_point() else x
            case("sum", [x, axis, True], rounded(wide.sum(axis, True), dt))
            case("cumsum", [x, axis], rounded(wide.cumsum(axis), dt))
            order = x.argsort(dim=axis, stable=True)
            case("argsort", [x, axis], order)
            case("gather", [x, order, axis], x.gather(axis, order))
            if x.is_floating_point():
                case("softmax", [x, axis], rounded(wide.softmax(axis), dt))
            if x.shape[axis] > 0:
                k = (x.shape[axis] + 1) // 2
                order = x.argsort(dim=axis, descending=True, stable=True)
                order = order.narrow(axis, 0, k)
                case("topk", [x, k, axis], (x.gather(axis, order), order))
    for dt in FLOATS + [torch.int64]:
        a, b = (rand(2, 1, 3, 5) * 2).to(dt), (rand(4, 5, 2) * 2).to(dt)
        exact = a.double() @ b.double()
        case(
            "matmul",
            [a, b],
            exact.float().to(dt) if a.is_floating_point() else exact.long(),
        )
        case("matmul", [a[..., :0], b[:, :0]], torch.zeros(2, 4, 3, 2).to(dt))


def sweep_scatter():
    for dt in [torch.float32, torch.float16, torch.int64]:
        x, src = (rand(3, 5) * 3).to(dt), (rand(3, 2) * 3).to(dt)
        index = torch.tensor([[0, 4], [1, 3], [2, 2]])
        case("scatter", [x, index[:2], src[:2], -1], x.scatter(-1, index[:2], src[:2]))
        case("scatter", [x, index, 1, 1], x.scatter(1, index, 1))
        for how in ("sum", "prod", "max", "min"):
            name = {"max": "amax", "min": "amin"}.get(how, how)
            for own in (True, False):
                y = x.float().scatter_reduce(
                    1, index, src.float(), name, include_self=own
                )
                case("scatter_reduce", [x, index, src, 1, how, own], y.to(dt))
        places = torch.tensor([2, 0, 2, 1])
        add = (rand(3, 4) * 3).to(dt)
        y = x.float().index_add(1, places, add.float()).to(dt)
        case("index_add", [x, places, add, -1], y)
        case("index_add", [x, places[:0], add[:, :0], 1], x)
        y = x.clone()
        y[:, 1:3] = src
        case("assign_slice", [x, src, -1, 1, 3], y)
        case("assign_slice", [x, src[:, :0], 1, 5, 5], x)
        y = x.clone()
        y[:, 4:5] = src[:, :1]
        case("assign_unit_slice", [x, src[:, :1], 1, 4], y)
        case("where_indices", [x > 0], tuple(torch.where(x > 0)))


def sweep_layers():
    w, b = rand(7, 5), rand(7)
    params = {"p.weight": w, "p.bias": b}
    for shape in [(5,), (3, 5), (2, 1, 3, 5), (2, 0, 5)]:
        x = rand(*shape)
        case("linear", [Path("p"), x, 7, True], F.linear(x, w, b), params)
        case("linear", [Path("p"), x], F.linear(x, w), params)
        turned = {"p.weight": w.t().contiguous(), "p.bias": b}
        case("linear", [Path("p"), x, None, True, True], F.linear(x, w, b), turned)
        scale, shift = rand(5), rand(5)
        norm = {"n.weight": scale, "n.bias": shift}
        y = F.layer_norm(x, (5,), scale, shift, 1e-3)
        case("layernorm", [Path("n"), x, 1e-3], y, norm)
        y = F.layer_norm(x, (5,), scale, None, 1e-5)
        case("layernorm", [Path("n"), x, None, None, Path("n.weight"), False], y, norm)
        case("rmsnorm", [x], F.rms_norm(x, (5,), None, 1e-6))
        case("l2norm", [x, 1e-3], F.rms_norm(x, (5,), None, 1e-3))
    bank, biases = rand(3, 7, 5), rand(3, 7)
    experts = {"e.weight": bank, "e.bias": biases}
    x, index = rand(2, 4, 5), ints(2, 4, low=0, high=3)
    y = torch.einsum("abi,aboi->abo", x, bank[index])
    case("expert_linear", [Path("e"), x, index], y, experts)
    case("expert_linear", [Path("e"), x, index, 7, True], y + biases[index], experts)
    turned = {"e.weight": bank.transpose(1, 2).contiguous(), "e.bias": biases}
    with_bias = y + biases[index]
    case("expert_linear", [Path("e"), x, index, 7, True, True], with_bias, turned)
    y = F.linear(x, bank[2], biases[2])
    case("linear", [Path("e"), x, 7, True, False, 2], y, experts)
    case("linear", [Path("e"), x, 7, True, True, 2], y, turned)
    table = rand(6, 3)
    ids = ints(2, 4, low=0, high=6)
    case("embedding", [Path("t"), ids, 3], F.embedding(ids, table), {"t.weight": table})
    case("embedding", [Path("t"), ids[:0]], table[ids[:0]], {"t.weight": table})
    x, w, b = rand(2, 6, 9), rand(4, 3, 3), rand(4)
    y = F.conv1d(F.pad(x, (2, 1)), w, b, stride=2, dilation=2, groups=2)
    case("conv1d", [x, w, b, 2, 2, 1, 2, 2], y)
