"""Count the accesses of kernels of CUDA C++ on a card by Nsight Compute, line by line.

    python -m tests.kit.cards.count_on_gpu FILE.json [LAUNCH ...] [--unseen] [--predict]

It needs a card, CuPy, and of NVIDIA's toolkit `ptxas`, `nvdisasm` and `ncu`. It writes the model's
counts (`tests.kit.cards.counted`) and the card's: of the kernels as they are written, which the
assembler leaves with -O0, and of what it makes of them with -O3, its default. With a predicate, the
profiler also counts requests of warps without a thread that takes part; such a count is null. Local
memory is compared in kernels that have some in the model.

The kernels are the tests' own, or with --unseen those of `tests.kit.cards.unseen`. If launches are
named, the file keeps what it has of others. With --predict only the model counts, and no card is
needed; the file keeps what a card counted.
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
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cudart.kernels.expected import Case
from tests.kit.cards.arguments import launch
from tests.kit.cards.counted import Assembled, Place, disassembled, launches, of_model
from tests.kit.cards.unseen import CASES as UNSEEN

VERSION = ".version 8.3"
"""A version of PTX that the toolkit and the driver read; the kernels need no newer one."""
LEVELS = ("-O0", "-O3")
HARDWARE = {
    "shared read wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared write wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "global read requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global write requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global read groups": "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum",
    "global write groups": "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum",
    "global read sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global write sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "local read requests": "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "local write requests": "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "local read sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "local write sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
}
"""The hardware's counters, of a whole launch."""
OF_LINES = {
    "requests": "inst_executed",
    "wavefronts": "memory_l1_wavefronts_shared",
    "groups": "memory_l1_tag_requests_global",
    "sectors": "memory_l2_theoretical_sectors_global",
    "local sectors": "memory_l2_theoretical_sectors_local",
}
"""The profiler's counters of an instruction."""


Launches = dict[str, Case]


def assemble(every: Launches, folder: Path, level: str) -> dict[str, dict[str, list[Assembled]]]:
    """Assemble each file for the card; return the instructions of its kernels."""
    import cupy

    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    found = {}
    for file, text in {case.file: case.ptx for case in every.values()}.items():
        ptx, cubin = folder / f"{file}.ptx", folder / f"{file}.cubin"
        ptx.write_text(re.sub(r"^\.version .*", VERSION, text, flags=re.MULTILINE), "utf-8")
        options = [f"-arch={architecture}", level, "-lineinfo", str(ptx), "-o", str(cubin)]
        subprocess.run(["ptxas", *options], check=True)
        done = subprocess.run(["nvdisasm", "-g", cubin], check=True, capture_output=True, text=True)
        found[file] = disassembled(done.stdout)
    return found


def launch_all(every: Launches, folder: Path) -> None:
    """Launch each kernel once."""
    import cupy

    for case in every.values():
        module = cupy.RawModule(path=str(folder / f"{case.file}.cubin"))
        launch(cupy, module.get_function(case.entry), case)


def profiled(folder: Path, options: list[str]) -> Iterator[Any]:
    """The profiler's results of the launches."""
    ncu = shutil.which("ncu")
    assert ncu is not None, "ncu is not on the PATH"
    command = [ncu, "--export", str(folder / "report"), "--clock-control", "none"]
    command += ["--metrics", ",".join((*OF_LINES.values(), *HARDWARE.values()))]
    command += [sys.executable, "-m", "tests.kit.cards.count_on_gpu", "-", *options]
    command += ["--launch", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    parts = Path("/opt/nvidia/nsight-compute").glob("*/extras/python")
    home = next(Path(ncu).resolve().parent.glob("extras/python"), None) or max(parts)
    sys.path.append(str(home))
    import ncu_report  # it comes with the profiler

    report = ncu_report.load_report(str(folder / "report.ncu-rep"))
    ranges = (report[number] for number in range(len(report)))
    return (one[number] for one in ranges for number in range(len(one)))


def of_card(action: Any, instructions: list[Assembled]) -> dict[Place, list[int | None]]:
    """The counts of a launch."""
    counts: dict[str, dict[int, int]] = {name: {} for name in OF_LINES}
    for name, metric in OF_LINES.items():
        if metric in action.metric_names():
            value = action.metric_by_name(metric)
            addresses = value.correlation_ids()
            many = range(value.num_instances())
            counts[name] = {addresses.value(k): value.value(k) for k in many}
    first = min(counts["requests"])
    found: dict[Place, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    guarded = set()
    for number, one in enumerate(instructions):
        for place in one.places():
            for name in place.counted:
                own = f"local {name}" if f"{place.memory} {name}" in OF_LINES else name
                found[place][name] += counts[own].get(first + 16 * number, 0)
            if one.has_predicate:
                guarded.add(place)
    return {
        place: [
            None if name == "requests" and place in guarded else own[name] for name in place.counted
        ]
        for place, own in found.items()
    }


def rows(model: dict[Place, list[int]] | None, cards: list[Any]) -> Iterator[dict[str, Any]]:
    """The counts of each line that a card or the model counts, as plain data."""
    for place in sorted({*(model or {})}.union(*cards)):
        none = [0] * len(place.counted)
        own: dict[str, Any] = {
            "line": f"{place.file}:{place.line}",
            "access": f"{place.memory} {place.kind}",
        }
        if model is not None:
            own["model"] = model.get(place, none)
        levels = zip(LEVELS, cards, strict=bool(cards))
        yield own | {level: card.get(place, none) for level, card in levels}


def compared(
    case: Case, cards: list[dict[Place, list[int | None]]], totals: dict[str, int]
) -> dict[str, Any]:
    """The counts of a launch, as plain data."""
    model = of_model(case)
    if not any(place.memory == "local" for place in model):  # what a printf takes, for example
        cards = [{at: own for at, own in card.items() if at.memory != "local"} for card in cards]
    found: dict[str, Any] = {"lines": [*rows(model, cards)]}
    return found | ({"hardware, -O0": totals} if totals else {})


def predicted(case: Case, kept: dict[str, Any]) -> dict[str, Any]:
    """The kept facts of a launch, with the model's counts of today."""
    cards: list[dict[Place, list[int | None]]] = [{} for _ in LEVELS]
    before = {}
    for row in kept["lines"]:
        before[row["line"], row["access"]] = row
        file, _, line = row["line"].rpartition(":")
        for card, level in zip(cards, LEVELS, strict=True):
            card[Place(file, int(line), *row["access"].split())] = row[level]
    counted = rows(of_model(case), cards)
    lines = [before.get((row["line"], row["access"]), {}) | row for row in counted]
    return kept | {"lines": lines}


def counts(
    every: Launches, options: list[str]
) -> Iterator[tuple[list[dict[Place, list[int | None]]], dict[str, int]]]:
    """The card's counts of each launch: of each level, and the hardware's."""
    cards: list[list[Any]] = [[] for _ in every]
    hardware: list[dict[str, int]] = []
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as name:
            instructions = assemble(every, Path(name), level)
            actions = profiled(Path(name), options)
            for case, own, action in zip(every.values(), cards, actions, strict=True):
                own.append(of_card(action, instructions[case.file][case.entry]))
                if level == "-O0":
                    hardware.append(
                        {
                            name: int(action.metric_by_name(metric).value())
                            for name, metric in HARDWARE.items()
                        }
                    )
    return zip(cards, hardware, strict=True)


def versions() -> dict[str, str]:
    """The card, its driver, and the programs that count."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    driver = cupy.cuda.runtime.driverGetVersion()
    return {
        "device": properties["name"].decode(),
        "driver": f"CUDA {driver // 1000}.{driver % 1000 // 10}",
        "assembler": said("ptxas", "--version")[-2],
        "profiler": said("ncu", "--version")[-1],
    }


def write(record: dict[str, Any], file: Path) -> None:
    """Write a record, the counts of a line in one line."""
    text = json.dumps(record, indent=1)
    one_line = re.compile(r"\{[^{}]*\}")
    text = one_line.sub(lambda found: " ".join(found[0].split()), text)
    file.write_text(text + "\n", "utf-8")


def said(*command: str) -> list[str]:
    """The lines that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()


def main() -> None:
    """Count, or launch for the profiler."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", type=Path, metavar="FILE.json")
    parser.add_argument("launches", metavar="LAUNCH", nargs="*", help="launches to count; all")
    parser.add_argument("--unseen", action="store_true", help="count kernels as others write them")
    parser.add_argument("--predict", action="store_true", help="count in the model only")
    parser.add_argument("--launch", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    every = UNSEEN if asked.unseen else launches()
    chosen = {name: every[name] for name in asked.launches or every}
    options = [*asked.launches, *(["--unseen"] if asked.unseen else [])]
    if asked.launch:
        launch_all(chosen, asked.launch)
        return
    keeps = asked.launches or (asked.predict and asked.file.exists())
    before = json.loads(asked.file.read_text("utf-8")) if keeps else {"launches": []}
    record = before if asked.predict else versions()
    counted = (([], {}) for _ in chosen) if asked.predict else counts(chosen, options)
    date = str(datetime.date.today())
    kept = {one["launch"]: one for one in before["launches"]}
    for (title, case), (cards, totals) in zip(chosen.items(), counted, strict=True):
        if asked.predict and LEVELS[0] in kept.get(title, {"lines": [{}]})["lines"][0]:
            kept[title] = predicted(case, kept[title])
        else:
            kept[title] = {"launch": title, "date": date, **compared(case, cards, totals)}
    command = "python -m tests.kit.cards.count_on_gpu FILE.json"
    record["command"] = f"{command} --unseen" if asked.unseen else command
    write(record | {"launches": [kept[title] for title in every if title in kept]}, asked.file)


if __name__ == "__main__":
    main()
