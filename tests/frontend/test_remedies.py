"""CUDA's and Numba's words are refused with what to write instead."""

import linecache
import re
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.errors import LanguageError, MMSimError
from mmsim.frontend.python.remedies import REMEDIES, TABLE
from tests.kit.generators.random_programs import define

DOCS = Path(__file__).parents[2] / "docs" / "cuda.md"
LAUNCH, SLICE = (one for one in REMEDIES if one.what in ("launch", "part of an array"))
NAMES = [(name, one) for one in REMEDIES for name in one.names]


def refusal(line, **outside):
    """The error of a program with this line."""
    source = f"def program(T, a):\n    {line}\n"
    filename = f"<{line}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"mm": mm, "np": np, "__name__": filename, **outside}
    exec(compile(source, filename, "exec"), namespace)
    with pytest.raises(LanguageError) as caught:
        mm.program(namespace["program"])
    return caught.value


@pytest.mark.parametrize(("name", "remedy"), NAMES, ids=[name for name, _ in NAMES])
def test_every_word_is_answered(name, remedy):
    if name.endswith("()") or "()." in name:
        forms = [f"{name}()", f"cuda.cg.{name}()"]
    else:
        called = [f"{name}(a, 0)", f"cuda.{name}(a, 0)", f"numba.cuda.{name}(1)", f"x = {name}(1)"]
        forms = [*called, f"x = cuda.{name}"]
    if name != "print":
        forms += [] if "." in name else [f"__{name}(1)"]
    for line in forms:
        error = refusal(line)
        assert error.advice == remedy.words, line
        assert error.place.line == 2


@pytest.mark.parametrize("name", ["x = cuda.threadIdx.y", "cuda.syncthreads()", "x = cuda.grid(1)"])
def test_words_of_numba_itself_are_answered(name):
    advice = refusal(name, cuda=cuda).advice
    assert advice == refusal(name).advice
    assert advice.startswith("write T.")


def test_a_module_goes_by_its_own_name():
    assert refusal("gpu.syncthreads()", gpu=cuda).advice == "write T.barrier()"
    assert refusal("x = numeric.sqrt(2.0)", numeric=np).advice == "write math.sqrt"
    assert "write loops" not in refusal("x = a.syncthreads()").advice


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("x = np.sqrt(2.0)", "write math.sqrt"),
        ("x = sqrtf(2.0)", "write math.sqrt"),
        ("x = __expf(2.0)", "write math.exp"),
        ("x = tgammaf(2.0)", "write math.gamma"),
        ("x = rsqrtf(2.0)", "write 1 / math.sqrt(x)"),
        ("x = fmaxf(2.0, 1.0)", "write max"),
        ("x = np.arctan2(2.0, 1.0)", "write math.atan2"),
        ("x = np.power(2.0, 1.0)", "write math.pow"),
        ("x = np.maximum(2.0, 1.0)", "write max"),
        ("x = np.abs(2.0)", "write abs"),
        ("x = np.gcd(2, 1)", "write a loop"),
        ("x = numba.int8(2)", "write mm.float32(x), or another type"),
        ("x = __clzll(2)", "write mm.clz(x), or mm.clz(mm.uint32(x)) for the 32 bits of x"),
        ("x = np.sum(a)", "write a loop"),
        ("x = np.zeros(3)", "mm.registers(size)"),
        ("x = numpy.dot(a, a)", "write a loop"),
        ("x = a[0:3]", SLICE.words),
        ("a[:] = 1", SLICE.words),
        ("T.syncthreads()", "write T.barrier()"),
        ("x = T.laneid", "write T.lane"),
        ("x = T.threadIdx", "write T.threadIdx.x, T.threadIdx.y or T.threadIdx.z"),
        ("x = T.blockIdx.w", "it has .x, .y and .z"),
        ("s = cuda.shared.array(32, float)", "write s = mm.shared(32, dtype=np.float32)"),
        ("i, j = cuda.grid(2)", "with two axes T.blockIdx.x * T.blockDim.x + T.threadIdx.x"),
    ],
)
def test_other_words(line, advice):
    assert advice in refusal(line).advice


def test_what_is_unknown_keeps_its_own_advice():
    assert refusal("x = foo(3)").advice == "define the function above the program"
    assert refusal("x = foo").advice.startswith("assign it first")
    grid = object()
    assert "T.id" not in refusal("x = grid(1)", grid=grid).advice
    assert "T.id" not in refusal("x = grid", grid=grid).advice


def test_a_launch_as_in_numba_is_answered():
    program = mm.program(define("def copy(T, a):\n    a[T.id] = 1\n", "copy"))
    with pytest.raises(MMSimError, match="a program is launched by a machine") as caught:
        program[2, 32](np.zeros(64))
    assert LAUNCH.words in str(caught.value)
    with pytest.raises(TypeError):
        list(program)


EXAMPLES = [one for one in REMEDIES if re.match(r"(mm\.(?!program)|math\.|T\.)", one.program)]


@pytest.mark.parametrize("remedy", EXAMPLES, ids=lambda one: one.program)
def test_what_to_write_is_in_the_language(remedy):
    """Each is tried as a value and as a statement; one of the two is what it is."""
    refused = []
    for line in (f"q = {remedy.program}", remedy.program):
        text = f"def program(T, a):\n    i = old = lane = delta = x = y = z = 1\n    {line}\n"
        try:
            mm.program(define(text, "program"))
        except LanguageError as error:
            refused.append(str(error))
    assert len(refused) < 2, refused
    assert len(EXAMPLES) > 40


def test_the_docs_have_the_table():
    assert TABLE in DOCS.read_text(encoding="utf-8")


def test_no_word_is_answered_twice():
    names = [name for name, _ in NAMES]
    assert len(names) == len(set(names))
    assert all(one.what and (one.cuda or one.numba) and one.words != "write " for one in REMEDIES)
