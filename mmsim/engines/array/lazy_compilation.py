"""Functions that Numba compiles if it pays: not for one short run with an empty cache.

Compiling the functions here takes seconds, unless an earlier run has kept them on the disk. Without
compiling, they do the work of a small run in far less time. So their work is counted, and they are
compiled when the work has taken about as long as compiling takes. This changes no result.
"""

from __future__ import annotations

from dataclasses import dataclass

eager = False
"""True if all, and all programs, are compiled when first called: `mmsim.bench.compiled_first`."""


class Pays(Exception):
    """Compiling takes less time than the rest of the interpretation."""


@dataclass
class LazilyCompiled:
    """A function with machine code kept under `name`, compiled after `enough` work."""

    name: str
    enough: int
    done: int = 0
    compiled: bool = False

    def pays(self, work: int) -> bool:
        """Return whether the next `work` should use the compiled function."""
        if not self.compiled:
            from mmsim.host import compiler  # loads Numba

            self.done += work
            enough = eager or self.done > self.enough or any(compiler.kept(self.name))
            self.compiled = enough and compiler.enabled()
        return self.compiled
