"""CFP Figure 2: the bank of each word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import mmsim as mm
from mmsim.claims.printed import Drawing
from mmsim_algorithms.access.programs import contiguous
from mmsim_algorithms.drawings.panels import Panel, side_by_side
from mmsim_algorithms.drawings.traced import expect

if TYPE_CHECKING:
    from matplotlib.figure import Figure

W, WORDS = 4, 16


def figure_2() -> Figure:
    """The words of each bank, from a run that reads all words; w = 4."""
    run = mm.DMM(W, 1).run(contiguous, np.arange(WORDS), threads=WORDS, trace=True)
    banks: list[list[int]] = [[] for _ in range(W)]
    for one in run.trace.dispatches:
        for address, bank in zip(one.addresses, one.places, strict=True):
            banks[bank].append(address)
    for j, words in enumerate(banks):
        expect(f"the words of bank B[{j}]", words, [j, j + W, j + 2 * W, j + 3 * W])
    rows = list(zip(*banks, strict=True))
    return side_by_side(
        [
            Panel(
                "m",
                [[f"m[{address}]" for address in row] for row in rows],
                [list(range(W)) for _ in rows],
                "",
                columns=[f"B[{bank}]" for bank in range(W)],
            )
        ]
    )


DRAWINGS = [Drawing("CFP-F2", "CFP, Figure 2", "memory banks for w = 4", figure_2)]
