"""A worksheet: what a notebook asks, with room to write, and nothing that answers it."""

from __future__ import annotations

import html
import re
from copy import deepcopy
from itertools import pairwise

import nbformat
from nbformat import NotebookNode

from course.copies import points_of
from course.reading import Role, parts
from course.slides import BLANK

QUESTIONS = (Role.GUESS, Role.EXERCISE)
LINK = re.compile(r"\[([^]]*)\]\((?!\w+:)[^)]*\)")
"""A link to another file: paper has no others, and a printed one would name this computer's."""
COMMENT = re.compile(r"^(?:guess|answer_\w+) = (?:None|\.\.\.)\s*#\s*(.*)", re.MULTILINE)


def worksheet(notebook: NotebookNode) -> NotebookNode:
    """The text and the code up to each question, without outputs, and nothing after the last.

    What comes after a question's answer explains it, so it is left out up to the next heading, or
    to the paragraph that asks the next question.
    """
    all_parts = list(parts(notebook))
    last = max(number for number, part in enumerate(all_parts) if part.role in QUESTIONS)
    cells: list[NotebookNode] = []
    answered = False
    for part, following in pairwise(all_parts[: last + 2]):
        if part.role is Role.TEXT:
            text = asked(part.cell.source, answered, following.role is Role.GUESS)
            answered = answered and not re.search(r"^#+ ", text, re.MULTILINE)
            cells.append(nbformat.v4.new_markdown_cell(unlinked(text)))
        elif part.role in (Role.REVEAL, Role.CHECK):
            answered = True
        elif part.role is Role.EXERCISE and points_of(all_parts, part.exercise) > 1:
            cells += [bare(part.cell), room("Your program", "", 10)]
        elif part.role is Role.EXERCISE:
            cells += [bare(part.cell), room("Your answer", part.cell.source, 2)]
        elif part.role is Role.GUESS:
            cells += [bare(part.cell), room("Your prediction", part.cell.source, 1)]
        elif part.role is Role.CODE and not answered:
            cells.append(bare(part.cell))
    cells = [cell for cell in cells if cell.source]
    return nbformat.v4.new_notebook(cells=cells, metadata=deepcopy(notebook.metadata))


def unlinked(text: str) -> str:
    r"""A text with the words of its links only, each on one line: "1)" at a line's start is a list.

    >>> unlinked("What a bank is ([notebook\n1](01.ipynb)).")
    'What a bank is (notebook 1).'
    """
    return LINK.sub(lambda link: " ".join(link[1].split()), text)


def asked(text: str, answered: bool, question: bool) -> str:
    r"""What a worksheet shows of a text; `question`: whether a prediction follows.

    >>> asked("It was 4.\n\nAnd now?", answered=True, question=True)
    'And now?'
    >>> asked("It was 4.\n\n### Exercise 1\n\nHow many?", answered=True, question=False)
    '### Exercise 1\n\nHow many?'
    """
    if not answered:
        return text
    heading = re.search(r"^#+ ", text, re.MULTILINE)
    if heading:
        return text[heading.start() :]
    return BLANK.split(text)[-1] if question else ""


def bare(cell: NotebookNode) -> NotebookNode:
    """A cell's code without the line that holds the place of a prediction or an answer."""
    source = "\n".join(line for line in cell.source.splitlines() if not COMMENT.match(line))
    source = re.sub(r"^(?:guess|answer_\w+) = (?:None|\.\.\.)$", "", source, flags=re.MULTILINE)
    return nbformat.v4.new_code_cell(source.strip())


def room(label: str, source: str, lines: int) -> NotebookNode:
    """Lines to write on; what is asked for stands in the comment of the cell."""
    found = COMMENT.search(source)
    what = f" ({html.escape(found[1].strip('()'))})" if found else ""
    blank = '<span class="line"></span>' * lines
    return nbformat.v4.new_markdown_cell(f'<p class="room">{label}{what}: {blank}</p>')
