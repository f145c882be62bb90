"""The papers' algorithms: programs, the host code that prepares them, the claims that they carry.

Each file holds what one part of a paper says about one problem, side by side: the per-thread
program in the paper's notation, what prepares its arguments, and what the paper claims of it.
"""

from __future__ import annotations

from mmsim.claims import Claim, PaperTable


def claims() -> list[Claim]:
    """All claims, in the order of the papers (the entry point of `mmsim verify`)."""
    from algorithms import access, figures, rap, rap_cuda, rap_higher, transpose

    return [
        *figures.CLAIMS,
        *access.CLAIMS,
        *transpose.CLAIMS,
        *rap.CLAIMS,
        *rap_cuda.CLAIMS,
        *rap_higher.CLAIMS,
    ]


def tables() -> list[PaperTable]:
    """All tables of the papers that can be computed again (the entry point of `reproduce`)."""
    return []
