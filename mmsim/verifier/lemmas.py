"""The lemmas about the machines that `proof` applies, compared with the machines.

A proof holds only as long as the machines follow these rules. So each command that proves compares
them first: all requests of small widths, and the times of a few launches on both engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from mmsim.api import machines
from mmsim.api.program import program
from mmsim.errors import MMSimError
from mmsim.frontend.thread import atomic
from mmsim.frontend.thread.names import shared
from mmsim.verifier.requests import counted


@program
def in_memory(T: Any, other: Any, p: Any, a: Any, b: Any) -> None:
    i = p[T.id]
    if i >= 0:
        b[i] = a[i]
        atomic.add(b, i, 1)


@program
def in_blocks(T: Any, p: Any) -> None:
    s = shared(16, dtype=int)
    i = p[T.id]
    if i >= 0:
        s[i] = T.index
    T.barrier()
    if i >= 0:
        atomic.add(s, i, 1)


def disagreements(widths: Iterable[int] = (1, 2, 3)) -> Iterator[str]:
    """The lemmas that the machines contradict, each with an example."""
    for width in widths:
        for lanes in range(1, width + 1):
            for words in product(range(2 * width), repeat=lanes):
                yield from of_request(width, list(words))
    for number, latency in ((1, 1), (2, 3), (3, 2)):
        for indices in ([0, 4, -1, 5, 3, 3, -1, -1, 9], [-1, -1, -1, 8, 2, 5, 0, 3, 6]):
            yield from of_rounds(number, latency, indices[: len(indices) // number * number])
    for width, dmms, indices in (
        (1, 2, [3, -1, 7, 2, 0]),
        (2, 2, [0, 2, 1, 3, -1, -1, -1, -1]),
        (2, 3, [0, 2, 4, 6, 1, 3, 5, 7]),
        (3, 2, [3, 3, 0, 6, 0, 6, -1, 3, 0, -1, 3, 3]),
    ):
        yield from of_blocks(width, dmms, indices)


def require() -> None:
    """Raise an `MMSimError` if a machine contradicts a lemma: then no proof holds."""
    for one in disagreements():
        raise MMSimError(
            f"the machines contradict a lemma of the proofs, so nothing is proved: {one}"
        )


def of_request(width: int, words: list[int]) -> Iterator[str]:
    """Compare the stages of a request, counted alone and among others: L1 to L3."""
    for machine, unit in (
        (machines_of(width, 1)[0], "banks"),
        (machines_of(width, 1)[1], "groups"),
    ):
        for kind in ("read", "write", "atomic"):
            stages = counted(unit, [divmod(word, width) for word in words], kind == "atomic")
            rule = machine.memory.conflict.of_access(8, kind)
            alone = rule.stages(words), max(rule.stage_of(words)) + 1
            every, warps = np.array([*words, 0]), np.array([*(0 for _ in words), 1])
            among = rule.stage_counts(every, warps, 2)
            if {*alone, int(among[0])} != {stages} or among[1] != 1:
                name = "L3" if kind == "atomic" else "L1" if unit == "banks" else "L2"
                said = f"{stages} stages of a {kind} of the words {words}"
                yield f"{name}: {said} on {width} {unit}, where {machine} has {alone[0]}"


def machines_of(width: int, latency: int) -> tuple[machines.DMM, machines.UMM]:
    """Both machines with one memory."""
    return machines.DMM(width, latency), machines.UMM(width, latency)


def of_rounds(width: int, latency: int, indices: list[int]) -> Iterator[str]:
    """Compare rounds of several warps, some of them idle: L4."""
    starts = range(0, len(indices), width)
    numbers = [list(range(at, at + width)) for at in starts]
    active = [[index for index in indices[at : at + width] if index >= 0] for at in starts]
    for machine, unit in zip(machines_of(width, latency), ("banks", "groups"), strict=True):
        rounds = [(numbers, False), (active, False), (active, False), (active, True)]
        stages = [stages_of(width, unit, *one) for one in rounds]
        requests = sum(len(list(filter(None, warps))) for warps, _ in rounds)
        expected = sum(stages) + len(rounds) * (latency - 1), sum(stages), requests
        arrays = np.zeros(1), np.array(indices), np.zeros(10, int), np.zeros(10, int)
        yield from compared(machine, in_memory, arrays, expected, threads=len(indices))


def of_blocks(width: int, dmms: int, indices: list[int]) -> Iterator[str]:
    """Compare the rounds of blocks of one warp each, which are dealt to DMMs: L4."""
    machine = machines.HMM(dmms, width, 3, 2)
    starts = range(0, len(indices), width)
    numbers = [list(range(at, at + width)) for at in starts]
    active = [[i for i in indices[at : at + width] if i >= 0] for at in starts]
    stages = stages_of(width, "groups", numbers, False)
    time = stages + 3 - 1
    for turns in (False, True):
        shares = [stages_of(width, "banks", active[at::dmms], turns) for at in range(dmms)]
        time, stages = time + max(shares) + 2 - 1, stages + sum(shares)
    requests = len(numbers) + 2 * len(list(filter(None, active)))
    arrays, sizes = (np.array(indices),), {"threads": len(indices), "block_size": width}
    yield from compared(machine, in_blocks, arrays, (time, stages, requests), **sizes)


def stages_of(width: int, unit: str, warps: Sequence[list[int]], atomic: bool) -> int:
    """The stages of the requests of warps in a round."""
    cells = [[divmod(word, width) for word in words] for words in warps if words]
    return sum(counted(unit, one, atomic) for one in cells)


def compared(
    machine: machines.Machine,
    of: Any,
    arrays: tuple[Any, ...],
    expected: tuple[int, int, int],
    **sizes: Any,
) -> Iterator[str]:
    """Compare time, stages and requests of a launch on both engines."""
    engines: tuple[Any, ...] = ("array", "events")
    for engine in engines:
        run = machine.run(of, *arrays, engine=engine, trace=False, **sizes)
        found = run.time, run.stages, run.requests
        if found != expected:
            counts = "{} time units, {} stages and {} requests"
            indices = arrays[of is in_memory].tolist()
            yield (
                f"L4: {counts.format(*expected)} of {of.__name__} with {indices}, "
                f"where {machine} has {counts.format(*found)} ({engine})"
            )
