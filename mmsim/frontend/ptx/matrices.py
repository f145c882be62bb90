"""Matrices between memory and the lanes of a warp: ldmatrix, stmatrix, movmatrix, and wmma's.

In ldmatrix and stmatrix each lane reads or writes a row of 16 bytes at its own address; shuffles
bring the words of the 8 rows of a matrix to their lanes, or from them. The manual leaves open which
lane has which number of wmma's matrices: here it is the one that has it for mma (see `products`), 8
rows or columns after the others. A register that is left over has the value of another.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence

from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    Vector,
)
from mmsim.frontend.ptx.products import BITS, KNOWN, SHAPES
from mmsim.frontend.ptx.writer import Steps, Writer

ALL_LANES = Immediate(-1)
WHOLE_WARP = Immediate(31)


def _asked(
    writer: Writer, pairs: Sequence[Register], source: Operand, number: Register, result: Register
) -> Steps:
    """The word of that number among those of lane `source`, which has two in each register."""
    found = [writer.register("b64") for _ in pairs]
    for own, pair in zip(found, pairs, strict=True):
        yield writer.write("shfl.sync.idx.b64", own, pair, source, WHOLE_WARP, ALL_LANES)
    if len(pairs) > 1:
        is_second = writer.register("pred")
        yield writer.write("setp.ge.u32", is_second, number, 2)
        yield writer.write("selp.b64", found[0], found[1], found[0], is_second)
    shift = writer.register("b32")
    yield writer.write("and.b32", shift, number, 1)
    yield writer.write("shl.b32", shift, shift, 5)
    yield writer.write("shr.u64", found[0], found[0], shift)
    yield writer.write("cvt.u32.u64", result, found[0])


def transposed(writer: Writer, word: Operand, result: Operand) -> Steps:
    """The lane's word of a transposed matrix of 16-bit numbers, from the words of all lanes."""
    lane, column, source = (writer.register("b32") for _ in range(3))
    selector, even, odd = (writer.register("b32") for _ in range(3))
    yield writer.write("mov.b32", lane, Register("%laneid"))
    yield writer.write("shr.u32", column, lane, 2)
    yield writer.write("and.b32", source, lane, 3)
    yield writer.write("shl.b32", source, source, 3)  # row 2 * (lane % 4), of 4 lanes each
    yield writer.write("shr.u32", selector, column, 1)
    yield writer.write("add.s32", source, source, selector)
    yield writer.write("shfl.sync.idx.b32", even, word, source, WHOLE_WARP, ALL_LANES)
    yield writer.write("add.s32", source, source, 4)
    yield writer.write("shfl.sync.idx.b32", odd, word, source, WHOLE_WARP, ALL_LANES)
    yield writer.write("and.b32", selector, column, 1)
    yield writer.write("mul.lo.s32", selector, selector, 0x2222)
    yield writer.write("add.s32", selector, selector, 0x5410)
    yield writer.write("prmt.b32", result, even, odd, selector)


def moved(writer: Writer) -> Steps:
    """ldmatrix and stmatrix, of matrices of 8 by 8 numbers of 16 bits."""
    name = writer.one.name
    if "m8n8" not in name or name[-1] != "b16":
        raise writer.refuse("load the matrix with loads of the words of each lane")
    is_load = name[0] == "ldmatrix"
    first, second = writer.one.operands
    vector, address = (first, second) if is_load else (second, first)
    registers = vector.parts if isinstance(vector, Vector) else (vector,)
    lane = writer.register("b32")
    has_row = writer.register("pred") if len(registers) < 4 else None
    yield writer.write("mov.b32", lane, Register("%laneid"))
    if has_row is not None:
        yield writer.write("setp.lt.u32", has_row, lane, 8 * len(registers))
    if is_load:
        yield from _loaded(writer, registers, address, lane, has_row)
    else:
        yield from _stored(writer, registers, address, lane, has_row)


def _loaded(
    writer: Writer,
    registers: Sequence[Operand],
    address: Operand,
    lane: Register,
    has_row: Register | None,
) -> Steps:
    """ldmatrix: each lane reads a row, and gets a word of each matrix from another lane."""
    pairs = (writer.register("b64"), writer.register("b64"))
    source, within = writer.register("b32"), writer.register("b32")
    for pair in pairs if has_row else ():
        yield writer.write("mov.b64", pair, 0)
    yield writer.write("ld.ldmatrix.shared.v2.b64", Vector(pairs), address, guard=has_row)
    yield writer.write("shr.u32", source, lane, 2)
    yield writer.write("and.b32", within, lane, 3)
    for number, register in enumerate(registers):
        assert isinstance(register, Register)
        if number:
            yield writer.write("add.s32", source, source, 8)
        yield from _asked(writer, pairs, source, within, register)
        if "trans" in writer.one.name:
            yield from transposed(writer, register, register)


def _stored(
    writer: Writer,
    registers: Sequence[Operand],
    address: Operand,
    lane: Register,
    has_row: Register | None,
) -> Steps:
    """stmatrix: each lane gets the four words of its row from as many lanes, and writes them."""
    own = list(registers)
    if "trans" in writer.one.name:
        own = [writer.register("b32") for _ in registers]
        for register, result in zip(registers, own, strict=True):
            yield from transposed(writer, register, result)
    pairs = []
    for number in range(0, len(own), 2):
        pairs.append(writer.register("b64"))
        yield writer.write(
            "mov.b64", pairs[-1], Vector((own[number], own[(number + 1) % len(own)]))
        )
    words = [writer.register("b32") for _ in range(4)]
    source, matrix = writer.register("b32"), writer.register("b32")
    yield writer.write("and.b32", source, lane, 7)
    yield writer.write("shl.b32", source, source, 2)
    yield writer.write("shr.u32", matrix, lane, 3)
    for number, word in enumerate(words):
        if number:
            yield writer.write("add.s32", source, source, 1)
        yield from _asked(writer, pairs, source, matrix, word)
    yield writer.write("st.shared.v4.b32", address, Vector(tuple(words)), guard=has_row)


def across(writer: Writer) -> Steps:
    """movmatrix: a matrix of 8 by 8 numbers of 16 bits, transposed between registers."""
    result, word = writer.one.operands
    yield from transposed(writer, word, result)


def of_wmma(writer: Writer) -> Steps:
    """wmma: a load or a store as those of the lanes' words, a product as an mma."""
    one = writer.one
    if one.name[1] == "mma":
        yield writer.write(".".join(one.name[1:]), *one.operands)
        return
    shape = next(word for word in one.name if re.fullmatch(r"m\d+n\d+k\d+", word))
    m, n, k = map(int, re.findall(r"\d+", shape))
    type_, which, is_load = one.name[-1], one.name[2], one.name[1] == "load"
    if type_ not in BITS or shape not in " ".join(SHAPES.values()).split():
        raise writer.refuse(KNOWN)
    operands = list(one.operands)
    address = next(part for part in operands if isinstance(part, Address))
    vector = operands[0 if is_load else 1]
    registers = vector.parts if isinstance(vector, Vector) else (vector,)
    is_row = "row" in one.name
    depth = {"a": (k, m), "b": (n, k)}.get(which, (n, m))[0 if is_row else 1]
    pitch: Operand = operands[2] if len(operands) > 2 else Immediate(depth)
    matrix = _Memory(writer, address, pitch, type_)
    if which in "cd":
        yield from _of_sum(matrix, registers, (m // 8, n // 8), is_row, is_load)
        return
    together = max(32 // BITS[type_], 1)
    lines, steps = (m if which == "a" else n) // 8, k // (4 * together)
    places = [(line, step) for step in range(steps) for line in range(lines)]
    if which == "b":
        places = [(line, step) for line in range(lines) for step in range(steps)]
    yield from _of_factor(matrix, registers, places, is_row == (which == "a"))


class _Memory:
    """A matrix in memory, whose lines are `pitch` numbers apart."""

    def __init__(self, writer: Writer, address: Address, pitch: Operand, type_: str) -> None:
        self.writer = writer
        self.address = address
        self.pitch = pitch
        self.type = type_
        self.size = BITS[type_] // 8
        self.space = writer.space

    def begin(self, group: tuple[int, int], within: tuple[int, int]) -> Steps:
        """Find the lane's first number, and the bytes of a line.

        It is in line `group[0] * g + within[0] * t`, at `group[1] * g + within[1] * t`.
        """
        writer, base = self.writer, self.address.base
        assert isinstance(base, Register | Symbol)
        self.first, self.line = writer.register("b64"), writer.register("b64")
        lane, g, t, part = (writer.register("b32") for _ in range(4))
        wide = not isinstance(base, Register) or writer.registers.get(base.name, "b64")[1:] == "64"
        yield writer.write("mov.b64" if wide else "cvt.u64.u32", self.first, base)
        yield writer.write("mov.b32", lane, Register("%laneid"))
        yield writer.write("shr.u32", g, lane, 2)
        yield writer.write("and.b32", t, lane, 3)
        if isinstance(self.pitch, Immediate):
            yield writer.write("mov.b64", self.line, int(self.pitch.value) * self.size)
        else:
            yield writer.write("mul.wide.u32", self.line, self.pitch, self.size)
        for times, lanes in ((group[0], g), (within[0], t)):
            if times:
                lines = writer.register("b64")
                yield writer.write("mul.wide.u32", lines, lanes, times)
                yield writer.write("mad.lo.s64", self.first, lines, self.line, self.first)
        for times, lanes in ((group[1], g), (within[1], t)):
            if times:
                yield writer.write("mul.lo.s32", part, lanes, times * self.size)
                along = writer.register("b64")
                yield writer.write("cvt.u64.u32", along, part)
                yield writer.write("add.s64", self.first, self.first, along)

    def at(self, line: int, along: int) -> Generator[Instruction, None, Address]:
        """Find the address so many lines and numbers behind the lane's first one."""
        found = self.writer.register("b64")
        yield self.writer.write("mad.lo.s64", found, self.line, line, self.first)
        return Address(found, self.address.offset + along * self.size)


def _of_factor(
    matrix: _Memory,
    registers: Sequence[Operand],
    places: Sequence[tuple[int, int]],
    is_along: bool,
) -> Steps:
    """A load of A or B, whose lines lie along k or across it."""
    writer, size = matrix.writer, matrix.size
    together = max(4 // size, 1)
    word_type = "f64" if size == 8 else "b32"
    if is_along:
        yield from matrix.begin((1, 0), (0, together))
    elif together == 2:
        yield from matrix.begin((1, 0), (0, 2))
    else:
        yield from matrix.begin((0, 1), (together, 0))
    for number, register in enumerate(registers):
        line, step = places[number % len(places)]
        assert isinstance(register, Register)
        if number >= len(places):
            yield writer.write("mov.b32", register, registers[number % len(places)])
        elif is_along:
            place = yield from matrix.at(8 * line, 4 * together * step)
            yield writer.write(f"ld{matrix.space}.{word_type}", register, place)
        elif together == 1:
            place = yield from matrix.at(4 * step, 8 * line)
            yield writer.write(f"ld{matrix.space}.{word_type}", register, place)
        elif together == 2:
            place = yield from matrix.at(8 * step, 8 * line)
            word = writer.register("b32")
            yield writer.write(f"ld{matrix.space}.b32", word, place)
            yield from transposed(writer, word, register)
        else:
            whole, byte = writer.register("b32"), writer.register("b32")
            for k in range(4):
                place = yield from matrix.at(16 * step + k, 8 * line)
                yield writer.write(f"ld{matrix.space}.u8", byte if k else whole, place)
                if k:
                    yield writer.write("bfi.b32", whole, byte, whole, 8 * k, 8)
            yield writer.write("mov.b32", register, whole)


def _of_sum(
    matrix: _Memory,
    registers: Sequence[Operand],
    blocks: tuple[int, int],
    is_row: bool,
    is_load: bool,
) -> Steps:
    """A load of C or a store of D, which have two numbers of a row in each block of 8 by 8."""
    writer, rows = matrix.writer, blocks[0]
    is_half = matrix.size == 2
    name, type_ = f"{'ld' if is_load else 'st'}{matrix.space}", "b32" if is_half else matrix.type
    yield from matrix.begin(*(((1, 0), (0, 2)) if is_row or is_half else ((0, 1), (2, 0))))

    def access(width: str, value: Operand, place: Address) -> Instruction:
        given = (value, place) if is_load else (place, value)
        return writer.write(f"{name}{width}.{type_}", *given)

    for block in range(blocks[0] * blocks[1]):
        row, column = 8 * (block % rows), 8 * (block // rows)
        own = registers[block : block + 1] if is_half else registers[2 * block : 2 * block + 2]
        if is_row:
            place = yield from matrix.at(row, column)
            yield access("" if is_half else ".v2", own[0] if is_half else Vector(tuple(own)), place)
        elif is_half:
            word = writer.register("b32")
            place = yield from matrix.at(column, row)
            if is_load:
                yield access("", word, place)
                yield from transposed(writer, word, own[0])
            else:
                yield from transposed(writer, own[0], word)
                yield access("", word, place)
        else:
            for number, part in enumerate(own):
                place = yield from matrix.at(column + number, row)
                yield access("", part, place)
