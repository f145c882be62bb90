"""Every figure drawn again: letters of 7 points or more, none over another, none cut off."""

import pytest
from matplotlib.figure import Figure

import mmsim_algorithms
from mmsim.view.figures.paper import PAGE
from tests.kit.views.legible import faults


@pytest.mark.parametrize("drawing", mmsim_algorithms.figures(), ids=lambda drawing: drawing.id)
def test_a_figure_can_be_read_on_a_page(drawing):
    figure = drawing.draw()
    assert list(faults(figure)) == []
    assert figure.get_size_inches()[0] <= PAGE + 0.01


def test_faults_are_seen():
    figure = Figure(figsize=(2, 2))
    axes = figure.subplots()
    axes.set_axis_off()
    for x, y, words, size in ((0, 0, "one", 8), (0.1, 0, "two", 8), (1.1, 1, "three", 6)):
        axes.text(x, y, words, fontsize=size)
    assert sorted(faults(figure)) == [
        ("cut off", "three"),
        ("over another", "one", "two"),
        ("small", "three"),
    ]
