"""The last launch of a kernel, and what can be seen of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmsim.api.machines import Machine
from mmsim.api.result import Run
from mmsim.cuda import stepping
from mmsim.cuda.launches import Launched
from mmsim.errors import MMSimError
from mmsim.results import Profile

if TYPE_CHECKING:
    from mmsim.view.player import Player


class Launchable:
    """A kernel that launches; the base of kernels of Python and of CUDA C++."""

    __name__: str
    _launched: Launched | None = None
    _launch_text = "{name}[grid, block](...)"
    """A launch, as text."""

    @property
    def last(self) -> Run | None:
        """The last launch; None before the first."""
        return None if self._launched is None else self._launched.run

    def profile(self) -> Profile:
        """Return the kernel's source, line by line, with each line's cost in the last launch."""
        return self._last_launch().run.profile()

    def verdict(self) -> str:
        """Return a paragraph about the last launch: conflicts, findings, and what was not checked.

        Launches are checked under `mmsim cuda --check` and `pytest --cuda-check`.
        """
        from mmsim.cuda.report import verdict  # loads what draws tables

        return verdict(self._last_launch())

    def _last_launch(self) -> Launched:
        if self._launched is None:
            call = self._launch_text.format(name=self.__name__)
            raise MMSimError(
                f"kernel {self.__name__!r} hasn't been launched yet; launch it as {call}"
            )
        return self._launched

    def player(
        self,
        *,
        machine: Machine | None = None,
        start: int = 0,
        end: int | None = None,
        preset: str | None = None,
    ) -> Player:
        """Return a page to step through the last launch in a browser or a notebook.

        The launch runs again, with the same arguments, unless `cuda.trace` recorded it.

        Parameters
        ----------
        machine
            Default: the machine of `cuda.machine`. If none was chosen, a small machine with the
            same warps and banks, as the default machine's latencies are too long.
        start, end, preset
            The first and the last time unit to show (default: all), and with which moments to
            begin, as for `Run.player`.

        Raises
        ------
        MMSimError
            Before the first launch, and after one with more than 256 KiB of arrays, which
            `cuda.trace` can record.

        Examples
        --------
        >>> import numpy as np
        >>> from mmsim import cuda
        >>> @cuda.jit
        ... def twice(a):
        ...     a[cuda.grid(1)] *= 2
        >>> twice[2, 32](np.ones(64, np.float32))
        >>> twice.player()
        <player of twice, time units 0 to 11>
        """
        return stepping.player(self.__name__, self._last_launch(), machine, start, end, preset)
