"""`mmsim conflicts LAYOUT --tile 64x64 --read columns`: count the bank conflicts of a tile."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mmsim.api.tile_conflicts import along, shape_of
from mmsim.cli.output import add_targets, save_text, show
from mmsim.cli.values import at_least
from mmsim.errors import LayoutError
from mmsim.model.layout import RAW, Layout
from mmsim.model.questions import KINDS, MATRICES, MATRIX_BYTES, Conflicts, Kind, Question, question
from mmsim.model.searches import padding, swizzles
from mmsim.model.tiles import Padded, Shape, Strided, Swizzle, XorRows, cute

BYTES = {
    **dict.fromkeys(("int8", "uint8", "char", "fp8", "float_e4m3", "float_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16", "int16", "uint16", "short"), 2),
    **dict.fromkeys(("float", "int", "int32", "uint32", "tf32", "tfloat32", "half2"), 4),
    **dict.fromkeys(("double", "int64", "uint64", "complex64", "float2"), 8),
    **dict.fromkeys(("complex128", "float4", "int4", "double2"), 16),
}
"""Types by the names of CUDA, NumPy and CUTLASS, with or without `_t` at the end."""
MOST = 20
"""The most swizzles that are printed."""
ASKED = {
    "read": "read",
    "write": "written",
    "atomic": "updated atomically",
    "cas": "compared and swapped atomically",
    "ldmatrix": "read by ldmatrix, each thread a row of 16 bytes",
    "stmatrix": "written by stmatrix, each thread a row of 16 bytes",
}


ABOUT = {
    "description": "Say, phase by phase, what one warp's accesses to a tile in shared memory cost "
    "under a layout, or search for layouts that are free of conflicts.",
    "epilog": "An ACCESS is 'rows', 'columns', or a thread-value layout of CuTe; each option may "
    "be given several times. Without any, rows and columns are read. The exit status is 0 if all "
    "accesses are free of conflicts, or if the search finds something; 1 if not; 2 for a mistake "
    "in the call.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    layout = "as CuTe prints it: '(64,64):(64,1)', 'Swizzle<3,3,3>'; or 'RAW' (row-major order, "
    layout += "the default), 'padded N', 'xor N', or a mode of the hardware: '128B', '64B', '32B'"
    add("layout", nargs="?", default="RAW", help=layout)
    add("--tile", metavar="ROWSxCOLUMNS", help="its shape, if the layout lacks it")
    types = "of an element: half, bfloat16, float, double, int8 and others of CUDA, or CUTLASS's "
    add("--type", default="float", metavar="TYPE", help=f"{types}half_t (float)")
    add("--vector", type=at_least(1), default=1, help="elements of one access (1)")
    accesses: dict[str, Any] = {"action": "append", "default": [], "metavar": "ACCESS"}
    for kind in KINDS:
        add(f"--{kind}", **accesses, help=f"how the tile is {ASKED[kind]}")
    free = "find the smallest padding, or all swizzles, that free all accesses of conflicts"
    add("--search", choices=("padding", "swizzles"), help=free)
    wants = "list which threads want which words of a bank"
    add("--collisions", action="store_true", help=wants)
    add_targets(parser, json="save the answer as JSON")


def command(arguments: argparse.Namespace) -> int:
    """Return 0 if all accesses are free of conflicts, or the search found a remedy; else 1."""
    size = bytes_of(arguments.type)
    layout = layout_of(arguments.layout, size)
    shape = shape_of(layout, tile_of(arguments.tile))
    wanted = [(kind, way) for kind in KINDS for way in getattr(arguments, kind)]
    asked = [
        (kind, way, question_of(kind, way, shape, size, arguments.vector))
        for kind, way in wanted or [("read", "rows"), ("read", "columns")]
    ]
    about = {"shape": list(shape), "type": arguments.type, "vector": arguments.vector}
    if arguments.search is not None:
        found = search(arguments.search, layout, [one for _, _, one in asked], arguments.vector)
        keep(arguments.json, lambda: {**about, "search": arguments.search, "found": found})
        return int(found is None or found == [])
    answers = [(kind, way, one(layout)) for kind, way, one in asked]
    for kind, way, answer in answers:
        show(f"{kind} {way}: {answer}", *(collisions(answer) if arguments.collisions else ()))
    free = all(answer.free for *_, answer in answers)
    head = {"layout": arguments.layout, **about, "free": free}
    plain = ({"access": way, **plain_of(answer)} for _, way, answer in answers)
    keep(arguments.json, lambda: {**head, "accesses": list(plain)})
    return int(not free)


def search(what: str, layout: Layout, asked: list[Question], vector: int) -> int | list[str] | None:
    """Print and return the result of the search: a padding, or swizzles."""
    if what == "padding":
        if not isinstance(layout, RAW):
            raise LayoutError("a padding is searched for plain rows; leave out the layout")
        by = padding(asked, step=vector)
        show("no padding frees them" if by is None else f"padding each row by {by} frees them")
        return by
    if not isinstance(layout, RAW | Strided):
        text = "swizzles are searched for a layout that isn't swizzled; give its strides"
        raise LayoutError(text)
    found = [str(one) for one in swizzles(asked, layout if isinstance(layout, Strided) else None)]
    show(*found[:MOST])
    more = f", of which {MOST} are shown" if len(found) > MOST else ""
    many = "1 swizzle frees them" if len(found) == 1 else f"{len(found)} swizzles free them"
    show(f"{many}{more}")
    return found


def collisions(answer: Conflicts) -> Iterator[str]:
    """Yield a line for each bank with several words in one request."""
    for value, phase, bank, words in answer.collisions():
        wants = ", ".join(
            f"word {word} by thread{'s' * (len(threads) > 1)} {', '.join(map(str, threads))}"
            for word, threads in words.items()
        )
        yield f"value {value}, phase {phase}, bank {bank}: {wants}"


def plain_of(answer: Conflicts) -> dict[str, Any]:
    """An answer as plain data."""
    counts = {name: getattr(answer, name) for name in ("phases", "stages", "least", "free")}
    names = ("value", "phase", "bank", "words")
    found = [dict(zip(names, one, strict=True)) for one in answer.collisions()]
    head = {"kind": answer.kind, "bytes": answer.bytes, "requests": len(answer.requests)}
    return {**head, **counts, "collisions": found}


def keep(file: Path | None, answer: Callable[[], dict[str, Any]]) -> None:
    """Save an answer as JSON, if an option names a file."""
    save_text(file, lambda: json.dumps(answer(), indent=2) + "\n")


def bytes_of(name: str) -> int:
    """The bytes of a type.

    >>> bytes_of("half"), bytes_of("cutlass::half_t"), bytes_of("double")
    (2, 2, 8)
    """
    plain = name.rpartition("::")[2].removesuffix("_t")
    if plain not in BYTES:
        raise LayoutError(f"{name!r} is not a known type; write one of {', '.join(BYTES)}")
    return BYTES[plain]


def layout_of(text: str, size: int) -> Layout:
    """The layout of a text.

    >>> layout_of("RAW", 4), layout_of("padded 1", 4), str(layout_of("128B", 2))
    (RAW(), Padded(by=1), 'Swizzle<3,3,3>')
    """
    if text.upper() == "RAW":
        return RAW()
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
    if not re.fullmatch(r"[1-9]\d{0,5}x[1-9]\d{0,5}", text):
        raise LayoutError(f"{text!r} is not a tile; write ROWSxCOLUMNS, such as 64x64")
    rows, columns = map(int, text.split("x"))
    return rows, columns


def question_of(kind: Kind, way: str, shape: Shape, size: int, vector: int) -> Question:
    """The question for each layout."""
    if kind in MATRICES:
        vector = MATRIX_BYTES // size
    if way in ("rows", "columns"):
        access, values = along(shape, way, vector)
        return question(access, shape, size=size, vector=vector, kind=kind, values=values)
    layout = cute(way)
    if not isinstance(layout, Strided):
        raise LayoutError(f"{way!r} is not a layout of threads and values")
    return question(layout, shape, size=size, vector=vector, kind=kind)
