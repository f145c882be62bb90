"""mmsim: a cycle-accurate simulator of the memory machine models of GPUs.

Write an algorithm as one function of a thread, run it on a `DMM`, a `UMM` or an `HMM`, and see to
the time unit what its memory accesses cost:

>>> import numpy as np, mmsim as mm
>>> @mm.program
... def transpose(T, a, b):
...     i, j = T.id // a.shape[1], T.id % a.shape[1]
...     b[j, i] = a[i, j]
>>> a = np.arange(64).reshape(8, 8)
>>> mm.DMM(width=8, latency=2).run(transpose, a, np.zeros_like(a), threads=64).time
74
"""

TYPE_CHECKING = False  # without loading `typing`
if TYPE_CHECKING:  # the names of `mmsim.names`; a test compares
    from numpy import complex64 as complex64
    from numpy import complex128 as complex128
    from numpy import float16 as float16
    from numpy import float32 as float32
    from numpy import float64 as float64
    from numpy import int8 as int8
    from numpy import int16 as int16
    from numpy import int32 as int32
    from numpy import int64 as int64
    from numpy import uint8 as uint8
    from numpy import uint16 as uint16
    from numpy import uint32 as uint32
    from numpy import uint64 as uint64

    from mmsim.api.cards import H100 as H100
    from mmsim.api.cards import H200 as H200
    from mmsim.api.cards import Card as Card
    from mmsim.api.cards import card as card
    from mmsim.api.lab import lab as lab
    from mmsim.api.machines import DMM as DMM
    from mmsim.api.machines import HMM as HMM
    from mmsim.api.machines import UMM as UMM
    from mmsim.api.machines import Cached as Cached
    from mmsim.api.machines import Machine as Machine
    from mmsim.api.program import Program as Program
    from mmsim.api.program import program as program
    from mmsim.api.result import Run as Run
    from mmsim.api.result import compare as compare
    from mmsim.api.result import total as total
    from mmsim.api.tile_conflicts import conflicts as conflicts
    from mmsim.claims.fit import fit as fit
    from mmsim.cudart.raw import RawKernel as RawKernel
    from mmsim.cudart.raw import RawModule as RawModule
    from mmsim.errors import LanguageError as LanguageError
    from mmsim.errors import MMSimError as MMSimError
    from mmsim.errors import ProgramError as ProgramError
    from mmsim.frontend.program import Example as Example
    from mmsim.frontend.thread import atomic as atomic
    from mmsim.frontend.thread import warp as warp
    from mmsim.frontend.thread.intrinsics import brev as brev
    from mmsim.frontend.thread.intrinsics import clz as clz
    from mmsim.frontend.thread.intrinsics import exp10 as exp10
    from mmsim.frontend.thread.intrinsics import ffs as ffs
    from mmsim.frontend.thread.intrinsics import fma as fma
    from mmsim.frontend.thread.intrinsics import popc as popc
    from mmsim.frontend.thread.names import Array as Array
    from mmsim.frontend.thread.names import Thread as Thread
    from mmsim.frontend.thread.names import registers as registers
    from mmsim.frontend.thread.names import shared as shared
    from mmsim.frontend.thread.names import vector as vector
    from mmsim.model import layout as layout
    from mmsim.model.conflicts import Banks as Banks
    from mmsim.model.conflicts import Conflict as Conflict
    from mmsim.model.conflicts import Groups as Groups
    from mmsim.model.conflicts import InParts as InParts
    from mmsim.model.layout import place as place
    from mmsim.model.machines import Schedule as Schedule
    from mmsim.model.machines import Unit as Unit
    from mmsim.names import __version__ as __version__
    from mmsim.proof.cost import Cost as Cost
    from mmsim.proof.cost import cost as cost
    from mmsim.sweeps import sweep as sweep
    from mmsim.view import figures as figures
else:

    def __getattr__(name):
        """Load a name when it is first used; `mmsim.names` says from which module."""
        if name.startswith("_") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module 'mmsim' has no attribute {name!r}", name=name)
        import mmsim.names as names

        found = getattr(names, name) if name.startswith("_") else names.find(name)
        globals()[name] = found
        return found

    def __dir__():
        import mmsim.names as names

        return sorted({*globals(), *names.__all__, *names.ROOMS, "__all__", "__version__"})
