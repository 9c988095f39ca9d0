"""The compiler: diagnostics at their lines, programs against checkpoints."""

import os
import pathlib
import re
import struct

import checkpoints as ck
import harness as h

S = h.suite()
TYPE_ERROR = """-- Widths that do not agree.
main :: Tensor[B,3] -> Tensor[B,4] -> Tensor[B,3]
main x y = do
  z <- x + y
  return z
"""
SYNTAX_ERROR = """f :: Tensor[B] -> Tensor[B]
f x = (x + 1

g x = x
"""
WARNING = """same :: Tensor[B] -> Tensor[B]
same x = x

main :: Tensor[B] -> Tensor[B] -> Tensor[B]
main a b = do
  x <- same (a) * b
  return x
"""
REQUIRED_KEY = """import Config
import NN
import Tensor (TokenIds)

WIDTH <- Config.dim @@width_of_model

main :: TokenIds[B,S] -> Tensor[B,S,WIDTH]
main input_ids = NN.embedding@@model.embed_tokens input_ids dim=WIDTH
"""


def test_check(model: pathlib.Path) -> None:
    """Diagnostics at their lines."""
    path = S.folder / "p.axon"
    for name, text, line, code in (
        ("type error", TYPE_ERROR, 4, "[A-Z]+-[A-Z-]+"),
        ("syntax error", SYNTAX_ERROR, 2, "(PAR|LAY)-[A-Z]+"),
    ):
        path.write_text(text)
        answer = S.run("check", path)
        S.answers(
            f"check {name}", answer, 1, err=rf"p\.axon:{line}:\d+: error {code}: "
        )
        S.check(
            f"check {name}: excerpt",
            f"  {line} | " in answer.err and "^" in answer.err,
            answer.err,
        )
        answer = S.run("check", path, "--json")
        lines = answer.lines()
        keys = (
            "code",
            "severity",
            "message",
            "file",
            "line",
            "column",
            "end_line",
            "end_column",
            "notes",
        )
        S.check(
            f"check {name} --json",
            answer.status == 1 and lines and all(k in lines[0] for k in keys),
            answer.out[:300],
        )
        S.check(
            f"check {name} --json: line",
            bool(lines)
            and lines[0]["line"] == line
            and lines[0]["severity"] == "error",
            answer.out[:300],
        )
        failed = S.run("dump", path, "--stage", "graph-ir", "--json").body() or {
            "error": {}
        }
        S.check(f"dump {name} --json", failed["error"].get("line") == line, str(failed))
    path.write_text(WARNING)
    answer = S.run("check", path)
    S.answers("check with a warning", answer, 0, err=r"p\.axon:6:\d+: warning W-GREEDY")
    S.answers(
        "check --strict",
        S.run("check", path, "--strict"),
        1,
        err=r"p\.axon:6:\d+: error W-GREEDY",
    )
    S.check("check -q hides warnings", S.run("check", path, "-q").err == "", "")
    severity = S.run("check", path, "--json").lines()[0]["severity"]
    S.check("check --json: severity", severity == "warning", severity)
    for name in ("llama", "gpt2", "bert"):
        S.answers(f"check {name}", S.run("check", name), 0)
        S.answers(f"check zoo/{name}.axon", S.run("check", h.ZOO / f"{name}.axon"), 0)
    S.fails(
        "check of no file", ["check", "none.axon"], 3, "FILE-READ", says="none.axon"
    )
    path.write_bytes(b"f x = x\nb\xff = 1\n")
    S.answers(
        "check of bytes that are no text", S.run("check", path), 1, err="p.axon:2|LEX-"
    )


def test_check_checkpoint(model: pathlib.Path) -> None:
    """A program against a checkpoint, from headers."""
    answer = S.run("check", "llama", "--checkpoint", model)
    S.answers(
        "check --checkpoint",
        answer,
        0,
        out=r"config read:.*hidden_size.*config defaulted:.*config ignored:.*tensors read:\s+21",
    )
    S.answers("check DIR", S.run("check", model), 0, out=r"tensors read:\s+21")
    program = S.folder / "misspelt.axon"
    program.write_text(
        "import Config\nWIDTH <- Config.dim @@hiden_size default=64\n"
        "main :: Tensor[B,S] -> Tensor[B,S]\nmain x = x * WIDTH\n",
        encoding="utf-8",
    )
    answer = S.run("check", program, "--checkpoint", model)
    near = r"config defaulted: hiden_size \(did you mean `hidden_size`\?\)"
    S.answers("check: a misspelt key", answer, 0, out=near)
    S.check("no warning beside a checkpoint", "W-CONFIG-KEY" not in answer.err, "")
    shapes = ck.llama_shapes()
    tied = ck.llama_directory(
        S.folder / "tied", config=ck.llama_config(tie_word_embeddings=True),
        tensors=ck.filled({k: v for k, v in shapes.items() if k != "lm_head.weight"} | {"old.weight": (2, 2)}),
    )  # fmt: skip
    S.answers(
        "check: tied and extra",
        S.run("check", tied),
        0,
        out=r"tied:.*model\.embed_tokens\.weight.*extra:.*old\.weight",
    )
    name = "model.layers.1.self_attn.o_proj.weight"
    line = 1 + next(
        i
        for i, text in enumerate((h.ZOO / "llama.axon").read_text().splitlines())
        if "@o_proj" in text
    )
    wrong = ck.llama_directory(
        S.folder / "misshaped",
        tensors=ck.filled({**shapes, name: (ck.HIDDEN + 2, ck.HIDDEN)}),
    )
    answer = S.run("check", "llama", "--checkpoint", wrong)
    S.answers(
        "check: mis-shaped",
        answer,
        1,
        err=rf"llama\.axon:{line}:\d+: error RUN-PARAM-SHAPE: .*{re.escape(name)}.*\[18,16\].*\[16,16\]",
    )
    lines = S.run("check", "llama", "--checkpoint", wrong, "--json").lines()
    S.check(
        "check --json: mis-shaped",
        lines[0]["code"] == "RUN-PARAM-SHAPE" and lines[0]["line"] == line,
        str(lines)[:300],
    )
    fewer = ck.llama_directory(
        S.folder / "lacking",
        tensors=ck.filled({k: v for k, v in shapes.items() if k != name}),
    )
    S.answers(
        "check: missing",
        S.run("check", "llama", "--checkpoint", fewer),
        1,
        err=rf"llama\.axon:{line}:\d+: error RUN-PARAM: .*{re.escape(name)}",
    )
    program = S.folder / "required.axon"
    program.write_text(REQUIRED_KEY)
    S.answers(
        "check: required key",
        S.run("check", program, "--checkpoint", model),
        1,
        err=r"required\.axon:5:\d+: error RUN-CONFIG: .*width_of_model",
    )
    odd = ck.llama_directory(
        S.folder / "odd", config=ck.llama_config(width_of_model="wide")
    )
    answer = S.run("check", program, "--checkpoint", odd)
    S.answers(
        "check: key of the wrong type",
        answer,
        1,
        err=r'required\.axon:5:\d+: error RUN-CONFIG-TYPE: .*width_of_model.*"wide".*integer',
    )


def errors_of(answer: h.Answer) -> list[str]:
    """First lines of the errors, without the path before the file's name."""
    found = re.findall(r"^(?:.*/)?(\S*: error RUN-.*)$", answer.err, re.M)
    return sorted(found)


def test_all_failures() -> None:
    """Every tensor that is missing or wrong, in groups; the same from a verb that runs."""
    layers = 30
    config = ck.llama_config(num_hidden_layers=layers, attention_bias=True)
    shapes = ck.llama_shapes(layers=layers)
    for i in range(layers):
        base = f"model.layers.{i}."
        del shapes[base + "self_attn.o_proj.weight"]
        shapes[base + "mlp.up_proj.weight"] = (ck.INNER + 1, ck.HIDDEN)
        for part, rows in (("q", ck.HIDDEN), ("k", 8), ("v", 8)):
            shapes[base + f"self_attn.{part}_proj.bias"] = (rows,)
    del shapes["model.layers.7.input_layernorm.weight"]
    del shapes["model.embed_tokens.weight"]
    shapes["model.layers.3.post_attention_layernorm.weight"] = (5,)
    shapes["model.layers.4.self_attn.k_proj.bias"] = (9,)
    shapes["model.norm.weight"] = (ck.HIDDEN, 2)
    shapes["model.embd_tokens.weight"] = (ck.VOCAB, ck.HIDDEN)
    for i in range(3):
        shapes[f"model.layers.{i}.rotary.inv_freq"] = (4,)
    model = ck.llama_directory(
        S.folder / "failures", config=config, tensors=ck.filled(shapes)
    )
    answer = S.run("check", "llama", "--checkpoint", model)
    S.answers("check: all failures", answer, 1)
    wanted = (
        ("@o_proj", "RUN-PARAM: checkpoint has no tensor `model.layers.{0..29}.self_attn.o_proj.weight`"),
        ("@up_proj", "RUN-PARAM-SHAPE: tensor `model.layers.{0..29}.mlp.up_proj.weight` has shape [25,16], the program reads [24,16]"),
        ("@embed_tokens", "RUN-PARAM: checkpoint has no tensor `model.embed_tokens.weight`"),
        ("@k_proj", "RUN-PARAM-SHAPE: tensor `model.layers.4.self_attn.k_proj.bias` has shape [9], the program reads [8]"),
        ("NN.rmsnorm", "RUN-PARAM: checkpoint has no tensor `model.layers.7.input_layernorm.weight`"),
        ("NN.rmsnorm", "RUN-PARAM-SHAPE: tensor `model.layers.3.post_attention_layernorm.weight` has shape [5], the program reads [16]"),
        ("NN.rmsnorm", "RUN-PARAM-SHAPE: tensor `model.norm.weight` has shape [16,2], the program reads [16]"),
    )  # fmt: skip
    source = (h.ZOO / "llama.axon").read_text().splitlines()
    found = errors_of(answer)
    for place, message in wanted:
        line = 1 + next(i for i, text in enumerate(source) if place in text)
        want = rf"llama\.axon:{line}:\d+: error {re.escape(message)}$"
        hits = [text for text in found if re.search(want, text)]
        S.check(f"check: {message[:60]}", len(hits) == 1, f"{want}\n     {found}")
    calls = 1 + next(i for i, text in enumerate(source) if "@input_layernorm" in text)
    S.check(
        "check: who asked for the norm",
        f"called here from `block` (llama.axon:{calls}:" in answer.err,
        answer.err,
    )
    S.check("check: nothing else", len(found) == len(wanted), str(found))
    S.check("check: few lines", answer.err.count("\n") < 75, answer.err)
    S.check(
        "check: a likely name",
        "did you mean `model.embd_tokens.weight`" in answer.err,
        answer.err,
    )
    S.check("check: the shape that is read", "shape [16,16]" in answer.err, answer.err)
    for words in (
        ["run", model, "--prompt-ids", "5,6"],
        ["score", model, "--prompt-ids", "5,6"],
        ["forward", model, "--inputs", ids_file(), "-o", S.folder / "o.safetensors"],
    ):
        other = S.run(*words)
        S.answers(f"{words[0]}: all failures", other, 1)
        S.check(f"{words[0]}: the same", errors_of(other) == found, other.err)
    report = S.run("check", "llama", "--checkpoint", model, "--json").lines()
    codes = [line["code"] for line in report]
    S.check("check --json: lines", codes.count("RUN-PARAM-SHAPE") == 4, str(codes))
    tensors = report[-1]["tensors"]
    S.check(
        "check --json: report",
        len(tensors["missing"]) == layers + 2
        and len(tensors["misfit"]) == layers + 3
        and len(tensors["extra"]) == 4
        and tensors["complete"] is True,
        str(tensors)[:400],
    )


def ids_file() -> pathlib.Path:
    """Two token ids as a tensor."""
    path = S.folder / "ids.safetensors"
    data = struct.pack("<2q", 5, 6)
    header = {"input_ids": {"dtype": "I64", "shape": [1, 2], "data_offsets": [0, 16]}}
    path.write_bytes(ck.raw_safetensors(header, data))
    return path


def test_report(model: pathlib.Path) -> None:
    """Keys and tensors that are read, defaulted, ignored, tied and extra."""
    config = ck.llama_config(
        tie_word_embeddings=True,
        rope_scaling={"rope_type": "linear", "factor": 2.0, "odd": 1},
        something_else=5,
    )
    shapes = {k: v for k, v in ck.llama_shapes().items() if k != "lm_head.weight"}
    shapes |= {f"old.{i}.weight": (2, 2) for i in range(5)} | {"other.weight": (1,)}
    tied = ck.llama_directory(
        S.folder / "report", config=config, tensors=ck.filled(shapes)
    )
    answer = S.run("check", tied)
    S.answers(
        "check: keys that nothing reads",
        answer,
        0,
        out=r"ignored:.*rope_scaling\.odd.*something_else",
    )
    S.answers(
        "check: in the report",
        answer,
        0,
        out=r"tied:\s+model\.embed_tokens\.weight \(read 2 times\)\n.*extra:\s+old\.\{0\.\.4\}\.weight \(5 tensors\), other",
    )
    S.answers(
        "check --strict: extra tensors are errors",
        S.run("check", tied, "--strict"),
        1,
        err=r"error W-PARAM-EXTRA: .*`old\.\{0\.\.4\}\.weight`.*`other\.weight`",
    )
    last = S.run("check", tied, "--json").lines()[-1]
    keys = {"code", "severity", "message", "file", "line", "column", "notes"}
    S.check("check --json: keys of the report", keys <= set(last), str(last)[:300])
    config = last["config"]
    S.check(
        "check --json: config",
        config["read"]["hidden_size"] == ck.HIDDEN
        and config["read"]["rope_scaling.factor"] == 2.0
        and "head_dim" in config["defaulted"]
        and "something_else" in config["ignored"]
        and config["missing"] == [],
        str(config),
    )
    S.check(
        "check --json: tied",
        last["tensors"]["tied"] == {"model.embed_tokens.weight": 2},
        str(last["tensors"]),
    )
    S.check(
        "check --json: no report without a checkpoint",
        S.run("check", "llama", "--json").lines() == [],
    )
    clean = S.run("check", model)
    S.check("check: nothing to say", "warning" not in clean.err, clean.err)
    no_bias = ck.llama_directory(
        S.folder / "no-bias", config=ck.llama_config(mlp_bias=True)
    )
    answer = S.run("check", no_bias)
    S.answers(
        "check: a bias that is asked for",
        answer,
        0,
        err=r"llama\.axon:\d+:\d+: warning W-BIAS-MISSING: .*`model\.layers\.\{0,1\}\.mlp\.up_proj\.bias`",
    )


# What a checkpoint's constants make of sizes: a program, what its configuration says, the error.
DECIDED = (
    ("(FLAG ? (_concat x x dim=1) : x)", {"flag": False}, ""),
    ("(FLAG ? (_concat x x dim=1) : x)", {"flag": True}, "TYPE-DIM-CONST: .*`2*D`.*12 and 6"),
    ('(KIND == "wide" ? (_concat x x dim=1) : x)', {"kind": "narrow"}, ""),
    ('(KIND == "wide" ? (_concat x x dim=1) : x)', {"kind": "wide"}, "TYPE-DIM-CONST: .*12 and 6"),
    ("(FLAG ? x : (_reshape x [B,8]))", {"flag": True}, ""),
    ("(FLAG ? x : (_reshape x [B,8]))", {"flag": False}, "TYPE-DIM"),
    ("(_reshape (_reshape x [B,2,4]) [B,D])", {"hidden_size": 8}, ""),
    ("(_reshape (_reshape x [B,2,4]) [B,D])", {}, r"TYPE-DIM: .*B\*D.*8\*B"),
)  # fmt: skip


def test_check_decided() -> None:
    """Branches and sizes that only a checkpoint's configuration decides."""
    program = S.folder / "decided.axon"
    for i, (body, given, error) in enumerate(DECIDED):
        config = {"hidden_size": 6, "flag": False, "kind": "narrow"} | given
        model = ck.llama_directory(
            S.folder / f"decided{i}", tensors={}, tokenizer=False, config=config
        )
        program.write_text(
            "import Config\nD <- Config.dim @@hidden_size\nFLAG <- Config.bool @@flag\n"
            f"KIND <- Config.str @@kind\nmain :: Tensor[B,D] -> Tensor[B,D]\nmain x = {body}\n",
            encoding="utf-8",
        )
        S.answers(f"check: {body} alone", S.run("check", program), 0)
        answer = S.run("check", program, "--checkpoint", model)
        S.answers(f"check: {body} with {given}", answer, 1 if error else 0, err=error)


def test_headers_only() -> None:
    """A checkpoint of 8 GiB of holes is checked without touching its data."""
    width, inner = 4096, 11008
    shapes = {
        "model.embed_tokens.weight": (32000, width),
        "model.norm.weight": (width,),
        "lm_head.weight": (32000, width),
    }
    for i in range(8):
        base = f"model.layers.{i}."
        shapes[base + "input_layernorm.weight"] = shapes[
            base + "post_attention_layernorm.weight"
        ] = (width,)
        for part in "qkvo":
            shapes[base + f"self_attn.{part}_proj.weight"] = (width, width)
        shapes[base + "mlp.gate_proj.weight"] = shapes[base + "mlp.up_proj.weight"] = (
            inner,
            width,
        )
        shapes[base + "mlp.down_proj.weight"] = (width, inner)
    model = S.folder / "sparse"
    ck.llama_directory(
        model, tensors={}, tokenizer=False,
        config=ck.llama_config(hidden_size=width, intermediate_size=inner, num_hidden_layers=8, num_attention_heads=32,
                              num_key_value_heads=32, vocab_size=32000),
    )  # fmt: skip
    header, offset = {}, 0
    for name, shape in shapes.items():
        end = offset + 4 * ck.product(shape)
        header[name] = {
            "dtype": "F32",
            "shape": list(shape),
            "data_offsets": [offset, end],
        }
        offset = end
    path = model / "model.safetensors"
    path.write_bytes(ck.raw_safetensors(header))
    begin = path.stat().st_size
    os.truncate(path, begin + offset)
    answer = S.run("check", "llama", "--checkpoint", model)
    S.answers("check of a sparse file", answer, 0, out=r"tensors read:\s+75")
    resident, limit = h.resident_bytes_of(path), begin + (1 << 16)
    S.check(
        "check reads headers only",
        resident <= limit,
        f"{resident} bytes resident, header {begin}",
    )
    S.check(
        "the file has no data blocks",
        path.stat().st_blocks * 512 <= limit,
        str(path.stat().st_blocks),
    )


def test_own_programs() -> None:
    """What comes with the command has nothing to warn of."""
    root = h.ZOO.parent
    programs = sorted(h.ZOO.glob("*.axon")) + sorted((root / "stdlib").glob("*.axon"))

    def strict(program: pathlib.Path) -> None:
        answer = S.run("check", "--strict", "-q", program)
        S.answers(f"check --strict {program.name}", answer, 0)
        S.check(f"{program.name}: no word", answer.err == "", answer.err[:500])

    S.check("there are programs", len(programs) > 30, str(len(programs)))
    S.each(strict, programs)


if __name__ == "__main__":
    S.run_all(
        test_check,
        test_check_checkpoint,
        test_all_failures,
        test_report,
        test_check_decided,
        test_headers_only,
        test_own_programs,
    )
