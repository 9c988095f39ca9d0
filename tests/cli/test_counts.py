"""Costs that are counted, not timed: instructions of the compiler, and what the plan says of a token.

The compiler's instructions are counted by valgrind's callgrind between a program's text and its plan; what
comes before (the process, the checkpoint's header) and after is not in it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import checkpoints as ck
import harness as h

S = h.suite()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

MOST_INSTRUCTIONS = 150_000_000  # text to plan of 30 layers, library included
MOST_GROWTH = 1.3  # from text to plan, from 8 layers to 80
MOST_PLAN_GROWTH = 3.6  # of planning alone, most of which is the copies of layers
MOST_EMITTED = 1.7 * MOST_INSTRUCTIONS  # text to the source of a target
LEAST_INSTRUCTIONS = 1_000_000  # fewer mean that nothing was counted
# From the text of the program on. The names are those of the functions that `bench --compile` calls.
TEXT_TO_GRAPH = "axon::driver::compile_text(*"
GRAPH_TO_PLAN = "axon::plan::plan(*"
GRAPH_TO_SOURCE = (
    "axon::driver::run_structured_passes(*",
    "axon::driver::emit_source*",
)


# ---- checkpoints of headers only -------------------------------------------------------------


def headers_only(path: pathlib.Path, config: dict, shapes: dict) -> pathlib.Path:
    """A checkpoint whose weights are a hole in the file."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    header, offset = {}, 0
    for name, shape in shapes.items():
        end = offset + 2 * ck.product(shape)
        header[name] = {
            "dtype": "BF16",
            "shape": list(shape),
            "data_offsets": [offset, end],
        }
        offset = end
    head = ck.raw_safetensors(header)
    with open(path / "model.safetensors", "wb") as file:
        file.write(head)
        file.truncate(len(head) + offset)
    return path


def llama(path: pathlib.Path, layers: int) -> pathlib.Path:
    """SmolLM2's sizes with any number of layers."""
    width, inner, heads, kv_heads, vocabulary = 576, 1536, 9, 3, 49152
    head = width // heads
    config = ck.llama_config(
        hidden_size=width, intermediate_size=inner, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, vocab_size=vocabulary,
        tie_word_embeddings=True, max_position_embeddings=8192,
    )  # fmt: skip
    shapes = {
        "model.embed_tokens.weight": (vocabulary, width),
        "model.norm.weight": (width,),
    }
    for i in range(layers):
        base = f"model.layers.{i}."
        shapes[base + "input_layernorm.weight"] = (width,)
        shapes[base + "post_attention_layernorm.weight"] = (width,)
        shapes[base + "self_attn.q_proj.weight"] = (heads * head, width)
        shapes[base + "self_attn.k_proj.weight"] = (kv_heads * head, width)
        shapes[base + "self_attn.v_proj.weight"] = (kv_heads * head, width)
        shapes[base + "self_attn.o_proj.weight"] = (width, heads * head)
        shapes[base + "mlp.gate_proj.weight"] = (inner, width)
        shapes[base + "mlp.up_proj.weight"] = (inner, width)
        shapes[base + "mlp.down_proj.weight"] = (width, inner)
    return headers_only(path, config, shapes)


def gpt2_tensors(layers: int) -> dict:
    """Names and shapes of a small GPT-2."""
    width, vocabulary = 32, 64
    shapes = {"wte.weight": (vocabulary, width), "wpe.weight": (64, width),
              "ln_f.weight": (width,), "ln_f.bias": (width,)}  # fmt: skip
    for i in range(layers):
        base = f"h.{i}."
        for norm in ("ln_1", "ln_2"):
            shapes[base + norm + ".weight"] = shapes[base + norm + ".bias"] = (width,)
        for name, rows, columns in (("attn.c_attn", width, 3 * width), ("attn.c_proj", width, width),
                                    ("mlp.c_fc", width, 4 * width), ("mlp.c_proj", 4 * width, width)):  # fmt: skip
            shapes[base + name + ".weight"] = (rows, columns)
            shapes[base + name + ".bias"] = (columns,)
    return {"transformer." + name: shape for name, shape in shapes.items()}


def gpt2(path: pathlib.Path, layers: int = 3) -> pathlib.Path:
    """A small GPT-2 with weights."""
    config = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 32, "n_layer": layers,
              "n_head": 4, "n_positions": 64, "vocab_size": 64, "layer_norm_epsilon": 1e-5}  # fmt: skip
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    tensors = ck.filled(gpt2_tensors(layers))
    (path / "model.safetensors").write_bytes(ck.safetensors(tensors))
    return path


# ---- tests -----------------------------------------------------------------------------------


def test_no_general_instructions(models: dict) -> None:
    """Straight lines only, for the three programs."""
    for name, model in models.items():
        answer = S.run("bench", model, "--compile", "--json")
        value = (
            answer.json().get("general_instructions") if answer.status == 0 else None
        )
        S.check(
            f"{name}: no general instructions",
            value == 0,
            f"{answer.status} {answer.err}",
        )


def instructions(words: list, *functions: str) -> int:
    """Instructions run inside of some functions by a command."""
    out = S.folder / f"callgrind-{abs(hash(str(words)))}.out"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    command += [f"--toggle-collect={function}" for function in functions]
    done = subprocess.run(
        [*command, S.binary, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=S.env,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        print(done.stderr[-2000:])
        return -1
    return int(found.group(1))


def test_emitted_budget() -> None:
    """Text to the source of each target."""
    if shutil.which("valgrind") is None:
        print("SKIP instruction budget: valgrind is not installed")
        return
    model = llama(S.folder / "llama-emitted", 30)

    def count(target: str) -> int:
        words = ["compile", model, "--target", target]
        words += ["-o", S.folder / f"emitted-{target}.py"]
        return instructions(words, TEXT_TO_GRAPH, *GRAPH_TO_SOURCE)

    targets = ["torch", "jax"]
    for target, found in zip(targets, S.each(count, targets)):
        print(f"text to {target}, 30 layers: {found:,} of {MOST_EMITTED:,.0f}")
        S.check(
            f"text to {target} within the budget",
            LEAST_INSTRUCTIONS < found <= MOST_EMITTED,
            f"{found}",
        )


def test_budget() -> None:
    """Text to plan, and how planning grows with the layers."""
    if shutil.which("valgrind") is None:
        print("SKIP instruction budget: valgrind is not installed")
        return
    models = [llama(S.folder / f"llama-{n}", n) for n in (30, 8, 80)]
    cases = [(model, TEXT_TO_GRAPH, GRAPH_TO_PLAN) for model in models]
    cases += [(model, GRAPH_TO_PLAN) for model in models[1:]]
    counts = S.each(
        lambda case: instructions(["bench", case[0], "--compile"], *case[1:]), cases
    )
    count, few, many, few_planned, many_planned = counts
    print(f"text to plan, 30 layers: {count:,} instructions of {MOST_INSTRUCTIONS:,}")
    S.check(
        "text to plan within the budget",
        LEAST_INSTRUCTIONS < count <= MOST_INSTRUCTIONS,
        f"{count}",
    )
    print(f"8 layers: {few:,}; 80 layers: {many:,}; {many / max(few, 1):.3f} times")
    growth = many_planned / max(few_planned, 1)
    print(f"planning alone: {few_planned:,}; {many_planned:,}; {growth:.3f} times")
    S.check(
        f"planning alone: 80 layers cost at most {MOST_PLAN_GROWTH} times what 8 do",
        0 < many_planned <= MOST_PLAN_GROWTH * few_planned,
        f"{few_planned} {many_planned}",
    )
    S.check(
        "80 layers cost little more than 8",
        0 < many <= MOST_GROWTH * few,
        f"{few} {many}",
    )


def test_zoo_budget() -> None:
    """The front end of every program: what is left of the budget is the plan's."""
    if shutil.which("valgrind") is None:
        print("SKIP instruction budget of the zoo: valgrind is not installed")
        return

    def count(program: pathlib.Path) -> None:
        used = instructions(["check", "-q", program], TEXT_TO_GRAPH)
        print(f"text to graph, {program.stem}: {used:,} instructions")
        S.check(
            f"{program.stem}: within the budget",
            LEAST_INSTRUCTIONS < used <= MOST_INSTRUCTIONS,
            f"{used}",
        )

    S.each(count, sorted(h.ZOO.glob("*.axon")))


def check_token(name: str, model: pathlib.Path, *options: str) -> dict:
    """One benchmark; what was counted is what was planned. Returns its report."""
    answer = S.run("bench", model, "-t", 2, "-r", 1, "--json", *options, timeout=300)
    if not S.check(f"{name}: bench runs", answer.status == 0, answer.err):
        return {}
    report = answer.json()
    for key, both in report.get("per_token", {}).items():
        if key == "flops":
            continue
        holds = both["predicted"] == both["counted"] and both["counted"] > 0
        S.check(f"{name}: {key} as planned", holds, f"{both}")
    S.check(f"{name}: a token was counted", "per_token" in report, answer.out[:500])
    return report


def test_tokens(llama_model: pathlib.Path, gpt2_model: pathlib.Path) -> None:
    """Barriers and bytes of a token."""
    small = ("-p", "16", "-n", "8", "--math", "exact")
    check_token("llama", llama_model, *small)
    check_token("gpt2", gpt2_model, *small)
    check_token("llama at a depth", llama_model, *small, "-d", "32")
    check_token("llama, two rows", llama_model, *small, "-b", "2")


def demo_model() -> pathlib.Path | None:
    """The demonstration model, if it has been fetched."""
    script = ROOT / "scripts" / "fetch_models.py"
    done = subprocess.run(
        [sys.executable, script, "smollm2"], capture_output=True, text=True, check=False
    )
    return (
        pathlib.Path(done.stdout.strip().splitlines()[-1])
        if done.returncode == 0
        else None
    )


def test_demo(model: pathlib.Path) -> None:
    """The same of the demonstration model, and its memory."""
    for options in (
        ("-p", "512", "-n", "16"),
        ("-p", "64", "-n", "8", "--math", "exact"),
    ):
        name = "demo " + " ".join(options)
        report = check_token(name, model, *options)
        if not report:
            continue
        planned, counted = report["predicted_rss_bytes"], report["peak_rss_bytes"]
        off = abs(planned - counted) / counted
        print(
            f"{name}: {planned / 2**20:.1f} MiB planned, {counted / 2**20:.1f} MiB at most, {100 * off:.2f} % off"
        )
        S.check(f"{name}: memory within 2 %", off <= 0.02, f"{planned} {counted}")


def main() -> None:
    """All tests."""
    small = ck.llama_directory(S.folder / "llama")
    other = gpt2(S.folder / "gpt2")
    encoder = ck.bert_directory(S.folder / "bert")
    test_no_general_instructions({"llama": small, "gpt2": other, "bert": encoder})
    test_tokens(small, other)
    test_budget()
    test_emitted_budget()
    test_zoo_budget()
    os.environ.setdefault("AXON_CACHE", str(pathlib.Path.home() / ".cache" / "axon"))
    model = demo_model()
    if model is None:
        print("SKIP memory and counts of the demo model: it could not be fetched")
    else:
        test_demo(model)
    S.finish()


main()
