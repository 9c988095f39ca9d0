"""Stages as text, and what comes with the command."""

import os
import pathlib
import re
import subprocess

import checkpoints as ck
import harness as h

S = h.suite()
STAGES = ("parse", "resolve", "materialize", "normalize", "elaborate", "flatten", "typecheck", "optimize-ast", "graph-ir",
          "graph-ir-axon", "final", "plan")  # fmt: skip
TYPE_ERROR = """-- Widths that do not agree.
main :: Tensor[B,3] -> Tensor[B,4] -> Tensor[B,3]
main x y = do
  z <- x + y
  return z
"""


def test_dump(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """Every stage as text, the same each time."""
    for stage in STAGES:
        answer = S.run("dump", "llama", "--stage", stage, "--checkpoint", model)
        S.answers(f"dump {stage}", answer, 0, out=r"\S")
        S.check(f"dump {stage}: no complaint", answer.err == "", answer.err[:300])
        if stage in ("graph-ir", "plan"):
            S.check(
                f"dump {stage}: same again",
                S.run("dump", "llama", "--stage", stage, "--checkpoint", model).out
                == answer.out,
                "",
            )
        dumped = S.folder / f"{stage}.axon"
        dumped.write_text(answer.out)
        again = S.run("dump", dumped, "--stage", stage).out
        if (
            stage == "graph-ir"
        ):  # comments name the source of a node, which is another file now
            again, answer.out = (re.sub(r"  -- .*", "", t) for t in (again, answer.out))
        S.check(f"dump {stage}: read and written", again == answer.out, again[:300])
        if stage not in ("final", "plan"):
            S.answers(
                f"dump {stage} without a checkpoint",
                S.run("dump", h.ZOO / "llama.axon", "--stage", stage),
                0,
                out=r"\S",
            )
    S.answers(
        "dump DIR --stage plan", S.run("dump", model, "--stage", "plan"), 0, out="phase"
    )
    S.answers(
        "dump GGUF --stage plan", S.run("dump", gguf, "--stage", "plan"), 0, out="phase"
    )
    out = S.folder / "dumped.txt"
    S.answers("dump -o", S.run("dump", "bert", "--stage", "parse", "-o", out), 0)
    S.check(
        "dump -o: file",
        out.exists()
        and out.read_text() == S.run("dump", "bert", "--stage", "parse").out,
        "",
    )
    answer = S.run("dump", "llama", "--stage", "plan")
    S.check(
        "dump plan without a checkpoint",
        answer.status in (1, 2, 3) and "checkpoint" in answer.err,
        f"{answer.status} {answer.err!r}",
    )


def test_catalogue(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """inspect, zoo, list, explain, completion, help."""
    for name, target in (("directory", model), ("GGUF", gguf)):
        S.answers(
            f"inspect {name}",
            S.run("inspect", target),
            0,
            out=r"program\s+llama.*tokenizer\s+262.*chat template\s+yes",
        )
        body = S.run("inspect", target, "--json").body()
        good = (
            body["schema"] == 1
            and body["program"] == "llama"
            and len(body["tensors"]) == 21
            and body["parameters"] == 12304
        )
        S.check(f"inspect --json {name}", good, str(body)[:300])
    S.answers(
        "inspect -v",
        S.run("inspect", model, "-v"),
        0,
        out=r"model\.layers\.1\.mlp\.down_proj\.weight\s+F32\s+\[16,24\]",
    )
    S.answers("zoo", S.run("zoo"), 0, out="bert.*gpt2.*llama")
    names = [p["name"] for p in S.run("zoo", "--json").json()["programs"]]
    S.check("zoo --json", {"bert", "gpt2", "llama"} <= set(names), str(names))
    S.answers("list of nothing", S.run("list"), 0, err="AXON_MODELS")
    shelf = S.folder / "shelf"
    ck.llama_directory(shelf / "one")
    (shelf / "two.gguf").write_bytes(gguf.read_bytes())
    (shelf / "broken.gguf").write_bytes(b"GGUF")
    (shelf / "notes.txt").write_text("notes")
    S.answers(
        "list",
        S.run("list", env={"AXON_MODELS": str(shelf)}),
        0,
        out=r"llama.*one\n.*two\.gguf\n$",
    )
    body = S.run("list", "--json", env={"AXON_MODELS": str(shelf)}).body()
    S.check("list --json", len(body["models"]) == 2, str(body))
    hub = S.folder / "hub" / "models--me--tiny"
    ck.llama_directory(hub / "snapshots" / "abc")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("abc")
    S.answers(
        "a hub id",
        S.run("inspect", "me/tiny", env={"HF_HUB_CACHE": str(hub.parent)}),
        0,
        out="program +llama",
    )
    S.answers(
        "list of the hub cache",
        S.run("list", env={"HF_HUB_CACHE": str(hub.parent)}),
        0,
        out="models--me--tiny",
    )
    S.answers(
        "explain",
        S.run("explain", "RUN-PARAM"),
        0,
        out="RUN-PARAM.*exit status 1.*checkpoint has no tensor",
    )
    for shell in ("bash", "zsh", "fish"):
        script = S.run("completion", shell)
        S.answers(f"completion {shell}", script, 0, out="run")
        for word in ("compile", "verify", "skip-pass", "drop-oldest"):
            S.check(f"completion {shell}: {word}", word in script.out, script.out[:300])
    S.answers(
        "man",
        S.run("man"),
        0,
        out=r"^\.TH AXON 1\n.*\.SS run\n.*max\\-new\\-tokens.*\.SS compile\n",
    )
    S.answers("--version after a verb", S.run("zoo", "--version"), 0, out=r"^axon \d")
    S.answers("options before a verb", S.run("--json", "-q", "zoo"), 0, out='"schema"')
    S.answers(
        "--version",
        S.run("--version"),
        0,
        out=r"axon \d+\.\d+.*instruction set.*libraries",
    )
    S.answers("--help", S.run("--help"), 0, out="run.*chat.*check")
    S.answers("run --help", S.run("run", "--help"), 0, out="--max-new-tokens.*--stop")


def test_colour() -> None:
    """Escapes only where they are wanted."""
    path = S.folder / "colour.axon"
    path.write_text(TYPE_ERROR)
    escape = "\x1b["
    S.check("no colour in a pipe", escape not in S.run("check", path).err, "")
    S.check(
        "--color always", escape in S.run("check", path, "--color", "always").err, ""
    )
    S.check(
        "--color never", escape not in S.run("check", path, "--color", "never").err, ""
    )
    for name, env, want in (
        ("a terminal", {}, True),
        ("NO_COLOR on a terminal", {"NO_COLOR": "1"}, False),
    ):
        master, slave = os.openpty()
        process = subprocess.Popen(
            [S.binary, "check", str(path)],
            stderr=slave,
            stdout=subprocess.DEVNULL,
            env={**S.env, **env},
        )
        process.wait(timeout=30)
        os.close(slave)
        text = os.read(master, 65536).decode()
        os.close(master)
        S.check(f"colour on {name}", (escape in text) == want, repr(text[:200]))
    S.fails(
        "--color of another kind",
        ["check", path, "--color", "pink"],
        2,
        "USE-OPTION",
        says="color",
    )


if __name__ == "__main__":
    S.run_all(test_dump, test_catalogue, test_colour)
