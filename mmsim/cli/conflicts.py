"""`mmsim conflicts LAYOUT --tile 64x64 --read columns`: is a tile free of bank conflicts?"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from mmsim.api.conflicts import along, conflicts, shape_of
from mmsim.cli.numbers import at_least
from mmsim.cli.output import console
from mmsim.errors import LayoutError
from mmsim.model import questions
from mmsim.model.layout import Layout, RowMajor
from mmsim.model.questions import Conflicts, Kind
from mmsim.model.tiles import Padded, Shape, Strided, Swizzle, XorRows, cute

BYTES = {
    **{"int8": 1, "uint8": 1, "fp8": 1, "half": 2, "bfloat16": 2, "int16": 2, "float": 4},
    **{"int32": 4, "tf32": 4, "double": 8, "int64": 8, "complex64": 8, "complex128": 16},
}
MOST = 20
"""Swizzles that are printed."""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "conflicts",
        help="tell whether a tile in shared memory is free of bank conflicts",
        description="Tell, phase by phase, what one warp's accesses to a tile in shared memory "
        "cost under a layout, or search for layouts that are free of conflicts.",
    )
    parser.add_argument(
        "layout",
        help="as CuTe prints it: '(64,64):(64,1)', 'Swizzle<3,4,3>'; or 'rows', 'padded N', "
        "'xor N', '128B', '64B', '32B'",
    )
    parser.add_argument("--tile", metavar="ROWSxCOLUMNS", help="its shape, if the layout lacks it")
    parser.add_argument("--type", choices=BYTES, default="float", help="of an element (float)")
    parser.add_argument("--vector", type=at_least(1), default=1, help="elements at once (1)")
    for kind in ("read", "write"):
        parser.add_argument(
            f"--{kind}",
            action="append",
            default=[],
            metavar="ACCESS",
            help="'rows', 'columns', or a thread-value layout of CuTe; may be given several times",
        )
    parser.add_argument(
        "--search",
        choices=("padding", "swizzles"),
        help="find the smallest padding, or all swizzles, that free all accesses of conflicts",
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    """0 if all accesses are free of conflicts, or if something found frees them; else 1."""
    size = BYTES[arguments.type]
    layout = layout_of(arguments.layout, size)
    shape = shape_of(layout, tile_of(arguments.tile))
    wanted = [("read", way) for way in arguments.read] + [("write", way) for way in arguments.write]
    ask = [
        (f"{kind} {way}", question(kind, way, shape, size, arguments.vector))
        for kind, way in wanted or [("read", "rows"), ("read", "columns")]
    ]
    out = console()
    if arguments.search == "padding":
        by = questions.padding((one for _, one in ask), shape[-1], arguments.vector)
        out.print("no padding frees them" if by is None else f"padding each row by {by} frees them")
        return int(by is None)
    if arguments.search == "swizzles":
        found = list(questions.swizzles([one for _, one in ask]))
        for one in found[:MOST]:
            out.print(str(one))
        more = f", of which {MOST} are shown" if len(found) > MOST else ""
        out.print(f"{len(found)} swizzles free them{more}")
        return int(not found)
    free = True
    for title, one in ask:
        answer = one(layout)
        free = free and answer.free
        out.print(f"{title}: {answer}", highlight=False, markup=False)
    return int(not free)


def layout_of(text: str, size: int) -> Layout:
    """The layout that a text names.

    >>> layout_of("padded 1", 4), str(layout_of("128B", 2))
    (Padded(by=1), 'Swizzle<3,3,3>')
    """
    if text == "rows":
        return RowMajor()
    known = re.fullmatch(r"(padded|xor) (\d+)", text)
    if known is not None:
        kind: type[Padded | XorRows] = Padded if known[1] == "padded" else XorRows
        return kind(int(known[2]))
    if text in ("32B", "64B", "128B"):
        return Swizzle.of_bytes(int(text[:-1]), size)
    return cute(text)


def tile_of(text: str | None) -> Shape | None:
    """The extents in a text such as 64x64."""
    if text is None:
        return None
    if not re.fullmatch(r"\d+x\d+", text):
        raise LayoutError(f"{text!r} is no tile; write ROWSxCOLUMNS, such as 64x64")
    rows, columns = map(int, text.split("x"))
    return rows, columns


def question(
    kind: Kind, way: str, shape: Shape, size: int, vector: int
) -> Callable[[Layout], Conflicts]:
    """What to ask of each layout."""
    options: dict[str, Any] = {"bytes": size, "vector": vector, "kind": kind}
    access: Any = way
    if way in ("rows", "columns"):
        access, options["values"] = along(shape, way, vector)
    elif not isinstance(cute(way), Strided):
        raise LayoutError(f"{way!r} is no layout of threads and values")
    return partial(conflicts, access=access, shape=shape, **options)
