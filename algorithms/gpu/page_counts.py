"""The page's sections about counters and about random programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mmsim.gpu.counting import METRICS
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.kept import Results, pick, values
from mmsim_algorithms.gpu.markdown import bullets, count, listed, paragraph, table
from mmsim_algorithms.gpu.permuting import WARP

FOLDER = "algorithms."  # the package's name where records were made before it was mmsim_algorithms


def verdicts(record: Record) -> str:
    """Count the counts that equal the model's, and give the reasons for the others."""
    equal = [row for row in record.rows if row["hardware"] == row["model"]]
    different = [row for row in record.rows if row["hardware"] != row["model"]]
    reasons: dict[str, list[Row]] = {}
    for row in different:
        reasons.setdefault(str(row["verdict"]), []).append(row)
    by_memory = [
        f"{len(pick(equal, machine=machine, memory=memory))} of "
        f"{len(pick(record.rows, machine=machine, memory=memory))} of {memory} memory against the "
        f"{machine}"
        for machine in values(record.rows, "machine")
        for memory in values(pick(record.rows, machine=machine), "memory")
    ]
    return "\n".join(
        (
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
                            f"{str(row['program']).removeprefix('mmsim_').removeprefix(FOLDER)}, "
                            f"{row['memory']} {row['kind']}: {row['hardware']}, {row['model']}"
                            for row in own
                        ),
                    )
                    for reason, own in reasons.items()
                ),
                texts=3,
            ),
        )
    )


def counters(results: Results) -> str:
    """The card's counts of the papers' programs, compared with the model."""
    record = results["counters"]
    metrics = [
        metric
        for (memory, kind), metric in METRICS.items()
        if pick(record.rows, memory=memory, kind=kind)
    ]
    kinds = [f"{kind}s" for kind in values(record.rows, "kind")]
    whose = "registered" if "atomics" in kinds else "papers'"  # which have no atomics
    left_out = Counter(
        re.sub(r"^\d+ blocks", "several blocks", reason)
        for reason in record.facts["left out"].values()
    )
    return "\n".join(
        (
            "## Counters\n",
            paragraph(
                f"""A time doesn't give its reasons, but counts do. NVIDIA's profiler reads the
                card's counters. In shared memory they count the wavefronts of requests, which
                should equal the model's stages; in global memory they count the address groups that
                requests look up. Each of the {whose} programs with an example was counted for width
                {WARP}, {listed(kinds)} apart. The metrics are
                {listed(f"`{metric}`" for metric in metrics)}."""
            ),
            verdicts(record),
            paragraph(
                f"""Left out {"was" if sum(left_out.values()) == 1 else "were"}
                {count(sum(left_out.values()), "program")}, each on one of the two machines:"""
            ),
            bullets(f"{number}: {reason}" for reason, number in left_out.items()),
        )
    )


def random_programs(results: Results) -> str:
    """The card's results of random programs, compared with the simulator."""
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
                f"""The papers' programs are few and regular. So {len(values(rows, "number"))}
                random programs without a data race ran on the card too. Those with one block ran
                once more with their arrays in shared memory. These are
                {count(len(rows), "launch", "launches")}, {listed(spaces)}, of up to
                {_most(rows, "threads")} threads and {_most(rows, "blocks")} blocks. In {equal} of
                {len(rows)} every array equalled the simulator's, bit for bit. Then NVIDIA's
                compute-sanitizer checked them:"""
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
