"""The page's section about the fastest algorithm in global memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.kept import contest, number, paper_ms, pick, values
from mmsim_algorithms.gpu.markdown import listed, paragraph, table
from mmsim_algorithms.gpu.page_rows import plain

Place = tuple[str, str, int]
"""A type, a permutation and a size."""


def cells(rows: Sequence[Row]) -> dict[Place, list[Row]]:
    """The rows of the competing algorithms for each type, permutation and size."""
    return {
        (kind, name, side): pick(rows, type=kind, permutation=name, sqrt_n=side)
        for kind in values(rows, "type")
        for name in values(rows, "permutation")
        for side in values(rows, "sqrt n")
    }


def winners(rows: Sequence[Row], time: Callable[[Row], float | None]) -> dict[Place, str]:
    """The fastest algorithm of each type, permutation and size with known times."""
    found = {place: contest(own, time) for place, own in cells(rows).items()}
    return {place: one.winner for place, one in found.items() if one}


def section(rows: Sequence[Row]) -> str:
    """The wins of the scheduled permutation: on the card, in the paper, and by the model."""
    sides = values(rows, "sqrt n")
    own = cells(rows)
    today = winners(rows, lambda row: number(row, "measured"))
    model = winners(rows, lambda row: number(row, "predicted"))
    paper = winners(rows, paper_ms)
    won = [cell for cell in own if today.get(cell) == "scheduled"]
    then = [cell for cell in paper if paper[cell] == "scheduled"]
    forecast = [cell for cell in own if model.get(cell) == "scheduled"]

    def text(kind: str, name: str, side: int) -> str:
        found = contest(own[kind, name, side], lambda row: number(row, "measured"))
        assert found is not None
        short_name = found.winner.removesuffix("-designated")
        return f"{short_name} {found.ahead:.2f}"

    return "\n".join(
        (
            "### Where the scheduled permutation wins\n",
            paragraph(
                """The two ways to permute are scheduled and the faster of D- and S-designated. Each
                cell names the fastest algorithm on the card and the ratio of the other way's time
                to its time:"""
            ),
            table(
                ("type", "permutation", *(f"√n = {side}" for side in sides)),
                (
                    (kind, plain(name), *(text(kind, name, side) for side in sides))
                    for kind in values(rows, "type")
                    for name in values(rows, "permutation")
                ),
                texts=2,
            ),
            paragraph(
                f"""Today the scheduled permutation wins {len(won)} of {len(own)} cells:
                {listed(_place(*cell) for cell in won) or "none"}. In the paper it won {len(then)}
                of the {len(paper)} cells printed. In the model it wins {len(forecast)} of
                {len(own)}, among them {sum(cell in forecast for cell in won)} of the {len(won)}
                that it wins on the card. The model overcharges casual reads, so it can't show the
                sizes at which scheduled wins on this card."""
            ),
        )
    )


def _place(kind: str, name: str, side: int) -> str:
    return f"{plain(name)} ({kind}) at √n = {side}"
