"""Time the first run of textbook kernels: by default, interpreted, and compiled whatever it costs.

    python benchmarks/first_runs.py [--sizes 2^10 2^14 2^17 2^20] [--only NAME ...] [--json FILE]

Each figure is one call of `Machine.run` in a process of its own that has run nothing before, with
an empty directory for compiled code (`MMSIM_CACHE_DIR`): what all programs share is compiled as
well. `best` is the lesser of interpreted and compiled. A first run by default should take at most
1.5 times the best, plus one second; `excess` is what it takes beyond, over 0 where it takes too
long. The three take turns, program by program. Seconds are what the process has spent on
all processors, which other work on the machine does not change much; the file of `--json` has
seconds by the clock as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from textbook import BLOCK, CASES, MACHINE

PATHS = ("default", "interpreted", "compiled")
SIZES = ("2^10", "2^14", "2^17", "2^20")
LIMIT = 60.0
"""Seconds after which a run is ended: what it would have taken is at least that."""


def one(name: str, n: int, path: str) -> dict[str, Any]:
    """Run one case in this process along a path."""
    from mmsim.engines.array import engine as array
    from mmsim.engines.array.fused.analysis import CannotFuse
    from mmsim.meaning.launch import Launch

    case = CASES[name](n)
    start = time.perf_counter(), time.process_time()
    launch = Launch(
        MACHINE, case.program, case.arguments, case.threads, case.block_size, "synchronous", 10**6
    )
    try:
        chosen = {"default": None, "interpreted": "interpreted", "compiled": "fused"}[path]
        run = array.run(launch, False, chosen)
    except CannotFuse as error:
        return {"cannot": str(error)}
    clock, spent = time.perf_counter() - start[0], time.process_time() - start[1]
    return {"seconds": spent, "clock": clock, "time": run.time}


def first(name: str, n: int, path: str) -> dict[str, Any]:
    """The same in a process of its own."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--one", name, str(n), path],
                env={**os.environ, "MMSIM_CACHE_DIR": empty},
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=True,
            )
        except subprocess.TimeoutExpired:
            return {"seconds": LIMIT}  # of the clock: it would have taken longer
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{name} with {n} threads, {path}: {error.stderr}") from None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(name: str, n: int) -> dict[str, Any]:
    """A row of the table."""
    found = {path: first(name, n, path) for path in PATHS}
    times = {one["time"] for one in found.values() if "time" in one}
    if len(times) > 1:
        raise SystemExit(f"{name} with {n} threads: the paths differ in their times: {times}")
    seconds = {path: one["seconds"] for path, one in found.items() if "seconds" in one}
    best = min(seconds.get("compiled", LIMIT), seconds["interpreted"])
    return {
        "program": name,
        "threads": n,
        **{path: round(value, 3) for path, value in seconds.items()},
        **{
            f"{path} by the clock": round(one["clock"], 3)
            for path, one in found.items()
            if "clock" in one
        },
        "best": round(best, 3),
        "default/best": round(seconds["default"] / best, 2),
        "excess": round(seconds["default"] - 1.5 * best - 1.0, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="threads, such as 2^14")
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--json", type=Path, help="keep the rows in a file")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        name, threads, path = given.one
        print(json.dumps(one(name, int(threads), path)))
        return
    from mmsim.bench.benchmark import facts

    sizes = [2 ** int(size[2:]) if size.startswith("2^") else int(size) for size in given.sizes]
    about = facts(" ".join(["benchmarks/first_runs.py", *sys.argv[1:]]))
    print(f"{len(given.only)} programs on {MACHINE}, blocks of {BLOCK} threads or as they need")
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    print(f"{'program':22}{'threads':>9}{'default':>9}{'interp.':>9}{'compiled':>9}  ratio  excess")
    rows = []
    for name in given.only:
        for n in sizes:
            row = measured(name, n)
            rows.append(row)
            shown = [f"{row[path]:9.2f}" if path in row else f"{'-':>9}" for path in PATHS]
            print(
                f"{name:22}{n:9}{''.join(shown)}{row['default/best']:7.2f}{row['excess']:8.2f}",
                flush=True,
            )
    worst = max(rows, key=lambda row: row["excess"])
    over = sum(row["excess"] > 0 for row in rows)
    print(f"{len(rows)} first runs, {over} of them too long; the worst is {worst}")
    if given.json:
        given.json.write_text(json.dumps({"about": about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
