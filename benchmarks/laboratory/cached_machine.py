"""The page's section about the machine with a cache: its numbers and its predictions."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.laboratory import kernel_sets, unmodelled_section
from benchmarks.laboratory.predictions import (
    FEW,
    NEAR,
    TITLES,
    Predictions,
    bold,
    of_rates,
    ratio,
    summary,
    wrong,
)
from benchmarks.laboratory.rendering import render
from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.cache_calibrated import CHOSEN, RULES, UNIT_PS, Measured
from mmsim_algorithms.gpu.cached_predictions import KEPT, MOVES, TIMES
from mmsim_algorithms.gpu.comparisons import plain, winners
from mmsim_algorithms.gpu.evidence import same
from mmsim_algorithms.gpu.kept import FOLDER, Results, number, pick, values
from mmsim_algorithms.gpu.markdown import percent, short, signed, table


def section(results: Results) -> str:
    """The sections; nothing without predictions."""
    if "cache" not in results.records:
        return ""
    icpp, kernels = (Predictions.kept(which, results) for which in ("icpp", "kernels"))
    parts = [_numbers(results)]
    if icpp is not None:
        parts.append(_permutations(icpp, results))
    if kernels is not None:
        parts += [kernel_sets.section(results), _another(), unmodelled_section.section(results)]
    return "\n".join(filter(None, parts))


def _numbers(results: Results) -> str:
    measured = Measured(results["cache"], results.card)
    found = {rule.name: rule.value(measured) for rule in RULES}
    return render(
        "cached_machine",
        numbers={rule.name: _shown(found[rule.name], rule.time) for rule in RULES},
        chosen=[f"`{name}` = {value}" for name, value in CHOSEN.items() if found.get(name) is None],
        clusters=found["clusters"],
    )


def _shown(value: int | tuple[int, ...] | None, time: bool) -> str | None:
    if value is None:
        return None
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value * UNIT_PS:.1f}" if time else str(value)


# ------------------------------------------------------------ permutations


def _permutations(icpp: Predictions, results: Results) -> str:
    rows, launches = icpp.times(), icpp.launches()
    sides = values(rows, "sqrt n")
    right, contested = _right(icpp)
    names = ("algorithm", "permutation", "type")
    cells = [
        (
            *map(plain, about),
            *(ratio(pick(rows, **dict(zip(names, about, strict=True)), sqrt_n=s)) for s in sides),
        )
        for about in dict.fromkeys(
            (algorithm, permutation, kind)
            for algorithm in values(rows, "algorithm")
            for permutation in values(rows, "permutation")
            for kind in values(rows, "type")
        )
    ]
    off = [
        (
            *(plain(row[name]) for name in ("sqrt n", *names, "step")),
            *(bold(row[name]) for name in TITLES),
        )
        for row in sorted(launches, key=lambda row: number(row, "sqrt n"))
    ]
    return render(
        "cached_permutations",
        times=rows,
        right=right,
        contested=contested,
        **_table_3(icpp, results),
        by_side=table(
            ("size", "cells", "times"),
            [
                (f"√n = {side}", str(len(own)), summary(own))
                for side in sides
                for own in [pick(rows, sqrt_n=side)]
            ],
        ),
        cells=table((*names, *map(str, sides)), cells, texts=3),
        launches=launches,
        few=FEW,
        near=_near(launches),
        hit_rates=of_rates(icpp.hit_rates()),
        off=table(("√n", *names, "launch", *TITLES), off, texts=4),
        wrong=wrong(icpp, explained=True),
        moves=_moves(icpp),
    )


def _right(icpp: Predictions) -> tuple[int, int]:
    """Count the right predictions of the fastest algorithm, and all."""
    measured = winners(icpp.times(), lambda row: number(row, "measured"))
    predicted = winners(icpp.times(), lambda row: number(row, "predicted"))
    return sum(predicted[key] == winner for key, winner in measured.items()), len(measured)


def _table_3(icpp: Predictions, results: Results) -> dict[str, object]:
    """The errors for Table III, and how far its measured times are apart."""
    parts, apart, permutations = [], 0.0, 0
    for row in icpp.of(TIMES):
        if row.get("table") == "ICPP-T3":
            rows = pick(results["ICPP-T3"].rows, algorithm=row["algorithm"])
            times = {one["seed"]: number(one, "measured") for one in rows}
            off = number(row, "predicted") / times[0] - 1
            parts.append(f"{row['algorithm']} {signed(off)}")
            apart = max(apart, max(times.values()) / min(times.values()) - 1)
            permutations = len(times)
    return {"table_3": parts, "apart": apart, "permutations": permutations}


def _near(launches: Sequence[Row]) -> str:
    """A line for each count: where it is known and near, its mean and its largest error."""
    rows = []
    for name in TITLES:
        known = [abs(number(row, name)) for row in launches if row[name] is not None]
        if known:
            near = sum(one <= NEAR for one in known)
            mean, most = percent(sum(known) / len(known)), percent(max(known))
            rows.append((name, str(len(known)), str(near), mean, most))
    return table(("count", "launches", "within 5%", "mean error", "largest"), rows)


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
    return table(("√n", "card", "NumPy", "prediction", "times NumPy's"), rows, texts=0)


def _another() -> str:
    """The same for another card."""
    folder, results = KEPT / "h100", Results.read(FOLDER.parent / "h100")
    icpp, kernels = (Predictions.kept(which, results, folder) for which in ("icpp", "kernels"))
    if icpp is None or kernels is None:
        return ""
    rows = icpp.times()
    right, contested = _right(icpp)
    lines = [
        *((f"√n = {one}", summary(pick(rows, sqrt_n=one))) for one in values(rows, "sqrt n")),
        ("all of these", summary(rows)),
        ("the kernels", summary(kernels.times())),
    ]
    facts = results["cache"].facts
    return render(
        "another_card",
        facts=facts,
        mebibytes=int(facts["cache bytes"]) >> 20,
        right=right,
        contested=contested,
        table=table(("what", "times"), lines, texts=2),
        ratios=[
            f"{row['kernel']} ({row['data']}) {ratio([row]).strip('*')}" for row in kernels.times()
        ],
    )
