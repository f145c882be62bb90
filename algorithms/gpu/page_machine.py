"""The page's section about the card's machine."""

from __future__ import annotations

from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.calibration import AT_ONCE, FAR, PLACES, STEPS, WORDS
from mmsim_algorithms.gpu.cfp_rap_tables import N
from mmsim_algorithms.gpu.kept import TABLES, Results
from mmsim_algorithms.gpu.markdown import paragraph, percent, table
from mmsim_algorithms.gpu.permuting import WARP


def numbers(found: Calibration) -> str:
    """The table of the calibration: each number, its meaning and its measurement."""
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
            "`read` in shared memory, timed by events: many repetitions less few",
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
    return table(("field", "unit", "value", "stands for", "measured by"), lines, texts=5)


def section(results: Results) -> str:
    """The card's machine and its calibration."""
    found = results.card
    everything = [found, *(results.calibration(name) for name in TABLES)]
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
                f"""`mmsim gpu calibrate` runs three programs. `chain` measures latency: the value
                of each read is the address of the next, so that each access waits for the last one.
                `read` measures the cost of a stage: a full block reads words a stride apart. `copy`
                measures the cost of an address group: it reads and writes every word of a long
                array, {AT_ONCE} of them by each thread. The difference between two sizes leaves out
                the costs that both have. The shared memory of a multiprocessor is the memory of a
                DMM (Discrete Memory Machine). Global memory is the memory of a UMM (Unified Memory
                Machine). The card is an HMM (Hierarchical Memory Machine)."""
            ),
            numbers(found),
            paragraph(
                f"""So the clock ran at {1000 / found.cycle_ps:.2f} GHz. Global memory moves
                {bytes_of_group} bytes in each `group_ps`, which is
                {bytes_of_group / found.group_ps:.2f} TB/s. An access to it takes
                {found.global_latency * found.group_ps / 1000:.0f} ns when it waits for nothing
                else. A prediction in shared memory is the time of the asynchronous DMM in stages,
                times `cycles_per_stage`. A prediction in global memory is the time of the
                asynchronous HMM, times `group_ps`, plus `launch_ns` for each launch. A request for
                words of 8 bytes is served as two half-warps, each on groups of half a warp's
                words."""
            ),
            paragraph(
                f"""Each experiment keeps the calibration of its prediction. Among all
                {len(everything)} kept, `group_ps` differs by {percent(group)} at most and
                `global_latency` by {percent(latency)}."""
            ),
        )
    )
