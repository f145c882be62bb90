"""Layouts in launches with symbols: the stages that are proved are those of runs."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims.launch import Rotated, SymbolicLaunch, below
from mmsim.proof.domain import Case
from mmsim.proof.facts import Split
from mmsim.proof.launched import measured
from mmsim.proof.terms import Undecided
from mmsim_algorithms.dmm_permutation.wide_banks import WideBankDMM
from mmsim_algorithms.rap import higher, programs
from mmsim_algorithms.rap.launches import HIGHER_SHIFTS, SHIFTS

WIDTHS = (1, 2, 4)


def proved(program, machine, shape, shifts):
    """The stages of an access to all elements of an array, or None."""
    launch = SymbolicLaunch(
        program, {"a": shape}, int(np.prod(shape)), machine, layouts={"a": shifts}
    )
    case = Case({}, {})
    try:
        return measured([launch], case, case.facts()).stages.term.number
    except Undecided:
        return None


def run(program, machine, shape, layout):
    """The stages of a run."""
    a = mm.place(np.zeros(shape), layout)
    return machine.run(program, a, threads=a.data.size).stages


@mm.program
def pairs(T: mm.Thread, a: mm.Array) -> None:
    """Two rows of a column for each pair of lanes."""
    w = a.shape[0]
    a[T.id % w // 2, T.id // w]


@pytest.mark.parametrize(
    ("layouts", "shifts", "accesses", "axes", "known"),
    [
        (programs.LAYOUTS, SHIFTS, {**programs.ACCESSES, "pairs": pairs}, 2, 9),
        (higher.LAYOUTS, HIGHER_SHIFTS, higher.ACCESSES, 4, 21),
    ],
)
def test_stages_of_rotated_rows(layouts, shifts, accesses, axes, known):
    decided = set()
    for width in WIDTHS:
        machine, shape = mm.DMM(width, 1), (width,) * axes
        for kind, access in ((k, a) for k in layouts for a in accesses):
            found = proved(accesses[access], machine, shape, shifts[kind])
            if found is None:
                continue
            decided |= {(kind, access)} if width > 2 else set()
            for seed in range(3):
                layout = layouts[kind](width, seed)
                assert found == run(accesses[access], machine, shape, layout), (kind, access)
    assert len(decided) == known


def test_a_layout_by_a_function():
    machine = mm.UMM(4, 1)
    by_columns = mm.layout.Strided((8, 8), (1, 8))
    for name, program in programs.ACCESSES.items():
        stages = proved(program, machine, (8, 8), lambda i, j: j * 8 + i)
        assert stages == run(program, machine, (8, 8), by_columns), name


@mm.program
def along(T: mm.Thread, a: mm.Array, p: mm.Array) -> None:
    """The words of a that p names."""
    a[p[T.id]]


@mm.program
def often(T: mm.Thread, a: mm.Array, p: mm.Array) -> None:
    """As many accesses as p says."""
    for _ in range(p[T.warp]):
        a[T.id]


@below(lambda m, x: m)
def somewhere(m, x):
    return (x * 7 + 3) % m


def stages_along(program, machine, element):
    """The stages of a launch, and of its run."""
    launch = SymbolicLaunch(program, {"a": (64,), "p": (32,)}, 32, machine, contents={"p": element})
    case = Case({}, {})
    table = element(np.arange(32))
    return (
        measured([launch], case, case.facts()).stages.term.number,
        machine.run(program, np.zeros(64), table, threads=32).stages,
    )


@pytest.mark.parametrize("machine", [mm.DMM(4, 1), mm.UMM(4, 1), WideBankDMM(4, 1)], ids=str)
@pytest.mark.parametrize("apart", [1, 2, 4, 8])
def test_contents_that_are_below_a_number(machine, apart):
    def element(i):
        return i % 4 * apart + somewhere(apart, i // 4)

    if type(machine) is mm.UMM and apart < 4:
        with pytest.raises((Undecided, Split)):
            stages_along(along, machine, element)
    else:
        proved, found = stages_along(along, machine, element)
        assert proved == found


def test_a_number_of_trips_that_is_below_a_number():
    with pytest.raises(Undecided, match="what is in memory"):
        stages_along(often, mm.DMM(4, 1), lambda i: 1 + somewhere(4, i // 4))


def test_rows_that_are_no_rows_of_banks():
    assert proved(programs.contiguous, mm.UMM(4, 1), (4, 4), Rotated((0,))) is None
    assert proved(programs.contiguous, mm.DMM(4, 1), (8, 8), Rotated((0,))) is None
    assert proved(programs.contiguous, mm.DMM(4, 1), (4, 4), Rotated((0,))) == 4
