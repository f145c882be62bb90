"""The page's section about many random permutations in global memory."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.icpp_tables import ALGORITHMS, extremes
from mmsim_algorithms.gpu.kept import Results, mean_error, number, pick, values
from mmsim_algorithms.gpu.markdown import count, listed, paragraph, percent, table
from mmsim_algorithms.gpu.page_rows import cell
from mmsim_algorithms.gpu.permuting import WARP
from mmsim_algorithms.reports.distributions import kept_distributions


def section(results: Results) -> str:
    """ICPP's Table III."""
    every = results["ICPP-T3"].rows
    rows = extremes(every)
    (side,) = values(rows, "sqrt n")
    (permutations,) = values(rows, "permutations")
    predicted = sum(row["predicted"] is not None for row in every) // len(ALGORITHMS)
    spread, printed_spread = (
        max(
            _value(rows, "maximum", one, field) / _value(rows, "minimum", one, field) - 1
            for one in ALGORITHMS
        )
        for field in ("measured", "paper ms")
    )
    ranked = sorted(ALGORITHMS, key=lambda one: _value(rows, "average", one, "measured"))
    scheduled = pick(rows, algorithm="scheduled")
    counted = kept_distributions()
    distributions = {
        "minimum": counted.minimum,
        "average": counted.average,
        "maximum": counted.maximum,
    }
    return "\n".join(
        (
            "### ICPP Table III\n",
            paragraph(
                f"""All three algorithms ran along {permutations} random permutations of {side} x
                {side} floats, as many as in the paper and launched as there. Each cell has the
                paper's milliseconds; the measured and the predicted ones; and the error or the
                factor as above. Only the first {predicted} permutations are predicted: D_w(P), at w
                = {WARP}, hardly differs between two random permutations, and for scheduled the
                model predicts the same time along each. The last column is counted over the
                {counted.count} measured permutations."""
            ),
            table(
                ("", *ALGORITHMS, "D_w(P)/n"),
                (
                    (
                        name,
                        *(
                            cell({**row, "coalesced": algorithm == "scheduled"})
                            for algorithm in ALGORITHMS
                            for row in pick(rows, row=name, algorithm=algorithm)
                        ),
                        f"{distributions[name] / counted.n:.5f}",
                    )
                    for name in values(rows, "row")
                ),
            ),
            paragraph(
                f"""One random permutation takes about as long as another: the slowest takes at most
                {percent(spread)} longer than the fastest, in the paper {percent(printed_spread)}.
                The order of the algorithms is {listed(ranked)}, from fast to slow; the mean
                absolute error of scheduled is {percent(mean_error(scheduled))} over
                {count(len(scheduled), "row")}."""
            ),
            "![predicted against measured times of ICPP Table III](figures/metal-ICPP-T3.svg)\n",
        )
    )


def _value(rows: Sequence[Row], name: str, algorithm: str, field: str) -> float:
    (row,) = pick(rows, row=name, algorithm=algorithm)
    return number(row, field)
