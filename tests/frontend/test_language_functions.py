"""Functions of floats and of bits, and types that are asked for: what a program may say of them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import ArithmeticFault, LaunchError, TypeFault
from mmsim.frontend.thread import intrinsics
from mmsim.ir.functions import FUNCTIONS, fma
from tests.kit.runs.expressions import evaluate

NUMPYS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
NUMPYS |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
OF_FLOATS = [name for name, one in FUNCTIONS.items() if hasattr(math, name) or name == "fma"]
NUMBERS = [0.0, -0.0, 0.3, -0.7, 1.0, -1.0, 2.5, -3.5, 40.0, 1e-310, 1e300, -1e300]
NUMBERS += [math.inf, -math.inf, math.nan]


def pythons(name, *numbers):
    """The value of Python's function, or C's where Python raises an error."""
    if name == "fma":
        return float(fma(*map(np.float64, numbers)))
    try:
        return float(getattr(math, name)(*numbers))
    except OverflowError:
        return None if name in ("floor", "ceil", "trunc") else math.inf
    except ValueError:
        return None


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize("name", sorted(set(OF_FLOATS) - {"floor", "ceil", "trunc", "fma"}))
def test_functions_are_numpys_or_pythons(name, engine):
    arity = FUNCTIONS[name].arity
    sides = [np.array(side) for side in zip(*itertools.product(NUMBERS, repeat=arity), strict=True)]
    call = f"math.{name}({', '.join('xyz'[:arity])})"
    found = evaluate(call, engines=(engine,), **dict(zip("xyz", sides, strict=False)))
    numpys = getattr(np, NUMPYS.get(name, name), None)
    with np.errstate(all="ignore"):
        if numpys is not None and name != "remainder":
            right = numpys(*sides).astype(float)
            assert found.tobytes() == right.tobytes()
        for position, numbers in enumerate(zip(*sides, strict=True)):
            right = pythons(name, *numbers)
            if right is not None and not math.isinf(right):
                assert found[position] == pytest.approx(right, rel=1e-15, abs=0, nan_ok=True)


def test_what_has_no_value_is_a_nan_or_an_infinity_as_on_a_card():
    x = [-1.0, 0.0]
    for name, right in {
        "sqrt": [math.nan, 0.0],
        "log": [math.nan, -math.inf],
        "gamma": [math.nan, math.inf],
        "lgamma": [math.inf, math.inf],
        "acosh": [math.nan, math.nan],
    }.items():
        assert np.array_equal(evaluate(f"math.{name}(x)", x=x), right, equal_nan=True), name
    assert np.isnan(evaluate("math.remainder(x, 0.0)", x=x)).all()


def test_floor_ceil_and_trunc_give_integers_as_pythons_do():
    x = [-2.5, -0.5, 0.5, 2.0]
    for name in ("floor", "ceil", "trunc"):
        found = evaluate(f"math.{name}(x)", "int64", x=x)
        assert found.tolist() == [getattr(math, name)(one) for one in x]
    with pytest.raises(ArithmeticFault, match="64 bits"):
        evaluate("math.floor(x)", "int64", x=[math.inf])


def test_a_logarithm_to_a_base_and_degrees_are_pythons():
    x = [0.5, 3.0, 1e10]
    assert evaluate("math.log(x, 3)", x=x).tolist() == [math.log(one) / math.log(3) for one in x]
    assert evaluate("math.degrees(x)", x=x).tolist() == list(map(math.degrees, x))
    assert evaluate("math.radians(x)", x=x).tolist() == list(map(math.radians, x))


def test_fma_rounds_once():
    x, z = [1 + 2.0**-30], [-(1 + 2.0**-29)]
    assert evaluate("x * x + z", x=x, z=z) == [0.0]
    assert evaluate("mm.fma(x, x, z)", x=x, z=z) == [2.0**-60]
    single = evaluate("mm.fma(mm.float32(x), x, y)", x=[1 + 2.0**-12], y=[2.0**-60])
    assert single == [float(np.float32(1 + 2.0**-11 + 2.0**-23))]  # past the middle, by y


def rounded_once(x, y, z):
    """x * y + z by exact fractions."""
    if math.isinf(z) and math.isfinite(x) and math.isfinite(y):
        return z  # however large the product is
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return exact.numerator / exact.denominator if exact else x * y + z
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def test_fma_of_doubles_is_the_nearest_number_to_the_exact_one():
    author = np.random.default_rng(1)
    edges = [*NUMBERS, 5e-324, -5e-324, 2.0**-900, 2.0**900, 1 + 2.0**-52, 1 - 2.0**-53]
    x, y, z = author.standard_normal((3, 4000)) * 2.0 ** author.integers(-60, 60, (3, 4000))
    ends = 2.0 ** author.integers(-56, 57, 4000)  # around the last bits of the product
    rows = [
        np.array(list(itertools.product(edges, repeat=3))),
        author.integers(0, 2**64, (4000, 3), np.uint64).view(float),
        np.transpose([x, y, -(x * y) * (1 + author.integers(-3, 4, 4000) * 2.0**-52) * ends]),
        author.integers(-(2**27), 2**27, (4000, 3)) * 2.0 ** author.integers(-540, -440, (4000, 3)),
        np.transpose([x, y, z]),
    ]
    for x, y, z in (row.T for row in rows):
        with np.errstate(all="ignore"):
            found = fma(x, y, z)
            right = np.array([rounded_once(*map(float, one)) for one in zip(x, y, z, strict=True)])
        same = (found == right) & (np.signbit(found) == np.signbit(right))
        assert (same | (np.isnan(found) & np.isnan(right))).all()


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_bits_are_counted_in_the_type_that_an_integer_has(bits):
    x = [0, 1, 6, 2 ** (bits - 1), 2**bits - 1]
    x = np.array(x, f"uint{bits}")
    texts = [f"{int(one):0{bits}b}" for one in x]
    for kind in ("int", "uint"):
        cast = f"mm.{kind}{bits}(x)"
        assert evaluate(f"mm.popc({cast})", "int64", x=x).tolist() == [t.count("1") for t in texts]
        zeros = [len(text.split("1")[0]) for text in texts]
        assert evaluate(f"mm.clz({cast})", "int64", x=x).tolist() == zeros
        places = [bits - text.rindex("1") if "1" in text else 0 for text in texts]
        assert evaluate(f"mm.ffs({cast})", "int64", x=x).tolist() == places
        turned = evaluate(f"mm.brev({cast})", f"{kind}{bits}", x=x).view(f"uint{bits}")
        assert turned.tolist() == [int(text[::-1], 2) for text in texts]


def test_a_plain_integer_has_64_bits():
    assert evaluate("mm.clz(x)", "int64", x=[1, -1]).tolist() == [63, 0]
    assert evaluate("mm.popc(x)", "int64", x=[1, -1]).tolist() == [1, 64]


def test_a_number_of_pythons_takes_the_others_type():
    x = np.array([0.1, 0.7, 1e-9], "float32")
    found = evaluate("mm.float32(x) * 1.1 + T.id", "float32", x=x)
    right = x * np.float32(1.1) + np.arange(3, dtype="float32")
    assert found.tobytes() == right.tobytes()
    plain = evaluate("x * 1.1 + T.id", "float64", x=x)
    assert plain.tobytes() == (x.astype(float) * 1.1 + np.arange(3)).tobytes()


def test_an_operation_on_two_types_is_of_numpys_common_one():
    x = [2**31 - 1, -1, 5]
    for first, second in itertools.product(("int8", "int32", "uint32", "float32"), repeat=2):
        common = np.promote_types(first, second)
        found = evaluate(f"mm.{first}(x) * mm.{second}(x)", common, x=x)
        with np.errstate(all="ignore"):
            whole = np.array(x)
            right = whole.astype(first).astype(common) * whole.astype(second).astype(common)
        assert found.tobytes() == right.tobytes(), (first, second)


def test_types_without_a_common_integer_type_are_refused():
    with pytest.raises(TypeFault, match=r"no integer type holds both int32 and uint64"):
        evaluate("mm.int32(x) + mm.uint64(x)", x=[1])


def test_a_variable_keeps_the_type_that_was_asked_for():
    @mm.program
    def summed(T, a, out):
        total = mm.float32(0)
        for k in range(len(a)):
            total += a[k]
        out[T.id] = total

    a = np.full(1000, 0.1, "float32")
    found = mm.UMM(4, 2).run(summed, a, np.zeros(4, "float32"), threads=4).arrays["out"]
    right = np.float32(0)
    for one in a:
        right += one
    assert (found == right).all()
    assert right != np.float32(a.astype(float).sum())


def test_registers_without_a_dtype_hold_what_is_stored():
    @mm.program
    def twice(T, out):
        r = mm.registers(2)
        r[0] = mm.uint8(200)
        out[T.id] = int(r[0] + r[0])

    assert mm.DMM(2, 1).run(twice, np.zeros(2, int), threads=2).arrays["out"].tolist() == [144] * 2


def test_a_division_by_zero_is_an_error_of_integers_only():
    with pytest.raises(ArithmeticFault, match="division by zero"):
        evaluate("mm.int32(x) // 0", x=[1])
    with pytest.raises(ArithmeticFault, match="modulo zero"):
        evaluate("mm.uint64(x) % mm.uint64(0)", "uint64", x=[1])
    assert evaluate("mm.float32(x) / 0", x=[1, -1]).tolist() == [math.inf, -math.inf]


def test_a_float_that_the_type_of_a_cast_cannot_hold_is_an_error():
    assert evaluate("mm.uint8(x)", "uint8", x=[255.9, -0.9]).tolist() == [255, 0]
    assert evaluate("mm.int64(x)", "int64", x=[-(2.0**63)]).tolist() == [-(2**63)]
    for number in (256.0, -1.0, math.nan, math.inf):
        with pytest.raises(ArithmeticFault, match=r"uint8\(...\) of a float"):
            evaluate("mm.uint8(x)", "uint8", x=[number])


def test_a_written_number_must_fit():
    with pytest.raises(TypeFault, match="300 doesn't fit uint8, from 0 to 255"):
        evaluate("mm.uint8(x) + 300", x=[1])
    with pytest.raises(TypeFault, match="-1 doesn't fit uint32"):
        evaluate("mm.uint32(x) & -1", x=[1])
    assert evaluate("mm.uint32(x) & mm.uint32(-1)", "uint32", x=[-3]).tolist() == [2**32 - 3]


def test_comparisons_of_integers_are_exact():
    x = np.array([0, 5, 2**64 - 1], "uint64")
    assert evaluate("x > y", "bool", x=x, y=[-1, 5, -1]).tolist() == [True, False, True]
    assert evaluate("y < x", "bool", x=x, y=[-1, 5, -1]).tolist() == [True, False, True]
    assert evaluate("mm.uint8(y) < 300", "bool", y=[1]).tolist() == [True]


def test_unsigned_integers_of_64_bits():
    x = np.array([2**64 - 1, 1], "uint64")
    assert evaluate("x >> 1", "uint64", x=x).tolist() == [2**63 - 1, 0]
    assert evaluate("x + 1", "uint64", x=x).tolist() == [0, 2]
    right = [int(one) ^ 0xFFFF_FFFF_FFFF_0000 for one in x]
    assert evaluate("x ^ 0xFFFFFFFFFFFF0000", "uint64", x=x).tolist() == right
    assert evaluate("18446744073709551615 >> 60", "uint64", y=[0]).tolist() == [15]
    assert evaluate("int(x)", "int64", x=x).tolist() == [-1, 1]


def test_a_parameter_may_have_64_bits_without_a_sign():
    @mm.program
    def stored(T, out, n):
        out[T.id] = n >> 1

    out = np.zeros(2, "uint64")
    for engine in ("events", "array"):
        run = mm.DMM(2, 1).run(stored, out, 2**64 - 1, threads=2, engine=engine)
        assert run.arrays["out"].tolist() == [2**63 - 1] * 2
    with pytest.raises(LaunchError, match="doesn't fit into 64 bits"):
        mm.DMM(2, 1).run(stored, out, 2**64, threads=2)


def test_what_is_stored_must_fit_the_array():
    with pytest.raises(TypeFault, match="18446744073709551615 doesn't fit"):
        evaluate("mm.uint64(x)", "int64", x=[-1])
    with pytest.raises(TypeFault, match="-1 doesn't fit"):
        evaluate("x", "uint64", x=[-1])
    with pytest.raises(TypeFault, match="a float is stored"):
        evaluate("mm.float32(x)", "int64", x=[1])


def test_numpys_own_types_are_the_same():
    assert mm.float32 is np.float32
    assert evaluate("np.float32(x) * x", "float32", x=[0.1]) == np.float32(0.1) * np.float32(0.1)


def test_our_own_functions_are_those_that_the_reader_is_given():
    assert {name for name, row in FUNCTIONS.items() if row.own} == FUNCTIONS.keys() & vars(
        intrinsics
    )
