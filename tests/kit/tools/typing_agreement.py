"""Random kernels of numbers of all types: each must give what Numba's compilers make of it.

    python -m tests.kit.tools.typing_agreement [--first 5000] [--count 100] [--jobs 2] [--json FILE]

Draws kernels (tests/kit/generators/random_typing.py) and compares the arrays of
mmsim bit for bit with those of Numba's compiler for this computer and, where there is a GPU, with
those of numba-cuda. numba-cuda is kept from contracting a product and a sum into one rounding.
The two compilers differ in what Numba leaves open, such as NaN in min, or a division by zero. Of
a kernel that one side refuses the table has the error. Exits with status 1 if no compiler gives
the result of mmsim, or if a process died.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np

from mmsim import gpu
from mmsim.gpu.signed import facts
from tests.kit.generators.random_typing import TypedCase, plainly, same

VERDICTS = "same", "DIFFERENT"
"""The words for results of both sides."""
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
    return VERDICTS[not same(found, right)]


def given_by_none(words: list[tuple[int, str]]) -> list[int]:
    """The seeds whose results differ from those of each compiler that gives some."""
    same_, different = ({seed for seed, word in words if word == one} for one in VERDICTS)
    return sorted(different - same_)


def work(seeds: range, on_card: bool, card: int | None, queue: Any) -> None:
    """Compare the kernels of some seeds; put (seed, oracle, verdict, text) for each."""
    if card is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(card)

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"more than {SLOW} s")

    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, give_up)
    plainly(setattr)
    if on_card:
        uncontracted()
    for seed in seeds:
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
    signal.alarm(0)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare random kernels with Numba's compilers.")
    parser.add_argument("--first", type=int, default=5000, help="the first seed (5000)")
    parser.add_argument("--count", type=int, default=100, help="how many kernels (100)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--cards", type=int, default=1, help="GPUs to share them among (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the counts")
    arguments = parser.parse_args(argv)
    first, last = arguments.first, arguments.first + arguments.count
    command = (
        f"python -m tests.kit.tools.typing_agreement --first {first} --count {arguments.count}"
    )
    try:
        gpu.device()
        on_card, made = True, facts(command)
    except gpu.NoGPU:
        on_card, made = False, {"command": command}
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    workers = [
        spawn.Process(
            target=work,
            args=(
                range(first + turn, last, arguments.jobs),
                on_card,
                turn % arguments.cards if arguments.cards > 1 else None,
                queue,
            ),
            daemon=True,
        )
        for turn in range(arguments.jobs)
    ]
    for worker in workers:
        worker.start()
    seeds, counts, others, words = set(), Counter[tuple[str, str]](), [], []
    alive = True
    while alive:
        alive = any(worker.is_alive() for worker in workers)
        with suppress(Empty):
            while True:
                seed, name, word, text = queue.get(timeout=1)
                seeds.add(seed)
                counts[name, word] += 1
                words.append((seed, word))
                if word != "same":
                    others.append({"seed": seed, "oracle": name, "verdict": word, "text": text})
    for (name, word), times in sorted(counts.items()):
        print(f"{times:>9}  {name}: {word}")
    wrong = given_by_none(words)
    print(f"{len(seeds)} kernels; {len(wrong)} with results that no compiler gives {wrong or ''}")
    table = {f"{name}: {word}": times for (name, word), times in sorted(counts.items())}
    if arguments.json is not None:
        result = {**made, "kernels": len(seeds), "compared": table, "given by no compiler": wrong}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        details = arguments.json.with_name("details.json")
        details.write_text(json.dumps(others), encoding="utf-8")
    return int(bool(wrong) or len(seeds) < arguments.count)


if __name__ == "__main__":
    sys.exit(main())
