"""Complex numbers in programs: how they are written, of which type they are, what they lack."""

import cmath

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import AddressError, LanguageError, LaunchError, TypeFault
from tests.kit.generators.random_programs import define
from tests.kit.runs import expressions


def evaluate(expression, dtype="complex128", **arrays):
    """The values of an expression, on both engines."""
    return expressions.evaluate(expression, dtype, ("events", "array"), **arrays)


def refused(expression, kind=TypeFault, dtype="complex128", **arrays):
    """The error of an expression, which names the program and its line."""
    with pytest.raises(kind) as caught:
        evaluate(expression, dtype, **(arrays or {"z": [1 + 2j]}))
    assert caught.value.program == "program"
    assert expression in caught.value.place.text
    return str(caught.value)


Z = [1 + 2j, -3.5j, 2 + 0j, -0.5 + 0.25j]


@pytest.mark.parametrize(
    "text",
    [
        *("1j", "2.5 - 1j", "-1j", "z + 1", "1 - z", "z * 2", "z / 4", "1 / z", "-z", "+z"),
        *("complex(2)", "complex(z)", "complex(1, 2.5)", "complex(z.imag, z.real)"),
        *("z.conjugate()", "(z * z).conjugate()", "z.real", "z.imag", "z.real + z.imag * 1j"),
        *("1.5.conjugate()", "(3).imag", "True.real", "z if z else 1j", "z or 1j", "z and 1j"),
        *("z == 1 + 2j", "z != 2", "2 == z", "not z", "bool(z)", "z in (2, -3.5j)"),
        *("int(z.real)", "abs(3 + 4j)", "abs(-2j) + 1"),
    ],
)
def test_it_computes_as_python_does(text):
    found = evaluate(text, z=Z)
    assert found.tolist() == [eval(text, {"z": one}) for one in Z]


def test_a_length_is_that_of_hypot():
    x = np.array([0.1 + 0.7j, 1e300 + 1e300j, 3e-320j])
    assert evaluate("abs(z)", "float64", z=x).tobytes() == np.hypot(x.real, x.imag).tobytes()
    x = x[:1].astype("complex64")
    found = evaluate("abs(mm.complex64(z))", "float32", z=x)
    assert found.tobytes() == np.hypot(x.real, x.imag).tobytes()


def test_elements_are_read_and_written_in_either_type():
    x = np.array([0.1 + 0.7j, -0.0 - 0.0j])
    assert evaluate("z", "complex64", z=x).tobytes() == x.astype("complex64").tobytes()
    narrow = x.astype("complex64")
    assert evaluate("z", "complex64", z=narrow).tobytes() == narrow.tobytes()
    assert evaluate("z * z", z=narrow).tolist() == [complex(one) ** 2 for one in narrow]
    assert evaluate("n", n=[1, 2]).tolist() == [1, 2]
    assert evaluate("n", "complex64", n=[0.5, True]).tolist() == [0.5, 1]


def test_numbers_and_tables_from_outside_and_parameters():
    outside = "TURN = 1j\nROOTS = (1, 1j, -1, -1j)\nTABLE = np.array([[0.5j, 2], [3, 4]])\n"
    assert evaluate("z * TURN", outside=outside, z=[2, 1j]).tolist() == [2j, -1]
    found = evaluate("ROOTS[T.id] + TABLE[T.id % 2, 0]", outside=outside, z=[0] * 4)
    assert found.tolist() == [1 + 0.5j, 3 + 1j, -1 + 0.5j, 3 - 1j]

    @mm.program
    def scaled(T, a, factor, shift=2 - 1j):
        a[T.id] = a[T.id] * factor + shift

    run = mm.UMM(2, 1).run(scaled, np.array([1, 2j]), 1j, threads=2)
    assert run.arrays["a"].tolist() == [2 + 0j, -1j]
    run = mm.UMM(2, 1).run(scaled, np.array([1, 2j]), np.complex64(1j), 0, threads=2)
    assert run.arrays["a"].tolist() == [1j, -2]


def test_a_variable_that_holds_one_is_complex_for_all_threads():
    @mm.program
    def sums(T, a, out):
        total = 0
        best = mm.registers(2)
        for k in range(len(a)):
            total += a[k]
        if T.id == 1:
            best[0] = total
        out[T.id] = best[0] + best[1]

    a = np.array([1 + 1j, 2 - 3j, 0.5j])
    for engine in ("events", "array"):
        run = mm.DMM(2, 1).run(sums, a, np.zeros(2, complex), threads=2, engine=engine)
        assert run.arrays["out"].tolist() == [0, a.sum()]


@pytest.mark.parametrize("dtype", ["complex", "'complex64'", "np.complex128", "mm.complex64"])
def test_arrays_that_a_program_makes(dtype):
    text = f"def program(T, out):\n    s = mm.shared(2, dtype={dtype})\n    s[T.id] = T.id * 0.1j\n"
    program = mm.program(define(text + "    out[T.id] = s[T.id]\n", "program"))
    run = mm.DMM(2, 1).run(program, np.zeros(2, complex), threads=2)
    kind = np.complex64 if "64" in dtype else np.complex128
    assert run.arrays["out"].tolist() == [0, complex(kind(0.1j))]


def test_a_word_is_an_element_whatever_its_type():
    @mm.program
    def copy(T, a, b):
        b[T.id] = a[(T.id * 3) % 32]

    times = set()
    for dtype in ("float32", "complex64", "complex128"):
        a = np.arange(32).astype(dtype)
        run = mm.DMM(8, 4).run(copy, a, np.zeros_like(a), threads=32)
        times.add((run.time, tuple(row.stages for row in run.accesses)))
    assert len(times) == 1


def test_a_type_that_is_asked_for_rounds_each_operation():
    x = np.array([0.1 + 0.7j, 3 - 1e-7j])
    y = x.astype("complex64")
    with np.errstate(all="ignore"):
        real = y.real * y.real - y.imag * y.imag
        imag = y.real * y.imag + y.imag * y.real
    found = evaluate("mm.complex64(z) * z", "complex64", z=x)
    assert (found.real.tolist(), found.imag.tolist()) == (real.tolist(), imag.tolist())
    assert evaluate("mm.complex64(z) / 3", z=x).tolist() == (y / np.complex64(3)).tolist()
    assert (
        evaluate("mm.complex64(z).real * 0.1", z=x).tolist() == (y.real * np.float32(0.1)).tolist()
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mm.float32(1) * 0.1j", "complex64"),
        ("mm.float32(1) * z", "complex64"),
        ("mm.complex64(0.1j) + z", "complex64"),
        ("mm.complex64(0.1j) + mm.float32(n)", "complex64"),
        ("mm.complex64(0.1j) + mm.float64(n)", "complex128"),
        ("mm.complex64(0.1j) + mm.int32(n)", "complex128"),
        ("mm.int32(1) * 0.1j", "complex128"),
        ("mm.float64(1) * mm.complex64(0.1j)", "complex128"),
        ("mm.complex128(0.1j) + mm.complex64(z)", "complex128"),
        ("complex(mm.float32(0.1), 0)", "complex128"),
    ],
)
def test_the_common_type_is_numpys(text, name):
    third = f"({text}) / 3"  # which is rounded otherwise in each type
    found = evaluate(third, z=[0.7j], n=[1])[0]
    assert bool(np.complex64(found).astype("complex128") == found) is (name == "complex64")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((f"z {op} 1", (f"no {op}", "abs(z), z.real or z.imag")) for op in ("<", "<=", ">", ">=")),
        *((f"z {op} 2", (f"no {op}", "z.real")) for op in ("//", "%")),
        ("divmod(z, 2)[0]", ("no //", "z.real")),
        ("z ** 2", ("no **", "write z * z")),
        ("min(z, 1)", ("no min", "compare abs(z)")),
        ("max(1, z)", ("no max", "compare abs(z)")),
        *((f"z {op} 1", (f"{op} takes integers",)) for op in ("&", "|", "^", "<<", ">>")),
        ("~z", ("~ takes an integer",)),
        ("int(z)", ("int(...) takes a real number", "write int(z.real)")),
        ("float(z)", ("float(...) takes a real number", "write float(z.real)")),
        ("mm.float32(z)", ("mm.float32(...) takes a real number", "write mm.float32(z.real)")),
        ("mm.uint8(z)", ("mm.uint8(...) takes a real number",)),
        ("complex(z, 1)", ("complex takes real numbers", "z.real")),
        ("math.sqrt(z)", ("sqrt takes real numbers", "abs(z), z.real or z.imag")),
        ("math.floor(z)", ("floor takes real numbers",)),
        ("mm.popc(z)", ("popc takes an integer",)),
        ("(1, 2)[z]", ("not a complex one", "int(z.real)")),
    ],
)
def test_what_complex_numbers_lack_is_refused_with_what_to_write(text, words):
    message = refused(text)
    for word in words:
        assert word in message


def test_a_complex_number_is_stored_in_complex_arrays_only():
    for dtype in ("float64", "int32"):
        assert f"which holds {dtype}; store its .real" in refused("z", dtype=dtype)
    assert "a number is stored in 'out', which holds bool" not in refused("z", dtype="bool")


def test_a_complex_number_is_no_index():
    assert "not a complex one; write int(z.real)" in refused("z_[z]", kind=AddressError)

    @mm.program
    def counted(T, a):
        for _ in range(a[0]):
            a[T.id] = 1

    with pytest.raises(TypeFault, match=r"range takes integers; write int\(z.real\)"):
        mm.DMM(2, 1).run(counted, np.zeros(2, complex), threads=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("z.conjugate(1)", "takes no number here"),
        ("complex()", "complex takes one number or two numbers here"),
        ("complex(1, 2, 3)", "complex takes one number or two numbers here"),
        ("cmath.exp(z)", "math's functions of z.real and z.imag"),
        ("np.conjugate(z)", "isn't in the language"),
        ("z.angle", "means nothing in a program"),
    ],
)
def test_what_isnt_in_the_language(text, words):
    with pytest.raises(LanguageError) as caught:
        evaluate(text, outside="import cmath\n", z=[1j])
    assert words in str(caught.value)


def test_the_exponential_that_the_advice_writes_is_cmaths():
    x = [0.0, 0.5, 2.0]
    found = evaluate("complex(math.cos(x), math.sin(x))", x=x)
    assert found.tolist() == [pytest.approx(cmath.exp(1j * one), rel=1e-15) for one in x]


def test_larger_complex_numbers_are_no_elements():
    with pytest.raises(LaunchError, match="complex64, complex128"):
        evaluate("z", z=np.zeros(2, "clongdouble"))
