"""Objects with a method `plot`, which calls a function of `mmsim.view`.

The model doesn't import figures. `mmsim.view.figures` enters its functions in `FIGURES`. It is
loaded when the first of them is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mmsim.tabular import Entered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = Entered("figures")
"""The drawing functions, by the name of the drawn object."""

BANKS = 32
"""The banks of a GPU's shared memory."""


class DrawnLayout:
    """A layout with a method that draws its tiles."""

    @property
    def banks(self) -> int:
        """The default number of banks of its figure."""
        return BANKS

    def plot(
        self,
        shape: tuple[int, ...] | None = None,
        access: Callable[[int, int], int | tuple[int, ...] | None]
        | DrawnLayout
        | str
        | None = None,
        *,
        bytes: int = 4,  # as `mmsim.conflicts` calls it
        vector: int = 1,
        kind: str = "read",
        value: int = 0,
        threads: int = 32,
        banks: int | None = None,
        axes: Axes | None = None,
    ) -> Axes:
        """Draw a tile of shape `shape`, each element in the colour of its bank.

        As `mmsim.figures.layout`, which describes the parameters.

        >>> import mmsim as mm
        >>> mm.layout.Padded(1).plot((4, 4), banks=4).texts[4].get_text()  # row 1: banks 1, 2, 3, 0
        '1\\n5'
        """
        how = {"bytes": bytes, "vector": vector, "kind": kind, "value": value, "threads": threads}
        drawn: Axes = FIGURES["layout"](self, shape, access, **how, banks=banks, axes=axes)
        return drawn


class DrawnConflicts:
    """The cost of accesses, with a method that draws the words of one request."""

    def plot(self, value: int | None = None, *, axes: Axes | None = None) -> Axes:
        """Draw the request of value `value`, phase by phase.

        As `mmsim.figures.conflicts`, which describes the parameters.

        >>> import mmsim as mm
        >>> found = mm.conflicts("(32,32):(32,1)", lambda thread, value: (thread % 2, 0))
        >>> [label.get_text() for label in found.plot().get_yticklabels()]
        ['phase 0, stage 0', 'stage 1']
        """
        drawn: Axes = FIGURES["conflicts"](self, value, axes=axes)
        return drawn
