"""Checkpoints for the comparison with Transformers: models.py OUT prints {name: folder} as JSON.

SmolLM2 and MiniLM are real weights; the T5 and the language model that is trained are small and random.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "parity"))


def random_t5(folder: pathlib.Path) -> None:
    """An encoder-decoder of 4 + 4 layers."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(1)
    config = T5Config(
        vocab_size=8192,
        d_model=384,
        d_kv=64,
        d_ff=1024,
        num_layers=4,
        num_decoder_layers=4,
        num_heads=6,
        decoder_start_token_id=0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)


def random_llama(folder: pathlib.Path) -> None:
    """About 30 million parameters, half of them outside of the layers' products."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=8192,
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=7,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def main() -> None:
    import checkpoints

    out = pathlib.Path(sys.argv[1])
    gguf = checkpoints.fetched("smollm2")
    folders = {
        "smollm2": checkpoints.smollm_folder(gguf, "float32"),
        "minilm": checkpoints.fetched("minilm"),
    }
    for name, make in {"t5": random_t5, "train": random_llama}.items():
        folder = folders[name] = out / name
        if not (folder / "ready").exists():
            make(folder)
            (folder / "ready").touch()
    print(json.dumps({name: str(folder) for name, folder in folders.items()}))


if __name__ == "__main__":
    main()
