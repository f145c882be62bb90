"""Device functions for operators that C lacks or defines differently.

They stand in `helpers.cuh`, with the type of complex numbers, which NVRTC lacks: in memory it is
volatile, as all words are. The meaning is that of `mmsim.ir.operators` and `functions`. A text has
only those that it calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

TWINS = {
    "SHUFFLE": ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"),
    "SUM SIGN": ("add +", "subtract -", "multiply *"),
    "DIVISION PYTHONS SIGN": ("floor_div // /", "modulo % %"),
    "EXTREME SIGN WORD": ("min < less", "max > greater"),
    "LOGIC THEN ELSE": ("and y() x", "or x y()"),
}
"""The words of a text that stands for several functions, and those of each function instead."""

ALONG_X = "n = threadIdx.x; n < count; n += blockDim.x"
ALONG_ALL = "n = own_number(); n < count; n += threads_at_work()"
"""Loops in which the threads of a block share work: for blocks along x alone, and for any block."""


def _split(text: str) -> Iterator[str]:
    """The functions and the type of a text, each of which begins with a comment."""
    for own in text.strip().split("\n\n//"):
        found = (pair for pair in TWINS.items() if pair[0].split()[0] in own)
        words, rows = next(found, ("", ("",)))
        for row in rows:
            one = own
            for word, instead in zip(words.split(), row.split(), strict=True):
                one = one.replace(word, instead)
            yield f"//{one.removeprefix('//')}"


def _name(text: str) -> str:
    """The name of the function or of the type that a text defines."""
    head = re.search(r"(\w+)(\(.*\)\n| )\{", text)
    assert head is not None, text
    return head[1]


def called(text: str, is_line: bool) -> list[str]:
    """The device functions and the type that a text needs; called functions come first.

    `is_line` says that blocks extend along x alone.
    """
    loop = ALONG_X if is_line else ALONG_ALL
    texts = {name: own.replace(ALONG_X, loop) for name, own in HELPERS.items()}
    needed: set[str] = set()
    pending = [text]
    while pending:
        for name in re.findall(r"[a-z_]+", re.sub("//.*", "", pending.pop())):
            if name in HELPERS and name not in needed:
                needed.add(name)
                pending.append(texts[name])
    return [texts[name] for name in HELPERS if name in needed]


_TEXT = resources.files("mmsim.cuda_c").joinpath("helpers.cuh").read_text(encoding="utf-8")
HELPERS = {_name(own): own for own in _split(_TEXT)}
