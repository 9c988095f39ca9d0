"""Experts whose weights are one tensor for each parameter."""

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from .experts import Experts, by_expert


class ExpertBank(nn.Module):
    """Experts with stacked weights; `state_dict` has the names of the separate ones."""

    def __init__(self, experts: Experts) -> None:
        super().__init__()
        self.count = len(experts)
        self.form = [
            copy.deepcopy(experts[0]).to("meta")
        ]  # in a list: no parameters of its own
        self.names = [name for name, _ in experts[0].named_parameters()]
        for name in self.names:
            parts = [expert.get_parameter(name).detach() for expert in experts]
            self.register_parameter(
                self.key(name), nn.Parameter(torch.stack(parts), requires_grad=False)
            )
        self.register_state_dict_post_hook(ExpertBank.separate)
        self.register_load_state_dict_pre_hook(ExpertBank.stack)

    @staticmethod
    def key(name: str) -> str:
        """The name of a parameter of all experts."""
        return name.replace(".", "__")

    def separate(self, state: dict[str, Tensor], prefix: str, _: Any) -> None:
        """Gives stacked tensors the names of the separate ones."""
        for name in self.names:
            for number, part in enumerate(state.pop(prefix + self.key(name))):
                state[f"{prefix}{number}.{name}"] = part

    def stack(
        self,
        state: dict[str, Tensor],
        prefix: str,
        _: Any,
        __: bool,
        missing: list[str],
        ___: list[str],
        errors: list[str],
    ) -> None:
        """The reverse of `separate`."""
        for name in self.names:
            whole: Tensor = getattr(self, self.key(name)).detach().clone()
            for number, own in enumerate(whole):
                key = f"{prefix}{number}.{name}"
                part = state.pop(key, None)
                if part is None:
                    missing.append(key)
                elif part.shape != own.shape:
                    errors.append(f"{key} is {part.shape}, needs {own.shape}")
                else:
                    own.copy_(part)
            state[prefix + self.key(name)] = whole

    def one(self, number: int | Tensor, rows: Tensor) -> Tensor:
        """Rows through one expert."""
        weights = {name: getattr(self, self.key(name))[number] for name in self.names}
        return functional_call(self.form[0], weights, (rows,))

    def forward(self, x: Tensor, chosen: Tensor) -> Tensor:
        """[..., D] and the numbers of experts [...] -> [..., E]."""
        rows, numbers = x.flatten(0, -2), chosen.flatten()
        few = len(rows) <= self.count and not torch.compiler.is_compiling()
        if few:  # each row with the weights of its expert
            weights = [getattr(self, self.key(name))[numbers] for name in self.names]
            out = torch.vmap(self.row)(rows, *weights)
        else:
            out = by_expert(self.one, self.count, rows, numbers)
        return out.unflatten(0, chosen.shape)

    def row(self, row: Tensor, *weights: Tensor) -> Tensor:
        """One row through one expert."""
        given = dict(zip(self.names, weights))
        return functional_call(self.form[0], given, (row[None],))[0]


def pack_experts(model: nn.Module) -> None:
    """Replaces lists of experts by banks, for inference."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, Experts):
                setattr(module, name, ExpertBank(child))
