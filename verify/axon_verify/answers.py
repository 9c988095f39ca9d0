"""What the oracle says of one checkpoint, as plain arrays and facts."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Answers:
    """Arrays by name, and everything else: prompts, greedy tokens and their margins, windows."""

    arrays: dict[str, np.ndarray]
    facts: dict
