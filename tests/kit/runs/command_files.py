"""The files that tests give to commands: a program with an example, and a script with a kernel."""

PROGRAM = """
import numpy as np
import mmsim as mm


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@copy.example
def example(width, size=16, seed=0):
    return mm.Example(np.arange(size), np.zeros(size, int), threads=size, block_size=8)
"""
KERNEL = """
import numpy as np
from numba import cuda


@cuda.jit
def copy(a, b):
    i = cuda.grid(1)
    b[i] = a[i]


copy[2, 32](np.zeros(64, np.float32), np.zeros(64, np.float32))
"""
