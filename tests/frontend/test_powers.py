"""x ** y of floats: the exact result, rounded, for small whole exponents and for 0.5 and -0.5."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import mmsim as mm
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.gpu import kernel
from mmsim.ir.powers import HALVES, WHOLE, power
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler
from tests.kit.runs.paths import agrees

EXPONENTS = [*map(float, WHOLE), *HALVES]
LARGEST, LEAST = np.finfo(float).max, 5e-324


def samples(count):
    """Floats of every size and sign: any bits, edges of the range, and ties."""
    random = np.random.default_rng(5)
    any_bits = random.integers(-(2**63), 2**63 - 1, count).view(float)
    sizes = np.concatenate([1024 / np.arange(1, 9), -1074 / np.arange(1, 9)])
    with np.errstate(over="ignore"):
        edges = 2.0 ** (np.repeat(sizes, 9) + np.tile(np.arange(-4, 5) / 7, len(sizes)))
    ties = random.integers(2**17, 2**27, count // 4).astype(float)
    plain = random.normal(size=count // 2)
    found = np.concatenate(
        [any_bits, edges, -edges, ties, plain, np.arange(-20.0, 21), [LARGEST, LEAST, -LEAST]]
    )
    return found[np.isfinite(found) & (found != 0)]


def neighbours(y):
    """The points half way to the floats next to y >= 0, beyond the largest float too."""
    if math.isinf(y):
        edge = Fraction(2) ** 1024 - Fraction(2) ** 970
        return edge, None
    above = math.nextafter(y, math.inf)
    up = Fraction(2) ** 1024 if math.isinf(above) else Fraction(above)
    down = Fraction(math.nextafter(y, -math.inf))
    return (Fraction(y) + down) / 2, (Fraction(y) + up) / 2


def is_even(y):
    return math.isinf(y) or int(np.float64(y).view(np.int64)) % 2 == 0


def is_rounded(y, compare):
    """Tell whether y >= 0 is the float nearest to a number; compare(q) is its sign less q."""
    low, high = neighbours(y)
    below, above = compare(low), -1 if high is None else compare(high)
    return (below > 0 or (below == 0 and is_even(y))) and (above < 0 or (above == 0 and is_even(y)))


def sign(x):
    return (x > 0) - (x < 0)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_it_is_the_exact_result_rounded(exponent):
    x = samples(1200)
    if exponent in HALVES:
        x = abs(x)
    with np.errstate(all="ignore"):
        found = power(x, np.array(exponent))
    for base, y in zip(x.tolist(), found.tolist(), strict=True):
        if exponent in HALVES:
            squared = Fraction(base) if exponent > 0 else 1 / Fraction(base)
            assert is_rounded(y, lambda q, s=squared: sign(s - q * q) if q > 0 else 1), base
            continue
        whole = Fraction(base) ** int(exponent)
        size = abs(whole)
        assert sign(whole) == math.copysign(1, y), base
        assert is_rounded(abs(y), lambda q, w=size: sign(w - q)), base


SPECIAL = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0])


def test_numbers_that_are_no_plain_ones_have_the_powers_that_python_gives():
    for exponent in EXPONENTS:
        with np.errstate(all="ignore"):
            found = power(SPECIAL, np.array(exponent)).tolist()
        for x, y in zip(SPECIAL.tolist(), found, strict=True):
            try:
                expected = x**exponent
            except ZeroDivisionError:
                assert math.isinf(y)
                continue
            if isinstance(expected, complex):
                assert math.isnan(y)
            else:
                assert str(y) == str(expected), (x, exponent)


def test_each_lane_has_its_own_exponent():
    x = np.repeat(abs(samples(20)), len(EXPONENTS) + 1)
    y = np.tile([*EXPONENTS, 2.5], len(x) // (len(EXPONENTS) + 1))
    with np.errstate(all="ignore"):
        found = power(x, y)
        alone = [power(np.array([b]), np.array(e))[0] for b, e in zip(x, y, strict=True)]
    assert found.tobytes() == np.array(alone).tobytes()


@mm.program
def powers_of(T, x, e, out):
    i, j = T.id // e.size, T.id % e.size
    out[i, j] = x[i] ** e[j]


@mm.program
def squares_and_roots(T, x, out):
    out[T.id, 0] = x[T.id] ** 2
    out[T.id, 1] = x[T.id] ** 0.5
    out[T.id, 2] = x[T.id] ** 2.0


def finite_cases():
    """Bases and exponents without an error."""
    x = abs(samples(300))
    x = x[(x > 1e-38) & (x < 1e38)]
    return x, np.array([*EXPONENTS, 9.0])[:-1]


@needs_compiler
def test_a_gpu_gives_the_same_bits(tmp_path):
    x = np.concatenate([abs(samples(60)), SPECIAL])
    e = np.array(EXPONENTS)
    arguments = x, e, np.zeros((x.size, e.size))
    with np.errstate(all="ignore"):
        expected = np.stack([power(x, np.array(one)) for one in e], axis=1)
    emulated = Emulated(
        [kernel(powers_of, *arguments, threads=x.size * e.size, block_size=64)], tmp_path
    )
    found = emulated.run(0)["out"]
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found[:-5]), np.signbit(expected[:-5]))


def test_engines_give_the_same_bits():
    x, e = finite_cases()
    out = np.zeros((x.size, e.size))
    run = agrees("interpreted", powers_of, x, e, out, threads=out.size, schedules=["synchronous"])
    expected = np.stack([power(x, np.array(one)) for one in e], axis=1)
    assert run.arrays["out"].tobytes() == expected.tobytes()
    out = np.zeros((x.size, 3))
    run = agrees("plain", squares_and_roots, x, out, threads=x.size)
    expected = np.stack([power(x, np.array(one)) for one in (2.0, 0.5, 2.0)], axis=1)
    assert run.arrays["out"].tobytes() == expected.tobytes()


@pytest.mark.parametrize("x", [1e200, -1.0])
def test_a_power_without_a_value_is_an_error_on_the_fused_path_too(x):
    with pytest.raises(mm.MMSimError, match="this power is not a finite real number"):
        mm.DMM(4, 1).run(squares_and_roots, np.full(4, x), np.zeros((4, 3)), threads=4)


@pytest.mark.parametrize("path", ["plain", "fused"])
def test_a_loop_may_end_at_a_power(path):
    def count(T, a, n):
        for _ in range(int(n**0.5) + int(0.5 * n**2.0 - 120.0)):
            a[T.id] += 1

    run = agrees(path, mm.program(count), np.zeros(8, int), 16.0, threads=8)
    assert run.arrays["a"].tolist() == [12] * 8


def test_other_powers_of_floats_are_not_fused():
    with pytest.raises(CannotFuse, match="a power of floats"):
        agrees("plain", powers_of, np.ones(1), np.ones(1), np.ones((1, 1)), threads=1)
