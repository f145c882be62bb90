"""Registers: the most words that a thread holds at an access, by hand and against random walks."""

import json
import math
import random
from contextlib import suppress

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError, within
from mmsim.errors import FormatError, LaunchError
from mmsim.ir import nodes as ir
from mmsim.ir.liveness import Registers, registers
from mmsim.ir.walk import expressions, parts, statements
from mmsim.meaning.launch import Launch
from mmsim.model.threads import Shape
from tests.kit.generators import random_programs
from tests.kit.runs.programs import program_of, rows_of

WORDS = np.arange(8)
HELPERS = """\
TABLE = (3, 5, 7)

def one_of(x, y):
    if x > y:
        return x
    else:
        return y

def piece(a, b, first):
    r = mm.registers(4)
    for i in range(4):
        r[i] = a[first + i]
    for i in range(4):
        b[first + i] = r[i]

def largest(x, y):
    if x > y:
        return x
    return y
"""


def programs(rows):
    """The programs of rows by their names, each with its words for data and in all."""
    found = {}
    for head, body in rows_of(rows):
        name, data, words = head.split()
        found[name] = program_of(body, name=name, helpers=HELPERS), int(data), int(words)
    return found


def counted(program, *more):
    needed = program.registers(WORDS, np.zeros(8, int), *more)
    return needed.data, needed.words


# ------------------------------------------------------------------ by hand

# A name, the words that a thread holds for data at most, those that it holds in all, and the body.
BY_HAND = programs("""
copy 1 1
    b[T.id] = a[T.id]
fill 0 0
    for i in range(T.id, len(b), T.count):
        b[i] = i * i + TABLE[i % 3]
read_only 0 0
    a[T.id]
    x = a[T.id]
exchange 2 2
    one, other = a[T.id], b[T.id]
    a[T.id] = other
    b[T.id] = one
one_after_the_other 1 1
    x = a[0]
    b[0] = x
    x = a[1]
    b[1] = x
kept_for_later 2 2
    x = a[0]
    b[0] = a[1]
    b[1] = x
sum_of_three 3 3
    b[0] = a[0] + a[1] + a[2]
added_up 1 1
    x = 0
    for i in range(8):
        x += a[i]
    b[0] = x
not_added_up 1 1
    x = 0
    for i in range(8):
        x = a[i]
    b[0] = x
made_again 1 1
    x = a[0]
    x = T.id
    b[0] = a[1] * x
gather 1 1
    b[T.id] = a[b[T.id]]
scatter 1 2
    b[b[T.id]] = a[T.id]
compare 0 1
    if a[0] > a[1]:
        b[0] = T.id
either 1 1
    x, y = a[0], a[1]
    if T.id > 2:
        b[0] = x
    else:
        b[0] = y
both_in_turn 1 1
    if T.id > 2:
        x = a[0]
        b[0] = x
    else:
        y = a[1]
        b[0] = y
chosen 0 2
    x, y = a[0], a[1]
    b[0] = T.id if x > y else 1
taken_round 1 1
    x = a[0]
    while T.id < 3:
        b[0] = 1
        b[1] = x
        x = a[1]
left_early 2 2
    x = a[0]
    y = a[1]
    for i in range(8):
        b[i] = i
        if i > T.id:
            b[0] = y
            break
    else_ = x
    b[1] = else_
returns 1 1
    x = a[0]
    if T.id > 1:
        return
    b[0] = 1
    b[1] = x
never_reached 0 0
    return
    x, y = a[0], a[1]
    b[x] = x + y
rows 0 2
    for i in range(a[T.id], a[T.id + 1]):
        b[i] = 1
rows_changed 0 3
    for i in range(a[T.id], a[T.id + 1]):
        i = i + 1
        b[i] = 1
old_counter 1 1
    i = a[0]
    for i in range(T.id):
        b[i] = 1
    b[0] = i
skipped 1 1
    x = a[0]
    for i in range(8):
        if i > T.id:
            continue
        b[i] = 0
        x = a[i]
    b[0] = x
through_a_barrier 1 1
    x = a[T.id]
    T.barrier()
    b[T.id] = x
ends_in_a_loop 1 1
    x, y = a[0], a[1]
    while T.id < 2:
        b[0] = x
    b[1] = T.id
not_needed_after_a_break 1 1
    y = a[0]
    while T.id < 3:
        b[1] = y
        if T.id > 1:
            b[2] = a[1]
            break
needed_after_a_continue 2 2
    y = a[0]
    for i in range(8):
        if i > T.id:
            b[2] = a[1]
            continue
        b[1] = y
needed_after_a_call 1 1
    x = a[0]
    b[2] = one_of(T.id, 3)
    b[0] = x
atomic_sum 1 1
    x = a[T.id]
    mm.atomic.add(b, 0, x)  # as a write: x
atomic_queue 1 2
    x = a[T.id]
    place = mm.atomic.add(b, 0, 1)  # x is kept; the old word hasn't come yet
    b[place] = x  # x, and its address
atomic_swap 1 2
    x, y = a[0], a[1]
    mm.atomic.cas(b, 0, x, y)  # x only decides
atomic_histogram 0 1
    mm.atomic.add(b, a[T.id], 1)  # an address
atomic_old_words 2 2
    b[1] = mm.atomic.exch(a, 0, 5) + mm.atomic.exch(a, 1, 6)
shuffled 1 2
    x, k = a[0], a[1]
    b[1] = 0  # x is moved later, k says from where
    b[0] = mm.warp.shuffle(x, k)
reduced 1 1
    x = a[T.id]
    x += mm.warp.shuffle_down(x, 1)
    mm.warp.sync()
    b[T.id] = x
voted 0 1
    x = a[T.id]
    b[0] = 0  # x only decides
    if T.barrier_or(x > 0):
        b[1] = mm.warp.active_mask()
counted_at_a_barrier 1 1
    x = a[T.id]
    b[0] = 0
    b[1] = T.barrier_count(x > 0)
""")


@mm.program
def turned(T, a, b):
    z = a[0]
    w = a[1]  # z
    b[0] = z * w.conjugate()  # one word
    b[1] = z * 1j


@mm.program
def taken_apart(T, a, b):
    z = a[0]
    x, y = z.real, z.imag
    w = a[1]  # x, y
    b[0] = complex(y, x)


def test_a_complex_number_is_one_word_and_each_of_its_parts_is():
    for program in (turned, taken_apart):
        needed = program.registers(np.zeros(2, complex), np.zeros(2, complex))
        assert (needed.data, needed.words) == (2, 2)


# ------------------------------------------------------------------ arrays

OF_ARRAYS = programs("""
reversed_ 8 8
    r = mm.registers(len(a))
    for i in range(len(a)):
        r[i] = a[i]
    for i in range(len(a)):
        b[i] = r[len(a) - 1 - i]
two_arrays_in_turn 5 5
    r = mm.registers(3)
    s = mm.registers(5)
    for i in range(3):
        r[i] = a[i]
    for i in range(3):
        b[i] = r[i]
    for i in range(5):
        s[i] = a[i]
    for i in range(5):
        b[i] = s[i]
two_arrays_at_once 8 8
    r = mm.registers(3)
    s = mm.registers(5)
    for i in range(3):
        r[i] = a[i]
    for i in range(5):
        s[i] = a[i]
    b[0] = r[0] + s[0]
numbers_of_its_own 1 1
    r = mm.registers(4)
    for i in range(4):
        r[i] = T.id * i
    for i in range(4):
        b[r[i]] = a[i]
addresses 0 4
    r = mm.registers(4)
    for i in range(4):
        r[i] = a[i]
    for i in range(4):
        b[r[i]] = i
chosen_by_a_word 4 5
    r = mm.registers(4)
    r[a[0] % 4] = a[1]
    b[0] = r[a[2] % 4]
calls 4 4
    piece(a, b, 0)
    for first in range(0, 8, 4):
        piece(a, b, first)
calls_in_turn 4 4
    for first in range(0, 8, 8):
        piece(a, b, first)
        piece(a, b, first + 4)
partly_overwritten 2 2
    r = mm.registers(2)
    r[0] = a[0]
    b[1] = 0
    r[1] = T.id
    b[0] = r[0]
helped 2 2
    x = a[0]
    b[1] = largest(a[1], a[2])
    b[0] = x
""")
NAMED = {name: program for name, (program, *_) in (BY_HAND | OF_ARRAYS).items()}


@pytest.mark.parametrize(
    ("program", "data", "words"), (BY_HAND | OF_ARRAYS).values(), ids=NAMED.keys()
)
def test_by_hand(program, data, words):
    assert counted(program) == (data, words)


def test_the_size_of_an_array_follows_the_arguments():
    assert NAMED["reversed_"].registers(np.zeros(3), np.zeros(3)) == Registers(3, 3)
    assert NAMED["reversed_"].registers(np.zeros(100), np.zeros(100)) == Registers(100, 100)


@mm.program
def as_many_as_threads(T, a):
    r = mm.registers(T.count)
    r[0] = a[0]
    a[1] = r[0]


def test_a_size_that_depends_on_the_threads_needs_them():
    with pytest.raises(LaunchError, match="size of 'r' depends on T"):
        as_many_as_threads.registers(WORDS)
    assert as_many_as_threads.registers(WORDS, threads=7).data == 7
    assert as_many_as_threads.registers(WORDS, grid=(2, 1), block=(1, 3)).data == 6


@mm.program
def transpose(T, a, b):
    b[T.threadIdx.x, T.threadIdx.y] = a[T.threadIdx.y, T.threadIdx.x]


def test_an_index_of_a_shape_is_no_word():
    square = np.zeros((4, 2))
    run = mm.UMM(4, 2).run(transpose, square, square.T.copy(), grid=1, block=(2, 4))
    assert run.registers == transpose.registers(square, square.T.copy()) == Registers(1, 1)


def test_a_run_and_its_profile_say_the_same():
    run = mm.UMM(4, 2).run(NAMED["scatter"], WORDS, np.arange(8), threads=8)
    assert run.registers == run.profile().registers == Registers(1, 2)
    assert "; 2 registers, 1 of them for data" in str(run.profile())
    both = mm.total([run, mm.UMM(4, 2).run(NAMED["exchange"], WORDS, np.arange(8), threads=8)])
    assert both.registers == Registers(2, 2)
    assert mm.Run.from_json(both.to_json()).registers == Registers(2, 2)


def test_a_run_that_was_saved_before_registers_were_counted_has_no_number():
    saved = json.loads(mm.UMM(4, 2).run(NAMED["copy"], WORDS, np.arange(8), threads=8).to_json())
    del saved["value"]["registers"]
    run = mm.Run.from_json(json.dumps(saved))
    assert run.registers is None
    assert "register" not in str(run.profile()).splitlines()[0]
    assert mm.total([run, run]).registers is None
    with pytest.raises(ClaimError, match="needs an unknown number of registers"):
        within(run, 8)


def test_a_saved_run_that_needs_more_for_data_than_in_all_is_refused():
    saved = json.loads(mm.UMM(4, 2).run(NAMED["copy"], WORDS, np.arange(8), threads=8).to_json())
    saved["value"]["registers"]["data"] = 2
    with pytest.raises(FormatError, match="damaged"):
        mm.Run.from_json(json.dumps(saved))


# ------------------------------------------------------------------ against random walks


class Leaves(Exception):
    """A jump to the end of a scope, or of the thread."""


class Breaks(Exception):
    """Leaves a loop."""


class Continues(Exception):
    """Goes on with a loop."""


class Walk:
    """One way through a program, every branch and number of rounds left to chance.

    It keeps what really holds what: a value has a number, the values it was made of, whether it is
    a word, and the moments at which it was made and at which something used it.
    """

    def __init__(self, body, seed, sizes):
        self.draw = random.Random(seed)
        self.sizes = sizes
        self.now, self.accesses = 0, []
        self.words, self.made = [], []
        self.made_of = []  # for data and for words: the values that a value was made of
        self.used = []  # (moment, value, whether it is written to memory)
        self.holds = {}
        self.left = 300
        with suppress(Leaves, TimeoutError):
            self.block(body)

    def value(self, word, data=(), words=()):
        self.words.append(word or any(self.words[one] for one in data))
        self.made.append(self.now)
        self.made_of.append((set(data), set(words)))
        return len(self.words) - 1

    def evaluate(self, expression):
        """The values that an expression takes its own from, and all that it looks at."""
        match expression:
            case ir.Var(name):
                own = {self.holds[name]} if name in self.holds else set()
                return own, own
            case ir.RegisterRead(array, index):
                held = self.holds.get(array, {})
                own = (
                    {held[at]} if (at := self.draw.randrange(self.sizes[array])) in held else set()
                )
                return own, own.union(*(self.evaluate(part)[1] for part in index))
            case ir.Choose(test, then, other):
                data, words = self.evaluate(self.draw.choice((then, other)))
                return data, words | self.evaluate(test)[1]
        found = [self.evaluate(part) for part in expressions(expression)]
        return set().union(*(one[0] for one in found)), set().union(*(one[1] for one in found))

    def uses(self, expressions):
        for expression in expressions:
            self.used += [(self.now, one, False) for one in self.evaluate(expression)[1]]

    def block(self, block):
        for statement in block:
            self.left -= 1
            if self.left < 0:
                raise TimeoutError
            self.now += 1
            self.statement(statement)

    def statement(self, statement):
        match statement:
            case ir.Assign(target, value):
                self.holds[target] = self.value(False, *self.evaluate(value))
            case ir.Load(target, _, index):
                self.access(index, (), (target,))
            case ir.VectorLoad(targets, _, index):
                self.access(index, (), targets)
            case ir.Store(_, index, value):
                self.access(index, (value,))
            case ir.VectorStore(_, index, values):
                self.access(index, values)
            case ir.Atomic(target, _, _, index, compare, value):
                self.access(index if compare is None else (*index, compare), (value,), (target,))
            case ir.RegisterWrite(array, index, value):
                self.uses(index)
                held = self.holds.setdefault(array, {})
                held[self.draw.randrange(self.sizes[array])] = self.value(
                    False, *self.evaluate(value)
                )
            case ir.If(test, then, orelse):
                self.uses((test,))
                self.block(self.draw.choice((then, orelse)))
            case ir.While(prelude, test, body):
                self.block(prelude)
                self.uses((test,))
                while self.draw.random() < 0.6 and self.round(body):
                    self.block(prelude)
                    self.uses((test,))
            case ir.For(target, start, stop, step, body):
                counter = self.value(False, *self.evaluate(start))
                bounds = [self.value(False, *self.evaluate(part)) for part in (stop, step)]
                while True:
                    self.now += 1
                    self.used += [(self.now, one, False) for one in (counter, *bounds)]
                    if self.draw.random() < 0.4:
                        break
                    self.holds[target] = counter
                    if not self.round(body):
                        break
                    both = {counter, bounds[1]}
                    counter = self.value(False, both, both)
            case ir.Scope(name, body):
                try:
                    self.block(body)
                except Leaves as leaves:
                    if leaves.args != (name,):
                        raise
            case ir.Forget(names, arrays):
                for name in (*names, *arrays):
                    self.holds.pop(name, None)
            case ir.Leave(scope):
                raise Leaves(scope)
            case ir.Return():
                raise Leaves
            case ir.Break():
                raise Breaks
            case ir.Continue():
                raise Continues
            case ir.Exchange(target) | ir.Barrier(target=target):
                given = expressions(statement)
                if target is None:
                    self.uses(given)
                else:
                    self.uses(given[1:])
                    made_of = self.evaluate(given[0]) if given else ()
                    self.holds[target] = self.value(False, *made_of)

    def access(self, index, values, targets=()):
        """Use an index, write values, and hold the words that come."""
        self.uses(index)
        for data, words in map(self.evaluate, values):
            self.used += [(self.now, one, one in data) for one in words]
        self.accesses.append(self.now)
        for target in targets:
            if target is not None:
                self.holds[target] = self.value(True)

    def round(self, body):
        """One round of a loop; whether it may go on."""
        try:
            self.block(body)
        except Continues:
            pass
        except Breaks:
            return False
        return True

    def most(self, only_data):
        """The most words held at any time, each from where it was made until its last use."""
        last = {}
        for moment, value, written in self.used:
            if written or not only_data:
                last[value] = max(last.get(value, 0), moment)
        for value in reversed(range(len(self.made))):  # what it was made of is older
            if value in last:
                for older in self.made_of[value][0 if only_data else 1]:
                    last[older] = max(last.get(older, 0), self.made[value])
        return max(
            (
                sum(
                    self.words[value] and self.made[value] < moment <= end
                    for value, end in last.items()
                )
                for moment in self.accesses
            ),
            default=0,
        )


def walked(body, walks=40, sizes=None):
    walks = [Walk(body, seed, sizes) for seed in range(walks)]
    return Registers(*(max(walk.most(only) for walk in walks) for only in (True, False)))


@pytest.mark.parametrize(("program", "data", "words"), BY_HAND.values(), ids=BY_HAND.keys())
def test_a_walk_finds_what_is_counted_by_hand(program, data, words):
    assert walked(program.code.body, 200) == Registers(data, words)


@mm.program
def either_later(T, a, b):
    x, y = a[0], a[1]
    b[1] = 0
    if T.id > 2:
        b[0] = x
    else:
        b[0] = y


def test_a_word_that_only_another_branch_needs_counts_as_well():
    assert counted(either_later) == (2, 2)
    assert walked(either_later.code.body, 200) == Registers(1, 1)


def test_no_walk_through_a_random_program_holds_more_than_is_counted():
    tight = 0
    cases = random_programs.drawn(random_programs.cases(), 45, 20261122)
    for case in cases:
        launch = Launch(
            mm.UMM(4, 1),
            case.program,
            tuple(case.arguments),
            case.threads,
            case.block_size,
            "synchronous",
            100,
            None if case.shape is None else Shape(*case.shape),
        )
        sizes = {name: math.prod(shape) for name, shape in launch.meaning.locals.items()}
        found, walks = launch.registers, walked(case.program.code.body, sizes=sizes)
        assert walks.data <= found.data, case
        assert walks.words <= found.words, case
        assert 0 <= found.data <= found.words
        arrays = any(
            isinstance(part, ir.RegisterRead)
            for statement in statements(case.program.code.body)
            for expression in expressions(statement)
            for part in parts(expression)
        )
        tight += not arrays and walks == found
    assert tight > len(cases) / 2


def test_sizes_are_those_of_register_arrays_alone():
    body = NAMED["two_arrays_at_once"].code.body
    assert registers(body, {"r": 10, "s": 20}) == Registers(30, 30)
