"""What surrounds the statements of a fused program: its pieces, their warps, their lanes.

Two texts grow side by side, the kernel in `text` and the skeleton in `plain`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from mmsim.engines.fused.analysis import Analysis, order_matters, straighten
from mmsim.engines.fused.expressions import Expressions, Text, numpy_name
from mmsim.language import ir
from mmsim.language.types import BOOL, Type, Typing
from mmsim.language.walk import expressions, parts, statements
from mmsim.launch import Launch


def divisors(launch: Launch) -> list[ir.Expr]:
    """All that the program divides by."""
    body = launch.program.code.body
    return [
        part.right
        for statement in statements(body)
        for value in expressions(statement)
        for part in parts(value)
        if isinstance(part, ir.Binary) and part.op in ("//", "%")
    ]


def powers(launch: Launch) -> tuple[bool, ...]:
    """Which of the divisors are powers of two for this launch."""
    found = launch.program.kept("divisors", lambda: divisors(launch))
    constants = [launch.meaning.constant(divisor) for divisor in found]
    return tuple(type(c) is int and c > 0 and c & (c - 1) == 0 for c in constants)


def full(launch: Launch) -> bool:
    """Whether every warp has all its lanes."""
    grid = launch.grid
    return grid.threads % grid.block_size == 0 and grid.block_size % grid.width == 0


class Pieces(ABC):
    """A program that is being written, and the lines that its statements share."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.typing: Typing = launch.meaning.typing
        self.body = straighten(launch.meaning.code.body)
        self.analysis = Analysis(self.body)
        self.width = launch.machine.width
        self.full = full(launch)
        names = (f"t{number}" for number in count(1))
        self.text, self.plain = Text(names), Text(names)
        shifts = dict(zip(map(id, divisors(launch)), powers(launch), strict=True))
        self.lanes, self.same = (
            Expressions(
                text,
                self.typing,
                self.analysis,
                launch.meaning.shapes,
                self._register_address,
                launch.meaning.constant,
                shifts,
                text is self.plain,
            )
            for text in (self.text, self.plain)
        )
        self.same.assigned = self.lanes.assigned
        self.mask: str | None = None
        self.masks = 0
        self.loops: list[str | None] = []  # the mask around each loop
        self.own: list[str] = []  # what is kept for the lanes of a piece beside variables
        self.depth = 0  # loops around, of which threads take different numbers of turns
        self.registers = [
            local.name for local in launch.meaning.code.locals if local.kind == "registers"
        ]
        self.shared = [name for name, array in launch.arrays.items() if array.shared]
        orders = {
            name: order_matters(self.body, name, self.analysis.inlined)
            for name, array in launch.arrays.items()
            if not array.shared
        }
        self.marked = [name for name, order in orders.items() if order == "written"]
        self.in_order = "yes" in orders.values()

    @abstractmethod
    def _register_address(self, array: str, index: tuple[ir.Expr, ...]) -> str:
        """The text of the number of a register, after lines that find it."""

    def _lane_bytes(self) -> int:
        """What a kernel keeps of variables and masks for each lane of a piece."""
        kept = [
            type_.itemsize
            for name, type_ in self.typing.variables.items()
            if name not in self.analysis.uniform and name not in self.analysis.inlined
        ]
        return sum(kept) + self.masks + 8 * len(self.own)

    def _skeleton(self) -> list[str]:
        lines = ["sites = []", "steps = 0", "bad = False", *self.plain.lines]
        return ["    " + line for line in [*lines, "if bad:", "    raise ArithmeticError"]]

    def _head(self) -> None:
        text, width = self.text, self.width
        text.depth = 1
        text.add("bad = False")
        text.add(f"lanes = {width}")
        text.add(f"room = piece_warps * {width}")
        text.add(f"elements = np.empty({width}, np.int64)")
        # The same memory: an index without a sign costs no test for negative ones.
        text.add("places = elements.view(np.uint64)")
        text.add(f"where = np.empty({width}, np.int64)")
        if any(array.offsets is not None for array in self.launch.arrays.values()):
            text.add(f"addresses = np.empty({width}, np.int64)")
        for name, type_ in sorted(self.typing.variables.items()):
            if name not in self.analysis.uniform and name not in self.analysis.inlined:
                text.add(f"own_{name} = np.zeros(room, {numpy_name(type_)})")
        stores = {s.array for s in statements(self.body) if isinstance(s, ir.Store)}
        for name in sorted(stores):
            dtype = numpy_name(self.typing.arrays[name])
            text.add(f"sent_{name} = np.empty({width}, {dtype})")
        for name in self.shared:
            # A piece is one block, or all of them: the memory of its blocks stays in the cache.
            dtype = numpy_name(self.typing.arrays[name])
            copies = "(blocks if piece_warps == warps else 1)"
            text.add(f"data_{name} = np.zeros(({copies}, size_{name}), {dtype})")
        for name in self.registers:
            dtype = numpy_name(self.typing.arrays[name])
            text.add(f"register_{name} = np.zeros((size_{name}, room), {dtype})")
        self.masks_at = len(text.lines)
        text.add("for piece in range(first_piece, last_piece):")
        text.depth = 2
        self._stop()
        text.add("warp0 = piece * piece_warps")
        text.add("warp1 = min(warp0 + piece_warps, warps)")
        text.add("at_access = 0")
        text.add("block0 = warp0 // warps_per_block")
        text.add("dmm0 = block0 % dmms")
        text.add(f"start0 = (warp0 - block0 * warps_per_block - 1) * {self.width}")
        for name in self.shared:
            text.add(f"data_{name}[:] = 0")
        for name in self.registers:
            text.add(f"register_{name}[:] = 0")

    def _foot(self) -> None:
        self.text.depth = 1
        self.text.add("return 0")
        new = [f"    {name} = np.zeros(room, np.int64)" for name in self.own]
        new += [
            f"    mask_{number} = np.zeros(room, np.bool_)" for number in range(1, self.masks + 1)
        ]
        self.text.lines[self.masks_at : self.masks_at] = new

    @contextmanager
    def _warps(self) -> Iterator[None]:
        """A loop over the warps of a piece."""
        text, width = self.text, self.width
        text.before = len(text.lines), text.depth
        # Which block, and which DMM, is counted along: dividing takes long.
        text.add("block, dmm, start = block0, dmm0, start0")
        text.add("for warp in range(warp0, warp1):")
        text.depth += 1
        text.add(f"start += {width}")
        text.add("if start >= block_size:")
        text.add("    start = 0")
        text.add("    block += 1")
        text.add("    dmm = dmm + 1 if dmm + 1 < dmms else 0")
        text.add("thread = block * block_size + start")
        text.add(f"at = (warp - warp0) * {width}")
        if not self.full:
            text.add(f"lanes = min({width}, block_size - start, threads - thread)")
        yield
        text.depth -= 1
        text.before = None

    @contextmanager
    def _lanes(self) -> Iterator[None]:
        """A loop over the active lanes of a warp."""
        text = self.text
        text.add(f"for lane in range({self.width if self.full else 'lanes'}):")
        text.depth += 1
        depth = text.depth
        if self.mask:
            text.add(f"if {self.mask}[at + lane]:")
            text.depth += 1
        yield
        text.depth = depth - 1

    def _stop(self) -> None:
        """Look whether somebody wants the kernel to stop."""
        self.text.add("if control[0]:")
        self.text.add("    return 0")

    def _give_up(self) -> None:
        self.text.add("if bad:")
        self.text.add("    return 1")

    def _both(self, line: str) -> None:
        """A line for the kernel and the skeleton."""
        self.text.add(line)
        self.plain.add(line)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """One deeper in both texts; never empty."""
        self.text.depth += 1
        self.plain.depth += 1
        self._both("pass")  # an empty block is no Python
        yield
        self.text.depth -= 1
        self.plain.depth -= 1

    def _same(self, value: ir.Expr, type_: Type) -> str:
        """The text of a uniform expression; the lines that it needs before go into both texts."""
        before = len(self.plain.lines)
        text = self.same.cast(value, type_)
        deeper = "    " * (self.text.depth - self.plain.depth)
        self.text.lines += [deeper + line for line in self.plain.lines[before:]]
        return text

    def _true(self, test: ir.Expr) -> str:
        """The text of whether a uniform expression counts as true."""
        type_ = self.typing.of(test)
        text = self._same(test, type_)
        return text if type_ == BOOL else f"({text} != 0)"
