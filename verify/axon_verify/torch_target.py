"""An emitted PyTorch module as a target."""

import inspect
import pathlib

import numpy as np
import torch
from torch import nn

from axon_verify.command import Axon, Failure
from axon_verify.oracle import padded
from axon_verify.targets import Request, cut, emitted, load_module


def model_class(path: pathlib.Path) -> type[nn.Module]:
    """The class of an emitted source that loads weights."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(load_module(path), inspect.isclass)
        if hasattr(kind, "from_pretrained")
    ]
    if len(kinds) != 1:
        raise Failure(f"{len(kinds)} classes have from_pretrained, expected 1")
    return kinds[0]


class Torch:
    """Calls of one model, arrays in and out."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model

    @torch.no_grad()
    def outputs(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All outputs of one call; a lone one has no name."""
        given = {name: torch.from_numpy(value) for name, value in inputs.items()}
        return arrays(self.model(**given))

    def logits(self, ids: list[int]) -> np.ndarray:
        """Logits of one sequence in one call: [S,V]."""
        found = self.outputs({"input_ids": np.array([ids])})
        return next(iter(found.values()))[0]

    @torch.no_grad()
    def stepped(self, ids: list[int]) -> np.ndarray:
        """The same, half of the sequence at once and then token by token into the cache."""
        whole = torch.tensor([ids])
        start, seen, cache = 0, [], None
        for end in range(max(1, len(ids) // 2), len(ids) + 1):
            room = {"use_cache": True, "capacity": len(ids) + 3}
            options = room if cache is None else {"past_kv": cache}
            out = self.model(whole[:, start:end], **options)
            cache, start = out.new_kv, end
            seen.append(out.logits)
        return torch.cat(seen, 1)[0].numpy()

    @torch.no_grad()
    def decoded(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The encoder once, then one call for each token of the decoder."""
        given = {name: torch.from_numpy(value) for name, value in inputs.items()}
        tokens = given.pop("decoder_input_ids")
        encoded = self.model.encode(**given)
        room = {"use_cache": True, "capacity": tokens.shape[1] + 3}
        calls = []
        for place in range(tokens.shape[1]):
            now = {"decoder_input_ids": tokens[:, place : place + 1]}
            options = room if not calls else {"past_kv": calls[-1].new_kv}
            calls.append(self.model(**given, **now, encoded=encoded, **options))
        return {"logits": torch.cat([out.logits for out in calls], 1).numpy()}

    @torch.no_grad()
    def generate(
        self, prompts: list[list[int]], count: int, ends: tuple[int, ...] = ()
    ) -> list[list[int]]:
        """Greedy tokens of one batch, each row up to where an end token came."""
        sources = hasattr(self.model, "encode")
        ids, mask = padded(prompts, "right" if sources else "left")
        given = (ids,) if len(prompts) == 1 else (ids, mask)
        out = self.model.generate(
            *given, max_new_tokens=count, eos_token_id=list(ends), pad_token_id=1
        )
        # What comes first is the prompt, or the token that a decoder starts from.
        start = 1 if sources else ids.shape[1]
        return cut(out[:, start:].tolist(), ends)


def arrays(out) -> dict[str, np.ndarray]:
    """Tensors of a result by name."""
    if isinstance(out, torch.Tensor):
        return {"": out.numpy()}
    named = out._asdict().items()
    return {name: x.numpy() for name, x in named if isinstance(x, torch.Tensor)}


def load(axon: Axon, request: Request, scratch: pathlib.Path) -> Torch:
    """The target for one checkpoint."""
    kind = model_class(emitted(axon, request, "torch", scratch))
    return Torch(kind.from_pretrained(request.folder))
