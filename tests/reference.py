"""The timing rules and the language, evaluated once more: slowly, and as plainly as possible.

The simulator's engines are tested against this file, so it shares no code with them. It walks
Python's own syntax tree with a dictionary of values per lane, lets Python's own operators do the
arithmetic, and finds the times by counting `now = 0, 1, 2, ...`.

Every array begins at a multiple of the width, and one request touches one array (of one block),
so where an array begins can change neither which of its words share a bank nor which share an
address group. Addresses are therefore counted here from the beginning of each array.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class RefDMM:
    width: int
    latency: int


@dataclass(frozen=True)
class RefUMM:
    width: int
    latency: int


@dataclass(frozen=True)
class RefHMM:
    dmms: int
    width: int
    global_latency: int
    shared_latency: int = 1


@dataclass(frozen=True)
class RefPlaced:
    """An array whose element at an index lies `offsets[index]` words from the array's base."""

    array: np.ndarray
    offsets: np.ndarray


@dataclass
class Outcome:
    time: int = 0
    arrays: dict = field(default_factory=dict)
    dispatches: list = field(default_factory=list)  # time unit warp line array kind stages end
    rounds: list = field(default_factory=list)  # line, array, kind, stages, time
    releases: list = field(default_factory=list)  # time, block


# ---------------------------------------------------------------- threads and memory


class Launch:
    """Who is in which block and warp."""

    def __init__(self, threads, block_size, width):
        self.threads, self.block_size, self.width = threads, block_size, width
        self.warps = []  # the threads of each warp; warps are numbered over the blocks in order
        for first in range(0, threads, block_size):
            block = range(first, min(first + block_size, threads))
            self.warps += [list(block[k : k + width]) for k in range(0, len(block), width)]
        self.warp_of = {t: number for number, warp in enumerate(self.warps) for t in warp}
        self.blocks = len(range(0, threads, block_size))

    def block_of(self, thread):
        return thread // self.block_size

    def attribute(self, name, thread):
        index = thread % self.block_size
        return {
            "id": thread,
            "index": index,
            "block": self.block_of(thread),
            "lane": index % self.width,
            "warp": self.warp_of[thread],
            "count": self.threads,
            "block_size": self.block_size,
            "blocks": self.blocks,
        }[name]


class Array:
    """A parameter (one copy, `shared` false) or a shared array (one copy per block)."""

    def __init__(self, name, copies, shared, offsets=None):
        self.name, self.copies, self.shared = name, copies, shared
        self.shape = copies[0].shape
        row_major = np.arange(copies[0].size).reshape(self.shape)
        self.offsets = row_major if offsets is None else np.asarray(offsets)

    def cells(self, block):
        return self.copies[block if self.shared else 0]


class Registers:
    """An array in each thread's own registers."""

    def __init__(self, size, lanes):
        self.values = {t: [0] * size for t in lanes}
        self.shape = (size,)


THREAD = object()  # what the first parameter, T, is bound to


@dataclass
class Access:
    """One SIMD memory instruction, as the sequencer that executes it issues it."""

    line: int
    array: Array
    kind: str
    index: dict  # active thread -> index
    values: dict  # active thread -> value to write


def count_stages(access, threads, conflict, width):
    addresses = {int(access.array.offsets[access.index[t]]) for t in threads}
    if conflict == "group":
        return len({address // width for address in addresses})
    banks = [address % width for address in addresses]
    return max(banks.count(bank) for bank in banks)


def perform(access, threads, launch):
    """Let the request of these threads (of one warp) take effect; what they read."""
    if access.kind == "read":
        cells = {t: access.array.cells(launch.block_of(t)) for t in threads}
        return {t: cells[t][access.index[t]].item() for t in threads}
    for t in sorted(threads, reverse=True):  # the lowest-numbered thread's write stays
        access.array.cells(launch.block_of(t))[access.index[t]] = access.values[t]
    return {}


# ---------------------------------------------------------------- the language


def wrap64(value):
    """Integers are 64-bit two's complement; floats and truth values stay as they are."""
    return (value + 2**63) % 2**64 - 2**63 if type(value) is int else value


BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
BUILTINS = {"min": min, "max": max, "abs": abs, "int": int, "float": float, "bool": bool}


class Frame:
    """One call of one function: its names, and who has left it (or a loop in it) already."""

    def __init__(self, names):
        self.names = names  # name -> {thread: value}, an Array, Registers or THREAD
        self.returned = {}  # thread -> value
        self.loops = []  # for each loop around: (threads that broke, threads that continued)


class Sequencer:
    """Runs some lanes in SIMD fashion: yields each Access (is sent what was read) and 'barrier'.

    Lanes are sorted lists of thread ids and never empty: what no lane executes is not executed.
    """

    def __init__(self, tree, launch, shared):
        self.functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
        self.constants = {
            s.targets[0].id: ast.literal_eval(s.value)
            for s in tree.body
            if isinstance(s, ast.Assign)
        }
        self.launch = launch
        self.shared = shared  # the declarations of shared arrays seen so far, for all sequencers

    def program(self, name, arguments, lanes):
        function = self.functions[name]
        names = [parameter.arg for parameter in function.args.args]
        values = [a if isinstance(a, Array) else {t: a for t in lanes} for a in arguments]
        self.lanes = lanes
        self.main = Frame(dict(zip(names, [THREAD, *values], strict=True)))
        yield from self.body(function.body, lanes, self.main)

    def body(self, statements, lanes, frame):
        """Execute statements; returns the lanes that come out at the end."""
        for statement in statements:
            if not lanes:
                break
            lanes = yield from self.statement(statement, lanes, frame)
        return lanes

    def statement(self, node, lanes, frame):
        match node:
            case ast.Pass():
                pass
            case ast.Expr(value):
                yield from self.value(value, lanes, frame)
            case ast.Assign(targets, value):
                values = yield from self.several(value, lanes, frame)
                for target in targets:
                    yield from self.assign(target, values, lanes, frame)
            case ast.AugAssign(ast.Name(), op, value):
                old = yield from self.value(node.target, lanes, frame)
                new = yield from self.value(value, lanes, frame)
                result = {t: wrap64(BINARY[type(op)](old[t], new[t])) for t in lanes}
                yield from self.assign(node.target, result, lanes, frame)
            case ast.AugAssign(ast.Subscript() as target, op, value):
                place = yield from self.place(target, lanes, frame)
                old = yield from self.read(target, place, lanes)
                new = yield from self.value(value, lanes, frame)
                result = {t: wrap64(BINARY[type(op)](old[t], new[t])) for t in lanes}
                yield from self.write(target, place, result, lanes)
            case ast.If(test, body, orelse):
                yes, no = yield from self.split(test, lanes, frame)
                yes = yield from self.body(body, yes, frame)
                no = yield from self.body(orelse, no, frame)
                return sorted(yes + no)
            case ast.While(test, body, []):
                return (yield from self.loop(test, None, None, body, lanes, frame))
            case ast.For(target, ast.Call(ast.Name("range"), arguments), body, []):
                limits = []
                for argument in arguments:
                    limits.append((yield from self.value(argument, lanes, frame)))
                ranges = {t: range(*[limit[t] for limit in limits]) for t in lanes}
                return (yield from self.loop(None, target, ranges, body, lanes, frame))
            case ast.Break():
                frame.loops[-1][0].extend(lanes)
                return []
            case ast.Continue():
                frame.loops[-1][1].extend(lanes)
                return []
            case ast.Return(value):
                if value is None:
                    frame.returned.update({t: None for t in lanes})
                else:
                    frame.returned.update((yield from self.value(value, lanes, frame)))
                return []
            case _:
                raise NotImplementedError(ast.unparse(node))
        return lanes

    def loop(self, test, target, ranges, body, lanes, frame):
        """A while loop (test) or a for loop (target, ranges); runs until its last lane leaves."""
        out, active, turn = [], lanes, 0
        while active:
            if test is not None:
                active, leaving = yield from self.split(test, active, frame)
            else:
                leaving = [t for t in active if turn >= len(ranges[t])]
                active = [t for t in active if turn < len(ranges[t])]
                values = {t: ranges[t][turn] for t in active}
                if active:
                    yield from self.assign(target, values, active, frame)
            out += leaving
            broken, continued = [], []
            frame.loops.append((broken, continued))
            active = yield from self.body(body, active, frame)
            frame.loops.pop()
            out += broken
            active = sorted(active + continued)
            turn += 1
        return sorted(out)

    def split(self, test, lanes, frame):
        truth = yield from self.value(test, lanes, frame)
        return [t for t in lanes if truth[t]], [t for t in lanes if not truth[t]]

    def several(self, node, lanes, frame):
        """The right side of an assignment: one value, or a list where it is written as a tuple."""
        if not isinstance(node, ast.Tuple):
            return (yield from self.value(node, lanes, frame))
        parts = []
        for element in node.elts:
            parts.append((yield from self.value(element, lanes, frame)))
        return parts

    def assign(self, target, values, lanes, frame):
        match target:
            case ast.Tuple(elements):
                if isinstance(values, dict):  # a tuple per lane
                    values = [{t: values[t][k] for t in lanes} for k in range(len(elements))]
                for element, value in zip(elements, values, strict=True):
                    yield from self.assign(element, value, lanes, frame)
            case ast.Name(name) if isinstance(values, dict):
                frame.names.setdefault(name, {}).update({t: values[t] for t in lanes})
            case ast.Name(name):
                frame.names[name] = values
                if isinstance(values, Array) and values.name is None:
                    values.name = name  # a shared array is called what it is first assigned to
            case ast.Subscript():
                place = yield from self.place(target, lanes, frame)
                yield from self.write(target, place, values, lanes)

    def place(self, node, lanes, frame):
        """What a subscript means: the thing subscripted and each lane's index into it."""
        written = []
        while isinstance(node, ast.Subscript):  # a[i][j] is a[i, j]
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            written = inner + written
            node = node.value
        thing = yield from self.value(node, lanes, frame)
        parts = []
        for part in written:
            parts.append((yield from self.value(part, lanes, frame)))
        index = {t: tuple(part[t] for part in parts) for t in lanes}
        shapes = {t: (len(thing[t]),) if isinstance(thing, dict) else thing.shape for t in lanes}
        for t in lanes:
            for i, size in zip(index[t], shapes[t], strict=True):
                if type(i) is not int or not 0 <= i < size:
                    raise IndexError(f"{ast.unparse(node)}{index[t]} in thread {t}")
        return thing, index

    def read(self, node, place, lanes):
        thing, index = place
        if isinstance(thing, Array):
            return (yield Access(node.lineno, thing, "read", index, {}))
        values = thing.values if isinstance(thing, Registers) else thing
        return {t: values[t][index[t][0]] for t in lanes}

    def write(self, node, place, values, lanes):
        thing, index = place
        if isinstance(thing, Array):
            yield Access(node.lineno, thing, "write", index, values)
        else:
            for t in lanes:
                thing.values[t][index[t][0]] = values[t]

    def value(self, node, lanes, frame):
        """The value of an expression: {thread: value}, an Array, Registers or THREAD."""
        match node:
            case ast.Constant(value):
                return {t: value for t in lanes}
            case ast.Name(name):
                found = frame.names.get(name)
                if found is None:
                    return {t: self.constants[name] for t in lanes}
                return {t: found[t] for t in lanes} if isinstance(found, dict) else found
            case ast.Attribute(inner, name):
                thing = yield from self.value(inner, lanes, frame)
                if thing is THREAD:
                    return {t: self.launch.attribute(name, t) for t in lanes}
                return {t: {"shape": thing.shape}[name] for t in lanes}
            case ast.Subscript():
                place = yield from self.place(node, lanes, frame)
                return (yield from self.read(node, place, lanes))
            case ast.Tuple():
                parts = yield from self.several(node, lanes, frame)
                return {t: tuple(part[t] for part in parts) for t in lanes}
            case ast.BinOp(left, op, right):
                a = yield from self.value(left, lanes, frame)
                b = yield from self.value(right, lanes, frame)
                return {t: wrap64(BINARY[type(op)](a[t], b[t])) for t in lanes}
            case ast.UnaryOp(op, operand):
                a = yield from self.value(operand, lanes, frame)
                return {t: wrap64(UNARY[type(op)](a[t])) for t in lanes}
            case ast.Compare(left, ops, comparators):
                a, result, going = (yield from self.value(left, lanes, frame)), {}, lanes
                for op, comparator in zip(ops, comparators, strict=True):
                    if going:  # a chain goes on only where it is true so far
                        b = yield from self.value(comparator, going, frame)
                        result |= {t: COMPARE[type(op)](a[t], b[t]) for t in going}
                        a, going = b, [t for t in going if result[t]]
                return result
            case ast.BoolOp(op, operands):
                result, going = (yield from self.value(operands[0], lanes, frame)), lanes
                for operand in operands[1:]:
                    going = [t for t in going if bool(result[t]) == isinstance(op, ast.And)]
                    if going:
                        result |= yield from self.value(operand, going, frame)
                return result
            case ast.IfExp(test, body, orelse):
                result = {}
                parts = yield from self.split(test, lanes, frame)
                for part, some in zip((body, orelse), parts, strict=True):
                    if some:
                        result |= yield from self.value(part, some, frame)
                return result
            case ast.Call(ast.Name(name), arguments) if name in self.functions:
                return (yield from self.call(self.functions[name], arguments, lanes, frame))
            case ast.Call(ast.Name("len"), [argument]):
                thing = yield from self.value(argument, lanes, frame)
                return {t: thing.shape[0] for t in lanes}
            case ast.Call(ast.Name(name), arguments):
                values = []
                for argument in arguments:
                    values.append((yield from self.value(argument, lanes, frame)))
                return {t: wrap64(BUILTINS[name](*[v[t] for v in values])) for t in lanes}
            case ast.Call(ast.Attribute(ast.Name("mm"), "shared"), [shape], keywords):
                shape = yield from self.value(shape, lanes, frame)
                return self.declare(node, shape[lanes[0]], keywords)
            case ast.Call(ast.Attribute(ast.Name("mm"), "registers"), [size]):
                size = yield from self.value(size, lanes, frame)
                return Registers(size[lanes[0]], lanes)
            case ast.Call(ast.Attribute(ast.Name(name), "barrier"), []):
                assert frame.names[name] is THREAD
                yield self.barrier(lanes)
                return {}
        raise NotImplementedError(ast.unparse(node))

    def call(self, function, arguments, lanes, frame):
        values = []
        for argument in arguments:
            values.append((yield from self.value(argument, lanes, frame)))
        names = [parameter.arg for parameter in function.args.args]
        inner = Frame(dict(zip(names, values, strict=True)))
        yield from self.body(function.body, lanes, inner)
        return {t: inner.returned.get(t) for t in lanes}

    def declare(self, node, shape, keywords):
        """A declaration makes one array, with a zero-filled copy in every block."""
        position = (node.lineno, node.col_offset)
        if position not in self.shared:
            dtype = ast.unparse(keywords[0].value).strip("'\"") if keywords else "float64"
            dtype = {"int": "int64", "float": "float64"}.get(dtype, dtype.split(".")[-1])
            copies = [np.zeros(shape, dtype) for _ in range(self.launch.blocks)]
            self.shared[position] = Array(None, copies, shared=True)
        return self.shared[position]

    def barrier(self, lanes):
        warps = {self.launch.warp_of[t] for t in lanes}
        live = [t for t in self.lanes if t not in self.main.returned]
        if any(self.launch.warp_of[t] in warps and t not in lanes for t in live):
            raise ValueError("only some of a warp's live lanes reach a barrier")
        return "barrier"


# ---------------------------------------------------------------- the clocks


class Memory:
    """The memory units of a machine: which one serves whom, by which conflicts, how late."""

    def __init__(self, machine, launch):
        self.machine, self.launch = machine, launch
        self.dmms = machine.dmms if isinstance(machine, RefHMM) else 1
        shared = [f"shared[{k}]" for k in range(self.dmms)]
        self.units = ["global", *shared] if isinstance(machine, RefHMM) else ["memory"]

    def dmm(self, warp):
        return self.launch.block_of(self.launch.warps[warp][0]) % self.dmms

    def unit(self, access, warp):
        if not isinstance(self.machine, RefHMM):
            return "memory"
        return f"shared[{self.dmm(warp)}]" if access.array.shared else "global"

    def dispatch(self, access, warp, now, outcome):
        """Serve a warp from `now` on: how many stages, when it completes, what it reads."""
        machine, unit = self.machine, self.unit(access, warp)
        threads = [t for t in self.launch.warps[warp] if t in access.index]
        conflict = "group" if isinstance(machine, RefUMM) or unit == "global" else "bank"
        stages = count_stages(access, threads, conflict, machine.width)
        if unit == "memory":
            latency = machine.latency
        else:
            latency = machine.global_latency if unit == "global" else machine.shared_latency
        end = now + stages + latency - 1
        what = (now, unit, warp, access.line, access.array.name, access.kind, stages, end)
        outcome.dispatches.append(what)
        outcome.time = max(outcome.time, end)
        return stages, end, perform(access, threads, self.launch)


def synchronous(memory, start, outcome):
    """One sequencer for all threads; a round ends when its last request has completed."""
    launch, now, answer = memory.launch, 0, None
    program = start(list(range(launch.threads)))
    while True:
        try:
            access = program.send(answer)
        except StopIteration:
            break
        answer = None
        if access == "barrier":
            continue  # lock step makes it idle
        answer, total, free = {}, 0, {unit: now for unit in memory.units}
        for warp, threads in enumerate(launch.warps):
            if any(t in access.index for t in threads):
                unit = memory.unit(access, warp)
                stages, _, got = memory.dispatch(access, warp, free[unit], outcome)
                free[unit] += stages
                total += stages
                answer |= got
        outcome.rounds.append(
            (access.line, access.array.name, access.kind, total, outcome.time - now)
        )
        now = outcome.time
    outcome.dispatches.sort(key=lambda d: (d[0], memory.units.index(d[1])))


class Warp:
    """A warp with a sequencer of its own: it is ready, in flight, at a barrier or finished."""

    def __init__(self, program, block):
        self.program, self.block = program, block
        self.completion, self.answer = None, None  # of the request in flight
        self.advance()

    def advance(self):
        """Local work takes no time: go on to the next request, barrier or the end."""
        try:
            self.event = self.program.send(self.answer)
        except StopIteration:
            self.event = "end"
        self.completion = self.answer = None

    def is_ready(self):
        return isinstance(self.event, Access) and self.completion is None


def after(last, candidates):
    """The first candidate after `last` in circular order."""
    return min((c for c in candidates if c > last), default=min(candidates))


def asynchronous(memory, start, outcome):
    """Every warp its own sequencer; a free unit takes the next ready warp in turn."""
    launch = memory.launch
    warps = [Warp(start(threads), launch.block_of(threads[0])) for threads in launch.warps]
    free = {unit: 0 for unit in memory.units}
    # A unit takes its DMMs in turn and within each its warps. Only the global unit of an HMM
    # sees more than one DMM, so elsewhere this is the plain circular order of the warps.
    last_dmm = {unit: -1 for unit in memory.units}
    last_warp = {(unit, dmm): -1 for unit in memory.units for dmm in range(memory.dmms)}
    now = 0
    while True:
        for warp in warps:
            if warp.completion == now:
                warp.advance()
        while release_one(warps, launch.blocks, now, outcome):
            pass
        if all(warp.event == "end" for warp in warps):
            return
        for unit in memory.units:
            ready = [
                number
                for number, warp in enumerate(warps)
                if warp.is_ready() and memory.unit(warp.event, number) == unit
            ]
            if ready and free[unit] <= now:
                dmm = after(last_dmm[unit], [memory.dmm(number) for number in ready])
                mine = [number for number in ready if memory.dmm(number) == dmm]
                number = after(last_warp[unit, dmm], mine)
                last_dmm[unit], last_warp[unit, dmm] = dmm, number
                warp = warps[number]
                stages, end, got = memory.dispatch(warp.event, number, now, outcome)
                warp.completion, warp.answer = end, got
                free[unit] = now + stages
        now += 1


def release_one(warps, blocks, now, outcome):
    """Release one block all of whose unfinished warps wait at a barrier, if there is one."""
    for block in range(blocks):
        unfinished = [warp for warp in warps if warp.block == block and warp.event != "end"]
        if unfinished and all(warp.event == "barrier" for warp in unfinished):
            outcome.releases.append((now, block))
            for warp in unfinished:
                warp.advance()
            return True
    return False


def evaluate(source, name, machine, args, threads, block_size, schedule):
    """Run function `name` of the text `source` on the machine."""
    if block_size is None:
        if isinstance(machine, RefHMM):
            raise ValueError("the rules name no default block size for the HMM")
        block_size = threads
    tree = ast.parse(source)
    launch = Launch(threads, block_size, machine.width)
    function = next(f for f in tree.body if getattr(f, "name", None) == name)
    arguments, outcome, shared = [], Outcome(), {}
    for parameter, given in zip(function.args.args[1:], args, strict=True):
        placed = given if isinstance(given, RefPlaced) else RefPlaced(given, None)
        if isinstance(placed.array, np.ndarray):
            copy = placed.array.copy()
            outcome.arrays[parameter.arg] = copy
            arguments.append(Array(parameter.arg, [copy], False, placed.offsets))
        else:
            arguments.append(given.item() if isinstance(given, np.generic) else given)

    def start(lanes):
        return Sequencer(tree, launch, shared).program(name, arguments, lanes)

    schedules = {"synchronous": synchronous, "asynchronous": asynchronous}
    schedules[schedule](Memory(machine, launch), start, outcome)
    return outcome
