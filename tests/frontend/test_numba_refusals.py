"""What a kernel asks of cuda where it can't stand: the error shows the kernel's own line."""

import linecache
import math
import re
import sys
import warnings
from collections import namedtuple
from enum import Enum

import numba
import numpy as np
import pytest
from numba import cuda as of_numba

import mmsim as mm
from mmsim import cuda as of_mmsim
from mmsim.errors import LanguageError

OTHERS = "call min, max"
BYTES = "give its bytes, as in kernel["
EXTENTS = "extents are whole numbers from 1 on"
REFUSED = {
    "a[0] = cuda.shared.array(0, numba.int64)[:4][0]": BYTES,
    "s = cuda.shared.array(0, numba.int64)[:4]": BYTES,
    "tile = cuda.shared.array((2, 0), numba.int64)[0]": EXTENTS,
    "a[0] = cuda.to_device(a)": OTHERS,
    "cuda.synchronize()": OTHERS,
    "a[0] = cuda.syncthreads()": "as a statement of its own",
    "a[0] = [1, 2]": "'[1, 2]' is a list; use a cuda.local.array",
    "a[0] = 1 + TABLE": "'1 + TABLE' is an array; read an element of it",
    "if (k := a[0] % 7) < 3: a[0] = k": "an assignment inside an expression isn't",
    "TABLE[0] = a[0]": "it is constant; make it a parameter and pass it to the kernel",
    "s = cuda.shared.array(cuda.threadIdx.x, numba.int64)": "a cuda.shared.array is not known "
    "before the launch; write numbers, or names of numbers outside of the kernel",
    "a[0] = ord('ab')": "ord takes one character, which is known before the launch",
    "a[0] = ord()": "ord",
    "for x in (range(2), range(3)): a[0] += len(x)": "are picked; take them one by one",
    # Arrays of odd shapes, with a name:
    "tile = cuda.shared.array(-1, numba.int64)": f"'tile' can't have an extent of -1; {EXTENTS}",
    "tile = cuda.local.array(0, numba.int64)": f"'tile' can't have an extent of 0; {EXTENTS}",
    "tile = cuda.shared.array((0, 2), numba.int64)": f"'tile' can't have an extent of 0; {EXTENTS}",
    "s = cuda.shared.array((), numba.int64)": "has an axis; write 1 for one element",
    "s = cuda.shared.array(0, numba.int64)\n    a[0] = s[:4][0]": BYTES,
}
VALUES = {
    "s = t = cuda.shared.array(4, numba.int64)\n    s[1] = 7\n    a[0] = t[1]": 7,
    "s, t = cuda.shared.array(4, numba.int64), 1\n    s[2] = t\n    a[0] = s[2]": 1,
    "s = made()\n    s[3] = 5\n    a[0] = s[3]": 5,
    "a[0] = len(cuda.local.array(4, numba.int64))": 4,
    "a[0] = filled(cuda.local.array(4, numba.int64))[2]": 2,
    "for x in filled(cuda.local.array(3, numba.int64)):\n        a[0] += x": 3,
    "a[0] = cuda.const.array_like(TABLE)[1]": 1,
    "a[:] = TABLE": 0,
}
TEXT = """\
def filled(x):
    for i in range(len(x)): x[i] = i
    return x
def made(): return cuda.shared.array(4, numba.int64)
def misses(x): return x + nowhere
def nothing(x): pass
def again(x): return again(x)
def two(x): return (1, x)
def named(**k): return 1
def sometimes(x):
    if x: return x
def kernel(a, z, none, pair, r, n):
    {}
"""
Pair = namedtuple("Pair", "x y")
OUTSIDE = {
    "TABLE": np.arange(4),
    "Colour": Enum("Colour", "RED"),
    "THING": object(),
    "BIG": 2**70,
    "EMPTY": (),
    "LIST": [1],
}


def launched(body, cuda):
    """The array of a launch of a kernel with this body, and the file of its text."""
    text, file = TEXT.format(body), f"<{body} {cuda.__name__} {__name__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"cuda": cuda, "numba": numba, "np": np, "math": math, **OUTSIDE}
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # 3(1)
        exec(compile(text, file, "exec"), names)
    args = (np.arange(4), 1j, None, Pair(1, 2), np.zeros(2, [("x", "f4"), ("n", "i8")]), 3)
    how = {"grid": 1, "block": 1, "schedule": "asynchronous"}
    return mm.HMM(1, 32, 5).run(cuda.jit(names["kernel"]), *args, **how).arrays["a"]


@pytest.mark.parametrize("cuda", [of_mmsim, of_numba], ids=["mmsim", "numba"])
@pytest.mark.parametrize("body", REFUSED)
def test_the_line_of_the_kernel_is_shown(body, cuda):
    with pytest.raises(mm.MMSimError) as caught:
        launched(body, cuda)
    assert isinstance(caught.value, LanguageError) or "an extent of" in str(caught.value)
    assert caught.value.place.file == f"<{body} {cuda.__name__} {__name__}>"
    assert caught.value.place.text.strip() in body
    assert REFUSED[body] in str(caught.value)


@pytest.mark.parametrize("cuda", [of_mmsim, of_numba], ids=["mmsim", "numba"])
@pytest.mark.parametrize("body", VALUES)
def test_an_array_needs_no_name(body, cuda):
    assert launched(body, cuda)[0] == VALUES[body]


# The body of a kernel with the refused text between guillemets, and words of the message.
MESSAGES = {
    # Names:
    "a[0] = «undefined»": "the name 'undefined' means nothing here; assign it first, make it",
    "a[0] = «id»(n)": f"the call of 'id' isn't in the language of programs; {OTHERS}",
    "a[0] = «THING»": "'THING' is an object from outside the program; numbers, tuples, tables",
    "a[0] = «BIG»": "the integer 1180591620717411303424 doesn't fit into 64 bits; programs compute",
    "a[0] = «1180591620717411303424»": "doesn't fit into 64 bits; programs compute with integers",
    "«a[0] = never; never = 1»": "'never' has no value here; assign it before",
    # Attributes:
    "a[0] = «a.foo»": "'a.foo' doesn't exist; it has shape, size, ndim, dtype",
    "«a.foo = 1»": "'a.foo' doesn't exist; it has shape, size, ndim, dtype",
    "a[0] = «pair.z»": "'pair.z' doesn't exist; it has x, y",
    "a[0] = «r[0].z»": "'r[0].z' doesn't exist; it has x, n",
    "«r[0]».z = 1": "'r[0].z' doesn't exist; it has x, n",
    "a[0] = «cuda.threadIdx.w»": "'cuda.threadIdx.w' doesn't exist; it has x, y, z",
    "a[0] = «cuda.int32x2(1, 2).z»": "'cuda.int32x2(1, 2).z' doesn't exist; it has x, y",
    "a[0] = «n.foo»": "'n.foo' doesn't exist; it has real, imag",
    "a[0] = «math.foo»(1)": "'math.foo' doesn't exist",
    "a[0] = «math.comb»(4, 2)": "the call of 'math.comb' isn't in the language of",
    "a[0] = «np.spacing(1.5)»": "the call of 'spacing' isn't in the language of",
    "a[0] = «a.flags».contiguous": "an array has no 'flags' here",
    "a[0] = «r['z']»[0]": "'r' has no such field; it has x, n",
    # Kinds of values:
    "«a[0] = a»": "'a' is an array; read an element of it, with a number for each axis",
    "«a[0] = (1, 2)»": "'(1, 2)' is a tuple; take its values one by one",
    "«a[0] = {1, 2}»": "'{1, 2}' is a set; use a cuda.local.array",
    "«a[0] = {1: 2}»": "'{1: 2}' is a dict; use arrays",
    "«a[0] = 'text'»": "is a string; programs compute with numbers only",
    "a[0] = «n + none»": "'none' is None; give it a number",
    "a[0] = «nothing(1) + 1»": "'nothing' has no value; write nothing() as a statement of its own",
    "a[0] = «r[0] + 1»": "'r[0]' is a record; read a field of it",
    "«a[0] = Colour.RED»": "'Colour.RED' is a member of an enumeration; write Colour.RED.value",
    "«a[0] = Colour»": "'Colour' is an enumeration; write the value of a member",
    "«a[0] = math»": "'math' is a module; write a name in it",
    "«a[0] = cuda.grid»": "'cuda.grid' is a function; call it, as cuda.grid(...)",
    "«a[0] = cuda.threadIdx»": "'cuda.threadIdx' is not a number; write cuda.threadIdx.x, .y or .z",
    "b = a + 1": "an array stands where a number must; read an element of it, or loop over it",
    "a[0] = 1\n    if n: x = 1\n    else: x = a\n    «a[0] = x»": "'x' is array(int64",
    "a[0] = a if n else 1": "on one way and 1 on another; give it one kind of value",
    "«np.sin(a, r)»": "the result needs an array of numbers; give one as the last argument",
    "«a[1:] = a[:-1]»": "an array is stored in another part of itself; write a loop",
    "«a[:] = a[::-1]»": "an array is stored in another part of itself; write a loop",
    # Elements:
    "«LIST»[0] = 1": "constants and tuples stay as they are",
    "«TABLE»[0] = 1": "'TABLE' is an array from outside the program; it is constant; make it a",
    "«(1, 2)»[0] = 3": "'(1, 2)' is a tuple, whose values stay as they are; assign a new tuple",
    "a[0] = «cuda.blockDim[0]»": "'cuda.blockDim' is not a number; write cuda.blockDim.x, .y or .z",
    "«n[0] = 1»": "'n' is int64; only arrays and tuples have elements",
    "a[0] = «a[0, 0]»": "'a' has 1 axis, and the index 2 numbers; write a number for each axis",
    "a[0] = «a[1.5]»": "'a[1.5]' has no meaning for an array of int64 and float64",
    "a[0] = «(1, 2)[5]»": "the tuple has no such value; count from 0",
    "a[0] = «(1, a)[n]»": "the values of '(1, a)' are of several kinds; write a number as the",
    "«x, y» = n": "'n' is int64; only arrays and tuples have elements",
    "«x, y» = 1, 2, 3": "2 names can't take 3 values; write as many",
    "«for x in n: pass»": "'n' is int64; only arrays and tuples have elements",
    "«for x in 'ab': pass»": "this can't be looped over; loop over a range, an array or a tuple",
    "«r[0] = 1»": "'r[0] = 1' has no meaning for an array, int64 and int64",
    # Calls and operators:
    "a[0] = «n(1)»": "'n' is int64, not a function; write it without ()",
    "a[0] = «a.ravel()»[0]": "an array has no method 'ravel' here; a kernel gets no new memory",
    "a[0] = «np.zeros(3)»[0]": "the call of 'np.zeros' isn't in the language of",
    "a[0] = «math.erf(z)»": "erf takes real numbers, and this one is complex; give it abs(z)",
    "a[0] = «float(z)»": "float takes real numbers, and this one is complex; give it abs(z)",
    "«a[0] = z»": "'z' is complex, and 'a' holds real numbers; write z.real",
    "a[0] = «z < z»": "'z < z' has no meaning for complex128 and complex128",
    "a[0] = «~1.5»": "'~1.5' has no meaning for float64",
    "a[0] = «float('x')»": "'x' is not a float; write float('inf') or float('nan')",
    "a[0] = misses(1)": "the name 'nowhere' means nothing here",
    "a[0] = «nothing()»": "'nothing' can't be called so: missing a required argument: 'x'",
    "a[0] = «named(x=1)»": "'named' takes **k, which kernels don't have",
    "a[0] = again(1)": "'again' calls itself; write a loop: kernels have no recursion",
    "«a[0] = two(1)»": "'two(1)' is a tuple; take its values one by one",
    # Words:
    "a[0] = «cuda.grid(4)»": "'cuda.grid' takes 1, 2 or 3; write the number of axes",
    "a[0] = «cuda.grid()»": "'cuda.grid' takes ndim; write cuda.grid(ndim)",
    "«cuda.syncthreads(1)»": "'cuda.syncthreads' takes no arguments; write cuda.syncthreads()",
    "«cuda.atomic.add(a, (0, 0), 1)»": "the array has 1 axes, and the index 2; write a number for",
    "«cuda.stcg(a, 0, (1, 2))»": "no meaning for (array: array(int64, 1d, C), i: int64, value: Uni",
    "a[0] = «cuda.ldca(a, slice(2))»": "no meaning for (array: array(int64, 1d, C), i: slice",
    "«cuda.atomic.add(TABLE, 0, 1)»": "an atomic needs an array of numbers; make it a parameter",
    "w = cuda.local.array(2, 'i8')\n    «cuda.atomic.add(w, 0, 1)»": "array that threads share",
    "«cuda.atomic.add(n, 0, 1)»": "no meaning for (array: int64, index: int64, value: int64)",
    "a[0] = «cuda.int32x3(1, 2)».x": "'cuda.int32x3' takes 3 numbers, not 2",
    "a[0] = «cuda.int32x1(a)».x": "'cuda.int32x1' has no meaning for (x: array(int64, 1d, C))",
    "a[0] = «cuda.shfl_sync(1, a, 2)»": "(mask: int64, value: array(int64, 1d, C), src_lane",
    "a[0] = «cuda.all_sync(1.5, 1)»": "no meaning for (mask: float64, predicate: int64)",
    "a[0] = «cuda.all_sync(1, 1.5)»": "no meaning for (mask: int64, predicate: float64)",
    "a[0] = «cuda.syncthreads_or(1.5)»": "no meaning for (predicate: float64)",
    "a[0] = «cuda.selp(1, a, 2)»": "no meaning for (test: int64, x: array(int64, 1d, C), y: int",
    "a[0] = «cuda.popc(z)»": "'cuda.popc' has no meaning for (value: complex128)",
    "«s = cuda.shared.array(4, 5)»": "int64 is not a type of elements; write a type, as numba.",
    "«s = cuda.shared.array(4, 'foo')»": "'foo' is not a type of elements; write a type, as numba.",
    "«s = cuda.shared.array(4, 'i8', n)»": "the alignment of a cuda.shared.array is not a number",
    # Python that kernels don't have:
    "x = «[]»": "a list isn't in the language of programs; use a cuda.local.array",
    "a[0] = «[1, 2]»[0]": "a list isn't in the language of programs; use a cuda.local.array",
    "a[0] = «[i for i in range(3)]»[0]": "a list comprehension isn't in the language of programs",
    "a[0] = «{i for i in range(3)}»": "a set comprehension isn't in the language of programs",
    "a[0] = sum(«(i for i in a)»)": "a generator expression isn't in the language of programs",
    "a[0] = «f'{n}'»": "a string isn't in the language of programs; programs compute with numbers",
    "«with a as x: pass»": "with isn't in the language of programs; write its body alone",
    "«with a: pass»": "with isn't in the language of programs; write its body alone",
    "«del a[0]»": "del isn't in the language of programs",
    "«import os»": "import isn't in the language of programs; import outside the program",
    "from pdb import set_trace; «set_trace()»": "no debugger stops in a simulated launch",
    "«breakpoint()»": "no debugger stops in a simulated launch; set MMSIM_PYTHON=1 in the",
    "«global BIG»; BIG = 1": "global isn't in the language of programs; pass numbers as parameters",
    "«class C: pass»": "a class isn't in the language of programs",
    "«try: a[0] = 1»\n    finally: a[1] = 1": "try isn't in the language of programs; avoid the",
    "try:\n        «a[0] = 1»\n    finally: a[1] = 1": "try isn't in the language of programs",
    "«yield 1»": "yield isn't in the language of programs; programs store their results in arrays",
    "«raise ValueError(a)»": "an exception takes numbers and text in a kernel; leave its arguments",
    "«raise 3»": "only exceptions can be raised; write one, as ValueError",
    "«return 1»": "the kernel 'kernel' returns a value; store it in an array, or make this",
}


@pytest.mark.parametrize("body", MESSAGES)
def test_a_message_says_what_is_wrong_and_where(body):
    with pytest.raises(LanguageError) as caught:
        launched(body.replace("«", "").replace("»", ""), of_mmsim)
    assert MESSAGES[body] in str(caught.value)
    found, first, last = caught.value.place, *map(body.find, "«»")
    text = body[first + 1 : last]
    if sys.version_info >= (3, 13):  # what is looped over has a place of its own
        text = re.sub("^for x in (.*): pass$", r"\1", text)
    if first >= 0:
        assert found.text[found.column : found.end_column] == text


def test_what_has_an_effect_stands_alone():
    effects = "nothing(1); two(1); a[0]; cuda.syncthreads(); cuda.threadfence(); cuda.atomic.add"
    assert launched(f"{effects}(a, 0, 1)", of_mmsim)[0] == 1


def test_dynamic_memory_with_a_name_is_cut_into_parts():
    @of_mmsim.jit
    def kernel(a):
        s = of_mmsim.shared.array(0, numba.int64)
        first, rest = s[:2], s[2:]
        first[0] = 5
        rest[1] = 7
        for k in range(4):
            a[k] = s[k] * (k % 3 == 0)

    a = np.arange(4)
    kernel[1, 1, 0, 32](a)
    assert a.tolist() == [5, 0, 0, 7]


IDLE = """
cuda.shared.array(4, numba.int64)
cuda.grid(1)
a[0] + 1
a[0] == 3
(1, a[0])
math.sqrt(a[0])
""".strip().splitlines()


@pytest.mark.parametrize("body", IDLE)
def test_a_statement_that_does_nothing_is_a_warning(body):
    with pytest.warns(UserWarning, match="this statement does nothing"):
        launched(body, of_mmsim)
