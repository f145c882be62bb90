"""The operations of a program's statements, about as a compiler for a GPU leaves them.

The accesses say what memory does; these say what the multiprocessors have to issue. An operation is
named by what it computes and its type, as "sum int32". A compiler computes an expression once as
long as its variables stay the same, before a loop if they don't change in it, adds a product in one
operation if it may, and puts a constant part of an index into the access. Sums of integers have the
width of their type. Products and divisions take 32 bits if their range is known to be narrow. A
comparison takes the result of another one, so "and", "or" and "not" are free.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, SINGLE, Type, is_int, is_whole
from mmsim.ir.fixed import Fixed
from mmsim.ir.idioms import counts_bits, extremes
from mmsim.ir.lower import is_check
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import row_of
from mmsim.ir.row import Range, is_within
from mmsim.ir.walk import (
    Key,
    accesses,
    all_parts,
    expressions,
    inside,
    key_of,
    names,
    parts,
    statements,
    targets,
)

Operations = Counter[str]
"""The number of each operation; parts of one where a compiler shares it among trips of a loop."""

NARROW: Range = (-(2**31), 2**32 - 1)
"""The integers for which 32 bits are enough."""
UNROLLED = 4
"""The trips of a loop that a compiler unrolls: it tests once for these whether the loop goes on."""
MANY = 16
"""The same of a loop whose number of trips the compiler knows."""
WHOLE = 32
"""The trips of a loop that is unrolled whole."""
SIMPLE = ("sum", "sign", "absolute", "index")
"""The kinds of rows that are as fast as a sum."""
FREE = ("same", "check", "count")
EXACT = ("fabs", "copysign", "isnan", "isinf", "isfinite")
"""Functions that are one operation on the bits."""
SAME_BITS = ("as_integer", "as_float", "real", "imag", "complex")
ON_BITS = ("popc", "clz", "ffs", "brev")
APPROXIMATE = ("sin", "cos", "exp2", "log2", "tanh")
"""Functions that are one instruction of PTX, all as fast as its exp2."""
OF_ACCESS, OF_BARRIER, OF_EXCHANGE = "access", "barrier", "exchange"
OF_CHOICE = "choice"
"""A jump, or a branch without one."""
OF_LOGIC = "logic int32"
"""A comparison, a choice of one of two values, or an operation on bits."""
LOGIC = ("bits", "shift", "extreme", "not", "compare")
"""The kinds of rows of such operations."""
OF_BRANCH, OF_TRIP, OF_TURN = 3, 2, 2
"""Jumps of a branch whose lanes meet again, of a trip of a loop over a range, of one of another
loop, in which lanes leave one by one."""
OF_SUM = "sum int32"
OF_PLACE = "place int32"
"""A sum on the way to a place, which waits for no value that the program computes."""
OF_LOOP, OF_RANGE, OF_INDEX, OF_AXIS, OF_ADDRESS = 30, 10, 5, 4, 2
"""Operations on 32 bits in Numba's code, which has indices and ranges of 64 bits: before a loop
over a range, of a trip of one, of an index that may count from the end, of a further axis, of an
address."""
OWN_FIELDS = {"index", "threadIdx.x", "threadIdx.y", "threadIdx.z", "lane", "warp"}
OWN_FIELDS |= {"blockDim.x", "blockDim.y", "blockDim.z", "block_size"}
"""The fields of T by which a compiler knows that a thread's number in its block is at least 0."""
OF_FLOOR = 2
"""Sums that make a quotient of integers, in Numba's code, that of Python."""
OF_BITS = 4
"""Sums as long as an operation that counts or reverses bits."""
CLOSED = ("+", "-", "&", "|", "^", ">>", "//", "// or 0", "%", "% or 0")
"""The operators whose results have 32 bits if their operands do, and are numbers of threads."""
SHRINKING = ("&", "%", "% or 0")
"""Those whose results have 32 bits if one operand has."""
CUT = ("+", "-", "*", "&", "|", "^", "<<")
"""The operators for which 32 bits of the operands give 32 bits of the result."""
COMPARISONS = ("<", "<=", ">", ">=")
"""Each one is the opposite of that at the other end."""
PREDICATED = 4
"""The accesses in a branch for which a compiler makes each conditional instead of a jump."""


@dataclass(eq=False)
class Counting:
    """The operations of every statement of one launch's program.

    `of` gives the type of an expression, `range_of` its range (None: not known), `constant` its
    value if that is known to the compiler. The compiler of a program of mmsim, whose arithmetic is
    "python", doesn't join a product and a sum of floats. In PTX all places have been computed, and
    each statement is about one operation. `shared` are the arrays of the program's own. `entry` has
    the operations of a statement whenever lanes come to it, `trip` those of each trip of a loop,
    both by the statement's number.
    """

    body: ir.Block
    of: Callable[[ir.Expr], Type]
    range_of: Callable[[ir.Expr], Range | None]
    constant: Callable[[ir.Expr], ir.Scalar | None]
    shapes: dict[str, tuple[int, ...]]
    arithmetic: str
    shared: frozenset[str] = frozenset()
    entry: dict[int, Operations] = field(default_factory=dict)
    trip: dict[int, Operations] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fuses, self.is_ptx = self.arithmetic != "python", self.arithmetic == "ptx"
        self.fixed = Fixed(self.body, self.constant, self._is_flat)
        self._is_cut = False  # whether only 32 bits of an integer are used
        self._last, self._read = _last(self.body), _read(self.body)
        self._reads = _reads(self.body)
        self._is_decided = False  # whether a branch around is one that the compiler takes
        self._known: dict[Key, frozenset[str]] = {}
        self._positive: set[str] = set()
        """The variables that are positive, because a branch tested it."""
        self._narrow_names: set[str] = set()
        """The variables of whose values a compiler knows that they have 32 bits."""
        self._defined: dict[str, ir.Expr] = {}
        """The value of a variable, in variables that haven't changed since."""
        self._flat: set[str] = set()
        """The variables of the loops around that are unrolled whole."""
        self._counted: list[tuple[str, set[str], int]] = []
        """The variable of each loop, what it sets, and the trips that are unrolled."""
        self._block(self.body)

    def _block(self, block: ir.Block) -> None:
        for statement in block:
            self.entry[statement.number] = self._statement(statement)
            for name in targets(statement):
                self._set(name)
            if isinstance(statement, ir.Assign) and not self.is_ptx:
                self._define(statement.target, statement.value)

    def _define(self, name: str, value: ir.Expr) -> None:
        """Remember what a variable is."""
        if self._is_small(value):
            self._narrow_names.add(name)
        if name not in names((value,)):
            self._defined[name] = value

    def _set(self, *changed: str) -> None:
        """Forget the expressions of variables that have changed."""
        gone = set(changed)
        self._known = {key: used for key, used in self._known.items() if not used & gone}
        self._narrow_names -= gone
        self._defined = {
            name: value
            for name, value in self._defined.items()
            if name not in gone and not set(names((value,))) & gone
        }

    def _statement(self, statement: ir.Stmt) -> Operations:
        match statement:
            case ir.Assign(_, value) | ir.RegisterWrite(_, _, value):
                found, used = self._values((value,)), set(names((value,)))
                if isinstance(statement, ir.Assign) and self._is_at_least_0(value, used):
                    self._positive = self._positive | {statement.target}
                return self._instruction(value, found) if self.is_ptx else found
            case ir.Load() | ir.Store() | ir.Atomic() | ir.VectorLoad() | ir.VectorStore():
                rest = expressions(statement)[len(statement.index) :]
                return self._address(statement) + self._values(rest) + Operations((OF_ACCESS,))
            case ir.If(test, then, orelse):
                if (values := extremes(statement, self.of)) is not None:
                    return self._values(values) + self._logic(self._width(values[0]))
                is_decided, self._is_decided = self._is_decided, self.fixed.knows(test)
                own = self._values((test,))
                if not self._is_decided:
                    own[OF_CHOICE] += 1 if statement.number in self._last else _jumps(statement)
                    own += Operations({OF_LOGIC: self._chosen(statement)})
                known, positive = dict(self._known), self._positive
                self._positive = positive | _positive(test)
                self._block(then)
                self._positive = positive | _positive_unless(test)
                self._known = dict(known)
                self._block(orelse)
                self._positive = positive
                self._known, self._is_decided = known, is_decided
                self._set(*changes((statement,)))
                return own
            case ir.For(target, start, stop, step, body):
                bounds = start, stop, step
                trips = trips_of(statement, self.constant)
                unrolled = UNROLLED if trips is None else MANY
                own = self._values(bounds)
                is_whole_loop = self._is_flat(statement)
                if is_whole_loop:
                    self._flat.add(target)
                own += self._loop(statement, (target,), (), body, unrolled)
                self._flat.discard(target)
                if is_whole_loop:
                    self.trip[statement.number] = Operations()
                    return own
                trip = Operations({f"sum {self._whole(start)}": 1, OF_CHOICE: OF_TRIP})
                trip[f"sum {self._whole(stop)}"] += 1
                is_used = target in self._read
                if self.arithmetic == "numba" and trips is None:
                    own[OF_PLACE] += OF_LOOP
                self.trip[statement.number] = (
                    Operations({OF_PLACE: OF_RANGE})
                    if self.arithmetic == "numba" and is_used
                    else Operations({name: number / unrolled for name, number in trip.items()})
                )
                return own
            case ir.While() if not self.is_ptx and counts_bits(statement):
                self.trip[statement.number] = Operations()
                return Operations({OF_SUM: OF_BITS})
            case ir.While(prelude, test, body):
                turns = 0 if self.fixed.unrolls(statement) else OF_TURN
                self.trip[statement.number] = Operations({OF_CHOICE: turns} if turns else ())
                return self._loop(statement, (), (*prelude, test), body)
            case ir.Scope(_, body):
                self._block(body)
                return Operations()
            case ir.Barrier():
                return self._values(expressions(statement)) + Operations((OF_BARRIER,))
            case ir.Exchange(operands=operands):
                return self._values(operands) + Operations((OF_EXCHANGE,))
            case ir.Break() | ir.Continue() | ir.Return() | ir.Leave():
                return Operations(() if self._is_decided else (OF_CHOICE,))
            case ir.Forget():
                return Operations()
            case _:
                assert_never(statement, "the count of operations")

    def _chosen(self, branch: ir.If) -> int:
        """The choices of values in a branch without a jump: of each variable that is read later.

        One of 64 bits takes two.
        """
        if self.is_ptx or _jumps(branch) > 1:
            return 0
        found = {
            one.target: 2 if self._width(one.value).endswith("64") else 1
            for one in (*branch.then, *branch.orelse)
            if isinstance(one, ir.Assign) and isinstance(one.value, ir.Var | ir.Const)
        }
        own = _reads((branch,))
        return sum(number for name, number in found.items() if own[name] < self._reads[name])

    def _is_flat(self, loop: ir.For) -> bool:
        """Return whether a loop over a range is unrolled whole.

        Numba's compiler doesn't know the counter of one that a branch keeps for later.
        """
        is_kept = self.arithmetic == "numba" and _is_kept(loop)
        return not is_kept and copies(loop, self.constant) <= WHOLE

    def _loop(
        self,
        loop: ir.For | ir.While,
        own: tuple[str, ...],
        head: tuple[ir.Stmt | ir.Expr, ...],
        body: ir.Block,
        unrolled: int = 1,
    ) -> Operations:
        """Count a loop's statements; return what is computed before it, once for all trips."""
        changing = {*own, *changes((loop,))}
        self._set(*changing)
        before = Operations()
        for value in _all_values(loop):
            before += self._invariant(value, changing)
        for access in accesses((loop,)):
            if self.arithmetic == "numba":
                for axis, index in enumerate(access.index):
                    if not names((index,)) & changing:
                        before += self._axis(access, axis)
                if not names(tuple(map(self._place, access.index))) & changing:
                    before += self._wide_address(access)
            elif not names(access.index[:-1]) & changing:
                before += self._row(access)
        outer = dict(self._known)
        self._counted.append(("".join(own), changing, unrolled))
        for one in head:
            if isinstance(one, ir.Stmt):
                self._block((one,))
            else:
                self.trip[loop.number] += self._values((one,))
        self._block(body)
        self._counted.pop()
        self._known = outer
        self._set(*changing)
        return before

    def _invariant(self, value: ir.Expr, changing: set[str]) -> Operations:
        """The operations of the parts of an expression that don't change in a loop."""
        if not names((value,)) & changing:
            return self._values((value,))
        found = Operations()
        for part in expressions(value):
            found += self._invariant(part, changing)
        return found

    # Expressions

    def _values(self, values: Iterable[ir.Expr]) -> Operations:
        found = Operations()
        for value in values:
            found += self._value(value)
        return found

    def _value(self, value: ir.Expr) -> Operations:
        """The operations of an expression, none if it has been computed before."""
        if isinstance(value, ir.Const | ir.Var | ir.Number | ir.ThreadField | ir.Extent):
            return Operations()
        if self.constant(value) is not None or self.fixed.knows(value):
            return Operations()
        key = key_of(value)
        if key in self._known:
            return Operations()
        is_cut, self._is_cut = self._is_cut, self._cuts(value)
        if (narrow := _narrowed(value, self.of)) is not None:
            found = self._values(narrow) + self._operation(expressions(value)[0], SINGLE)
        elif (whole := _tested_for_0(value, self.of)) is not None:
            found = self._value(whole) + self._logic(self._width(whole))
        else:
            found = self._values(expressions(value)) + self._own(value)
        self._is_cut = is_cut
        self._known[key] = frozenset(names((value,)))
        return found

    def _cuts(self, value: ir.Expr) -> bool:
        """Return whether only 32 bits of an integer's operands count."""
        if isinstance(value, ir.Unary) and row_of(value).kind == "cast":
            type_ = self.of(value)
            is_short = is_whole(type_) and is_int(type_) and type_.itemsize <= 4
            return is_short or (self._is_cut and is_whole(type_))
        return self._is_cut and isinstance(value, ir.Binary) and value.op in CUT

    def _instruction(self, value: ir.Expr, found: Operations) -> Operations:
        """The operation of an instruction of PTX, which may take several to say what it does."""
        width = self._width(value)
        if {"quotient", "sqrt"} <= {kind.partition(" ")[0] for kind in found}:
            # The inverse of a root: of a float as fast as exp2, of a double about as the root.
            return Operations((f"{'exp2' if width == 'float32' else 'sqrt'} {width}",))
        if found.total() <= 2:
            return found
        if any(kind.startswith("division") for kind in found):
            return Operations((f"division {width}",))  # of the quotient, or of the remainder
        is_product = any(kind.startswith("product") for kind in found)
        return Operations((f"{'product' if is_product else 'sum'} {width}",))

    def _own(self, value: ir.Expr) -> Operations:
        match value:
            case ir.Logic():
                return Operations()  # a comparison takes the result of another one
            case ir.Choose():
                return Operations((OF_LOGIC,))
            case ir.Unary() | ir.Binary() | ir.Compare() | ir.Call():
                return self._operation(value)
            case ir.RegisterRead():
                return Operations()
            case ir.Lookup():
                return Operations((OF_ACCESS,))
            case ir.Const() | ir.Var() | ir.Number() | ir.ThreadField() | ir.Extent():
                return Operations()
            case _:
                assert_never(value, "the count of operations")

    def _operation(self, value: Any, of: Type | None = None) -> Operations:
        """The operations of an operator; of a type, if it isn't the one that it computes in."""
        row, operands = row_of(value), expressions(value)
        kind, width = row.kind, self._width(value) if of is None else of.name
        if kind in ("compare", "not", "count"):
            width = self._width(operands[0])
        if is_check(value) or kind in FREE or self._is_given(value):
            return Operations()
        if kind in ("bits", "not") and all(self.of(one) == BOOL for one in operands):
            return Operations()  # a comparison takes the result of another one
        if self.is_ptx and width == "int64" and kind != "cast" and all(map(self._is_32, operands)):
            width = "int32"
        if kind == "cast":
            return self._cast(value, operands[0])
        if kind == "index" and (self.arithmetic == "numba" or self._counts_up(operands[0])):
            return Operations()  # it doesn't count from the end, or is a part of the address
        if kind == "sum" and value.op == "*":
            if any(map(self._is_power, operands)):
                return Operations((f"sum {width}",))  # a shift
            is_wide = of is not None or not all(map(self._is_narrow, operands))
            return Operations((f"product {width if is_wide else 'int32'}",))
        if kind == "sum" and width.startswith("float") and any(map(is_product, operands)):
            return Operations() if self.fuses else Operations((f"sum {width}",))
        if kind == "sum" and width.startswith("int") and any(map(self._is_added, operands)):
            return Operations()
        if kind == "division" and is_whole(self.of(operands[1])):
            found = self._division(kind, operands[1], max(map(self._narrow, operands), key=_bits))
            if self.arithmetic == "numba" and not self._has_no_sign(operands[0]):
                found[f"sum {width}"] += OF_FLOOR
            return found
        if value.op in SAME_BITS:
            return Operations()
        if value.op in ON_BITS:
            return Operations({OF_SUM: OF_BITS})
        if value.op == "fma":
            return Operations((f"product {width}",))
        if kind in LOGIC:
            return self._logic(width)
        if kind in SIMPLE or value.op in EXACT:
            return Operations((f"sum {width}",))
        if self.is_ptx and value.op in APPROXIMATE and width == "float32":
            return Operations(("exp2 float32",))
        if kind == "function":
            return Operations((f"{value.op} {self._width(operands[0])}",))
        return Operations((f"{kind} {width}",))

    def _logic(self, width: str) -> Operations:
        """A comparison or an operation on bits: in 64 bits as long as a sum."""
        return Operations((f"sum {width}" if width.endswith("64") else OF_LOGIC,))

    def _division(self, kind: str, divisor: ir.Expr, width: str) -> Operations:
        """A division of integers: by a constant it is a shift, or a product and sums."""
        if self._is_power(divisor):
            return Operations((f"sum {width}",))
        if isinstance(number := self.constant(divisor), int) and number > 0:
            return Operations({f"product {width}": 2, f"sum {width}": 2})
        return Operations((f"{kind} {width}",))

    def _is_power(self, value: ir.Expr) -> bool:
        """Return whether an integer is known to be a power of two."""
        number = self.constant(value) if is_whole(self.of(value)) else None
        return isinstance(number, int) and number > 0 and number & (number - 1) == 0

    def _cast(self, value: ir.Operating, operand: ir.Expr) -> Operations:
        """A conversion, none if the bits stay."""
        before, after = self._width(operand), self._width(value)
        if before == after or {before, after} <= {"int32", "int64"}:
            return Operations()
        return Operations((f"convert {max(before, after, key=_bits)}",))

    def _address(self, access: ir.Access) -> Operations:
        """The operations that find a word's place, without a constant part of the last index."""
        if not access.index or self.is_ptx:
            return Operations()
        if self.arithmetic == "numba":
            return self._wide_address(access)
        if self._moves(access.index):
            return Operations({"sum int64": 1 / self._counted[-1][2]})
        last = _without_constant(access.index[-1])
        found = self._values((*access.index[:-1], last)) + self._row(access)
        key = "address", access.array, key_of((*access.index[:-1], last))
        if key not in self._known:
            self._known[key] = frozenset(names((*access.index[:-1], last)))
            found["product int32"] += 1  # of the index and the bytes of an element, wide
        return found

    def _wide_address(self, access: ir.Access) -> Operations:
        """The operations of a place with indices of 64 bits."""
        every = [self._axis(access, axis) for axis in range(len(access.index))]
        rest = tuple(map(self._place, access.index))
        found = self._values(rest)
        key = "address", access.array, key_of(rest)
        is_shared = access.array in self.shared  # its places have 32 bits
        if key not in self._known:
            self._known[key] = frozenset(names(rest))
            if is_shared:
                found[OF_PLACE] += len(every)
            elif not all(map(self._is_fixed, rest)):
                found[OF_PLACE] += OF_ADDRESS + OF_AXIS * (len(every) - 1)
        row = "row", access.array, key_of(access.index[:-1])
        if not is_shared and row not in self._known:  # a place with another constant
            first = "row", access.array, key_of(rest[:-1])
            if first in self._known:
                found[OF_PLACE] += OF_ADDRESS
            for new in (row, first):
                self._known[new] = frozenset(names(access.index[:-1]))
        return sum(every, found)

    def _place(self, index: ir.Expr) -> ir.Expr:
        """The part of an index that a compiler computes: what it knows is in the access.

        It isn't if the index may count from the end.
        """
        index = self._meant(_counted_from(index))
        if not self._is_at_least_0(index, set(names((index,)))):
            return index
        return self._without_known(index)

    def _without_known(self, index: ir.Expr) -> ir.Expr:
        """An index without what is added to it and known in each copy of a loop's body."""
        if self._is_fixed(index):
            return ir.Const(0)
        if isinstance(index, ir.Binary) and index.op in ("+", "-"):
            if self._is_fixed(index.right):
                return self._without_known(index.left)
            if index.op == "+" and self._is_fixed(index.left):
                return self._without_known(index.right)
        return index

    def _meant(self, value: ir.Expr) -> ir.Expr:
        """A sum with a variable instead of a variable that is one."""
        while isinstance(value, ir.Var) and value.name in self._defined:
            meant = self._defined[value.name]
            is_sum = isinstance(meant, ir.Var) or (
                isinstance(meant, ir.Binary) and meant.op in ("+", "-")
            )
            if not is_sum or not names((meant,)):
                break
            value = meant
        return value

    def _is_fixed(self, index: ir.Expr) -> bool:
        """Return whether an index is a number, if loops are unrolled whole."""
        used = set(names((index,)))
        return self.constant(_counted_from(index)) is not None or bool(used and used <= self._flat)

    def _axis(self, access: ir.Access, axis: int) -> Operations:
        """The operations of an index, which may count from the end, once."""
        index = self._meant(_counted_from(access.index[axis]))
        key = "axis", access.array, axis, key_of(index)
        if key in self._known or not set(names((index,))) - self._flat:
            return Operations()
        self._known[key] = frozenset(names((index,)))
        known = self.constant(index) is not None
        known = known or self._is_at_least_0(index, set(names((index,))))
        return Operations() if known else Operations({OF_PLACE: OF_INDEX})

    def _is_small(self, value: ir.Expr) -> bool:
        """Return whether a compiler knows that an integer has 32 bits, whatever its type."""
        type_ = self.of(value)
        if not is_whole(type_):
            return False
        if type_ == BOOL or not is_int(type_) or type_.itemsize <= 4:
            return True
        if isinstance(value, ir.Const):
            return isinstance(value.value, int) and is_within((value.value,) * 2, NARROW)
        if isinstance(value, ir.ThreadField):
            return value.field in OWN_FIELDS
        if isinstance(value, ir.Var):
            return value.name in self._narrow_names | self.fixed.names | self._flat
        if isinstance(value, ir.Unary):
            return row_of(value).kind == "cast" and self._is_small(value.operand)
        if not isinstance(value, ir.Binary) or value.op not in (*CLOSED, "*"):
            return False
        both = self._is_small(value.left), self._is_small(value.right)
        if value.op == "*":
            range_ = self.range_of(value)
            return all(both) and range_ is not None and is_within(range_, NARROW)
        return any(both) if value.op in SHRINKING else all(both)

    def _is_at_least_0(self, value: ir.Expr, used: set[str]) -> bool:
        """Return whether a compiler knows that an index is at least 0.

        It is made of such variables, or of the number of a thread in its block.
        """
        fields = {part.field for part in parts(value) if isinstance(part, ir.ThreadField)}
        is_own = fields <= OWN_FIELDS and (bool(fields) or bool(used))
        return is_own and used <= self._positive | self._flat

    def _has_no_sign(self, value: ir.Expr) -> bool:
        """Return whether a compiler knows that an integer is at least 0."""
        return self.of(value).kind == "u" or self._is_at_least_0(value, set(names((value,))))

    def _counts_up(self, value: ir.Expr) -> bool:
        """Return whether an index is known to be at least 0."""
        found = self.range_of(value)
        return found is not None and found[0] >= 0

    def _is_given(self, value: ir.Operating) -> bool:
        """Return whether a part of a thread's number is in a register of its own on a card."""
        return (
            self.arithmetic != "python"
            and value.op in ("//", "%", "// or 0", "% or 0")
            and all(isinstance(part, ir.ThreadField | ir.Operating) for part in parts(value))
        )

    def _is_32(self, value: ir.Expr) -> bool:
        """Return whether a value of 64 bits is one of 32 bits, or a number that is narrow."""
        if isinstance(value, ir.Unary) and row_of(value).kind == "cast":
            type_ = self.of(value.operand)
            return type_ == BOOL or (is_whole(type_) and is_int(type_) and type_.itemsize <= 4)
        return isinstance(value, ir.Const)

    def _moves(self, index: tuple[ir.Expr, ...]) -> bool:
        """Return whether a place moves by the same distance in each trip of the innermost loop."""
        if not self._counted or not self._counted[-1][0]:
            return False
        target, changing, _ = self._counted[-1]
        return target in names(index) and all(is_linear(one, target, changing) for one in index)

    def _row(self, access: ir.Access) -> Operations:
        """The operations that find the begin of the words along the last axis."""
        axes = sum(extent > 1 for extent in self.shapes[access.array][1:])
        key = "row", access.array, key_of(access.index[:-1])
        if not axes or key in self._known:
            return Operations()
        self._known[key] = frozenset(names(access.index[:-1]))
        wide = any(self._narrow(one) == "int64" for one in access.index)
        return Operations({f"product {'int64' if wide else 'int32'}": axes})

    # Types

    def _width(self, value: ir.Expr) -> str:
        type_ = self.of(value)
        if type_ == BOOL:
            return "int32"
        if is_whole(type_):
            return self._whole(value)
        if type_.kind == "c":
            return f"float{4 * type_.itemsize}"
        return type_.name

    def _whole(self, value: ir.Expr) -> str:
        """The width of an integer, by its type."""
        type_ = self.of(value)
        is_wide = is_int(type_) and type_.itemsize > 4
        if is_wide and self.arithmetic == "numba":
            is_wide = not (self._is_cut or self._is_small(value))
        return "int64" if is_wide else "int32"

    def _is_narrow(self, value: ir.Expr) -> bool:
        """Return whether 32 bits hold an integer."""
        return self._narrow(value) == "int32"

    def _is_added(self, value: ir.Expr) -> bool:
        """Return whether a value is a product of 32 bits to which one operation adds 64 bits."""
        return is_product(value) and all(map(self._is_narrow, expressions(value)))

    def _narrow(self, value: ir.Expr) -> str:
        """The width, of an integer whose range is narrow 32 bits: for products and divisions."""
        width, found = self._width(value), self.range_of(value)
        if width == "int64" and found is not None and is_within(found, NARROW):
            return "int32"
        return width


def trips_of(loop: ir.For, constant: Callable[[ir.Expr], ir.Scalar | None]) -> int | None:
    """The trips of a loop over a range, if the compiler knows them."""
    start, stop, step = map(constant, (loop.start, loop.stop, loop.step))
    if type(start) is not int or type(stop) is not int or type(step) is not int or not step:
        return None
    return len(range(start, stop, step))


def copies(loop: ir.For, constant: Callable[[ir.Expr], ir.Scalar | None]) -> float:
    """The copies of a loop's body that a compiler makes if it unrolls it and the loops inside."""
    trips = trips_of(loop, constant)
    inner = (one for block in inside(loop) for one in statements(block) if isinstance(one, ir.For))
    most = max((copies(one, constant) for one in inner), default=1)
    return math.inf if trips is None else trips * most


def _is_kept(loop: ir.For) -> bool:
    """Return whether a branch in a loop sets a variable to the loop's counter."""
    branches = (one for one in statements(loop.body) if isinstance(one, ir.If))
    kept = (
        one.value
        for branch in branches
        for one in statements((*branch.then, *branch.orelse))
        if isinstance(one, ir.Assign)
    )
    return any(isinstance(value, ir.Var) and value.name == loop.target for value in kept)


def changes(block: Iterable[ir.Stmt]) -> set[str]:
    """The variables and register arrays that a block's statements set."""
    found: set[str] = set()
    for one in statements(block):
        found.update(targets(one))
        if isinstance(one, ir.RegisterWrite):
            found.add(one.array)
        if isinstance(one, ir.Forget):
            found.update(one.names)
    return found


def _all_values(loop: ir.Stmt) -> Iterable[ir.Expr]:
    """The expressions of the statements inside a loop, which all trips evaluate."""
    for block in inside(loop):
        for statement in block:
            yield from expressions(statement)
    if isinstance(loop, ir.While):
        yield loop.test


def is_linear(value: ir.Expr, target: str, changing: set[str]) -> bool:
    """Return whether a value is a multiple of a loop's variable and what doesn't change in it."""
    if not names((value,)) & changing:
        return True
    if isinstance(value, ir.Var):
        return value.name == target
    if not isinstance(value, ir.Binary) or value.op not in ("+", "-", "*"):
        return False
    sides = expressions(value)
    if value.op == "*" and all(names((side,)) & changing for side in sides):
        return False
    return all(is_linear(side, target, changing) for side in sides)


def _positive(test: ir.Expr) -> set[str]:
    """The variables that are at least 0 where a test holds."""
    if isinstance(test, ir.Logic) and test.op == "and":
        return _positive(test.left) | _positive(test.right)
    if not isinstance(test, ir.Compare):
        return set()
    more, less = (test.left, test.right) if test.op in (">", ">=") else (test.right, test.left)
    low = isinstance(less, ir.Const) and isinstance(less.value, int) and less.value >= 0
    return set(names((more,))) if low and test.op not in ("==", "!=") else set()


def _positive_unless(test: ir.Expr) -> set[str]:
    """The variables that are at least 0 where a test doesn't hold."""
    if isinstance(test, ir.Logic) and test.op == "or":
        return _positive_unless(test.left) | _positive_unless(test.right)
    if isinstance(test, ir.Compare) and test.op in COMPARISONS:
        return _positive(replace(test, op=COMPARISONS[-1 - COMPARISONS.index(test.op)]))
    return set()


def _read(block: ir.Block) -> set[str]:
    """The variables whose values are used, for more than a variable that isn't."""
    found: set[str] = set()
    of_variables: dict[str, set[str]] = {}
    for one in statements(block):
        used = set(names(expressions(one)))
        if isinstance(one, ir.Assign):
            of_variables[one.target] = of_variables.get(one.target, set()) | used
        else:
            found |= used
    new = found
    while new:
        new = set().union(*(of_variables.pop(name, set()) for name in new)) - found
        found |= new
    return found


def _reads(block: ir.Block) -> Counter[str]:
    """The number of times that each variable stands in the expressions of a block."""
    return Counter(part.name for part in all_parts(block) if isinstance(part, ir.Var))


def _last(block: ir.Block) -> set[int]:
    """The branches behind which a program has nothing: their lanes don't meet again."""
    rest = [one for one in block if not isinstance(one, ir.Return)]
    if not rest or not isinstance(rest[-1], ir.If):
        return set()
    last = rest[-1]
    return {last.number} | _last(last.then) | _last(last.orelse)


def _jumps(statement: ir.If) -> int:
    """The jumps of a branch: one that isn't done if there is little in it, or a branch alone."""
    if not statement.orelse and len(statement.then) == 1 and isinstance(statement.then[0], ir.If):
        return 1
    inner = list(statements((*statement.then, *statement.orelse)))
    jumps = any(isinstance(one, ir.For | ir.While | ir.Barrier | ir.Scope) for one in inner)
    few = sum(isinstance(one, ir.Access) for one in inner) <= PREDICATED
    return OF_BRANCH if jumps or not few else 1


def _counted_from(index: ir.Expr) -> ir.Expr:
    """The index that may count from the end."""
    if isinstance(index, ir.Operating) and row_of(index).kind == "index":
        return expressions(index)[0]
    return index


def is_product(value: ir.Expr) -> bool:
    """Return whether an expression is a product."""
    return isinstance(value, ir.Binary) and value.op == "*"


def _without_constant(index: ir.Expr) -> ir.Expr:
    """An index without a constant that is added to it: the access adds it."""
    if isinstance(index, ir.Binary) and index.op in ("+", "-"):
        if isinstance(index.right, ir.Const):
            return _without_constant(index.left)
        if isinstance(index.left, ir.Const) and index.op == "+":
            return _without_constant(index.right)
    return index


def _narrowed(value: ir.Expr, of: Callable[[ir.Expr], Type]) -> tuple[ir.Expr, ...] | None:
    """The floats of 32 bits of an operation in double that is rounded to 32 bits, or None.

    The result is that of the operation in 32 bits, which compilers choose.
    """
    if not isinstance(value, ir.Unary) or row_of(value).kind != "cast" or of(value) != SINGLE:
        return None
    inner = value.operand
    if not isinstance(inner, ir.Binary) or row_of(inner).kind not in ("sum", "quotient"):
        return None
    found = []
    for one in expressions(inner):
        if isinstance(one, ir.Unary) and row_of(one).kind == "cast" and of(one.operand) == SINGLE:
            found.append(one.operand)
        elif isinstance(one, ir.Const) and _is_single(one.value):
            found.append(one)
        else:
            return None
    return tuple(found)


def _tested_for_0(value: ir.Expr, of: Callable[[ir.Expr], Type]) -> ir.Expr | None:
    """The integer that is compared with 0 as a float, or None: compilers compare it itself."""
    if not isinstance(value, ir.Compare) or value.op not in ("==", "!="):
        return None
    cast, zero = value.left, value.right
    if not isinstance(zero, ir.Const) or zero.value != 0 or not isinstance(cast, ir.Unary):
        return None
    return cast.operand if row_of(cast).kind == "cast" and is_whole(of(cast.operand)) else None


def _is_single(number: ir.Scalar) -> bool:
    """Return whether 32 bits hold a constant: 0.5 and 3, but not 0.1."""
    with np.errstate(over="ignore"):
        return not isinstance(number, complex) and float(np.float32(number)) == number


def _bits(width: str) -> int:
    return int(width.lstrip("intfloa"))
