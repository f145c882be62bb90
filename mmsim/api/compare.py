"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.host.guesses import advised
from mmsim.results import run

if TYPE_CHECKING:
    from mmsim.view.player import Comparison


@advised()
def compare(
    first: run.Run,
    second: run.Run,
    *,
    names: Sequence[str] | None = None,
    start: int = 0,
    end: int | None = None,
) -> Comparison:
    """Return two runs with traces side by side, to step through both at the same time.

    The runs may have any machines, programs and schedules, and several launches (`mm.total`). A
    notebook shows the page, `save` writes it, `widget()` makes a widget, `plot()` a figure.

    Parameters
    ----------
    first, second
        Runs made with trace=True.
    names
        Their names. Default: the settings in which they differ.
    start, end
        The first and the last time unit to show.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[2 * T.id]
    >>> dmm, umm = (
    ...     machine.run(read, np.arange(16), threads=8, trace=True)
    ...     for machine in (mm.DMM(4, 3), mm.UMM(4, 3))
    ... )
    >>> mm.compare(dmm, umm, names=["DMM", "UMM"])
    <DMM and UMM, time units 0 to 6>
    """
    from mmsim.view.player import Comparison

    return Comparison(first, second, names, start, end)
