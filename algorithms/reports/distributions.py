"""D_w(P) of ICPP Table III's 1000 random permutations: counted once, kept, and counted again.

`python -m mmsim_algorithms.reports.distributions` counts all of them and writes the kept file, in
some minutes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean, stdev

from mmsim.claims import ClaimError
from mmsim_algorithms import permutations

N, W, COUNT = 2**22, 32, 1000
"""ICPP Table III: so many words, the width of a GPU, so many permutations."""
FILE = "icpp_table3_distributions.csv"
AGAIN = 3
"""Number of kept counts that are counted again with the table."""


@dataclass(frozen=True)
class Distributions:
    """D_w(P) of random permutations P of n words: `counts[seed]` is that of `random(n, seed)`."""

    n: int
    w: int
    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of permutations."""
        return len(self.counts)

    @property
    def minimum(self) -> int:
        """The least D_w(P)."""
        return min(self.counts)

    @property
    def average(self) -> float:
        """The mean D_w(P)."""
        return fmean(self.counts)

    @property
    def maximum(self) -> int:
        """The largest D_w(P)."""
        return max(self.counts)

    @property
    def deviation(self) -> float:
        """The standard deviation of one D_w(P)."""
        return stdev(self.counts)

    def check(self, how_many: int) -> None:
        """Count the first permutations again; raise `ClaimError` if a count differs."""
        for seed, kept in enumerate(self.counts[:how_many]):
            found = permutations.distribution(permutations.random(self.n, seed), self.w)
            if found != kept:
                raise ClaimError(
                    f"D_w(P) of random permutation {seed} is {found}, but {kept} is kept in "
                    f"{FILE}; count all again: python -m {__name__}"
                )


def random_distributions(
    n: int, w: int, count: int, say: Callable[[int], None] = lambda seed: None
) -> Distributions:
    """D_w(P) of the random permutations with seeds 0 .. count - 1; `say` is called with each seed.

    >>> found = random_distributions(1024, 32, 20)
    >>> found.minimum <= found.average <= found.maximum
    True
    """
    counts = []
    for seed in range(count):
        say(seed)
        counts.append(permutations.distribution(permutations.random(n, seed), w))
    return Distributions(n, w, tuple(counts))


@cache
def kept_distributions() -> Distributions:
    """Read those of the paper's n, w and number of permutations from the kept file."""
    place = files("mmsim_algorithms") / "reports" / "counted" / FILE
    lines = [line for line in place.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return Distributions(N, W, tuple(int(row["distribution"]) for row in csv.DictReader(lines)))


def to_csv(found: Distributions, today: str) -> str:
    """The file that is kept.

    >>> print(to_csv(Distributions(16, 4, (13, 12)), "2026-11-22"), end="")
    # D_w(P) of permutations.random(n, seed), n = 16, w = 4
    # kept on 2026-11-22; to count them again: python -m mmsim_algorithms.reports.distributions
    seed,distribution
    0,13
    1,12
    """
    lines = (
        f"# D_w(P) of permutations.random(n, seed), n = {found.n}, w = {found.w}",
        f"# kept on {today}; to count them again: python -m mmsim_algorithms.reports.distributions",
        "seed,distribution",
        *(f"{seed},{count}" for seed, count in enumerate(found.counts)),
    )
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    counted = random_distributions(N, W, COUNT, lambda seed: print(f"\r{seed}", end="", flush=True))
    target = Path(__file__).parent / "counted" / FILE
    target.write_text(to_csv(counted, f"{datetime.now(UTC):%Y-%m-%d}"), encoding="utf-8")
    print(f"\rwritten: {target}")
