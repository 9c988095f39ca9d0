#!/usr/bin/env python3
"""Compares chat templates with Transformers: run_templates.py AXON.

Every template of tests/templates/chats, and the one inside the demonstration model, writes every conversation of
tests/templates/conversations.json, with and without its tools, with an opening for the answer, without one, and
with the last message left open. Text and ids must equal those of apply_chat_template; where that fails,
`axon tokenize --chat` must fail too. Recorded renderings of small templates are rendered again and compared.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
TEMPLATES = HERE.parent / "templates"

from binary import Axon, Failure, same  # noqa: E402
from checkpoints import Tally, fetched, smollm_folder  # noqa: E402

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
from transformers import AutoTokenizer  # noqa: E402

WAYS = {
    "with opening": {"add_generation_prompt": True},
    "closed": {"add_generation_prompt": False},
    "left open": {"add_generation_prompt": False, "continue_final_message": True},
}


def expected(
    tokenizer, template: str | None, chat: dict
) -> tuple[str, list[int]] | None:
    """Text and ids, or None where the oracle refuses."""
    options = {key: value for key, value in chat.items() if key != "messages"}
    # What the oracle puts behind a message that is left open, and leaves in if it is written twice.
    mark = "CONTINUE_FINAL_MESSAGE_TAG "
    try:
        text = tokenizer.apply_chat_template(
            chat["messages"], chat_template=template, tokenize=False, **options
        )
        ids = tokenizer.apply_chat_template(
            chat["messages"], chat_template=template, return_dict=False, **options
        )
    except Exception:  # whatever the reason, there is no text to equal
        return None
    if mark.strip() in text:
        text = text.replace(mark, "").replace(mark.strip(), "")
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return text, list(ids)


def compare(
    axon: Axon,
    model: pathlib.Path,
    template: pathlib.Path | None,
    chat: dict,
    want: tuple[str, list[int]] | None,
) -> str:
    """One rendering by the command."""
    words = ["tokenize", model, "--chat", "-", "--json"]
    if template:
        words += ["--chat-template", template]
    given = json.dumps(chat, ensure_ascii=False)
    if want is None:
        try:
            said = axon.call(*words, given=given)
        except Failure as failure:
            same("status 1 " in str(failure), True, f"status 1 in `{failure}`")
            return "refused"
        raise Failure(f"the oracle refuses, saw {said[:300]}")
    found = json.loads(axon.call(*words, given=given))
    same(found["text"], want[0], "text")
    same(found["ids"], want[1], "ids")
    return f"{len(want[1])} tokens"


def variants(conversation: dict) -> dict[str, dict]:
    """The ways in which one conversation is written."""
    chat = {key: value for key, value in conversation.items() if key != "name"}
    out = {}
    for way, options in WAYS.items():
        out[f"{conversation['name']}, {way}"] = chat | options
    if "tools" in chat:
        bare = {key: value for key, value in chat.items() if key != "tools"}
        out[f"{conversation['name']}, without tools"] = bare | WAYS["with opening"]
    return out


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tally = Tally()
    gguf = fetched("smollm2")
    folder = smollm_folder(gguf, "bfloat16")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = (TEMPLATES / "conversations.json").read_text(encoding="utf-8")
    chats = {}
    for conversation in json.loads(text):
        chats |= variants(conversation)
    sources = [(None, gguf), (None, folder)]
    sources += [(path, gguf) for path in sorted((TEMPLATES / "chats").glob("*.jinja"))]
    written = 0
    with tempfile.TemporaryDirectory() as scratch:
        axon = Axon(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(scratch))
        for path, model in sources:
            label = path.name if path else f"the template in {model.name}"
            source = path.read_text(encoding="utf-8") if path else None
            for name, chat in chats.items():
                want = expected(tokenizer, source, chat)
                written += want is not None
                tally.check(
                    f"{label}: {name}",
                    lambda model=model, path=path, chat=chat, want=want: compare(
                        axon, model, path, chat, want
                    ),
                )
        tally.wait()
    tally.report("most conversations are written", written > 300, f"{written} are")
    script = HERE / "make_template_cases.py"
    done = subprocess.run([sys.executable, script, "--check"], check=False)
    tally.report("recorded renderings", done.returncode == 0)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
