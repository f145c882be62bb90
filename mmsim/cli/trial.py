"""One run of a command line's sweep, by plain parameters.

A row keeps a fingerprint of these functions: another text of one makes all rows of a file old.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mmsim.api.result import Run
from mmsim.cli.loading import CommandError
from mmsim.cli.machine import machine_named
from mmsim.cli.values import extents, parse_argument
from mmsim.frontend.program import Example, Program
from mmsim.model import layout as layouts
from mmsim.model.layout import Layout, Placed, place
from mmsim.model.machines import Schedule

SIZES = ("threads", "block_size", "grid", "block")
"""The options for the number of threads of a launch."""
RANDOM = "random"
"""The layout of random permutations, which has no function."""

LAYOUTS: dict[str, Callable[[int, int], Layout]] = {
    "RAW": lambda width, seed: layouts.RAW(),
    "diagonal": lambda width, seed: layouts.Diagonal(width),
    "RAS": layouts.RAS,
    "RAP": layouts.RAP,
    "1P": layouts.OneP,
    "R1P": layouts.R1P,
    "3P": layouts.ThreeP,
    "w2P": layouts.W2P,
    "1Pw2R": layouts.OnePW2R,
}
"""The layouts by the papers' names, as functions of the machine's width and a seed."""


def layout_name(text: str) -> str:
    """Return the papers' spelling of a layout's name, for argparse.

    >>> layout_name("rap"), layout_name("1pw2r"), layout_name("other")
    ('RAP', '1Pw2R', 'other')
    """
    return {name.lower(): name for name in LAYOUTS}.get(text.lower(), text)


def trial(
    program: Program,
    machine: str,
    schedule: Schedule,
    seed: int,
    **more: Any,
) -> Run:
    """Run a program with the options of `mmsim sweep`; `more` has the optional ones."""
    made = machine_named(machine, **more)
    width = made.width
    example = _example(program, seed=seed, **{**more, "width": width})
    values = example.arguments
    if "layout" in more:
        placed = LAYOUTS[more["layout"]](width, seed)
        values = tuple(_under(placed, value) for value in values)
    return made.run(
        program,
        *values,
        **launch_of(more, example),
        schedule=schedule,
    )


def launch_of(given: dict[str, Any], example: Example) -> dict[str, Any]:
    """The threads as arguments of `Machine.run`: the given options, else the example's.

    `grid` or `block` replaces all of the example's; `threads` and `block_size` replace one each.
    """
    launch = _sizes(given)
    if "grid" in launch or "block" in launch:
        return launch
    if launch:
        sizes = {"threads": example.threads, "block_size": example.block_size}
        return {**sizes, **launch}
    return example.launch


def _sizes(given: dict[str, Any]) -> dict[str, Any]:
    """The threads of the options; extents may be a text, as in a sweep's row."""
    sizes = {name: given[name] for name in SIZES if given.get(name) is not None}
    return {name: extents(size) if isinstance(size, str) else size for name, size in sizes.items()}


def needs_threads(given: dict[str, Any]) -> None:
    """Refuse a user's own arguments without a number of threads."""
    if given.get("threads") is None and given.get("grid") is None:
        raise CommandError("give --threads, or --grid and --block, with your own arguments")


def filled(text: str, parameters: dict[str, Any]) -> str:
    """An argument with the case's numbers instead of their names: zeros:{size}."""
    try:
        return text.format_map(parameters)
    except (KeyError, IndexError, ValueError, AttributeError):
        known = ", ".join(f"{{{name}}}" for name in parameters)
        raise CommandError(f"{text!r} names an unknown number; there are {known}") from None


def _example(
    program: Program,
    width: int,
    seed: int,
    arguments: tuple[str, ...] = (),
    permutation: Callable[[int], Any] | str = RANDOM,
    **more: Any,
) -> Example:
    """The given arguments, else those of the program's own example."""
    if not arguments:
        choices = {"size": more["size"]} if "size" in more else {}
        return program.prepare(width, seed=seed, **choices)
    generator = np.random.RandomState(seed)
    parameters = {"width": width, "seed": seed, **more}
    values = [_value(filled(text, parameters), generator, permutation) for text in arguments]
    return Example(*values, **_sizes(more))


def _value(
    text: str, generator: np.random.RandomState, permutation: Callable[[int], Any] | str
) -> Any:
    made = parse_argument(text, generator)
    if isinstance(permutation, str) or not text.startswith("permutation:"):
        return made
    return np.asarray(permutation(made.size)).reshape(made.shape)


def _under(layout: Layout, value: Any) -> Any:
    """A matrix under a layout, even if the example placed it under another; else the value."""
    data = value.data if isinstance(value, Placed) else value
    return place(data, layout) if isinstance(data, np.ndarray) and data.ndim > 1 else value
