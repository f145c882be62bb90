"""The theory that the permutations stand on: König's theorem, and what follows from it."""

from mmsim_algorithms.colouring.bipartite import (
    check_colouring,
    colour,
    colour_by_matchings,
    colour_many,
)

__all__ = [
    "check_colouring",
    "colour",
    "colour_by_matchings",
    "colour_many",
]
