#!/usr/bin/env python3
"""Expected results from Transformers, for many cases in one process: oracle.py JOBS.json OUT.

JOBS.json is a list of jobs {"name", "folder", "kind": "causal" | "encoder" | "masked", "prompts": [[ids]],
"tokens": n, "batches": [[prompt numbers]], "texts": [...], "chats": [...]}. For each job OUT/NAME.safetensors
holds arrays and OUT/NAME.json everything else. All arithmetic is in float32 whatever the files hold.
"""

import json
import pathlib
import sys

import binary  # noqa: F401 first: it says where axon_verify is
import numpy as np
import torch
from axon_verify.oracle import full_logits, greedy, padded
from safetensors import safe_open
from safetensors.numpy import save_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM
from transformers.models.gpt2 import GPT2LMHeadModel
from transformers.models.llama import LlamaForCausalLM

CAUSAL = {"llama": LlamaForCausalLM, "gpt2": GPT2LMHeadModel}


def load_model(folder: pathlib.Path, kind: str) -> torch.nn.Module:
    """The checkpoint's own class, in float32, with attention written out."""
    settings = {"dtype": torch.float32, "attn_implementation": "eager"}
    if kind == "causal":
        family = json.loads((folder / "config.json").read_text(encoding="utf-8"))[
            "model_type"
        ]
        return CAUSAL[family].from_pretrained(folder, **settings).eval()
    if kind == "masked":
        return AutoModelForMaskedLM.from_pretrained(folder, **settings).eval()
    pooler = any("pooler" in name for name in tensor_names(folder))
    return AutoModel.from_pretrained(
        folder, add_pooling_layer=pooler, **settings
    ).eval()


def tensor_names(folder: pathlib.Path) -> list[str]:
    """Names of the tensors of a checkpoint in one file."""
    with safe_open(folder / "model.safetensors", framework="numpy") as file:
        return list(file.keys())


def causal_job(model, job: dict, arrays: dict, facts: dict) -> None:
    """Full-sequence logits and greedy tokens of each prompt."""
    facts["greedy"] = []
    for number, ids in enumerate(job.get("prompts", [])):
        arrays[f"logits.{number}"] = full_logits(model, ids)
        tokens, gaps = greedy(model, ids, job.get("tokens", 24))
        facts["greedy"].append({"prompt": ids, "tokens": tokens, "gaps": gaps})


def encoder_job(model, job: dict, arrays: dict, facts: dict) -> None:
    """Hidden states, pooled rows and logits of padded batches."""
    facts["batches"] = []
    for number, members in enumerate(job.get("batches", [])):
        ids, mask = padded([job["prompts"][member] for member in members])
        segments = (
            torch.zeros_like(ids)
            if "segments" not in job
            else torch.arange(ids.shape[1])[None, :] % 2 * mask
        )
        out = model(input_ids=ids, attention_mask=mask, token_type_ids=segments)
        arrays[f"ids.{number}"] = ids.numpy()
        arrays[f"mask.{number}"] = mask.numpy()
        arrays[f"segments.{number}"] = segments.numpy()
        if isinstance(model, BertForMaskedLM):
            arrays[f"logits.{number}"] = out.logits.numpy()
            continue
        arrays[f"hidden.{number}"] = out.last_hidden_state.numpy()
        if out.pooler_output is not None:
            arrays[f"pooled.{number}"] = out.pooler_output.numpy()
        weight = mask[:, :, None].to(torch.float32)
        mean = (out.last_hidden_state * weight).sum(1) / weight.sum(1)
        arrays[f"mean.{number}"] = torch.nn.functional.normalize(mean, dim=-1).numpy()
        facts["batches"].append(members)


def text_job(folder: pathlib.Path, job: dict, facts: dict) -> None:
    """Ids of texts, and text and ids of conversations through the chat template."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    facts["texts"] = [
        {"text": text, "ids": tokenizer(text)["input_ids"]}
        for text in job.get("texts", [])
    ]
    facts["chats"] = []
    for chat in job.get("chats", []):
        options = chat.get("options", {"add_generation_prompt": True})
        text = tokenizer.apply_chat_template(
            chat["messages"], tokenize=False, **options
        )
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        facts["chats"].append({**chat, "text": text, "ids": ids})


def run_job(job: dict) -> tuple[dict, dict]:
    """Arrays and other facts of one job."""
    torch.manual_seed(0)
    arrays, facts = {}, {"name": job["name"]}
    folder = pathlib.Path(job["folder"])
    if "texts" in job or "chats" in job:
        text_job(folder, job, facts)
    if job.get("prompts"):
        model = load_model(folder, job["kind"])
        with torch.inference_mode():
            (causal_job if job["kind"] == "causal" else encoder_job)(
                model, job, arrays, facts
            )
    return arrays, facts


def run_jobs(jobs: list[dict], out: pathlib.Path) -> None:
    """Writes the results of all jobs."""
    out.mkdir(parents=True, exist_ok=True)
    for job in jobs:
        arrays, facts = run_job(job)
        arrays = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
        save_file(arrays, out / f"{job['name']}.safetensors")
        (out / f"{job['name']}.json").write_text(
            json.dumps(facts, ensure_ascii=False), encoding="utf-8"
        )


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    jobs = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    run_jobs(jobs, pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
