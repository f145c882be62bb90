"""From jumps to loops and branches: against an interpreter of the graph, and against its text.

A test in these programs reads the next of a row of coins, and every block leaves its mark. So two
programs do the same if they leave the same marks for all coins.
"""

from collections import deque
from contextlib import suppress
from itertools import count

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim.errors import LanguageError, Place
from mmsim.frontend.program import Program
from mmsim.ir import nodes as ir
from mmsim.ir import splitting
from mmsim.ir.splitting import reducible
from mmsim.ir.structured import BasicBlock, structured
from mmsim.ir.walk import inside, numbered, statements
from tests.kit.generators.draws import draws
from tests.kit.runs.paths import both_schedules

AT = Place("f", "f.py", 1)
COIN = ir.Var("coin", AT)
MOST_MARKS = 60


def mark(number):
    return ir.Assign("mark", ir.Const(number), AT)


class Jump(Exception):  # no error
    """A jump of a structured program."""


class Stopped(Exception):
    """No coin is left, or there are enough marks."""


class Trace:
    """The marks of a program for some coins."""

    def __init__(self, coins):
        self.coins = deque(coins)
        self.marks = []

    def test(self, value):
        match value:
            case ir.Const(True):
                return True
            case ir.Unary("not", inner):
                return not self.test(inner)
        assert value == COIN
        if not self.coins:
            raise Stopped
        return self.coins.popleft()

    def leave(self, statement):
        if len(self.marks) == MOST_MARKS:
            raise Stopped
        self.marks.append(statement.value.value)

    def of_graph(self, blocks, label):
        with suppress(Stopped):
            while label is not None:
                block = blocks[label]
                for statement in block.body:
                    self.leave(statement)
                if block.test is None:
                    label = next(iter(block.targets), None)
                else:
                    label = block.targets[not self.test(block.test)]
        return self.marks

    def of_text(self, body):
        with suppress(Stopped, Jump):
            self.run(body)
        return self.marks

    def run(self, body):
        for statement in body:
            match statement:
                case ir.Assign():
                    self.leave(statement)
                case ir.If(test, then, orelse):
                    self.run(then if self.test(test) else orelse)
                case ir.While():
                    self.loop(statement)
                case ir.Scope(name, inner):
                    try:
                        self.run(inner)
                    except Jump as jump:
                        if jump.args != ("leave", name):
                            raise
                case ir.Leave(scope):
                    raise Jump("leave", scope)
                case ir.Break() | ir.Continue() | ir.Return():
                    raise Jump(type(statement).__name__)

    def loop(self, loop):
        while True:
            if not loop.body and loop.test == ir.Const(True):
                raise Stopped  # it does nothing for ever
            self.run(loop.prelude)
            if not self.test(loop.test):
                return
            try:
                self.run(loop.body)
            except Jump as jump:
                if jump.args == ("Break",):
                    return
                if jump.args != ("Continue",):
                    raise


# ------------------------------------------------------- from text and back


def texts(most):
    """Blocks of structured programs; the marks are numbered later."""
    plain = st.just(mark(0))
    jumps = st.sampled_from([ir.Break(AT), ir.Continue(AT), ir.Return(AT)])
    return st.recursive(
        st.lists(plain, max_size=2).map(tuple),
        lambda block: st.one_of(
            st.tuples(block, block).map(lambda two: two[0] + two[1]),
            st.builds(lambda a, b: (ir.If(COIN, a, b, AT),), block, block),
            st.builds(lambda a, b: (ir.While((mark(0), *a), COIN, b, AT),), plain_blocks, block),
            st.builds(lambda a, b: (*a, ir.If(COIN, (b,), (), AT)), block, jumps),
            st.builds(lambda a, b: (*a, b), block, jumps),
        ),
        max_leaves=most,
    )


plain_blocks = st.lists(st.just(mark(0)), max_size=1).map(tuple)


def with_marks(body, numbers=None):
    """A program whose marks differ, without jumps of no loop."""
    numbers = count() if numbers is None else numbers

    def block(old, in_loop):
        found = []
        for one in old:
            match one:
                case ir.Assign():
                    found.append(mark(next(numbers)))
                case ir.If(test, then, orelse):
                    found.append(ir.If(test, block(then, in_loop), block(orelse, in_loop), AT))
                case ir.While(prelude, test, inner):
                    found.append(ir.While(block(prelude, False), test, block(inner, True), AT))
                case ir.Return():
                    found.append(one)
                case _ if in_loop:
                    found.append(one)
        return tuple(found)

    return block(body, False)


def flattened(body):
    """The graph of a structured program, whose entry is the block 0."""
    blocks, labels = {}, count(1)

    def go(label, body, after, behind, again):
        """Write `body` from the block `label` on, then go to `after`."""
        done = []

        def end(targets, test=None):
            blocks[label] = BasicBlock(tuple(done), targets, AT, test)
            done.clear()

        for statement in body:
            match statement:
                case ir.Assign():
                    done.append(statement)
                case ir.If(test, then, orelse):
                    sides, joined = (next(labels), next(labels)), next(labels)
                    end(sides, test)
                    for side, inner in zip(sides, (then, orelse), strict=True):
                        go(side, inner, joined, behind, again)
                    label = joined
                case ir.While(prelude, test, inner):
                    head, first, joined = next(labels), next(labels), next(labels)
                    end((head,))
                    blocks[head] = BasicBlock(prelude, (first, joined), AT, test)
                    go(first, inner, head, joined, head)
                    label = joined
                case ir.Return():
                    return end(())
                case ir.Break():
                    return end((behind,))
                case ir.Continue():
                    return end((again,))
        return end(() if after is None else (after,))

    go(0, body, None, None, None)
    return blocks


rows_of_coins = st.lists(st.booleans(), max_size=24)


@settings(max_examples=draws(30))
@given(texts(12).map(with_marks), st.lists(rows_of_coins, min_size=1, max_size=6))
def test_a_program_is_restored_from_its_jumps(body, rows):
    blocks = flattened(body)
    restored = structured(blocks, 0)
    for coins in rows:
        wanted = Trace(coins).of_text(body)
        assert Trace(coins).of_graph(blocks, 0) == wanted
        assert Trace(coins).of_text(restored) == wanted


# ------------------------------------------------------------ random graphs


@st.composite
def graphs(draw, given=()):
    """Any graph: each block has its mark and up to two targets, among them those of `given`."""
    size = draw(st.integers(max(1, len(given)), 9))
    targets = st.lists(st.integers(0, size - 1), max_size=2).map(tuple)
    blocks = {}
    for label, found in enumerate(draw(st.tuples(*[targets] * size))):
        found = (*given[label], *found)[:2] if label < len(given) else found
        test = COIN if len(found) == 2 else None
        blocks[label] = BasicBlock((mark(label),), found, Place("f", "f.py", label), test)
    return blocks


def reached(blocks, start, without=None):
    """The blocks on paths from one, which pass none of `without`."""
    seen, pending = set(), [start]
    while pending:
        label = pending.pop()
        if label not in seen and label != without:
            seen.add(label)
            pending += blocks[label].targets
    return seen


def is_reducible(blocks):
    """Return whether T1 (drop a self-loop) and T2 (merge with the predecessor) leave one block."""
    edges = {one: set(blocks[one].targets) for one in reached(blocks, 0)}
    while len(edges) > 1:
        for label in edges:
            edges[label].discard(label)
            into = [one for one, targets in edges.items() if label in targets]
            if label != 0 and len(into) == 1:
                edges[into[0]] |= edges.pop(label)
                edges[into[0]].discard(label)
                break
        else:
            return False
    return True


@settings(max_examples=draws(30))
@given(graphs(), st.lists(rows_of_coins, min_size=1, max_size=6))
def test_a_reducible_graph_does_the_same_as_before(blocks, rows):
    assume(is_reducible(blocks))
    body = structured(blocks, 0)
    for coins in rows:
        assert Trace(coins).of_text(body) == Trace(coins).of_graph(blocks, 0)


@settings(max_examples=draws(30))
@given(st.one_of(graphs(), graphs([(1, 2), (2,), (1,)]), graphs([(1,), (2, 3), (3,), (2,)])))
def test_another_graph_is_refused_with_one_of_its_jumps(blocks):
    assume(not is_reducible(blocks))
    with pytest.raises(LanguageError, match="closes a loop that has another entry") as caught:
        structured(blocks, 0)
    source = caught.value.place.line
    assert f"from block {source} to block " in str(caught.value)
    targets = set(blocks[source].targets)
    (target,) = [one for one in targets if f" to block {one} " in str(caught.value)]
    assert source in reached(blocks, 0, without=target)  # so the target is no header of a loop
    assert target in reached(blocks, 0)
    assert source in reached(blocks, target)


@settings(max_examples=draws(30))
@given(
    st.one_of(graphs(), graphs([(1, 2), (2,), (1,)]), graphs([(1,), (2, 3), (3,), (2,)])),
    st.lists(rows_of_coins, min_size=1, max_size=6),
)
def test_copies_of_blocks_make_any_graph_reducible(blocks, rows):
    found = reducible(blocks, 0)
    if is_reducible(blocks):
        assert found == blocks
    body = structured(found, 0)
    for coins in rows:
        assert Trace(coins).of_text(body) == Trace(coins).of_graph(blocks, 0)


def test_a_graph_that_takes_too_many_copies_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(splitting, "MOST", 3)
    blocks = {k: BasicBlock((mark(k),), to, AT) for k, to in enumerate([(1, 2), (2,), (1,)])}
    assert reducible(blocks, 0) == blocks


def loops_of(blocks):
    """The blocks of each loop by its header, by the definitions."""
    everywhere = reached(blocks, 0)
    found = {}
    for source in everywhere:
        for header in blocks[source].targets:
            if header == source or header == 0 or source not in reached(blocks, 0, header):
                found.setdefault(header, {header}).update(
                    one for one in everywhere if source in reached(blocks, one, header)
                )
    return found


@settings(max_examples=draws(30))
@given(graphs())
def test_a_block_stands_in_the_loops_that_contain_it_and_once(blocks):
    """Behind a loop stands what several jumps enter, or the header's: there the lanes meet."""
    assume(is_reducible(blocks))
    loops, around = loops_of(blocks), {}

    def walk(body, within):
        for statement in body:
            if isinstance(statement, ir.Assign):
                assert statement.value.value not in around
                around[statement.value.value] = within
            more = within
            if isinstance(statement, ir.While):
                marks = [one for one in statements((statement,)) if isinstance(one, ir.Assign)]
                more = {*within, marks[0].value.value}
            for inner in inside(statement):
                walk(inner, more)

    walk(structured(blocks, 0), set())
    assert set(around) == reached(blocks, 0)
    own = {one: {header for header, loop in loops.items() if one in loop} for one in around}
    assert all(own[one] <= within for one, within in around.items())
    further = {one: within - own[one] for one, within in around.items()}
    for one in around:
        above = [d for d in around if d != one and one not in reached(blocks, 0, without=d)]
        forward = [
            label
            for label in around
            for target in blocks[label].targets
            if target == one and label not in loops.get(one, ())
        ]
        is_exit = any(own[label] - own[one] == {label} for label in forward)
        if (len(forward) > 1 or is_exit) and not any(map(further.get, above)):
            assert not further[one]


# ------------------------------------------------------------------- shapes


def test_a_loop_with_a_test_and_a_break():
    """while (mark 0, coin): mark 1; if coin: break; else: mark 2 -- then mark 3."""
    inner = (mark(1), ir.If(COIN, (ir.Break(AT),), (mark(2),), AT))
    body = (ir.While((mark(0),), COIN, inner, AT), mark(3))
    assert structured(flattened(body), 0) == body


def test_a_long_row_of_branches_is_no_deep_recursion():
    body = tuple(ir.If(COIN, (mark(number),), (), AT) for number in range(2000))
    assert structured(flattened(body), 0) == body


def test_the_scopes_of_two_graphs_have_names_of_their_own():
    blocks = {
        "a": BasicBlock((), ("b", "c"), AT, COIN),
        "b": BasicBlock((), ("d", "c"), AT, COIN),
        "c": BasicBlock((mark(1),), ("d",), AT),
        "d": BasicBlock((mark(2),), (), AT),
    }
    one, other = structured(blocks, "a"), structured(blocks, "a", "more_")
    assert {s.name for s in statements(one) if isinstance(s, ir.Scope)}.isdisjoint(
        s.name for s in statements(other) if isinstance(s, ir.Scope)
    )
    assert any(isinstance(s, ir.Scope) for s in statements(other))


@both_schedules
def test_a_graph_runs_on_a_machine(schedule):
    """The lengths of Collatz sequences: a loop in the loop over the elements, with two exits."""
    x, i, steps = (ir.Var(name, AT) for name in ("x", "i", "steps"))

    def op(sign, left, right):
        return ir.Binary(sign, left, ir.Const(right), AT)

    def let(name, value):
        return ir.Assign(name, value, AT)

    odd = ir.Compare("==", op("%", x, 2), ir.Const(1), AT)
    more = ir.Binary("+", i, ir.ThreadField("count"), AT)
    blocks = {
        "start": BasicBlock((let("i", ir.ThreadField("id")),), ("head",), AT),
        "head": BasicBlock(
            (), ("load", "exit"), AT, ir.Compare("<", i, ir.Extent("a", 0, 1, AT), AT)
        ),
        "load": BasicBlock(
            (ir.Load("x", "a", (i,), AT), let("steps", ir.Const(0))), ("test",), AT
        ),
        "test": BasicBlock((), ("store", "parity"), AT, ir.Compare("==", x, ir.Const(1), AT)),
        "parity": BasicBlock((let("steps", op("+", steps, 1)),), ("up", "down"), AT, odd),
        "up": BasicBlock((let("x", op("+", op("*", x, 3), 1)),), ("test",), AT),
        "down": BasicBlock(
            (let("x", op("//", x, 2)),), ("give_up", "test"), AT,
            ir.Compare(">", steps, ir.Const(9), AT),
        ),
        "give_up": BasicBlock((let("steps", ir.Const(-1)),), ("store",), AT),
        "store": BasicBlock((ir.Store("a", (i,), steps, AT), let("i", more)), ("head",), AT),
        "exit": BasicBlock((), (), AT),
    }  # fmt: skip
    code = ir.Code(
        "collatz",
        (ir.Parameter("a", "array", None, AT),),
        (),
        tuple(ir.Variable(name, name, "collatz") for name in ("x", "i", "steps")),
        numbered(structured(blocks, "start")),
        (ir.Source("collatz", "f.py", 1, ("",)),),
    )

    def collatz(T, a):
        """Stands for the program."""

    def wanted(x):
        steps = 0
        while x != 1:
            steps += 1
            if x % 2:
                x = 3 * x + 1
                continue
            x //= 2
            if steps > 9:
                return -1
        return steps

    a = np.arange(1, 21)
    run = mm.DMM(4, 2).run(Program(collatz, code), a, threads=8, schedule=schedule)
    assert run.arrays["a"].tolist() == [wanted(int(x)) for x in a]
