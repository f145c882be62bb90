"""Formulas as MathML, which browsers typeset themselves: no script, and no fonts from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(latex: str, display: str) -> str:
    r"""A formula as a `math` element, "inline" or as a "block" of its own.

    Raises `ValueError` for what the converter doesn't know.

    >>> mathml("n", "inline").partition(">")[2]
    '<mrow><mi>n</mi></mrow></math>'
    >>> mathml(r"\nonsense", "inline")
    Traceback (most recent call last):
    ValueError: no MathML for \nonsense
    """
    try:
        made: str = convert(latex, display=display)
    except Exception as error:
        raise ValueError(f"no MathML for {latex}: {type(error).__name__}") from error
    if "\\" in made:  # an unknown command comes out as it went in
        raise ValueError(f"no MathML for {latex}")
    return made


def write(translator: Any, node: nodes.Element, display: str) -> None:
    """Put a formula into the page, and leave out its text."""
    try:
        made = mathml(node.astext(), display)
    except ValueError as error:
        logger.warning("%s", error, location=node)
        made = f"<code>{translator.encode(node.astext())}</code>"
    if display == "block":
        ids = "".join(f' id="{name}"' for name in node.get("ids", [])[:1])
        made = f'<div class="math"{ids}>{made}</div>\n'
    translator.body.append(made)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: write(translator, node, "inline"), None),
        (lambda translator, node: write(translator, node, "block"), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
