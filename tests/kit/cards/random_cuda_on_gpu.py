"""Compare what random kernels of CUDA C++ leave in the model and on a card.

    python -m tests.kit.cards.random_cuda_on_gpu --write FOLDER [--seeds 200] [--newer]
    python tests/kit/cards/random_cuda_on_gpu.py --compare FOLDER

The first needs NVIDIA's compiler and no card: it writes the PTX of 20 kernels for each seed, and
the arrays that the model leaves, with which both engines agree. With --fmad=false products and sums
are kept apart. The second needs NumPy, CuPy and a card. It prints each kernel whose arrays differ
in a bit, and how many there are.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

KERNELS = 20
RESULTS = {"o": "i4", "p": "u4", "q": "f4", "r": "i8"}
OLD = ".version 8.3"
"""The version of PTX that each driver reads; the kernels need no newer one."""


def given() -> Any:
    """The array that each kernel reads."""
    return np.random.RandomState(0).randint(-50, 50, 64).astype(np.int32)


def write(folder: Path, seeds: Iterable[int], options: tuple[str, ...], newer: bool) -> None:
    """Write PTX, and the arrays that the model leaves."""
    import mmsim as mm
    from tests.kit.random_cuda import kernels

    machine = mm.HMM(1, 32, 20, 3, bank_bytes=4)
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        module = mm.RawModule(code=kernels(seed, KERNELS, newer), options=options)
        (folder / f"{seed}.ptx").write_text(module.get_function("k0").ptx, "utf-8")
        found = {}
        for number in range(KERNELS):
            runs = []
            for engine in ("array", "events"):
                kernel = module.get_function(f"k{number}")
                arrays = (np.zeros(64, type_) for type_ in RESULTS.values())
                how: dict[str, Any] = {"threads": 64, "schedule": "asynchronous", "engine": engine}
                runs.append(machine.run(kernel, *arrays, given(), **how))
            assert runs[0].time == runs[1].time, (seed, number)
            for name in RESULTS:
                array, events = (one.arrays[name] for one in runs)
                assert array.tobytes() == events.tobytes(), (seed, number, name)
                found[f"{number}{name}"] = array
        np.savez_compressed(folder / f"{seed}.npz", **found)


def compare(folder: Path) -> tuple[int, int]:
    """Print the kernels that a card computes otherwise; return how many there are, and of all."""
    import cupy

    count = different = 0
    for path in sorted(folder.glob("*.npz"), key=lambda one: int(one.stem)):
        wanted = np.load(path)
        ptx = path.with_suffix(".ptx")
        text = re.sub(r"^\.version .*", OLD, ptx.read_text("utf-8"), flags=re.MULTILINE)
        (old := path.with_suffix(".old.ptx")).write_text(text, "utf-8")
        module = cupy.RawModule(path=str(old))
        for number in range(KERNELS):
            arrays = {name: cupy.zeros(64, type_) for name, type_ in RESULTS.items()}
            kernel = module.get_function(f"k{number}")
            kernel((1,), (64,), (*arrays.values(), cupy.asarray(given())))
            count += 1
            wrong = [
                name
                for name, array in arrays.items()
                if not equal(cupy.asnumpy(array), wanted[f"{number}{name}"])
            ]
            if wrong:
                different += 1
                print(f"seed {path.stem}, kernel {number}: {', '.join(wrong)}")
    print(f"{different} of {count} kernels differ")
    return different, count


def equal(one: Any, other: Any) -> bool:
    """Return whether all bits are equal; any two NaNs count as equal."""
    is_float = one.dtype.kind == "f"
    return bool(one.tobytes() == other.tobytes()) or (
        is_float and bool(np.array_equal(one, other, equal_nan=True))
    )


def main() -> None:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    parser.add_argument("--compare", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--fmad", help="false: keep products and sums apart")
    parser.add_argument("--newer", action="store_true", help="with instructions of later cards")
    asked = parser.parse_args()
    if asked.write is not None:
        options = () if asked.fmad is None else (f"-fmad={asked.fmad}",)
        write(asked.write, range(asked.seeds), options, asked.newer)
    if asked.compare is not None:
        compare(asked.compare)


if __name__ == "__main__":
    main()
