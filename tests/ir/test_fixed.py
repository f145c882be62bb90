"""The variables that a compiler computes: those of loops with few trips and known limits."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.ir.fixed import Fixed
from mmsim.ir.nodes import Const, While
from mmsim.ir.walk import statements
from tests.kit.generators.random_programs import define


def of(text):
    """The fixed variables of a text, and whether its first `while` is unrolled."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    body = define(f"@mm.program\ndef made(T, a, b, n):\n{lines}", "made").code.body
    found = Fixed(body, lambda one: one.value if isinstance(one, Const) else None, lambda _: False)
    loops = [one for one in statements(body) if isinstance(one, While)]
    return found.names, bool(loops) and found.unrolls(loops[0])


@pytest.mark.parametrize(
    ("text", "names", "unrolled"),
    [
        ("h = 1\nwhile h < 256:\n    h = h * 2", {"h"}, True),
        ("h = 128\nwhile h > 0:\n    x = a[h]\n    h = h // 2", {"h"}, True),
        ("h = 1\nwhile h < 256:\n    h = h + 1", set(), False),
        ("h = 1\nwhile h < n:\n    h = h * 2", set(), False),
        ("h = a[0]\nwhile h < 256:\n    h = h * 2", set(), False),
        ("h = T.id\nwhile h < 256:\n    h = h * 2", set(), False),
        ("h = 1\nwhile True:\n    h = h * 2\n    if h > 99:\n        break", {"h"}, True),
        ("h = 1\nwhile True:\n    h = h * 2\n    if a[h] > 99:\n        break", set(), False),
        ("h = 1\nif T.id < 3:\n    h = 2\nwhile h < 8:\n    h = h * 2", set(), False),
        (
            "k = 2\nwhile k < 99:\n    j = k // 2\n    while j > 0:\n        j = j // 2\n"
            "    k = k * 2",
            {"j", "k"},
            True,
        ),
    ],
)
def test_a_variable_is_fixed_if_only_numbers_decide_its_values(text, names, unrolled):
    assert of(text) == (names, unrolled)


def test_what_is_fixed_costs_no_operation():
    """The four barriers are left, and what each trip does with other values."""
    text = "@mm.program\ndef made(T, a, b):\n    h = 1\n    while h < 16:\n        T.barrier()\n"
    doubled = define(text + "        h = h * 2\n", "made")
    stepped = define(text + "        h = h + 5\n", "made")
    card, a = mm.H200(), np.zeros(32)
    found = [
        card.predict(program, a, a.copy(), threads=32, block_size=32).parts["instructions"]
        for program in (doubled, stepped)
    ]
    assert found[0] < found[1]
    barriers = 4 * 4 * dict(card.operations)["barrier"]
    assert found[0] == pytest.approx(card.milliseconds(barriers + card.launch_time), rel=1e-6)
