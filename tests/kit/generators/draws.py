"""The number of examples that the random tests draw."""

from __future__ import annotations

import os


def draws(usual: int) -> int:
    """So many as usual, or as MMSIM_EXAMPLES says: `make test-long` asks for many more."""
    return int(os.environ.get("MMSIM_EXAMPLES", usual))
