"""CUDA C's and Numba's names, and their replacements in a program.

The error message for one of these words gives the right one. docs/cuda.md has
the same as a table.
"""

from __future__ import annotations

import ast
import math
import re
import types
from typing import NamedTuple

from mmsim.frontend.program import LAUNCH as LAUNCHED
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import NO_SLICE
from mmsim.frontend.python.scope import Captured, Missing
from mmsim.frontend.python.source import written
from mmsim.ir.dtypes import SUPPORTED
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.nodes import AXES

PREFIX = re.compile(r"(\w+\.)*(cuda|cg|cooperative_groups|numba)\.|__")
"""Prefixes that change nothing."""
NUMPY = re.compile(r"(np|numpy|cp|cupy)\.")
ARRAYS = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "arange")
"""NumPy's functions that make arrays."""
OF_C = {known.c: f"math.{name}" for name, known in FUNCTIONS.items() if hasattr(math, name)} | {
    **{one.c: f"mm.{name}" for name, one in FUNCTIONS.items() if one.own and one.takes == "float"},
    "rsqrt": "1 / math.sqrt(x)",
    **{"fmin": "min", "fmax": "max", "minimum": "min", "maximum": "max"},
    **{"absolute": "abs", "abs": "abs"},
}
"""Functions of C's library, and of NumPy, with their names in a program."""


class Remedy(NamedTuple):
    """One feature as text of CUDA C, of Numba and of a program; "" for none.

    Its `names` are the refused words, without `cuda.` and `__` before them: those of the texts, and
    `more`. The advice is to write `program`, or `advice` if it gives more detail.
    """

    what: str
    cuda: str
    numba: str
    program: str
    more: tuple[str, ...] = ()
    advice: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The refused words."""
        found = re.findall(r"cuda\.(?:cg\.)?([\w.]*\w)", self.numba)
        if found or not self.numba:
            found += re.findall(r"^_*(\w+)\(", self.cuda)
        return tuple(dict.fromkeys([*found, *self.more]))

    @property
    def words(self) -> str:
        """The replacement, as text for a message."""
        return self.advice or f"write {self.program}"


def _index(what: str, name: str) -> Remedy:
    names = (name, *(f"{name}.{axis}" for axis in AXES))
    advice = f"write T.{name}.x, T.{name}.y or T.{name}.z"
    return Remedy(what, f"{name}.x", f"cuda.{name}.x", f"T.{name}.x", names, advice)


def _barrier(returned: str, op: str) -> Remedy:
    name, what = f"syncthreads_{op}", f"barrier that returns {returned}"
    return Remedy(what, f"__{name}(x)", f"cuda.{name}(x)", f"T.barrier_{op}(x)", (name,))


def _atomic(op: str, cuda: str, numba: str) -> Remedy:
    numba = f"atomic.{numba}(a, i, x)"
    return Remedy(f"atomic {op}", f"{cuda}(&a[i], x)", f"cuda.{numba}", f"mm.{numba}")


def _votes(what: str, name: str, program: str, operands: str = "x") -> Remedy:
    cuda, numba = f"__{name}(mask, {operands})", f"cuda.{name}(mask, {operands})"
    return Remedy(what, cuda, numba, f"mm.warp.{program}({operands})")


def _bits(what: str, name: str) -> Remedy:
    program = f"mm.{name}(x)"
    advice = f"write {program}, or mm.{name}(mm.uint32(x)) for the 32 bits of x"
    return Remedy(what, f"__{name}(x)", f"cuda.{name}(x)", program, (f"{name}ll",), advice)


LAUNCH = Remedy("launch", "f<<<grid, block>>>(a)", "f[grid, block](a)", LAUNCHED)
SLICE = Remedy("part of an array", "", "a[i:j]", "for k in range(i, j): ... a[k]", (), NO_SLICE)

VECTORS = ("float2", "float4", "int2", "int4", "uint2", "uint4", "double2", "longlong2")
"""CUDA's vector types, which are tuples in programs."""
POSITION = "blockIdx.x * blockDim.x + threadIdx.x"
GRID_SYNC = "this_grid().sync"

MORE: dict[str, tuple[str, ...]] = {
    "threads of a warp": ("warpSize",),
    "barrier of the grid": (GRID_SYNC,),
    "fence": ("threadfence_block", "threadfence_system"),
    "adjacent elements": tuple(f"{made}{kind}" for kind in VECTORS for made in ("", "make_")),
    "compare and swap": ("atomic.compare_and_swap",),
    "number of a type": tuple(name for name in SUPPORTED if name != "bool"),
    "output": ("printf", "print"),
    "clock": ("clock", "globaltimer"),
}
"""Refused words that are not in the texts."""

ADVICE = {
    "number of a thread in the launch": "write T.id; with two axes T.blockIdx.x * T.blockDim.x + "
    "T.threadIdx.x, and the same in y",
    "threads of a warp": "pass the machine's width as a parameter",
    "fence": "leave it out: memory takes effect in the order of the dispatches",
    "adjacent elements": "write x, y = mm.vector(a, 2)[i]; a vector is a tuple",
    "constant table": "read the table itself, as TABLE[i]",
    "number of a type": "write mm.float32(x), or another type of NumPy's by its name",
    "output": "store the value in an array, as a[T.id] = x, or step through it: trace=True, "
    "run.player()",
    "clock": "leave it out: the run has the time of each line, by run.time and run.profile()",
}
"""The advice where it is not to write the program's text."""


def _plain(what: str, cuda: str, numba: str, program: str) -> Remedy:
    return Remedy(what, cuda, numba, program, MORE.get(what, ()), ADVICE.get(what, ""))


REMEDIES = (
    _index("place of a thread in its block", "threadIdx"),
    _index("place of a block in the grid", "blockIdx"),
    _index("extents of a block", "blockDim"),
    _index("extents of the grid", "gridDim"),
    _plain("number of a thread in the launch", POSITION, "cuda.grid(1)", "T.id"),
    _plain(
        "number of threads in the launch", "gridDim.x * blockDim.x", "cuda.gridsize(1)", "T.count"
    ),
    _plain("lane in the warp", "threadIdx.x % warpSize", "cuda.laneid", "T.lane"),
    _plain("threads of a warp", "warpSize", "cuda.warpsize", "a parameter"),
    _plain("barrier of the block", "__syncthreads()", "cuda.syncthreads()", "T.barrier()"),
    _barrier("whether x holds for any", "or"),
    _barrier("whether x holds for all", "and"),
    _barrier("for how many x holds", "count"),
    _plain("barrier of the grid", f"{GRID_SYNC}()", f"cuda.cg.{GRID_SYNC}()", "T.grid_barrier()"),
    _plain("fence", "__threadfence()", "cuda.threadfence()", ""),
    _plain(
        "shared array",
        "__shared__ float s[32];",
        "s = cuda.shared.array(32, float32)",
        "s = mm.shared(32, dtype=np.float32)",
    ),
    _plain(
        "array of a thread",
        "float r[4];",
        "r = cuda.local.array(4, float32)",
        "r = mm.registers(4, dtype=np.float32)",
    ),
    _plain("adjacent elements", "((float4 *)a)[i]", "", "mm.vector(a, 4)[i]"),
    _plain(
        "constant table", "__constant__ float t[4];", "t = cuda.const.array_like(TABLE)", "TABLE[i]"
    ),
    _atomic("addition", "atomicAdd", "add"),
    _atomic("subtraction", "atomicSub", "sub"),
    _atomic("maximum", "atomicMax", "max"),
    _atomic("minimum", "atomicMin", "min"),
    _atomic("and", "atomicAnd", "and_"),
    _atomic("or", "atomicOr", "or_"),
    _atomic("exclusive or", "atomicXor", "xor"),
    _atomic("exchange", "atomicExch", "exch"),
    _atomic("increment", "atomicInc", "inc"),
    _atomic("decrement", "atomicDec", "dec"),
    _plain(
        "compare and swap",
        "atomicCAS(&a[i], old, x)",
        "cuda.atomic.cas(a, i, old, x)",
        "mm.atomic.cas(a, i, old, x)",
    ),
    _votes("value of a lane", "shfl_sync", "shuffle", "x, lane"),
    _votes("value of a lane below", "shfl_up_sync", "shuffle_up", "x, delta"),
    _votes("value of a lane above", "shfl_down_sync", "shuffle_down", "x, delta"),
    _votes("value of the lane lane ^ delta", "shfl_xor_sync", "shuffle_xor", "x, delta"),
    _votes("lanes for which x holds", "ballot_sync", "ballot"),
    _votes("whether x holds for any lane", "any_sync", "any"),
    _votes("whether x holds for all lanes", "all_sync", "all"),
    _votes("lanes with the same x", "match_any_sync", "match_any"),
    _votes("whether all lanes have the same x", "match_all_sync", "match_all"),
    _plain("active lanes", "__activemask()", "cuda.activemask()", "mm.warp.active_mask()"),
    _plain("barrier of the warp", "__syncwarp()", "cuda.syncwarp()", "mm.warp.sync()"),
    _bits("bits that are set", "popc"),
    _bits("leading zeros", "clz"),
    _bits("bits reversed", "brev"),
    _bits("first bit that is set", "ffs"),
    _plain("fused product and sum", "fma(x, y, z)", "cuda.fma(x, y, z)", "mm.fma(x, y, z)"),
    _plain("power of 10", "exp10(x)", "cuda.libdevice.exp10(x)", "mm.exp10(x)"),
    _plain("choice of a value", "test ? x : y", "cuda.selp(test, x, y)", "x if test else y"),
    _plain("square root and the like", "sqrt(x)", "math.sqrt(x)", "math.sqrt(x)"),
    _plain("number of a type", "(float)x", "float32(x)", "mm.float32(x)"),
    _plain("output", 'printf("%d", x);', "print(x)", "a[T.id] = x"),
    _plain("clock", "clock64()", "", ""),
    _plain("kernel", "__global__ void f(...)", "@cuda.jit", "@mm.program"),
    LAUNCH,
    SLICE,
)
"""All of them, in the order of the table."""

OF_NAME = {name: remedy for remedy in REMEDIES for name in remedy.names}


def table() -> str:
    """The table of the docs, in Markdown."""

    def cell(text: str) -> str:
        escaped = text.replace("|", "\\|")
        return f"`{escaped}`" if text else ""

    head = ["| what | CUDA C | Numba | mmsim |", "| --- | --- | --- | --- |"]
    rows = (
        f"| {one.what} | {cell(one.cuda)} | {cell(one.numba)} | {cell(one.program)} |"
        for one in REMEDIES
    )
    return "\n".join([*head, *rows]) + "\n"


def remedy(node: ast.expr, function: Function) -> str | None:
    """The replacement for a word that a program can't have; None for an unknown one."""
    text = _full_name(node, function)
    if text is None:
        return None
    if found := NUMPY.match(text):
        return _of_numpy(text[found.end() :])
    known = OF_NAME.get(text)
    while known is None and (found := PREFIX.match(text)):
        text = text[found.end() :]
        known = OF_NAME.get(text)
    if known is not None:
        return known.words
    of_c = OF_C.get(text) or OF_C.get(text.removesuffix("f"))  # such as sqrtf
    return None if of_c is None else f"write {of_c}"


def _of_numpy(name: str) -> str:
    """The replacement for a function of NumPy."""
    of_c = "pow" if name == "power" else re.sub("^arc", "a", name)
    if of_c in OF_C:
        return f"write {OF_C[of_c]}"
    if name in ARRAYS:
        return "make arrays outside, or by mm.shared(shape) and mm.registers(size)"
    return "programs compute with one number at a time: write a loop, or call it outside"


def _full_name(node: ast.expr, function: Function) -> str | None:
    """A dotted name with the real name of its module; None for the user's own objects."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    text = written(node)
    if not isinstance(root, ast.Name):
        return text
    entity = function.entity(root.id)
    if isinstance(entity, Missing):
        return text
    if not isinstance(entity, Captured):
        return None
    if isinstance(entity.value, types.ModuleType):
        module = str(vars(entity.value).get("__name__"))
        return module + text[len(root.id) :]
    return text if entity.value is print else None
