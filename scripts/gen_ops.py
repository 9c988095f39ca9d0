#!/usr/bin/env python3
"""Writes docs/ops.md from the tables of operations; with --check only compares.

Tables: src/ops/ops.def, src/ops/ops_doc.def, src/plan/mapping.def, src/runtime/core/operations.def,
src/runtime/kernels/kernels.def."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRING = r'"((?:[^"\\]|\\.)*)"'

RULES = {
    "Arange": "a vector of `end - start`",
    "Arithmetic": "two tensors: the broadcast shape; a tensor and a scalar: the tensor's shape; two scalars: a scalar",
    "Compare": "as arithmetic, of booleans",
    "Concat": "equal sizes off the axis, their sum on it",
    "ConfigDim": "a size",
    "Conv1d": "`[B,O,…]`, the length by padding, width of the kernel, stride and dilation",
    "Declared": "as the signature says",
    "EmbeddingDim": "one axis more, of `dim` or unknown",
    "Expand": "the sizes given",
    "FloatOrTensor": "a tensor's own shape; a scalar becomes a float",
    "Gather": "the type of the index, which has the axes of x and off the axis no longer ones",
    "HasRoot": "a boolean",
    "IndexAdd": "the type of x; the source has its sizes, on the axis that of the index",
    "IntOrTensor": "a tensor's own shape; a scalar becomes an integer",
    "LastAxisDim": "the last axis becomes `dim`, or unknown",
    "LikeFirst": "the type of the first argument",
    "ListAppend": "the list's type, joined with the item's",
    "ListIndex": "the type of an item",
    "Matmul": "leading axes broadcast, inner sizes equal",
    "Param": "what the ascription says",
    "Permute": "the axes in the order given",
    "Repeat": "the axis times `repeats`",
    "Require": "the argument without null",
    "Reshape": "the sizes given; -1 is what is left",
    "Scatter": "the type of x; the source has the sizes of the index, which are those of x or less off the axis",
    "Shaped": "the sizes given",
    "Slice": "the axis becomes `end - start`",
    "Split": "a tuple of pieces when the sizes are written out, else a list",
    "Chunk": "a tuple of pieces when the number is written out, else a list",
    "Sum": "the axis goes, or becomes 1",
    "TensorLike": "of a scalar the shape of `ref`, of a list a vector, of a tensor its own",
    "Topk": "the axis becomes `k`, twice",
    "Transpose": "two sizes exchanged",
    "Unsqueeze": "one axis of 1 more",
    "Where": "the broadcast shape of condition and values",
    "WhereIndices": "as many vectors of one unknown length as x has axes",
}
DTYPES = {
    "Bool": "bool",
    "First": "that of the first argument",
    "Float": "a float as it is, else float32",
    "Int64": "int64",
    "MatmulDtype": "of two floats the right one's, else promotion",
    "Named": "the one named",
    "NamedOrFirst": "the one named, else that of the first argument",
    "NamedOrSecond": "the one named, else that of the second argument",
    "None": "",
    "Param": "the compute type; integers as stored",
    "Promote": "promotion of both",
    "PromoteTail": "promotion of the two values",
    "RandomDtype": "that of `ref` if it is a float, else float32",
    "Second": "that of the second argument",
    "SumDtype": "a float as it is, else int64",
    "TopkDtype": "that of x, and int64",
    "TrueDiv": "promotion; of integers float32",
}
EFFECTS = {
    "TotalPure": "total",
    "PartialPure": "may fail",
    "Effectful": "fresh contents",
}
GRADIENTS = {
    "yes": "differentiable",
    "values": "differentiable in its values",
    "no": "no gradient",
}


def read(path: str) -> str:
    return (ROOT / "src" / path).read_text()


def unescape(text: str) -> str:
    return text.replace('\\"', '"')


def primitives() -> list[dict]:
    out, group = [], ""
    for line in read("ops/ops.def").splitlines():
        if line.startswith("// ") and out is not None:
            group = line[3:]
        found = re.match(
            rf"AXON_PRIM\((\w+), {STRING}, (\w+), {STRING}, (\w+), (\w+)\)", line
        )
        if not found:
            continue
        ident, name, effect, signature, rule, dtype = found.groups()
        out.append(
            {
                "ident": ident,
                "name": name,
                "effect": effect,
                "signature": unescape(signature),
                "rule": rule,
                "dtype": dtype,
                "group": group,
            }
        )
    return out


def docs() -> dict:
    rows = re.findall(
        rf"AXON_OP_DOC\((\w+), (\w+), {STRING}, {STRING}\)", read("ops/ops_doc.def")
    )
    return {
        ident: (gradient, ops.split(), unescape(text))
        for ident, gradient, ops, text in rows
    }


def kernels() -> dict:
    out: dict = {}
    for operation, isa in re.findall(
        r"^AXON_KERNEL\((\w+), (\w+),", read("runtime/kernels/kernels.def"), re.M
    ):
        out.setdefault(operation, []).append(isa)
    names = dict(
        re.findall(
            rf"^AXON_OPERATION\((\w+), {STRING}",
            read("runtime/core/operations.def"),
            re.M,
        )
    )
    return {
        name: sorted(set(out[ident]), key=["Avx512Vnni", "Avx512", "Avx2", "Ref"].index)
        for ident, name in names.items()
    }


def native(op: dict, doc: tuple, unmapped: dict, table: dict) -> str:
    where = "general instructions"
    if op["ident"] not in unmapped:
        where = "straight line, general instructions"
    elif re.search(r"answers|infix|lists|checkpoint", unmapped[op["ident"]]):
        where = "decided before running on a straight line; general instructions"
        if "checkpoint" in unmapped[op["ident"]]:
            where = "decided before running"
        if "infix" in unmapped[op["ident"]]:
            where = "straight line (as an infix operation), general instructions"
    parts = []
    for name in doc[1]:
        isas = ", ".join(isa.lower().replace("vnni", "_vnni") for isa in table[name])
        parts.append(f"`{name}` ({isas})")
    return where + ("; kernels: " + ", ".join(parts) if parts else "")


def page() -> str:
    ops, texts, table = primitives(), docs(), kernels()
    unmapped = dict(
        re.findall(rf"^UNMAPPED\((\w+), {STRING}\)", read("plan/mapping.def"), re.M)
    )
    lacking = [op["ident"] for op in ops if op["ident"] not in texts]
    assert not lacking, f"no row in ops_doc.def: {lacking}"
    out = [
        "# Primitive operations",
        "",
        "Generated by `scripts/gen_ops.py` from the tables of operations; do not edit.",
        "",
        "Programs call them with a leading underscore; the library wraps them. `?` marks an argument that may be left",
        "out; null stands for the default. Negative axes count from the end. Each has a typing rule",
        "(`src/ops/rules_*.cc`), a reference (`src/graph/eval_*.cc`) and native code; the tests compare all three with PyTorch.",
        "",
    ]
    group = None
    for op in ops:
        if op["group"] != group:
            group = op["group"]
            out += [f"## {group[0].upper()}{group[1:]}", ""]
        gradient, _, meaning = texts[op["ident"]]
        out += [f"### `_{op['name']}`", "", f"`{op['signature']}`", "", meaning, ""]
        facts = [f"type: {RULES[op['rule']]}"]
        if DTYPES[op["dtype"]]:
            facts.append(f"elements: {DTYPES[op['dtype']]}")
        facts.append(f"{EFFECTS[op['effect']]}, {GRADIENTS[gradient]}")
        facts.append("natively: " + native(op, texts[op["ident"]], unmapped, table))
        out += [f"- {fact}" for fact in facts] + [""]
    return "\n".join(out)


def main() -> int:
    target = ROOT / "docs" / "ops.md"
    text = page()
    if "--check" not in sys.argv:
        target.write_text(text)
        return 0
    if target.exists() and target.read_text() == text:
        return 0
    print("docs/ops.md is not in step with the tables: run scripts/gen_ops.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
