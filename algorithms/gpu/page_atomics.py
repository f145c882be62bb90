"""The page's section about atomics."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu.atomic_patterns import FEW, WORDS
from mmsim.gpu.atomics import BLOCK, hardware
from mmsim.gpu.counting import METRICS
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.kept import Results, number, pick, values
from mmsim_algorithms.gpu.markdown import count, paragraph, short, table

EXPERIMENT = "atomics"


def atomics(results: Results) -> list[str]:
    """The card's atomics, compared with the model; nothing without a record."""
    if EXPERIMENT not in results.records:
        return []
    record = results[EXPERIMENT]
    counted = pick(record.rows, measure="counts")
    shared, far = (pick(counted, memory=memory) for memory in ("shared", "global"))
    times = pick(record.rows, measure="cycles")
    parts = [
        "## Atomics\n",
        paragraph(
            f"""In the model, requests of an atomic access for one address don't merge. In shared
            memory the access takes as many stages as the most requests in one bank. In global
            memory it takes, for each of its groups, the most requests for one address. On
            {record.facts["device"]} small programs make one such access a thread, to an array of
            {WORDS} words, and the profiler counts. "Used" means that the thread stores the old
            value, "unused" that it doesn't."""
        ),
        "### In shared memory\n",
        paragraph(
            f"""The card counts wavefronts, `{METRICS["shared", "atomic"]}`. The patterns of
            addresses are strides, words that several lanes share, banks that several words share,
            and random ones, for one warp and for several. If there are fewer wavefronts than the
            model's stages, the card merges requests; if there are more, it tries again, or serves a
            warp in parts. The last column has the instructions, counted as executed by warps."""
        ),
        _by_access(shared),
        *_long(shared),
        *_by_pattern(shared),
        "### In global memory\n",
        paragraph(
            """Atomics of global memory meet in the second-level cache, which the HMM doesn't have.
            Each cell has the requests of one warp that arrive there, and their sectors; the second
            column has the model's stages."""
        ),
        _far(far),
        "### In time\n",
        paragraph(
            f"""A block of {BLOCK} threads repeats an access in shared memory between two readings
            of the clock. Each cell has the clock cycles of one access of the block, and the model's
            stages; for words of 8 bytes these are the stages of both half-warps."""
        ),
        _times(times),
        _right(times),
    ]
    return ["\n".join(parts)]


def _by_access(rows: Sequence[Row]) -> str:
    """A line for each kind of access: its patterns with the model's stages."""
    lines = []
    for access in values(rows, "access"):
        own = pick(rows, access=access)
        both = [(hardware(row), number(row, "model")) for row in own]
        found = [(wavefronts, model) for wavefronts, model in both if wavefronts is not None]
        lines.append(
            (
                access,
                str(len(own)),
                str(sum(wavefronts == model for wavefronts, model in found)),
                str(sum(wavefronts < model for wavefronts, model in found)),
                str(sum(wavefronts > model for wavefronts, model in found)),
                f"{sum(wavefronts for wavefronts, _ in found)}, {sum(m for _, m in found):.0f}",
                _instructions(own),
            )
        )
    head = ("access", "patterns", "equal", "fewer", "more", "wavefronts, stages", "instructions")
    return table(head, lines)


def _instructions(rows: Sequence[Row]) -> str:
    """Count the executed instructions by kind."""
    names = {
        "smsp__inst_executed_op_shared_atom.sum": "",
        "smsp__inst_executed_op_shared_atom_dot_alu.sum": " ALU",
        "smsp__inst_executed_op_shared_atom_dot_cas.sum": " CAS",
    }
    parts = []
    for name, kind in names.items():
        counts = [row[name] for row in rows]
        known = [one for one in counts if isinstance(one, int)]
        if sum(known):
            parts.append(f"{sum(known)}{kind}")
    return ", ".join(parts)


def _long(rows: Sequence[Row]) -> list[str]:
    """Accesses for which the rule of banks of 4 bytes differs from the papers' rule."""
    parts = []
    for access in values(rows, "access"):
        own = pick(rows, access=access)
        if any(row["model"] != row["model by size"] for row in own):
            equal = sum(hardware(row) == row["model by size"] for row in own)
            parts.append(
                paragraph(
                    f"""By the rule of banks of 4 bytes (words of 8 bytes in two half-warps, each
                    stage of a compare and swap twice), {equal} of {count(len(own), "pattern")} of
                    "{access}" are equal."""
                )
            )
    return parts


def _by_pattern(rows: Sequence[Row]) -> list[str]:
    """The wavefronts of the accesses that differ from the model in some pattern."""
    names = [pattern.name for pattern in FEW]
    differ = [
        access
        for access in values(rows, "access")
        if any(hardware(row) != row["model"] for row in pick(rows, access=access))
    ]
    if not differ:
        return []
    return [
        paragraph(
            f"""Wavefronts of the accesses that aren't equal in all patterns, in
            {count(len(names), "pattern")} of one warp:"""
        ),
        table(
            ("pattern", "model", *differ),
            (
                (
                    name,
                    str(_one(rows, differ[0], name)["model"]),
                    *(_known(hardware(_one(rows, access, name))) for access in differ),
                )
                for name in names
            ),
        ),
    ]


def _far(rows: Sequence[Row]) -> str:
    accesses = values(rows, "access")
    return table(
        ("pattern", "model", *accesses),
        (
            (
                name,
                str(_one(rows, accesses[0], name)["model"]),
                *(
                    f"{_known(hardware(row))}, {_known(_sectors(row))}"
                    for row in (_one(rows, access, name) for access in accesses)
                ),
            )
            for name in (pattern.name for pattern in FEW)
        ),
    )


def _sectors(row: Row) -> int | None:
    counts = [row["lts__t_sectors_op_atom.sum"], row["lts__t_sectors_op_red.sum"]]
    known = [one for one in counts if isinstance(one, int)]
    return sum(known) if len(known) == len(counts) else None


def _times(rows: Sequence[Row]) -> str:
    patterns = values(rows, "pattern")
    return table(
        ("access", *patterns),
        (
            (
                access,
                *(
                    f"{short(number(row, 'cycles'))}, {row['model by size']}"
                    for name in patterns
                    for row in pick(rows, access=access, pattern=name)
                ),
            )
            for access in values(rows, "access")
        ),
    )


def _right(rows: Sequence[Row]) -> str:
    right = sum(bool(row["equal"]) for row in rows)
    return paragraph(
        f"""In {right} of {len(rows)} cells the array was what the simulator computes, bit for
        bit."""
    )


def _one(rows: Sequence[Row], access: str, name: str) -> Row:
    """The row of one warp."""
    (found,) = pick(rows, access=access, pattern=name, warps=1)
    return found


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)
