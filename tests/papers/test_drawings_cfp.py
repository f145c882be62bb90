"""CFP's figures: they show what the paper's text says, and nothing else can be drawn."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms import permutations
from mmsim_algorithms.colouring.flipping import Augmentation, augmentations
from mmsim_algorithms.dmm_permutation import many_arrays
from mmsim_algorithms.dmm_permutation.cases import EXAMPLE_D, EXAMPLE_P, EXAMPLE_S
from mmsim_algorithms.drawings import cfp_figures
from mmsim_algorithms.gpu.kept import FOLDER, Results
from tests.kit.views.drawn import labels, words


def edges(axes):
    """Of each edge its number, its nodes and whether it is drawn as one of the matching."""
    return {
        int(line.get_gid().removeprefix("edge-")): (
            int(line.get_ydata()[0]),
            int(line.get_ydata()[-1]),
            line.get_linewidth() > 2,
        )
        for line in axes.lines
        if (line.get_gid() or "").startswith("edge-")
    }


def paths(axes):
    return {
        int(line.get_gid().rpartition("-")[2])
        for line in axes.lines
        if (line.get_gid() or "").startswith("path-")
    }


def test_figure_3_has_4_colours_at_each_node():
    (axes,) = cfp_figures.figure_3().axes
    found = [line for line in axes.lines if (line.get_gid() or "").startswith("edge-")]
    assert len(found) == 16
    for end in (0, -1):
        assert len({(line.get_ydata()[end], line.get_color()) for line in found}) == 16
    joined = sorted((u, v) for u, v, _ in edges(axes).values())
    assert joined == sorted((i % 4, int(EXAMPLE_P[i]) % 4) for i in range(16))


def test_figure_3_can_have_the_colours_that_the_paper_prints(monkeypatch):
    monkeypatch.setattr(cfp_figures, "tables", lambda *_: (EXAMPLE_S, EXAMPLE_D))
    assert "B[3] of b" in words(cfp_figures.figure_3())


def test_figure_5_has_an_edge_more_than_figure_4_by_flipping_its_paths():
    before, after = cfp_figures.figure_4().axes, cfp_figures.figure_5().axes
    lengths = []
    for old, new in zip(before, after, strict=True):
        assert not paths(new)
        lengths.append(len(paths(old)))
        was, now = edges(old), edges(new)
        changed = {e for e in was if was[e] != now[e]}
        assert changed == paths(old)
        for found, size in ((was, 0), (now, 1)):
            matching = [(u, v) for u, v, inside in found.values() if inside]
            assert len({u for u, _ in matching}) == len({v for _, v in matching}) == len(matching)
            lengths.append(len(matching) - size)
    assert lengths == [3, 4, 4, 5, 5, 5]


def test_figure_6_reads_rows_and_writes_columns():
    figure = cfp_figures.figure_6()
    a, b = labels(figure, "a"), labels(figure, "b")
    assert a[1] == ["4", "5", "6", "7"]
    assert [row[1] for row in b] == ["4", "5", "6", "7"]


def test_figure_7_is_flat_up_to_8_arrays_then_proportional():
    left, right = cfp_figures.figure_7().axes
    # bit-reversal of 1024 words: all 32 writes of a warp are in one bank
    for line, time in zip(left.lines, (32 + 32 + 32 * 32, 4 * 32), strict=True):
        assert line.get_xdata().tolist() == list(range(1, 33))
        assert line.get_ydata().tolist() == [k * time for k in (1, 2, 3, 4) for _ in range(8)]
    kept = Results.read()["CFP-F7"]
    device, day = kept.facts["device"], kept.facts["date"][:10]
    assert right.get_title().startswith(f"measured: {device}, {day}")
    shown = [line for line in right.lines if line.get_marker() != "None"]
    drawn = sorted(time for line in shown for time in line.get_ydata())
    assert drawn == sorted(row["measured"] for row in kept.rows)


# What is not as the paper says.


@mm.program
def odd_blocks_twice(T, a, b, s, d):
    """Conflict-free, and every other block does it twice."""
    alpha = mm.shared(a.shape[1])
    beta = mm.shared(a.shape[1])
    source = mm.shared(a.shape[1])
    target = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    source[j] = s[j]
    target[j] = d[j]
    T.barrier()
    beta[target[j]] = alpha[source[j]]
    if i % 2 == 1:
        beta[target[j]] = alpha[source[j]]
    T.barrier()
    b[i, j] = beta[j]


def in_order(algorithm, P, w):
    """S and D without a colouring, in the order of the words."""
    return np.arange(len(P)), P


@mm.program
def by_rows(T, a, b, p):
    """A copy."""
    b[T.id] = a[T.id]
    p[T.id]


def cut(left, right, nodes):
    """Paths without their last edge."""
    for step in augmentations(left, right, nodes):
        yield replace(step, path=step.path[:-1])


def turned(left, right, nodes):
    """Paths from the right."""
    for step in augmentations(left, right, nodes):
        yield replace(step, path=step.path[::-1])


class NotFlipped(Augmentation):
    """The path is added to the matching, and nothing removed."""

    flipped = property(lambda self: self.matching | frozenset(self.path))


def not_flipped(left, right, nodes):
    for step in augmentations(left, right, nodes):
        yield NotFlipped(step.matching, step.path, step.looked)


BROKEN = [
    (cfp_figures, "tables", in_order, "figure_3"),
    (cfp_figures, "augmentations", cut, "figure_4"),
    (cfp_figures, "augmentations", turned, "figure_4"),
    (cfp_figures, "augmentations", not_flipped, "figure_5"),
    (cfp_figures, "destination_designated", by_rows, "figure_6"),
    (permutations, "transpose", lambda n, w: np.arange(n), "figure_6"),
    (
        many_arrays,
        "PROGRAMS",
        many_arrays.PROGRAMS | {"conflict-free": odd_blocks_twice},
        "figure_7",
    ),
]


@pytest.mark.parametrize(("module", "name", "other", "figure"), BROKEN)
def test_another_program_is_not_drawn(monkeypatch, module, name, other, figure):
    monkeypatch.setattr(module, name, other)
    with pytest.raises(ClaimError, match="the run gives"):
        getattr(cfp_figures, figure)()


def test_a_permutation_that_is_wrong_is_not_drawn(monkeypatch):
    """The example's P is its own inverse; the shuffle is not."""
    P = permutations.shuffle(16)
    monkeypatch.setattr(cfp_figures, "EXAMPLE_P", P)
    inverted = cfp_figures.tables("conflict-free", permutations.inverse(P), 4)
    monkeypatch.setattr(cfp_figures, "tables", lambda *_: inverted)
    with pytest.raises(ClaimError, match="left a wrong result in 'b'"):
        cfp_figures.figure_3()


def test_measured_times_that_are_no_steps_are_not_drawn(monkeypatch, tmp_path):
    kept = json.loads((FOLDER / "CFP-F7.json").read_text("utf-8"))
    for row in kept["rows"]:
        row["measured"] = float(row["arrays"])
    (tmp_path / "CFP-F7.json").write_text(json.dumps(kept))
    broken = Results.read(tmp_path)
    monkeypatch.setattr(cfp_figures.Results, "read", staticmethod(lambda: broken))
    with pytest.raises(ClaimError, match="step 1 is flat"):
        cfp_figures.figure_7()


def test_without_kept_results_figure_7_says_so(monkeypatch, tmp_path):
    nothing = Results.read(tmp_path)
    monkeypatch.setattr(cfp_figures.Results, "read", staticmethod(lambda: nothing))
    with pytest.raises(ClaimError, match="results that are kept of a GPU are not there"):
        cfp_figures.figure_7()
