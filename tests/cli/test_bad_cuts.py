"""Files that end too early or change under a running model."""

import json
import mmap
import os
import pathlib
import random
import shutil
import struct
import subprocess

import checkpoints as ck
import harness as h

S = h.suite()
IDS = ["--prompt-ids", "5,17", "-n", "2"]


CODES = ("FILE-TRUNCATED", "FILE-FORMAT", "FILE-JSON", "FILE-MODEL")


def cuts(size: int, header: int, count: int) -> list[int]:
    """Offsets to cut at: the first bytes, around the end of the header, the last byte, and others."""
    source = random.Random(7)
    some = {0, 1, 3, 4, 7, 8, 9, 15, 16, 23, 24, 25, header - 1, header, header + 1, size - 1}  # fmt: skip
    while len(some) < count:
        inside = source.random() < 0.8
        some.add(source.randrange(header if inside else size))
    return sorted(some)


def cut_everywhere(name: str, whole: bytes, header: int, place, count: int) -> None:
    """Every cut is an error about the file, with an offset. `place(number)` gives model and file."""

    def fault(at: int):
        model, path = place(at)
        path.write_bytes(whole[:at])
        answer = S.run("inspect", model, "--json")
        error = answer.body().get("error") or {}
        good = (
            answer.status == 3
            and error.get("code") in CODES
            and pathlib.Path(error.get("file", "")).name == path.name
            and 0 <= error.get("offset", -1) <= at
        )
        return None if good else (at, answer.status, answer.out[:200], answer.err[:200])

    offsets = cuts(len(whole), header, count)
    bad = [fault for fault in S.each(fault, offsets) if fault]
    S.check(f"{name} cut at {count} offsets", not bad, f"{len(bad)} bad: {bad[:2]}")


def test_cut_safetensors() -> None:
    """Truncated downloads: weights of a directory."""
    model = ck.llama_directory(S.folder / "cut")
    whole = (model / "model.safetensors").read_bytes()
    S.answers("safetensors whole", S.run("inspect", model), 0)

    def place(at: int):
        folder = S.folder / f"cut-{at}"
        folder.mkdir()
        shutil.copy(model / "config.json", folder)
        return folder, folder / "model.safetensors"

    header = 8 + struct.unpack("<Q", whole[:8])[0]
    cut_everywhere("safetensors", whole, header, place, 200)


def test_cut_gguf(gguf: pathlib.Path) -> None:
    """Truncated downloads: a single file."""
    S.answers("gguf whole", S.run("inspect", gguf), 0)

    def place(at: int):
        path = S.folder / f"cut-{at}.gguf"
        return path, path

    header = len(ck.gguf(tensors={}))
    cut_everywhere("gguf", gguf.read_bytes(), header, place, 200)
    bare = ck.gguf(ck.gguf_metadata(tokenizer=False))
    for at in (10, 200, 600, 900, 1500):
        path = S.folder / f"run-{at}.gguf"
        path.write_bytes(bare[:at])
        S.fails(
            f"run gguf cut at {at}",
            ["run", path, *IDS],
            3,
            "FILE-(TRUNCATED|FORMAT)",
            offset=True,
        )


def test_cut_side_files(model: pathlib.Path) -> None:
    """The small files of a directory: never a crash, never a success with half of a file."""

    def fault(case):
        name, verb, at = case
        folder = S.folder / f"side-{name}-{at}"
        shutil.copytree(model, folder)
        whole = (model / name).read_bytes()
        (folder / name).write_bytes(whole[: len(whole) * at // 24])
        answer = S.run(verb[0], folder, *verb[1:], "--json")
        error = answer.body().get("error") or {}
        good = answer.status == 3 and error.get("code") in ("FILE-JSON", "TOK-FORMAT")
        good = good and name in error.get("file", "") + error.get("message", "")
        return None if good else (name, at, answer.status, answer.out[:200])

    cases = [("config.json", ["inspect"], at) for at in range(24)]
    cases += [("tokenizer.json", ["tokenize", "the sky"], at) for at in range(24)]
    bad = [fault for fault in S.each(fault, cases) if fault]
    S.check("side files cut at 24 offsets each", not bad, f"{len(bad)} bad: {bad[:2]}")


def test_shards() -> None:
    """Shards that are missing or not what the index says."""
    model = ck.llama_directory(S.folder / "shards")
    (model / "model.safetensors").unlink()
    weights = list(ck.filled(ck.llama_shapes()).items())
    parts = {
        "model-00001-of-00002.safetensors": weights[:6],
        "model-00002-of-00002.safetensors": weights[6:],
    }
    for name, part in parts.items():
        (model / name).write_bytes(ck.safetensors(dict(part)))
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
    second.write_bytes(ck.safetensors(dict(weights[6:-1])))
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


def shrinks(name: str, model: pathlib.Path, path: pathlib.Path) -> None:
    """A file that shrinks under a running model: a message with its name, not a crash."""
    process = S.start(
        "run", model, "--prompt-ids", "5,17", "-n", 500000, "--ignore-eos", "--jsonl", "--threads", 1,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.readline()
    os.truncate(path, mmap.PAGESIZE)
    try:
        _, err = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
    text = err.decode()
    good = process.returncode == 3 and path.name in text and "FILE-TRUNCATED" in text
    S.check(
        f"{name} truncated while mapped",
        good,
        f"status {process.returncode}, {text[:300]!r}",
    )


def test_truncated_while_mapped() -> None:
    """Both formats; files that were read, not mapped, do not notice."""
    config = ck.llama_config(max_position_embeddings=1 << 20)
    model = ck.llama_directory(S.folder / "mapped", config=config)
    shrinks("safetensors", model, model / "model.safetensors")
    pairs = [
        (key, kind, 1 << 20 if key == "llama.context_length" else value)
        for key, kind, value in ck.gguf_metadata()
    ]
    path = S.folder / "mapped.gguf"
    path.write_bytes(ck.gguf(pairs))
    shrinks("gguf", path, path)


if __name__ == "__main__":
    S.run_all(
        test_cut_safetensors,
        test_cut_gguf,
        test_cut_side_files,
        test_shards,
        test_truncated_while_mapped,
    )
