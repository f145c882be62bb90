"""The names of `mmsim`. It loads them when the first of them is used."""

from numpy import (
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

from mmsim.api.compare import compare
from mmsim.api.conflicts import conflicts
from mmsim.api.machines import DMM, HMM, UMM, Cached, Machine
from mmsim.api.program import Program, program
from mmsim.api.run import Run, total
from mmsim.claims.fit import fit
from mmsim.errors import LanguageError, MMSimError, ProgramError
from mmsim.frontend import atomic, warp
from mmsim.frontend.intrinsics import brev, clz, exp10, ffs, fma, popc
from mmsim.frontend.names import Array, Thread, registers, shared, vector
from mmsim.frontend.program import Example
from mmsim.host.guesses import guessed_in
from mmsim.host.version import VERSION
from mmsim.model import layout
from mmsim.model.conflicts import Banks, Conflict, Groups, InParts
from mmsim.model.layout import place
from mmsim.model.machines import Schedule, Unit
from mmsim.sweeps import sweep
from mmsim.view import figures

__version__ = VERSION

__all__ = [
    "DMM",
    "HMM",
    "UMM",
    "Array",
    "Banks",
    "Cached",
    "Conflict",
    "Example",
    "Groups",
    "InParts",
    "LanguageError",
    "MMSimError",
    "Machine",
    "Program",
    "ProgramError",
    "Run",
    "Schedule",
    "Thread",
    "Unit",
    "atomic",
    "brev",
    "clz",
    "compare",
    "complex64",
    "complex128",
    "conflicts",
    "exp10",
    "ffs",
    "figures",
    "fit",
    "float32",
    "float64",
    "fma",
    "int8",
    "int16",
    "int32",
    "int64",
    "layout",
    "place",
    "popc",
    "program",
    "registers",
    "shared",
    "sweep",
    "total",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "vector",
    "warp",
]

guessed_in(
    __name__,
    "mmsim",
    __all__,
    {
        "jit kernel": "@mm.program, or from mmsim import cuda and @cuda.jit",
        "GPU gpu device": "mm.HMM(dmms, width, global_latency)",
        "run simulate launch": "machine.run(program, ..., threads=)",
        "check racecheck": "machine.check(program, ..., threads=)",
        "syncthreads barrier": "T.barrier() in a program",
        "plot show": "run.plot(), or a function of mm.figures",
        "Layout layouts": "mm.layout",
        "claims Claim verify verify_claim": "from mmsim.claims import Claim, verify_claim",
        "cuda": "from mmsim import cuda",
        "local": "mm.registers",
        "trace": "machine.run(program, ..., threads=, trace=True).trace",
        "profile": "machine.run(program, ..., threads=).profile()",
        "save": "mm.figures.save(axes, path)",
    },
)
