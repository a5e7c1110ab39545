#!/usr/bin/python3
"""Records what Python's `re` finds: patterns by hand, then random ones of a small grammar, each on a few texts.

    tests/torch/record_expressions.py [COUNT] > tests/torch/expressions.jsonl

A line holds pattern, flags and text, where the groups of each match stand (`finditer`), and the same of `match` and `fullmatch`.
"""

import json
import random
import re
import sys
import warnings

warnings.simplefilter("ignore")

BY_HAND = [
    r"(.*)\.weight$", r"layers?\.(\d+)\.", r"^module\.", r"\bnorm\b", r"block(?P<index>\d+)_(?P<name>\w+)", r"(a)|(b)", r"x*", r"(?i)NORM",
    r"[^.]+$", r"\.(bias|LayerNorm\.(?:weight|bias))$", r"([A-Z])", r"(?<!^)([A-Z])", r"\d+(?:\.\d+)?[eE][+-]?\d+", r"epoch=(\d+)-step=(\d+)",
    r"(?=layer)", r"(\w)\1", r"(?P<q>['\"]).*?(?P=q)", r"[]a-]+", r"[^]]", r"a{2,}", r"a{2}", r"a{,2}", r"\Z", r"$", r"^", r"\A\w+", r"(?s)a.b", r"a.b",
    r"(?x) a \s b  # blanks", r"\w+?", r"(a|ab)(c|bcd)(d*)", r"(?:)", r"()", r"(a?)*", r"(?:a|b)*?c", r"\s+", r"\S*", r"\D+", r"\W", r"\B", r"[\w.-]+@", r"\x61",
    r"(?m)^b$", r"(?:^|_)(\d)", r"(?<=_)\d", r"[[:alpha:]]", r"\h", r"\R", r"\Qa.b\E", r"(?|a|b)", r"a++b", r"(?>a+)b", r"\v", r"a**", r"(", r"[", r"\K", r"(*ACCEPT)", r"\N", r"{", r"a{x",
    r"}", r"]", r"\101", r"(?#comment)b", r"(?-i:a)", r"(?i:A)b",
]
TEXTS = [
    "", "a", "ab\n", "abcd", "aab bba", "module.layers.12.norm.weight", "block3_attn", "epoch=12-step=3400.ckpt", "layer_1_2", "LayerNorm.bias",
    "a\nb\nc", "x 'it' \"is\"", "1.5e-4", "aaaab", "[]-a", "a.b", "{a{x}",
]
ATOMS = ["a", "b", ".", r"\d", r"\w", r"\s", "[ab]", "[^a]", "(a)", "(b|a)", "(?:ab)", r"\.", "^", "$", r"\b", "(?=a)", "(?!b)", "1", "_", "()", r"(\w+)", "(?P<n>b)"]
REPEATS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,}"]
FLAGS = [0, 0, 0, re.I, re.M, re.S, re.I | re.M]


def random_pattern(source):
    made = "".join(source.choice(ATOMS) + source.choice(REPEATS) for _ in range(source.randint(1, 5)))
    return made if made.count("(?P<n>") < 2 else made.replace("(?P<n>", "(", made.count("(?P<n>") - 1)


def groups(match):
    return match and [list(match.span(i)) if match.span(i)[0] >= 0 else None for i in range(match.re.groups + 1)]


def record(pattern, flags, text):
    try:
        compiled = re.compile(pattern, flags)
    except (re.error, OverflowError):
        return {"pattern": pattern, "flags": flags, "text": text, "error": True}
    return {"pattern": pattern, "flags": flags, "text": text, "all": [groups(each) for each in compiled.finditer(text)],
            "match": groups(compiled.match(text)), "fullmatch": groups(compiled.fullmatch(text))}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    source = random.Random(7)
    letters = "aaab1_ .\nB"
    rows = [(pattern, 0, text) for pattern in BY_HAND for text in TEXTS]
    rows += [(random_pattern(source), int(source.choice(FLAGS)), "".join(source.choice(letters) for _ in range(source.randint(0, 9)))) for _ in range(count)]
    for row in rows:
        print(json.dumps(record(*row), separators=(",", ":")))


if __name__ == "__main__":
    main()
