"""Words that docs/style.md replaces stand nowhere in the tree."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    ROOT / "Makefile",
    ROOT / "CITATION.cff",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "notebooks").glob("*.md"),
]
TEXTS = [
    path
    for folder in ("mmsim", "algorithms", "notebooks", "benchmarks", "docs", "tests")
    for ending in ("py", "js", "css", "html", "h")
    for path in (ROOT / folder).rglob(f"*.{ending}")
]
STYLE = ROOT / "docs/style.md"

EVERYWHERE = [
    r"\balike\b",
    r"\bthrice\b",
    r"\bthereof\b",
    r"\bnobody\b",
    r"\bforetell",
    r"\bmend(s|ed|ing)?\b",
    r"\bdear(er|est)?\b",
    r"\bequally often\b",
    r"\bone (\w+ ){0,2}after the other\b",
    r"\bbut for it\b",
    r"\bnot all reach\b",
    r"\bown letters\b",
    r"\bleaves with \d",
    r"\btime by the card's\b",
    r"(?<!there )\bis no (name|program|number|array|function)\b",
    r"\blacks its argument\b",
    r"\bbeside ours\b",
    r"\bto read on\b",
    r"\bby being there\b(?! together)",
    r"\b\w+'s business\b",
    r"\bwhat came of it\b",
    r"\bthat \w+ goes along with\b",
    r"\bof one \w+ the value is\b",
    r"\bthose for which the \w+ of\b",
    r"\bin closed form, which\b",
]
PROSE = [r"\btold\b", r"\btells?\b"]  # good names of variables in a test
QUESTIONS = ("What", "How", "Whether", "Where", "When", "Which", "Why")


@cache
def certain(phrase):
    """The longest text that each match of a phrase has, which is looked for in less time."""
    parts = re.sub(r"\([^)]*\)(\?|\{.*?\})?|\\.|\w\?|[+]", "|", phrase)
    return max(parts.split("|"), key=len)


def found(path, words):
    """The lines of a file with one of the words; a phrase may be broken over two lines."""
    text = path.read_text(encoding="utf-8")
    joined = re.sub(r"\n\s*(# )?", " ", text).lower()
    hits = [one for one in words if certain(one) in joined and re.search(one, joined)]
    return [f"{path.relative_to(ROOT)}: {one}" for one in hits]


def test_every_folder_is_looked_at():
    assert len(PAGES) > 50
    assert len(TEXTS) > 500


@pytest.mark.parametrize(
    "word",
    [
        "alike",
        "tells",
        "One after\n# the other",
        "leaves with 1",
        "by being\nthere",
        "the array's business",
    ],
)
def test_a_word_is_found(word, tmp_path, monkeypatch):
    monkeypatch.setattr("test_plain_words.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"They are\n{word} here.", encoding="utf-8")
    assert found(page, EVERYWHERE + PROSE)
    page.write_text("They are the same in turn: a name lacks :NAME, report.", encoding="utf-8")
    assert not found(page, EVERYWHERE + PROSE)


def test_replaced_words_are_gone():
    hits = []
    for path in [*PAGES, *TEXTS]:
        if path in (STYLE, Path(__file__)):
            continue
        words = EVERYWHERE + ([] if "tests" in path.parts else PROSE)
        hits += found(path, words)
    assert hits == []


def test_names_of_tests_are_in_plain_words():
    replaced = {"alike", "dearer", "mended", "nobody", "tell", "telling", "tells", "thrice", "told"}
    names = [
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", path.read_text(encoding="utf-8"))
    ]
    assert len(names) > 1000
    assert [name for name in names if replaced & set(name.split("_"))] == []


def asking(text):
    """The docstrings that begin with a word of `QUESTIONS`, not with a verb or a noun.

    A text behind an assignment counts as the docstring of its variable.
    """
    constants = [
        node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    texts = [one for one in constants if isinstance(one, str)]
    return [one for one in texts if one.split(maxsplit=1)[:1] and one.split()[0] in QUESTIONS]


def test_docstrings_begin_with_a_verb_or_a_noun():
    assert asking('def f():\n    """Whether it is so."""') == ["Whether it is so."]
    assert asking('x = 1\n"""How many there are."""\ny = "What is it?"') == ["How many there are."]
    assert asking('def f():\n    """Return whether it is so."""') == []
    hits = [
        f"{path.relative_to(ROOT)}: {docstring.splitlines()[0]}"
        for path in TEXTS
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in ("mmsim", "algorithms")
        for docstring in asking(path.read_text(encoding="utf-8"))
    ]
    assert hits == []
