"""Costs that a proof finds for random programs of all sizes, against runs of some sizes."""

import random
import time
from itertools import islice

import numpy as np

import mmsim as mm
from mmsim.claims.claim import symbols_of
from mmsim.claims.launch import SymbolicLaunch
from mmsim.proof.domain import domain, holds
from mmsim.proof.launched import measured
from mmsim.proof.prove import leaves, points, valued
from mmsim.proof.terms import Undecided
from tests.kit.generators.draws import draws
from tests.kit.generators.random_programs import define

NAMES = ("n", "p", "m", "d", "L", "l")
DOMAINS = (
    ["w divides m", "m divides p", "p divides n"],
    ["w divides m", "dm divides p", "n = p"],
    ["m = w^2", "dm divides p", "p divides n"],
    ["w divides m", "m = p", "p divides n"],
)
HEAD = """\
@mm.program
def made(T, a, b, w):
    n, p, i, j, m = a.size, T.count, T.id, T.index, T.block_size
    s = mm.shared(T.block_size, dtype=a.dtype)
    q = n // p
    x = 0
    for t in range(q):
"""
FAR = [
    *("t * p + i", "i * q + t", "i", "t", "j", "T.block", "n - 1 - i", "i // 3", "i - i % 2"),
    *("(t * p + i + 1) % n", "(i * q + t) * 3 % n", "i * 2 % n", "j * T.blocks + T.block"),
    *("min(i + 2, n - 1)", "i * q + (t + 1) % q", "i % w * (p // w) + i // w"),
    *("(k * w + i) % n", "(k + i * q) % n", "k % n"),
]
NEAR = [
    *("j", "m - 1 - j", "j // 2", "j % 3 % m", "(j + 1) % m", "j * 2 % m", "T.block % m"),
    *("j // w * w + (j % w + j // w) % w", "j % w * (m // w) + j // w", "(j + T.block) % m"),
    *("(j + k) % m", "k * w % m", "(k * w + j % w) % m"),
]
TESTS = [
    *("i < q", "i % 2 == 0", "i % w < 2", "j // w == 0", "t % 2 == 0", "t == 0", "T.block < 2"),
    *("j >= m // 2", "i != 0", "i * 2 < p", "T.block + 1 < T.blocks", "i % w <= i // w", "k < j"),
]
RANGES = ["2", "w", "m // w", "j // w", "j % w", "t", "q", "1, m", "j, n, m", "q, 0, -1"]


def statements(pick, indent, depth=0):
    """The lines of a few statements; k is the number of the last loop."""
    for _ in range(pick([1, 1, 2])):
        kind = pick(["far", "near", "near", "if", "for"] if depth < 2 else ["far", "near"])
        if kind in ("far", "near"):
            array, index = (pick("ab"), pick(FAR)) if kind == "far" else ("s", pick(NEAR))
            place = f"{array}[{index}]"
            yield indent + (f"x += {place}" if array == "a" or pick([0, 1]) else f"{place} = x")
        else:
            loop = f"for k in range({pick(RANGES)})"
            yield indent + (f"if {pick(TESTS)}:" if kind == "if" else f"{loop}:")
            yield from statements(pick, indent + "    ", depth + 1)


def compared(seed):
    """Compare a program's cost with runs; return how many, 0 if no cost was found."""
    pick = random.Random(seed).choice
    text = HEAD + "        k = t\n" + "\n".join(statements(pick, "        ")) + "\n"
    program = mm.program(define(text, "made"))
    w, symbols = pick([1, 2, 3, 4]), symbols_of(NAMES)
    arguments = {"a": (symbols["n"],), "b": (symbols["n"],), "w": w}
    machine = mm.HMM(symbols["d"], w, symbols["L"], symbols["l"])
    launch = SymbolicLaunch(program, arguments, symbols["p"], machine, symbols["m"])

    def counted(case):
        facts = case.facts()
        return (measured([launch], case, facts).time.term, facts) if holds(case, facts) else None

    try:
        whole = domain(NAMES, {"w": w}, pick(DOMAINS))
        found = [one for one in leaves(whole, counted, time.monotonic() + 2) if one[1]]
    except Undecided:
        return 0
    runs = 0
    for case, (claimed, facts) in found:
        for numbers in islice(points(case, facts), 0, 60, 5):
            n, p, m, d, *latencies = (
                int(valued(case.values[one], numbers, facts)) for one in NAMES
            )
            if n < 300:
                a, machine = np.zeros(n, int), mm.HMM(d, w, *latencies)
                run = machine.run(program, a, a.copy(), w, threads=p, block_size=m)
                assert run.time == valued(claimed, numbers, facts), (text, machine, n, p, m)
                runs += 1
    return runs


def test_costs_of_random_programs():
    runs = [compared(seed) for seed in range(draws(10))]
    assert sum(one > 5 for one in runs) > len(runs) / 3
