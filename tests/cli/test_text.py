"""Conversations, tokens and scores."""

import json
import pathlib

import harness as h

S = h.suite()


def test_chat(model: pathlib.Path) -> None:
    """A conversation over a pipe."""
    saved = S.folder / "talk.json"
    text = f"the sky\nand the sea\n/stats\n/save {saved}\n/reset\n/system be kind\n/load {saved}\n/help\n/nonsense\n/quit\nnever\n"
    answer = S.run("chat", model, "--greedy", "-n", 4, stdin=text.encode())
    S.answers(
        "chat",
        answer,
        0,
        err=r"greedy.*of 256 positions.*forgotten.*4 messages.*/reset.*`/nonsense` is no command",
    )
    S.check("chat: two answers", answer.out.count("\n") >= 2, repr(answer.out))
    messages = json.loads(saved.read_text()) if saved.exists() else []
    roles = [m["role"] for m in messages]
    S.check(
        "chat /save", roles == ["user", "assistant", "user", "assistant"], str(messages)
    )
    again = S.run("chat", model, "--greedy", "-n", 4, stdin=b"the sky\n")
    S.check(
        "chat: answers repeat",
        answer.out.startswith(again.out.rstrip("\n")),
        f"{again.out!r} {answer.out!r}",
    )
    S.answers(
        "chat says how it samples",
        S.run("chat", model, stdin=b"/quit\n"),
        0,
        err=r"temperature 0\.7, top-p 0\.9",
    )
    S.answers("chat -q", S.run("chat", model, "-q", stdin=b"/quit\n"), 0)
    long = ("x" * 200 + "\n").encode()
    S.answers(
        "chat at the limit",
        S.run("chat", model, "--greedy", "-n", 4, stdin=long * 2),
        0,
        err="USE-CONTEXT.*drop-oldest",
    )
    drop = S.run(
        "chat", model, "--greedy", "-n", 4, "--overflow", "drop-oldest", stdin=long * 3
    )
    S.answers("chat --overflow drop-oldest", drop, 0)
    S.check(
        "chat --overflow drop-oldest: no complaint",
        "USE-CONTEXT" not in drop.err,
        drop.err,
    )
    S.answers(
        "chat: a line that is not UTF-8",
        S.run("chat", model, "--greedy", "-n", 2, stdin=b"ab\xff\nthe\n"),
        0,
        err="USE-UTF8",
    )


def test_tokenize(model: pathlib.Path, gguf: pathlib.Path) -> None:
    """Text to ids and back."""
    want = [261, 36, 119, 111, 125]
    for name, target in (("directory", model), ("GGUF", gguf)):
        S.answers(
            f"tokenize {name}",
            S.run("tokenize", target, "the sky"),
            0,
            out=r"261 the\n\s+36 ",
        )
        S.answers(
            f"tokenize --ids {name}",
            S.run("tokenize", target, "the sky", "--ids"),
            0,
            out="^261,36,119,111,125\n$",
        )
        body = S.run("tokenize", target, "the sky", "--json").body()
        S.check(
            f"tokenize --json {name}",
            body == {"schema": 1, "ids": want, "text": "the sky"},
            str(body),
        )
        S.answers(
            f"tokenize --decode {name}",
            S.run("tokenize", target, "--decode", "261,36,119,111,125"),
            0,
            out="^the sky\n$",
        )
    S.answers(
        "tokenize from a pipe",
        S.run("tokenize", model, "--ids", stdin=b"the sky"),
        0,
        out="^261,36",
    )
    S.answers(
        "tokenize special",
        S.run("tokenize", model, "a<|end|>", "--ids"),
        0,
        out=r"^\d+,0\n",
    )
    S.answers(
        "tokenize --decode hides special",
        S.run("tokenize", model, "--decode", "261,0"),
        0,
        out="^the\n$",
    )
    shown = S.run("tokenize", model, "--decode", "261,0", "--show-special")
    S.answers("tokenize --show-special", shown, 0, out=r"^the<\|end\|>\n$")
    text = "Grüße, 世界 👩‍👩‍👧 \t"
    body = S.run("tokenize", model, text, "--json").body()
    back = S.run("tokenize", model, "--decode", ",".join(map(str, body["ids"])))
    S.check("tokenize there and back", back.out == text + "\n", repr(back.out))
    S.fails(
        "tokenize --decode of no ids",
        ["tokenize", model, "--decode", "a"],
        2,
        "USE-VALUE",
    )
    S.fails(
        "tokenize --decode of an unknown id",
        ["tokenize", model, "--decode", "5,100000"],
        2,
        "USE-VALUE",
        says="100000",
    )
    S.answers(
        "tokenize the empty text", S.run("tokenize", model, "", "--ids"), 0, out="^\n$"
    )


def test_score(model: pathlib.Path) -> None:
    """Log-likelihoods."""
    path = S.folder / "score.txt"
    path.write_text("the sky is blue")
    answer = S.run("score", model, "-f", path, "--json", "--math", "exact")
    body = answer.body()
    S.answers("score --json", answer, 0)
    S.check(
        "score: one per token but the first",
        len(body["logprobs"]) == len(body["ids"]) - 1,
        str(body),
    )
    total = sum(body["logprobs"])
    S.check("score: total", abs(total - body["total"]) < 1e-6, str(body))
    S.check("score: perplexity", body["perplexity"] > 1, str(body["perplexity"]))
    S.answers(
        "score as text",
        S.run("score", model, "-f", path),
        0,
        out=r"log-likelihood -\d.*perplexity \d",
    )
    S.answers(
        "score of a pipe", S.run("score", model, stdin=b"the sky"), 0, out="perplexity"
    )
    path.write_text("the sky is blue. " * 60)
    S.answers(
        "score beyond the context",
        S.run("score", model, "-f", path),
        0,
        out="perplexity",
    )
    S.fails("score of nothing", ["score", model], 2, "USE-PROMPT", stdin=b"")
    S.fails(
        "score of unknown ids",
        ["score", model, "--prompt-ids", "5,99999"],
        2,
        "USE-(VALUE|PROMPT)",
        says="99999",
    )


if __name__ == "__main__":
    S.run_all(test_chat, test_tokenize, test_score)
