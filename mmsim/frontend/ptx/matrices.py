"""Matrices between memory and the lanes of a warp: ldmatrix, stmatrix, movmatrix, and wmma's.

ldmatrix and stmatrix access one matrix at a time, 8 rows of 16 bytes, a word a lane, and exchange
the addresses by shuffles. The manual leaves open which lane has which number of wmma's matrices:
here it is the one that has it for mma (see `products`), 8 rows or columns after the others. A
register that is left over has the value of another.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

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


def _rows(writer: Writer, address: Address, matrices: int) -> Iterator[Instruction | Register]:
    """For each matrix, the register with the address of the lane's word: row lane / 4."""
    base = address.base
    assert isinstance(base, Register | Symbol)
    wide = not isinstance(base, Register) or writer.registers.get(base.name, "b64").endswith("64")
    own, lane = writer.register("b64"), writer.register("b32")
    low, high = writer.register("b32"), writer.register("b32")
    row, within = writer.register("b32"), writer.register("b64")
    yield writer.write("mov.b32", lane, Register("%laneid"))
    yield writer.write("mov.b64" if wide else "cvt.u64.u32", own, base)
    yield writer.write("add.s64", own, own, address.offset)
    yield writer.write("and.b32", low, lane, 3)
    yield writer.write("mul.wide.u32", within, low, 4)
    for number in range(matrices):
        found, other = writer.register("b64"), writer.register("b64")
        yield writer.write("shr.u32", row, lane, 2)
        yield writer.write("add.s32", row, row, 8 * number)
        yield writer.write("cvt.u32.u64", low, own)
        yield writer.write("shfl.sync.idx.b32", high, low, row, WHOLE_WARP, ALL_LANES)
        yield writer.write("cvt.u64.u32", other, high)
        yield writer.write("add.s64", found, other, within)
        yield found


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
    assert isinstance(address, Address)
    registers = vector.parts if isinstance(vector, Vector) else (vector,)
    rows = _rows(writer, address, len(registers))
    numbers = iter(registers)
    for step in rows:
        if isinstance(step, Instruction):
            yield step
            continue
        own = next(numbers)
        assert isinstance(own, Register)
        word = writer.register("b32")
        if is_load:
            yield writer.write("ld.shared.b32", word, Address(step))
        if "trans" in name:
            result = writer.register("b32")
            yield from transposed(writer, word if is_load else own, result)
            word = result
        elif not is_load:
            word = own
        if is_load:
            yield writer.write("mov.b32", own, word)
        else:
            yield writer.write("st.shared.b32", Address(step), word)


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
