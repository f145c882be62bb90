"""The page's section about fifty tiles: mmsim, the card, and tensor-layouts."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.kept import FOLDER, Results
from mmsim_algorithms.gpu.markdown import count, listed, paragraph, table
from mmsim_algorithms.gpu.tile_cases import CASES, Case
from mmsim_algorithms.gpu.tiles import EXPERIMENT

SAID = FOLDER.parent / "tensor-layouts.json"
"""tensor-layouts' counts, from `python -m mmsim_algorithms.gpu.tiles --tensor-layouts`."""


def tiles(results: Results) -> list[str]:
    """The table of tiles and its conclusions; nothing without a record."""
    if EXPERIMENT not in results.records:
        return []
    record, theirs = results[EXPERIMENT], Record.read(SAID)
    card, ways, phases = (
        dict(zip(CASES, (row[field] for row in of.rows), strict=True))
        for of, field in ((record, "hardware"), (theirs, "ways"), (theirs, "by phases"))
    )
    own = [case for case in CASES if case.answer.stages == card[case]]
    same = [case for case in CASES if ways[case] == card[case]]
    called = [case for case in CASES if ways[case] != 1 and card[case] == case.answer.least]
    asked = [case for case in CASES if phases[case] == card[case]]
    parts = [
        "## Tiles\n",
        paragraph(
            f"""{count(len(CASES), "layout")} with accesses, as kernels have them, make one request
            each. The table gives them in CuTe's words: the layout of the tile, and the elements
            that a warp accesses in one instruction, by threads and values. The card counted on
            {str(record.facts["date"])[:10]}, as above. The stages of `mm.conflicts` are the card's
            wavefronts in {len(own)} of {len(CASES)}. An access is free of conflicts if it takes the
            least number of stages."""
        ),
        paragraph(
            f"""The table also has the ways of the conflict by
            [tensor-layouts](https://github.com/facebookresearch/tensor-layouts)
            {theirs.facts["version"]}, `bank_conflicts(...)["max_ways"]`: the most words that a
            whole warp accesses in one bank. They equal the card's wavefronts in {len(same)} of
            {len(CASES)} cases. The others are {_names(CASES, same)}. There the threads of two
            phases share words or access other banks, so that one count for the whole warp is too
            small."""
        ),
        paragraph(
            f"""tensor-layouts calls an access free of conflicts if there is one way. Its function
            has no phases, so it reports conflicts in {count(len(called), "access", "accesses")}
            with the least number of stages: {_names(called)}. It does merge threads that access one
            word. Its `per_group_bank_conflicts` takes the size of a group. For groups of a phase's
            lanes, the sum of the ways equals the card's wavefronts in {len(asked)} of {len(CASES)}.
            The others are reads whose lanes share addresses in pairs, and so take half the phases:
            {_names(CASES, asked)}."""
        ),
        table(
            (
                *("access", "layout", "threads and values", "bytes"),
                *("tensor-layouts, ways", "mmsim, stages", "card, wavefronts", "least"),
            ),
            (
                (
                    *(case.name, f"`{case.layout}`", f"`{case.access}`", str(case.size)),
                    *(str(ways[case]), str(case.answer.stages)),
                    *(str(card[case]), str(case.answer.least)),
                )
                for case in CASES
            ),
            texts=3,
        ),
    ]
    return ["\n".join(parts)]


def _names(cases: Iterable[Case], without: Collection[Case] = ()) -> str:
    return listed(f'"{case.name}"' for case in cases if case not in without)
