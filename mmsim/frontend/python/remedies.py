"""CUDA C's and Numba's names, and their replacements in a program.

The error message for one of these words gives the right one. docs/cuda.md has the same table.
"""

from __future__ import annotations

import ast
import math
import re
import types
from importlib.resources import files
from typing import NamedTuple

from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import NO_SLICE
from mmsim.frontend.python.scope import Captured, Missing
from mmsim.frontend.python.source import written
from mmsim.ir.dtypes import SUPPORTED
from mmsim.ir.functions import FUNCTIONS

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


VECTORS = ("float2", "float4", "int2", "int4", "uint2", "uint4", "double2", "longlong2")
"""CUDA's vector types, which are tuples in programs."""
BITS = ("popc", "clz", "brev", "ffs")

MORE: dict[str, tuple[str, ...]] = {
    "threads of a warp": ("warpSize",),
    "barrier of the grid": ("this_grid().sync",),
    "fence": ("threadfence_block", "threadfence_system"),
    "adjacent elements": tuple(f"{made}{kind}" for kind in VECTORS for made in ("", "make_")),
    "compare and swap": ("atomic.compare_and_swap",),
    "number of a type": tuple(name for name in SUPPORTED if name != "bool"),
    "output": ("printf", "print"),
    "clock": ("clock", "globaltimer"),
}
"""Refused words that are not in the texts, by what they are for."""

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
    "part of an array": NO_SLICE,
}
"""The advice where it is not to write the program's text."""


class Remedy(NamedTuple):
    """One feature as text of CUDA C, of Numba and of a program; "" for none."""

    what: str
    cuda: str
    numba: str
    program: str

    @property
    def names(self) -> tuple[str, ...]:
        """The refused words, without `cuda.` and `__` before them: of the texts, and `MORE`."""
        found = re.findall(r"cuda\.(?:cg\.)?([\w.]*\w)", self.numba)
        if found or not self.numba:
            found += re.findall(r"^_*(\w+)\(", self.cuda)
        found += MORE.get(self.what, ())
        axes = [name.removesuffix(".x") for name in found if name.endswith(".x")]
        found += [f"{name}{axis}" for name in axes for axis in ("", ".y", ".z")]
        found += [f"{name}ll" for name in found if name in BITS]
        return tuple(dict.fromkeys(found))

    @property
    def words(self) -> str:
        """The replacement, as text for a message."""
        program = self.program
        if program.endswith(".x"):
            return f"write {program}, {program[:-1]}y or {program[:-1]}z"
        if self.names[:1] and self.names[0] in BITS:
            wrapped = program.replace("(x)", "(mm.uint32(x))")
            return f"write {program}, or {wrapped} for the 32 bits of x"
        return ADVICE.get(self.what) or f"write {program}"


TABLE = files("mmsim.frontend.python").joinpath("texts/remedies.md").read_text(encoding="utf-8")
"""All of them, as in docs/cuda.md."""
REMEDIES = tuple(
    Remedy(*(cell.strip().strip("`").replace("\\|", "|") for cell in line.split(" |")[:4]))
    for line in TABLE.replace("\n| ", "\n").splitlines()[2:]
)
OF_NAME = {name: remedy for remedy in REMEDIES for name in remedy.names}


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
