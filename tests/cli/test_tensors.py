"""Tensors in and out: one call, embeddings."""

import json
import pathlib
import re
import struct

import checkpoints as ck
import harness as h

S = h.suite()
ROOT = pathlib.Path(__file__).resolve().parents[2]


def read_safetensors(path: pathlib.Path) -> dict:
    """Names with dtype, shape and bytes."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    return {
        name: (e["dtype"], e["shape"], body[e["data_offsets"][0] : e["data_offsets"][1]])
        for name, e in header.items() if name != "__metadata__"
    }  # fmt: skip


# Programs that stop while they run: inputs, the code, and what the message says.
STOPPED = {
    "a negative size": (
        "import Tensor\n\nmain :: Tensor[B] -> Int -> Tensor[..R]\nmain x n = Tensor.zeros x [n]\n",
        {"x": [1, 2, 3], "n": -2}, "RUN-SHAPE", r"`n`, a size, at \S*main.axon:4: .* -2",
    ),
    "a slice that ends before it starts": (
        "import Tensor\n\nmain :: Tensor[B] -> Int -> Int -> Tensor[..R]\n"
        "main x s e = Tensor.slice x dim=0 start=s end=e\n",
        {"x": [1, 2, 3], "s": 2, "e": 1}, "RUN-INDEX",
        r"`s` <= `e` at \S*main.axon:4: 2 is not at most 1",
    ),
    "sizes of one input": (
        "main :: Tensor[B,B] -> Tensor[B,B]\nmain x = x + 1\n",
        {"x": [[1, 2, 3], [4, 5, 6]]}, "RUN-SHAPE",
        r"axis 1 of input `x` is 3, but `B` is 2 \(axis 0 of input `x`\)",
    ),
    "sizes of two inputs": (
        "main :: Tensor[B] -> Tensor[B] -> Tensor[B]\nmain x y = x + y\n",
        {"x": [1, 2], "y": [1, 2, 3]}, "RUN-SHAPE",
        r"axis 0 of input `y` is 3, but `B` is 2 \(axis 0 of input `x`\)",
    ),
    "a range of more numbers than there are": (
        "import Tensor\n\nmain :: Tensor -> Int -> Tensor\nmain x i = Tensor.arange x (0 - i) i\n",
        {"x": [1], "i": 2**62 + 2**61}, "RUN-VALUE", "fewer numbers",
    ),
    "an index with more rows than the tensor": (
        "import Tensor (IdxTensor, gather)\n\nmain :: Tensor[B,S] -> IdxTensor[C,K] -> Tensor[C,K]\n"
        "main x i = gather x i dim=1\n",
        {"x": [[1, 2, 3], [4, 5, 6]], "i": [[0], [1], [2]]}, "RUN-SHAPE",
        r"`C` <= `B` at \S*main.axon:4: 3 is not at most 2",
    ),
    "a scattered source with more rows than the tensor": (
        "import Tensor (IdxTensor, scatter)\n\n"
        "main :: Tensor[B,S] -> IdxTensor[C,K] -> Tensor[C,K] -> Tensor[B,S]\n"
        "main x i s = scatter x i s dim=1\n",
        {"x": [[1, 2, 3]], "i": [[0], [1]], "s": [[7], [8]]}, "RUN-SHAPE",
        r"`C` <= `B` at \S*main.axon:4: 2 is not at most 1",
    ),
    "more slices than places to add them to": (
        "import Tensor\n\nmain :: Tensor[B,S] -> Tensor[K] -> Tensor[N,S] -> Tensor[B,S]\n"
        "main x i s = Tensor.index_add x i s\n",
        {"x": [[1, 2]], "i": [0], "s": [[1, 2], [3, 4]]}, "RUN-SHAPE",
        r"axis 0 of input `s` is 2, but `K` is 1",
    ),
    "a range and a source that differ": (
        "main :: Tensor[B,S] -> Tensor[C,K] -> Tensor[B,S]\nmain x s = _assign_slice x s 1 0 2\n",
        {"x": [[1, 2], [3, 4], [5, 6]], "s": [[1, 2], [3, 4]]}, "RUN-SHAPE",
        r"`C` == `B` at \S*main.axon:2: 2 is not equal to 3",
    ),
    "channels that groups do not divide": (
        "main :: Tensor[1,C,2] -> Tensor[O,1,2] -> Tensor[O] -> Tensor[1,O,1]\n"
        "main x w b = _conv1d x w b 1 0 0 1 C\n",
        {"x": [[[1, 2], [3, 4]]], "w": [[[1, 2]], [[3, 4]], [[5, 6]]], "b": [1, 2, 3]}, "RUN-SHAPE",
        r"`O%C` == `0` at \S*main.axon:2: 1 is not equal to 0",
    ),
    "a tensor modulo a tensor": (
        "main :: Tensor[B] -> Tensor[B] -> Tensor[B]\nmain x y = x % y\n",
        {"x": [3, 4], "y": [2, 0]}, "RUN-DIV-ZERO", r"divided by zero .* at \S*main.axon:2",
    ),
    "a tensor modulo a number": (
        "main :: Tensor[B] -> Int -> Tensor[B]\nmain x y = x % y\n",
        {"x": [3, 4], "y": 0}, "RUN-DIV-ZERO", "divided by zero",
    ),
    "a number modulo a tensor": (
        "main :: Tensor[B] -> Int -> Tensor[B]\nmain x y = y % x\n",
        {"x": [3, 0], "y": 5}, "RUN-DIV-ZERO", "divided by zero",
    ),
    "a tensor modulo a tensor, one by one": (
        'main :: Tensor[B] -> Tensor[B] -> (Tensor[B], String)\nmain x y = (x % y, "text")\n',
        {"x": [3, 4], "y": [2, 0]}, "RUN-DIV-ZERO", "division by zero",
    ),
    "a negative power": (
        "import Math\n\nmain :: Tensor[B] -> Tensor[B] -> Tensor[B]\nmain x y = Math.pow x y\n",
        {"x": [3, 4], "y": [2, -1]}, "RUN-VALUE", "negative power",
    ),
}  # fmt: skip


def write_integers(path: pathlib.Path, given: dict) -> None:
    """A file of int64 tensors from numbers and nested lists."""
    entries, data = {}, b""
    for name, value in given.items():
        shape, flat = [], value
        while isinstance(flat, list):
            shape.append(len(flat))
            flat = flat[0]
        flat = [value] if not shape else value
        while isinstance(flat[0], list):
            flat = [item for row in flat for item in row]
        part = struct.pack(f"<{len(flat)}q", *flat)
        offsets = [len(data), len(data) + len(part)]
        entries[name] = {"dtype": "I64", "shape": shape, "data_offsets": offsets}
        data += part
    path.write_bytes(ck.raw_safetensors(entries, data))


def test_stopped(model: pathlib.Path) -> None:
    """What stops a program while it runs says what, where and which values."""
    inputs, outputs = S.folder / "stop.safetensors", S.folder / "out.safetensors"
    program = S.folder / "main.axon"
    words = ["forward", model, "--program", program, "--inputs", inputs, "-o", outputs]
    for what, (text, given, code, says) in STOPPED.items():
        program.write_text(text)
        write_integers(inputs, given)
        answer = S.run(*words)
        good = answer.status == 1 and f"[{code}]" in answer.err
        good = good and re.search(says, answer.err) is not None
        S.check(f"stopped: {what}", good, f"{answer.status} {answer.err}")


def test_rest(model: pathlib.Path) -> None:
    """Outputs that a file of tensors cannot hold are said."""
    inputs, outputs = S.folder / "rest.safetensors", S.folder / "out.safetensors"
    program = S.folder / "main.axon"
    write_integers(inputs, {"x": [1, 2]})
    words = ["forward", model, "--program", program, "--inputs", inputs, "-o", outputs]
    kinds = "(Tensor[B], String, ?Tensor[B], Path, List[Tensor[B]], Int)"
    program.write_text(
        f'main :: Tensor[B] -> {kinds}\nmain x = (x + 1, "hi", null, @a.b, [], 3)\n'
    )
    answer = S.run(*words)
    S.answers("outputs that are no tensors", answer, 0)
    for text in ("`out1` is the string `hi`", "`out2` is null", "`a.b`", "empty list"):
        S.check(f"said: {text}", text in answer.err, answer.err)
    found = sorted(read_safetensors(outputs))
    S.check("written: what is a tensor", found == ["out0", "out5"], str(found))
    program.write_text(
        "main :: Tensor[B] -> (Tensor[B], ?Tensor[B])\nmain x = (x + 1, null)\n"
    )
    answer = S.run(*words)
    S.check("said of a straight line", "`out1` is null" in answer.err, answer.err)
    S.check("--quiet", "out1" not in S.run(*words, "--quiet").err, "")


def test_forward(model: pathlib.Path, encoder: pathlib.Path) -> None:
    """Tensors in and out."""
    inputs, outputs = S.folder / "in.safetensors", S.folder / "out.safetensors"

    def write(name, dtype, shape, data) -> None:
        entry = {name: {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}
        inputs.write_bytes(ck.raw_safetensors(entry, data))

    write("input_ids", "I64", [1, 4], struct.pack("<4q", 5, 17, 30, 2))
    words = ["--inputs", inputs, "-o", outputs]
    S.answers("forward", S.run("forward", model, *words), 0)
    found = read_safetensors(outputs)
    S.check(
        "forward: logits",
        found.get("logits", (0, 0, b""))[:2] == ("F32", [1, 4, ck.VOCAB]),
        str(list(found)),
    )
    write("input_ids", "I32", [1, 4], struct.pack("<4i", 5, 7, 4, 2))
    S.answers("forward of an encoder, int32", S.run("forward", encoder, *words), 0)
    found = read_safetensors(outputs)
    S.check("forward: hidden states", "last_hidden_state" in found, str(list(found)))
    S.fails(
        "forward without inputs",
        ["forward", model, "--inputs", S.folder / "none", "-o", outputs],
        3,
        "FILE-READ",
    )
    write("ids", "I64", [1, 4], struct.pack("<4q", 5, 17, 30, 2))
    S.fails(
        "forward with another name",
        ["forward", encoder, *words],
        1,
        "RUN-INPUT",
        says="input_ids",
    )
    write("input_ids", "I64", [4], struct.pack("<4q", 5, 7, 4, 2))
    S.fails(
        "forward with too few axes",
        ["forward", encoder, *words],
        1,
        "RUN-RANK",
        says="axes",
    )
    write("input_ids", "I64", [1, 2], struct.pack("<2q", 5, 99999))
    S.fails(
        "forward with an unknown id",
        ["forward", model, *words],
        2,
        "USE-VALUE",
        says="99999",
    )
    for bad in (len(ck.WORDS), 1 << 40, -1):
        write("input_ids", "I64", [1, 4], struct.pack("<4q", 5, 7, bad, 2))
        S.fails(
            f"forward of an encoder with id {bad}",
            ["forward", encoder, *words],
            1,
            "RUN-INDEX",
            says=rf"index {bad} is outside of 10 rows of `embeddings\.word_embeddings\.weight`",
        )
    write("input_ids", "I64", [1, 40], struct.pack("<40q", *[5] * 40))
    S.fails(
        "forward beyond the positions",
        ["forward", encoder, *words],
        1,
        "RUN-INDEX",
        says="32 rows of `embeddings.position_embeddings.weight`",
    )
    write("input_ids", "I64", [1, 4], struct.pack("<4q", 5, 7, 4, 2))
    S.fails(
        "forward to nowhere",
        ["forward", encoder, "--inputs", inputs, "-o", S.folder / "no" / "x"],
        3,
        "FILE-WRITE",
    )


def test_embed(encoder: pathlib.Path, model: pathlib.Path) -> None:
    """Vectors of texts."""
    answer = S.run("embed", encoder, "the sky", "blue.", "is", "--json")
    S.answers("embed --json", answer, 0)
    rows = answer.json()["embeddings"]
    S.check(
        "embed: shape",
        len(rows) == 3 and all(len(row) == 12 for row in rows),
        answer.out[:200],
    )
    alone = [
        S.run("embed", encoder, text, "--json").json()["embeddings"][0]
        for text in ("the sky", "blue.", "is")
    ]
    most = max(abs(a - b) for x, y in zip(rows, alone) for a, b in zip(x, y))
    S.check("embed: a padded batch equals the rows alone", most < 1e-4, str(most))
    unit = S.run("embed", encoder, "the sky", "--json", "--normalize").json()[
        "embeddings"
    ][0]
    S.check("embed --normalize", abs(sum(x * x for x in unit) - 1) < 1e-4, str(unit))
    pools = [
        S.run("embed", encoder, "the sky", "--json", "--pool", p).json()["embeddings"]
        for p in ("cls", "last", "mean", "none")
    ]
    S.check(
        "embed --pool",
        pools[0][0] == pools[3][0]
        and pools[1][0] == pools[3][-1]
        and len(pools[3]) == 4,
        str(pools)[:300],
    )
    mean = [sum(column) / 4 for column in zip(*pools[3])]
    S.check(
        "embed --pool mean",
        max(abs(a - b) for a, b in zip(mean, pools[2][0])) < 1e-4,
        str(mean),
    )
    (S.folder / "lines.txt").write_text("the sky\n\nis blue.\n")
    npy = S.folder / "out.npy"
    S.answers(
        "embed -f -o npy",
        S.run("embed", encoder, "-f", S.folder / "lines.txt", "-o", npy),
        0,
    )
    S.check(
        "embed: npy",
        npy.read_bytes()[:6] == b"\x93NUMPY" and b"(3,12,)" in npy.read_bytes()[:128],
        repr(npy.read_bytes()[:80]),
    )
    out = S.folder / "out2.safetensors"
    S.answers("embed -o safetensors", S.run("embed", encoder, "the sky", "-o", out), 0)
    S.check("embed: safetensors", read_safetensors(out)["embeddings"][1] == [1, 12], "")
    S.answers(
        "embed as text",
        S.run("embed", encoder, "the sky"),
        0,
        out=r"^(-?\d\S* ){11}-?\d\S*\n$",
    )
    S.fails("embed of nothing", ["embed", encoder], 2, "USE-PROMPT")
    S.fails(
        "embed beyond the context",
        ["embed", encoder, "the " * 50],
        2,
        "USE-CONTEXT",
        says="52.*32",
    )
    S.fails(
        "embed with a decoder",
        ["embed", model, "the"],
        1,
        "RUN-VALUE",
        says="encoder|hidden",
    )
    S.fails(
        "run with an encoder", ["run", encoder, "the"], 1, "RUN-INPUT", says="logits"
    )


def test_given(model: pathlib.Path) -> None:
    """What is given is what the program sees, whatever is optional."""
    inputs, outputs = S.folder / "given.safetensors", S.folder / "got.safetensors"
    file = S.folder / "given.axon"

    def forward(text: str, **given):
        header, data = {}, b""
        for name, (dtype, shape, part) in given.items():
            at = [len(data), len(data) + len(part)]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": at}
            data += part
        inputs.write_bytes(ck.raw_safetensors(header, data))
        file.write_text(text)
        words = ["--program", file, "--math", "exact", "-o", outputs]
        return S.run("forward", model, "--inputs", inputs, *words)

    def gives(title: str, want: list, text: str, **given) -> None:
        S.answers(title, forward(text, **given), 0)
        found = list(read_safetensors(outputs).values())[0][2]
        S.check(title, found == struct.pack(f"<{len(want)}f", *want), str(found))

    def refuses(title: str, code: str, text: str, **given) -> None:
        done = forward(text, **given)
        fit = done.status in (1, 3) and code in str(done.err)
        S.check(title, fit, str(done))

    def numbers(*values: float) -> tuple:
        return ("F32", [len(values)], struct.pack(f"<{len(values)}f", *values))

    def number(value: float) -> tuple:
        return ("F32", [], struct.pack("<f", value))

    x, two = numbers(1, 2), ("I64", [], struct.pack("<q", 2))
    scale = "main :: Tensor[A] -> ?Int -> Tensor[A]\nmain x ?m=7 = x * m\n"
    gives("a default", [7, 14], scale, x=x)
    gives("in place of a default", [2, 4], scale, x=x, m=two)
    refuses("a fraction for an integer", "RUN-INPUT", scale, x=x, m=number(2.5))
    for name in ("extra", "position_ids", "past_kv", "use_cache", "attention_mask"):
        text = (
            f"main :: Tensor[A] -> ?Tensor[A] -> Tensor[A]\n"
            f"main x {name} = ({name} == null) ? x : x * {name}\n"
        )
        gives(f"without {name}", [1, 2], text, x=x)
        gives(f"with {name}", [1, 10], text, x=x, **{name: numbers(1, 5)})
    flag = "main :: Tensor[A] -> ?Bool -> Tensor[A]\nmain x ?f=true = f ? x : x * 3\n"
    gives("a flag", [3, 6], flag, x=x, f=number(0))
    refuses("half a flag", "RUN-INPUT", flag, x=x, f=number(0.5))
    mask = (
        '{-# TASK "masked_lm" #-}\nmain :: Tensor[A,S] -> ?Tensor[A,S] -> Tensor[A,S]\n'
        "main input_ids attn_mask = (attn_mask == null) ? input_ids : input_ids + attn_mask\n"
    )
    row = ("F32", [1, 2], x[2])
    fives = ("I64", [1, 2], struct.pack("<2q", 5, 0))
    ones = ("I64", [1, 2], struct.pack("<2q", 1, 1))
    gives("a mask of other values", [6, 2], mask, input_ids=row, attn_mask=fives)
    gives("a mask of ones", [2, 3], mask, input_ids=row, attention_mask=ones)
    # A program with a cache, which runs in a session, tells a mask of ones from none too.
    text = (ROOT / "zoo" / "llama.axon").read_text()
    seen = "  logits <- head x\n"
    S.check("where llama's logits are", seen in text, "")
    tells = "  logits <- (attn_mask == null) ? logits : logits + 64\n"
    text = text.replace(seen, seen + tells)
    ids, found = ("I64", [1, 2], struct.pack("<2q", 5, 6)), []
    for given in ({}, {"attn_mask": ones}):
        S.answers("a cached program", forward(text, input_ids=ids, **given), 0)
        data = read_safetensors(outputs)["logits"][2]
        found.append(sum(struct.unpack(f"<{len(data) // 4}f", data)) * 4 / len(data))
    S.check("ones in a session", abs(found[1] - found[0] - 64) < 1e-3, str(found))
    same = "main :: Tensor[A] -> (Tensor[A], Tensor[A])\nmain x = (x, x)\n"
    done = forward(same, x=x, zebra=x)
    S.check("an unknown input", "zebra" in str(done.err), str(done.err))
    S.check("equal names", list(read_safetensors(outputs)) == ["x", "x_1"], "")
    zeros = "import Tensor\nmain :: Tensor[A] -> Int -> Tensor[n]\nmain x n = Tensor.zeros x [n]\n"
    many = ("I64", [], struct.pack("<q", 100_000_000_000_000))
    refuses("more than the machine has", "MEM-", zeros, x=x, n=many)


def test_programs(model: pathlib.Path) -> None:
    """Programs whose answers have a closed form: sizes of parameters, placeholders, tuples, configuration."""
    inputs, outputs = S.folder / "p.safetensors", S.folder / "p.out.safetensors"
    stored = read_safetensors(model / "model.safetensors")

    def weights(name: str) -> list:
        data = stored[name][2]
        return list(struct.unpack(f"<{len(data) // 4}f", data))

    def forward(text: str, x: list, shape: list, n: int):
        data = struct.pack(f"<{len(x)}fq", *x, n)
        entries = {
            "x": {"dtype": "F32", "shape": shape, "data_offsets": [0, len(x) * 4]},
            "n": {
                "dtype": "I64",
                "shape": [],
                "data_offsets": [len(x) * 4, len(data)],
            },
        }
        inputs.write_bytes(ck.raw_safetensors(entries, data))
        file = S.folder / "p.axon"
        file.write_text(text)
        words = ["--program", file, "--math", "exact", "-q", "-o", outputs]
        return S.run("forward", model, "--inputs", inputs, *words)

    def gives(title: str, text: str, x: list, shape: list, want: list, n: int) -> None:
        S.answers(title, forward(text, x, shape, n), 0)
        data = list(read_safetensors(outputs).values())[0][2]
        found = struct.unpack(f"<{len(data) // 4}f", data)
        near = len(found) == len(want) and all(
            abs(a - b) <= 1e-5 * (1 + abs(b)) for a, b in zip(found, want)
        )
        S.check(title, near, f"{found[:4]} {want[:4]}")

    row = [0.25 * (i - 5) for i in range(ck.HIDDEN)]
    gain = weights("model.norm.weight")
    text = "import NN\nmain :: Tensor[B,S,D] -> Int -> Tensor[B,S,D]\nmain x n = NN.rmsnorm@@model.norm x\n"
    root = (sum(v * v for v in row) / len(row) + 1e-6) ** 0.5
    want = [v / root * g for v, g in zip(row, gain)]
    gives("a gain of the input's width", text, row, [1, 1, ck.HIDDEN], want, 0)
    done = forward(text, row[:5], [1, 1, 5], 0)
    said = str(done.err)
    named = "RUN-SHAPE" in said and "model.norm.weight" in said
    S.check("an input of another width", done.status == 1 and named, str(done))
    text = (
        "import Params\nmain :: Tensor[D] -> Int -> Tensor[D]\n"
        "main x n = x * Params.param @@'model.layers.{n}.input_layernorm.weight'\n"
    )
    for n in range(ck.LAYERS):
        gain = weights(f"model.layers.{n}.input_layernorm.weight")
        want = [v * g for v, g in zip(row, gain)]
        gives(f"a placeholder of {n}", text, row, [ck.HIDDEN], want, n)
    text = (
        "main :: Tensor[A] -> Int -> Tensor[A]\nmain x n = do\n  p <- (x, 1)\n"
        "  p <- for i <- [0..n) carry (p) do\n    a, b <- p\n    yield (a * b, b + 1)\n"
        "  a, b <- p\n  return a\n"
    )
    for n, factor in ((0, 1), (1, 1), (4, 24)):
        want = [v * factor for v in row]
        gives(f"a tuple through {n} rounds", text, row, [ck.HIDDEN], want, n)
    for read, factor in (
        ("Config.int @@hidden_size", ck.HIDDEN),
        ("Config.int @@nothing default=3", 3),
        ("(Config.has_key @@hidden_size) ? 2 : 5", 2),
    ):
        text = (
            f"import Config\nN <- {read}\nmain :: Tensor[B] -> Int -> Tensor[B]\nmain x n = do\n"
            "  x <- for i <- [0..n) carry (x) do\n    yield x * N\n  return x\n"
        )
        file = S.folder / "c.axon"
        file.write_text(text)
        stages = ["resolve", "normalize", "flatten", "typecheck", "graph-ir"]
        for stage in [None, *stages]:
            words = ["dump", file, "-q", "--stage", stage]
            staged = S.run(*words).out if stage else text
            want = [v * factor**2 for v in row]
            gives(f"{read} from {stage}", staged, row, [ck.HIDDEN], want, 2)


if __name__ == "__main__":
    S.run_all(
        test_forward, test_stopped, test_rest, test_given, test_programs, test_embed
    )
