"""Legibility of a figure: its texts are large enough, none over another, none cut off."""

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from mmsim.view.figures.paper import LETTERS


def drawn_texts(figure):
    """The texts of a figure, once it is drawn.

    Matplotlib also keeps the labels of axes that are off, and of ticks outside the axes.
    """
    unseen = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not axes.axison or not low <= tick.get_loc() <= high:
                    unseen |= {tick.label1, tick.label2}
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    return [text for text in texts if text not in unseen]


def faults(figure):
    """The texts of a figure that are too small, cut off or over another."""
    FigureCanvasAgg(figure).draw()
    boxes = [(text, text.get_window_extent()) for text in drawn_texts(figure)]
    assert boxes
    paper = figure.bbox.padded(1)
    for text, box in boxes:
        if text.get_fontsize() < LETTERS:
            yield "small", text.get_text()
        if not all(paper.contains(*corner) for corner in (box.min, box.max)):
            yield "cut off", text.get_text()
    for (text, box), (other, below) in combinations(boxes, 2):
        if box.padded(-1).overlaps(below.padded(-1)):
            yield "over another", text.get_text(), other.get_text()
