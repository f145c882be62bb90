"""A page spells an abbreviation out where it first stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHERE_ALL_ARE = {"docs/bibliography.md", "docs/style.md"}
"""The pages whose lists explain the names."""
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.relative_to(ROOT).as_posix() not in WHERE_ALL_ARE
}
MEANT = {
    "DMM": "discrete memory machine",
    "UMM": "unified memory machine",
    "HMM": "hierarchical memory machine",
    "SMM": "simple memory machine models",
    "CFP": "conflict-free permutation",
    "ICPP": "international conference on parallel processing",
    "IEICE": "institute of electronics, information and communication engineers",
    "RAP": "random address permute-shift",
    "RAS": "random address shift",
    "RAW": "row-major",
    "CRSW": "contiguous read, stride write",
    "SRCW": "stride read, contiguous write",
    "DRDW": "diagonal read, diagonal write",
    "CSR": "compressed sparse row",
    "BFS": "breadth-first search",
    "SpMV": "sparse matrix times vector",
    "FFT": "fast fourier transform",
    "SAT": "summed area table",
    "PTX": "parallel thread execution",
    "ncu": "nsight compute",
}
NEAR = 30
"""Characters between an abbreviation and its words: a bracket, the names of authors."""


def prose(text):
    """A page's text without its titles, its code and what links lead to."""
    blocks = r"\A---\n.*?^---$|^```.*?^```$|^#+ [^\n]*$|<!--.*?-->"
    text = re.sub(blocks, "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\]\([^)]*\)|`[^`]*`", "", text)
    return re.sub(r"[*_|\s]+", " ", text)


def not_spelled_out(text):
    """The abbreviations that first stand without their words. An id, as SMM-T3.1, isn't one."""
    text = prose(text)
    for short, words in MEANT.items():
        first = re.search(rf"(?<![\w.-]){short}s?(?![\w]|[-.]\w)", text)
        if first is not None:
            begin, end = first.span()
            far = len(words) + NEAR
            if words not in text[max(0, begin - far) : end + far].lower():
                yield short


@pytest.mark.parametrize("page", PAGES)
def test_abbreviations_are_spelled_out_where_they_first_stand(page):
    assert list(not_spelled_out(PAGES[page].read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("# DMM\n\nA bank.", []),
        ("# DMM\n\nA UMM.", ["UMM"]),
        ("A DMM has banks.", ["DMM"]),
        ("Two DMMs have banks.", ["DMM"]),
        ("A DMM (Discrete Memory\nMachine) has banks.", []),
        ("On the Discrete Memory Machine (DMM) and on a UMM.", ["UMM"]),
        ("A DMM. " + "More. " * 20 + "A DMM (Discrete Memory Machine).", ["DMM"]),
        ("`DMM(4, 5)` and SMM-T3.1, SUM-tree.DMM, [all](HMM.md).", []),
        ("```\nRAW 3\n```\nRAS", ["RAS"]),
    ],
)
def test_what_counts(text, missing):
    assert list(not_spelled_out(text)) == missing
