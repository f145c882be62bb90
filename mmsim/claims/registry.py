"""The registered claims: every installed package may register its own.

A package names a function that returns its claims in the entry point group `mmsim.algorithms`:

    [project.entry-points."mmsim.algorithms"]
    mine = "my_algorithms:claims"

and, in the group `mmsim.papers`, one that returns the full names of its papers by short name.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmsim.claims.claim import Claim, ClaimError
from mmsim.errors import MMSimError
from mmsim.host.guesses import advised, nearest
from mmsim.host.plugins import registered_in

GROUP = "mmsim.algorithms"
PAPERS = "mmsim.papers"


def registered(broken: list[MMSimError] | None = None) -> list[Claim]:
    """All claims of all installed packages, packages in order of name.

    Raises `MMSimError` if a package doesn't load. With `broken`, it adds the error to this list
    instead, and goes on with the other packages.
    """
    return unique(registered_in(GROUP, broken))


def paper_names(broken: list[MMSimError] | None = None) -> dict[str, str]:
    """The full names of the papers by the short names that begin claims' ids; `broken` as above.

    >>> paper_names()["FFT"]
    'the fast Fourier transform'
    """
    return dict(registered_in(PAPERS, broken))


def unique(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims. Raises `ClaimError` if two of them share an id."""
    found: dict[str, Claim] = {}
    for claim in claims:
        if claim.id in found:
            raise ClaimError(
                f"two claims of one id: {claim.id!r} ({found[claim.id].source}; {claim.source})"
            )
        found[claim.id] = claim
    return list(found.values())


@advised("choose(registered(), ['SMM-L5.1'])")
def choose(claims: Iterable[Claim], ids: Iterable[str]) -> list[Claim]:
    """Return the claims of the given ids; an id stands for itself and for ids that add a dot to it.

    The short name of a paper stands for all of its claims. Raises `ClaimError` for an unknown id,
    with the nearest known ones.
    """
    known = list(claims)
    chosen: dict[str, Claim] = {}
    for wanted in [ids] if isinstance(ids, str) else ids:
        found = [c for c in known if f"{c.id}.".startswith(f"{wanted}.") or c.paper == wanted]
        if not found:
            papers = dict.fromkeys(claim.paper for claim in known)
            otherwise = f"the papers are {', '.join(papers)}"
            hint = nearest(wanted, [*papers, *(claim.id for claim in known)], otherwise)
            raise ClaimError(f"no claim has the id {wanted!r}; {hint}")
        chosen.update((claim.id, claim) for claim in found)
    return [claim for claim in known if claim.id in chosen]
