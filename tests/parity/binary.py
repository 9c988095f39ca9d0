"""The axon command as the parity tests see it: what `axon verify` itself uses."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "verify"))

from axon_verify.command import Axon, Failure, Outputs, near, same  # noqa: E402

__all__ = ["Axon", "Failure", "Outputs", "near", "same"]
