"""Mutations of a program's text: characters, tokens, lines, indentation."""

from __future__ import annotations

import re
from random import Random

_TOKENS = """
( ) [ ] { } : ; , . ... = == := -> + - * ** / // % @ & | ^ ~ << >> < > <= >= != += @= and or not in
is if elif else for while break continue return pass def class lambda yield await async with as try
except finally raise assert import from global nonlocal del match case None True False T a n print
open eval __import__('os') f'{n}' 'text' b'x' r'\\d' '\\N{BULLET}' 1j 1_000 0x7fffffffffffffff
0xffffffffffffffff 1e999 0o17 1if # \\
"""
TOKENS = _TOKENS.split()
CHARACTERS = [*"()[]{}:;,.=+-*/%@&|^~<>!#\\'\" _0aT\n\t\f\r\v\0\u2028éⁿª\ufeff😀"]
LONG = [
    lambda count: "0x" + "f" * 50 * count,
    lambda count: "(" * count + "n" + ")" * count,
    lambda count: "- " * count + "n",
    lambda count: " + ".join(["n"] * count),
    lambda count: "a[" * count + "0" + "]" * count,
    lambda count: " if n else ".join(["n"] * count),
    lambda count: " < ".join(["n"] * count),
    lambda count: "not " * count + "n",
    lambda count: "a" + ".x" * min(count, 600),
]


def character(random: Random, text: str) -> str:
    at = random.randrange(len(text))
    return random.choice(
        (text[:at] + text[at + 1 :], text[:at] + random.choice(CHARACTERS) + text[at:], text[:at])
    )


def token(random: Random, text: str) -> str:
    parts = re.findall(r"\w+|\s+|.", text)
    at = random.randrange(len(parts))
    parts[at : at + random.choice((0, 1, 1))] = [random.choice((*TOKENS, random.choice(parts)))]
    return "".join(parts)


def line(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    other = random.randrange(len(lines))
    choice = random.randrange(4)
    if choice == 0:
        del lines[at]
    elif choice == 1:
        lines.insert(other, lines[at])
    elif choice == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        end = random.choice((" \\\n", " # \\\n", "; x = 1\n", "\r\n"))
        lines[at] = lines[at].rstrip("\n") + end
    return "".join(lines) or "\n"


def indentation(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines))
    change = random.choice(("    ", "\t", " ", ""))
    lines[at] = change + (lines[at].lstrip(" ") if not change else lines[at])
    if random.random() < 0.2:  # all of it inside something
        lines = ["if True:\n", *(f"    {one}" for one in lines)]
    return "".join(lines)


def long(random: Random, text: str) -> str:
    """A number, or a name, becomes something long or deep."""
    places = list(re.finditer(r"\b(\d+|[a-z])\b", text))
    if not places:
        return text
    place = random.choice(places)
    grown = random.choice(LONG)(random.choice((5, 60, 120, 1000)))
    return text[: place.start()] + grown + text[place.end() :]


MUTATIONS = {one.__name__: one for one in (character, token, line, indentation, long)}


def mutate_text(random: Random, text: str) -> tuple[str, str]:
    """The name of the first mutation, and the text after one to three."""
    names = random.choices(list(MUTATIONS), weights=(4, 8, 3, 3, 1), k=random.choice((1, 1, 2, 3)))
    for name in names:
        text = MUTATIONS[name](random, text) or "\n"
    return names[0], text
