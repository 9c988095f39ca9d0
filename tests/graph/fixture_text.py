"""The text form of the fixtures of primitives: operands, parameters and results."""

import math
import pathlib

import torch

HERE = pathlib.Path(__file__).parent / "fixtures"
NAMES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.bool: "bool",
}
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
lines = []


class Path(str):
    pass


def number(v):
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, float) and math.isnan(v):
        return "nan"
    return repr(v)


def show(v):
    if v is None:
        return "null"
    if isinstance(v, torch.Tensor):
        shape = ",".join(map(str, v.shape)) or "scalar"
        values = (
            v.float().flatten().tolist()
            if v.is_floating_point()
            else v.flatten().tolist()
        )
        return " ".join(["tensor", NAMES[v.dtype], shape] + [number(x) for x in values])
    if isinstance(v, bool):
        return "bool " + number(v)
    if isinstance(v, int):
        return f"int {v}"
    if isinstance(v, float):
        return f"float {number(v)}"
    if isinstance(v, Path):
        return f"path {v}"
    if isinstance(v, str):
        return f"string {v}"
    kind = "list" if isinstance(v, list) else "tuple"
    return f"{kind} {len(v)}\n" + "\n".join("item " + show(x) for x in v)


def case(op, args, out, params=None):
    lines.append(f"case {op}")
    for key, value in (params or {}).items():
        lines.append(f"param {key} {show(value)}")
    for a in args:
        lines.append("arg " + show(a))
    lines.append("out " + show(out))


def error(op, args, code, params=None):
    lines.append(f"case {op}")
    for key, value in (params or {}).items():
        lines.append(f"param {key} {show(value)}")
    for a in args:
        lines.append("arg " + show(a))
    lines.append("error " + code)


def write(name):
    HERE.mkdir(exist_ok=True)
    (HERE / name).write_text("\n".join(lines) + "\n")
    lines.clear()


def rand(*shape, dtype=torch.float32):
    return torch.randn(shape).to(dtype)


def ints(*shape, low=-5, high=6, dtype=torch.int64):
    return torch.randint(low, high, shape).to(dtype)
