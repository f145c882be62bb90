"""Time the edge colouring: against rustworkx, at the papers' largest size, many graphs together.

    python benchmarks/colouring.py [--quick]

Each line says what was measured and how often; where two programs are compared they take turns on
the same graph in one run, and medians are compared. rustworkx is compared where it is installed.
Besides the time by the clock stands what all processors together spent: where a busy machine keeps
some back, the clock shows it and the processors don't.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mmsim_algorithms import permutations
from mmsim_algorithms.colouring import check_colouring, colour, colour_by_matchings, colour_many

Ends = tuple[np.ndarray, np.ndarray]


def graph(nodes: int, degree: int, seed: int = 0) -> Ends:
    """The rows that the elements of a random permutation of nodes * degree leave and enter."""
    P = permutations.random(nodes * degree, seed)
    left = np.arange(len(P), dtype=np.int32) // np.int32(degree)
    return left, (P // degree).astype(np.int32)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of all processors together."""
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def take_turns(repeats: int, works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Time each in turn, again and again; print and return the medians by the clock."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(seconds(work))
    medians = {}
    for name, values in times.items():
        clock, processors = zip(*values, strict=True)
        medians[name] = statistics.median(clock)
        print(
            f"  {name:28}{medians[name]:9.4f} s (median of {repeats}, {min(clock):.4f} to "
            f"{max(clock):.4f}; {statistics.median(processors):.4f} s of processors)",
            flush=True,
        )
    return medians


def quotient(medians: dict[str, float]) -> None:
    """By how much the second took longer than the first."""
    if len(medians) == 2:
        own, theirs = medians.values()
        print(f"  quotient of the medians: {theirs / own:.0f}")


def against_rustworkx(nodes: int, degree: int, repeats: int) -> None:
    print(f"\n{nodes * degree:,} edges on {nodes} + {nodes} nodes, degree {degree}")
    left, right = graph(nodes, degree)
    works: dict[str, Callable[[], object]] = {"colour": lambda: colour(left, right, nodes)}
    try:
        import rustworkx
    except ImportError:
        print("  rustworkx is not installed: nothing to compare with")
    else:
        other = rustworkx.PyGraph(multigraph=True)
        other.add_nodes_from(range(2 * nodes))
        edges = zip(left.tolist(), (right + nodes).tolist(), strict=True)
        other.add_edges_from_no_data(list(edges))

        version = importlib.metadata.version("rustworkx")
        works[f"rustworkx {version}"] = lambda: rustworkx.graph_bipartite_edge_color(other)
    quotient(take_turns(repeats, works))


def against_matchings(nodes: int, degree: int, repeats: int) -> None:
    print(f"\n{nodes * degree:,} edges on {nodes} + {nodes} nodes, degree {degree}")
    left, right = graph(nodes, degree)
    quotient(
        take_turns(
            repeats,
            {
                "colour": lambda: colour(left, right, nodes),
                "colour_by_matchings (SciPy)": lambda: colour_by_matchings(left, right, nodes),
            },
        )
    )


def many(graphs: int, nodes: int, degree: int, repeats: int) -> None:
    print(f"\n{graphs} graphs of {nodes} + {nodes} nodes, degree {degree}")
    ends = [graph(nodes, degree, seed) for seed in range(graphs)]
    left, right = (np.stack(side) for side in zip(*ends, strict=True))
    take_turns(repeats, {"colour_many": lambda: colour_many(left, right, nodes)})


def large(nodes: int, degree: int, repeats: int) -> None:
    print(f"\n{nodes * degree:,} edges on {nodes} + {nodes} nodes, degree {degree}")
    left, right = graph(nodes, degree)
    colours = colour(left, right, nodes)
    take_turns(
        repeats,
        {
            "colour, its check included": lambda: colour(left, right, nodes),
            "check_colouring alone": lambda: check_colouring(left, right, nodes, colours),
        },
    )


PEAK = """
import sys
import numpy as np
from mmsim_algorithms.colouring import colour
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
nodes, degree = int(sys.argv[1]), int(sys.argv[2])
colour(np.zeros(1, np.int32), np.zeros(1, np.int32), 1)
rng = np.random.RandomState(0)
right = np.repeat(np.arange(nodes, dtype=np.int32), degree)
rng.shuffle(right)
left = np.repeat(np.arange(nodes, dtype=np.int32), degree)
before = peak()
colour(left, right, nodes)
print(f"{peak()} MiB at its peak, of which {before} MiB before colour was called")
"""

COLD = """
import time
start = time.perf_counter()
from mmsim_algorithms.colouring import colour
colour([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], 2)
print(time.perf_counter() - start)
"""


def child(program: str, *arguments: object, **environment: str) -> str:
    """What a Python process of its own prints."""
    root = str(Path(__file__).resolve().parent.parent)
    command = [sys.executable, "-c", program, *map(str, arguments)]
    variables = {**os.environ, "PYTHONPATH": root, **environment}
    answer = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")

    print("\nA process of its own that colours six edges")
    with tempfile.TemporaryDirectory() as empty:
        print(f"  nothing compiled yet  {float(child(COLD, NUMBA_CACHE_DIR=empty)):.1f} s")
        print(f"  compiled before       {float(child(COLD, NUMBA_CACHE_DIR=empty)):.1f} s")

    colour(*graph(2, 3), 2)
    colour(*graph(256, 256), 256)
    if quick:
        against_rustworkx(256, 256, repeats=3)
        against_matchings(128, 64, repeats=3)
        many(256, 32, 128, repeats=5)
        large(1024, 1024, repeats=5)
        large(1024, 1023, repeats=5)
    else:
        against_rustworkx(256, 256, repeats=3)
        against_rustworkx(1024, 1024, repeats=3)
        against_matchings(256, 256, repeats=3)
        many(4096, 32, 128, repeats=7)
        large(4096, 4096, repeats=7)
        large(4096, 4095, repeats=7)
    if Path("/proc/self/status").exists():
        nodes = 1024 if quick else 4096
        print(
            f"\nMemory of a process that colours {nodes * nodes:,} edges on {nodes} + {nodes} nodes"
        )
        print(f"  {child(PEAK, nodes, nodes)}")


if __name__ == "__main__":
    main()
