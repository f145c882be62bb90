"""The meaning of an expression: its value at the active lanes, without access to memory.

Also the elements that an index names, and the words that a store brings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from mmsim.errors import (
    AddressError,
    ArithmeticFault,
    EndlessError,
    Place,
    ProgramError,
    TypeFault,
    UnassignedError,
    VectorError,
)
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Integers, limits, no_index
from mmsim.ir.lower import Lowered, as_written
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import (
    Mask,
    NoValue,
    Value,
    both,
    refuse_where,
    select,
    truth,
    union,
    without,
)
from mmsim.ir.typed import computing, constants, may_refuse
from mmsim.ir.walk import expressions
from mmsim.meaning.alone import NotAlone
from mmsim.meaning.frame import Frame

Evaluate = Callable[[Frame, Mask], Value]
Elements = Callable[[Frame, Mask, Integers | None], Integers]
Indexed = ir.Access | ir.RegisterRead | ir.RegisterWrite


@dataclass(eq=False)
class Evaluator:
    """Turns the expressions of a lowered program, for one launch, into functions on a `Frame`.

    `numbers` are the values of number parameters, `shapes` those of array parameters, `uniform` the
    values of T.count, T.block_size and T.blocks, `width` is the machine's. `slots` numbers the
    variables, `_fields` collects the used fields of T.
    """

    typing: Lowered
    numbers: dict[str, ir.Scalar]
    shapes: dict[str, tuple[int, ...]]
    uniform: dict[str, int]
    max_accesses: int
    width: int

    def __post_init__(self) -> None:
        self.code = self.typing.code
        self.shapes = dict(self.shapes)
        self._fields: set[str] = set()
        self.slots: dict[str, int] = {}
        self.constant = constants(self.typing, self.numbers, self.uniform, self.extent)
        """The value of an expression that is known before the launch, else None."""
        self.locals: dict[str, tuple[int, ...]] = {}
        with np.errstate(all="ignore"):
            for local in self.code.locals:  # the size of one may be that of one before
                self.locals[local.name] = self.shapes[local.name] = self._local_shape(local)

    def _slot(self, name: str) -> int:
        """The number of a variable."""
        return self.slots.setdefault(name, len(self.slots))

    # Errors

    def _fault(
        self,
        kind: type[ProgramError],
        message: str,
        place: Place,
        frame: Frame | None = None,
        lane: int | None = None,
        **facts: Any,
    ) -> NoReturn:
        thread = None if frame is None or lane is None else frame.thread(lane)
        raise kind(message, program=self.code.name, place=place, thread=thread, **facts)

    def _step(self, frame: Frame, mask: Mask, place: Place) -> None:
        """Count an access or a loop iteration, and refuse a program that seems to run forever."""
        frame.steps += 1
        if frame.watched is not None:
            frame.watched(frame.steps)
        if frame.steps > self.max_accesses:
            if frame.lent is not None:
                raise NotAlone  # then the steps are counted again, without such loops
            self._fault(
                EndlessError,
                f"no end after max_accesses={self.max_accesses} accesses and loop iterations; if "
                "the program is meant to run longer, give run a larger max_accesses",
                place,
                frame,
                int(np.argmax(np.broadcast_to(mask, frame.lanes))),
            )

    # Arrays

    def _local_shape(self, local: ir.LocalArray) -> tuple[int, ...]:
        extents = []
        for part in local.shape:
            value = self.constant(part)
            if type(value) is not int or value < 1:
                size = "an extent without a value" if value is None else f"an extent of {value}"
                self._fault(
                    TypeFault,
                    f"{local.name!r} can't have {size}; extents are whole numbers from 1 on",
                    local.place,
                    array=local.name,
                )
            extents.append(value)
        return tuple(extents)

    def extent(self, extent: ir.Extent) -> int:
        """A size of an array, or an error if the array has no such axis."""
        array, axis, shape = extent.array, extent.axis, self.shapes[extent.array]
        message = None
        if extent.rank is not None and extent.rank != len(shape):
            message = self._wrong_rank(array, extent.rank)
        elif isinstance(axis, int) and not -len(shape) <= axis < len(shape):
            message = f"{array!r} has {dimensions(len(shape))}, no axis {axis}"
        if message is not None:
            self._fault(AddressError, message, extent.place, array=array)
        if axis is None:
            return math.prod(shape)
        return len(shape) if axis == "ndim" else shape[axis]

    def _wrong_rank(self, array: str, rank: int) -> str:
        shape = self.shapes[array]
        return f"{array!r} has {dimensions(len(shape))} (shape {shape}) but is used with {rank}"

    def _elements(self, access: Indexed, vector: int = 1) -> Elements:
        """A function that gives the element number of each active lane, all in range.

        For vectors of several elements, it gives the number of the vector.
        """
        shape, index = self.shapes[access.array], access.index
        message = no_index(map(self.typing.of, index))
        kind: type[ProgramError] = AddressError
        if len(index) != len(shape):
            message = self._wrong_rank(access.array, len(index))
        elif message is None and shape[-1] % vector:
            message, kind = uneven(shape, vector), VectorError
        if message is not None:
            return self._refused(access, f": {message}", kind)
        shape = (*shape[:-1], shape[-1] // vector)
        parts = [(self._evaluate(part), extent) for part, extent in zip(index, shape, strict=True)]

        def elements(frame: Frame, mask: Mask, lanes: Integers | None) -> Integers:
            number: Value = None
            for evaluate, extent in parts:
                value = evaluate(frame, mask)
                if isinstance(value, np.ndarray):
                    known, most = frame.within
                    if value is not known or extent < most:
                        value = value if lanes is None else value[lanes]
                        # The largest is enough: a negative index is a huge unsigned one.
                        unsigned = value.view(np.uint64)
                        if unsigned.item(unsigned.argmax()) >= extent:
                            self._out_of_range(access, shape, frame, mask, vector)
                        if lanes is None:
                            frame.within = value, extent
                    elif lanes is not None:
                        value = value[lanes]
                elif not 0 <= value < extent:
                    self._out_of_range(access, shape, frame, mask, vector)
                number = value if number is None else number * extent + value
            if isinstance(number, np.ndarray):
                return number
            return np.full(frame.lanes if lanes is None else len(lanes), number, dtype=np.int64)

        return elements

    def _refused(self, access: Indexed, message: str, kind: type[ProgramError]) -> Elements:
        """Report an index that no array has, for the first thread that gets there."""
        parts = [self._evaluate(as_written(part)) for part in access.index]

        def refuse(frame: Frame, mask: Mask, lanes: Integers | None) -> Integers:
            lane = 0 if lanes is None else int(lanes[0])
            self._refuse_index(
                access, [part(frame, mask) for part in parts], message, frame, lane, kind
            )

        return refuse

    def _refuse_index(
        self,
        access: Indexed,
        values: list[Value],
        message: str,
        frame: Frame,
        lane: int,
        kind: type[ProgramError] = AddressError,
    ) -> NoReturn:
        """Report the index that a lane has."""
        array = access.array
        at = tuple(np.broadcast_to(value, frame.lanes)[lane].item() for value in values)
        text = f"index [{', '.join(map(str, at))}] of {array!r}{message}"
        self._fault(kind, text, access.place, frame, lane, array=array, index=at)

    def _out_of_range(
        self, access: Indexed, shape: tuple[int, ...], frame: Frame, mask: Mask, vector: int
    ) -> NoReturn:
        """Report the first lane with a number of its index outside its axis."""
        index = access.index
        values = [self._evaluate(as_written(part))(frame, mask) for part in index]
        lows = [0 if part is as_written(part) else -n for part, n in zip(index, shape, strict=True)]
        outside = [
            np.broadcast_to((value < low) | (value >= extent), frame.lanes)
            for value, low, extent in zip(values, lows, shape, strict=True)
        ]
        lane = int(np.argmax(both(mask, np.logical_or.reduce(outside))))
        wrong = next(axis for axis, out in enumerate(outside) if out[lane])
        low, extent = lows[wrong], shape[wrong]
        if extent == 0:
            reason = "the array is empty"
        else:
            of = "elements"
            if vector > 1 and wrong == len(index) - 1:
                of = f"vectors of {vector} elements"
            reason = f"{f'axis {wrong}' if len(index) > 1 else 'the array'} has {extent} {of}"
            if low == 0 and np.broadcast_to(values[wrong], frame.lanes)[lane] < 0:
                reason = "an address is not negative, and indices don't wrap"
            reason += f"; indices run from {low} to {extent - 1}"
            past = int(np.broadcast_to(values[wrong], frame.lanes)[lane]) - extent
            if self.code.arithmetic == "ptx" and past >= 0:
                size = vector * self.typing.arrays[access.array].itemsize
                reason += f"; the access begins {past * size} bytes past its end"
        self._refuse_index(access, values, f" is out of range: {reason}", frame, lane)

    # Stores

    def stored_words(
        self, array: str, value: ir.Expr, place: Place
    ) -> Callable[[Frame, Mask, Integers | None, Integers], npt.NDArray[Any]]:
        """The values that the active lanes store in elements of an array, of the array's type."""
        found, dtype = self._evaluate(value), self.typing.arrays[array]
        fits = dtype == self.typing.of(value)

        def stored(
            frame: Frame, mask: Mask, lanes: Integers | None, elements: Integers
        ) -> npt.NDArray[Any]:
            brought = found(frame, mask)
            if not fits:
                self._check_fits(brought, array, place, elements, frame, mask)
            if not isinstance(brought, np.ndarray):
                return np.full(len(elements), brought, dtype)
            here: npt.NDArray[Any] = brought if lanes is None else brought[lanes]
            return here if here.dtype == dtype else here.astype(dtype)

        return stored

    def _check_fits(
        self, value: Value, array: str, place: Place, elements: Integers, frame: Frame, mask: Mask
    ) -> None:
        """Refuse integers that the array's type doesn't hold."""
        dtype = self.typing.arrays[array]
        low, high = limits(dtype)
        wide = np.broadcast_to(np.asarray(value), frame.lanes)
        bad = both(mask, (wide < low) | (wide > high))
        if not np.count_nonzero(bad):
            return
        lane = int(np.argmax(bad))
        before = np.count_nonzero(np.broadcast_to(mask, frame.lanes)[:lane])
        element = elements[before]  # it holds active lanes only
        at = tuple(map(int, np.unravel_index(element, self.shapes[array])))
        message = (
            f"{wide[lane]} doesn't fit {array}[{', '.join(map(str, at))}]: {array!r} holds "
            f"{dtype}, from {low} to {high}"
        )
        self._fault(TypeFault, message, place, frame, lane, array=array, index=at)

    # Expressions

    def _evaluate(self, value: ir.Expr) -> Evaluate:
        """A function that gives the value of an expression at the active lanes."""
        known = self.constant(value)
        if known is not None:
            return lambda frame, mask: known
        match value:
            case ir.ThreadField(field):
                self._fields.add(field)
                return lambda frame, mask: frame.fields[field]
            case ir.Var(name, place):
                return self._variable(name, place)
            case ir.Operation():
                return self._operation(value)
            case ir.Logic():
                return self._logic(value)
            case ir.Choose():
                return self._choose(value)
            case ir.RegisterRead():
                return self._register_read(value)
            case ir.Lookup():
                return self._lookup(value)
            case ir.Const() | ir.Number() | ir.Extent():
                raise AssertionError(f"{value} is a constant")
            case _:
                assert_never(value, "the interpreter")

    def _variable(self, name: str, place: Place) -> Evaluate:
        slot = self._slot(name)

        def run(frame: Frame, mask: Mask) -> Value:
            value = frame.variables[slot]
            if value is None or (slot in frame.partial):
                return self._assigned(name, slot, place, frame, mask)
            return value

        return run

    def _assigned(self, name: str, slot: int, place: Place, frame: Frame, mask: Mask) -> Value:
        """The value of a variable; refuse it if an active lane hasn't assigned it yet.

        In lenient mode it is 0 there.
        """
        value = frame.variables[slot]
        if frame.passed.get(slot) is mask and value is not None:
            return value  # masks are never changed in place
        known: Mask = False if value is None else frame.partial[slot]
        bare = without(mask, known)
        if bare is False:
            frame.passed[slot] = mask
            return value
        if frame.unset is not None:
            frame.unset = union(frame.unset, bare)
        else:
            lane = 0 if bare is True else int(np.argmax(bare))
            text = place.text[place.column : place.end_column]  # a helper's names have numbers
            message = f"the variable {text!r} is read before this thread has assigned it"
            if not text.isidentifier():
                why = "its function returned without one" if text[-1:] == ")" else "it has none yet"
                message = f"{text!r} gives this thread no value: {why}"
            if frame.lenient is None:
                self._fault(UnassignedError, message, place, frame, lane)
            frame.lenient.warn(UnassignedError, message, place, frame, lane)
        nothing = self.typing.variables[name].type(0)
        return nothing if value is None else np.where(known, value, nothing)

    def _operation(self, value: ir.Operating) -> Evaluate:
        """The value of an operation; one without a value is reported at its place."""
        compute = computing(value, self.typing.of)
        parts = list(map(self._evaluate, expressions(value)))
        if may_refuse(value, self.typing.of):

            def run(frame: Frame, mask: Mask) -> Value:
                values = [part(frame, mask) for part in parts]
                try:
                    return compute(*values, mask)
                except NoValue as fault:
                    self._fault(ArithmeticFault, fault.message, value.place, frame, fault.lane)

            return run
        if len(parts) == 1:
            (operand,) = parts
            return lambda frame, mask: compute(operand(frame, mask))
        if len(parts) == 2:
            left, right = parts
            return lambda frame, mask: compute(left(frame, mask), right(frame, mask))
        return lambda frame, mask: compute(*(part(frame, mask) for part in parts))

    def _logic(self, value: ir.Logic) -> Evaluate:
        result = self.typing.of(value)
        left, right = self._evaluate(value.left), self._evaluate(value.right)
        is_and = value.op == "and"

        def run(frame: Frame, mask: Mask) -> Value:
            first = left(frame, mask)
            test = truth(first)
            if not isinstance(test, np.ndarray):
                return right(frame, mask) if test is is_and else first
            open_ = test if is_and else ~test
            needed = both(mask, open_)
            if not np.count_nonzero(needed):
                return first
            return select(open_, right(frame, needed), first, result)

        return run

    def _choose(self, value: ir.Choose) -> Evaluate:
        result = self.typing.of(value)
        test = self._evaluate(value.test)
        then, other = self._evaluate(value.then), self._evaluate(value.other)

        def run(frame: Frame, mask: Mask) -> Value:
            chosen = test(frame, mask)
            if not isinstance(chosen, np.ndarray):
                return then(frame, mask) if chosen else other(frame, mask)
            yes, no = both(mask, chosen), both(mask, ~chosen)
            if not np.count_nonzero(yes):
                return other(frame, mask)
            if not np.count_nonzero(no):
                return then(frame, mask)
            return select(chosen, then(frame, yes), other(frame, no), result)

        return run

    def _register_read(self, value: ir.RegisterRead) -> Evaluate:
        array, elements = value.array, self._elements(value)
        dtype = self.typing.arrays[array]

        def run(frame: Frame, mask: Mask) -> Value:
            lanes = active_lanes(mask)
            number = elements(frame, mask, lanes)
            held = frame.registers[array]
            if lanes is None:
                return held[number, np.arange(frame.lanes)]
            spread = np.zeros(frame.lanes, dtype)
            spread[lanes] = held[number, lanes]
            return spread

        return run

    def _lookup(self, value: ir.Lookup) -> Evaluate:
        dtype, shape = self.typing.of(value), value.shape
        table = np.array(value.values, dtype)
        numbers = table.tolist()
        parts = list(map(self._evaluate, value.index))

        def run(frame: Frame, mask: Mask) -> Value:
            number: Value = 0
            for axis, (part, extent) in enumerate(zip(parts, shape, strict=True)):
                at = part(frame, mask)
                try:
                    outside = (at < 0) | (at >= extent)
                    refuse_where(outside, mask, f"it has {extent} values along this axis")
                except NoValue as fault:
                    at = self._evaluate(as_written(value.index[axis]))(frame, mask)
                    found = int(np.broadcast_to(at, frame.lanes)[fault.lane])
                    self._fault(
                        AddressError,
                        f"index {found} of the table {value.table!r} is out of range: "
                        f"{fault.message}, from {-extent} to {extent - 1}",
                        value.place,
                        frame,
                        fault.lane,
                        index=(found,),
                    )
                number = number * extent + at % extent  # in range for inactive lanes too
            return table[number] if isinstance(number, np.ndarray) else numbers[number]

        return run


def active_lanes(mask: Mask) -> Integers | None:
    """Positions of the active lanes, None for all."""
    return None if mask is True else np.flatnonzero(mask)


def uneven(shape: tuple[int, ...], vector: int) -> str:
    """The reason why an array of this shape has no vectors of this size, and the remedy."""
    rows = "rows of" if len(shape) > 1 else ""
    return (
        f"vectors of {vector} elements need {rows or 'an array of'} a multiple of {vector} "
        f"elements, not {shape[-1]}; make {'them' if rows else 'it'} longer, or access the "
        "elements one by one"
    )


def dimensions(count: int) -> str:
    """A number of dimensions, in words."""
    return f"{count} dimension{'s' * (count != 1)}"
