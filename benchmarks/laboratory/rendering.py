"""Markdown from templates: Jinja's, with filters that write numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mmsim_algorithms.gpu.comparisons import named
from mmsim_algorithms.gpu.kept import factor, largest_error, mean_error
from mmsim_algorithms.gpu.markdown import count, filled, listed, percent, short, signed

TEMPLATES = Path(__file__).parent / "templates"
_JINJA = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)
FILTERS = _JINJA.filters
for one in (count, listed, percent, short, signed, factor, mean_error, largest_error, named):
    FILTERS[one.__name__] = one
FILTERS["thousands"] = lambda number: f"{number:,}"
FILTERS["bits"] = lambda shape: 8 * np.dtype(shape.tables).itemsize
FILTERS["fixed"] = lambda number, digits: f"{number:.{digits}f}"


def render(template: str, **about: Any) -> str:
    """A template with these values; its paragraphs and lists are filled."""
    return filled(_JINJA.get_template(f"{template}.md").render(about))
