"""The table of the page on tiles: each line is proved for all tiles of its kind."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim.model.layout import RAW
from mmsim.model.tiles import Padded, Strided, Swizzle, XorRows

pytest.importorskip("z3", reason="proofs need z3-solver")

PAGE = Path(__file__).parents[2] / "docs/how-to/tiles.md"
LINES = re.findall(
    r"^\| `(.*)` \| (\d+), (\d+) \| (.*) \| `(.*)` \| (.*) \|$", PAGE.read_text(), re.M
)
LAYOUTS = RAW, Padded, Strided, Swizzle, XorRows
SLOW = ("Swizzle(3, 3, 3)", "2", "1")
DTYPES = {1: np.int8, 2: np.float16, 4: np.float32}
PROGRAM = """
import mmsim as mm


@mm.program
def access(T, s, m, n, i, j):
    t = T.lane
    row, column = {element}
    if row < m and column < n:
        s[({offset}) // {vector}] = 0
"""


def offset(layout):
    """The offset of an element of a tile under a layout, as text."""
    match layout:
        case Padded(by=by):
            return f"row * (n + {by}) + column"
        case XorRows(width=width, vector=1):
            return f"row * n + (column ^ row % {width})"
        case Strided(stride=(down, along)):
            return f"row * {down} + column * {along}"
        case Swizzle(bits=bits, base=base, shift=shift, layout=inner):
            plain = offset(inner or RAW())
            return f"({plain}) ^ ((({plain}) >> {base + shift} & {2**bits - 1}) << {base})"
    assert layout == RAW()
    return "row * n + column"


def facts(text):
    return re.findall(r"[^`]+", text.replace("all", "")) if "`" in text else []


def made(layout, n):
    return eval(layout, {one.__name__: one for one in LAYOUTS} | {"n": n})


def proof(where, layout, size, vector, tiles, element, places):
    text = PROGRAM.format(element=element, offset=offset(made(layout, 64)), vector=vector)
    path = where / f"tile_{len(list(where.iterdir()))}.py"  # a file is read once
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("tile", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    width, dtype, options = 32, DTYPES[size], {"bank_bytes": 4}
    if size * vector > 4:  # so many bytes for each of fewer threads, as one word
        width, dtype, options = 128 // (size * vector), int, {}
    machine = mm.DMM(width, 1, **options)
    given = ["i >= 0", "j >= 0", *facts(tiles), *facts(places)]
    m, n = (int(re.search(rf"{of} == (\d+)", tiles + f"{of} == 128")[1]) for of in "mn")
    report = machine.check(
        module.access, np.zeros(2 * m * n, dtype), m, n, 0, 0, threads=32, prove=True, given=given
    )
    return report.proved.conflict


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=" ".join(line), marks=[pytest.mark.long] * (line[:3] == SLOW))
        for line in LINES
    ],
)
def test_an_access_is_free_in_all_tiles(line, tmp_path):
    layout, size, vector, *others = line
    assert proof(tmp_path, layout, int(size), int(vector), *others).answer == "yes"


@pytest.mark.parametrize("layout", sorted({line[0] for line in LINES}))
def test_the_program_has_the_offsets_of_the_layout(layout):
    m, n = 128, 64
    names = dict(zip(("row", "column"), np.indices((m, n)), strict=True), n=n)
    one = made(layout, n)
    assert np.array_equal(eval(offset(one), names), one.offsets((m, n)))


def test_another_access_is_refuted(tmp_path):
    for layout, tiles, element in (
        ("RAW()", "`n % 32 == 0`", "i + t, j"),
        ("Padded(2)", "`n % 32 == 0`", "i + t, j"),
        ("Padded(1)", "all", "i + t, j"),
        ("Swizzle(4, 0, 5)", "`n == 32`", "i + t, j"),
        ("Swizzle(5, 0, 5)", "`n == 64`", "i + t, j"),
    ):
        assert proof(tmp_path, layout, 4, 1, tiles, element, "all").answer == "no", layout


def test_every_line_of_the_table_is_read():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert len(rows) == len(LINES) >= 18
