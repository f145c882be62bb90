"""Instructions that stand for several simpler ones: copies, barriers in memory, atomics.

A copy by cp.async is done at once: a load from global memory and a store into shared memory, as the
model has no cheaper way. One by cp.async.bulk is a loop of its thread, 16 bytes at a time.

An mbarrier is a 64-bit word: the arrivals that it waits for above the bit `SHARE`, and below it
those up to now, shifted by `ARRIVAL`, less the bytes that bulk copies have still to bring. Each
arrival is an atomic addition, each test a load.

An atomic addition of short floats is a loop of compare-and-swap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace

from mmsim.errors import Place
from mmsim.frontend.ptx import matrices
from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Label,
    Operand,
    Register,
    Symbol,
    Variable,
    Vector,
)
from mmsim.frontend.ptx.writer import SPACES, Steps, Writer

WIDTHS = frozenset(("v2", "v4", "v8"))
BYTES = {"f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4, "f32": 4, "f64": 8}
"""The types of the atomics of several numbers."""
BULK = frozenset(("cp", "async", "bulk", *SPACES, "mbarrier", "bulk_group", "L2"))
"""The words in the names of bulk copies that have a meaning."""
ARRIVAL = 20
"""The bits by which an arrival is shifted: a phase expects fewer bytes than 1 << 20."""
SHARE = 44
"""The bits of an mbarrier for what has arrived."""


def moved(address: Address, by: int) -> Address:
    """An address so many bytes further."""
    return replace(address, offset=address.offset + by)


# Copies


def _copy(writer: Writer) -> Steps:
    """cp.async: the bytes behind the first `src-size` ones are zeros."""
    one = writer.one
    if "commit_group" in one.name or "wait_group" in one.name or "wait_all" in one.name:
        return
    if "mbarrier" in one.name:
        if "noinc" in one.name:
            yield from _arrival(writer, one.operands[0])
        return
    if "bulk" in one.name:
        yield from _bulk_copy(writer)
        return
    if "shared" not in (part.partition("::")[0] for part in one.name):
        raise writer.refuse("copy with cuda::memcpy_async, or with loads and stores")
    to, source, size, *rest = one.operands
    assert isinstance(to, Address)
    assert isinstance(source, Address)
    assert isinstance(size, Immediate)
    whole = int(size.value)
    if whole not in (4, 8, 16):
        raise writer.refuse("a thread copies 4, 8 or 16 bytes at once")
    given = rest[0] if rest else size
    if given == size:
        type_, words = ("b64", whole // 8) if whole >= 8 else ("b32", 1)
        held = [writer.register(type_) for _ in range(words)]
        width = f".v{words}" if words > 1 else ""
        value: Operand = Vector(tuple(held)) if words > 1 else held[0]
        yield writer.write(f"ld.global{width}.{type_}", value, source)
        yield writer.write(f"st.shared{width}.{type_}", to, value)
        return
    held = [writer.register("b32") for _ in range(whole // 4)]
    vector: Operand = Vector(tuple(held)) if len(held) > 1 else held[0]
    width = f".v{len(held)}" if len(held) > 1 else ""
    is_whole, has_word = writer.register("pred"), writer.register("pred")
    left, mask = writer.register("b32"), writer.register("b32")
    is_skipped = isinstance(given, Register) and writer.registers.get(given.name) == "pred"
    if is_skipped:  # the operand says whether the source is ignored
        amount: Operand = writer.register("b32")
        yield writer.write("selp.b32", amount, 0, whole, given)
    else:
        amount = given
    yield writer.write("setp.ge.s32", is_whole, amount, whole)
    for word in held:
        yield writer.write("mov.b32", word, 0)
    yield writer.write(f"ld.global{width}.b32", vector, source, guard=is_whole)
    for number, word in enumerate(held):
        yield writer.write("sub.s32", left, amount, 4 * number)
        yield writer.write("setp.gt.s32", has_word, left, 0)
        part = writer.register("pred")
        negated = writer.register("pred")
        yield writer.write("not.pred", negated, is_whole)
        yield writer.write("and.pred", part, has_word, negated)
        yield writer.write("ld.global.b32", word, moved(source, 4 * number), guard=part)
        yield writer.write("shl.b32", left, left, 3, guard=part)
        yield writer.write("bmsk.clamp.b32", mask, 0, left, guard=part)
        yield writer.write("and.b32", word, word, mask, guard=part)
    yield writer.write(f"st.shared{width}.b32", to, vector)


def _bulk_copy(writer: Writer) -> Steps:
    """cp.async.bulk between global and shared memory, of a multiple of 16 bytes."""
    parts = [word.partition("::")[0] for word in writer.one.name]
    spaces = [part for part in parts if part in SPACES]
    if {*spaces} != {*SPACES} or not {*parts} <= BULK:
        raise writer.refuse("copy with cuda::memcpy_async, or with loads and stores")
    to, source, size, *barrier = writer.one.operands
    assert isinstance(source, Address)
    assert isinstance(to, Address)
    again, behind = writer.label(), writer.label()
    left, is_done = writer.register("b32"), writer.register("pred")
    words: Operand = Vector((writer.register("b64"), writer.register("b64")))
    places = [writer.register("b64") for _ in range(2)]
    for place, address in zip(places, (to, source), strict=True):
        yield from _wide(writer, place, address)
    yield writer.write("mov.b32", left, size)
    yield Label(again)
    yield writer.write("setp.le.s32", is_done, left, 0)
    yield writer.write("bra", Symbol(behind), guard=is_done)
    yield writer.write(f"ld.{spaces[1]}.v2.b64", words, Address(places[1]))
    yield writer.write(f"st.{spaces[0]}.v2.b64", Address(places[0]), words)
    for place in places:
        yield writer.write("add.s64", place, place, 16)
    yield writer.write("sub.s32", left, left, 16)
    yield writer.write("bra", Symbol(again))
    yield Label(behind)
    if "mbarrier" in parts:
        yield from _transaction(writer, barrier[0], size)


def _wide(writer: Writer, register: Register, address: Address) -> Steps:
    """Set a register of 64 bits to an address."""
    base = address.base
    assert isinstance(base, Register | Symbol)
    wide = not isinstance(base, Register) or writer.registers.get(base.name, "b64").endswith("64")
    yield writer.write("mov.b64" if wide else "cvt.u64.u32", register, base)
    yield writer.write("add.s64", register, register, address.offset)


# Barriers in memory


def _transaction(writer: Writer, barrier: Operand, size: Operand) -> Steps:
    """The bytes of a bulk copy that an mbarrier has waited for."""
    wide = writer.register("b64")
    yield writer.write("cvt.u64.u32", wide, size)
    yield writer.write("red.shared.add.u64", barrier, wide)


def _arrival(
    writer: Writer,
    address: Operand,
    number: Operand | int = 1,
    state: Operand | None = None,
    expected: Operand | int = 0,
) -> Steps:
    """Arrivals; bulk copies have still to bring the `expected` bytes."""
    wide, bytes_ = writer.register("b64"), writer.register("b64")
    yield writer.write("cvt.u64.u32", wide, number)
    yield writer.write("shl.b64", wide, wide, ARRIVAL)
    yield writer.write("cvt.u64.u32", bytes_, expected)
    yield writer.write("sub.s64", wide, wide, bytes_)
    if state is None or state == Register("_"):
        yield writer.write(f"red{writer.space}.add.u64", address, wide)
    else:
        yield writer.write(f"atom{writer.space}.add.u64", state, address, wide)


def _phase(writer: Writer, word: Operand) -> Iterator[Instruction]:
    """The phases that a word has completed, in its own register."""
    needed, arrived = writer.register("b64"), writer.register("b64")
    yield writer.write("shr.u64", needed, word, SHARE)
    yield writer.write("shl.b64", needed, needed, ARRIVAL)
    yield writer.write("and.b64", arrived, word, (1 << SHARE) - 1)
    yield writer.write("div.u64", word, arrived, needed)


def _memory_barrier(writer: Writer) -> Steps:
    """mbarrier: init, arrive, test_wait and try_wait."""
    _, kind, *suffixes = writer.one.name
    operands = writer.one.operands
    if kind == "init":
        address, number = operands
        word = writer.register("b64")
        yield writer.write("cvt.u64.u32", word, number)
        yield writer.write("shl.b64", word, word, SHARE)
        yield writer.write(f"st{writer.space}.b64", address, word)
    elif kind == "inval":
        return
    elif kind == "arrive" and "noComplete" not in suffixes:
        state = None if isinstance(operands[0], Address) else operands[0]
        address, *more = operands if state is None else operands[1:]
        if "expect_tx" in suffixes:
            yield from _arrival(writer, address, 1, state, more[0])
        else:
            yield from _arrival(writer, address, more[0] if more else 1, state)
    elif kind in ("test_wait", "try_wait"):
        test, address, token, *_ = operands
        word, other = writer.register("b64"), writer.register("b64")
        yield writer.write(f"ld.relaxed.cta{writer.space}.b64", word, address)
        yield from _phase(writer, word)
        if "parity" in suffixes:
            yield writer.write("cvt.u64.u32", other, token)
            yield writer.write("and.b64", word, word, 1)
            yield writer.write("setp.ne.u64", test, word, other)
        else:
            yield writer.write("mov.b64", other, token)
            yield from _phase(writer, other)
            yield writer.write("setp.gt.u64", test, word, other)
    else:
        raise writer.refuse("let all threads arrive and wait, as cuda::barrier's arrive_and_wait")


# Numbers


def _differences(writer: Writer) -> Steps:
    """vabsdiff4: the differences of bytes without their sign, or with .add their sum."""
    _, *types = writer.one.name
    target, *operands = writer.one.operands
    first, second, addend = operands
    if {*types} - {"u32", "s32", "add"}:
        raise writer.refuse("compute with each byte")
    total, one, other = (writer.register("b32") for _ in range(3))
    yield writer.write("mov.b32", total, addend if "add" in types else 0)
    for byte in range(4):
        yield writer.write(f"bfe.{types[1]}", one, first, 8 * byte, 8)
        yield writer.write(f"bfe.{types[2]}", other, second, 8 * byte, 8)
        yield writer.write("sad.s32", one, one, other, 0)
        if "add" in types:
            yield writer.write("add.s32", total, total, one)
        else:
            yield writer.write("bfi.b32", total, one, total, 8 * byte, 8)
    assert isinstance(target, Register)
    yield writer.write("mov.b32", target, total)


def _atomic(writer: Writer) -> Steps:
    """An atomic of several numbers, one by one; of short floats, as a loop of compare-and-swap."""
    one = writer.one
    target = one.operands[0] if one.name[0] == "atom" else None
    address, *values = one.operands if target is None else one.operands[1:]
    assert isinstance(address, Address)
    width = next((word for word in one.name if word in WIDTHS), "")
    if width:
        assert isinstance(values[0], Vector)
        size = BYTES[one.name[-1]]
        name = tuple(word for word in one.name if word != width)
        for number, value in enumerate(values[0].parts):
            results = () if target is None else (target.parts[number],)  # type: ignore[union-attr]  # as wide
            operands = (*results, moved(address, size * number), value)
            single = replace(writer.one, name=name, operands=operands, guard=None)
            if size < 4 or one.name[-1].endswith("x2"):
                yield from _swapped(writer, single)
            else:
                yield single
        return
    if one.name[-1] == "b128":
        raise writer.refuse("use words of 64 bits, or a lock")
    yield from _swapped(writer, one)


def _swapped(writer: Writer, one: Instruction) -> Steps:
    """An atomic addition of short floats, or a comparison of 16 bits, by words of 32 bits."""
    type_, is_half = one.name[-1], not one.name[-1].endswith("x2")
    target = one.operands[0] if one.name[0] == "atom" else None
    address, *values = one.operands if target is None else one.operands[1:]
    compares = "cas" in one.name
    assert isinstance(address, Address)
    if not compares and "add" not in one.name:
        raise writer.refuse("use an addition or a compare-and-swap")
    old, new, seen = (writer.register("b32") for _ in range(3))
    differs = writer.register("pred")
    again, behind, space = writer.label(), writer.label(), writer.space
    own, sum_, found = (writer.register("b16") for _ in range(3))
    shift, mask, bits = (writer.register("b32") for _ in range(3))
    if is_half:
        assert address.base is not None
        whole, within = writer.register("b64"), writer.register("b64")
        is_short = isinstance(address.base, Register) and writer.registers[
            address.base.name
        ].endswith("32")
        yield writer.write("cvt.u64.u32" if is_short else "mov.b64", whole, address.base)
        yield writer.write("add.s64", whole, whole, address.offset)
        yield writer.write("and.b64", within, whole, 2)
        yield writer.write("cvt.u32.u64", shift, within)
        yield writer.write("shl.b32", shift, shift, 3)
        yield writer.write("shl.b32", mask, 0xFFFF, shift)
        yield writer.write("not.b32", mask, mask)
        yield writer.write("and.b64", whole, whole, -4)
        address = Address(whole)
    yield writer.write(f"ld.relaxed.gpu{space}.b32", old, address)
    yield Label(again)
    if is_half:
        yield writer.write("shr.u32", bits, old, shift)
        yield writer.write("cvt.u16.u32", own, bits)
        if compares:
            yield writer.write("setp.ne.b16", differs, own, values[0])
            yield writer.write("bra", Symbol(behind), guard=differs)
            yield writer.write("mov.b16", sum_, values[1])
        else:
            yield writer.write(f"add.{type_}", sum_, own, values[0])
        yield writer.write("cvt.u32.u16", bits, sum_)
        yield writer.write("shl.b32", bits, bits, shift)
        yield writer.write("and.b32", new, old, mask)
        yield writer.write("or.b32", new, new, bits)
    else:
        yield writer.write(f"add.{type_}", new, old, values[0])
    yield writer.write(f"atom{space}.cas.b32", seen, address, old, new)
    yield writer.write("setp.ne.s32", differs, seen, old)
    yield writer.write("mov.b32", old, seen)
    yield writer.write("bra", Symbol(again), guard=differs)
    yield Label(behind)
    if target is not None:
        yield writer.write("shr.u32", bits, old, shift if is_half else 0)
        yield writer.write("cvt.u16.u32" if is_half else "mov.b32", found if is_half else old, bits)
        yield writer.write(f"mov.b{16 if is_half else 32}", target, found if is_half else old)


EXPANSIONS: dict[str, Callable[[Writer], Steps]] = {
    "cp": _copy,
    "mbarrier": _memory_barrier,
    "ldmatrix": matrices.moved,
    "stmatrix": matrices.moved,
    "movmatrix": matrices.across,
    "wmma": matrices.of_wmma,
    "vabsdiff4": _differences,
    "atom": _atomic,
    "red": _atomic,
}
"""The instructions that stand for others, by their names; see `is_expanded`."""


def is_expanded(one: Instruction) -> bool:
    """Return whether an instruction stands for others."""
    if one.name[0] in ("atom", "red"):
        is_short = one.name[-1].endswith("x2") or one.name[-1] in ("f16", "bf16", "b16", "b128")
        return is_short or not WIDTHS.isdisjoint(one.name)
    return one.name[0] in EXPANSIONS


def expanded(
    one: Instruction,
    registers: MutableMapping[str, str],
    variables: MutableMapping[str, Variable],
    number: int,
    place: Place,
) -> Steps:
    """The instructions for which one stands; `number` distinguishes it from the others."""
    writer = Writer(one, registers, variables, number, place)
    steps = EXPANSIONS[one.name[0]](writer)
    if one.guard is None:
        yield from steps
        return
    behind = writer.label()
    turned = replace(one.guard, negated=not one.guard.negated)
    yield writer.write("bra", Symbol(behind), guard=turned)
    yield from steps
    yield Label(behind)
