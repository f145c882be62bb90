"""The page about the model and a real GPU, made from the results that are kept.

`python -m algorithms.gpu.page` prints the page docs/metal.md. With a folder it writes metal.md
there and the figures to figures/ in it: `python -m algorithms.gpu.page docs`. No GPU is needed.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from algorithms.gpu import page_global, page_shared
from algorithms.gpu.kept import Results, pick, values
from algorithms.gpu.markdown import bullets, count, listed, paragraph, percent, table
from algorithms.gpu.permuting import WARP
from algorithms.gpu.shared_tables import REPEAT, N
from mmsim.gpu.calibration import AT_ONCE, FAR, PLACES, STEPS, WORDS, Calibration
from mmsim.gpu.counting import METRICS
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import SAMPLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = """\
# The model and the metal

<!-- Made by `make metal` from benchmarks/results/gpu; change `algorithms/gpu`, not this page. -->
"""
TABLES = ("CFP-T2", "RAP-T3", "CFP-F7", "ICPP-T2", "ICPP-T3")


def page(results: Results) -> str:
    """The text of docs/metal.md."""
    return "\n".join(
        (
            HEAD,
            _compared(results),
            _machine(results),
            page_shared.section(results),
            page_global.section(results),
            _counters(results),
            _random_programs(results),
            _not_covered(),
        )
    )


# ------------------------------------------------------------ what is compared


def _compared(results: Results) -> str:
    records = results.records.values()
    device, driver, cuda = (
        listed(dict.fromkeys(str(record.facts[name]) for record in records))
        for name in ("device", "driver", "cuda")
    )
    days = [str(record.facts["date"])[:10] for record in records]
    when = listed(dict.fromkeys((min(days), max(days))))
    return "\n".join(
        (
            paragraph(
                f"""A model is worth what it predicts. CFP, RAP and ICPP measured their algorithms
                on GPUs of their time; here the same programs ran on one {device} (driver {driver},
                CUDA {cuda}) on {when}, beside the machines that stand for it. Every number below is
                computed from the kept results in
                [benchmarks/results/gpu](../benchmarks/results/gpu)."""
            ),
            "## What is compared, and how\n",
            bullets(
                (
                    """The programs are written once, in [the language](language.md). `Program.cuda`
                    writes them as CUDA C for the card; the model runs them as they are, under the
                    asynchronous schedule.""",
                    f"""In shared memory a block of {N} threads repeats the program {REPEAT} times
                    inside the kernel, and `clock64()` is read before and after. A time is the clock
                    cycles of one turn, the median of {SAMPLES} launches.""",
                    f"""In global memory a launch, or the launches of one algorithm together, lie
                    between two CUDA events. Before each the GPU writes through an array of thrice
                    its second-level cache, so nothing of the data is left there. A time is the
                    median of {SAMPLES}, in milliseconds. Copying to the card and planning the
                    scheduled permutation aren't timed.""",
                    """Every array that a timed permutation leaves in global memory is checked.""",
                    """The error is predicted/measured - 1: below zero the model is too fast. "Mean
                    absolute" averages its size over cells.""",
                    """Nothing is fitted to a cell that is predicted. The numbers of the next
                    section come from three small programs of their own, and all cells follow from
                    them.""",
                )
            ),
            table(
                ("results", "command", "date"),
                (
                    (name, f"`{record.facts['command']}`", str(record.facts["date"]))
                    for name, record in results.records.items()
                ),
                texts=3,
            ),
            paragraph(_versions(records)),
            *(
                paragraph(
                    f"""What {name} predicts was computed again at {record.facts["predicted"]}, from
                    the calibration kept with it, by `python -m algorithms.gpu.again`; what it
                    measured is as it was."""
                )
                for name, record in results.records.items()
                if "predicted" in record.facts
            ),
        )
    )


def _versions(records: Iterable[Record]) -> str:
    versions: dict[str, dict[str, None]] = {}
    for record in records:
        for name in ("mmsim", "cupy", "ncu", "hypothesis"):
            if name in record.facts:
                versions.setdefault(name, {})[str(record.facts[name])] = None
    return (
        "Versions: "
        + ", ".join(f"{name} {listed(found)}" for name, found in versions.items())
        + "."
    )


# ------------------------------------------------------------ the machine


def _machine(results: Results) -> str:
    (row,) = results["calibration"].rows
    found = Calibration.from_dict(dict(row))
    used = [results.calibration(name) for name in TABLES]
    everything = [found, *used]
    lines = [
        (
            "`multiprocessors`",
            "",
            f"{found.multiprocessors}",
            "the DMMs of the HMM",
            "asked of the driver",
        ),
        (
            "`cycles_per_stage`",
            "clock cycles",
            f"{found.cycles_per_stage}",
            "the time unit of shared memory: one more stage",
            f"`read` by {N} threads, with stride {WARP} less with stride 1",
        ),
        (
            "`shared_latency`",
            "stages",
            f"{found.shared_latency}",
            "l of the DMM",
            f"`chain` in shared memory: {3 * STEPS} accesses less {STEPS}",
        ),
        (
            "`cycle_ps`",
            "picoseconds",
            f"{found.cycle_ps}",
            "a clock cycle",
            "`read` in shared memory, timed by events: many turns less few",
        ),
        (
            "`group_ps`",
            "picoseconds",
            f"{found.group_ps}",
            f"the time unit of global memory: one address group of {WARP} words of 4 bytes",
            f"`copy` of {WORDS:,} words less half as many",
        ),
        (
            "`global_latency`",
            "address groups",
            f"{found.global_latency}",
            "l of the UMM and HMM",
            f"`chain` of one thread through {PLACES:,} places: {FAR[1]:,} accesses less {FAR[0]:,}",
        ),
        (
            "`launch_ns`",
            "nanoseconds",
            f"{found.launch_ns}",
            "a launch, beyond the latency of its accesses",
            f"`copy` of {WARP} words less two latencies",
        ),
    ]
    group = max(one.group_ps for one in everything) / min(one.group_ps for one in everything) - 1
    latency = (
        max(one.global_latency for one in everything)
        / min(one.global_latency for one in everything)
        - 1
    )
    bytes_of_group = 4 * WARP
    return "\n".join(
        (
            "## The machine\n",
            paragraph(
                f"""`mmsim gpu calibrate` runs three programs. `chain` reads where its last read
                told it to, so that one access waits for the other: latency. `read` makes a full
                block read words a stride apart: the cost of a stage. `copy` reads and writes every
                word of a long array, {AT_ONCE} of them by each thread: the cost of an address
                group. A difference of two sizes leaves out what both have in common."""
            ),
            table(("field", "unit", "value", "stands for", "measured by"), lines, texts=5),
            paragraph(
                f"""In other words: the clock ran at {1000 / found.cycle_ps:.2f} GHz; global memory
                moves {bytes_of_group} bytes in each `group_ps`, which is
                {bytes_of_group / found.group_ps:.2f} TB/s; and an access to it takes
                {found.global_latency * found.group_ps / 1000:.0f} ns when it waits for nothing
                else. A prediction in shared memory is the time of the asynchronous DMM in stages,
                times `cycles_per_stage`. One in global memory is the time of the asynchronous HMM,
                times `group_ps`, and `launch_ns` for each launch; a request for words of 8 bytes
                is served as two half-warps, each on groups of half a warp's words."""
            ),
            paragraph(
                f"""Each experiment keeps the calibration that it was predicted with. Between all
                {len(everything)} kept, `group_ps` differs by {percent(group)} at most and
                `global_latency` by {percent(latency)}."""
            ),
        )
    )


# ------------------------------------------------------------ counters, random programs


def _counters(results: Results) -> str:
    record = results["counters"]
    equal = [row for row in record.rows if row["hardware"] == row["model"]]
    different = [row for row in record.rows if row["hardware"] != row["model"]]
    reasons: dict[str, list[Row]] = {}
    for row in different:
        reasons.setdefault(str(row["verdict"]), []).append(row)
    left_out = Counter(
        re.sub(r"^\d+ blocks", "several blocks", reason)
        for reason in record.facts["left out"].values()
    )
    by_memory = [
        f"{len(pick(equal, machine=machine, memory=memory))} of "
        f"{len(pick(record.rows, machine=machine, memory=memory))} of {memory} memory beside the "
        f"{machine}"
        for machine in values(record.rows, "machine")
        for memory in values(pick(record.rows, machine=machine), "memory")
    ]
    return "\n".join(
        (
            "## Counters\n",
            paragraph(
                f"""Time says little about why. The card also counts, and NVIDIA's profiler reads
                it: in shared memory the wavefronts in which requests are served, which should be
                the model's stages; in global memory the address groups that requests look up. Each
                of the papers' programs with an example was counted for width {WARP}, reads and
                writes apart. The metrics are
                {listed(f"`{metric}`" for metric in METRICS.values())}."""
            ),
            paragraph(
                f"""{len(equal)} of {count(len(record.rows), "count")} are equal to the model's:
                {listed(by_memory)}. {len(different)} differ:"""
            ),
            table(
                ("counts", "why", "program: hardware, model"),
                (
                    (
                        str(len(own)),
                        reason,
                        "<br>".join(
                            f"{str(row['program']).removeprefix('algorithms.')}, "
                            f"{row['memory']} {row['kind']}: {row['hardware']}, {row['model']}"
                            for row in own
                        ),
                    )
                    for reason, own in reasons.items()
                ),
                texts=3,
            ),
            paragraph(
                f"""Left out {"was" if sum(left_out.values()) == 1 else "were"}
                {count(sum(left_out.values()), "program")}, each on one of the two machines:"""
            ),
            bullets(f"{number}: {reason}" for reason, number in left_out.items()),
        )
    )


def _random_programs(results: Results) -> str:
    record = results["random-programs"]
    rows = record.rows
    equal = sum(bool(row["equal"]) for row in rows)
    spaces = [
        f"{len(pick(rows, space=space))} in {space} memory" for space in values(rows, "space")
    ]
    return "\n".join(
        (
            "## Random programs\n",
            paragraph(
                f"""The papers' programs are few and tidy. So {len(values(rows, "number"))} random
                programs without a data race ran on the card too, and once more with their arrays in
                shared memory where they have one block: {count(len(rows), "launch", "launches")},
                {listed(spaces)}, of up to {_most(rows, "threads")} threads and
                {_most(rows, "blocks")} blocks. In {equal} of {len(rows)} every array was what the
                simulator computes, bit for bit. NVIDIA's compute-sanitizer watched them again:"""
            ),
            table(
                ("tool", "verdict"),
                ((f"`{tool}`", said) for tool, said in record.facts["sanitizer"].items()),
                texts=2,
            ),
        )
    )


def _most(rows: Sequence[Row], field: str) -> int:
    return max(int(row[field] or 0) for row in rows)


def _not_covered() -> str:
    return "\n".join(
        (
            "## What is not covered\n",
            bullets(
                (
                    """The model has no caches, no sectors and no pages of memory. Casual access to
                    global memory on today's cards depends on all three, so the model doesn't
                    predict it.""",
                    """A warp of the model waits for each request. What a card gains by several
                    requests of one warp on their way shows where arrays are short.""",
                    """Instructions cost nothing in the model. The papers' programs do little else
                    than access memory; others may.""",
                    """One card was measured, in one state. Its clock was left to the driver. The
                    papers' cards weren't measured again, and their times are quoted beside ours as
                    they are printed.""",
                    """SMM and IEICE print no times. RAP's Table IV and its higher dimensions are
                    simulated ([claims](claims.md)), and not timed here.""",
                    """Programs with data races, atomic operations, and accesses that the
                    first-level cache serves have no place here: every access of the programs is
                    volatile.""",
                )
            ),
        )
    )


# ------------------------------------------------------------ figures


def figures(results: Results) -> Iterator[tuple[str, str]]:
    """The names and the texts of the figures."""
    for experiment in TABLES:
        yield f"metal-{experiment}.svg", figure(results, experiment)


def figure(results: Results, experiment: str) -> str:
    """One experiment's figure as the text of an SVG file."""
    from mmsim.view.plots_gpu import predicted_against_measured, svg, time_of_arrays

    record = results[experiment]
    unit = str(record.facts["unit"])
    paper, _, place = experiment.partition("-")
    title = f"{paper} {_PLACES[place]}"

    def in_shared_memory(figure: Figure) -> None:
        by = "algorithm" if "algorithm" in record.rows[0] else "transpose"
        predicted_against_measured(
            record.rows,
            figure.subplots(),
            by=by,
            hollow=lambda row: row["type"] == "double",
            classes=("float", "double"),
            unit=unit,
            title=title,
        )

    def many_arrays(figure: Figure) -> None:
        d = results.calibration(experiment).multiprocessors
        time_of_arrays(record.rows, d, figure.subplots(), unit=unit, title=title)

    def in_global_memory(figure: Figure) -> None:
        kinds = values(record.rows, "type") if "type" in record.rows[0] else [None]
        for kind, ax in zip(kinds, figure.subplots(1, len(kinds), squeeze=False)[0], strict=True):
            predicted_against_measured(
                record.rows if kind is None else pick(record.rows, type=kind),
                ax,
                hollow=_casual,
                classes=("coalesced", "casual"),
                unit=unit,
                title=title if kind is None else f"{title}, {kind}, all sizes",
            )

    if experiment == "CFP-F7":
        return svg(many_arrays, salt=experiment)
    if paper == "ICPP":
        plots = len(values(record.rows, "type")) if "type" in record.rows[0] else 1
        return svg(in_global_memory, plots, salt=experiment)
    return svg(in_shared_memory, salt=experiment)


_PLACES = {"T2": "Table II", "T3": "Table III", "F7": "Figure 7"}


def _casual(row: Row) -> bool:
    return not row.get("coalesced", row["algorithm"] == "scheduled")


# ------------------------------------------------------------ the command


def write(results: Results, folder: Path) -> None:
    """Write metal.md and figures/ into a folder."""
    drawn = folder / "figures"
    drawn.mkdir(parents=True, exist_ok=True)
    (folder / "metal.md").write_text(page(results), encoding="utf-8")
    for name, text in figures(results):
        (drawn / name).write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page, or write it and its figures."""
    parser = argparse.ArgumentParser(description="Make the page about the model and a real GPU.")
    parser.add_argument("folder", nargs="?", type=Path, help="where metal.md and figures/ go")
    asked = parser.parse_args(arguments)
    if asked.folder is None:
        print(page(Results.read()), end="")
    else:
        write(Results.read(), asked.folder)


if __name__ == "__main__":
    main()
