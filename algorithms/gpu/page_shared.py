"""The page's section about shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu.record import Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu.cfp_rap_tables import REPEAT, TYPES, N
from mmsim_algorithms.gpu.kept import (
    Results,
    errors,
    largest_error,
    mean_error,
    number,
    pick,
    values,
)
from mmsim_algorithms.gpu.markdown import count, listed, paragraph, percent, short, signed, table


def section(results: Results) -> str:
    """CFP's Table II and Figure 7 and RAP's Table III."""
    both = (*results["CFP-T2"].rows, *results["RAP-T3"].rows)
    return "\n".join(
        (
            "## Shared memory\n",
            paragraph(
                f"""Over all {len(errors(both))} cells of the two tables below the model is off by
                {percent(mean_error(both))} on average and by {percent(largest_error(both))} at
                most. It predicts fewer cycles than the card takes in
                {sum(off < 0 for off in errors(both))} of them."""
            ),
            paragraph(
                """Words of 4 bytes, float, lie in 32 banks, as on the DMM of width 32. A warp's
                request takes as many stages as the most words that it accesses in one bank. Words
                of 8 bytes, double, follow another rule. The card serves the two half-warps in turn,
                and each half accesses 16 banks of 8 bytes. The request takes the stages of both
                halves. So a read without conflicts costs two stages. All words of a column of a
                matrix lie in one bank: a column costs 16 + 16 stages, no more than in float. The
                tables of a permutation are integers of 4 bytes in either case."""
            ),
            _cfp_table(results),
            _rap_table(results),
            _cfp_figure(results),
        )
    )


def _cfp_table(results: Results) -> str:
    record = results["CFP-T2"]
    parts = [
        "### CFP Table II\n",
        paragraph(
            f"""As many threads permute {N} words. Each cell has the paper's nanoseconds on a GTX
            680, for float; the measured and the predicted cycles of one repetition; and the model's
            error. The paper's nanoseconds are another card's: compare only how they grow from cell
            to cell."""
        ),
    ]
    for kind in TYPES:
        rows = pick(record.rows, type=kind)
        copy, cells = pick(rows, algorithm="copy"), [r for r in rows if r["algorithm"] != "copy"]
        parts += [
            paragraph(f"{kind}, where a copy takes {_one_line(copy[0])}:"),
            _grid(cells, "permutation", "algorithm"),
            paragraph(_error_sentence(kind, rows)),
        ]
    flat = [
        number(row, "measured")
        for row in pick(record.rows, type="float", algorithm="conflict-free")
    ]
    parts.append(
        paragraph(
            f"""The conflict-free permutation of floats takes the same time for each permutation:
            the slowest takes {percent(max(flat) / min(flat) - 1)} longer than the fastest. In
            double it doesn't: its schedule avoids conflicts among 32 banks, and two threads of a
            half-warp may meet in one of 16."""
        )
    )
    parts.append(_figure("CFP-T2", "predicted against measured cycles of CFP Table II"))
    return "\n".join(parts)


def _rap_table(results: Results) -> str:
    record = results["RAP-T3"]
    parts = [
        "### RAP Table III\n",
        paragraph(
            """The transpose of 32 x 32 words, out of place, under three layouts. CRSW (contiguous
            read, stride write) reads rows and writes columns, SRCW (stride read, contiguous write)
            the other way round, DRDW (diagonal read, diagonal write) reads and writes diagonals.
            RAW is row-major; RAS (random address shift) shifts each row by a random number, RAP by
            the numbers of a random permutation. Cells are as above; the paper measured double on a
            GTX TITAN. The experiment draws the shifts once, with its seeds, so a random layout is
            one layout and not a mean."""
        ),
    ]
    for kind in TYPES:
        rows = pick(record.rows, type=kind)
        parts += [
            paragraph(f"{kind}:"),
            _grid(rows, "layout", "transpose"),
            paragraph(_error_sentence(kind, rows)),
        ]
    better = {
        kind: _value(record.rows, kind, "CRSW", "RAW", "measured")
        / _value(record.rows, kind, "CRSW", "RAP", "measured")
        for kind in TYPES
    }
    here, there = (
        _value(record.rows, "double", "CRSW", "RAP", field)
        / _value(record.rows, "double", "DRDW", "RAW", field)
        for field in ("measured", "paper ns")
    )
    parts.append(
        paragraph(
            f"""RAP makes CRSW {short(better["float"])} times as fast in float, and
            {short(better["double"])} times in double. CRSW writes columns. RAP spreads a column
            over 32 banks of 4 bytes, and in 16 banks of 8 bytes some of its words meet again. DRDW
            under RAW never has a conflict. In double, CRSW under RAP takes {here:.2f} times as long
            as DRDW under RAW on this card, and {there:.2f} times on the paper's TITAN, whose banks
            could be 8 bytes wide."""
        )
    )
    parts.append(_figure("RAP-T3", "predicted against measured cycles of RAP Table III"))
    return "\n".join(parts)


def _cfp_figure(results: Results) -> str:
    record = results["CFP-F7"]
    d = results.calibration("CFP-F7").multiprocessors
    rows = record.rows
    algorithms = [str(name) for name in values(rows, "algorithm")]
    flat = max(
        max(times) / min(times) - 1
        for times in (
            [
                number(row, "measured")
                for row in pick(rows, algorithm=algorithm)
                if number(row, "arrays") <= d
            ]
            for algorithm in algorithms
        )
    )
    next_step = [
        _time_of(rows, algorithm, d + 1) / _time_of(rows, algorithm, d) for algorithm in algorithms
    ]
    names = {
        f"{algorithm}": percent(mean_error(pick(rows, algorithm=algorithm)))
        for algorithm in algorithms
    }
    most = max(int(number(row, "arrays")) for row in rows)
    missing = [
        f"{1000 * (number(row, 'measured') - number(row, 'predicted')):.1f}"
        for row in pick(rows, arrays=1)
    ]
    return "\n".join(
        (
            "### CFP Figure 7\n",
            paragraph(
                f"""Many arrays are permuted by the bit reversal, {REPEAT} times, with a block of
                {N} threads for each array. Events time them. The card has {d} multiprocessors, and
                the model gives each of them its share of the blocks. So time should be flat up to
                {d} arrays and grow by a step with each further {d}. It does: up to {d} arrays the
                times of an algorithm differ by {percent(flat)} at most, and one array more takes
                {listed(short(one) for one in next_step)} times as long ({listed(algorithms)}).
                Several blocks on one multiprocessor gain nothing: one block already keeps shared
                memory busy."""
            ),
            table(
                ("arrays", *(f"{one}, {what} ms" for one in algorithms for what in _COLUMNS)),
                (
                    (str(k), *(cell for one in algorithms for cell in _figure_cells(rows, one, k)))
                    for k in values(rows, "arrays")
                ),
                texts=0,
            ),
            paragraph(
                f"""The mean absolute error up to {most} arrays is
                {listed(f"{error} ({name})" for name, error in names.items())}, and
                {percent(mean_error(rows))} over all {len(rows)} points. The prediction leaves out
                the launch, and the copying of arrays to shared memory and back. For one array the
                card takes {listed(missing)} microseconds longer than predicted."""
            ),
            _figure("CFP-F7", "time of many arrays, measured points on predicted steps"),
        )
    )


_COLUMNS = ("measured", "predicted")


def _figure_cells(rows: Sequence[Row], algorithm: str, k: int) -> tuple[str, ...]:
    (row,) = pick(rows, algorithm=algorithm, arrays=k)
    return tuple(f"{number(row, column):.3f}" for column in _COLUMNS)


def _time_of(rows: Sequence[Row], algorithm: str, k: int) -> float:
    (row,) = pick(rows, algorithm=algorithm, arrays=k)
    return number(row, "measured")


def _value(rows: Sequence[Row], kind: str, transpose: str, layout: str, field: str) -> float:
    (row,) = pick(rows, type=kind, transpose=transpose, layout=layout)
    return number(row, field)


def _grid(rows: Sequence[Row], down: str, across: str) -> str:
    columns = values(rows, across)
    return table(
        (down, *columns),
        (
            (
                str(line).replace("_", " "),
                *(_cell(*pick(rows, **{down: line, across: column})) for column in columns),
            )
            for line in values(rows, down)
        ),
    )


def _cell(row: Row) -> str:
    lines = [] if row["paper ns"] is None else [f"{short(number(row, 'paper ns'))} ns"]
    off = error(row)
    assert off is not None
    numbers = f"{number(row, 'measured'):.1f}, {number(row, 'predicted'):.1f}"
    return "<br>".join((*lines, numbers, signed(off)))


def _one_line(row: Row) -> str:
    paper = "" if row["paper ns"] is None else f"; the paper's took {number(row, 'paper ns')} ns"
    return (
        f"{number(row, 'measured'):.1f} cycles and {number(row, 'predicted'):.1f} are predicted"
        f"{paper}"
    )


def _error_sentence(kind: str, rows: Sequence[Row]) -> str:
    return (
        f"{kind.capitalize()}: {count(len(rows), 'cell')}, mean absolute error "
        f"{percent(mean_error(rows))}, largest {percent(largest_error(rows))}."
    )


def _figure(experiment: str, text: str) -> str:
    return f"![{text}](figures/metal-{experiment}.svg)\n"
