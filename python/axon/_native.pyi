"""The compiled half of the package; what it offers to the other half alone."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

version: str

class Request:
    model: str
    program: str
    main: str
    overlays: list[str]
    math: str
    kv_dtype: str
    activations: str
    isa: str
    threads: int
    strict: bool

class Sampling:
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    repetition_penalty: float
    seed: int

class Asked:
    max_new_tokens: int
    eos: list[int] | None
    sampling: Sampling

class LoadedModel:
    program: str
    task: str
    eos_token_ids: list[int]
    def generate(
        self, prompts: Sequence[Sequence[int]], asked: Asked
    ) -> list[list[int]]: ...
    def forward(self, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]: ...
    def tokenize(self, text: str, special: bool) -> list[int]: ...
    def detokenize(self, ids: Sequence[int], show_special: bool) -> str: ...

def load(request: Request) -> LoadedModel: ...
def check(request: Request, program: str, checkpoint: str) -> list[str]: ...
def compile(
    request: Request, program: str, checkpoint: str, target: str, command: str
) -> str: ...
def targets() -> list[str]: ...
