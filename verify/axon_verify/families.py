"""The families of the zoo: how their tiny checkpoints are made and compared.

Each family has a base configuration and several variants of it; between them the variants reach every
branch of the family's program. The first variant is the one that runs where only one does.
"""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Spelling:
    """A variant's files with other names of tensors or other keys in the configuration."""

    of: str
    edit: Callable[[dict], dict] = dict
    rename: Callable[[str], str] = str
    files: int = 1  # over which the tensors are spread


@dataclasses.dataclass(frozen=True)
class Family:
    """One zoo program: classes of Transformers, settings of all variants, and what each changes.

    A variant may name a `model` of its own, and what its class takes beside the configuration under
    `options`.
    """

    name: str
    config: str
    model: str
    base: dict
    variants: dict[str, dict]
    kind: str = "causal"
    attention: str = "eager"  # the oracle's implementation
    # What gains of norms stand around: zero where the norm adds one itself.
    gain: float = 1.0
    # What matrices are multiplied with, by how their names end: queries where the model itself does not
    # scale scores, tables where the same token would follow itself for ever.
    scales: dict[str, float] = dataclasses.field(default_factory=dict)
    # Variants whose files have tensors that the model does not read.
    unread: tuple[str, ...] = ()
    spellings: dict[str, Spelling] = dataclasses.field(default_factory=dict)

    def model_of(self, variant: str) -> str:
        """The class of a variant."""
        return self.variants[variant].get("model", self.model)

    def settings(self, variant: str) -> dict:
        """The configuration of a variant."""
        changes = self.base | self.variants[variant]
        own = ("model", "options")
        return {key: value for key, value in changes.items() if key not in own}

    def options(self, variant: str) -> dict:
        """What the class of a variant takes beside the configuration."""
        return self.variants[variant].get("options", {})


SIZES = {"vocab_size": 131, "max_position_embeddings": 256}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
DECODER = SIZES | ENDS | {
    "hidden_size": 60, "intermediate_size": 92, "num_hidden_layers": 3, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 14,
}  # fmt: skip
ENCODER = {
    "vocab_size": 113, "hidden_size": 60, "num_hidden_layers": 3, "num_attention_heads": 5,
    "intermediate_size": 76, "max_position_embeddings": 96,
}  # fmt: skip


def rope(kind: str = "default", theta: float = 10000.0, **more) -> dict:
    """Rotary settings as Transformers 5 writes them."""
    return {"rope_parameters": {"rope_type": kind, "rope_theta": theta, **more}}


TEXT_OUTER = ("tie_word_embeddings", "bos_token_id", "eos_token_id", "pad_token_id", "vocab_size")  # fmt: skip


def nested(config: dict) -> dict:
    """The text part's settings as a file with an image encoder has them."""
    kept = {key: config[key] for key in TEXT_OUTER if key in config}
    text = {key: value for key, value in config.items() if key != "architectures"}
    return kept | {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "text_config": text,
    }


def old_bases(config: dict) -> dict:
    """Rotary bases under the names of Transformers 4, and kinds of layers by period."""
    kinds = config.pop("rope_parameters")
    del config["layer_types"]
    far = kinds["full_attention"]
    return config | {
        "rope_theta": far["rope_theta"],
        "rope_local_base_freq": kinds["sliding_attention"]["rope_theta"],
        "rope_scaling": {key: far[key] for key in ("rope_type", "factor")},
        "sliding_window_pattern": 3,
    }


def old_neox(config: dict) -> dict:
    """Rotary settings under names of their own."""
    rotary = config.pop("rope_parameters")
    return config | {
        "rotary_emb_base": rotary["rope_theta"],
        "rotary_pct": rotary["partial_rotary_factor"],
    }


def old_rotary(config: dict) -> dict:
    """The rotary keys of Transformers 4."""
    rotary = config.pop("rope_parameters")
    config["rope_theta"] = rotary.pop("rope_theta")
    kind = rotary.pop("rope_type")
    config["rope_scaling"] = None if kind == "default" else {"type": kind, **rotary}
    return config


def both_rotary(config: dict) -> dict:
    """The settings of Transformers 4 added to a file of Transformers 5, as model cards ask for."""
    kind, theta = (
        config["rope_parameters"].pop(key) for key in ("rope_type", "rope_theta")
    )
    added = {"rope_scaling": {"rope_type": kind, **config["rope_parameters"]}}
    return config | rope(theta=theta) | added


def bare_llama(config: dict) -> dict:
    """Only what has no class default, as older files leave it."""
    defaults = ("head_dim", "attention_bias", "mlp_bias")
    kept = old_rotary(config).items()
    return {key: value for key, value in kept if key not in defaults}


def old_norms(name: str) -> str:
    """Names of gains and biases of norms in the first checkpoints."""
    for new, old in (("weight", "gamma"), ("bias", "beta")):
        name = name.replace(f"LayerNorm.{new}", f"LayerNorm.{old}")
    return name


def old_width(config: dict) -> dict:
    """The width under its first name."""
    return config | {"hidden_size": None, "n_embed": config["hidden_size"]}


def without(prefix: str) -> Callable[[str], str]:
    """Names without a leading part."""
    return lambda name: name.removeprefix(prefix)


YARN = rope("yarn", 5000.0, factor=4.0, original_max_position_embeddings=64)

FAMILIES = [
    Family(
        "llama", "LlamaConfig", "LlamaForCausalLM",
        DECODER | {"rms_norm_eps": 1e-5},
        {
            "grouped": rope(theta=5000.0),
            "linear-tied": {
                "num_key_value_heads": 6, "attention_bias": True, "mlp_bias": True,
                "tie_word_embeddings": True, **rope("linear", factor=3.0),
            },
            "llama3": {
                "num_key_value_heads": 1, "attention_bias": True,
                **rope("llama3", 500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                       original_max_position_embeddings=32),
            },
            "plain": {"head_dim": 10, "hidden_act": "gelu", "mlp_bias": True, **rope()},
        },
        spellings={
            "sharded": Spelling("grouped", files=3),
            "linear-old": Spelling("linear-tied", edit=old_rotary),
            "linear-both": Spelling("linear-tied", edit=both_rotary),
            "llama3-old": Spelling("llama3", edit=old_rotary),
            "plain-bare": Spelling("plain", edit=bare_llama),
        },
    ),
    Family(
        "gpt2", "GPT2Config", "GPT2LMHeadModel",
        ENDS | {"vocab_size": 127, "n_embd": 60, "n_layer": 3, "n_head": 5, "n_positions": 128},
        {
            "prefix": {},
            "inner": {
                "n_inner": 84, "activation_function": "relu", "scale_attn_by_inverse_layer_idx": True,
            },
            "untied": {
                "tie_word_embeddings": False, "activation_function": "gelu", "scale_attn_weights": False,
            },
        },
        spellings={"bare": Spelling("prefix", rename=without("transformer."))},
    ),
    Family(
        "bert", "BertConfig", "BertForMaskedLM",
        ENCODER | {"type_vocab_size": 3},
        {
            "mlm": {"hidden_act": "gelu_new"},
            "pooler": {"model": "BertModel"},
            "bare": {
                "model": "BertModel", "options": {"add_pooling_layer": False}, "hidden_act": "relu",
            },
        },
        kind="encoder",
        spellings={"mlm-original": Spelling("mlm", rename=old_norms)},
    ),
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
        spellings={"old": Spelling("parallel", edit=old_neox)},
    ),
    Family(
        "opt", "OPTConfig", "OPTForCausalLM",
        SIZES | ENDS | {"hidden_size": 60, "ffn_dim": 92, "num_hidden_layers": 3, "num_attention_heads": 5},
        {
            "before": {},
            "after-narrow": {
                "do_layer_norm_before": False, "word_embed_proj_dim": 28, "activation_function": "gelu",
            },
            "bare": {
                "enable_bias": False, "layer_norm_elementwise_affine": False, "tie_word_embeddings": False,
            },
            "no-last-norm": {"_remove_final_layer_norm": True, "num_attention_heads": 3},
        },
        spellings={"short": Spelling("after-narrow", rename=without("model."))},
    ),
    Family(
        "bloom", "BloomConfig", "BloomForCausalLM",
        ENDS | {"vocab_size": 131, "hidden_size": 60, "n_layer": 3, "n_head": 4, "seq_length": 256},
        {
            "plain": {},
            "normed-residual": {"apply_residual_connection_post_layernorm": True, "n_head": 6},
            "own-head": {"tie_word_embeddings": False, "n_head": 1, "layer_norm_epsilon": 1e-6},
        },
        spellings={"bare": Spelling("plain", edit=old_width, rename=without("transformer."))},
    ),
    Family(
        "falcon", "FalconConfig", "FalconForCausalLM",
        SIZES | ENDS | {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4},
        {
            "alibi": {"alibi": True, "bias": True, "multi_query": False, "parallel_attn": False},
            "shared": {"tie_word_embeddings": False, "ffn_hidden_size": 92, **rope(theta=500.0)},
            "grouped": {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True},
            "grouped-one-norm": {
                "new_decoder_architecture": True, "num_kv_heads": 4, "num_ln_in_parallel_attn": 1,
                "activation": "relu", **rope("linear", factor=2.0),
            },
        },
        attention="sdpa",  # the eager path adds the bias of scores twice
    ),
    Family(
        "olmoe", "OlmoeConfig", "OlmoeForCausalLM",
        {key: value for key, value in DECODER.items() if key != "head_dim"}
        | {"intermediate_size": 28, "num_experts": 7, "num_experts_per_tok": 3},
        {
            "plain": {},
            "normed-limited": {"norm_topk_prob": True, "clip_qkv": 0.7, "attention_bias": True},
            "tied": {
                "tie_word_embeddings": True, "num_key_value_heads": 6, "num_experts_per_tok": 1,
                **rope("linear", factor=2.0),
            },
        },
    ),
    Family(
        "mixtral", "MixtralConfig", "MixtralForCausalLM",
        DECODER | {"intermediate_size": 28, "num_local_experts": 5},
        {
            "window": {"sliding_window": 9, **rope(theta=1000.0)},
            "three": {"num_experts_per_tok": 3, "num_key_value_heads": 6, "rms_norm_eps": 1e-6},
            "tied": {"tie_word_embeddings": True, "num_key_value_heads": 1, "num_experts_per_tok": 1},
        },
    ),
    Family(
        "gemma2", "Gemma2Config", "Gemma2ForCausalLM",
        DECODER | {"num_attention_heads": 6, "sliding_window": 9, "query_pre_attn_scalar": 20},
        {
            "limits": {"attn_logit_softcapping": 1.5, "final_logit_softcapping": 2.0},
            "no-limits": {
                "attn_logit_softcapping": None, "final_logit_softcapping": None, "num_key_value_heads": 1,
                "layer_types": ["full_attention", "sliding_attention", "sliding_attention"],
            },
            "own-head": {
                "tie_word_embeddings": False, "attention_bias": True, "num_key_value_heads": 6,
                **rope("linear", factor=2.0),
            },
        },
        gain=0.0,
    ),
    Family(
        "gemma3", "Gemma3TextConfig", "Gemma3ForCausalLM",
        DECODER | {"num_hidden_layers": 4, "sliding_window": 9, "query_pre_attn_scalar": 20},
        {
            "two-bases": {
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
            },
            "scaled": {
                "num_key_value_heads": 1, "final_logit_softcapping": 2.0, "sliding_window_pattern": 3,
                "rope_parameters": {
                    "full_attention": {"rope_type": "linear", "rope_theta": 20000.0, "factor": 4.0},
                    "sliding_attention": {"rope_type": "default", "rope_theta": 300.0},
                },
            },
            "own-head": {"tie_word_embeddings": False, "attention_bias": True, "num_key_value_heads": 6},
        },
        gain=0.0,
        spellings={
            "old": Spelling("scaled", edit=old_bases),
            "text-part": Spelling(
                "two-bases", edit=nested, rename=lambda name: f"model.language_{name}",
            ),
            "text-part-old": Spelling(
                "own-head", edit=nested, rename=lambda name: f"language_model.{name}",
            ),
        },
    ),
    Family(
        "roberta", "RobertaConfig", "RobertaForMaskedLM",
        ENCODER | {"pad_token_id": 1, "layer_norm_eps": 1e-5, "type_vocab_size": 1},
        {
            "mlm": {},
            "encoder": {"model": "RobertaModel", "hidden_act": "relu", "type_vocab_size": 2, "pad_token_id": 3},
            "own-decoder": {"tie_word_embeddings": False, "hidden_act": "gelu_new", "num_attention_heads": 3},
        },
        kind="encoder",
        unread=("own-decoder",),  # a bias that only tied heads share
    ),
    Family(
        "distilbert", "DistilBertConfig", "DistilBertForMaskedLM",
        {
            "vocab_size": 113, "dim": 60, "n_layers": 3, "n_heads": 5, "hidden_dim": 76,
            "max_position_embeddings": 96,
        },
        {
            "mlm": {},
            "encoder": {"model": "DistilBertModel", "activation": "relu", "n_heads": 3},
            "own-decoder": {"tie_word_embeddings": False, "sinusoidal_pos_embds": True},
        },
        kind="encoder",
    ),
    Family(
        "t5", "T5Config", "T5ForConditionalGeneration",
        {
            "vocab_size": 113, "d_model": 60, "d_kv": 14, "d_ff": 76, "num_layers": 3, "num_heads": 4,
            "relative_attention_num_buckets": 12, "relative_attention_max_distance": 20,
            "decoder_start_token_id": 0,
        },
        {
            "plain": {"num_decoder_layers": 2},
            "gated": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
            "gated-silu": {
                "feed_forward_proj": "gated-silu", "num_heads": 7, "relative_attention_num_buckets": 32,
                "relative_attention_max_distance": 128,
            },
        },
        kind="seq2seq",
        scales={"Attention.q.weight": 14**-0.5, "Attention.o.weight": 4.0, "wo.weight": 4.0},
    ),
    Family(
        "bart", "BartConfig", "BartForConditionalGeneration",
        SIZES | ENDS | {
            "d_model": 60, "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 5,
            "decoder_attention_heads": 3, "encoder_ffn_dim": 92, "decoder_ffn_dim": 76,
            "decoder_start_token_id": 2, "forced_eos_token_id": None,
        },
        {
            "plain": {},
            "scaled": {
                "scale_embedding": True, "activation_function": "relu", "encoder_layers": 2,
                "decoder_attention_heads": 6, "decoder_start_token_id": 5,
            },
            "own-head": {
                "tie_word_embeddings": False, "activation_function": "gelu_new", "decoder_layers": 1,
                "encoder_attention_heads": 1,
            },
        },
        kind="seq2seq",
        scales={"embed_positions.weight": 6.0, "out_proj.weight": 0.3, "shared.weight": 0.4},
        unread=("own-head",),  # the table that both stacks would share
        spellings={"bare": Spelling("plain", rename=without("model."))},
    ),
]  # fmt: skip


def find(name: str) -> tuple[Family, list[str]] | None:
    """The family and variants of `FAMILY` or `FAMILY-VARIANT`; the longest family name wins."""
    for family in sorted(FAMILIES, key=lambda family: -len(family.name)):
        if name == family.name:
            return family, list(family.variants)
        variant = name.removeprefix(f"{family.name}-")
        if variant != name and variant in family.variants:
            return family, [variant]
    return None
