"""The texts in the cells of a figure that `mmsim_algorithms.drawings.cells` drew."""

import re


def labels(figure, name):
    """The texts in the cells of an array, row by row; "" where a cell is empty."""
    found = {}
    for axes in figure.axes:
        for text in axes.texts:
            if mark := re.fullmatch(rf"{re.escape(name)}-(\d+)-(\d+)", text.get_gid() or ""):
                found[int(mark[1]), int(mark[2])] = text.get_text()
    rows, columns = (1 + max(place[axis] for place in found) for axis in (0, 1))
    return [[found.get((i, j), "") for j in range(columns)] for i in range(rows)]


def words(figure):
    """All texts of a figure."""
    return [text.get_text() for axes in figure.axes for text in axes.texts if text.get_text()]
