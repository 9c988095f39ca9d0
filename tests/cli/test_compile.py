"""`axon compile` as a user meets it: bad input, and passes that can be left out and looked at."""

import ast
import json
import pathlib
import shlex
import struct

import harness as h

S = h.suite()
HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / "emit"


def checkpoint(folder: pathlib.Path, name: str, drop: str = "") -> pathlib.Path:
    """A directory with a case's configuration and zeros of its shapes."""
    case = json.loads((CASES / f"{name}.json").read_text())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(case["config"]))
    header, place = {}, 0
    for tensor, shape in case["tensors"].items():
        if tensor == drop:
            continue
        size = 4
        for n in shape:
            size *= n
        header[tensor] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [place, place + size],
        }
        place += size
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + bytes(place)
    (folder / "model.safetensors").write_bytes(data)
    return folder


def compile_to(folder: pathlib.Path, out: pathlib.Path, *options) -> h.Answer:
    """One run of the verb."""
    return S.run("compile", folder, "--target", "torch", "-o", out, *options)


def test_output() -> None:
    """The file is written once, again with --force, and never over another one."""
    folder = checkpoint(S.folder / "gpt2", "gpt2")
    out = S.folder / "gpt2.py"
    first = compile_to(folder, out)
    S.check("compile", first.status == 0 and out.exists(), first.err)
    text = out.read_text()
    again = compile_to(folder, out)
    S.check(
        "compile over a file", again.status == 2 and "--force" in again.err, again.err
    )
    forced = compile_to(folder, out, "--force")
    S.check(
        "compile --force", forced.status == 0 and out.read_text() == text, forced.err
    )
    place = compile_to(folder, S.folder, "--force")
    S.check(
        "compile to a directory",
        place.status == 2 and "model.py" in place.err,
        place.err,
    )
    lost = compile_to(folder, S.folder / "no" / "such" / "place.py")
    S.check("compile to nowhere", lost.status == 3, lost.err)
    compile(text, "gpt2.py", "exec")
    odd = S.folder / 'a\\N{x} """ it\'s.py'
    done = compile_to(f"{folder}/", odd)
    S.check("compile to an odd name", done.status == 0, done.err)
    doc = ast.get_docstring(ast.parse(odd.read_text())) or ""
    words = shlex.split(doc.partition("Made again by: ")[2].partition("\nHash of")[0])
    made = ["axon", "compile", "gpt2", "--target", "torch", "-o", odd.name]
    S.check("its header names the command", words == made, str(words))


def test_input() -> None:
    """What does not fit is named."""
    folder = checkpoint(S.folder / "less", "gpt2", drop="transformer.h.1.ln_1.weight")
    missing = compile_to(folder, S.folder / "less.py")
    named = "transformer.h.1.ln_1.weight" in missing.err
    S.check("compile with a missing tensor", missing.status == 1 and named, missing.err)
    alone = S.run("compile", "llama", "--target", "torch", "-o", S.folder / "alone.py")
    S.check(
        "compile without a checkpoint",
        alone.status == 1 and "--checkpoint" in alone.err,
        alone.err,
    )
    other = S.run("compile", folder, "--target", "abacus", "-o", S.folder / "x.py")
    S.check("unknown target", other.status == 2 and "torch" in other.err, other.err)


RANDOM = """import Random
import Tensor

main :: Tensor[B,S,D] -> Tensor[B,S,D]
main x = do
  noise, _ <- Random.normal (Random.key 7) x [B, S, D]
  return x + noise
"""


def test_no_layers() -> None:
    """A stack without layers is written for every target."""
    folder = checkpoint(S.folder / "bare", "llama")
    path = folder / "config.json"
    config = json.loads(path.read_text()) | {"num_hidden_layers": 0}
    path.write_text(json.dumps(config))
    for words in (("torch",), ("jax",), ("jax", "--scan-layers")):
        out = S.folder / "bare.py"
        done = S.run("compile", folder, "--target", *words, "-o", out, "--force")
        S.check(f"no layers: {' '.join(words)}", done.status == 0, done.err)
        compile(out.read_text(), "bare.py", "exec")


def test_unsupported() -> None:
    """An operation that a target lacks: its name, the line of the program, a way out; warnings once."""
    folder = checkpoint(S.folder / "shapes", "gpt2")
    program = S.folder / "noise.axon"
    program.write_text(RANDOM)
    for target in ("torch", "jax"):
        words = ("--checkpoint", folder, "--target", target)
        done = S.run("compile", program, *words, "-o", S.folder / "noise.py")
        S.check(f"{target} lacks an operation", done.status == 1, done.err)
        for part in (
            f"target `{target}` has no `random_normal`",
            "noise.axon:7:",
            "run the program natively",
        ):
            S.check(f"{target}: {part}", part in done.err, done.err)
        S.check("warnings once", done.err.count("W-UNUSED-IMPORT") == 1, done.err)
    scanned = compile_to(folder, S.folder / "scan.py", "--scan-layers")
    S.check("--scan-layers for torch", scanned.status == 2, scanned.err)


def test_passes() -> None:
    """Passes are named, timed, left out, and their graphs shown; none of it changes the module."""
    folder = checkpoint(S.folder / "bert", "bert")
    texts = []
    for number, options in enumerate(
        (
            [],
            ["--optimize", "0"],
            ["--skip-pass", "fold"],
            ["--stop-after-pass", "aliases"],
        )
    ):
        out = S.folder / f"bert{number}" / "bert.py"
        out.parent.mkdir()
        done = compile_to(folder, out, *options)
        S.check(f"compile {' '.join(options)}", done.status == 0, done.err)
        texts.append(out.read_text().partition("import ")[2] if out.exists() else "")
    S.check("passes change nothing that is written", len(set(texts)) == 1, "")
    table = compile_to(folder, S.folder / "t.py", "-v", "-v")
    shown = all(
        name in table.err for name in ("fold", "aliases", "dead", "prune", "nodes:")
    )
    S.check("compile -v -v", table.status == 0 and shown, table.err)
    dump = compile_to(folder, S.folder / "d.py", "--dump-after", "dead")
    S.check(
        "--dump-after", dump.status == 0 and "-- after dead" in dump.err, dump.err[:200]
    )
    wrong = compile_to(folder, S.folder / "w.py", "--skip-pass", "magic")
    S.check("unknown pass", wrong.status == 2 and "fold" in wrong.err, wrong.err)


def test_fused() -> None:
    """A target uses the fused operations that are named, by default all that it has."""
    folder = checkpoint(S.folder / "fused", "llama")
    marks = {
        "attention": "scaled_dot_product_attention(",
        "rms_norm": "RMSNorm(",
        "rope": " rope(",
    }
    every = None
    for words in ("", ":all", ":*", ":attention", ":attention,rms_norm"):
        out = S.folder / "fused.py"
        wanted = set(words[1:].split(",")) if words else {"all"}
        if wanted & {"all", "*"}:
            wanted = set(marks)
        target = "torch" + words
        done = S.run("compile", folder, "--target", target, "-o", out, "--force")
        S.check(f"compile --target {target}", done.status == 0, done.err)
        text = out.read_text().partition("import ")[2] if out.exists() else ""
        used = {name for name, mark in marks.items() if mark in text}
        S.check(f"{target} uses what is named", used == wanted, f"{used}")
        compile(text, out.name, "exec")
        every = every or text
        S.check(f"{target}: all of them", (used == set(marks)) == (text == every), "")
    # Masks are part of that operation: written out, calls with and without one differ.
    alone = S.run("compile", folder, "--target", "torch:rope", "-o", out, "--force")
    good = alone.status == 1 and "BACK-UNSUPPORTED" in alone.err
    S.check("without attention", good, alone.err)
    wrong = S.run(
        "compile", folder, "--target", "jax:swiglu", "-o", S.folder / "wrong.py"
    )
    good = wrong.status == 2 and "`jax` has no fused operation `swiglu`" in wrong.err
    S.check("a fused operation that is not there", good, wrong.err)


def main() -> None:
    """All of them."""
    for test in (
        test_output,
        test_input,
        test_no_layers,
        test_unsupported,
        test_passes,
        test_fused,
    ):
        test()
    S.finish()


if __name__ == "__main__":
    main()
