"""What Transformers says of a checkpoint whose emitted JAX file is checked, kept in the cache folder."""

import json
import pathlib
import tempfile

import numpy as np
import torch
from axon_verify.oracle import load, rows_are_independent
from axon_verify.oracle import prompts as tiny_prompts
from checkpoints import digest, keep, source_of, tiny_root
from emit_checks import NEW_TOKENS, stored_gradients
from emit_pair import first
from torch import Tensor, nn


def answers(folder: pathlib.Path, part: str) -> pathlib.Path:
    """The file with the arrays that the checks want of this checkpoint; asked once."""
    source = source_of(folder)
    key = digest(pathlib.Path(__file__).read_bytes())
    file = tiny_root() / f"jax-{key}" / f"{source.name}.npz"
    if not file.exists():
        asks = {"logits": ask_causal, "states": ask_encoder, "answers": ask_seq2seq}
        arrays = asks[part](load(source))
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as place:
            new = pathlib.Path(place) / file.name
            np.savez(new, **arrays)
            keep(new, file)
    return file


def ask_causal(model: nn.Module) -> dict[str, np.ndarray]:
    """Prompts, logits at all positions, greedy tokens and by how much each beat the second."""
    prompts = tiny_prompts(model.config.vocab_size)[:3]
    arrays = {"independent": np.array(rows_are_independent(model))}
    for number, prompt in enumerate(prompts):
        ids = torch.tensor([prompt])
        with torch.no_grad():
            logits = first(model(input_ids=ids, return_dict=False))[0]
        arrays[f"prompt.{number}"] = np.array(prompt, np.int32)
        arrays[f"logits.{number}"] = logits.numpy()
        arrays |= greedy(model, ids, number)
    return arrays | gradients(model, torch.tensor([prompts[1]]))


def greedy(model: nn.Module, ids: Tensor, number: int) -> dict[str, np.ndarray]:
    """The library's own generation."""
    out = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW_TOKENS,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
        output_logits=True,
        return_dict_in_generate=True,
    )
    best = torch.stack(out.logits)[:, 0].topk(2).values
    return {
        f"tokens.{number}": out.sequences[0, ids.shape[1] :].numpy().astype(np.int32),
        f"gaps.{number}": (best[:, 0] - best[:, 1]).numpy(),
    }


def ask_encoder(model: nn.Module) -> dict[str, np.ndarray]:
    """States of a batch padded on the right, and of its longest row alone."""
    config = model.config
    members = tiny_prompts(config.vocab_size)
    width = max(map(len, members))
    pad = config.pad_token_id or 0
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in members])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in members])
    inputs = {"input_ids": ids, "attention_mask": mask}
    if getattr(config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = (ids * 7) % config.type_vocab_size
    longest = ids[members.index(max(members, key=len)) :][:1]
    with torch.no_grad():
        states = first(model(**inputs, return_dict=False))
        alone = first(model(input_ids=longest, return_dict=False))
    arrays = {name: value.numpy().astype(np.int32) for name, value in inputs.items()}
    arrays |= {"states": states.numpy(), "alone.ids": longest.numpy().astype(np.int32)}
    arrays |= {"alone": alone.numpy()}
    return arrays | gradients(model, longest)


def ask_seq2seq(model: nn.Module) -> dict[str, np.ndarray]:
    """Logits for one source and some tokens of the decoder."""
    source, tokens = tiny_prompts(model.config.vocab_size)[1:3]
    ids = torch.tensor([source])
    decoded = {"decoder_input_ids": torch.tensor([tokens])}
    with torch.no_grad():
        logits = first(model(input_ids=ids, **decoded, return_dict=False))
    arrays = gradients(model, ids, **decoded)
    named = {"logits": logits.numpy()}
    return (
        arrays
        | named
        | {name: x.numpy().astype(np.int32) for name, x in decoded.items()}
    )


def gradients(model: nn.Module, ids: Tensor, **more: Tensor) -> dict[str, np.ndarray]:
    """Gradients of the weighted mean of what a call gives, under the checkpoint's names."""
    model.zero_grad()
    out = first(model(input_ids=ids, **more, return_dict=False))
    weight = np.random.default_rng(3).standard_normal(out.shape, np.float32)
    (out * torch.from_numpy(weight)).mean().backward()
    grads = stored_gradients(model)
    grads |= {name.removeprefix("transformer."): g for name, g in grads.items()}
    grads |= {name.removeprefix("model."): g for name, g in grads.items()}
    arrays = {f"grad.{name}": grad.numpy() for name, grad in grads.items()}
    return arrays | {"grad_ids": ids.numpy().astype(np.int32), "grad_weight": weight}


def write_jobs(jobs: list[dict], file: pathlib.Path) -> None:
    """The list of what is to be checked."""
    file.write_text(json.dumps(jobs), encoding="utf-8")
