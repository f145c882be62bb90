"""The device functions for operators that C lacks, alone, on the CPU: compiled in half a second."""

from __future__ import annotations

import itertools
import math
import subprocess

import numpy as np
import pytest

from mmsim.cuda_c.helpers import called
from mmsim.cuda_c.text import literal_of
from mmsim.ir.powers import power
from tests.kit.oracle.emulated_gpu import COMPILER, needs_compiler

pytestmark = needs_compiler

BEGIN = """
#include <cmath>
#include <cstdio>
#include <cstring>
#define __device__ static
using namespace std;
template <class To, class From> static To bits_of(From x)
{
    To y;
    memcpy(&y, &x, sizeof(To));
    return y;
}
#define __longlong_as_double bits_of<double>
#define __double_as_longlong bits_of<long long>
"""
END = """
int main()
{
    double pair[2];
    while (fread(pair, sizeof(double), 2, stdin) == 2) {
        unsigned long long x = bits_of<unsigned long long>(pair[0]);
        long long y = bits_of<long long>(pair[1]);
        double found[2] = {float_power(pair[0], pair[1]), (double)order(x, y)};
        fwrite(found, sizeof(double), 2, stdout);
    }
}
"""
QUOTIENTS = """
int main()
{
    double of[4];
    while (fread(of, sizeof(double), 4, stdin) == 4) {
        complex<double> found = complex<double>(of[0], of[1]) / complex<double>(of[2], of[3]);
        fwrite(&found, sizeof(found), 1, stdout);
    }
}
"""
TINY = math.ulp(0.0)
BASES = [
    *(0.0, TINY, 3 * TINY, 2.0**-1022, 2.0**-1021 - TINY, 1.5e-200, 2.0**-269, 2.0**-128, 0.1),
    *(262143.0, 262145.0),  # powers between two floats
    *(0.3333333333333333, 0.5, 0.9999999999999999, 1.0, 1.0000000000000002, 1.1, 1.5, 2.0, 3.0),
    *(10.0, 2.0**53 - 1, 1e38, 1.3407807929942596e154, 2.0**128, 1e200, 1.7976931348623157e308),
    *(math.inf, math.nan),
]  # fmt: skip
ROUNDED = [*map(float, range(-4, 9)), 0.5, -0.5]
OTHERS = [-5.0, 9.0, 1.5, -1.5, 0.25, math.inf]


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """A function from two arrays to their powers and to their orders as whole numbers."""
    program = tmp_path_factory.mktemp("operators") / "program"
    source = program.with_suffix(".cpp")
    source.write_text("\n".join([BEGIN, *called(END, is_line=True), END]))
    command = [COMPILER, "-O0", "-ffp-contract=off", "-std=c++17", source, "-o", program]
    subprocess.run(command, check=True, capture_output=True)

    def compute(x, y):
        pairs = np.stack([x, y], axis=1).tobytes()
        out = subprocess.run([program], input=pairs, capture_output=True, check=True, timeout=60)
        return np.frombuffer(out.stdout).reshape(-1, 2).T

    return compute


def test_powers_are_those_of_the_simulator(computed):
    random = np.random.default_rng(1)
    drawn = np.ldexp(random.uniform(0.5, 1, 40), random.integers(-300, 300, 40))
    bases = [sign * base for base in (*BASES, *drawn) for sign in (1, -1)]
    x, y = np.array([*itertools.product(bases, [*ROUNDED, *OTHERS])]).T
    with np.errstate(all="ignore"):
        expected = power(x, y)
        found, _ = computed(x, y)
        near = abs(found - expected) <= 1e-15 * abs(expected)
    same = (found.view(np.int64) == expected.view(np.int64)) | np.isnan(found) & np.isnan(expected)
    same |= near & np.isin(y, OTHERS)
    assert same.all(), [*zip(x[~same], y[~same], found[~same], expected[~same], strict=True)]


def test_unsigned_and_signed_numbers_are_ordered_as_numbers(computed):
    limits = [0, 1, 2, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
    pairs = [*itertools.product(limits, [*limits[:5], -1, -2, -(2**63)])]
    x = np.array([x for x, _ in pairs], np.uint64).view(np.float64)
    y = np.array([y for _, y in pairs], np.int64).view(np.float64)
    assert computed(x, y)[1].tolist() == [(x > y) - (x < y) for x, y in pairs]


def test_quotients_of_complex_numbers(tmp_path):
    """By both ways of Smith's method: the real part of the divisor is larger, or the other."""
    program = tmp_path / "program"
    source = program.with_suffix(".cpp")
    source.write_text(
        "\n".join([BEGIN.replace("static", "inline"), *called(QUOTIENTS, is_line=True), QUOTIENTS])
    )
    command = [COMPILER, "-O0", "-ffp-contract=off", "-std=c++17", source, "-o", program]
    subprocess.run(command, check=True, capture_output=True)
    pairs = np.array([[3 + 4j, 2 + 1j], [3 + 4j, 1 - 2j], [-5 + 2j, 4 + 0j], [7 - 1j, 3j]])
    out = subprocess.run([program], input=pairs.tobytes(), capture_output=True, check=True)
    assert np.allclose(np.frombuffer(out.stdout, complex), pairs[:, 0] / pairs[:, 1], rtol=1e-15)


def test_a_number_has_the_suffix_or_the_cast_of_its_type():
    texts = [literal_of(1.5, np.dtype(dtype)).code for dtype in ("f2", "f4", "f8")]
    assert texts == ["(half_float)1.5", "1.5f", "1.5"]
