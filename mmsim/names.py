"""The names of `mmsim`, and the modules that have them.

A module is loaded when the first of its names is used, so that a run loads only what it needs.
"""

import importlib
from typing import Any

from mmsim.host.version import VERSION

__version__ = VERSION

MODULES = {
    "numpy": "complex64 complex128 float16 float32 float64"
    " int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "mmsim.api.tile_conflicts": "conflicts",
    "mmsim.api.lab": "lab",
    "mmsim.api.cards": "H100 H200 Card card",
    "mmsim.api.machines": "DMM HMM UMM Cached Machine",
    "mmsim.api.program": "Program program",
    "mmsim.api.result": "Run compare total",
    "mmsim.claims.fit": "fit",
    "mmsim.cudart.raw": "RawKernel RawModule",
    "mmsim.errors": "LanguageError MMSimError ProgramError",
    "mmsim.frontend.thread": "atomic warp",
    "mmsim.frontend.thread.intrinsics": "brev clz exp10 ffs fma popc",
    "mmsim.frontend.thread.names": "Array Thread registers shared vector",
    "mmsim.frontend.program": "Example",
    "mmsim.model": "layout",
    "mmsim.model.conflicts": "Banks Conflict Groups InParts",
    "mmsim.model.layout": "place",
    "mmsim.model.machines": "Schedule Unit",
    "mmsim.sweeps": "sweep",
    "mmsim.proof.cost": "Cost cost",
    "mmsim.view": "figures",
}
"""The module of each name; `atomic`, `figures`, `layout` and `warp` are modules themselves."""

HOME = {name: module for module, names in MODULES.items() for name in names.split()}

__all__ = sorted(HOME)

ROOMS = frozenset({"api", "claims", "errors", "frontend", "host", "ir", "model", "results"})
ROOMS |= {"sweeps", "tabular", "view"}
"""The rooms that are attributes of `mmsim` without an import, such as `mmsim.claims`."""

INSTEAD = {
    "jit kernel": "@mm.program, or from mmsim import cuda and @cuda.jit",
    "GPU gpu device": "mm.HMM(dmms, width, global_latency)",
    "run simulate launch": "machine.run(program, ..., threads=)",
    "check racecheck": "machine.check(program, ..., threads=)",
    "syncthreads barrier": "T.barrier() in a program",
    "formula symbolic complexity": "mm.cost(program, shapes=, threads=, machine=)",
    "plot show": "run.plot(), or a function of mm.figures",
    "Layout layouts": "mm.layout",
    "claims Claim verify verify_claim": "from mmsim.claims import Claim, verify_claim",
    "cuda": "from mmsim import cuda",
    "local": "mm.registers",
    "trace": "machine.run(program, ..., threads=, trace=True).trace",
    "profile": "machine.run(program, ..., threads=).profile()",
    "save": "mm.figures.save(axes, path)",
}
"""Names that users of other tools expect, with what to write."""


def everything() -> dict[str, Any]:
    """Return what `mmsim` calls by which name; it loads all of the library."""
    return {name: find(name) for name in sorted(HOME.keys() | ROOMS)}


def find(name: str) -> Any:
    """Return what `mmsim` calls `name`. Raises `AttributeError`, with advice, for another name.

    >>> find("DMM")(width=4, latency=3)
    DMM(width=4, latency=3)
    """
    if name in HOME:
        return getattr(__import__(HOME[name], fromlist=[name]), name)
    if name in ROOMS:
        return importlib.import_module(f"mmsim.{name}")
    from mmsim.host.guesses import instead, unknown

    raise unknown("mmsim", name, __all__, instead(INSTEAD))
