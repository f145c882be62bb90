"""The frame around the statements of a fused program: its pieces, their warps, their lanes.

Two texts grow side by side, the kernel in `text` and the skeleton in `plain`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count

from mmsim.engines.array.fused.analysis import (
    Analysis,
    CannotFuse,
    gathered,
    order_matters,
    straighten,
    strict,
)
from mmsim.engines.array.fused.expressions import UNIFORM, NumbaText, Text, numpy_name
from mmsim.engines.array.fused.loops import Moves
from mmsim.engines.array.fused.rows import Row, Rows
from mmsim.engines.array.fused.supposed import supposing
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, INT, no_index
from mmsim.ir.operators import row_of
from mmsim.ir.walk import all_parts
from mmsim.meaning.launch import Launch

LEAVE = "break"  # statements that leave a loop over the warps


def is_power(launch: Launch, divisor: ir.Expr) -> bool:
    """Return whether a divisor is a constant power of two in this launch."""
    number = launch.meaning.constant(divisor)
    return type(number) is int and number > 0 and number & (number - 1) == 0


def is_whole(launch: Launch, divisor: ir.Expr) -> bool:
    """Return whether a divisor is a constant multiple of the width in this launch."""
    number = launch.meaning.constant(divisor)
    return type(number) is int and number > 0 and number % launch.machine.width == 0


def of_divisors(launch: Launch) -> tuple[tuple[bool, bool], ...]:
    """The divisors that are powers of two, and those that are multiples of the width, here."""
    typing = launch.meaning.typing
    key = "divisors", launch.sides, *typing.arrays.items(), *typing.numbers.items()
    divisors = launch.once(
        key,
        lambda: [
            part.right
            for part in all_parts(launch.meaning.code.body)
            if isinstance(part, ir.Binary) and row_of(part).kind == "division"
        ],
    )
    return tuple((is_power(launch, divisor), is_whole(launch, divisor)) for divisor in divisors)


def full(launch: Launch) -> bool:
    """Return whether every warp has all its lanes."""
    grid = launch.grid
    return grid.threads % grid.block_size == 0 and grid.block_size % grid.width == 0


class Pieces:
    """A program that is being written, with the lines that its statements share."""

    def __init__(self, launch: Launch, supposes: bool) -> None:
        self.launch, self.supposes = launch, supposes
        self.body, self.typing = strict(straighten(launch.meaning.code.body)), launch.meaning.typing
        if supposes:
            self.body, self.typing = supposing(self.body, self.typing)
        self.analysis = Analysis(self.body)
        self.width = launch.machine.width
        self.full = full(launch)
        names = (f"t{number}" for number in count(1))
        self.text, self.plain = Text(names), Text(names)
        self.rows = Rows(self.analysis, self.typing, partial(is_whole, launch), self.full)
        self.lanes, self.same = (
            NumbaText(
                text,
                self.typing.of,
                self.analysis,
                launch.meaning.shapes,
                self._register_address,
                self._own,
                launch.meaning.constant,
                partial(is_power, launch),
                text is self.plain,
            )
            for text in (self.text, self.plain)
        )
        self.same.assigned = self.lanes.assigned
        self.moves = Moves(self.body, self.analysis)
        self.forwarded: dict[str, str] = {}  # of variables that are written as they are read
        self.in_rows: dict[str, tuple[str, Row]] = {}  # variables whose words stay in an array
        self.at_hand: set[str] = set()  # those of `in_rows` that the loop at work has looked up
        # A loop's body may be written twice, without a mask and with one: earlier decisions.
        self.rowed: set[str] = set()  # all variables that have been in `in_rows`
        self.unstored: set[str] = set()  # those, and all that have been in `forwarded`
        self.owned: set[str] = set()  # variables that have been read into their own place
        self.lists: dict[str, str] = {}  # of elements, with the room of each
        self.mask: str | None = None
        self.masks = 0
        self.loops: list[str | None] = []  # the mask around each loop
        self.own: list[str] = []  # data for the lanes of a piece in addition to variables
        self.depth = 0  # enclosing loops in which threads make different numbers of trips
        self.registers = [
            local.name for local in launch.meaning.code.locals if local.kind == "registers"
        ]
        fields = {part.field for part in all_parts(self.body) if isinstance(part, ir.ThreadField)}
        self.extents = [UNIFORM[field] for field in ir.EXTENTS if field in fields]
        self.shared = [name for name, array in launch.arrays.items() if array.shared]
        own = [array for array in launch.arrays.values() if not array.shared]
        kinds = {array.name: gathered(self.body, array.name, array.dtype) for array in own}
        self.gathered = {name: kind for name, kind in kinds.items() if kind is not None}
        orders = {
            array.name: order_matters(self.body, array.name, self.analysis.inlined)
            for array in own
            if array.name not in self.gathered
        }
        self.marked = [name for name, order in orders.items() if order == "written"]
        self.in_order = "yes" in orders.values()

    def _element(
        self, array: str, index: tuple[ir.Expr, ...], to: str, last: str = "", vector: int = 1
    ) -> None:
        """Lines that find the number of an element, or of a vector, or `bad`, for one lane.

        `last` is added to the last axis's extent, for all the elements that follow.
        """
        shape = self.launch.meaning.shapes[array]
        if len(index) != len(shape) or no_index(map(self.typing.of, index)) is not None:
            raise CannotFuse(f"{array} has another shape")
        number = ""
        for axis, part in enumerate(index):
            name, extent = self.text.temporary(), f"extent_{array}_{axis}"
            if vector > 1 and axis == len(index) - 1:
                extent = f"({extent} // {vector})"
            self.text.add(f"{name} = {self.lanes.write(part)}")
            room = extent + (last if axis == len(index) - 1 else "")
            self.text.add(f"bad |= ({name} < 0) | ({name} >= {room})")
            number = f"({number}) * {extent} + {name}" if number else name
        self.text.add(f"{to} = {number}")

    def _register_address(self, array: str, index: tuple[ir.Expr, ...]) -> str:
        """The text of the number of a register, after lines that compute it."""
        name = self.text.temporary()
        self._element(array, index, name)
        self.text.add("if bad:", f"    {name} = 0")
        return name

    def _own(self, name: str, lane: str | None = None) -> str:
        """The text of a per-lane variable, for the lane at work or for the lane `lane`."""
        if name in self.forwarded:
            return self.forwarded[name]
        if name not in self.in_rows:
            return f"own_{name}[{f'at + {lane}' if lane else 'here'}]"
        if name not in self.at_hand:
            with self.text.at_head():
                self.text.add(f"row_{name} = rows_{name}[np.uint64(warp - warp0)]")
            self.at_hand.add(name)
        return self._in_row(*self.in_rows[name], f"row_{name}", lane or "np.uint64(lane)")

    @staticmethod
    def _in_row(array: str, row: Row, first: str, lane: str) -> str:
        """The text of a lane's word of a row."""
        return f"data_{array}[{first} + {lane}]" if row == "row" else f"data_{array}[{first}]"

    def _lane_bytes(self) -> int:
        """The variables and masks that a kernel keeps for each lane of a piece."""
        kept = sum(self.typing.variables[name].itemsize for name in self._held())
        lists = 16 * sum(room == "block_size" for room in self.lists.values())
        return kept + lists + self.masks + 8 * len(self.own)

    def _held(self) -> list[str]:
        """The variables that a kernel keeps for each lane."""
        elsewhere = self.analysis.uniform | self.analysis.inlined.keys()
        elsewhere |= self.unstored - self.owned
        return sorted(self.typing.variables.keys() - elsewhere)

    def _skeleton(self) -> list[str]:
        lines = ["sites = []", "steps = 0", "bad = False", *self.plain.lines]
        return ["    " + line for line in [*lines, "if bad:", "    raise ArithmeticError"]]

    def _head(self) -> None:
        text, width = self.text, self.width
        text.depth = 1
        text.add("bad = False")
        text.doubtful = False
        # An argument: the compiler unrolls a loop of known length instead of vectorizing it.
        text.add("lanes = width")
        text.add(f"room = piece_warps * {width}")
        text.add(f"elements = np.empty({width}, np.int64)")
        # The same memory, unsigned.
        text.add("places = elements.view(np.uint64)")
        text.add(f"where = np.empty({width}, np.int64)")
        if self.launch.machine.by_lane:
            text.add(f"every = np.arange({width})")
        if any(array.offsets is not None for array in self.launch.arrays.values()):
            text.add(f"addresses = np.empty({width}, np.int64)")
        for name in self.shared:
            # A piece is one block, or all of them: the memory of its blocks stays in the cache.
            dtype = numpy_name(self.typing.arrays[name])
            copies = "(blocks if piece_warps == warps else 1)"
            text.add(f"data_{name} = np.zeros({copies} * size_{name}, {dtype})")
        for name in self.registers:
            dtype = numpy_name(self.typing.arrays[name])
            text.add(f"register_{name} = np.zeros((size_{name}, room), {dtype})")
        self.new_at = len(text.lines)
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
        types = {f"own_{name}": self.typing.variables[name] for name in self._held()}
        types |= dict.fromkeys(self.own, INT)
        types |= {f"mask_{number}": BOOL for number in range(1, self.masks + 1)}
        new = [f"{name} = np.zeros(room, {numpy_name(type_)})" for name, type_ in types.items()]
        new += [f"rows_{name} = np.zeros(piece_warps, np.uint64)" for name in sorted(self.rowed)]
        for name, room in self.lists.items():
            new.append(f"elements_{name} = np.empty({room}, np.int64)")
            new.append(f"places_{name} = elements_{name}.view(np.uint64)")
            if room == "block_size":
                new.append(f"stages_{name} = np.empty({room}, np.int64)")
                new.append(f"new_{name} = True")
        self.text.lines[self.new_at : self.new_at] = ["    " + line for line in new]

    @contextmanager
    def _warps(self) -> Iterator[None]:
        """A loop over the warps of a piece, unless one is at work."""
        text = self.text
        if text.marks:
            yield
            return
        self.at_hand = set()
        with text.loop("for warp in range(warp0, warp1):"):
            yield
            begin, depth = text.marks[0]
            before, head = self._warp(" ".join(text.lines[begin:]))
            text.lines[begin + 1 : begin + 1] = ["    " * (depth + 1) + line for line in head]
            text.lines[begin:begin] = ["    " * depth + line for line in before]
            lines = range(begin, len(text.lines))
            leaves = [at for at in lines if text.lines[at].split() == [LEAVE]]
            if len(leaves) == 1:
                text.lines[leaves[0]] = text.lines[leaves[0]].replace(LEAVE, "return 1")
        if len(leaves) > 1:
            self._end()

    def _warp(self, body: str) -> tuple[list[str], list[str]]:
        """Add the lines that the loop's body needs, before the loop and at its start.

        The machine would skip unused lines for free, but the compiler would spend time on them.
        """
        width, needed = self.width, set(re.findall(r"\w+", body))
        before, head = [], []
        if not self.full or needed & {"block", "dmm", "start"}:
            # Counters give the block and the DMM, because division is slow.
            before = ["block, start = block0, start0"]
            head = [f"start += {width}", "if start >= block_size:", "    start = 0"]
            head.append("    block += 1")
            if "dmm" in needed:
                before.append("dmm = dmm0")
                head.append("    dmm = dmm + 1 if dmm + 1 < dmms else 0")
            head.append("thread = block * block_size + start")
        elif "thread" in needed:
            head = [f"thread = warp * {width}"]
        if "at" in needed:
            # An unsigned index needs no test for negative values.
            head.append(f"at = np.uint64((warp - warp0) * {width})")
        if not self.full:
            head.append(f"lanes = min({width}, block_size - start, threads - thread)")
        return before, head

    @contextmanager
    def _lanes(self, mask: str | None = None) -> Iterator[None]:
        """A loop over the lanes of a warp that are in the mask."""
        text = self.text
        text.add("for lane in range(lanes):")
        text.depth += 1
        depth = text.depth
        text.add("here = at + np.uint64(lane)")
        if mask:
            text.add(f"if {mask}[here]:")
            text.depth += 1
        yield
        text.depth = depth - 1
        text.drop("here")

    def _stop(self) -> None:
        """Stop the kernel if another thread asks for it."""
        self.text.add("if control[0]:", "    return 0")

    def _give_up(self) -> None:
        """Leave the loop over the warps on an error, and the kernel with it or behind it.

        A `return` releases all data of the kernel: with fewer of them it compiles faster.
        """
        if self.text.doubtful:
            self.text.add("if bad:", f"    {LEAVE}")
            self.text.doubtful = False

    def _end(self) -> None:
        """Leave the kernel on an error."""
        doubtful = self.text.doubtful
        self.text.add("if bad:", "    return 1")
        self.text.doubtful = doubtful

    def _both(self, *lines: str) -> None:
        """Add lines to the kernel and to the skeleton."""
        self.text.add(*lines)
        self.plain.add(*lines)

    def _step(self) -> None:
        """Let the skeleton count a step: an access, or a trip of a loop."""
        self.plain.add("steps += 1", "if steps > limit:", "    raise OverflowError")

    @contextmanager
    def _under(self, head: str) -> Iterator[None]:
        """Add a line that begins a block of the kernel, and indent the next ones."""
        self.text.add(head)
        self.text.depth += 1
        yield
        self.text.depth -= 1

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Indent both texts, and keep the block from being empty."""
        self.text.depth += 1
        self.plain.depth += 1
        self._both("pass")  # an empty block is not valid Python
        yield
        self.text.depth -= 1
        self.plain.depth -= 1

    def _same(self, value: ir.Expr) -> str:
        """The text of a uniform expression; both texts get the lines that compute its parts."""
        before = len(self.plain.lines)
        text = self.same.write(value)
        deeper = "    " * (self.text.depth - self.plain.depth)
        self.text.lines += [deeper + line for line in self.plain.lines[before:]]
        return text
