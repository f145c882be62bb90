"""The page around a player or a laboratory: one file that fetches nothing."""

from __future__ import annotations

from mmsim.host.checkout import repository
from mmsim.host.version import VERSION

ORIGIN = f"Made with mmsim {VERSION}, the simulator of the memory machine models (DMM, UMM, HMM)."
"""The origin of a page, in words."""


def origin() -> dict[str, str]:
    """The origin of a page: in words, and the address of the repository if there is one."""
    address = repository()
    return {"origin": ORIGIN, **({"repository": address} if address else {})}
