"""A worksheet's text after a question does not say what the answer is.

What explains an answer stands in a paragraph of its own: a worksheet leaves out all paragraphs
between an answer and the next heading but the one that asks.
"""

import re
from copy import deepcopy
from functools import cache

import nbformat
import pytest
from course.reading import notebooks, read
from course.worksheets import worksheet

SHEETS = {path.stem[:2]: path for path in notebooks()}
EXPLAINED = [
    ("03", "copy with just as many threads", "The same as the copy"),
    ("04", "with how many edges does each bank", "D = 4"),
    ("05", "number of rounds in the global memory", "16n/w"),
    ("06", "under how many does `crsw`", "needs no luck"),
    ("07", "How many times as slow as the card", "factor of four"),
    ("08", "how many stages does one warp take for it", "worst that there is"),
    ("09", "first column of the same tile", "lies in bank 0"),
    ("09", "column of 32 × 32 halves", "banks 0 and 16"),
]
"""A notebook's question, and words that would tell its answer."""


@cache
def said(number):
    """The text of a worksheet, a space between words."""
    cells = worksheet(read(SHEETS[number])).cells
    return " ".join("\n".join(cell.source for cell in cells).split())


@pytest.mark.parametrize(("number", "question", "answer"), EXPLAINED)
def test_a_worksheet_asks_and_does_not_answer(number, question, answer):
    assert question in said(number)
    assert answer not in said(number)


def test_an_explanation_before_the_next_question_is_left_out():
    def sheet(text):
        guess = nbformat.v4.new_code_cell("guess = None  # stages")
        reveal = nbformat.v4.new_code_cell(
            "predicted(guess, 4)", metadata={"tags": ["hide-output"]}
        )
        first, second = map(nbformat.v4.new_markdown_cell, ("# A title\n\nHow many?", text))
        cells = [*map(deepcopy, (first, guess, reveal)), second, guess, reveal]
        for number, cell in enumerate(cells):
            cell.id = f"cell-{number}"
        made = worksheet(nbformat.v4.new_notebook(cells=cells))
        return "\n".join(cell.source for cell in made.cells)

    apart = sheet("It was 4: one bank.\n\nAnd now?")
    assert "And now?" in apart
    assert "one bank" not in apart
    assert len(re.findall('class="room"', apart)) == 2
