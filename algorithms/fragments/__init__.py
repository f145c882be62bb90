"""Reading a list that lies in fragments: by positions, and a thread for each fragment."""

from mmsim_algorithms.fragments.programs import by_fragments, by_positions

__all__ = [
    "by_fragments",
    "by_positions",
]
