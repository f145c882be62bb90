"""Tables on a terminal: whatever its width, no name and no number of theirs is cut."""

import doctest
import io
import sys

import pexpect
import pytest
from rich.console import Console

from mmsim.view import terminal
from mmsim.view.tables import Column, rich_rows

CUDA = """\
import numpy as np
from numba import cuda


@cuda.jit
def transpose_by_columns(a, b):
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    b[j, i] = a[i, j]


a = np.zeros((32, 32))
transpose_by_columns[1, (32, 32)](a, np.zeros_like(a))
"""
COLUMNS = (
    Column("program", False, whole=True),
    Column("shared stages"),
    Column("what it does", False),
)
ROWS = [("package.module:a_name", "12345678", "it reads rows and writes columns " * 3)] * 2


def shown(width, columns=COLUMNS, rows=ROWS, note="a note"):
    out = io.StringIO()
    table = rich_rows(columns, rows, "A caption", note)
    Console(file=out, width=width, color_system=None).print(table)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return lines


@pytest.mark.parametrize("width", [160, 80, 60, 40])
def test_nothing_is_cut(width):
    text = " ".join(" ".join(shown(width)).replace("│", " ").split())
    assert "…" not in text
    for part in ("A caption", "package.module:a_name", "12345678", "program", "a note"):
        assert part in text
    assert text.count("columns") == 6


def test_borders_go_first_and_then_columns():
    assert shown(80)[1].startswith("┏")
    heads, names, first = (" ".join(line.split()) for line in shown(52)[1:4])
    assert (heads, names) == ("shared", "program stages what it does")
    assert first.startswith("package.module:a_name 12345678 it reads rows")
    rows = [("package.module:a_name", "", "it reads"), ("package.module:b_name", "1", "")]
    assert [" ".join(line.split()) for line in shown(38, rows=[*rows, ROWS[0]])[:8]] == [
        *("A caption", "program package.module:a_name", "what it does it reads", ""),
        *("program package.module:b_name", "shared stages 1", ""),
        "program package.module:a_name",
    ]


def test_widths_are_shared():
    assert doctest.testmod(terminal).failed == 0


@pytest.mark.parametrize("width", [80, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (["cuda", "--check", "kernel.py"], ["transpose_by_columns", "launches", "findings"]),
        (["list", "transpose"], ["mmsim_algorithms.transpose.umm_groups:mirror_groups", "time"]),
        (
            ["run", "mmsim_algorithms.transpose:diagonal", "--profile", "--rounds"],
            ["conflict-free", "requests", "stages", "wasted", "round", "n, p, i"],
        ),
        (["reproduce"], ["SMM-F10", "what it shows", "simulated"]),
        pytest.param(["reproduce", "RAP-T4"], ["w2P", "stride"], marks=pytest.mark.long),
        (["bench", "--list"], ["designated", "what it compares"]),
        (["verify", "--claim", "SMM-E1.DMM"], ["SMM-E1.DMM", "worst case", "async/sync", "holds"]),
    ],
)
def test_what_commands_print_on_a_terminal(tmp_path, width, call, names):
    (tmp_path / "kernel.py").write_text(CUDA)
    child = pexpect.spawn(
        sys.executable,
        ["-m", "mmsim", *call],
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=120,
        dimensions=(50, width),
    )
    text = child.read()
    assert "…" not in text
    for name in names:
        assert name in text
