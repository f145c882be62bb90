"""RAP's Table IV, simulated: a w x w x w x w array (RAP section VII)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np

from mmsim.model.conflicts import Banks
from mmsim_algorithms.printed import table
from mmsim_algorithms.rap.estimates import Cell, Integers, chunks, mean_and_error, permutations
from mmsim_algorithms.rap.higher import LAYOUTS as HIGHER_LAYOUTS
from mmsim_algorithms.rap.higher import random_numbers
from mmsim_algorithms.rap.max_load import expected_max_load, expected_random

HIGHER_ACCESSES = ("contiguous", "stride1", "stride2", "stride3", "random")


# Arrays of four dimensions (Table IV).


def table_4(w: int = 32, samples: int = 20_000, seed: int = 0, steps: int = 200) -> list[Cell]:
    """RAP Table IV: a w x w x w x w array under RAW, RAS, 1P, R1P, 3P, w²P and 1Pw²R.

    "malicious" is the worst access that `malicious` finds in so many steps; "random_numbers" counts
    the draws of the layouts.
    """
    printed = {row["access"]: row for row in table("rap_table4")}
    found = []
    for access in HIGHER_ACCESSES:
        for layout in HIGHER_LAYOUTS:
            mean, error = mean_and_error(
                higher_congestions(layout, w, *lines(access, w, count, random), random)
                for count, random in chunks(samples, w, f"{access} {layout}", seed)
            )
            expected = _expected(access, layout, w)
            found.append(Cell(access, layout, w, mean, error, printed[access][layout], expected))
    for layout in HIGHER_LAYOUTS:
        cell = malicious(layout, w, samples, seed, steps)
        found.append(cell)
    for layout in HIGHER_LAYOUTS:
        count = float(random_numbers(layout, w))
        paper = printed["random_numbers"][layout]
        found.append(Cell("random_numbers", layout, w, count, 0.0, paper))
    return found


def _expected(access: str, layout: str, w: int) -> float:
    """The exact expectation of the congestion of an access of section VII."""
    if access == "random":
        return expected_random(w, w**3)
    if access == "contiguous":
        return 1.0
    if layout == "RAW" or (layout == "1P" and access != "stride1"):
        return float(w)
    if layout == "RAS" or (layout in ("w2P", "1Pw2R") and access != "stride1"):
        return expected_max_load(w, w)
    return 1.0


def _least_malicious(layout: str, w: int) -> float:
    """The least expectation of the worst access: that of any other access of section VII.

    Under R1P the six orders of i, j, k share a bank.
    """
    worst = max(_expected(access, layout, w) for access in HIGHER_ACCESSES)
    return max(worst, 6.0) if layout == "R1P" and w >= 6 else worst


def lines(
    access: str, w: int, samples: int, random: np.random.RandomState
) -> tuple[Integers, Integers, Integers, Integers]:
    """The indices i, j, k, l of an access of section VII, a row a sample.

    A warp's elements differ in one index, and the others are random; "random" is w elements with
    replacement.
    """
    if access == "random":
        i, j, k, l = random.randint(w, size=(4, samples, w))
        return i, j, k, l
    index = [np.repeat(random.randint(w, size=(samples, 1)), w, axis=1) for _ in range(4)]
    axis = {"stride3": 0, "stride2": 1, "stride1": 2, "contiguous": 3}[access]
    index[axis] = np.tile(np.arange(w), (samples, 1))
    return index[0], index[1], index[2], index[3]


def higher_congestions(
    layout: str,
    w: int,
    i: Integers,
    j: Integers,
    k: Integers,
    l: Integers,
    random: np.random.RandomState,
) -> Integers:
    """The congestion of accesses to a[i][j][k][l], a row a sample, each under its own layout.

    It draws only the random numbers that an access needs: of w³ independent ones, those of its
    rows; of w² permutations, those of its i, j.
    """
    samples = len(i)
    sample = np.arange(samples)[:, None]
    row = (i * w + j) * w + k
    if layout == "RAW":
        shift = np.zeros_like(i)
    elif layout == "RAS":
        shift = _own_numbers(w, row + sample * w**3, random)
    elif layout == "1P":
        shift = permutations(samples, w, random)[sample, k]
    elif layout == "R1P":
        r = permutations(samples, w, random)
        shift = r[sample, i] + r[sample, j] + r[sample, k]
    elif layout == "3P":
        r, s, t = permutations(3 * samples, w, random).reshape(3, samples, w)
        shift = r[sample, i] + s[sample, j] + t[sample, k]
    elif layout == "w2P":
        shift = _own_permutations(w, i * w + j + sample * w**2, k, random)
    else:
        s = _own_numbers(w, i * w + j + sample * w**2, random)
        shift = s + permutations(samples, w, random)[sample, k]
    address = row * w + (l + shift) % w
    warp = np.repeat(np.arange(samples), i.shape[1])
    return Banks(w).stage_counts(address.ravel(), warp, samples)


def _own_numbers(w: int, keys: Integers, random: np.random.RandomState) -> Integers:
    """A random number for each different key."""
    different, which = np.unique(keys, return_inverse=True)
    drawn = random.randint(w, size=len(different))
    return drawn[which.reshape(keys.shape)]


def _own_permutations(
    w: int, keys: Integers, k: Integers, random: np.random.RandomState
) -> Integers:
    """Entry k of a random permutation for each different key."""
    different, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    which = which.reshape(keys.shape)
    entry = random.randint(w, size=len(different))[which]  # enough if only one entry is asked for
    several = times > 1
    drawn = permutations(int(several.sum()), w, random)
    asked = several[which]
    entry[asked] = drawn[(np.cumsum(several) - 1)[which[asked]], k[asked]]
    return entry


# Malicious accesses, by an adversary who knows the technique but not the random numbers.


def malicious(layout: str, w: int, samples: int = 20_000, seed: int = 0, steps: int = 200) -> Cell:
    """The access of w elements with the largest known expected congestion.

    It begins with the worst of `patterns` and climbs from there. Each step replaces one element,
    chosen at random, by a copy of another with one index drawn again or two of i, j, k swapped, and
    keeps the change if the mean over 500 layouts rises. Then both accesses are measured again; the
    larger counts, and `note` names it. For RAW and 1P a stride has congestion w, the maximum.
    """
    printed = {row["access"]: row for row in table("rap_table4")}["malicious"][layout]

    def measure(access: Integers, samples: int, name: str) -> tuple[float, float]:
        def parts() -> Iterator[Integers]:
            for count, random in chunks(samples, w, f"{name} {layout}", seed):
                i, j, k, l = np.repeat(access[:, None], count, axis=1)
                yield higher_congestions(layout, w, i, j, k, l, random)

        return mean_and_error(parts())

    scores = {name: measure(access, 1000, name)[0] for name, access in patterns(w)}
    name = max(scores, key=lambda one: scores[one])
    access = dict(patterns(w))[name]
    mean, error = measure(access, samples, "malicious")
    if mean < w and steps:
        climbed = _climb(access, w, lambda access: measure(access, 500, "climb")[0], steps, seed)
        again = measure(climbed, samples, "malicious")
        if again[0] > mean:
            (mean, error), name = again, f"{name}, improved by search"
    least = _least_malicious(layout, w)
    expected = least if least == w else None  # no access has more
    return Cell("malicious", layout, w, mean, error, printed, expected, name, least)


def patterns(w: int) -> Iterator[tuple[str, Integers]]:
    """Accesses that might be malicious, by name: four rows of w indices i, j, k, l.

    "stride1" to "stride3" are section VII's and "diagonal1" to "diagonal3" the same with a
    different l for each element; "six-fold" are the paper's groups of six (section VII) with
    disjoint i, j, k; "six-fold, shared" are groups of i, j, k = 0, 1, x with x as their l;
    "three-fold" are x, x, x + 1 and its two other orders; the grids have i, j or j, k from the
    square of the first √w numbers.
    """
    x = np.arange(w)
    zero = np.zeros_like(x)
    for name, l in (("stride", zero), ("diagonal", x)):
        yield f"{name}1", np.array([zero, zero, x, l])
        yield f"{name}2", np.array([zero, x, zero, l])
        yield f"{name}3", np.array([x, zero, zero, l])
    if w >= 6:
        first, third = 3 * (x // 6), 2 + x // 6
        yield "six-fold", np.array([*_orders((first, first + 1, first + 2), x) % w, zero])
        yield "six-fold, shared", np.array([*_orders((zero, zero + 1, third), x) % w, third])
        first = x // 3
        yield "three-fold", np.array([*_orders((first, first, first + 1), 2 * x) % w, zero])
    side = max(int(sqrt(w)), 1)
    yield "grid i, j", np.array([x % side, x // side, zero, zero]) % w
    yield "grid j, k", np.array([zero, x % side, x // side, zero]) % w


def _orders(triple: tuple[Integers, Integers, Integers], order: Integers) -> Integers:
    """Three numbers in the order of that number, modulo six.

    Of x, x, y the even orders are the three different ones.
    """
    all_orders = np.array([(0, 1, 2), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    return np.take_along_axis(np.array(triple), all_orders[order % 6].T, axis=0)


def _climb(
    access: Integers, w: int, score: Callable[[Integers], float], steps: int, seed: int
) -> Integers:
    """A local search from an access upwards (see `malicious`)."""
    random = np.random.RandomState(seed)
    best, height = access, score(access)
    for _ in range(steps):
        to, source, index, other = random.randint((w, w, 4, 3))
        tried = best.copy()
        tried[:, to] = best[:, source]
        if random.randint(2):
            tried[index, to] = random.randint(w)
        else:
            tried[[index % 3, other], to] = tried[[other, index % 3], to]
        reached = score(tried)
        if reached > height:
            best, height = tried, reached
    return best
