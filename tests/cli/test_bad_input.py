"""Bad input: each failure has a code, a position or offset where there is one, and its exit status."""

import json
import mmap
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import time

import harness as h

S = h.suite()
REQUIRED_KEY = """import Config
import NN
import Tensor (TokenIds)

WIDTH <- Config.dim @@width_of_model

main :: TokenIds[B,S] -> Tensor[B,S,WIDTH]
main input_ids = NN.embedding@@model.embed_tokens input_ids dim=WIDTH
"""
IDS = ["--prompt-ids", "5,17", "-n", "2"]


# ---- cut files -----------------------------------------------------------------------------


def cuts(size: int, header: int, count: int) -> list[int]:
    """Offsets to cut at: the first bytes, the header, the data, the last byte."""
    source = random.Random(7)
    some = {
        0,
        1,
        3,
        4,
        7,
        8,
        9,
        15,
        16,
        23,
        24,
        25,
        header - 1,
        header,
        header + 1,
        size - 1,
    }
    while len(some) < count:
        some.add(
            source.randrange(header)
            if source.random() < 0.8
            else source.randrange(size)
        )
    return sorted(some)


def cut_file(name: str, path: pathlib.Path, model: pathlib.Path, header: int) -> None:
    """Every cut is an error about the file with an offset; none crashes."""
    whole = path.read_bytes()
    bad = []
    offsets = cuts(len(whole), header, 100)
    for at in offsets:
        path.write_bytes(whole[:at])
        answer = S.run("inspect", model, "--json")
        try:
            error = answer.json()["error"]
            good = answer.status == 3 and error["code"] in (
                "FILE-TRUNCATED",
                "FILE-FORMAT",
                "FILE-JSON",
                "FILE-MODEL",
            )
            good = (
                good
                and pathlib.Path(error["file"]).name == path.name
                and error["offset"] >= 0
            )
        except (ValueError, KeyError):
            good = False
        if not good:
            bad.append((at, answer.status, answer.out[:200], answer.err[:200]))
    path.write_bytes(whole)
    S.check(
        f"{name} cut at {len(offsets)} offsets",
        not bad,
        f"{len(bad)} bad, first: {bad[:2]}",
    )
    S.answers(f"{name} whole", S.run("inspect", model), 0)


def test_cut_files() -> None:
    """Truncated downloads."""
    model = h.llama_directory(S.folder / "cut")
    path = model / "model.safetensors"
    cut_file(
        "safetensors", path, model, 8 + struct.unpack("<Q", path.read_bytes()[:8])[0]
    )
    path = S.folder / "cut.gguf"
    path.write_bytes(h.gguf())
    cut_file("gguf", path, path, len(h.gguf(tensors={})))
    bare = S.folder / "bare.gguf"
    bare.write_bytes(h.gguf(h.gguf_metadata(tokenizer=False)))
    for at in (10, 200, 600, 900, 1500):
        (S.folder / "run.gguf").write_bytes(bare.read_bytes()[:at])
        S.fails(
            f"run gguf cut at {at}",
            ["run", S.folder / "run.gguf", *IDS],
            3,
            "FILE-(TRUNCATED|FORMAT)",
            offset=True,
        )


# ---- headers of GGUF -----------------------------------------------------------------------


def gguf_case(
    name: str, data: bytes, code: str = "FILE-FORMAT", says: str = ""
) -> None:
    """A file that must be refused at an offset."""
    path = S.folder / "case.gguf"
    path.write_bytes(data)
    S.fails(f"gguf: {name}", ["inspect", path], 3, code, says=says, offset=True)


def test_gguf_headers() -> None:
    """Fields that are too large, too small, twice, or unknown."""
    base = [h.gguf_pair(*pair) for pair in h.gguf_metadata(tokenizer=False)]

    def tensor(*args, **kwargs):
        return h.gguf_raw(base, [h.gguf_tensor(*args, **kwargs)], b"\0" * 4096)

    big = (1 << 42) + 1
    gguf_case(
        "dimension 2^42+1",
        tensor("token_embd.weight", [big, big], 0, 0),
        says="token_embd",
    )
    gguf_case(
        "dimension 2^42+1 alone",
        tensor("token_embd.weight", [big], 0, 0),
        "FILE-TRUNCATED",
        says="end",
    )
    gguf_case("product of 2^64", tensor("token_embd.weight", [1 << 32, 1 << 32], 0, 0))
    gguf_case(
        "dimension 2^63", tensor("token_embd.weight", [1 << 63], 0, 0), says="dimension"
    )
    gguf_case(
        "dimension 0", tensor("token_embd.weight", [0, 4], 0, 0), says="dimension"
    )
    gguf_case(
        "offset beyond the end",
        tensor("token_embd.weight", [4, 4], 0, 1 << 20),
        "FILE-TRUNCATED",
    )
    gguf_case(
        "offset that wraps",
        tensor("token_embd.weight", [4, 4], 0, (1 << 64) - 32),
        "FILE-TRUNCATED",
    )
    gguf_case(
        "offset off the alignment",
        tensor("token_embd.weight", [4, 4], 0, 5),
        says="multiple of 32",
    )
    for count in (0, 5, 1 << 31):
        gguf_case(
            f"n_dims {count}",
            tensor("token_embd.weight", [4, 4], 0, 0, n_dims=count),
            says=f"{count} dim",
        )
    gguf_case(
        "unknown tensor type",
        tensor("token_embd.weight", [4, 4], 99, 0),
        says="type number 99",
    )
    gguf_case(
        "retired tensor type",
        tensor("token_embd.weight", [32, 4], 4, 0),
        says="type number 4",
    )
    gguf_case(
        "row that ends inside a block", tensor("token_embd.weight", [33, 4], 2, 0)
    )
    twice = [h.gguf_tensor("token_embd.weight", [4, 4], 0, 0)] * 2
    gguf_case("tensor twice", h.gguf_raw(base, twice, b"\0" * 4096), says="twice")
    gguf_case("key twice", h.gguf_raw([*base, base[0]], []), says="twice")
    for value in (0, 3, 1 << 30):
        pair = h.gguf_pair("general.alignment", h.U32, value)
        gguf_case(f"alignment {value}", h.gguf_raw([*base, pair], []), says="alignment")
    pair = h.gguf_pair("general.alignment", h.STRING, "32")
    gguf_case("alignment as text", h.gguf_raw([*base, pair], []), says="alignment")
    long_string = (
        h.gguf_string("a.b") + struct.pack("<IQ", h.STRING, 1 << 40) + b"x" * 64
    )
    gguf_case(
        "string of 2^40", h.gguf_raw([*base, long_string], []), says="1099511627776"
    )
    long_key = struct.pack("<Q", 1 << 40) + b"x" * 64
    gguf_case("key of 2^40", h.gguf_raw([*base, long_key], []), says="1099511627776")
    for item, least in ((h.U32, "2\\^?"), (h.STRING, "")):
        array = (
            h.gguf_string("a.b")
            + struct.pack("<IIQ", h.ARRAY, item, 1 << 40)
            + b"x" * 64
        )
        gguf_case(
            f"array of 2^40 items of type {item}",
            h.gguf_raw([*base, array], []),
            says="1099511627776",
        )
    wraps = (
        h.gguf_string("a.b")
        + struct.pack("<IIQ", h.ARRAY, h.U64, (1 << 61) + 1)
        + b"x" * 64
    )
    gguf_case("array whose size wraps", h.gguf_raw([*base, wraps], []))
    inner = struct.pack("<IQ", h.U32, 0)
    nested = h.gguf_string("a.b") + struct.pack("<IIQ", h.ARRAY, h.ARRAY, 2) + inner * 2
    gguf_case("nested arrays", h.gguf_raw([*base, nested], []), says="array of arrays")
    odd = h.gguf_string("a.b") + struct.pack("<I", 77) + b"x" * 64
    gguf_case("unknown metadata type", h.gguf_raw([*base, odd], []), says="type 77")
    gguf_case(
        "count of tensors 2^40",
        h.gguf_raw(base, [], counts=(1 << 40, len(base))),
        says="1099511627776",
    )
    gguf_case(
        "count of entries 2^40",
        h.gguf_raw(base, [], counts=(0, 1 << 40)),
        says="1099511627776",
    )
    for version, says in ((1, "version 1"), (9, "version 9"), (3 << 24, "big-endian")):
        data = bytearray(h.gguf_raw(base, []))
        data[4:8] = struct.pack("<I", version)
        gguf_case(f"version {version}", bytes(data), says=says)
    path = S.folder / "other.gguf"
    path.write_bytes(b"GGML" + b"\0" * 64)
    S.fails("gguf: other magic", ["inspect", path], 3, "FILE-FORMAT", says="GGUF")
    path.write_bytes(h.gguf([("general.architecture", h.STRING, "llamb")], {}))
    S.fails(
        "gguf: unknown architecture",
        ["inspect", path],
        3,
        "FILE-MODEL",
        says="did you mean `llama`",
    )
    path.write_bytes(
        h.gguf([pair for pair in h.gguf_metadata() if pair[0] != "llama.block_count"])
    )
    S.fails(
        "gguf: no layer count",
        ["run", path, "the", "-n", "2"],
        3,
        "FILE-FORMAT",
        says="llama.block_count",
    )


# ---- headers of safetensors ----------------------------------------------------------------


def test_safetensors_headers() -> None:
    """The same for the other format."""
    model = h.llama_directory(S.folder / "headers")
    path = model / "model.safetensors"

    def case(name: str, data: bytes, code: str = "FILE-FORMAT", says: str = "") -> None:
        path.write_bytes(data)
        S.fails(
            f"safetensors: {name}", ["inspect", model], 3, code, says=says, offset=True
        )

    def entry(dtype="F32", shape=(2, 2), offsets=(0, 16)):
        return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}

    big = (1 << 42) + 1
    data = b"\0" * 64
    case("dimension 2^42+1", h.raw_safetensors({"a": entry(shape=(big, big))}, data))
    case(
        "product of 2^64",
        h.raw_safetensors({"a": entry(shape=(1 << 32, 1 << 32), offsets=(0, 0))}, data),
    )
    case(
        "size that wraps to the range",
        h.raw_safetensors({"a": entry(shape=(1 << 62, 1), offsets=(0, 0))}, data),
    )
    case(
        "offset beyond the end",
        h.raw_safetensors({"a": entry(offsets=(1000, 1016))}, data),
        "FILE-TRUNCATED",
    )
    far = (1 << 63) - 17
    case(
        "offset near 2^63",
        h.raw_safetensors({"a": entry(offsets=(far, far + 16))}, data),
        "FILE-TRUNCATED",
    )
    case(
        "offsets the wrong way round",
        h.raw_safetensors({"a": entry(offsets=(16, 0))}, data),
    )
    case("negative offset", h.raw_safetensors({"a": entry(offsets=(-16, 0))}, data))
    case(
        "negative dimension",
        h.raw_safetensors({"a": entry(shape=(-2, -2))}, data),
        says="dimension",
    )
    case(
        "dimension that is text",
        h.raw_safetensors({"a": entry(shape=("2", 2))}, data),
        says="dimension",
    )
    case("dimension 2^70", h.raw_safetensors({"a": entry(shape=(1 << 70,))}, data))
    case(
        "range and shape differ",
        h.raw_safetensors({"a": entry(offsets=(0, 12))}, data),
        says="needs 16",
    )
    case(
        "unknown element type",
        h.raw_safetensors({"a": entry(dtype="Q9")}, data),
        says="Q9",
    )
    case(
        "no shape",
        h.raw_safetensors({"a": {"dtype": "F32", "data_offsets": [0, 16]}}, data),
        says="shape",
    )
    case("header is a list", h.raw_safetensors([1, 2], data))
    case("header is no JSON", h.raw_safetensors(b'{"a": ', data), "FILE-(JSON|FORMAT)")
    one = json.dumps(entry())
    twice = f'{{"a": {one}, "a": {one}}}'.encode()
    case(
        "tensor twice",
        h.raw_safetensors(twice, data),
        "FILE-(JSON|FORMAT)",
        says="twice|duplicate",
    )
    case("length 2^62", h.raw_safetensors({}, data, length=1 << 62))
    case("length 2^64-1", h.raw_safetensors({}, data, length=(1 << 64) - 1))
    case(
        "length past the end",
        h.raw_safetensors({}, data, length=5000),
        "FILE-TRUNCATED",
    )
    deep = b'{"a": ' + b"[" * 100000 + b"]" * 100000 + b"}"
    case("deep nesting", h.raw_safetensors(deep, data), "FILE-(JSON|FORMAT)")


def test_alignments() -> None:
    """Data at every alignment gives the same tokens."""
    want = None
    bad = []
    weights = h.filled(h.llama_shapes())
    model = h.llama_directory(S.folder / "align", tensors=weights)
    path = S.folder / "align.gguf"
    for pad in range(0, 64, 1):
        if pad % 2:
            (model / "model.safetensors").write_bytes(h.safetensors(weights, pad))
            target = model
        else:
            path.write_bytes(h.gguf(tensors=weights, alignment=1, shift=pad))
            target = path
        answer = S.run(
            "run",
            target,
            "--prompt-ids",
            "9,20,31",
            "-n",
            "4",
            "--json",
            "--math",
            "exact",
        )
        try:
            ids = answer.json()["results"][0]["ids"]
        except (ValueError, KeyError):
            ids = answer.err
        want = want or ids
        if ids != want or len(ids) != 4:
            bad.append((pad, ids))
    S.check("data at 64 alignments", not bad, f"{bad[:3]}, expected {want}")


# ---- shards, mapped files ------------------------------------------------------------------


def test_shards() -> None:
    """Shards that are missing or not what the index says."""
    model = h.llama_directory(S.folder / "shards")
    (model / "model.safetensors").unlink()
    weights = list(h.filled(h.llama_shapes()).items())
    parts = {
        "model-00001-of-00002.safetensors": weights[:6],
        "model-00002-of-00002.safetensors": weights[6:],
    }
    for name, part in parts.items():
        (model / name).write_bytes(h.safetensors(dict(part)))
    index = {
        "weight_map": {
            tensor: name for name, part in parts.items() for tensor, _ in part
        }
    }
    place = model / "model.safetensors.index.json"
    place.write_text(json.dumps(index))
    S.answers("shards", S.run("run", model, *IDS), 0)
    second = model / "model-00002-of-00002.safetensors"
    whole = second.read_bytes()
    second.unlink()
    S.fails(
        "missing shard",
        ["run", model, *IDS],
        3,
        "FILE-SHARD",
        says="model-00002-of-00002",
    )
    second.write_bytes(h.safetensors(dict(weights[6:-1])))
    S.fails(
        "tensor not in its shard",
        ["run", model, *IDS],
        3,
        "FILE-SHARD",
        says=weights[-1][0],
    )
    second.write_bytes(whole[: len(whole) // 2])
    S.fails(
        "cut shard",
        ["run", model, *IDS],
        3,
        "FILE-TRUNCATED",
        says="model-00002",
        offset=True,
    )
    place.write_text("{}")
    S.fails(
        "index without a map", ["run", model, *IDS], 3, "FILE-FORMAT", says="weight_map"
    )
    place.write_text('{"weight_map": {"a": "../x.safetensors"}}')
    S.fails(
        "index that leaves the directory",
        ["run", model, *IDS],
        3,
        "FILE-FORMAT",
        says="file name",
    )
    place.write_text('{"weight_map": ')
    S.fails("index that is no JSON", ["run", model, *IDS], 3, "FILE-JSON", offset=True)
    place.unlink()
    S.fails(
        "no weights", ["run", model, *IDS], 3, "FILE-MODEL", says="model.safetensors"
    )


def test_truncated_while_mapped() -> None:
    """A file that shrinks under a running model: a message with its name, not a crash."""
    model = h.llama_directory(
        S.folder / "mapped", config=h.llama_config(max_position_embeddings=1 << 20)
    )
    process = S.start(
        "run", model, "--prompt-ids", "5,17", "-n", 500000, "--ignore-eos", "--jsonl", "--threads", 1,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.readline()
    os.truncate(model / "model.safetensors", mmap.PAGESIZE)
    try:
        _, err = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
    text = err.decode()
    good = (
        process.returncode == 3
        and "model.safetensors" in text
        and "FILE-TRUNCATED" in text
    )
    S.check(
        "truncated while mapped", good, f"status {process.returncode}, {text[:300]!r}"
    )


# ---- configuration and weights -------------------------------------------------------------


def test_config() -> None:
    """Keys that are missing or of the wrong type, files that are not there or no JSON."""
    model = h.llama_directory(S.folder / "config")

    def case(name, words, status, code, config, says="", offset=False):
        text = config if isinstance(config, str) else json.dumps(config)
        (model / "config.json").write_text(text)
        return S.fails(name, words, status, code, says=says, offset=offset)

    run = ["run", model, *IDS]
    for key in (
        "hidden_size",
        "vocab_size",
    ):  # the defaults of the program do not fit these weights
        answer = case(
            f"config without {key}",
            run,
            1,
            "RUN-PARAM-SHAPE",
            h.llama_config(**{key: None}),
            says="weight",
        )
        S.check(
            f"config without {key}: source line",
            "llama.axon:" in answer.err,
            answer.err,
        )
    program = S.folder / "required.axon"
    program.write_text(REQUIRED_KEY)
    words = [*run, "--program", program]
    answer = case(
        "config without a required key",
        words,
        1,
        "RUN-CONFIG",
        h.llama_config(),
        says="width_of_model",
    )
    S.check(
        "config without a required key: source line",
        "required.axon:5:" in answer.err,
        answer.err,
    )
    for key, value in (("hidden_size", "many"), ("num_hidden_layers", "two"), ("rms_norm_eps", "tiny"),
                       ("hidden_act", 3), ("num_attention_heads", 2.5), ("num_hidden_layers", [2])):  # fmt: skip
        answer = case(
            f"config {key} = {value!r}",
            run,
            1,
            "RUN-CONFIG-TYPE",
            h.llama_config(**{key: value}),
            says=key,
        )
        S.check(f"config {key}: source line", "llama.axon:" in answer.err, answer.err)
    case(
        "config hidden_size negative",
        run,
        1,
        "[A-Z-]+",
        h.llama_config(hidden_size=-16),
    )
    case(
        "config hidden_size 2^70",
        run,
        1,
        "[A-Z-]+",
        h.llama_config(hidden_size=1 << 70),
    )
    case("config heads 0", run, 1, "[A-Z-]+", h.llama_config(num_attention_heads=0))
    case("config is a list", run, 3, "FILE-CONFIG", "[]", says="config.json")
    case("config is cut", run, 3, "FILE-JSON", '{"architectures": ["Llama', offset=True)
    case(
        "config with a control character",
        run,
        3,
        "FILE-JSON",
        '{"a": \x01}',
        offset=True,
    )
    (model / "config.json").unlink()
    S.fails("no config", run, 3, "FILE-MODEL", says="config.json")
    S.fails(
        "no such model",
        ["run", S.folder / "nothing", *IDS],
        3,
        "FILE-MODEL",
        says="nothing",
    )
    S.fails(
        "no such hub id",
        ["run", "someone/some-model", *IDS],
        3,
        "FILE-MODEL",
        says="someone/some-model",
    )
    (S.folder / "notes.txt").write_text("notes")
    S.fails(
        "a text file as a model",
        ["run", S.folder / "notes.txt", *IDS],
        3,
        "FILE-MODEL",
        says="notes.txt",
    )


def test_architecture() -> None:
    """An architecture that no program implements."""
    model = h.llama_directory(
        S.folder / "arch", config=h.llama_config(architectures=["LlamoForCausalLM"])
    )
    answer = S.fails(
        "unknown architecture",
        ["run", model, *IDS],
        1,
        "RUN-PROGRAM",
        says="LlamoForCausalLM",
    )
    S.check(
        "names the closest and --program",
        "LlamaForCausalLM" in answer.err and "--program" in answer.err,
        answer.err,
    )
    S.answers("--program helps", S.run("run", model, *IDS, "--program", "llama"), 0)
    h.llama_directory(model, config=h.llama_config(architectures=None))
    S.fails("no architecture", ["run", model, *IDS], 1, "RUN-PROGRAM")
    S.fails(
        "no such program",
        ["run", model, *IDS, "--program", "none.axon"],
        3,
        "FILE-READ",
        says="none.axon",
    )


def test_weights() -> None:
    """Weights of the wrong shape, too few, too many."""
    shapes = h.llama_shapes()
    name = "model.layers.1.mlp.up_proj.weight"
    wrong = h.llama_directory(
        S.folder / "wrong", tensors=h.filled({**shapes, name: (h.INNER + 1, h.HIDDEN)})
    )
    answer = S.fails(
        "weight of the wrong shape",
        ["run", wrong, *IDS],
        1,
        "RUN-PARAM-SHAPE",
        says=name,
    )
    S.check(
        "wrong shape: both shapes",
        "[25,16]" in answer.err and "[24,16]" in answer.err,
        answer.err,
    )
    S.check(
        "wrong shape: source line",
        "llama.axon:" in answer.err and "up_proj" in answer.err,
        answer.err,
    )
    fewer = h.llama_directory(
        S.folder / "fewer",
        tensors=h.filled({k: v for k, v in shapes.items() if k != name}),
    )
    answer = S.fails("weight missing", ["run", fewer, *IDS], 1, "RUN-PARAM", says=name)
    S.check("missing: source line", "llama.axon:" in answer.err, answer.err)
    more = h.llama_directory(
        S.folder / "more", tensors=h.filled({**shapes, "extra.weight": (3,)})
    )
    S.answers("weight too many runs", S.run("run", more, *IDS), 0)
    S.answers(
        "weight too many is listed",
        S.run("check", more),
        0,
        out=r"extra:.*extra\.weight",
    )
    scalar = h.llama_directory(
        S.folder / "rank", tensors=h.filled({**shapes, name: (h.INNER * h.HIDDEN,)})
    )
    S.fails(
        "weight of the wrong rank",
        ["run", scalar, *IDS],
        1,
        "RUN-PARAM-SHAPE",
        says=name,
    )


# ---- prompts and options -------------------------------------------------------------------


def test_prompts() -> None:
    """Prompts that cannot be run."""
    model = h.llama_directory(S.folder / "prompts")
    for name, words, stdin in (
        ("empty -p", ["-p", ""], b""),
        ("empty pipe", [], b""),
        ("empty -p -", ["-p", "-"], b""),
    ):
        S.fails(
            name,
            ["run", model, *words, "-n", 2],
            2,
            "USE-PROMPT",
            says="empty",
            stdin=stdin,
        )
    S.fails(
        "prompt beyond the context",
        ["run", model, "--raw", "-p", "x" * 300],
        2,
        "USE-CONTEXT",
        says="300.*256",
    )
    S.fails(
        "prompt beyond --ctx",
        ["run", model, "--raw", "-p", "x" * 30, "-c", 16],
        2,
        "USE-CONTEXT",
        says="30.*16",
    )
    S.fails(
        "--ctx beyond the model",
        ["run", model, "-p", "x", "-c", 1000],
        2,
        "USE-CONTEXT",
        says="1000.*256",
    )
    for count in ("0", "-1"):
        S.fails(
            f"-n {count}",
            ["run", model, "-p", "x", "-n", count],
            2,
            "USE-VALUE",
            says="-n",
        )
    S.fails(
        "a context of 2^40",
        ["run", wide(), *IDS, "-c", 1 << 40],
        3,
        "MEM-[A-Z]+",
        says="ctx",
    )
    S.fails(
        "-n 2^63-1 without a limit",
        ["run", wide(), "--prompt-ids", "5", "-n", (1 << 63) - 1],
        3,
        "MEM-[A-Z]+",
    )
    S.answers(
        "-n 2^63-1 within a context",
        S.run("run", model, "--prompt-ids", "5", "-n", (1 << 63) - 1),
        0,
    )
    S.fails(
        "unknown overlay",
        ["run", model, "-p", "x", "--overlay", "statik"],
        2,
        "USE-VALUE",
        says="static",
    )
    S.fails(
        "unknown entry",
        ["run", model, "-p", "x", "--main", "nrom"],
        1,
        "RES-MAIN",
        says="norm",
    )
    S.fails(
        "a directory as a prompt",
        ["run", model, "-f", S.folder],
        3,
        "FILE-READ",
        says="directory",
    )
    S.fails("no name", ["check", ""], 3, "FILE-READ")
    S.fails(
        "text as ids",
        ["run", model, "--prompt-ids", "5,x"],
        2,
        "USE-VALUE",
        says="prompt-ids",
    )
    S.fails("empty ids", ["run", model, "--prompt-ids", ","], 2, "USE-(VALUE|PROMPT)")
    S.fails(
        "id beyond the vocabulary",
        ["run", model, "--prompt-ids", "5,99999"],
        2,
        "USE-(VALUE|PROMPT)",
        says="99999",
    )
    S.fails(
        "id beyond 64 bits",
        ["run", model, "--prompt-ids", "99999999999999999999999"],
        2,
        "USE-VALUE",
    )
    S.fails(
        "no such prompt file",
        ["run", model, "-f", S.folder / "none"],
        3,
        "FILE-READ",
        says="none",
    )
    S.fails(
        "prompt file not UTF-8",
        ["run", model, "-f", binary_file()],
        2,
        "USE-UTF8",
        says="byte 2",
        offset=True,
    )
    S.fails(
        "pipe not UTF-8", ["run", model], 2, "USE-UTF8", says="byte 2", stdin=b"ab\xff"
    )
    S.fails(
        "argument not UTF-8",
        ["run", model, "-p", b"ab\xffc"],
        2,
        "USE-UTF8",
        says="byte 2",
        offset=True,
    )
    S.fails("path not UTF-8", ["inspect", b"/x/\xff"], 2, "USE-UTF8")
    for words, code in ((["--temp", "-1"], "USE-VALUE"), (["--top-p", "2"], "USE-VALUE"), (["--min-p", "-1"], "USE-VALUE"),
                        (["--top-k", "-2"], "USE-VALUE"), (["--temp", "hot"], "USE-(OPTION|VALUE)"),
                        (["--threads", "0"], "USE-(OPTION|VALUE)"), (["--math", "wrong"], "USE-(OPTION|VALUE)"),
                        (["--isa", "z80"], "USE-(ISA|VALUE)"), (["--kv-dtype", "q1"], "USE-(OPTION|VALUE)")):  # fmt: skip
        S.fails(
            " ".join(words),
            ["run", model, "-p", "x", "-n", 1, *words],
            2,
            code,
            says=words[0] if words[0] != "--isa" else "z80",
        )
    bare = h.llama_directory(S.folder / "no-tokenizer", tokenizer=False)
    S.fails(
        "no tokenizer", ["run", bare, "-p", "x"], 3, "TOK-MISSING", says="tokenizer"
    )
    S.fails(
        "no tokenizer in gguf",
        ["tokenize", bare_gguf(), "x"],
        3,
        "TOK-MISSING",
        says="tokenizer",
    )
    S.answers(
        "ids need no tokenizer", S.run("run", bare, *IDS, "--json"), 0, out='"ids"'
    )
    S.fails("chat without a template", ["chat", bare], 3, "TOK-MISSING")
    (model / "tokenizer_config.json").unlink()
    S.fails(
        "--system without a template",
        ["run", model, "-p", "x", "--system", "y"],
        2,
        "TMPL-MISSING",
        says="template",
    )
    (model / "tokenizer.json").write_text('{"model": {"type": "BPE"')
    S.fails(
        "tokenizer cut",
        ["tokenize", model, "x"],
        3,
        "TOK-FORMAT",
        says="tokenizer.json",
        offset=True,
    )
    (model / "tokenizer.json").write_text('{"model": {"type": "Magic", "vocab": {}}}')
    S.fails(
        "tokenizer of an unknown kind",
        ["tokenize", model, "x"],
        3,
        "TOK-(UNSUPPORTED|FORMAT)",
        says="Magic",
    )


def binary_file() -> pathlib.Path:
    """Two letters and a byte that is no text."""
    path = S.folder / "binary.txt"
    path.write_bytes(b"ab\xff")
    return path


def wide() -> pathlib.Path:
    """A model that allows more positions than there is memory for."""
    return h.llama_directory(
        S.folder / "wide", config=h.llama_config(max_position_embeddings=1 << 40)
    )


def bare_gguf() -> pathlib.Path:
    """A model without tokenizer metadata."""
    path = S.folder / "bare.gguf"
    path.write_bytes(h.gguf(h.gguf_metadata(tokenizer=False)))
    return path


def test_usage() -> None:
    """Unknown verbs and options, with the closest that exists."""
    model = h.llama_directory(S.folder / "usage")
    S.fails("no verb", [], 2, "USE-OPTION")
    S.fails(
        "unknown verb",
        ["rnu"],
        2,
        "USE-OPTION",
        says="unknown verb `rnu`.*did you mean `run`",
    )
    S.fails("unknown verb far from all", ["quuxify"], 2, "USE-OPTION", says="--help")
    S.fails(
        "unknown option",
        ["run", model, "--temprature", "1"],
        2,
        "USE-OPTION",
        says="did you mean `--temperature`",
    )
    S.fails(
        "unknown option with =",
        ["check", "llama", "--checkpont=x"],
        2,
        "USE-OPTION",
        says="did you mean `--checkpoint`",
    )
    S.fails("option without a value", ["run", model, "-n"], 2, "USE-OPTION")
    S.fails("number that is text", ["run", model, "-n", "many"], 2, "USE-OPTION")
    S.fails("dump without a stage", ["dump", "llama"], 2, "USE-OPTION", says="--stage")
    S.fails(
        "unknown stage",
        ["dump", "llama", "--stage", "parsed"],
        2,
        "USE-VALUE",
        says="parse",
    )
    S.fails(
        "unknown diagnostic",
        ["explain", "TYP-DIMM"],
        2,
        "USE-CODE",
        says="did you mean",
    )
    S.fails(
        "-o without --batch",
        ["run", model, "x", "-o", "y"],
        2,
        "USE-OPTION",
        says="--batch",
    )


# ---- output, pipes, signals ----------------------------------------------------------------


def test_output() -> None:
    """Output that cannot be written; readers that go away."""
    model = h.llama_directory(S.folder / "output")
    encoder = h.bert_directory(S.folder / "output-bert")
    batch = S.folder / "batch.jsonl"
    batch.write_text('{"prompt": "the"}\n')
    nowhere = S.folder / "none" / "out.jsonl"
    S.fails(
        "unwritable --batch output",
        ["run", model, "--batch", batch, "-o", nowhere, "-n", 2],
        3,
        "FILE-WRITE",
        says="none",
    )
    S.fails(
        "unwritable embed output",
        ["embed", encoder, "sky", "-o", nowhere.with_suffix(".npy")],
        3,
        "FILE-WRITE",
    )
    S.fails(
        "unwritable dump output",
        ["dump", "llama", "--stage", "parse", "-o", nowhere],
        3,
        "FILE-WRITE",
    )
    S.fails(
        "embed output of another kind",
        ["embed", encoder, "sky", "-o", "x.csv"],
        2,
        "USE-VALUE",
        says="npy",
    )
    with open("/dev/full", "wb") as full:
        for words in (["run", model, *IDS], ["run", model, *IDS, "--json"], ["inspect", model], ["zoo"],
                      ["dump", "llama", "--stage", "parse"], ["tokenize", model, "x"]):  # fmt: skip
            done = subprocess.run(
                [S.binary, *map(str, words)],
                stdout=full,
                stderr=subprocess.PIPE,
                env=S.env,
                check=False,
            )
            good = done.returncode == 3 and b"FILE-WRITE" in done.stderr
            S.check(
                f"full disk: {words[0]}",
                good,
                f"status {done.returncode}, {done.stderr[:200]!r}",
            )


def test_closed_pipe() -> None:
    """`| head -1` ends quietly."""
    model = h.llama_directory(
        S.folder / "pipe", config=h.llama_config(max_position_embeddings=1 << 20)
    )
    long = [
        "run",
        model,
        "--prompt-ids",
        "5,17",
        "-n",
        300000,
        "--ignore-eos",
        "--jsonl",
    ]
    for name, words in (("run --jsonl", long), ("dump", ["dump", "llama", "--stage", "parse"]),
                        ("inspect -v", ["inspect", model, "-v"]), ("zoo", ["zoo"])):  # fmt: skip
        begin = time.monotonic()
        process = S.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        try:
            status = process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            status = "none in 10 s"
        err = process.stderr.read()
        took = time.monotonic() - begin
        S.check(
            f"closed pipe: {name}",
            status == 0 and not err,
            f"status {status} after {took:.1f} s, {err[:200]!r}",
        )


def started(model: pathlib.Path, *more) -> subprocess.Popen:
    """A long generation that has begun."""
    process = S.start(
        "run", model, "--prompt-ids", "5,17", "-n", 500000, "--ignore-eos", *more,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(0.5)
    return process


def test_signals() -> None:
    """Interrupts and terminations: the text so far is kept, the status says how it ended."""
    model = h.llama_directory(
        S.folder / "signals", config=h.llama_config(max_position_embeddings=1 << 20)
    )
    process = started(model)
    status, seconds = h.interrupt(process)
    out = process.stdout.read()
    S.check(
        "interrupt: status",
        status == 130,
        f"status {status}, {process.stderr.read()[:300]!r}",
    )
    S.check("interrupt: within a second", seconds < 1.0, f"{seconds:.2f} s")
    S.check("interrupt: text so far", len(out) > 4, repr(out[:80]))
    process = started(model, "--json")
    status, seconds = h.interrupt(process)
    text = process.stdout.read()
    try:
        result = json.loads(text)["results"][0]
        good = (
            status == 130
            and result["finish_reason"] == "interrupt"
            and len(result["ids"]) > 1
            and seconds < 1.0
        )
    except (ValueError, KeyError):
        good = False
    S.check(
        "interrupt: JSON",
        good,
        f"status {status}, {seconds:.2f} s, {text[:200]!r} … {text[-200:]!r}",
    )
    process = started(model)
    status, seconds = h.interrupt(process, signal.SIGTERM)
    S.check(
        "terminated",
        status == 143 and seconds < 1.0,
        f"status {status}, {seconds:.2f} s",
    )
    process = S.start(
        "run",
        model,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(0.4)
    status, seconds = h.interrupt(process)
    S.check(
        "interrupt while reading the prompt",
        status == 130 and seconds < 1.0,
        f"status {status}, {seconds:.2f} s",
    )
    text = S.folder / "long.txt"
    text.write_text("the sky is blue. " * 2000)
    process = S.start(
        "score",
        model,
        "-f",
        text,
        "--json",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(0.6)
    status, seconds = h.interrupt(process)
    S.check(
        "interrupt of score",
        status == 130 and seconds < 1.0,
        f"status {status}, {seconds:.2f} s, {process.stderr.read()[:200]!r}",
    )


def main() -> None:
    """All of them."""
    for test in (test_cut_files, test_gguf_headers, test_safetensors_headers, test_alignments, test_shards,
                 test_truncated_while_mapped, test_config, test_architecture, test_weights, test_prompts,
                 test_usage, test_output, test_closed_pipe, test_signals):  # fmt: skip
        begin = time.monotonic()
        try:
            test()
        except (OSError, subprocess.SubprocessError, ValueError, KeyError) as why:
            S.check(test.__name__, False, f"{type(why).__name__}: {why}")
        if os.environ.get("AXON_TEST_TIMES"):
            print(f"     {test.__name__} {time.monotonic() - begin:.1f} s", flush=True)
    S.finish()


if __name__ == "__main__":
    main()
