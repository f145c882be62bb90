"""The meaning of a program: the one place that executes statements.

`Meaning` turns a program's representation, for the arguments of one launch, into functions on a
`Frame`: a set of lanes that runs in SIMD fashion under a mask. A run is a generator. It yields each
memory access (`Request`) and each barrier (`Waiting`) to its driver, which sends it the values
read. The synchronous sequencer is such a run over all p lanes, an asynchronous warp is one
over its own lanes. An engine only decides when an access happens and what it costs.

Lanes that branch differently run the two parts in turn, the then-part first. A statement takes
the mask of active lanes and returns the mask of those that go on to the next statement. `False`
means no lane.

A statement is *last* if none behind it has an effect, whichever way the lanes go. Lanes that leave
such a statement have nothing more to do, just like lanes that have returned: no barrier within it
waits for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np

from mmsim.errors import ArithmeticFault, RaisedError, TypeFault
from mmsim.host.garbage import unsearched
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Integers
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import (
    BINARY,
    Mask,
    NoValue,
    Value,
    both,
    count,
    refuse_where,
    trip_count,
    union,
)
from mmsim.ir.uniform import Apart, Uniformity
from mmsim.ir.walk import accesses, expressions, has_effect, statements, stored, targets
from mmsim.meaning.alone import FEW, Alone
from mmsim.meaning.barriers import refuse_parted
from mmsim.meaning.clock_loops import ClockLoop
from mmsim.meaning.evaluation import Evaluator, active_lanes
from mmsim.meaning.exchange import BITS, MASKS, InactiveLane, Warps, refuse
from mmsim.meaning.frame import (
    Frame,
    Reading,
    Request,
    Site,
    Spinning,
    Steps,
    Waiting,
    broken,
    continued,
    forget_lanes,
    frame_fields,
    leave_lanes,
    left,
    return_lanes,
    scope_lanes,
)
from mmsim.meaning.trips import Trips
from mmsim.meaning.vectors import Begin, Finish, vector_access
from mmsim.model.memory import zeros
from mmsim.model.threads import Grid

MERGED = ("add", "sub", "max", "min", "and", "or", "xor")
"""The atomics that a compiler lets one lane of a warp do for all."""
OF_WARPS = (*ir.UNIFORM_FIELDS, "block", "warp", *(f"blockIdx.{axis}" for axis in ir.AXES))
"""The fields of T with one value for all lanes of a warp."""

Execute = Callable[[Frame, Mask], Mask]
Behind = Callable[[Frame, Mask], Steps]


@dataclass(frozen=True)
class Local:
    """A statement without access to memory."""

    execute: Execute


@dataclass(frozen=True)
class Access:
    """One memory access: `begin` makes the request, `finish` takes the values read."""

    begin: Begin
    finish: Finish | None


@dataclass(frozen=True)
class Nested:
    """A statement with inner statements, or a barrier: a separate generator."""

    steps: Callable[[Frame, Mask], Steps]


@dataclass
class OtherPart:
    """The lanes that wait for one part of a branch, and the other part and what is behind it.

    They may go on before the first part is over.
    """

    lanes: Mask
    steps: Callable[[Frame, Mask], Steps]
    behind: Callable[[Frame, Mask], Steps]

    def go_on(self, frame: Frame) -> Steps:
        """Run them; return them, none if they have gone on before."""
        lanes, self.lanes = self.lanes, False
        if lanes is not False:
            through = yield from self.steps(frame, lanes)
            if through is not False:
                yield from self.behind(frame, through)
        return lanes


class Meaning(Evaluator):
    """A program that is ready to run, for equal launches.

    `locals` gives the shapes of shared and register arrays, `sites` all accesses in the order of
    the text.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        found = map(self._site, accesses(self.code.body))
        self.sites = sorted(found, key=lambda site: site.number)
        self._registers = [local.name for local in self.code.locals if local.kind == "registers"]
        self._after: Behind | None = None  # the way of lanes that go on before others
        self._making = Lock()  # launches of several threads may share it
        self._loops: list[int] = []
        self._last_ones: set[str] = set()  # the last loops and scopes, by their leavers' names
        self._loop_count = 0

    @cached_property
    def _body(self) -> Callable[[Frame, Mask], Steps]:
        with np.errstate(all="ignore"):
            return self._block_until(_end, self.code.body, True)

    def ready(self) -> Callable[[Frame, Mask], Steps]:
        """The program as a function; making it numbers the variables and notes the fields of T."""
        if "_body" not in self.__dict__:
            with self._making, unsearched():
                return self._body
        return self._body

    def frame(self, grid: Grid, warp: int | Integers | None) -> Frame:
        """The state of a warp's lanes before their first statement.

        In place of a warp there may be the threads of several, or None for all threads.
        """
        self.ready()
        lanes, fields = frame_fields(grid, warp, self._fields)
        registers = {
            name: zeros((math.prod(self.locals[name]), lanes), self.typing.arrays[name])
            for name in self._registers
        }
        return Frame(lanes, fields, len(self.slots), registers)

    def start(self, frame: Frame) -> Steps:
        """Run the program for the lanes of a frame."""
        return self._body(frame, True)

    def rewind(self) -> None:
        """Forget what a run has left here, as the launch begins again: nothing."""

    @cached_property
    def may_spin(self) -> bool:
        """Return whether a loop may repeat forever: a `for` loop ends."""
        return any(isinstance(one, ir.While) for one in statements(self.code.body))

    @cached_property
    def reads_clock(self) -> bool:
        """Return whether it reads the time."""
        every = statements(self.code.body)
        return any(isinstance(one, ir.Exchange) and one.op == "clock" for one in every)

    @cached_property
    def _of_warps(self) -> Uniformity:
        """The values that all lanes of a warp share by the program's text."""
        return Apart(self.code.body, OF_WARPS)

    def _site(self, access: ir.Access) -> Site:
        """The engines' view of an access of the text."""
        number, array, place = access.site, access.array, access.place
        if isinstance(access, ir.Atomic):
            returns = access.target is not None
            merged = access.op in MERGED and all(map(self._of_warps.is_uniform, access.index))
            merged = merged and self.typing.arrays[array].kind != "f"
            made = Site(number, array, "atomic", place, access.op, returns, part=access.part)
            return replace(made, merged=merged)
        if isinstance(access, ir.Load | ir.VectorLoad):
            width = max(len(targets(access)), 1)
            returns = bool(access.strong)
            made = Site(number, array, "read", place, None, returns, width, access.strong)
            matrix = isinstance(access, ir.VectorLoad) and access.matrix
            return replace(made, matrix=matrix, heap=access.heap)
        width, heap = len(stored(access)), access.heap
        return Site(number, array, "write", place, vector=width, strong=access.strong, heap=heap)

    # Statements

    def _block(
        self, block: ir.Block, is_last: bool = False, ends: bool = False
    ) -> Callable[[Frame, Mask], Steps]:
        """The statements of a block; with `ends` the lanes that leave it have no more to do."""
        after = self._after

        def behind(place: int) -> Behind:
            """The way of lanes that go on from a place of the block before others."""

            def run_on(frame: Frame, mask: Mask) -> Steps:
                mask = yield from run(frame, mask, place)
                return False if mask is False or after is None else (yield from after(frame, mask))

            return run_on

        items = []
        for place, statement in enumerate(block, 1):
            self._after = None if after is None else behind(place)
            items.append(self._statement(statement, is_last and not has_effect(block[place:])))
        self._after = after

        def run(frame: Frame, mask: Mask, first: int = 0) -> Steps:
            for item in items[first:] if first else items:
                if type(item) is Local:
                    mask = item.execute(frame, mask)
                elif type(item) is Access:
                    request = item.begin(frame, mask)
                    values = yield request
                    if item.finish is not None:
                        item.finish(frame, request, values, mask)
                else:
                    mask = yield from item.steps(frame, mask)  # type: ignore[union-attr]
                if mask is False:
                    return False
            if ends:
                frame.idle = union(frame.idle, mask)
            return mask

        return run

    def _block_until(self, after: Behind | None, *block: Any) -> Callable[[Frame, Mask], Steps]:
        """A block whose lanes meet `after` it, also those that have gone on before others."""
        outer, self._after = self._after, after
        found = self._block(*block)
        self._after = outer
        return found

    def _meet(self, leavers: str) -> Behind:
        """The end of a trip of a loop, or of a scope: lanes wait there for the others."""
        slot = self._slot(leavers)

        def run(frame: Frame, mask: Mask) -> Steps:
            yield from ()
            return leave_lanes(slot, False, frame, mask)

        return run

    def _statement(self, statement: ir.Stmt, is_last: bool = False) -> Local | Access | Nested:
        is_last = is_last and any(isinstance(one, ir.Barrier) for one in statements((statement,)))
        match statement:
            case ir.Assign(text=None):
                return Local(self._assign(statement))
            case ir.Assign():
                return Local(self._print(statement))
            case ir.Load() | ir.Store() | ir.Atomic():
                return self._access(statement)
            case ir.VectorLoad() | ir.VectorStore():
                return Access(*vector_access(self, self.sites[statement.site], statement))
            case ir.RegisterWrite():
                return Local(self._register_write(statement))
            case ir.If():
                return Nested(self._if(statement, is_last))
            case ir.While():
                return Nested(self._looped(statement, self._while(statement, is_last)))
            case ir.For():
                return Nested(self._looped(statement, self._for(statement, is_last)))
            case ir.Break():
                return self._leave(broken(self._loops[-1]))
            case ir.Continue():
                return self._leave(continued(self._loops[-1]))
            case ir.Return(_, message):
                return Local(return_lanes if message is None else self._raise(statement, message))
            case ir.Forget(names, registers):
                slots = [self._slot(name) for name in names]
                return Local(partial(forget_lanes, slots, registers))
            case ir.Scope(name, body):
                if is_last:
                    self._last_ones.add(left(name))
                block = self._block_until(self._meet(left(name)), body, is_last, is_last)
                return Nested(partial(scope_lanes, self._slot(left(name)), block))
            case ir.Leave(scope):
                return self._leave(left(scope))
            case ir.Barrier():
                return Nested(self._barrier(statement))
            case ir.Exchange(target, "clock"):
                slot = None if target is None else self._slot(target)
                return Nested(partial(_read_clock, slot))
            case ir.Exchange():
                return Local(self._exchange(statement))
            case _:
                assert_never(statement, "the interpreter")

    def leave(self, scope: str, frame: Frame, mask: Mask) -> Mask:
        """Let lanes leave a scope."""
        leavers = left(scope)
        return leave_lanes(self._slot(leavers), leavers in self._last_ones, frame, mask)

    def _leave(self, leavers: str) -> Local:
        """A jump out of a loop, a trip or a scope."""
        return Local(partial(leave_lanes, self._slot(leavers), leavers in self._last_ones))

    def _raise(self, statement: ir.Return, message: str) -> Execute:
        value = statement.value and self._evaluate(statement.value)

        def run(frame: Frame, mask: Mask) -> Mask:
            lane = 0 if mask is True else int(np.argmax(mask))
            found = value and np.broadcast_to(value(frame, mask), frame.lanes)[lane]
            text = message if found is None else frame.worded(message, found)
            self._fault(RaisedError, text, statement.place, frame, lane)

        return run

    def _assign(self, statement: ir.Assign) -> Execute:
        slot = self._slot(statement.target)
        value = self._evaluate(statement.value)
        is_wide = self.typing.variables[statement.target] == np.uint64

        def run(frame: Frame, mask: Mask) -> Mask:
            if frame.lenient is not None:
                frame.unset = False
            found, old = value(frame, mask), frame.variables[slot]
            if is_wide and mask is not True and old is not None:
                # As arrays: of Python's integers NumPy makes int64, and floats of both.
                frame.variables[slot] = np.asarray(old, np.uint64)
                found = np.asarray(found, np.uint64)
            frame.assign(slot, found, mask)
            if frame.unset is not None:
                unset, frame.unset = frame.unset, None
                if unset is not False:
                    frame.forget(slot, unset)
            return mask

        return run

    def _print(self, statement: ir.Assign) -> Execute:
        """Write a part of a text; the lanes write theirs one after another when it ends."""
        value = self._evaluate(statement.value)
        assert statement.text is not None
        text, ends = statement.text

        def run(frame: Frame, mask: Mask) -> Mask:
            found = np.broadcast_to(value(frame, mask), frame.lanes)
            lanes = np.flatnonzero(np.broadcast_to(mask, frame.lanes)).tolist()
            for lane in lanes:
                frame.line[lane] = frame.line.get(lane, "") + text % found[lane].item()
            if ends:
                frame.texts += frame.line.values()
                frame.line.clear()
            return mask

        return run

    def _access(self, access: ir.Load | ir.Store | ir.Atomic) -> Access:
        site, step, array, place = self.sites[access.site], self._step, access.array, access.place
        elements = self._elements(access)
        words = [self.stored_words(array, value, place) for value in stored(access)]
        word, compare = (words[-1] if words else None), (words[0] if len(words) > 1 else None)

        def begin(frame: Frame, mask: Mask) -> Request:
            step(frame, mask, place)
            lanes = active_lanes(mask)
            number = elements(frame, mask, lanes)
            compared = compare and compare(frame, mask, lanes, number)
            return Request(site, number, lanes, word and word(frame, mask, lanes, number), compared)

        target = None if isinstance(access, ir.Store) else access.target
        return Access(begin, self._finish(target, array))

    def _finish(self, target: str | None, array: str) -> Finish | None:
        """The way in which a variable takes the words read in an array; None if there is none."""
        if target is None:
            return None
        slot, dtype = self._slot(target), self.typing.arrays[array]

        def finish(frame: Frame, request: Request, values: Any, mask: Mask) -> None:
            if request.lanes is not None:
                spread = np.zeros(frame.lanes, dtype)
                spread[request.lanes] = values
                values = spread
            frame.assign(slot, values, mask)

        return finish

    def _register_write(self, statement: ir.RegisterWrite) -> Execute:
        array, elements = statement.array, self._elements(statement)
        words = self.stored_words(array, statement.value, statement.place)

        def run(frame: Frame, mask: Mask) -> Mask:
            lanes = active_lanes(mask)
            number = elements(frame, mask, lanes)
            every = np.arange(frame.lanes) if lanes is None else lanes
            frame.registers[array][number, every] = words(frame, mask, lanes, number)
            return mask

        return run

    def _if(self, statement: ir.If, is_last: bool) -> Callable[[Frame, Mask], Steps]:
        if is_last and not has_effect(statement.orelse):  # those without more to do come first
            other = ir.Unary("not", statement.test, statement.place)
            statement = replace(statement, test=other, then=statement.orelse, orelse=statement.then)
        behind, test = self._after, self._evaluate(statement.test)
        then = self._block(statement.then, is_last, is_last)
        orelse = self._block(statement.orelse, is_last, is_last)

        def run(frame: Frame, mask: Mask) -> Steps:
            chosen = test(frame, mask)
            if isinstance(chosen, np.ndarray):
                yes, no = both(mask, chosen), both(mask, ~chosen)
                if np.count_nonzero(yes) and np.count_nonzero(no):
                    if frame.lenient is not None and behind is not None:
                        other = OtherPart(no, orelse, behind)
                        frame.waiting = (*frame.waiting, other)
                        first = yield from then(frame, yes)
                        frame.waiting = frame.waiting[:-1]
                        if other.lanes is False:
                            return first
                    else:
                        first = yield from then(frame, yes)
                    second = yield from orelse(frame, no)
                    if first is yes and second is no:
                        return mask  # no lane left on the way
                    return union(first, second)
                chosen = bool(np.count_nonzero(yes))
            return (yield from (then if chosen else orelse)(frame, mask))

        return run

    def _looped(
        self, statement: ir.For | ir.While, steps: Callable[[Frame, Mask], Steps]
    ) -> Callable[[Frame, Mask], Steps]:
        """A loop, which a single lane or a few run as Python's code if they may (see `alone`)."""
        made: list[Alone | None] = []
        most = 1 if any(accesses((statement,))) else FEW

        def run(frame: Frame, mask: Mask) -> Steps:
            if frame.lent is not None and count(mask, frame.lanes) <= most:
                if not made:
                    made.append(Alone.of(self, statement))
                if made[0] is not None:
                    return made[0].run(frame, mask)
            return (yield from steps(frame, mask))

        return run

    def _loop(self, body: ir.Block, is_last: bool) -> tuple[int, Callable[[Frame, Mask], Steps]]:
        """The number of a new loop, and one iteration of it.

        An iteration returns the lanes that go on to the next one.
        """
        self._loop_count += 1
        loop = self._loop_count
        if is_last:
            self._last_ones.add(broken(loop))
        self._loops.append(loop)
        block = self._block_until(self._meet(continued(loop)), body)
        self._loops.pop()

        leavers = self._slot(continued(loop))

        def iteration(frame: Frame, mask: Mask) -> Steps:
            frame.variables[leavers] = False
            through = yield from block(frame, mask)
            return union(through, frame.variables[leavers])

        return loop, iteration

    def _while(self, statement: ir.While, is_last: bool) -> Callable[[Frame, Mask], Steps]:
        behind, test = self._after, self._evaluate(statement.test)
        prelude = self._block_until(None, statement.prelude)
        loop, iteration = self._loop(statement.body, is_last)
        leavers, place = self._slot(broken(loop)), statement.place
        waits = ClockLoop.of(self, statement)

        def run(frame: Frame, mask: Mask) -> Steps:
            frame.variables[leavers] = False
            done: Mask = False
            alone = 0  # trips taken one by one
            trips = None if frame.changes is None else Trips(frame.changes)
            while mask is not False:
                alone += 1
                if waits is not None and alone & (alone - 1) == 0:  # after 1, 2, 4 and so on
                    skipped = max(waits.trips(frame, mask) - 1, 0)
                    if skipped:
                        frame.steps += skipped
                        frame.read = yield Reading(mask, skipped * waits.readings)
                        alone = 0
                mask = yield from prelude(frame, mask)
                mask, done = _staying(mask, test(frame, mask), done)
                if is_last:
                    frame.idle = union(frame.idle, done)
                if mask is False:
                    break
                self._step(frame, mask, place)
                if trips is not None and trips.repeat(frame, mask):
                    gone: Mask = False
                    if frame.lenient is not None and behind is not None:
                        gone = union(done, frame.variables[leavers])
                        frame.variables[leavers] = done = False
                        if gone is not False:
                            yield from behind(frame, gone)
                        for other in reversed(frame.waiting):
                            gone = union(gone, (yield from other.go_on(frame)))
                    if gone is False:
                        yield Spinning(place, mask)
                mask = yield from iteration(frame, mask)
            return union(done, frame.variables[leavers])

        return run

    def _for(self, statement: ir.For, is_last: bool) -> Callable[[Frame, Mask], Steps]:
        slot = self._slot(statement.target)
        bounds = list(map(self._evaluate, expressions(statement)))
        loop, iteration = self._loop(statement.body, is_last)
        leavers, place = self._slot(broken(loop)), statement.place

        def run(frame: Frame, mask: Mask) -> Steps:
            start, stop, step = (bound(frame, mask) for bound in bounds)
            try:
                refuse_where(step == 0, mask, "the step of a range is 0")
            except NoValue as fault:
                self._fault(ArithmeticFault, fault.message, place, frame, fault.lane)
            frame.variables[leavers] = False
            done: Mask = False
            trips = trip_count(start, stop, step)
            add, multiply = BINARY["+"].python, BINARY["*"].python
            trip = 0
            while mask is not False:
                mask, done = _staying(mask, trip < trips, done)
                if is_last:
                    frame.idle = union(frame.idle, done)
                if mask is False:
                    break
                self._step(frame, mask, place)
                value = add(start, multiply(trip, step))
                frame.assign(slot, value, mask)
                mask = yield from iteration(frame, mask)
                trip += 1
            return union(done, frame.variables[leavers])

        return run

    def _barrier(self, statement: ir.Barrier) -> Callable[[Frame, Mask], Steps]:
        place, scope, op = statement.place, statement.scope, statement.op
        self._fields.add("warp")
        test = None if statement.test is None else self._evaluate(statement.test)
        slot = None if statement.target is None else self._slot(statement.target)

        def run(frame: Frame, mask: Mask) -> Steps:
            fault: Callable[..., None] = self._fault
            if frame.lenient is not None:
                fault = frame.lenient.warn
            refuse_parted(frame, mask, place, fault)
            given = None if test is None else test(frame, mask)
            found = yield Waiting(place, mask, scope, op, given)
            if slot is not None:
                frame.assign(slot, found, mask)
            return mask

        return run

    def _exchange(self, statement: ir.Exchange) -> Execute:
        op, place, width = statement.op, statement.place, self.width
        assert op != "clock"  # see `_read_clock`
        if op in MASKS and min(width, self.uniform["block_size"]) > BITS:
            self._fault(
                TypeFault,
                f"{op} gives an integer of {BITS} bits with one bit for each lane of a warp, but a "
                f"warp has {width} lanes here; use a machine of width {BITS} or less",
                place,
            )
        self._fields.add("lane")
        types = [self.typing.of(one) for one in statement.operands]
        values = list(map(self._evaluate, statement.operands))
        slot = None if statement.target is None else self._slot(statement.target)

        def run(frame: Frame, mask: Mask) -> Mask:
            brought = zip(values, types, strict=True)
            given = [np.asarray(value(frame, mask), type_) for value, type_ in brought]
            if frame.warps is None:
                frame.warps = Warps(frame.fields["lane"], width)
            active = frame.warps.every if mask is True else mask
            try:
                found = frame.warps.exchange(op, active, *given)
            except InactiveLane as asks:
                refuse(asks, frame, place, self._fault)
            except NoValue as fault:
                self._fault(ArithmeticFault, fault.message, place, frame, fault.lane)
            if slot is not None:
                frame.assign(slot, found, mask)
            if op == "sync" and frame.synced is not None:
                frame.synced(mask)
            return mask

        return run


def _read_clock(slot: int | None, frame: Frame, mask: Mask) -> Steps:
    """Set a variable to the time."""
    frame.read = yield Reading(mask)
    if slot is not None:
        frame.assign(slot, frame.read, mask)
    return mask


def _end(_: Frame, mask: Mask) -> Steps:
    """The end of the program."""
    yield from ()
    return mask


def _staying(mask: Mask, stay: Value, done: Mask) -> tuple[Mask, Mask]:
    """The lanes for which a loop goes on, and those that have left it at its test."""
    if not isinstance(stay, np.ndarray):
        return (mask, done) if stay else (False, union(done, mask))
    inside = both(mask, stay)
    staying = np.count_nonzero(inside)
    if not staying:
        return False, union(done, mask)
    if staying < count(mask, len(inside)):
        return inside, union(done, both(mask, ~stay))
    return mask, done
