"""Axon from Python: load checkpoints, run them natively, check and compile programs.

model = axon.load("path/to/checkpoint")
print(model.generate("Why is the sky blue?", max_new_tokens=40))
"""

from axon.errors import (
    AxonError,
    Diagnostic,
    Fix,
    Note,
    ProgramError,
    UsageError,
    WorldError,
)
from axon.model import Model, load
from axon.programs import check, compile, targets
from axon._native import version as __version__

__all__ = [
    "AxonError",
    "Diagnostic",
    "Fix",
    "Model",
    "Note",
    "ProgramError",
    "UsageError",
    "WorldError",
    "__version__",
    "check",
    "compile",
    "load",
    "targets",
]
