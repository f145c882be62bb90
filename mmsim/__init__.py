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
        """Load all names when the first is asked for: `mmsim --help` needs none of them."""
        if name in ("__all__", "__version__") or not name.startswith("__"):
            import mmsim.names as names

            public = ("__all__", "__version__", *names.__all__)
            globals().update({one: getattr(names, one) for one in public})
            if name in globals():  # a package that they have loaded is one, too
                return globals()[name]
            if not name.startswith("_"):
                return getattr(names, name)  # says what to write instead
        raise AttributeError(f"module 'mmsim' has no attribute {name!r}", name=name)

    def __dir__():
        __getattr__("__all__")
        return sorted(globals())
