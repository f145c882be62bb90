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
if TYPE_CHECKING:
    from mmsim.names import *  # noqa: F403
    from mmsim.names import __all__ as __all__
    from mmsim.names import __version__ as __version__
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
