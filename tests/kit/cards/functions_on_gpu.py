"""The distance of a GPU's functions from the simulator's, in units of the last place.

    python -m tests.kit.cards.functions_on_gpu [--count 262144]

Computes every function of floats of random numbers, in float32 and in float64, by a program that
runs in the simulator and on the GPU at hand, and prints the largest distance and how many are
farther away than 2. Exits with status 1 if a function that IEEE 754 defines differs, 2 without a
GPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import mmsim as mm
from mmsim import gpu
from mmsim.frontend.python.words import WHOLE
from mmsim.ir.functions import FUNCTIONS
from tests.kit.generators.random_programs import define

DOMAINS = {
    **{"exp": (-50, 50), "exp2": (-60, 60), "expm1": (-30, 30), "log1p": (-1, 100)},
    **{"log": (0, 100), "log2": (0, 100), "log10": (0, 100), "sqrt": (0, 1e6), "pow": (0, 20)},
    **{"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 1000)},
    **{"sinh": (-40, 40), "cosh": (-40, 40), "tanh": (-12, 12)},
    **{"erf": (-5, 5), "erfc": (-4, 8), "gamma": (-20, 30), "lgamma": (3, 100)},
}
"""From where to where numbers are drawn; others are drawn from -100 to 100.

Near its zeros, which lie below 3, no machine has many right digits of the logarithm of gamma.
"""
NAMES = [
    name
    for name, one in FUNCTIONS.items()
    if one.result == "float" and one.takes == "float" and name not in WHOLE
]
Run = Callable[[mm.Program, list[Any]], Any]


def program_of(name: str, dtype: str) -> mm.Program:
    """A program that computes a function of a type."""
    letters = "xyz"[: FUNCTIONS[name].arity]
    called = f"mm.{name}" if FUNCTIONS[name].own else f"math.{name}"
    given = ", ".join(f"mm.{dtype}({letter}[T.id])" for letter in letters)
    head = f"def program(T, {', '.join(letters)}, out):"
    return mm.program(define(f"{head}\n    out[T.id] = {called}({given})\n", "program"))


def arguments_of(name: str, dtype: str, count: int) -> list[Any]:
    """Random numbers, and the array for what becomes of them."""
    random = np.random.default_rng(0)
    bounds = [DOMAINS.get(name, (-100, 100)), (-8, 8) if name == "pow" else (-100, 100), (-1, 1)]
    sides = [random.uniform(*one, count).astype(dtype) for one in bounds[: FUNCTIONS[name].arity]]
    return [*sides, np.zeros(count, dtype)]


def distances(found: Any, expected: Any) -> Any:
    """Units of the last place between floats; none between two that are not numbers."""

    def place(values: Any) -> Any:  # in the order of all floats
        bits = values.view(f"i{values.itemsize}").astype(object)
        return np.where(bits < 0, -(bits + 2 ** (8 * values.itemsize - 1)), bits)

    both = np.isnan(found) & np.isnan(expected)
    return np.where(both, 0, abs(place(found) - place(expected))).astype(float)


def measured(name: str, dtype: str, count: int, run: Run) -> Any:
    """The distances of what `run` gives from what the simulator gives."""
    program, arguments = program_of(name, dtype), arguments_of(name, dtype, count)
    simulated = mm.DMM(32, 1).run(program, *arguments, threads=count)
    return distances(run(program, arguments), simulated.arrays["out"])


def on_the_gpu(program: mm.Program, arguments: list[Any]) -> Any:
    """The result of the program on the GPU at hand."""
    count = len(arguments[0])
    return gpu.once(program, *arguments, threads=count, block_size=min(count, 256))["out"]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure how far a GPU's functions are away.")
    parser.add_argument("--count", type=int, default=1 << 18, help="how many numbers (262144)")
    count = parser.parse_args(argv).count
    try:
        print(gpu.device())
    except gpu.NoGPU as missing:
        print(missing, file=sys.stderr)
        return 2
    wrong = False
    for name in NAMES:
        found = [measured(name, dtype, count, on_the_gpu) for dtype in ("float32", "float64")]
        texts = [f"{one.max():>8.0f} {np.count_nonzero(one > 2):>8}" for one in found]
        print(f"{name:<10} {'  '.join(texts)}", flush=True)
        wrong |= FUNCTIONS[name].exact and any(one.any() for one in found)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
