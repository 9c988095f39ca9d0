"""Configurations, architectures and weights that do not fit the program."""

import json

import checkpoints as ck
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


def test_config() -> None:
    """Keys that are missing or of the wrong type, files that are not there or no JSON."""
    model = ck.llama_directory(S.folder / "config")

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
            ck.llama_config(**{key: None}),
            says="weight",
        )
        S.check(
            f"config without {key}: source line, and the default",
            "llama.axon:" in answer.err
            and f"the configuration lacks `{key}`; its default" in answer.err,
            answer.err,
        )
    for key, config, says in (
        ("ROPE_TYPE", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "yarn.*rope_scaling.rope_type"),
        ("ACTIVATION", {"hidden_act": "glow"}, "glow.*hidden_act"),
    ):  # fmt: skip
        case(
            f"a kind of {key} that the program lacks",
            run,
            1,
            "RUN-NULL",
            ck.llama_config(**config),
            says=f"`{key}` is .{says}",
        )
    for layers in (3, 20_000, 100_000):
        config = ck.llama_config(num_hidden_layers=layers)
        (model / "config.json").write_text(json.dumps(config))
        S.answers(
            f"{layers} layers, and weights of two",
            S.run("check", model),
            1,
            err=r"llama\.axon:.*RUN-PARAM.*no tensor `model\.layers\.",
        )
    program = S.folder / "required.axon"
    program.write_text(REQUIRED_KEY)
    words = [*run, "--program", program]
    answer = case(
        "config without a required key",
        words,
        1,
        "RUN-CONFIG",
        ck.llama_config(),
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
            ck.llama_config(**{key: value}),
            says=key,
        )
        S.check(f"config {key}: source line", "llama.axon:" in answer.err, answer.err)
    case(
        "config hidden_size negative",
        run,
        1,
        "[A-Z-]+",
        ck.llama_config(hidden_size=-16),
    )
    case(
        "config hidden_size 2^70",
        run,
        1,
        "[A-Z-]+",
        ck.llama_config(hidden_size=1 << 70),
    )
    case("config heads 0", run, 1, "[A-Z-]+", ck.llama_config(num_attention_heads=0))
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
    model = ck.llama_directory(
        S.folder / "arch", config=ck.llama_config(architectures=["LlamoForCausalLM"])
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
    ck.llama_directory(model, config=ck.llama_config(architectures=None))
    S.fails(
        "no architecture",
        ["run", model, *IDS],
        1,
        "RUN-PROGRAM",
        says="names no architecture",
    )
    S.fails(
        "no such program",
        ["run", model, *IDS, "--program", "none.axon"],
        3,
        "FILE-READ",
        says="none.axon",
    )


def test_weights() -> None:
    """Weights of the wrong shape, too few, too many."""
    shapes = ck.llama_shapes()
    name = "model.layers.1.mlp.up_proj.weight"
    wrong = ck.llama_directory(
        S.folder / "wrong",
        tensors=ck.filled({**shapes, name: (ck.INNER + 1, ck.HIDDEN)}),
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
    fewer = ck.llama_directory(
        S.folder / "fewer",
        tensors=ck.filled({k: v for k, v in shapes.items() if k != name}),
    )
    answer = S.fails("weight missing", ["run", fewer, *IDS], 1, "RUN-PARAM", says=name)
    S.check("missing: source line", "llama.axon:" in answer.err, answer.err)
    more = ck.llama_directory(
        S.folder / "more", tensors=ck.filled({**shapes, "extra.weight": (3,)})
    )
    S.answers("weight too many runs", S.run("run", more, *IDS), 0)
    S.answers(
        "weight too many is listed",
        S.run("check", more),
        0,
        out=r"extra:.*extra\.weight",
    )
    scalar = ck.llama_directory(
        S.folder / "rank", tensors=ck.filled({**shapes, name: (ck.INNER * ck.HIDDEN,)})
    )
    S.fails(
        "weight of the wrong rank",
        ["run", scalar, *IDS],
        1,
        "RUN-PARAM-SHAPE",
        says=name,
    )


if __name__ == "__main__":
    S.run_all(test_config, test_architecture, test_weights)
