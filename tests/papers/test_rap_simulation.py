"""RAP's simulated tables: the counting against the library's rule, the means against exact ones."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

import mmsim as mm
from mmsim.model.conflicts import Banks
from mmsim.model.layout import offsets_of
from mmsim_algorithms.printed import table as printed_table
from mmsim_algorithms.rap import curves, estimates, higher_simulation, patterns, simulation
from mmsim_algorithms.rap import higher as rap_higher
from mmsim_algorithms.rap import programs as rap
from mmsim_algorithms.rap.bounds import CONSTANT, log_ratio
from mmsim_algorithms.rap.max_load import expected_max_load, expected_random
from mmsim_algorithms.reports import rap_tables


def congestion(addresses, w):
    """The most different addresses in one bank, counted plainly."""
    return max(Counter(address % w for address in set(addresses)).values())


def sure(mean, error, expected):
    """Within four standard errors."""
    return abs(mean - expected) <= 4 * error + 1e-12


def table(cells):
    return {(cell.access, cell.layout, cell.w): cell for cell in cells}


@pytest.fixture(scope="module")
def table_2():
    return table(simulation.table_2(samples=4000, widths=(4, 16, 32)))


@pytest.fixture(scope="module")
def table_4():
    return {w: table(higher_simulation.table_4(w, samples=1000, steps=3)) for w in (6, 16)}


# Exact expectations, each by enumeration.


@pytest.mark.parametrize(
    ("balls", "bins"), [*((w, w) for w in range(1, 7)), (1, 5), (5, 3), (3, 5), (7, 2)]
)
def test_expected_max_load_by_enumeration(balls, bins):
    throws = [max(Counter(throw).values()) for throw in product(range(bins), repeat=balls)]
    assert expected_max_load(balls, bins) == pytest.approx(sum(throws) / len(throws), abs=1e-12)


@pytest.mark.parametrize(("w", "cells"), [(1, 1), (2, 2), (3, 3), (2, 8), (3, 5), (4, 3)])
def test_expected_random_by_enumeration(w, cells):
    throws = [congestion(throw, w) for throw in product(range(w * cells), repeat=w)]
    assert expected_random(w, cells) == pytest.approx(sum(throws) / len(throws), abs=1e-12)


def test_random_cells_of_a_large_memory_are_balls_in_bins():
    assert expected_random(32, 32**3) == pytest.approx(expected_max_load(32, 32), abs=1e-3)


def test_the_printed_ras_and_random_figures_are_the_exact_ones_rounded():
    """The ledger's 3.0782 and so on; each rounds to what Table II prints."""
    for row in printed_table("rap_table2"):
        for w in simulation.WIDTHS:
            printed = float(row[f"w{w}"])
            if row["access"] == "random":
                assert round(expected_random(w), 2) == printed
            elif row["layout"] == "RAS" and row["access"] != "contiguous":
                assert round(expected_max_load(w, w), 2) == printed


# The counting.


@pytest.mark.parametrize("layout", simulation.LAYOUTS)
@pytest.mark.parametrize("pattern", ["random", "stride", "diagonal", "two to a row"])
@pytest.mark.parametrize("w", [1, 2, 5, 8, 32])
def test_counting_is_the_librarys_rule(pattern, layout, w):
    """The compiled loop and `stage_counts`, fed with the same numbers."""
    samples = 50
    counted = simulation.congestions(pattern, layout, w, samples, np.random.RandomState(w))
    random = np.random.RandomState(w)
    warps = samples if pattern == "random" else min(w, samples)
    row, column = patterns.cells(pattern, w, warps, random)
    row, column = (np.resize(index, (samples, w)) for index in (row, column))
    if layout == "RAW":
        shift = np.zeros((samples, w), dtype=int)
    elif layout == "RAS":
        shift = random.randint(w, size=(samples, w))
    else:
        shift = estimates.permutations(samples, w, random)
    bank = (column + np.take_along_axis(shift, row, axis=1)) % w
    warp = np.repeat(np.arange(samples), w)
    expected = Banks(w).stage_counts((row * w + bank).ravel(), warp, samples)
    assert counted.tolist() == expected.tolist()


@pytest.mark.parametrize("layout", rap_higher.LAYOUTS)
@pytest.mark.parametrize("access", rap_higher.ACCESSES)
def test_a_run_in_four_dimensions_counts_what_a_plain_count_does(access, layout):
    """Section VII's programs under the library's layouts: a warp has w elements along an axis."""
    w = 4
    for seed in range(3):
        placed = rap_higher.LAYOUTS[layout](w, seed)
        axis = {"stride3": 0, "stride2": 1, "stride1": 2, "contiguous": 3}[access]
        warps = np.moveaxis(placed.offsets((w, w, w, w)), axis, 3).reshape(-1, w)
        run = mm.DMM(w, 1).run(
            rap_higher.ACCESSES[access], mm.place(rap_higher.array(w), placed), threads=w**4
        )
        assert run.stages == sum(congestion(warp, w) for warp in warps.tolist())


@pytest.mark.parametrize("layout", rap_higher.LAYOUTS)
def test_four_dimensions_have_the_law_of_the_layouts(layout):
    """The mean over seeded layouts of the library, and the simulation's, which builds none."""
    w = 4
    for access in ("stride1", "stride2", "diagonal1", "diagonal2", "grid i, j", "random"):
        if access == "random":
            index = np.random.RandomState(0).randint(w, size=(4, w))
        else:
            index = dict(higher_simulation.patterns(w))[access]
        built = []
        for seed in range(400):
            offsets = offsets_of(rap_higher.LAYOUTS[layout](w, seed), (w, w, w, w))
            built.append(congestion(offsets[tuple(index)].tolist(), w))
        i, j, k, l = np.repeat(index[:, None], 4000, axis=1)
        sampled = higher_simulation.higher_congestions(
            layout, w, i, j, k, l, np.random.RandomState(1)
        )
        error = np.hypot(np.std(built) / 20, np.std(sampled) / np.sqrt(4000))
        assert sure(sampled.mean(), error, np.mean(built)), access


# Table II.


def test_table_2_has_the_papers_cells_in_its_order():
    cells = simulation.table_2(samples=50)
    assert len(cells) == 4 * 3 * 5
    assert all(cell.printed for cell in cells)
    printed = [row[f"w{w}"] for row in printed_table("rap_table2") for w in simulation.WIDTHS]
    assert [cell.printed for cell in cells] == printed


def test_table_2_is_what_it_estimates(table_2):
    for cell in table_2.values():
        if cell.expected is not None:
            assert sure(cell.mean, cell.standard_error, cell.expected), cell
        assert cell.agrees is not False, cell
        assert (cell.printed == "") == (cell.w == 4)


def test_the_diagonal_under_rap_by_enumeration(table_2):
    """All 24 permutations, w = 4: the bank of a[j][i + j] is i + j + r_j."""
    loads = [
        max(Counter((j + r[j]) % 4 for j in range(4)).values()) for r in permutations(range(4))
    ]
    cell = table_2["diagonal", "RAP", 4]
    assert cell.expected is None
    assert sure(cell.mean, cell.standard_error, np.mean(loads))


def test_cells_that_are_constant_have_no_error(table_2):
    for access, layout in (("contiguous", "RAS"), ("stride", "RAP"), ("diagonal", "RAW")):
        cell = table_2[access, layout, 16]
        assert (cell.mean, cell.standard_error, cell.same_digits) == (1, 0, True)
    assert table_2["stride", "RAW", 32].mean == 32


def test_the_same_seed_gives_the_same_table():
    one, two = (simulation.table_2(200, (8,), seed=3) for _ in range(2))
    assert one == two != simulation.table_2(200, (8,), seed=4)


def test_a_cell_compares_itself_with_the_paper():
    cell = estimates.Cell("stride", "RAS", 32, 3.5361, 0.002, "3.53")
    assert cell.difference == pytest.approx(0.0061)
    assert (cell.same_digits, cell.agrees) == (False, True)
    assert estimates.Cell("stride", "RAS", 32, 3.56, 0.002, "3.53").agrees is False
    words = estimates.Cell("stride1", "RAS", 32, 3.53, 0.002, "log")
    assert (words.difference, words.same_digits, words.agrees) == (None, None, None)


# Table III.


def test_table_3_agrees_with_the_paper():
    cells = simulation.table_3(samples=4000)
    assert len(cells) == 3 * 3 * 2
    assert all(cell.agrees for cell in cells)


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("transpose", rap.OUT_OF_PLACE)
def test_table_3_counts_what_the_transposes_access(transpose, kind):
    """The pattern that stands for a transpose's reads or writes is the one that it makes."""
    w = 6
    pattern = simulation.TRANSPOSES[transpose, kind]
    row, column = patterns.cells(pattern, w, w, np.random.RandomState(0))
    a = rap.matrix(w)
    run = mm.DMM(w, 1).run(
        rap.OUT_OF_PLACE[transpose], a, np.zeros_like(a), threads=w * w, trace=True
    )
    elements = [one.elements for one in run.trace.dispatches if one.kind == kind]
    assert elements == [tuple(warp) for warp in row * w + column]


# Table IV.


def test_table_4_is_what_it_estimates(table_4):
    for w, cells in table_4.items():
        for cell in cells.values():
            if cell.expected is not None:
                assert sure(cell.mean, cell.standard_error, cell.expected), cell
            if cell.printed in ("1", "w") and cell.access != "random_numbers":
                assert cell.mean == {"1": 1, "w": w}[cell.printed]


def test_table_4_has_the_papers_cells(table_4):
    printed = {row["access"]: row for row in printed_table("rap_table4")}
    for cells in table_4.values():
        assert len(cells) == 7 * 7
        assert all(cell.printed == printed[cell.access][cell.layout] for cell in cells.values())


def test_random_numbers_are_what_the_paper_prints(table_4):
    for w, cells in table_4.items():
        value = {"0": 0, "w": w, "3w": 3 * w, "w^3": w**3, "w^2+w": w * w + w}
        for layout in rap_higher.LAYOUTS:
            cell = cells["random_numbers", layout, w]
            assert cell.mean == value[cell.printed]


@pytest.mark.parametrize("layout", rap_higher.LAYOUTS)
def test_random_numbers_are_those_that_the_generator_gives(monkeypatch, layout):
    """Counted where NumPy gives them, while a whole array is laid out."""
    given = []

    class Counting(np.random.RandomState):
        def permutation(self, x):
            given.append(x)
            return super().permutation(x)

        def randint(self, low, high=None, size=None):
            given.append(int(np.prod(size)))
            return super().randint(low, high, size)

    monkeypatch.setattr(np.random, "RandomState", Counting)
    for w in (2, 4):
        given.clear()
        rap_higher.LAYOUTS[layout](w, 0).offsets((w, w, w, w))
        count = sum(given)
        assert rap_higher.random_numbers(layout, w) == count


# How Table IV's cells are judged.


def figure(printed, mean, error=0.0, **more):
    return rap_tables.figure_of(estimates.Cell("row", "3P", 32, mean, error, printed, **more))


def test_a_whole_number_or_a_term_in_w_is_exact():
    for printed, number in (("1", 1), ("w", 32), ("3w", 96), ("w^2+w", 1056), ("w^3", 32768)):
        assert figure(printed, number).agrees
        assert not figure(printed, number + 0.1, 0.1).explained
    assert figure("3.53", 3.534, 0.001).agrees


def test_a_mean_of_a_known_expectation_can_miss_on_both_sides():
    assert [figure("log", mean, 0.01, expected=3.5).agrees for mean in (3.4, 3.48, 3.52, 3.6)] == [
        *(False, True, True, False)
    ]


def test_a_malicious_access_has_limits_on_both_sides():
    """The upper one is 2 ln w / ln ln w = 5.58."""
    means = (3.4, 3.48, 5.5, 5.7)
    assert [figure("log", mean, 0.01, least=3.5).agrees for mean in means] == [
        *(False, True, True, False)
    ]
    assert figure("log", 4.0, 0.01, least=3.5).condition.startswith("limits on both sides")


def test_a_limit_of_w_or_more_does_not_count():
    """12 ln(w/6) / ln ln(w/6) = 39 at w = 32."""
    loose = figure("6log", 8.0, 0.01)
    assert (loose.counts, loose.satisfied) == (False, None)
    assert loose.condition == "at most 38.99, which no access exceeds"
    assert [figure("6log", mean, 0.01, least=6.0).agrees for mean in (5.9, 8.0)] == [False, True]
    assert figure("6log", 8.0, 0.01, least=6.0).counts


def test_every_cell_of_table_4_could_have_failed():
    held = Counter(
        rap_tables.figure_of(cell).condition.partition(",")[0]
        for cell in higher_simulation.table_4(32, samples=200, steps=0)
    )
    assert held == {
        "the number printed": 30,
        "the exact expectation": 14,
        "limits on both sides": 4,
        "a limit on one side": 1,
    }


@pytest.mark.parametrize("w", [8, 16, 32, 64])
def test_what_the_paper_calls_log_over_loglog_is_that_on_both_sides(w):
    """The exact expectations of strides under RAS and of random accesses, by the logarithms."""
    for expected in (expected_max_load(w, w), expected_random(w), expected_random(w, w**3)):
        assert 0.8 * log_ratio(w) < expected < CONSTANT * log_ratio(w) < w


def test_malicious_accesses_are_no_milder_than_the_strides(table_4):
    for w, cells in table_4.items():
        for layout in rap_higher.LAYOUTS:
            malicious = cells["malicious", layout, w]
            for access in higher_simulation.HIGHER_ACCESSES[:-1]:
                other = cells[access, layout, w]
                error = np.hypot(malicious.standard_error, other.standard_error)
                assert malicious.mean >= other.mean - 4 * error
    assert table_4[16]["malicious", "R1P", 16].note.startswith("six-fold")
    assert table_4[16]["malicious", "R1P", 16].mean > 6


@pytest.mark.parametrize("w", [4, 6, 7, 8, 16, 32])
def test_malicious_patterns_are_distinct_elements(w):
    for name, index in higher_simulation.patterns(w):
        assert index.shape == (4, w), name
        assert ((index >= 0) & (index < w)).all(), name
        if w >= 8:
            assert len({tuple(element) for element in index.T.tolist()}) == w, name


def test_six_fold_groups_share_a_bank_under_r1p():
    """Section VII: a[0][1][2][l] and its five other orders."""
    w = 12
    index = dict(higher_simulation.patterns(w))["six-fold"]
    assert {tuple(element[:3]) for element in index.T[:6].tolist()} == set(permutations(range(3)))
    for seed in range(20):
        offsets = mm.layout.R1P(w, seed).offsets((w, w, w, w))[tuple(index)]
        assert {len(set((offsets[group : group + 6] % w).tolist())) for group in (0, 6)} == {1}


def test_the_search_climbs():
    """From a contiguous access it finds one that conflicts, and never a milder one."""

    def score(access):
        i, j, k, l = np.repeat(access[:, None], 50, axis=1)
        random = np.random.RandomState(0)
        return float(higher_simulation.higher_congestions("3P", 6, i, j, k, l, random).mean())

    start = np.array([[0] * 6, [0] * 6, [0] * 6, list(range(6))])
    climbed = higher_simulation._climb(start, 6, score, steps=60, seed=1)
    assert score(start) == 1
    assert score(climbed) > 1.5


# Curves.


def test_curves_stay_within_a_constant_of_log_over_loglog():
    points = curves.curves(widths=(8, 32), samples=300)
    assert len(points) == 2 * (3 + 3 + 5)
    for point in points:
        assert point.log_ratio > 1
        assert point.mean <= 3 * point.log_ratio
    by_hand = {point.log_ratio for point in points if point.layout == "RAS" and point.w == 32}
    assert by_hand == {np.log(32) / np.log(np.log(32))}
