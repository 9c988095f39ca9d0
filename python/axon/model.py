"""Checkpoints that run natively."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from axon import _native
from axon.errors import UsageError

Prompts = Sequence[int] | Sequence[Sequence[int]] | NDArray[np.integer]


def request(
    model: str | os.PathLike[str] = "",
    program: str | os.PathLike[str] = "",
    overlays: Sequence[str] = (),
    main: str = "",
) -> _native.Request:
    """What both halves call a request."""
    out = _native.Request()
    out.model = os.fspath(model)
    out.program = os.fspath(program)
    out.overlays = list(overlays)
    out.main = main
    return out


def load(
    model: str | os.PathLike[str],
    *,
    program: str | os.PathLike[str] = "",
    overlays: Sequence[str] = (),
    main: str = "",
    math: str = "auto",
    kv_dtype: str = "",
    activations: str = "",
    threads: int = 0,
    isa: str = "",
) -> Model:
    """A checkpoint with the program that fits it, compiled and bound.

    `model` is a Hugging Face directory, a .gguf file, a .safetensors file with its config.json beside it, or a
    hub id that the local cache holds. `program` is an .axon file in place of the one that fits. `math` is
    "exact" (float32 throughout), "auto" or "fast"; `threads` 0 means the physical cores allowed.
    """
    asked = request(model, program, overlays, main)
    if math not in ("exact", "auto", "fast"):
        raise UsageError(f"`math` is exact, auto or fast, not {math!r}", "USE-VALUE")
    for name, value, known in (
        ("kv_dtype", kv_dtype, ("", "f32", "f16")),
        ("activations", activations, ("", "f32", "int8")),
    ):
        if value not in known:
            shown = " or ".join(known[1:])
            raise UsageError(f"`{name}` is {shown}, not {value!r}", "USE-VALUE")
    if threads < 0:
        raise UsageError("`threads` is 0 or more", "USE-VALUE")
    asked.math = math
    asked.kv_dtype = kv_dtype
    asked.activations = activations
    asked.threads = threads
    asked.isa = isa
    return Model(_native.load(asked))


class Model:
    """A loaded model; made by `load`. Calls from several threads take turns."""

    def __init__(self, native: _native.LoadedModel) -> None:
        self._native = native

    @property
    def program(self) -> str:
        """The name of the program that runs."""
        return self._native.program

    @property
    def task(self) -> str:
        """What the program is for, such as causal_lm."""
        return self._native.task

    @property
    def eos_token_ids(self) -> list[int]:
        """Tokens that end a text, by the checkpoint's generation config."""
        return self._native.eos_token_ids

    def tokenize(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """The token ids of a text."""
        return self._native.tokenize(text, add_special_tokens)

    def detokenize(self, ids: Sequence[int], *, show_special: bool = False) -> str:
        """The text of token ids."""
        return self._native.detokenize([int(i) for i in ids], show_special)

    @overload
    def generate(
        self, prompt: str, max_new_tokens: int = ..., **options: Any
    ) -> str: ...
    @overload
    def generate(
        self, prompt: Sequence[int], max_new_tokens: int = ..., **options: Any
    ) -> list[int]: ...
    @overload
    def generate(
        self,
        prompt: Sequence[Sequence[int]] | NDArray[np.integer],
        max_new_tokens: int = ...,
        **options: Any,
    ) -> list[list[int]]: ...

    def generate(
        self,
        prompt: str | Prompts,
        max_new_tokens: int = 20,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
        seed: int | None = None,
        eos_token_id: int | Sequence[int] | None = None,
    ) -> str | list[int] | list[list[int]]:
        """What follows a prompt: text for a text, ids for ids, a list for a batch.

        Rows of a batch may have different lengths. New tokens alone are returned, without the end token; the
        likeliest each, or drawn at a `temperature` above 0. `eos_token_id` stands in place of the model's own
        end tokens; an empty list has none. A text is taken as it is, without a chat template.
        """
        asked = _native.Asked()
        asked.max_new_tokens = positive("max_new_tokens", max_new_tokens)
        if eos_token_id is not None:
            ends = [eos_token_id] if isinstance(eos_token_id, int) else eos_token_id
            asked.eos = [int(i) for i in ends]
        asked.sampling = sampling(
            temperature, top_k, top_p, min_p, repetition_penalty, seed
        )
        if isinstance(prompt, str):
            rows = self._native.generate([self.tokenize(prompt)], asked)
            return self.detokenize(rows[0])
        batch, single = prompt_rows(prompt)
        rows = self._native.generate(batch, asked)
        return rows[0] if single else rows

    def forward(self, *positional: Any, **inputs: Any) -> dict[str, NDArray[Any]]:
        """One call of the program without a cache: inputs and outputs by the program's names.

        Inputs are NumPy arrays, numbers, or anything that speaks DLPack (a CPU tensor of PyTorch or JAX); the
        first may be given without its name, `input_ids`. Outputs are NumPy arrays, which speak DLPack too.
        """
        if len(positional) > 1 or positional and "input_ids" in inputs:
            raise UsageError("inputs but `input_ids` are given by name", "USE-VALUE")
        if positional:
            inputs = {"input_ids": positional[0]} | inputs
        given = {name: array_of(name, x) for name, x in inputs.items() if x is not None}
        return self._native.forward(given)


def positive(name: str, value: int) -> int:
    """A count of one or more."""
    if value < 1:
        raise UsageError(f"`{name}` is 1 or more, not {value}", "USE-VALUE")
    return int(value)


def sampling(
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    repetition_penalty: float,
    seed: int | None,
) -> _native.Sampling:
    """How tokens are chosen."""
    checks = {
        "temperature": temperature >= 0,
        "top_k": top_k >= 0,
        "top_p": 0 < top_p <= 1,
        "min_p": 0 <= min_p <= 1,
        "repetition_penalty": repetition_penalty > 0,
    }
    for name, holds in checks.items():
        if not holds:
            raise UsageError(f"`{name}` is out of range", "USE-VALUE")
    out = _native.Sampling()
    out.sample = temperature > 0
    out.temperature = temperature
    out.top_k = top_k
    out.top_p = top_p
    out.min_p = min_p
    out.repetition_penalty = repetition_penalty
    out.seed = random.getrandbits(63) if seed is None else seed
    return out


def prompt_rows(prompt: Prompts) -> tuple[list[list[int]], bool]:
    """Rows of ids, and whether there is one that stands alone."""
    rows = prompt.tolist() if isinstance(prompt, np.ndarray) else list(prompt)
    single = not rows or not isinstance(rows[0], (list, tuple, np.ndarray))
    batch = [rows] if single else rows
    return [[int(i) for i in row] for row in batch], single


def array_of(name: str, value: Any) -> NDArray[Any]:
    """A contiguous array of an element type that the compiled half takes."""
    if hasattr(value, "detach"):  # a tensor that may want a gradient
        value = value.detach()
    own = isinstance(value, (np.ndarray, np.generic))
    if hasattr(value, "__dlpack__") and not own:
        value = np.from_dlpack(value)
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)
    elif array.dtype.kind == "f":
        array = array.astype(np.float32)
    elif array.dtype.kind != "b":
        raise UsageError(f"input `{name}` has element type {array.dtype}", "USE-VALUE")
    return np.asarray(array, order="C")
