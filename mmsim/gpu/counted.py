"""Launches kernels for a profiler to count: `python -m mmsim.gpu.counted FILE`.

`save` writes FILE. It holds kernels and the numbers of repetitions of their launches, in their
order: the words of their arguments as NumPy's arrays, all else as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.cuda_c.kernels import Argument, Kernel
from mmsim.gpu.replay import cupy, launch_each

Launches = tuple[Kernel, Sequence[int]]
PLAIN = [one.name for one in fields(Kernel) if one.name != "arguments"]
"""The fields of a kernel that JSON holds."""


def save(file: Path, launches: Iterable[Launches]) -> None:
    """Write kernels, each with its launches' numbers of repetitions, to a file ending in .npz."""
    heads: list[Any] = []
    words: dict[str, Any] = {}
    for number, (kernel, repeats) in enumerate(launches):
        for argument in kernel.arguments:
            if argument.role in ("array", "offsets"):
                words[f"{number} {argument.role} {argument.name}"] = argument.words()
        about = {name: getattr(kernel, name) for name in PLAIN}
        known = [(argument.name, argument.role) for argument in kernel.arguments]
        heads.append((about, known, list(repeats)))
    np.savez(file, heads=np.array(json.dumps(heads)), **words)


def read(file: Path) -> list[Launches]:
    """The data of `save` that launches need."""
    launches: list[Launches] = []
    with np.load(file, allow_pickle=False) as kept:
        for number, (about, known, repeats) in enumerate(json.loads(str(kept["heads"]))):
            arguments = []
            for argument, role in known:
                key = f"{number} {role} {argument}"
                table: Any = kept[key] if key in kept else np.zeros(1, np.int64)
                arguments.append(Argument(argument, role, table.dtype, table.size, table=table))
            plain: dict[str, Any] = {
                name: tuple(of) if isinstance(of, list) else of for name, of in about.items()
            }
            launches.append((Kernel(arguments=tuple(arguments), **plain), repeats))
    return launches


def main(file: Path) -> None:
    """Launch each kernel of a file, once for each number of repetitions."""
    cp = cupy()
    for kernel, repeats in read(file):
        launch_each(cp, kernel, repeats)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
