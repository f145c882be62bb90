"""A small example program, for measurements that work with any program."""

from __future__ import annotations

import mmsim as mm


@mm.program
def permute(T: mm.Thread, a: mm.Array, p: mm.Array, b: mm.Array) -> None:
    i = T.id
    b[p[i]] = a[i]
