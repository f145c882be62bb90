"""Random kernels of numbers of all types: each must give what Numba's compilers make of it.

    python -m tests.kit.tools.typing_agreement [--first 5000] [--seconds 60] [--json FILE]

Draws kernels (tests/kit/generators/random_typing.py) for so many seconds and compares the arrays of
mmsim bit for bit with those of Numba's compiler for this computer and, where there is a GPU, with
those of numba-cuda. numba-cuda is kept from contracting a product and a sum into one rounding. Of a
kernel that one side refuses the table tells the error. Exits with status 1 if a result differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from mmsim import gpu
from mmsim.gpu.signed import facts
from tests.kit.generators.random_typing import TypedCase, plainly, same

SLOW = 60
"""Seconds after which a kernel is given up, and said to be slow."""


def uncontracted() -> None:
    """Let numba-cuda round each product and each sum, and wrap integers around."""
    from numba.cuda.cpython import numbers
    from numba.cuda.cudadrv import nvvm

    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it, NumPy 2.5 has it no more
        np.row_stack = np.vstack  # type: ignore[attr-defined]
    compile_ir = nvvm.compile_ir
    nvvm.compile_ir = lambda text, **options: compile_ir(text, **options | {"fma": False})
    numbers._int_arith_flags = lambda type_: []


def results(make: Any) -> Any:
    """Return the arrays, or the name and the text of the error."""
    try:
        return make()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def verdict(found: Any, right: Any) -> str:
    """Return one word, of errors their names."""
    if isinstance(found, str) or isinstance(right, str):
        sides = {"mmsim": found, "the other": right}
        refused = [f"{k}: {v.split(':')[0]}" for k, v in sides.items() if isinstance(v, str)]
        return ", ".join(refused)
    return "same" if same(found, right) else "DIFFERENT"


def work(first: int, step: int, until: float, on_card: bool, queue: Any) -> None:
    """Compare every `step`-th kernel until a time; put (seed, oracle, verdict, text) for each."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"more than {SLOW} s")

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, give_up)
    plainly(setattr)
    if on_card:
        uncontracted()
    seed = first
    while time.time() < until:
        signal.alarm(SLOW)
        case = TypedCase(seed, on_card)
        found = results(case.simulated)
        for name, make in {"Numba": case.right, "numba-cuda": case.on_card}.items():
            if name == "Numba" or on_card:
                right = results(make)
                errors = [one[:1000] for one in (found, right) if isinstance(one, str)]
                word = verdict(found, right)
                if word == "DIFFERENT":
                    errors = [str(one) for one in (case.arrays, found, right)]
                queue.put((seed, name, word, [case.body, *errors]))
        seed += step
    signal.alarm(0)
    queue.put(None)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare random kernels with Numba's compilers.")
    parser.add_argument("--first", type=int, default=5000, help="the first seed (5000)")
    parser.add_argument("--seconds", type=float, default=60, help="for how long (60)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the counts")
    arguments = parser.parse_args(argv)
    first, jobs = arguments.first, arguments.jobs
    command = f"python -m tests.kit.tools.typing_agreement --first {first} --jobs {jobs}"
    try:
        gpu.device()
        on_card, made = True, facts(command)
    except gpu.NoGPU:
        on_card, made = False, {"command": command}
    until = time.time() + arguments.seconds
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    for turn in range(jobs):
        task = (first + turn, jobs, until, on_card, queue)
        spawn.Process(target=work, args=task, daemon=True).start()
    seeds, counts, told, ended = set(), Counter[tuple[str, str]](), [], 0
    while ended < jobs and time.time() < until + SLOW:
        try:
            one = queue.get(timeout=1)
        except Exception:  # nothing yet
            continue
        if one is None:
            ended += 1
            continue
        seed, name, word, text = one
        seeds.add(seed)
        counts[name, word] += 1
        if word != "same":
            told.append({"seed": seed, "oracle": name, "verdict": word, "text": text})
    for (name, word), times in sorted(counts.items()):
        print(f"{times:>9}  {name}: {word}")
    print(f"{len(seeds)} kernels")
    table = {f"{name}: {word}": times for (name, word), times in sorted(counts.items())}
    if arguments.json is not None:
        result = {**made, "kernels": len(seeds), "compared": table}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        details = arguments.json.with_name("details.json")
        details.write_text(json.dumps(told), encoding="utf-8")
    return int(any(word == "DIFFERENT" for _, word in counts))


if __name__ == "__main__":
    sys.exit(main())
