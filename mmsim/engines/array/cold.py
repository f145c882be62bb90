"""Functions that Numba compiles where that pays: not for one short run with an empty cache.

Compiling the functions here takes seconds, unless they are kept on the disk from an earlier time;
without it, they do the work of a small run in far less. So what they do is counted, and they are
compiled once as much was done as takes about as long as compiling. That changes no result.
"""

from __future__ import annotations

from dataclasses import dataclass

eager = False
"""Whether all are compiled when they are first called: `mmsim.bench.compiled_first`."""


@dataclass
class Cold:
    """A function whose machine code is kept under `name`; compiled once it has done `enough`."""

    name: str
    enough: int
    done: int = 0
    warm: bool = False

    def pays(self, work: int) -> bool:
        """Whether to take the compiled function for so much more work."""
        if not self.warm:
            from mmsim.host import compiler  # loads Numba

            self.done += work
            self.warm = eager or self.done > self.enough or any(compiler.kept(self.name))
        return self.warm
