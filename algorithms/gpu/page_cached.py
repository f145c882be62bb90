"""The page's section about the machine with a cache: its numbers and its predictions."""

from __future__ import annotations

from mmsim.gpu.cache_calibrated import CHOSEN, RULES, UNIT_PS, Measured
from mmsim_algorithms.gpu.cached_predictions import KEPT, MOVES, TIMES
from mmsim_algorithms.gpu.kept import FOLDER, Results, number, pick, values
from mmsim_algorithms.gpu.markdown import bullets, paragraph, percent, short, signed, table
from mmsim_algorithms.gpu.page_beyond import tried
from mmsim_algorithms.gpu.page_sets import sets
from mmsim_algorithms.gpu.page_wrong import EXPLAINED, wrong
from mmsim_algorithms.gpu.predicted import (
    FEW,
    NEAR,
    TITLES,
    Predictions,
    bold,
    of_rates,
    ratio,
    same,
    summary,
    winners,
)

CASUAL = paragraph(
    """In arrays of tens of MiB the card fills sectors of casual writes and sends them to memory
    before the cache is full. The machine keeps them until a line has to make room
    ([below](#what-was-tried-and-left-out))."""
)
CACHE = "the-second-level-cache-and-the-memory"
CLUSTERS = """; the clusters of multiprocessors are as NVIDIA describes them, half of them at each
    half of the cache"""


def cached(results: Results) -> list[str]:
    """The sections; nothing without predictions."""
    if "cache" not in results.records:
        return []
    icpp, kernels = (Predictions.kept(which, results) for which in ("icpp", "kernels"))
    parts = [_numbers(results)]
    if icpp is not None:
        parts += [
            _permutations(icpp, results),
            _counts(icpp),
            wrong(icpp, EXPLAINED),
            CASUAL,
            _moves(icpp),
        ]
    if kernels is not None:
        parts += [*sets(results), _another(), *tried(results)]
    return ["\n".join(parts)]


def _numbers(results: Results) -> str:
    measured = Measured(results["cache"], results.card)
    found = {rule.name: rule.value(measured) for rule in RULES}
    rows = [
        (rule.name, _shown(value, rule.time), rule.words)
        for rule in RULES
        if (value := found[rule.name]) is not None
    ]
    chosen = {name: value for name, value in CHOSEN.items() if found.get(name) is None}
    clusters = "" if found["clusters"] is not None else CLUSTERS
    return "\n".join(
        (
            "## A machine with a cache\n",
            paragraph(
                """[`mm.Cached`](machines.md#sectors-a-cache-and-several-requests) has sectors, a
                cache in two halves, and several requests of a warp under way. Its numbers are
                computed from the microbenchmarks above, by the rules of this table, and none from
                the time or the counts of a predicted program. A few are chosen, as the text below
                the table says. But people chose the rules. They were kept or [left
                out](#what-was-tried-and-left-out) by what they made of the predictions below, too.
                So the machine isn't independent of these programs. Some rules, and some
                microbenchmarks, came only after a look at predictions:"""
            ),
            bullets(
                (
                    """After a first look at predicted permutations: fills and writes occupy the
                    tags, each for its own time, and each DMM has a port.""",
                    """After one prediction of all permutations and of the kernels below: a write
                    occupies the port and the wire for its own times. Then all microbenchmarks were
                    run again.""",
                    """After two predictions of the kernels: atomics wait for each other in slices,
                    as the microbenchmarks of atomics had shown before. Arithmetic waits for
                    nothing, as `sums:block_sums` of [the field's
                    algorithms](#the-fields-algorithms) had shown.""",
                    """After the prediction of all permutations, from microbenchmarks: half-warps
                    ask once for the tag of a line that they share, as the counts of S-designated
                    along the shuffle had suggested. Adjacent blocks run in one half of the
                    cache.""",
                    f"""After the prediction of the second set of kernels: a multiprocessor asks for
                    pages that it doesn't know, as reads many MiB apart had suggested. Clusters take
                    turns. Until then no microbenchmark had tested either; those of [the
                    cache](#{CACHE}) do now.""",
                    """After the prediction of the third set and of all permutations with these
                    rules: blocks begin in order wherever room is made, as NVIDIA describes. Each
                    cluster is in its measured half.""",
                )
            ),
            table(("number", "picoseconds, or as it is", "how it is found"), rows, texts=1).replace(
                "| ---: | ---: |\n", "| ---: | --- |\n"
            ),
            paragraph(
                "Not measured: "
                + ", ".join(f"`{name}` = {value}" for name, value in chosen.items())
                + f""". The counters show sectors and halves{clusters}; the counts of
                microbenchmarks hardly depend on the others. A prediction adds the time of the
                launch itself, from the section about the machine. It covers all launches of an
                algorithm: each finds the cache as the last one left it, and the first one as a
                write to another array left it."""
            ),
        )
    )


def _shown(value: int | tuple[int, ...], time: bool) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value * UNIT_PS:.1f}" if time else str(value)


def _permutations(icpp: Predictions, results: Results) -> str:
    rows = icpp.times()
    sides = values(rows, "sqrt n")
    measured, predicted = winners(rows, "measured"), winners(rows, "predicted")
    right = sum(predicted[key] == winner for key, winner in measured.items())
    by_side = [
        (f"√n = {side}", str(len(own)), summary(own))
        for side in sides
        for own in [pick(rows, sqrt_n=side)]
    ]
    cells = [
        (
            str(algorithm),
            str(permutation).replace("_", " "),
            str(kind),
            *(
                ratio(pick(rows, algorithm=algorithm, permutation=permutation, type=kind, sqrt_n=s))
                for s in sides
            ),
        )
        for algorithm in values(rows, "algorithm")
        for permutation in values(rows, "permutation")
        for kind in values(rows, "type")
    ]
    return "\n".join(
        (
            "### ICPP's permutations by this machine\n",
            paragraph(
                f"""Of {len(rows)} cells of ICPP's Table II, several words a thread:
                {summary(rows)}. The machine predicts the fastest of the three algorithms for
                {right} of {len(measured)}. The aim was a mean of 15%, none over 40%, and 54 of
                60.{_table_3(icpp, results)}"""
            ),
            table(("size", "cells", "times"), by_side, texts=1),
            paragraph("Predicted/measured:"),
            table(("algorithm", "permutation", "type", *map(str, sides)), cells, texts=3),
        )
    )


def _table_3(icpp: Predictions, results: Results) -> str:
    """The predictions for Table III, in a sentence."""
    own = [row for row in icpp.of(TIMES) if row.get("table") == "ICPP-T3"]
    if not own:
        return ""
    parts, apart = [], 0.0
    for row in own:
        rows = pick(results["ICPP-T3"].rows, algorithm=row["algorithm"])
        times = {one["seed"]: number(one, "measured") for one in rows}
        off = number(row, "predicted") / times[0] - 1
        parts.append(f"{row['algorithm']} {signed(off)}")
        apart = max(apart, max(times.values()) / min(times.values()) - 1)
    return f""" The errors for Table III's first permutation, launched as in the paper, are
        {", ".join(parts)}. The measured times of its {len(times):,} permutations differ by at most
        {percent(apart)}."""


def _counts(icpp: Predictions) -> str:
    launches = icpp.launches()
    rows = []
    for name in TITLES:
        known = [abs(number(row, name)) for row in launches if row[name] is not None]
        if known:
            near = sum(one <= NEAR for one in known)
            mean, most = percent(sum(known) / len(known)), percent(max(known))
            rows.append((name, str(len(known)), str(near), mean, most))
    return "\n".join(
        (
            "### What is counted of them\n",
            paragraph(
                f"""The table compares the predicted counts of {len(launches)} launches, each with
                an empty cache, with the profiler's. The launches of √n = 8192 were counted on
                another H200. Counts below {FEW} are left out, because each launch adds some. [The
                counters, predicted and counted](metal-counters.md) has the counts themselves, for
                each launch and next to its time, and defines them."""
            ),
            table(("count", "launches", "within 5%", "mean error", "largest"), rows),
            paragraph(
                f"""The hit rate of the second-level cache, hits over hits and misses, is predicted
                {of_rates(icpp.hit_rates())}."""
            ),
            paragraph("The errors of the predicted counts, in bold if over 5%:"),
            table(
                ("√n", "algorithm", "permutation", "type", "launch", *TITLES),
                (
                    (
                        str(row["sqrt n"]),
                        str(row["algorithm"]),
                        str(row["permutation"]).replace("_", " "),
                        str(row["type"]),
                        str(row["step"]),
                        *(bold(row[name]) for name in TITLES),
                    )
                    for row in sorted(launches, key=lambda row: number(row, "sqrt n"))
                ),
                texts=4,
            ),
        )
    )


def _moves(icpp: Predictions) -> str:
    """The time of a prediction, compared with the card and NumPy."""
    rows = []
    for own in icpp.of(MOVES):
        times = [one for one in icpp.of(TIMES) if "table" not in one and same(own, one)]
        measured = [one for one in icpp.measured if same(own, one)]
        if times and measured:
            seconds, moves = number(times[0], "seconds"), number(own, "seconds")
            card = short(number(measured[0], "measured") / 1000)
            by_numpy = f"{seconds / moves:.0f}" if moves else ""
            rows.append((str(own["sqrt n"]), card, short(moves), short(seconds), by_numpy))
    return "\n".join(
        (
            "### What a prediction takes\n",
            paragraph(
                """For D-designated along the random permutation of floats, the table has the
                seconds on the card, of NumPy's moves, and of the prediction, the last two in
                processor time. The smallest prediction includes Numba's compilation."""
            ),
            table(("√n", "card", "NumPy", "prediction", "times NumPy's"), rows, texts=0),
        )
    )


def _another() -> str:
    """The same for another card."""
    folder, results = KEPT / "h100", Results.read(FOLDER.parent / "h100")
    icpp, kernels = (Predictions.kept(which, results, folder) for which in ("icpp", "kernels"))
    if icpp is None or kernels is None:
        return ""
    cache = results["cache"].facts
    rows = icpp.times()
    sides = values(rows, "sqrt n")
    measured, predicted = winners(rows, "measured"), winners(rows, "predicted")
    right = sum(predicted[key] == winner for key, winner in measured.items())
    table_rows = [
        *((f"√n = {side}", summary(pick(rows, sqrt_n=side))) for side in sides),
        ("all of these", summary(rows)),
        ("the kernels", summary(kernels.times())),
    ]
    ratios = (
        f"{row['kernel']} ({row['data']}) {ratio([row]).strip('*')}" for row in kernels.times()
    )
    return "\n".join(
        (
            "### Another card\n",
            paragraph(
                f"""One {cache["device"]} (driver {cache["driver"]}, {str(cache["date"])[:10]}) was
                calibrated by the same command, and measured up to the largest size of this table.
                Only the measured numbers of the machine were changed for it. Its cache has
                {int(cache["cache bytes"]) >> 20} MiB. The machine predicts the fastest of the three
                algorithms for {right} of {len(measured)}."""
            ),
            table(("what", "times"), table_rows, texts=2),
            paragraph(f"Predicted/measured: {', '.join(ratios)}."),
        )
    )
