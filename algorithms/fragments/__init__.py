"""Reading a list in fragments: by positions, and with a thread for each fragment."""

from mmsim_algorithms.fragments.programs import by_fragments, by_positions

__all__ = [
    "by_fragments",
    "by_positions",
]
