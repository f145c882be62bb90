"""Runs of `mm.Cached`, once more: what a warp waits for and who is served, by docs/machines.md.

`reference` runs the lanes, `cached_memory` is the global memory, and the time is counted `now = 0,
1, 2, ...`. Programs consist of simple statements, with at most one access on a line.
"""

import ast
import math
from collections import Counter, defaultdict, deque

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


def uses(body, known, found):
    """Add to `found`, by line, the lines whose requests a statement waits for.

    `known` has the lines from which the value of each variable may come; what it is afterwards is
    returned.
    """

    def lines_of(*nodes):
        names = {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}
        return set().union(*(known.get(name, set()) for name in names))

    def value(node):
        """The lines from which a value comes."""
        match node:
            case ast.Subscript(ast.Name(name), index) if name not in known:
                found[node.lineno] |= lines_of(index)
                return {node.lineno}
            case ast.Call(ast.Attribute(ast.Attribute(_, "atomic")), arguments):
                found[node.lineno] |= lines_of(*arguments)
                return {node.lineno}
        return lines_of(node)

    for node in body:
        match node:
            case ast.Pass() | ast.Return() | ast.Assign(_, ast.Call(ast.Attribute(_, "shared"))):
                pass
            case ast.Assign([ast.Name(name)], new):
                known = {**known, name: value(new)}
            case ast.AugAssign(ast.Name(name), _, new):
                known = {**known, name: known[name] | value(new)}
            case ast.Assign([ast.Subscript(ast.Name(name))], new) if name in known:
                known = {**known, name: known[name] | value(new)}
            case ast.Assign([ast.Subscript(_, index)], new):
                found[node.lineno] |= lines_of(index, new)
            case ast.Expr(new):
                value(new)
            case ast.If(test, yes, no):
                found[node.lineno] |= lines_of(test)
                known = either(uses(yes, known, found), uses(no, known, found))
            case ast.For(_, _, inner) | ast.While(_, inner):
                for _ in range(1 + len(known) + len(inner)):
                    if isinstance(node, ast.While):
                        found[node.lineno] |= lines_of(node.test)
                    known = either(known, uses(inner, known, found))
            case _:
                raise NotImplementedError(ast.unparse(node))
    return known


def either(one, other):
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
                parts = isinstance(node, ast.If)
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


class Lanes(Sequencer):
    """Lanes that note the lines of the tests that they pass."""

    def __init__(self, *of):
        super().__init__(*of)
        self.tested = []

    def split(self, test, lanes, frame):
        self.tested.append(test.lineno)
        return (yield from super().split(test, lanes, frame))


class Warp:
    """A warp of a block that has begun: its requests under way, and what it does next."""

    def __init__(self, lanes, program, block, dmm, now):
        self.lanes, self.program, self.block, self.dmm = lanes, program, block, dmm
        self.answer, self.waits, self.requests, self.may_send = None, set(), [], now

    def advance(self, waits):
        """Go on to the next access, barrier or the end, past tests that use values."""
        self.lanes.tested.clear()
        try:
            self.event = self.program.send(self.answer)
        except StopIteration:
            self.event = "end"
        self.answer, lines = None, list(self.lanes.tested)
        if isinstance(self.event, Access):
            lines.append(self.event.line)
        self.waits = set().union(*(waits[line] for line in lines))

    def under_way(self, now):
        """The lines of its requests that have not completed."""
        return [line for line, end in self.requests if end > now]

    def is_ready(self, now, most):
        busy = self.under_way(now)
        free = now >= self.may_send and len(busy) < most and not self.waits & set(busy)
        return isinstance(self.event, Access) and free

    def is_idle(self, now):
        return not isinstance(self.event, Access) and not self.under_way(now)


class Run:
    """A run on `mm.Cached`: its time, its arrays, its rounds, and what each access counts."""

    def __init__(self, source, name, machine, args, threads, block_size, schedule):
        tree = ast.parse(source)
        self.m, self.cache = machine, Cache(machine)
        self.launch = Launch(threads, block_size, machine.width)
        function = next(one for one in tree.body if getattr(one, "name", None) == name)
        self.waits, self.bases, arguments, base, shared = defaultdict(set), {}, [], 0, {}
        uses(function.body, {}, self.waits)
        self.merged = merged_lines(function.body) if machine.merges else set()
        unit = math.lcm(self.cache.line, 16) if machine.bank_bytes else machine.width
        for parameter, given in zip(function.args.args[1:], args, strict=True):
            arguments.append(Array(parameter.arg, [given.copy()], False, len(arguments)))
            self.bases[parameter.arg] = base
            places = given.size * (given.itemsize if machine.bank_bytes else 1)
            base += -(-places // unit) * unit

        def start(threads):
            lanes = Lanes(tree, self.launch, shared)
            return lanes, lanes.program(name, arguments, threads)

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
        _, program = self.start(list(range(self.launch.threads)))
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
                    if warp.is_ready(self.now, self.m.under_way)
                    and self.unit(warp.event, warp.dmm) == unit
                }
                if ready and free[unit] <= self.now:
                    warp = self.warps[self.next_of(unit, ready, last)]
                    access = warp.event
                    threads = sorted(access.index)
                    free[unit], end, warp.answer = self.dispatch(
                        access, threads, warp.dmm, self.now
                    )
                    warp.requests.append((access.line, end))
                    warp.may_send = self.now + 1
                    warp.advance(self.waits)
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
            self.warps[number] = Warp(*self.start(threads), block, dmm, self.now)
            self.warps[number].advance(self.waits)
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
                self.releases += [(self.now, block) for block in sorted({w.block for w in group})]
                for warp in group:
                    warp.advance(self.waits)
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
