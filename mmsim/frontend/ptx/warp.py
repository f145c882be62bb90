"""Instructions of several threads: barriers, shuffles, votes, matches; and special registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from mmsim.errors import Place
from mmsim.frontend.ptx.arrays import cast, refused
from mmsim.frontend.ptx.module import Instruction, Operand, Pair, Register
from mmsim.ir import nodes as ir


class Lowering(Protocol):
    """The lowering of a kernel, as far as these instructions need it."""

    def temporary(self) -> str:
        """The name of a new variable."""

    def operand(self, operand: Operand, type_: str, place: Place) -> ir.Expr:
        """The value of an operand."""

    def register_type(self, operand: Operand, otherwise: str) -> str:
        """The type of an operand."""

    def constant(self, operand: Operand) -> int | None:
        """The value of an operand that is always the same."""

    def held(self, register: str) -> str:
        """The name of the type in which a register is held."""

    def assign(self, target: Operand, value: ir.Expr, place: Place) -> Iterator[ir.Stmt]:
        """Set a register, unless the result is dropped."""


OF_SOME = (
    "RuntimeError: a barrier for {} threads is not one of the whole block, which has another "
    "number of threads; let all of them wait, or use cuda::barrier"
)
Statements = Callable[[Lowering, Instruction, Place], Iterator[ir.Stmt]]


def _field(name: str, place: Place) -> ir.Expr:
    return cast("int32", ir.ThreadField(name), place)


def _constant(value: int, _: Place) -> ir.Expr:
    return ir.Const(value)


def _warp_of_block(place: Place) -> ir.Expr:
    index, lane = ir.ThreadField("index"), ir.ThreadField("lane")
    first = ir.Binary("-", index, lane, place)
    return cast("int32", ir.Binary("//", first, WIDTH, place), place)


def _warps_of_block(place: Place) -> ir.Expr:
    whole = ir.Binary("+", ir.ThreadField("block_size"), ir.Const(31), place)
    return cast("int32", ir.Binary("//", whole, WIDTH, place), place)


WIDTH = ir.Const(32)
"""The lanes of a warp on a card; a machine of another width has others."""


RESERVED = -1024
"""The address of shared memory that the system keeps for itself: that of no array."""


def _lanes(sign: str, place: Place) -> ir.Expr:
    """A bit for each lane before, after or at the own one."""
    one = ir.Binary("<<", ir.Const(1), ir.ThreadField("lane"), place)
    below = ir.Binary("-", one, ir.Const(1), place)
    found: dict[str, ir.Expr] = {
        "eq": one,
        "lt": below,
        "le": ir.Binary("|", below, one, place),
        "ge": ir.Unary("~", below, place),
        "gt": ir.Unary("~", ir.Binary("|", below, one, place), place),
    }
    return cast("int32", found[sign], place)


SPECIAL: dict[str, Callable[[Place], ir.Expr]] = {
    **{
        f"%{short}.{axis}": partial(_field, f"{name}.{axis}")
        for short, name in (
            ("tid", "threadIdx"),
            ("ntid", "blockDim"),
            ("ctaid", "blockIdx"),
            ("nctaid", "gridDim"),
        )
        for axis in "xyz"
    },
    "%laneid": partial(_field, "lane"),
    "%warpid": _warp_of_block,
    "%nwarpid": _warps_of_block,
    **{name: partial(_constant, 0) for name in ("%smid", "%gridid", "%is_explicit_cluster")},
    **{f"%cluster_cta{name}": partial(_constant, 0) for name in ("rank", "id.x", "id.y", "id.z")},
    **{f"%cluster_ncta{name}": partial(_constant, 1) for name in ("rank", "id.x", "id.y", "id.z")},
    **{f"%clusterid.{axis}": partial(_field, f"blockIdx.{axis}") for axis in "xyz"},
    **{f"%nclusterid.{axis}": partial(_field, f"gridDim.{axis}") for axis in "xyz"},
    "WARP_SZ": partial(_constant, 32),
    **{f"%reserved_smem_offset_{part}": partial(_constant, RESERVED) for part in "01"},
    **{f"%lanemask_{sign}": partial(_lanes, sign) for sign in ("eq", "lt", "le", "ge", "gt")},
}
"""The special registers that the model has. Each block is a cluster of its own, and all blocks are
on one multiprocessor."""


def _barrier(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """bar and barrier: of the block, or of the warp."""
    suffixes = one.name[1:]
    if "warp" in suffixes:
        yield ir.Exchange(None, "sync", (), place)
        return
    if "grid" in suffixes:
        yield ir.Barrier(place, "grid")
        return
    if "cluster" in suffixes:  # of one block, see SPECIAL
        if "wait" in suffixes:
            yield ir.Barrier(place)
        return
    if "arrive" in suffixes:
        raise refused(one, "has no meaning in the model", place, "let all threads wait")
    if "red" in suffixes:
        target, _, *rest = one.operands
        test = rest[-1]
        op = next(name for name in ("and", "or", "popc") if name in suffixes)
        name = lowering.temporary()
        value = lowering.operand(test, "pred", place)
        which = "count" if op == "popc" else op
        yield ir.Barrier(place, "block", name, which, value)
        held = lowering.held(target.name) if isinstance(target, Register) else "bool"
        yield from lowering.assign(target, cast(held, ir.Var(name, place), place), place)
        return
    if len(one.operands) > 1:
        count = lowering.operand(one.operands[1], "b32", place)
        warps = ir.Binary("//", count, WIDTH, place)
        is_other = ir.Compare("!=", warps, _warps_of_block(place), place)
        yield ir.If(is_other, (ir.Return(place, OF_SOME, count),), (), place)
    yield ir.Barrier(place)


def _shuffle(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """shfl: the lane that is asked, by the rules of the PTX manual; its own if that is outside."""
    result, value, distance, bounds = one.operands[:4]
    target, found = (result.first, result.second) if isinstance(result, Pair) else (result, None)
    how = next(name for name in ("up", "down", "bfly", "idx") if name in one.name)
    lane: ir.Expr = ir.ThreadField("lane")
    given = lowering.operand(distance, "b32", place)
    by: ir.Expr = ir.Binary("&", given, ir.Const(31), place)
    known = lowering.constant(bounds)
    if known is not None:
        clamp, segment = known & 31, known >> 8 & 31
        low: ir.Expr = ir.Binary("&", lane, ir.Const(segment), place) if segment else ir.Const(0)
        high: ir.Expr = ir.Const(clamp & ~segment & 31)
        if segment:
            high = ir.Binary("|", low, high, place)
        inside: ir.Expr = ir.Binary("&", by, ir.Const(~segment & 31), place)
    else:
        whole = lowering.operand(bounds, "b32", place)
        mask = ir.Binary("&", ir.Binary(">>", whole, ir.Const(8), place), ir.Const(31), place)
        others = ir.Binary("&", ir.Unary("~", mask, place), ir.Const(31), place)
        low = ir.Binary("&", lane, mask, place)
        high = ir.Binary("|", low, ir.Binary("&", whole, others, place), place)
        inside = ir.Binary("&", by, others, place)
    asked: ir.Expr
    match how:
        case "up":
            asked = ir.Binary("-", lane, by, place)
            high = low if known is None or known >> 8 & 31 or known & 31 else ir.Const(0)
        case "down":
            asked = ir.Binary("+", lane, by, place)
        case "bfly":
            asked = ir.Binary("^", lane, by, place)
        case _:
            asked = ir.Binary("|", low, inside, place)
    number, test = lowering.temporary(), lowering.temporary()
    yield ir.Assign(number, cast("int64", asked, place), place)
    sign = ">=" if how == "up" else "<="
    yield ir.Assign(test, ir.Compare(sign, ir.Var(number, place), high, place), place)
    own = ir.Choose(ir.Var(test, place), ir.Var(number, place), lane)
    register = lowering.register_type(value, "b32")
    name = lowering.temporary()
    operands = (lowering.operand(value, register, place), own)
    yield ir.Exchange(name, "shuffle", operands, place)
    held = lowering.held(target.name) if isinstance(target, Register) else "int32"
    yield from lowering.assign(target, cast(held, ir.Var(name, place), place), place)
    if found is not None:
        yield from lowering.assign(found, ir.Var(test, place), place)


def _members(lowering: Lowering, operand: Operand, place: Place) -> ir.Expr | None:
    """The mask of the lanes that take part; None if these are all active ones."""
    if lowering.constant(operand) in (-1, 0xFFFFFFFF):
        return None
    return cast("uint32", lowering.operand(operand, "b32", place), place)


def _among(members: ir.Expr | None, mask: ir.Expr, place: Place) -> ir.Expr:
    """A mask of lanes without those that don't take part."""
    return mask if members is None else ir.Binary("&", mask, members, place)


def _vote(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """vote: among the lanes of the mask, since other lanes may vote at the same time."""
    target, test, *rest = one.operands
    value = lowering.operand(test, "pred", place)
    members = _members(lowering, rest[-1], place) if rest else None
    yes, no = lowering.temporary(), lowering.temporary()

    def is_none(name: str) -> ir.Expr:
        return ir.Compare("==", _among(members, ir.Var(name, place), place), ir.Const(0), place)

    if "ballot" in one.name:
        yield ir.Exchange(yes, "ballot", (value,), place)
        found = cast("int32", _among(members, ir.Var(yes, place), place), place)
        yield from lowering.assign(target, found, place)
        return
    if members is None and "uni" not in one.name:
        yield ir.Exchange(yes, "all" if "all" in one.name else "any", (value,), place)
        yield from lowering.assign(target, ir.Var(yes, place), place)
        return
    yield ir.Exchange(yes, "ballot", (value,), place)
    yield ir.Exchange(no, "ballot", (ir.Unary("not", value, place),), place)
    result: ir.Expr = ir.Unary("not", is_none(yes), place)
    if "all" in one.name:
        result = is_none(no)
    elif "uni" in one.name:
        result = ir.Binary("|", is_none(yes), is_none(no), place)
    yield from lowering.assign(target, result, place)


def _match(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    result, value, *rest = one.operands
    target, agree = (result.first, result.second) if isinstance(result, Pair) else (result, None)
    members = _members(lowering, rest[-1], place) if rest else None
    name, active = lowering.temporary(), lowering.temporary()
    operand = lowering.operand(value, one.name[-1], place)
    if "any" in one.name or members is None:
        op: ir.ExchangeOp = "match_any" if "any" in one.name else "match_all"
        yield ir.Exchange(name, op, (operand,), place)
        found = _among(members, ir.Var(name, place), place)
    else:
        yield ir.Exchange(name, "match_any", (operand,), place)
        yield ir.Exchange(active, "active_mask", (), place)
        own, whole = (_among(members, ir.Var(mask, place), place) for mask in (name, active))
        found = ir.Choose(ir.Compare("==", own, whole, place), own, ir.Const(0))
    yield ir.Assign(active, found, place)
    mask = ir.Var(active, place)
    yield from lowering.assign(target, cast("int32", mask, place), place)
    if agree is not None:
        yield from lowering.assign(agree, ir.Compare("!=", mask, ir.Const(0), place), place)


def _active(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    name = lowering.temporary()
    yield ir.Exchange(name, "active_mask", (), place)
    yield from lowering.assign(one.operands[0], cast("int32", ir.Var(name, place), place), place)


REDUCING = {"add": "+", "min": "min", "max": "max", "and": "&", "or": "|", "xor": "^"}
"""The operators of redux."""


def _reduction(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """redux: the values of the lanes of the mask together, lane after lane."""
    target, value, *rest = one.operands
    members = _members(lowering, rest[-1], place) if rest else None
    type_ = one.name[-1]
    op = next((name for name in REDUCING if name in one.name), "")
    if not op or type_[0] == "f":
        raise refused(one, "is not modelled", place, "write the steps with __shfl_xor_sync")
    active, lane, total, asked, other = (lowering.temporary() for _ in range(5))
    sign = "" if type_[0] == "s" else "u"
    own = cast(f"{sign}int32", lowering.operand(value, type_, place), place)
    bit = ir.Binary(">>", ir.Var(active, place), ir.Var(lane, place), place)
    takes_part = ir.Compare("!=", ir.Binary("&", bit, ir.Const(1), place), ir.Const(0), place)
    source = ir.Choose(takes_part, ir.Var(lane, place), ir.ThreadField("lane"))
    lowest = _lowest_bit(ir.Var(active, place), place)
    is_more = ir.Compare("!=", ir.Var(lane, place), lowest, place)
    joined = ir.Binary(REDUCING[op], ir.Var(total, place), ir.Var(other, place), place)
    add = ir.Assign(total, cast(f"{sign}int32", joined, place), place)
    taken = ir.If(ir.Logic("and", takes_part, is_more), (add,), (), place)
    yield ir.Exchange(active, "active_mask", (), place)
    if members is not None:
        yield ir.Assign(active, _among(members, ir.Var(active, place), place), place)
    yield ir.Exchange(total, "shuffle", (own, lowest), place)
    body: ir.Block = (
        ir.Assign(asked, source, place),
        ir.Exchange(other, "shuffle", (own, ir.Var(asked, place)), place),
        taken,
    )
    yield ir.For(lane, ir.Const(0), WIDTH, ir.Const(1), body, place)
    held = lowering.held(target.name) if isinstance(target, Register) else "int32"
    yield from lowering.assign(target, cast(held, ir.Var(total, place), place), place)


def _lowest_bit(mask: ir.Expr, place: Place) -> ir.Expr:
    """The number of the lowest bit of a mask."""
    return ir.Binary("-", ir.Call("ffs", (mask,), place), ir.Const(1), place)


def _elected(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """elect: the lowest lane of the mask."""
    result, mask = one.operands
    members = _members(lowering, mask, place)
    active = lowering.temporary()
    yield ir.Exchange(active, "active_mask", (), place)
    lane = _lowest_bit(_among(members, ir.Var(active, place), place), place)
    target, test = (result.first, result.second) if isinstance(result, Pair) else (result, None)
    if test is not None:
        is_own = ir.Compare("==", ir.ThreadField("lane"), lane, place)
        yield from lowering.assign(test, is_own, place)
    yield from lowering.assign(target, cast("int32", lane, place), place)


STATEMENTS: dict[str, Statements] = {
    "bar": _barrier,
    "barrier": _barrier,
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "activemask": _active,
    "redux": _reduction,
    "elect": _elected,
}
"""The instructions that threads carry out together, by their names."""


CLOCKS = (
    *("%clock", "%clock_hi", "%clock64"),
    *("%globaltimer", "%globaltimer_lo", "%globaltimer_hi"),
)
"""The special registers of time: that of the model, at which the instruction's warp is."""


def reads_clock(one: Instruction) -> bool:
    """Return whether an instruction is a move of the time."""
    return any(isinstance(part, Register) and part.name in CLOCKS for part in one.operands)


def time(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """A move of the time, or of its lower or upper half."""
    target, source = one.operands
    assert isinstance(target, Register)
    assert isinstance(source, Register)
    name = lowering.temporary()
    yield ir.Exchange(name, "clock", (), place)
    value: ir.Expr = ir.Var(name, place)
    if source.name.endswith("_hi"):
        value = ir.Binary(">>", value, WIDTH, place)
    yield from lowering.assign(target, cast(lowering.held(target.name), value, place), place)


def is_special(operand: Operand) -> bool:
    """Return whether an operand is a special register."""
    return isinstance(operand, Register) and operand.name in SPECIAL
