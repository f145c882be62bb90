"""Random loops, branches, jumps and names of a kernel leave what Python does, thread by thread."""

from __future__ import annotations

import pytest

from tests.kit.generators.draws import draws
from tests.kit.generators.random_statements import Statements, compare


@pytest.mark.parametrize("seed", range(draws(12)))
def test_statements_leave_what_python_does(seed):
    compare(Statements(seed).lines)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 4000, 50))
def test_many_statements_leave_what_python_does(first):
    for seed in range(first, first + 50):
        compare(Statements(seed).lines)


LOOP = "for k in q:"
ELSE = "    else:", "        break"


@pytest.mark.parametrize(
    "lines",
    [
        [LOOP, "    return"],
        [LOOP, "    b[i, 0] += 1", "    break"],
        [LOOP, "    b[i, 0] += 1", "    break", "else:", "    continue"],
        ["for j in range(n):", f"    {LOOP}", "        continue", *ELSE],
        [LOOP, "    break", "u += 1"],
    ],
)
def test_a_loop_without_a_second_trip_begins_anew_in_each_trip_around_it(lines):
    """Numba joins the head of such a loop with the block before, the head of another loop."""
    compare(["u = 0", "while u < 3:", *(f"    {line}" for line in ("u += 1", *lines))])


@pytest.mark.parametrize(
    "lines",
    [
        ["y, z = z + 3, (x if x > n else 7)"],
        ["y, z = z, (x if x > n else 7)"],
        ["y, z = z + 3, (x and n)"],
        ["y, z = z * 2, turned(x if i else 7, 2)[1]"],
    ],
)
def test_a_value_is_that_of_before_a_branch_which_sets_the_name(lines):
    compare(lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["for k in w:", "    w = (w[1], x)", "    x += n", "    y += k"],
        ["for k, j in zip(w, q):", "    w = w[::-1]", "    y += k * j"],
        ["for j, k in enumerate(w):", "    w = (j, 5)", "    y += k"],
    ],
)
def test_a_loop_over_a_tuple_has_the_items_that_it_had_when_the_loop_began(lines):
    compare(["for u in range(3):", *(f"    {line}" for line in lines)])
