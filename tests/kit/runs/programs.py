"""Small programs that many tests run."""

import mmsim as mm


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]
