"""The theory of the permutations: König's theorem and its consequences."""

from mmsim_algorithms.colouring.bipartite import (
    check_colouring,
    colour,
    colour_by_matchings,
    colour_many,
)
from mmsim_algorithms.colouring.flipping import (
    Augmentation,
    augment,
    augmentations,
    colour_by_flipping,
    flips,
)

__all__ = [
    "Augmentation",
    "augment",
    "augmentations",
    "check_colouring",
    "colour",
    "colour_by_flipping",
    "colour_by_matchings",
    "colour_many",
    "flips",
]
