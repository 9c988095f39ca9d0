"""Writes sampler.txt: what Transformers' logits processors leave, with the probabilities."""

import os

import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

torch.manual_seed(3)
rows = []
for rep, temp, k, p, m in [
    (1.0, 1.0, 0, 1.0, 0.0),
    (1.3, 1.0, 0, 1.0, 0.0),
    (1.0, 0.6, 0, 1.0, 0.0),
    (1.0, 1.0, 4, 1.0, 0.0),
    (1.0, 1.0, 0, 0.8, 0.0),
    (1.0, 1.0, 0, 1.0, 0.2),
    (1.2, 0.7, 6, 0.9, 0.05),
    (1.1, 1.5, 8, 0.7, 0.1),
    (0.8, 0.9, 3, 0.95, 0.0),
    (2.0, 0.5, 10, 0.5, 0.0),
    (1.0, 2.0, 5, 0.6, 0.3),
]:
    logits = (torch.randn(1, 16) * 2).round(decimals=4)
    prompt = torch.randint(0, 16, (1, 5))
    steps = LogitsProcessorList()
    if rep != 1.0:
        steps.append(RepetitionPenaltyLogitsProcessor(rep))
    if temp != 1.0:
        steps.append(TemperatureLogitsWarper(temp))
    if k:
        steps.append(TopKLogitsWarper(k))
    if p < 1.0:
        steps.append(TopPLogitsWarper(p))
    if m:
        steps.append(MinPLogitsWarper(m))
    probs = torch.softmax(steps(prompt, logits.clone()), -1)[0]
    left = ",".join(f"{i}:{v:.6f}" for i, v in enumerate(probs.tolist()) if v > 0)
    rows.append(
        f"{rep} {temp} {k} {p} {m} {','.join(map(str, prompt[0].tolist()))} "
        f"{','.join(f'{v:.4f}' for v in logits[0].tolist())} {left}"
    )
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sampler.txt")
with open(path, "w") as f:
    f.write("\n".join(rows) + "\n")
