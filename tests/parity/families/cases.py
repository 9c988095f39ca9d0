"""The families beyond llama, gpt2 and bert: how their tiny checkpoints are made and compared.

Each family has a base configuration and several variants of it; between them the variants reach every
branch of the family's program. The first variant is the one that runs where only one does.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Family:
    """One zoo program: classes of Transformers, settings of all variants, and what each changes."""

    name: str
    config: str
    model: str
    base: dict
    variants: dict[str, dict]
    kind: str = "causal"
    attention: str = "eager"  # the oracle's implementation
    gain: float = (
        1.0  # what gains of norms stand around: 0 where the norm adds one itself
    )
    alone: tuple[
        str, ...
    ] = ()  # variants in which the rows of a batch depend on each other


SIZES = {"vocab_size": 131, "max_position_embeddings": 256}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
DECODER = SIZES | ENDS | {
    "hidden_size": 60, "intermediate_size": 92, "num_hidden_layers": 3, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 14,
}  # fmt: skip


def rope(kind: str = "default", theta: float = 10000.0, **more) -> dict:
    """Rotary settings as Transformers 5 writes them."""
    return {"rope_parameters": {"rope_type": kind, "rope_theta": theta, **more}}


YARN = rope("yarn", 5000.0, factor=4.0, original_max_position_embeddings=64)

FAMILIES = [
    Family(
        "mistral", "MistralConfig", "MistralForCausalLM",
        DECODER | {"rms_norm_eps": 1e-5},
        {
            "window": {"sliding_window": 9, **rope(theta=1000.0)},
            "no-window": {"sliding_window": None, "num_key_value_heads": 6, "tie_word_embeddings": True},
            "linear": {
                "sliding_window": 16, "num_key_value_heads": 3, "head_dim": 10, "hidden_act": "gelu",
                **rope("linear", factor=3.0),
            },
        },
    ),
    Family(
        "qwen2", "Qwen2Config", "Qwen2ForCausalLM",
        {key: value for key, value in DECODER.items() if key != "head_dim"},
        {
            "window": {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 1},
            "tied": {"tie_word_embeddings": True, "num_key_value_heads": 6, **rope(theta=1e6)},
            "yarn": {"num_key_value_heads": 1, "rms_norm_eps": 1e-5, **YARN},
        },
    ),
    Family(
        "qwen3", "Qwen3Config", "Qwen3ForCausalLM",
        DECODER,
        {
            "window": {
                "use_sliding_window": True, "sliding_window": 9,
                "layer_types": ["full_attention", "sliding_attention", "full_attention"],
            },
            "tied-bias": {"tie_word_embeddings": True, "attention_bias": True, **rope(theta=1e6)},
            "yarn": {"num_key_value_heads": 6, "rms_norm_eps": 1e-5, **YARN},
        },
    ),
    Family(
        "gemma", "GemmaConfig", "GemmaForCausalLM",
        DECODER,
        {
            "tied": {"num_key_value_heads": 1, "rms_norm_eps": 1e-5},
            "bias-linear": {"attention_bias": True, **rope("linear", 500.0, factor=2.5)},
            "own-head": {"tie_word_embeddings": False, "num_key_value_heads": 6, "hidden_act": "gelu"},
        },
        gain=0.0,
    ),
    Family(
        "phi3", "Phi3Config", "Phi3ForCausalLM",
        {key: value for key, value in DECODER.items() if key != "head_dim"},
        {
            "window": {"sliding_window": 9, **rope(theta=1000.0)},
            "part-tied": {
                "tie_word_embeddings": True, "num_key_value_heads": 6, "rms_norm_eps": 1e-6,
                **rope(partial_rotary_factor=0.6),
            },
            "long": {
                "num_key_value_heads": 3, "original_max_position_embeddings": 32,
                **rope("longrope", short_factor=[1.0, 1.1, 1.3, 1.6, 2.0],
                       long_factor=[1.5, 2.0, 3.0, 5.0, 9.0], original_max_position_embeddings=32),
            },
        },
        alone=("long",),  # the longest row chooses the factors of all
    ),
    Family(
        "gpt_neox", "GPTNeoXConfig", "GPTNeoXForCausalLM",
        SIZES | ENDS | {
            "hidden_size": 48, "intermediate_size": 92, "num_hidden_layers": 3, "num_attention_heads": 3,
        },
        {
            "parallel": {},
            "sequential": {
                "use_parallel_residual": False, "hidden_act": "gelu_fast", "tie_word_embeddings": True,
                **rope(theta=500.0, partial_rotary_factor=1.0),
            },
            "no-bias-linear": {
                "attention_bias": False, "layer_norm_eps": 1e-6, "num_attention_heads": 4,
                **rope("linear", factor=2.0, partial_rotary_factor=0.5),
            },
        },
    ),
]  # fmt: skip
