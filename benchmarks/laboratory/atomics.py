"""The page's section about atomics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.laboratory.rendering import render
from mmsim.gpu.counting import METRICS
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.atomic_patterns import FEW, WORDS
from mmsim_algorithms.gpu.atomics import BLOCK, hardware
from mmsim_algorithms.gpu.kept import Results, number, pick, values
from mmsim_algorithms.gpu.markdown import short, table

INSTRUCTIONS = {
    "smsp__inst_executed_op_shared_atom.sum": "",
    "smsp__inst_executed_op_shared_atom_dot_alu.sum": " ALU",
    "smsp__inst_executed_op_shared_atom_dot_cas.sum": " CAS",
}


def section(results: Results) -> str:
    """The card's atomics, compared with the model; nothing without a record."""
    if "atomics" not in results.records:
        return ""
    record = results["atomics"]
    counted = pick(record.rows, measure="counts")
    shared, far = (pick(counted, memory=memory) for memory in ("shared", "global"))
    times = pick(record.rows, measure="cycles")
    own = {access: pick(shared, access=access) for access in values(shared, "access")}
    differ = [
        access for access, rows in own.items() if any(hardware(row) != row["model"] for row in rows)
    ]
    return render(
        "atomics",
        device=record.facts["device"],
        words=WORDS,
        metric=METRICS["shared", "atomic"],
        by_access=_by_access(own),
        long=[
            (access, sum(hardware(row) == row["model by size"] for row in rows), len(rows))
            for access, rows in own.items()
            if any(row["model"] != row["model by size"] for row in rows)
        ],
        few=len(FEW),
        by_pattern=_by_pattern(shared, differ, lambda row: _known(hardware(row))),
        far=_by_pattern(
            far,
            values(far, "access"),
            lambda row: f"{_known(hardware(row))}, {_known(_sectors(row))}",
        ),
        block=BLOCK,
        times=table(
            ("access", *values(times, "pattern")),
            (
                (
                    access,
                    *(
                        f"{short(number(row, 'cycles'))}, {row['model by size']}"
                        for row in pick(times, access=access)
                    ),
                )
                for access in values(times, "access")
            ),
        ),
        right=sum(bool(row["equal"]) for row in times),
        timed=len(times),
    )


def _by_access(own: dict[str, list[Row]]) -> str:
    """A line for each kind of access: its patterns with the model's stages."""
    lines = []
    for access, rows in own.items():
        both = [(hardware(row), number(row, "model")) for row in rows]
        found = [(wavefronts, model) for wavefronts, model in both if wavefronts is not None]
        signs = [(wavefronts > model) - (wavefronts < model) for wavefronts, model in found]
        sums = f"{sum(one for one, _ in found)}, {sum(one for _, one in found):.0f}"
        numbers = (len(rows), *(signs.count(sign) for sign in (0, -1, 1)))
        lines.append((access, *map(str, numbers), sums, _instructions(rows)))
    head = ("access", "patterns", "equal", "fewer", "more", "wavefronts, stages", "instructions")
    return table(head, lines)


def _instructions(rows: Sequence[Row]) -> str:
    """Count the executed instructions by kind."""
    parts = []
    for name, kind in INSTRUCTIONS.items():
        known = [one for one in (row[name] for row in rows) if isinstance(one, int)]
        if sum(known):
            parts.append(f"{sum(known)}{kind}")
    return ", ".join(parts)


def _by_pattern(rows: Sequence[Row], accesses: Sequence[str], cell: Callable[[Row], str]) -> str:
    """A line for each of a few patterns of one warp, a column for each access; none without any."""
    if not accesses:
        return ""
    lines = []
    for pattern in FEW:
        own = [pick(rows, access=one, pattern=pattern.name, warps=1)[0] for one in accesses]
        lines.append((pattern.name, str(own[0]["model"]), *map(cell, own)))
    return table(("pattern", "model", *accesses), lines)


def _sectors(row: Row) -> int | None:
    counts = [row["lts__t_sectors_op_atom.sum"], row["lts__t_sectors_op_red.sum"]]
    known = [one for one in counts if isinstance(one, int)]
    return sum(known) if len(known) == len(counts) else None


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)
