"""The prompts that real models are compared on, and sentences for the encoder."""

ENGLISH = "The lighthouse keeper climbed the stairs every evening because"
CODE = "def fibonacci(n: int) -> int:\n    if n < 2:\n        return n\n    return"
CHINESE = "今天天气很好，我们决定去公园"
EMOJI = "A family 👨‍👩‍👧‍👦 under a flag 🏳️‍🌈 with thumbs 👍🏽 up"
BLANKS = "   three blanks before, two tabs and a newline after\t\t\n"
ONE = "Hello"
CHAT = {"system": "You answer in one short sentence.", "user": "Why is the sky blue?"}

STORY = (
    "In the village by the river there lived a clockmaker who kept {count} clocks. "
    "Every morning at {hour} he wound number {index}, listened to it for a while, and wrote a line in his "
    "book about the weather, the price of bread and the {thing} he had seen on the way. "
)
THINGS = [
    "heron",
    "cart",
    "lantern",
    "dog",
    "stranger",
    "kite",
    "ladder",
    "fiddle",
    "comet",
    "goose",
]


def paragraph(number: int) -> str:
    """One piece of the long prompt."""
    thing = THINGS[number % len(THINGS)]
    return STORY.format(
        count=number * 7 + 12, hour=number % 12 + 1, index=number, thing=thing
    )


def story(tokenizer, length: int) -> str:
    """A text of exactly `length` tokens."""
    text = ""
    number = 0
    while len(tokenizer(text)["input_ids"]) < length:
        text += paragraph(number)
        number += 1
    words = text.split(" ")
    while len(tokenizer(" ".join(words))["input_ids"]) > length:
        words.pop()
    text = " ".join(words)
    while len(tokenizer(text)["input_ids"]) < length:
        text += " and"
    return text


SENTENCES = [
    "The cat sat on the mat.",
    "A quick brown fox jumps over the lazy dog.",
    "Rain.",
    "How do I reset the password of my account?",
    "The committee postponed its decision until the auditors had reported.",
    "Sunlight is scattered by the molecules of the air.",
    "Naïve café owners résumé their coöperation.",
    "In 1969 two people walked on the Moon.",
    "他们在图书馆学习。",
    "Der Zug nach München fährt um 7:45 Uhr ab.",
    "def add(a, b): return a + b",
    "Prices rose by 3.7% in the third quarter of 2021.",
    "Please don't feed the pigeons!",
    "An embedding is a point in a space where near means similar.",
    "What a pity, she said, and closed the door behind her without looking back even once.",
    "e = mc^2",
    "The quick answer is no; the long answer is also no, but with reasons.",
    "Tokyo, Osaka, Kyoto",
    "supercalifragilisticexpialidocious",
    "Once upon a time there was a very small bear who wanted to see the sea, so he packed a jar of honey "
    "and a map of the rivers and set out before the others woke.",
]
