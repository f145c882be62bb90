"""Small programs that many tests run, and programs of bodies that tests have in tables."""

import re
import textwrap

import mmsim as mm
from tests.kit.generators.random_programs import define


def program_of(body, parameters="a, b", name="made", helpers=""):
    """A program with these lines as its body, which begins in line 2 but for helpers."""
    source = f"{helpers}def {name}(T, {parameters}):\n{textwrap.indent(body, '    ')}\n"
    return mm.program(define(source, name))


def rows_of(table):
    """The heads of a table's rows, one line each, and the indented lines under each."""
    for row in re.split(r"\n(?=\w)", table.strip()):
        head, body = row.split("\n", 1)
        yield head, textwrap.dedent(body)


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


def line_of(run, text):
    """The number of the source line of a run that reads so."""
    (line,) = (line.line for line in run.profile().lines if line.text.strip() == text)
    return line
