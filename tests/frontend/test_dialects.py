"""Two languages: a kernel of `numba.cuda` and a program of `mm.program` that are the same."""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda

PACKAGE = "mmsim.frontend"
FOLDER = Path(sys.modules[PACKAGE].__file__).parent


def larger(x, y):
    if x > y:
        return x
    return y


@cuda.jit
def block_max(a, b):
    s = cuda.shared.array(4, np.int64)
    i = cuda.threadIdx.x
    s[i] = a[cuda.grid(1)]
    cuda.syncthreads()
    n = cuda.blockDim.x // 2
    while n > 0:
        if i < n:
            s[i] = larger(s[i], s[i + n])
        cuda.syncthreads()
        n //= 2
    if i == 0:
        b[cuda.blockIdx.x] = s[0]


@mm.program
def the_same(T, a, b):
    s = mm.shared(4, np.int64)
    i = T.index
    s[i] = a[T.id]
    T.barrier()
    n = T.block_size // 2
    while n > 0:
        if i < n:
            s[i] = larger(s[i], s[i + n])
        T.barrier()
        n //= 2
    if i == 0:
        b[T.block] = s[0]


def test_a_kernel_of_the_other_language_is_the_same_program():
    machine = mm.HMM(2, 4, 5, 2)
    runs = []
    for program in (block_max, the_same):
        a, b = np.array([3, 1, 4, 1, 5, 9, 2, 6]), np.zeros(2, int)
        runs.append(machine.run(program, a, b, grid=2, block=4, schedule="asynchronous"))
        assert runs[-1].arrays["b"].tolist() == [4, 9]
    assert runs[0].time == runs[1].time
    costs = [[(row.array, row.kind, row.space, row.stages) for row in run.accesses] for run in runs]
    assert costs[0] == costs[1]


def test_a_wrapped_kernel_is_the_wrapper():
    @functools.wraps(block_max.py_func)
    def wrapped(a, b):
        a[0] = 1

    kernel, a = cuda.jit(wrapped), np.zeros(1)
    kernel[1, 1](a, np.zeros(1))
    assert a[0] == 1


ROOMS = {
    "thread": set(),
    "python": {"thread", "program"},
    "numba": {"python", "program"},
}
"""The rooms of the front end, with the others, and `program`, that their files may import."""


def imported_from(path):
    """The rooms and files of the front end that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield node.module.split(".")[2]


@pytest.mark.parametrize("room", ROOMS)
def test_programs_know_nothing_of_kernels(room):
    found = {one for path in (FOLDER / room).glob("*.py") for one in imported_from(path)} - {room}
    assert found == ROOMS[room]


def test_a_program_knows_no_parser():
    assert set(imported_from(FOLDER / "program.py")) == {"packed"}
