"""Count the accesses of kernels of CUDA C++ on a card by Nsight Compute, line by line.

    python -m tests.kit.cards.count_on_gpu FILE.json

It needs a card, CuPy, and of NVIDIA's toolkit `ptxas`, `nvdisasm` and `ncu`. It writes the card's
counts and the model's (`tests.kit.cards.counted`).
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cudart.kernels.expected import Case
from tests.kit.cards.arguments import launch
from tests.kit.cards.counted import (
    REASONS,
    WHY,
    Place,
    differing,
    disassembled,
    kinds_of,
    launches,
    of_model,
    source,
    tiles,
)

VERSION = ".version 8.3"
"""A version of PTX that the toolkit and the driver read; the kernels need no newer one."""
TOTALS = {
    "shared read wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared write wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "global read requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global write requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global read groups": "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum",
    "global write groups": "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum",
    "global read sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global write sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
"""The counters of a whole launch."""
OF_LINES = {
    "requests": "inst_executed",
    "wavefronts": "memory_l1_wavefronts_shared",
    "groups": "memory_l1_tag_requests_global",
    "sectors": "memory_l2_theoretical_sectors_global",
}
"""The counters of an instruction."""


def assemble(folder: Path) -> dict[str, dict[str, list[tuple[str, int, str]]]]:
    """Assemble each file for the card; return the instructions of its kernels."""
    import cupy

    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    found = {}
    for file in {case.file for case in (*launches().values(), *tiles().values())}:
        ptx, cubin = folder / f"{file}.ptx", folder / f"{file}.cubin"
        text = source(file).with_suffix(".ptx").read_text("utf-8")
        ptx.write_text(re.sub(r"^\.version .*", VERSION, text, flags=re.MULTILINE), "utf-8")
        options = [f"-arch={architecture}", "-lineinfo", str(ptx), "-o", str(cubin)]
        subprocess.run(["ptxas", *options], check=True)
        done = subprocess.run(["nvdisasm", "-g", cubin], check=True, capture_output=True, text=True)
        found[file] = disassembled(done.stdout)
    return found


def launch_all(folder: Path) -> None:
    """Launch each kernel once."""
    import cupy

    for case in (*launches().values(), *tiles().values()):
        module = cupy.RawModule(path=str(folder / f"{case.file}.cubin"))
        launch(cupy, module.get_function(case.entry), case)


def profiled(folder: Path) -> Iterator[Any]:
    """The profiler's results of the launches."""
    ncu = shutil.which("ncu")
    assert ncu is not None, "ncu is not on the PATH"
    command = [ncu, "--export", str(folder / "report"), "--clock-control", "none"]
    command += ["--section", "SourceCounters", "--metrics", ",".join(TOTALS.values())]
    command += [sys.executable, "-m", "tests.kit.cards.count_on_gpu", "--launch", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    parts = Path("/opt/nvidia/nsight-compute").glob("*/extras/python")
    home = next(Path(ncu).resolve().parent.glob("extras/python"), None) or max(parts)
    sys.path.append(str(home))
    import ncu_report  # it comes with the profiler

    report = ncu_report.load_report(str(folder / "report.ncu-rep"))
    parts = (report[number] for number in range(len(report)))
    return (part[number] for part in parts for number in range(len(part)))


def of_card(action: Any, instructions: list[tuple[str, int, str]]) -> dict[Place, Counter[str]]:
    """The counts of a launch by line.

    "instructions" is their number, "conditional" how many of them have a predicate, of which the
    profiler also counts requests of warps without a thread that takes part.
    """
    counts: dict[str, dict[int, int]] = {name: {} for name in OF_LINES}
    for name, metric in OF_LINES.items():
        if metric in action.metric_names():
            value = action.metric_by_name(metric)
            places = value.correlation_ids()
            many = range(value.num_instances())
            counts[name] = {places.value(k): value.value(k) for k in many}
    first = min(counts["requests"])
    found: dict[Place, Counter[str]] = {}
    for number, (file, line, words) in enumerate(instructions):
        at = first + 16 * number
        for memory, kind in kinds_of(words):
            own = found.setdefault((file, line, memory, kind), Counter())
            names = ("requests", "wavefronts") if memory == "shared" else (
                "requests", "groups", "sectors")  # fmt: skip
            own.update({name: counts[name].get(at, 0) for name in names})
            own.update(instructions=1, conditional=int(words[0] == "@"))
    return found


def rows(case: Case, card: dict[Place, Counter[str]], has_model: bool) -> list[dict[str, Any]]:
    """The counts of a launch, of each line that the card or the model counts, as plain data."""
    model = of_model(case) if has_model else {}
    found = []
    for place in sorted({*card, *model}):
        own: dict[str, Any] = dict(zip(("file", "line", "memory", "kind"), place, strict=True))
        own["card"] = dict(card.get(place, {}))
        if has_model:
            own["model"] = dict(model.get(place, {}))
            if differing(own):
                own["why"] = WHY.get(place, "unknown")
        found.append(own)
    return found


def count(file: Path) -> None:
    """Count, and write the file."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True)
    ncu = subprocess.run(["ncu", "--version"], capture_output=True, text=True, check=True)
    driver = cupy.cuda.runtime.driverGetVersion()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instructions = assemble(folder)
        actions = profiled(folder)
        found = []
        for all_, has_model in ((launches(), True), (tiles(), False)):
            for title, case in all_.items():
                action = next(actions)
                card = of_card(action, instructions[case.file][case.entry])
                totals = {
                    name: int(action.metric_by_name(metric).value())
                    for name, metric in TOTALS.items()
                }
                found.append({"launch": title, "lines": rows(case, card, has_model), **totals})
    record = {
        "device": properties["name"].decode(),
        "driver": f"CUDA {driver // 1000}.{driver % 1000 // 10}",
        "date": str(datetime.date.today()),
        "assembler": version.stdout.strip().splitlines()[-2],
        "profiler": ncu.stdout.strip().splitlines()[-1],
        "command": "python -m tests.kit.cards.count_on_gpu FILE.json",
        "reasons": REASONS,
        "launches": found,
    }
    text = json.dumps(record, indent=1)
    line = re.compile(r'\{\s*"file"[^{}]*(?:\{[^{}]*\}[^{}]*)+\}')
    text = line.sub(lambda found: " ".join(found[0].split()), text)
    file.write_text(text + "\n", "utf-8")


def main() -> None:
    """Count, or launch for the profiler."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.json", nargs="?")
    parser.add_argument("--launch", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.launch:
        launch_all(asked.launch)
    elif asked.file:
        count(asked.file)
    else:
        parser.error("name the file to write")


if __name__ == "__main__":
    main()
