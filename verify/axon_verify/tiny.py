"""Writes the tiny random checkpoints of the families, one folder for each variant.

Sizes are odd, every bias, gain and table is random, and weights are scaled so that logits have a spread of
about one. In a spelling of a variant, `oracle.json` names the folder that the oracle loads in its place.
"""

import json
import math
import pathlib
import shutil

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from axon_verify.families import Family, Spelling


def is_gain(name: str) -> bool:
    """Whether a vector multiplies what a norm gives."""
    owner = name.rpartition(".")[0].rpartition(".")[2].lower()
    return name.endswith("weight") and ("norm" in owner or owner.startswith("ln_"))


def is_conv1d(model: torch.nn.Module, name: str) -> bool:
    """Whether the parameter's matrix is stored [in,out]."""
    owner = model.get_submodule(name.rpartition(".")[0])
    return type(owner).__name__ == "Conv1D"


def randomise(model: torch.nn.Module, family: Family, seed: int) -> None:
    """Random values for everything: no bias, gain or table hides at zero or one."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=draw)
            if weight.dim() >= 2:
                fan_in = weight.shape[0] if is_conv1d(model, name) else weight.shape[-1]
                size = 1.0 if "embed" in name else 1.3
                for end, scale in family.scales.items():
                    size *= scale if name.endswith(end) else 1.0
                weight.copy_(noise * size / math.sqrt(fan_in))
            else:
                weight.copy_((family.gain if is_gain(name) else 0.0) + 0.3 * noise)
        stored = model.state_dict()
        for name, table in sorted(model.named_buffers()):
            if name in stored and table.is_floating_point():
                table.copy_(0.3 * torch.randn(table.shape, generator=draw))
    model.eval()


def add_tokenizer(folder: pathlib.Path) -> None:
    """A tokenizer with a word for each id, so that commands that print text have one."""
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    vocabulary = {"[UNK]": 0} | {f"w{number}": number for number in range(1, size)}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.save(str(folder / "tokenizer.json"))


def make_variant(family: Family, name: str, folder: pathlib.Path) -> None:
    """One checkpoint of a family, with its class in the configuration."""
    config = getattr(transformers, family.config)(**family.settings(name))
    kind = getattr(transformers, family.model_of(name))
    model = kind(config, **family.options(name))
    randomise(model, family, 1000 + list(family.variants).index(name))
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    add_tokenizer(folder)


def spread(folder: pathlib.Path, weights: dict, files: int) -> None:
    """Tensors in several files, with the index that names the file of each."""
    (folder / "model.safetensors").unlink()
    places = {}
    for number in range(files):
        file = f"model-{number + 1:05}-of-{files:05}.safetensors"
        part = {name: weights[name] for name in sorted(weights)[number::files]}
        save_file(part, folder / file, metadata={"format": "pt"})
        places |= dict.fromkeys(part, file)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))


def make_spelling(
    spelling: Spelling, source: pathlib.Path, folder: pathlib.Path
) -> None:
    """A copy with other tensor names or configuration keys; the oracle goes on reading the source."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    weights = load_file(folder / "model.safetensors")
    out = {spelling.rename(name): weight for name, weight in weights.items()}
    save_file(out, folder / "model.safetensors", metadata={"format": "pt"})
    if spelling.files > 1:
        spread(folder, out, spelling.files)
    path = folder / "config.json"
    config = spelling.edit(json.loads(path.read_text()))
    path.write_text(json.dumps(config, indent=2))
    (folder / "oracle.json").write_text(json.dumps({"source": source.name}))
