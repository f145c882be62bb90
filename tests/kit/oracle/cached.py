"""Runs of `mm.Cached`, once more: what a warp waits for and who is served, by docs/machines.md.

`reference` runs the lanes, `cached_memory` is the global memory, and the time is counted `now = 0,
1, 2, ...`. Programs consist of simple statements, with at most one access on a line.
"""

import ast
import math
from collections import Counter, defaultdict, deque
from itertools import permutations

import numpy as np

from tests.kit.oracle.cached_memory import Cache
from tests.kit.oracle.reference import (
    Access,
    Array,
    Launch,
    Meeting,
    Sequencer,
    after,
    count_stages,
    perform,
)

USED, COMPUTED = "used", "computed"
"""What is used since the access before, and the results of a piece's computations."""
JUMPING = ("sqrt", "sin", "cos", "tan", "pow", "fmod", "remainder", "hypot", "atan2")


class Waits:
    """For each access, by line: how it waits for which lines, and its most requests under way.

    A state has the lines from which the value of each variable may come, and from which `USED` and
    `COMPUTED` ones do; None if no path leads there.
    """

    def __init__(self, body, arrays, unrolls, moves=False, registers=16):
        self.arrays, self.unrolls, self.moves = arrays, unrolls, moves
        self.registers = registers
        self.shared, self.used, self.most = shared_arrays(body), defaultdict(set), {}
        self.loops = {}
        self.piece, self.pieces = [], {}
        self.block(body, {})
        self.needs = defaultdict(dict)
        self.needs |= {line: dict.fromkeys(used, "all") for line, used in self.used.items()}
        for piece, is_loop in self.pieces.items() if unrolls else ():
            self.move_up(piece, is_loop)

    def block(self, body, state):
        """The state after statements, of which straight ones are in pieces."""
        for node in body:
            straight = self.is_straight(node)
            if not straight:
                state = self.end_piece(state)
            state = self.statement(node, state)
            if not straight:
                state = self.end_piece(state)
        return self.end_piece(state)

    def straight(self, body, state, tested=None):
        for node in body:
            state = self.statement(node, state, tested)
        return state

    def end_piece(self, state):
        self.pieces[tuple(self.piece)], self.piece = False, []
        return state and {**state, COMPUTED: set(), USED: lines(state, USED, COMPUTED)}

    def statement(self, node, state, tested=None):
        """The state after a statement; `tested` is what the test of a short branch comes from."""
        match node:
            case _ if state is None:
                return None
            case ast.Return():
                return None
            case ast.Pass() | ast.Assign(_, ast.Call(ast.Attribute(_, "shared"))):
                return state
            case ast.Assign([ast.Name(name)], new):
                former = set() if tested is None else lines(state, name)
                return self.set(name, former, new, state, tested)
            case ast.AugAssign(ast.Name(name), _, new):
                return self.set(name, lines(state, name), new, state, tested)
            case ast.Assign([ast.Subscript(ast.Name(name))], new) if name not in self.arrays:
                former = lines(state, name)  # of the other elements
                state = self.set(name, set(), new, state, tested)
                return {**state, name: lines(state, name) | former}
            case ast.Assign([ast.Subscript(_, index)], new):
                return self.access(node, [index, new], state, tested)
            case ast.Expr(ast.Call(_, arguments) as call):
                return state if is_barrier(call) else self.access(node, arguments, state, tested)
            case ast.If(test, yes, no) if self.is_straight(node):
                tested = of(state, test) | (tested or set())
                return self.straight(yes + no, state, tested)
            case ast.If(test, yes, no):
                state = use(state, of(state, test))
                return either(self.block(yes, state), self.block(no, state))
            case ast.For(_, _, inner) if self.is_straight(node):
                for _ in range(len(self.trips(node))):
                    state = self.straight(inner, state, tested)
                return state
            case ast.For(ast.Name(name), ast.Call(_, limits), inner):
                coming = of(state, *limits)
                counter = of(state, *(limits[:1] if len(limits) > 1 else ()), *limits[2:])
                state = {**state, name: lines(state, name) | counter}
                return self.loop(node, inner, state, lambda state: coming | lines(state, name))
            case ast.While(test, inner):
                return self.loop(node, inner, state, lambda state: of(state, test))
        raise NotImplementedError(ast.unparse(node))

    def loop(self, node, inner, state, tested):
        """The state after a loop that may have any number of trips."""
        most = self.unrolled(node)
        walk = self.block if most is None else self.straight
        if most is not None:
            self.most |= {line: most for each in inner for line, _ in accesses(each, self.arrays)}
        before = None
        while state != before:
            before = state = use(state, tested(state))
            state = either(state, walk(inner, state))
            state = use(state, tested(state))
            if most is not None:
                self.pieces[tuple(self.piece)], self.piece = True, []
        return state

    def set(self, name, former, value, state, tested):
        """Set a variable, or an element of a register array; all have 64 bits."""
        found = of(state, value)
        computed = not isinstance(value, ast.Name | ast.Constant | ast.Subscript)
        for line, array in accesses(value, self.arrays):
            state = self.access(value, [value], state, tested)
            found, computed = {line}, self.arrays[array].itemsize < 8
        found |= former | (tested or set())
        state = {**state, name: found}
        if self.unrolls and (computed or tested is not None):
            state[COMPUTED] = lines(state, COMPUTED) | found
        return state

    def access(self, node, nodes, state, tested):
        """The state after the access of a statement."""
        self.used[node.lineno] |= lines(state, USED) | of(state, *nodes) | (tested or set())
        ((line, array),) = accesses(node, self.arrays)
        reads = isinstance(node, ast.Subscript)
        size = -(-self.arrays[array].itemsize // 4)
        self.piece.append((line, array in self.shared, reads, tested is not None, size))
        return {**state, USED: set() if tested is None else lines(state, USED)}

    def move_up(self, piece, is_loop):
        """Let an access of a piece not wait for reads that are moved above one of its depth."""
        number = {line: place for place, (line, *_) in reversed([*enumerate(piece)])}
        again = {line: place for place, (line, *_) in enumerate(piece)}
        depth, ends = {}, (None, -1)
        for line in sorted(number, key=number.get):
            if number[line] > ends[1] or ends[0] is None:
                ends = line, number[line]
            if is_loop or again[line] > number[line]:
                self.loops[line], ends = piece[0][0] if is_loop else ends[0], (
                    ends[0], max(ends[1], again[line]))  # fmt: skip
            earlier = {one for one in self.used[line] if number.get(one, 1000) < number[line]}
            depth[line] = 1 + max((depth[one] for one in earlier), default=-1)
            for one in earlier if self.moves else ():
                begin, memory = number[one], piece[number[one]][1]
                stays = [shared == memory and not reads for _, shared, reads, *_ in piece]
                top = begin - [*stays[:begin][::-1], True].index(True)
                above = [at for at, _, _, when, _ in piece[top:begin] if not when]
                if depth[line] in map(depth.get, above):
                    del self.needs[line][one]
                elif line in self.loops and not any(
                    stays if is_loop else stays[begin : again[line]]
                ):
                    self.needs[line][one] = "first"
        for loop in {self.loops.get(line) for line, *_ in piece}:
            own = [one for one in piece if self.loops.get(one[0]) == loop]
            levels = defaultdict(list)
            for line, _, reads, _, size in own:
                if reads:
                    levels[depth[line]].append((line, size))
            for level in levels.values():
                self.fill(deque(dict.fromkeys(level)))
            if loop is not None:
                times = sum(line == loop for line, *_ in own)
                most = [self.registers * times // sum(size for _, size in level)
                        for level in levels.values()]  # fmt: skip
                most = max(1, min([self.most.get(loop, times), *most]))
                for line, _, reads, *_ in own if is_loop or most < times else ():
                    self.most[line] = most
                    if reads:
                        self.needs[loop].setdefault(line, "first")

    def fill(self, reads):
        """Let a read of a trip wait until registers are free for its word."""
        held = deque()
        while reads:
            held.append(reads.popleft())
            while sum(size for _, size in held) > self.registers and len(held) > 1:
                self.needs[held[-1][0]][held.popleft()[0]] = "all"

    def is_straight(self, node):
        """Return whether a statement is a part of a piece."""
        match node:
            case _ if not self.unrolls:
                return False
            case ast.Pass():
                return True
            case ast.If(test, yes, no):
                few = sum(len(list(accesses(one, self.arrays))) for one in yes + no) <= 4
                return few and not jumps(test) and all(map(self.is_straight, yes + no))
            case ast.For(_, _, inner):
                return self.copies(node) <= 32 and all(map(self.is_straight, inner))
            case ast.While() | ast.Return():
                return False
        return not jumps(node) and not (isinstance(node, ast.Expr) and is_barrier(node.value))

    def copies(self, loop):
        """The trips of a loop, times the most of those of a loop inside; many if not known."""
        trips = self.trips(loop)
        inner = [
            self.copies(one) for one in ast.walk(loop) if isinstance(one, ast.For) and one != loop
        ]
        return 1000 if trips is None else len(trips) * max(inner, default=1)

    def trips(self, loop):
        """The trips of a loop over a range if the compiler knows them."""
        limits = [self.number(one) for one in loop.iter.args]
        return None if None in limits else range(*limits)

    def number(self, node):
        """A number that the compiler knows."""
        match node:
            case ast.Constant(number):
                return number
            case ast.UnaryOp(ast.USub(), ast.Constant(number)):
                return -number
            case ast.Attribute(ast.Name(array), "size"):
                return self.arrays[array].size
        return None

    def unrolled(self, loop):
        """The most requests of an access in an unrolled loop; None if it isn't unrolled."""
        if not self.unrolls or not all(map(self.is_straight, loop.body)):
            return None
        if isinstance(loop, ast.While):
            return 4 if counts(loop) else None
        limits = [self.number(one) for one in loop.iter.args]
        if len(limits) == 3 and limits[2] is None:
            return None
        begins = 0 if len(limits) == 1 else limits[0]
        return 4 if begins is not None and self.trips(loop) is None else 16


def counts(loop):
    """Return whether a `while` compares a counter, which it moves once, with what stays."""
    changed = [one.id for part in loop.body for one in ast.walk(part)
               if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]  # fmt: skip
    for counter, limit in permutations((loop.test.left, *loop.test.comparators)):
        for node in loop.body:
            match node:
                case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(same), op, step)):
                    moves = name == same
                case ast.AugAssign(ast.Name(name), op, step):
                    moves = True
                case _:
                    continue
            moves = moves and isinstance(counter, ast.Name) and name == counter.id
            if moves and changed.count(name) == 1 and isinstance(op, ast.Add | ast.Sub):
                return {*names_in(limit), *names_in(step)}.isdisjoint(changed)
    return False


def accesses(node, arrays):
    """The line and the array of each access to memory in a statement or an expression."""
    for one in ast.walk(node):
        match one:
            case ast.Subscript(ast.Name(name)) if name in arrays:
                yield one.lineno, name
            case ast.Call(ast.Attribute(ast.Attribute(_, "atomic")), [ast.Name(name), *_]):
                yield one.lineno, name


def shared_arrays(body):
    """The shared arrays that a program declares, by name."""
    found = {}
    for node in body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(_, "shared"), [size], _)):
                found[name] = np.zeros(size.value, np.int32)
    return found


def is_barrier(call):
    return call.func.attr == "barrier"


def jumps(node):
    """Return whether a compiler has a branch for a computation."""
    called = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    if any(isinstance(one, ast.Attribute) and one.attr in JUMPING for one in called):
        return True
    return any(isinstance(one, ast.Div) for one in ast.walk(node))


def names_in(node):
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]


def lines(state, *names):
    """The lines from which variables may come."""
    return set().union(*(state.get(name, set()) for name in names))


def of(state, *nodes):
    """The lines from which the values of expressions may come."""
    return lines(state, *(name for node in nodes for name in names_in(node)))


def use(state, found):
    return {**state, USED: lines(state, USED) | found}


def either(one, other):
    if one is None or other is None:
        return one or other
    return {name: one.get(name, set()) | other.get(name, set()) for name in {**one, **other}}


MERGED = ("add", "sub", "max", "min", "and_", "or_", "xor")
OF_A_WARP = ("block", "warp", "count", "block_size", "blocks")


def merged_lines(body):
    """The lines of atomics whose place is the same in a warp by the text: a compiler merges them.

    From below: a variable is taken for one that is the same in a warp until a statement says that
    it isn't.
    """
    found, different = set(), set()

    def is_same(node):
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                return name not in different
            case ast.Attribute(ast.Name("T"), field):
                return field in OF_A_WARP
            case ast.Attribute(ast.Name(), "size"):
                return True
            case ast.BinOp(left, _, right) | ast.Compare(left, _, [right]):
                return is_same(left) and is_same(right)
            case ast.IfExp(test, yes, no):
                return is_same(test) and is_same(yes) and is_same(no)
            case ast.Call(ast.Name("int") | ast.Attribute(ast.Name("math")), given):
                return all(map(is_same, given))
        return False  # a word from memory or a register array, an atomic's result

    def visit(nodes, branch, homes):
        for node in nodes:
            match node:
                case ast.Assign([ast.Name(name)], value):
                    assign(name, value, branch, homes)
                case ast.AugAssign(ast.Name(name), _, value):
                    assign(name, value, branch, homes)
                case ast.For(ast.Name(name), ast.Call(_, limits)):
                    assign(name, ast.Tuple(limits), branch, homes, all(map(is_same, limits)))
            for part in own_parts(node):
                for one in ast.walk(part):
                    if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
                        home = homes.get(one.id, branch)
                        if branch[: len(home)] != home:
                            different.add(one.id)
                    match one:
                        case ast.Call(ast.Attribute(ast.Attribute(_, "atomic"), op), given):
                            if op in MERGED and is_same(given[1]):
                                found.add(one.lineno)
            for side, inner in enumerate(inner_blocks(node)):
                parts = False
                if isinstance(node, ast.If | ast.While):
                    parts = not is_same(node.test)
                if isinstance(node, ast.For):
                    parts = not all(map(is_same, node.iter.args))
                visit(inner, (*branch, (node.lineno, side)) if parts else branch, homes)

    def assign(name, value, branch, homes, same=None):
        if homes.setdefault(name, branch) != branch or not (
            is_same(value) if same is None else same
        ):
            different.add(name)

    size = -1
    while len(different) > size:
        size = len(different)
        found.clear()
        homes = {}
        for _ in range(2):  # first to find where variables are assigned
            visit(body, (), homes)
    return found


def own_parts(node):
    """The parts of a statement outside the statements in it."""
    blocks = {id(one) for block in inner_blocks(node) for one in block}
    return [one for one in ast.iter_child_nodes(node) if id(one) not in blocks]


def inner_blocks(node):
    """The blocks of statements in a statement."""
    return [block for name in ("body", "orelse") if (block := getattr(node, name, None))]


class Warp:
    """A warp of a block that has begun: its requests under way, and what it does next."""

    def __init__(self, program, block, dmm, now):
        self.program, self.block, self.dmm = program, block, dmm
        self.answer, self.requests, self.may_send, self.pause = None, [], now, 0
        self.loop, self.trip = None, 0

    def advance(self, pause):
        """Go on to the next access, barrier or the end; computing before it takes a pause."""
        try:
            self.event = self.program.send(self.answer)
        except StopIteration:
            self.event, pause = "end", 0
        self.answer, self.pause = None, pause

    def under_way(self, now):
        """The lines of its requests that had not completed a pause ago."""
        return [line for line, end in self.requests if end > now - self.pause]

    def is_ready(self, now, most, waits):
        if not isinstance(self.event, Access):
            return False
        busy, line = self.under_way(now), self.event.line
        free = now - self.pause >= self.may_send and len(busy) < most
        begins = self.trip_of(line, waits) == 0
        awaited = {one for one, how in waits.needs[line].items() if how == "all" or begins}
        return free and (most == 1 or not awaited & set(busy))

    def trip_of(self, line, waits):
        """The trip of a request of its loop, of those that are unrolled together."""
        loop = waits.loops.get(line)
        if loop != self.loop:
            return 0
        trip = self.trip + (loop == line)
        return 0 if loop == line and trip == waits.most.get(line) else trip

    def is_idle(self, now):
        return not isinstance(self.event, Access) and not self.under_way(now)


class Run:
    """A run on `mm.Cached`: its time, its arrays, its rounds, and what each access counts."""

    def __init__(self, source, name, machine, args, threads, block_size, schedule, pauses=None):
        tree = ast.parse(source)
        self.m, self.cache = machine, Cache(machine)
        self.launch = Launch(threads, block_size, machine.width)
        function = next(one for one in tree.body if getattr(one, "name", None) == name)
        self.bases, arguments, base, shared, known = {}, [], 0, {}, {}
        self.pauses = pauses or [0] * len(self.launch.warps)
        self.merged = merged_lines(function.body) if machine.merges else set()
        unit = math.lcm(self.cache.line, 16) if machine.bank_bytes else machine.width
        for parameter, given in zip(function.args.args[1:], args, strict=True):
            arguments.append(Array(parameter.arg, [given.copy()], False, len(arguments)))
            self.bases[parameter.arg] = base
            places = given.size * (given.itemsize if machine.bank_bytes else 1)
            base += -(-places // unit) * unit
            known[parameter.arg] = given
        known |= shared_arrays(function.body)
        self.waits = Waits(function.body, known, machine.unrolls)

        def start(threads):
            return Sequencer(tree, self.launch, shared).program(name, arguments, threads)

        self.start = start
        self.time, self.counts, self.rounds, self.releases = 0, defaultdict(Counter), [], []
        {"synchronous": self.lock_step, "asynchronous": self.in_turn}[schedule]()
        self.arrays = {array.name: array.copies[0] for array in arguments}

    def dispatch(self, access, threads, dmm, now):
        """Serve a warp: when its unit is free again, when it completes, and what it reads."""
        rules = ("group", "bank") if self.m.bank_bytes is None else ("card group", "card byte bank")
        rule = rules[access.array.shared]
        stages = count_stages(access, threads, rule, self.m.width, self.launch)
        if access.array.shared:
            free = now + stages * self.m.shared_time
            end = free + self.m.shared_latency - 1
        else:
            size = access.array.copies[0].itemsize if self.m.bank_bytes else 1
            firsts = [int(access.array.offsets[access.index[t]]) * size for t in threads]
            base = self.bases[access.array.name]
            asked = [range(base + first, base + first + size) for first in firsts]
            whole = access.array.copies[0].dtype.kind in "iu"
            merged = access.line in self.merged and whole
            floats = not whole and access.op != "exch"
            end, counts = self.cache.serve(now, dmm, access.kind, stages, asked, floats, merged)
            free = self.cache.free["tags"]
            self.counts[access.line, access.array.name, access.kind].update(counts, stages=stages)
        self.time = max(self.time, end)
        return free, end, perform(access, threads, self.launch)

    def unit(self, access, dmm):
        return f"shared[{dmm}]" if access.array.shared else "global"

    def lock_step(self):
        """One sequencer for all threads; a round ends when its last request has completed."""
        program = self.start(list(range(self.launch.threads)))
        answer = None
        while True:
            try:
                access = program.send(answer)
            except StopIteration:
                return
            answer, now, free = {}, self.time, defaultdict(lambda now=self.time: now)
            if isinstance(access, Meeting):
                continue
            for threads in self.launch.warps:
                if active := [t for t in threads if t in access.index]:
                    dmm = self.launch.block_of(active[0]) % self.m.dmms
                    unit = self.unit(access, dmm)
                    free[unit], _, got = self.dispatch(access, active, dmm, free[unit])
                    answer |= got
            self.rounds.append((access.line, access.array.name, access.kind, self.time - now))

    def in_turn(self):
        """Every warp by itself; a free unit takes the next ready warp in turn."""
        self.warps, self.now = {}, 0  # by number, of blocks that have begun
        self.coming = deque(range(self.launch.blocks))
        self.held = Counter()  # threads, by DMM
        while self.coming and self.begin(self.coming[0] % self.m.dmms):
            pass
        free, last = Counter(), defaultdict(lambda: -1)
        units = ["global", *(f"shared[{dmm}]" for dmm in range(self.m.dmms))]
        while True:
            while self.meet() or self.make_room():
                pass
            if not self.warps:
                return
            for unit in units:
                ready = {
                    number: warp
                    for number, warp in self.warps.items()
                    if warp.is_ready(self.now, self.m.under_way, self.waits)
                    and self.unit(warp.event, warp.dmm) == unit
                }
                if ready and free[unit] <= self.now:
                    number = self.next_of(unit, ready, last)
                    warp = self.warps[number]
                    access = warp.event
                    threads = sorted(access.index)
                    free[unit], end, warp.answer = self.dispatch(
                        access, threads, warp.dmm, self.now
                    )
                    warp.requests.append((access.line, end))
                    warp.trip = warp.trip_of(access.line, self.waits)
                    warp.loop = self.waits.loops.get(access.line)
                    warp.may_send = self.now + 1
                    warp.advance(self.pauses[number])
            self.now += 1

    def next_of(self, unit, ready, last):
        """Clusters take turns, in each its DMMs, and in each of these its warps."""
        cluster = self.cache.cluster
        among = list(ready)
        for level in (lambda number: cluster[ready[number].dmm], lambda number: ready[number].dmm):
            one = after(last[unit], {level(number) for number in among})
            last[unit], unit = one, (unit, one)
            among = [number for number in among if level(number) == one]
        last[unit] = after(last[unit], among)
        return last[unit]

    def begin(self, dmm):
        """Begin the next block on a DMM, if it has room."""
        block = self.coming[0]
        members = [
            (number, threads)
            for number, threads in enumerate(self.launch.warps)
            if self.launch.block_of(threads[0]) == block
        ]
        size = sum(len(threads) for _, threads in members)
        if self.m.resident is not None and self.held[dmm] + size > self.m.resident:
            return False
        self.held[dmm] += size
        self.coming.popleft()
        for number, threads in members:
            self.warps[number] = Warp(self.start(threads), block, dmm, self.now)
            self.warps[number].advance(0)
        return True

    def meet(self):
        """Open a barrier that all live warps of a block, or of the grid, wait at."""
        live = [w for w in self.warps.values() if not (w.event == "end" and w.is_idle(self.now))]
        groups = [("grid", live)]
        groups += [("block", [w for w in live if w.block == b]) for b in {w.block for w in live}]
        for scope, group in groups:
            if group and all(
                isinstance(w.event, Meeting) and w.event.scope == scope and w.is_idle(self.now)
                for w in group
            ):
                self.time = max(self.time, self.now)
                self.releases += [(self.now, block) for block in sorted({w.block for w in group})]
                for warp in group:
                    warp.advance(0)
                return True
        return False

    def make_room(self):
        """Let the first block that has ended go, and the next ones begin on its DMM."""
        for block in sorted({warp.block for warp in self.warps.values()}):
            mine = {n: warp for n, warp in self.warps.items() if warp.block == block}
            if all(warp.event == "end" and warp.is_idle(self.now) for warp in mine.values()):
                dmm = next(iter(mine.values())).dmm
                for number in mine:
                    self.held[dmm] -= len(self.launch.warps[number])
                    del self.warps[number]
                while self.coming and self.begin(dmm):
                    pass
                return True
        return False
