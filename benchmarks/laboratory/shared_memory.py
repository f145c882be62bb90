"""The page's section about shared memory: CFP's Table II and Figure 7 and RAP's Table III."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.laboratory.rendering import render
from mmsim.gpu.record import Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu.cfp_rap_tables import REPEAT, TYPES, N
from mmsim_algorithms.gpu.comparisons import plain
from mmsim_algorithms.gpu.kept import Results, errors, mean_error, number, pick, values
from mmsim_algorithms.gpu.markdown import percent, short, signed, table


def section(results: Results) -> str:
    """The section."""
    cfp, rap = results["CFP-T2"].rows, results["RAP-T3"].rows
    times = {(row["type"], row["transpose"], row["layout"]): row for row in rap}
    double = [times["double", *place] for place in (("CRSW", "RAP"), ("DRDW", "RAW"))]
    here, there = (
        number(double[0], field) / number(double[1], field) for field in ("measured", "paper ns")
    )
    flat = [number(row, "measured") for row in pick(cfp, type="float", algorithm="conflict-free")]
    return render(
        "shared_memory",
        both=[*cfp, *rap],
        too_fast=sum(off < 0 for off in errors((*cfp, *rap))),
        words=N,
        repeat=REPEAT,
        cfp=[_cfp(pick(cfp, type=kind), kind) for kind in TYPES],
        flat=max(flat) / min(flat) - 1,
        rap=[
            (kind, own, _grid(own, "layout", "transpose"))
            for kind in TYPES
            for own in [pick(rap, type=kind)]
        ],
        better={
            kind: number(times[kind, "CRSW", "RAW"], "measured")
            / number(times[kind, "CRSW", "RAP"], "measured")
            for kind in TYPES
        },
        here=here,
        there=there,
        **_many_arrays(results),
    )


def _cfp(rows: list[Row], kind: str) -> tuple[str, list[Row], Row, str]:
    (copy,) = pick(rows, algorithm="copy")
    cells = [row for row in rows if row is not copy]
    return kind, rows, copy, _grid(cells, "permutation", "algorithm")


def _many_arrays(results: Results) -> dict[str, object]:
    """The values for Figure 7."""
    rows = results["CFP-F7"].rows
    d = results.calibration("CFP-F7").multiprocessors
    algorithms = [str(name) for name in values(rows, "algorithm")]
    times = {(row["algorithm"], row["arrays"]): row for row in rows}

    def measured(algorithm: str, arrays: int) -> float:
        return number(times[algorithm, arrays], "measured")

    flat = [[measured(one, int(k)) for k in values(rows, "arrays") if k <= d] for one in algorithms]
    columns = [(one, field) for one in algorithms for field in ("measured", "predicted")]
    return {
        "d": d,
        "algorithms": algorithms,
        "first_step": max(max(own) / min(own) - 1 for own in flat),
        "next_step": [measured(one, d + 1) / measured(one, d) for one in algorithms],
        "arrays": table(
            ("arrays", *(f"{one}, {field} ms" for one, field in columns)),
            (
                (str(k), *(f"{number(times[one, k], field):.3f}" for one, field in columns))
                for k in values(rows, "arrays")
            ),
            texts=0,
        ),
        "most": max(values(rows, "arrays")),
        "by_algorithm": [
            f"{percent(mean_error(pick(rows, algorithm=one)))} ({one})" for one in algorithms
        ],
        "figure": rows,
        "missing": [
            f"{1000 * (number(row, 'measured') - number(row, 'predicted')):.1f}"
            for row in pick(rows, arrays=1)
        ],
    }


def _grid(rows: Sequence[Row], down: str, across: str) -> str:
    columns = values(rows, across)
    return table(
        (down, *columns),
        (
            (plain(line), *(_cell(*pick(rows, **{down: line, across: one})) for one in columns))
            for line in values(rows, down)
        ),
    )


def _cell(row: Row) -> str:
    lines = [] if row["paper ns"] is None else [f"{short(number(row, 'paper ns'))} ns"]
    off = error(row)
    assert off is not None
    numbers = f"{number(row, 'measured'):.1f}, {number(row, 'predicted'):.1f}"
    return "<br>".join((*lines, numbers, signed(off)))
