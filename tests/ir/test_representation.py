"""The representation in the middle: its numbers, its passes, and what they do with a strange node.

A reader of the representation that passed over a node that it doesn't know would give a wrong
result without a word. So each refuses it by name.
"""

import ast
import pickle
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import mmsim as mm
from mmsim.cuda_c.body import Body
from mmsim.cuda_c.names import Names
from mmsim.cuda_c.shape import Shape
from mmsim.cuda_c.writer import waits_between_repetitions
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused.analysis import Analysis, order_matters, straighten
from mmsim.engines.array.fused.loops import Moves
from mmsim.engines.array.fused.rows import Rows
from mmsim.engines.array.fused.writer import _Writer, write
from mmsim.engines.events import engine as events
from mmsim.engines.footprint import bytes_per_lane
from mmsim.ir import nodes as ir
from mmsim.ir import walk
from mmsim.ir.atomics import REDUCTIONS, untouched
from mmsim.ir.liveness import registers
from mmsim.ir.lower import Lowering, lower
from mmsim.ir.needs import Waits
from mmsim.ir.operators import BINARY, COMPARE, UNARY
from mmsim.ir.ranges import Ranges
from mmsim.ir.tidy import depth, substituted, tidy
from mmsim.ir.typed import consists_of
from mmsim.ir.types import Typing
from mmsim.ir.uniform import Uniformity, follows_from
from mmsim.meaning.launch import Launch
from mmsim.meaning.memoized import Memoized
from mmsim.sweeps.fingerprint import fingerprint
from mmsim.sweeps.functions import program_text

PACKAGE = Path(mm.__file__).parent
EXPRESSIONS = get_args(ir.Expr)
TABLE = (3, 5, 7)


def least(x, y):
    if x < y:
        return x
    return y


@mm.program
def every_kind(T, a, b, n):
    r = mm.registers(4)
    s = mm.shared(8)
    x = least(T.id, n)
    r[x % 4] = a[T.id]
    for i in range(n):
        if i > 3:
            break
        if T.id > i and T.lane:
            x += least(r[i % 4], n)
            b[T.id] = mm.popc(x)
        else:
            continue
    k = 0
    while a[k] > 0:
        k += 1
        s[T.index] = TABLE[k % 3]
    T.barrier()
    u, v = mm.vector(a, 2)[T.id % 4]
    mm.vector(b, 2)[T.id % 4] = u, v
    mm.atomic.cas(b, T.index, k, x)
    if T.barrier_or(mm.warp.shuffle_up(x, n) > k):
        mm.warp.sync()
    x = k if x > k else x
    a[T.id] = s[T.index] if x > 0 else -a.shape[0] // 2


def launched():
    """A launch of that program, before anything has been found out about it."""
    program = mm.Program(every_kind.function, every_kind.code)
    arguments = np.zeros(8, int), np.zeros(8, int), 3
    return Launch(mm.HMM(1, 4, 5), program, arguments, 8, None, "synchronous", 100)


def of_code(launch, code):
    """The launch with another program's text, past all that has looked at it so far."""
    launch.program._code = launch.code = launch.meaning.code = code
    launch.lowered = launch.lowered.with_body(code.body)
    launch._of_program = Memoized()
    return launch


# ------------------------------------------------------------------ numbers


def test_statements_and_accesses_are_numbered_in_the_order_of_the_text():
    body = every_kind.code.body
    assert [one.number for one in walk.statements(body)] == list(
        range(sum(1 for _ in walk.statements(body)))
    )
    accesses = list(walk.accesses(body))
    assert [one.site for one in accesses] == list(range(len(accesses)))
    sites = launched().meaning.sites
    assert [(site.number, site.array, site.place) for site in sites] == [
        (one.site, one.array, one.place) for one in accesses
    ]


@mm.program
def twice_the_same(T, a):
    for _ in (0, 1):
        a[T.id] = 1


def test_statements_that_are_equal_have_numbers_of_their_own():
    first, second = walk.accesses(twice_the_same.code.body)
    assert first == second
    assert (first.site, second.site) == (0, 1)
    run = mm.DMM(4, 5).run(twice_the_same, np.zeros(4), threads=4)
    assert [(row.requests, row.stages) for row in run.accesses] == [(2, 2)]


def test_numbers_travel_and_make_no_other_program():
    code = every_kind.code
    again = pickle.loads(pickle.dumps(code))
    assert [one.number for one in walk.statements(again.body)] == [
        one.number for one in walk.statements(code.body)
    ]
    assert [one.site for one in walk.accesses(again.body)] == [
        one.site for one in walk.accesses(code.body)
    ]
    moved = replace(code, body=walk.numbered((*code.body, *code.body))[len(code.body) :])
    assert [one.site for one in walk.accesses(moved.body)] != [
        one.site for one in walk.accesses(code.body)
    ]
    assert program_text(moved) == program_text(code)
    assert moved == code


def test_passes_keep_the_numbers():
    body = every_kind.code.body
    sites = [one.site for one in walk.accesses(body)]
    assert [one.site for one in walk.accesses(tidy(body))] == sites
    assert [one.site for one in walk.accesses(straighten(body))] == sites


def test_the_deepest_part_counts():
    x = ir.Const(1)
    assert depth(ir.Choose(x, x, ir.Choose(x, ir.Choose(x, x, x), x))) == 4


def test_copies_of_a_word_are_merged_by_their_operation():
    merged = [function(6, 3) for _, function in sorted(REDUCTIONS.items())]
    assert merged == [6 & 3, max(6, 3), min(6, 3), 6 | 3, 6 + 3, 6 ^ 3]
    for kind, function in REDUCTIONS.items():
        assert function(untouched(kind, np.dtype(np.int32)), 7) == 7


# ------------------------------------------------------------------ the parts of a node

PARTS = {  # targets, expressions, blocks
    ir.Assign: ("target", "value", ""),
    ir.Load: ("target", "index", ""),
    ir.Store: ("", "index value", ""),
    ir.VectorLoad: ("targets", "index", ""),
    ir.VectorStore: ("", "index values", ""),
    ir.Atomic: ("target", "index compare value", ""),
    ir.RegisterWrite: ("", "index value", ""),
    ir.If: ("", "test", "then orelse"),
    ir.While: ("", "test", "prelude body"),
    ir.For: ("target", "start stop step", "body"),
    ir.Scope: ("", "", "body"),
    ir.Barrier: ("target", "test", ""),
    ir.Exchange: ("target", "operands", ""),
    **dict.fromkeys((ir.Break, ir.Continue, ir.Forget, ir.Leave), ("", "", "")),
    ir.Return: ("", "value", ""),
    ir.Unary: ("", "operand", ""),
    **dict.fromkeys((ir.Binary, ir.Compare, ir.Logic), ("", "left right", "")),
    ir.Choose: ("", "test then other", ""),
    ir.Call: ("", "operands", ""),
    **dict.fromkeys((ir.RegisterRead, ir.Lookup), ("", "index", "")),
    **dict.fromkeys((ir.Const, ir.Var, ir.Number, ir.ThreadField, ir.Extent), ("", "", "")),
}


def test_the_parts_of_every_node_follow_from_its_annotations():
    assert set(PARTS) == {*EXPRESSIONS, *get_args(ir.Stmt)}
    for kind, names in PARTS.items():
        node = kind(**{one.name: one.name for one in fields(kind)})
        several = {f"{name}": (name, f"{name}_2") for name in ("index", "values", "operands")}
        held = {name: value for name, value in several.items() if hasattr(node, name)}
        if kind in (ir.VectorLoad, ir.Atomic):
            held |= {"targets": ("targets",)} if kind is ir.VectorLoad else {}
            held.pop("operands", None)
        if kind is ir.Lookup:
            held.pop("values")
        node = replace(node, **held)
        targets, values, blocks = (one.split() for one in names)
        written_out = [part for name in values for part in held.get(name, (name,))]
        if isinstance(node, EXPRESSIONS):
            assert list(walk.expressions(node)) == written_out
        else:
            assert list(walk.targets(node)) == targets
            assert list(walk.expressions(node)) == written_out
            assert list(walk.inside(node)) == blocks
            changed = walk.with_inside(node, str.upper)
            assert list(walk.inside(changed)) == [name.upper() for name in blocks]
        changed = walk.with_expressions(node, str.upper)
        assert list(walk.expressions(changed)) == [one.upper() for one in written_out]


def test_what_is_none_is_no_part():
    barrier = ir.Barrier(None)
    assert walk.targets(barrier) == walk.expressions(barrier) == ()
    assert walk.with_expressions(barrier, lambda value: ir.Const(1)) == barrier


# ------------------------------------------------------------------ constants


def typed(launch):
    """The types of a launch's program, which may be a strange one."""
    arrays = launch.lowered.arrays
    numbers = launch.lowered.numbers
    return Typing(launch.program.code, {"a": arrays["a"], "b": arrays["b"]}, numbers)


def lowered(launch, value):
    """The lowered form of an expression, and its type."""
    made = Lowering(every_kind.code, typed(launch)).value(value)
    return made, launch.lowered.of(made)


@pytest.mark.parametrize(
    "kind", [*((ir.Binary, op) for op in BINARY), *((ir.Compare, op) for op in COMPARE)]
)
def test_a_folded_constant_has_the_type_of_its_expression(kind):
    make, op = kind
    launch = launched()
    place = every_kind.code.body[0].place
    for x, y in product([True, 2, 2.0], repeat=2):
        if op in ("&", "|", "^", "<<", ">>") and float in (type(x), type(y)):
            continue
        value, held = lowered(launch, make(op, ir.Const(x), ir.Const(y), place))
        folded = launch.meaning.constant(value)
        assert np.dtype(type(folded)) == held, (x, op, y)
        assert folded == eval(f"{op}(x, y)" if op in ("min", "max") else f"x {op} y")


@pytest.mark.parametrize("op", UNARY)
def test_a_folded_constant_of_one_operand_has_the_type_of_its_expression(op):
    launch = launched()
    place = every_kind.code.body[0].place
    for x in (True, 2) if op == "~" else (True, 2, 2.0):
        value, held = lowered(launch, ir.Unary(op, ir.Const(x), place))
        assert np.dtype(type(launch.meaning.constant(value))) == held, (op, x)


# ------------------------------------------------------------------ strange nodes


@dataclass(frozen=True)
class Blink:
    """A statement that nothing knows."""


@dataclass(frozen=True)
class Riddle:
    """An expression that nothing knows."""


def blocks_with_a_blink(block):
    """The block with the strange statement at the end of one block, for each block inside."""
    yield (*block, Blink())
    for position, statement in enumerate(block):
        for which, inner in enumerate(walk.inside(statement)):
            for changed in blocks_with_a_blink(inner):
                numbers = iter(range(9))
                new = walk.with_inside(
                    statement,
                    lambda old, numbers=numbers, which=which, changed=changed: (
                        changed if next(numbers) == which else old
                    ),
                )
                yield (*block[:position], new, *block[position + 1 :])


def with_a_riddle(node):
    """The node with the strange expression in the place of one of its parts, for each part."""
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, EXPRESSIONS):
            yield replace(node, **{field.name: Riddle()})
            for changed in with_a_riddle(value):
                yield replace(node, **{field.name: changed})
        elif isinstance(value, tuple) and (type(node), field.name) != (ir.Lookup, "values"):
            for position, one in enumerate(value):
                if isinstance(one, (*EXPRESSIONS, *get_args(ir.Stmt))):
                    inside = list(with_a_riddle(one))
                    if isinstance(one, EXPRESSIONS):
                        inside.append(Riddle())
                    for changed in inside:
                        whole = (*value[:position], changed, *value[position + 1 :])
                        yield replace(node, **{field.name: whole})


def bodies_with_a_riddle(body):
    for changed in with_a_riddle(replace(every_kind.code, locals=(), body=body)):
        yield changed.body


BLINKS = [*blocks_with_a_blink(every_kind.code.body)]
RIDDLES = [*bodies_with_a_riddle(every_kind.code.body)]


def test_the_strange_nodes_stand_everywhere():
    inner = sum(len(walk.inside(one)) for one in walk.statements(every_kind.code.body))
    assert len(BLINKS) == 1 + inner
    values = [v for one in walk.statements(every_kind.code.body) for v in walk.expressions(one)]
    assert len(RIDDLES) == sum(1 for value in values for _ in walk.parts(value))
    kinds = {type(one) for one in walk.statements(every_kind.code.body)}
    assert kinds == set(get_args(ir.Stmt)) - {ir.Return}
    assert {type(part) for value in values for part in walk.parts(value)} == set(EXPRESSIONS)


def cuda_body(launch):
    return Body(launch, "global", Names(launch.meaning.shapes, launch.meaning.numbers), {}, False)


def cuda(launch):
    cuda_body(launch).write()


BACKENDS = {
    "typing": typed,
    "lowering": lambda launch: lower(launch.meaning.code, typed(launched())),
    "interpreter": lambda launch: launch.meaning.ready(),
    "events": lambda launch: events.run(launch, False, False),
    "recorded": lambda launch: events.run(launch, True, False),
    "checker, events": lambda launch: events.run(launch, False, True),
    "checker, array": lambda launch: array.run(launch, check=True),
    "array": array.run,
    "fused": lambda launch: array.run(launch, path="fused"),
    "plain": lambda launch: array.run(launch, path="plain"),
    "fused writer": write,
    "fused analysis": lambda launch: Analysis(launch.meaning.code.body),
    "fused moves": lambda launch: Moves(launch.meaning.code.body, Analysis(every_kind.code.body)),
    "liveness": lambda launch: registers(launch.meaning.code.body, {"r": 4}),
    "uniformity": lambda launch: Uniformity(launch.meaning.code.body),
    "memory": bytes_per_lane,
    "tidy": lambda launch: tidy(launch.meaning.code.body),
    "CUDA writer": cuda,
}
"""What reads a program as a whole, its statements and its expressions."""

OF_STATEMENTS = {
    "numbers": lambda launch: walk.numbered(launch.meaning.code.body),
    "walk": lambda launch: list(walk.statements(launch.meaning.code.body)),
    "waits": lambda launch: Waits(launch.meaning.code),
    "order": lambda launch: order_matters(launch.meaning.code.body, "a", {}),
    "repetitions of a kernel": lambda launch: waits_between_repetitions(launch.meaning.code),
    "ranges": lambda launch: Ranges(launch.lowered, FIELDS, launch.meaning.numbers,
                                    launch.meaning.extent),
    "shape": lambda launch: Shape(launch.meaning.code.body, cuda_body(launched()).ranges),
}  # fmt: skip

FIELDS = dict.fromkeys(ir.THREAD_FIELDS, (0, 7))


@pytest.mark.parametrize("reader", [*BACKENDS, *OF_STATEMENTS])
def test_every_reader_refuses_a_strange_statement_by_name(reader):
    read = {**BACKENDS, **OF_STATEMENTS}[reader]
    for body in BLINKS:
        launch = of_code(launched(), replace(every_kind.code, body=body))
        with pytest.raises(NotImplementedError, match="has no case for the node Blink"):
            read(launch)


@pytest.mark.parametrize("reader", BACKENDS)
def test_every_reader_refuses_a_strange_expression_by_name(reader):
    for body in RIDDLES:
        launch = of_code(launched(), replace(every_kind.code, body=body))
        with pytest.raises(NotImplementedError, match="has no case for the node Riddle"):
            BACKENDS[reader](launch)


def fused_writer():
    return _Writer(launched(), False)


ALONE = {
    "walk": (lambda: walk.inside(Blink()), "a walk through the program"),
    "expressions": (lambda: walk.expressions(Blink()), "a walk through the program"),
    "operands": (lambda: walk.expressions(Riddle()), "a walk through the program"),
    "types": (lambda: launched().lowered.of(Riddle()), "typing"),
    "folded": (lambda: consists_of(ir.Unary("-", Riddle(), None), (ir.Unary, Riddle)), "a walk"),
    "interpreter": (lambda: launched().meaning._statement(Blink()), "the interpreter"),
    "uniform": (lambda: follows_from(Riddle(), (), bool), "a walk through the program"),
    "straighten": (lambda: straighten((Blink(),)), "a walk through the program"),
    "fused statement": (lambda: fused_writer()._statement(Blink()), "the fusing of programs"),
    "fused expression": (lambda: fused_writer().lanes.write(Riddle()), "the fusing"),
    "fused limits": (lambda: fused_writer()._limits(Riddle()), "a walk through the program"),
    "fused rows": (
        lambda: Rows(fused_writer().analysis, fused_writer().typing, bool, True).of((Riddle(),)),
        "a walk",
    ),
    "CUDA statement": (lambda: cuda_body(launched())._statement(Blink()), "the writer of CUDA C"),
    "CUDA expression": (
        lambda: cuda_body(launched()).expressions.write(Riddle()),
        "the writer of CUDA C",
    ),
    "ranges": (lambda: cuda_body(launched()).ranges.of(Riddle()), "typing"),
    "tidy": (lambda: substituted(Riddle(), "x", ir.Const(1)), "a walk through the program"),
}


@pytest.mark.parametrize("reader", ALONE)
def test_who_refuses_a_strange_node_says_who_it_is(reader):
    read, name = ALONE[reader]
    with pytest.raises(
        NotImplementedError, match=f"^{name}.* has no case for the node (Blink|Riddle)$"
    ):
        read()


@pytest.mark.parametrize("body", [BLINKS[0], RIDDLES[0]], ids=["statement", "expression"])
def test_every_door_refuses_a_strange_program(body):
    program = mm.program(every_kind.function)
    program._code = replace(every_kind.code, body=body)
    arguments = np.zeros(8, int), np.zeros(8, int), 3
    doors = [lambda: program.cuda(*arguments, threads=8)]
    for machine in (mm.DMM(4, 5), mm.UMM(4, 5), mm.HMM(1, 4, 5)):
        doors += [
            lambda machine=machine: machine.run(program, *arguments, threads=8),
            lambda machine=machine: machine.run(program, *arguments, threads=8, engine="events"),
            lambda machine=machine: machine.check(program, *arguments, threads=8),
        ]
    for door in doors:
        with pytest.raises(NotImplementedError, match=r"no case for the node (Blink|Riddle)"):
            door()


def test_a_fingerprint_sees_a_strange_node():
    """It takes every part of every node, so that it has to know none of them."""
    program = mm.program(every_kind.function)
    before = fingerprint([program])
    program._code = replace(every_kind.code, body=BLINKS[0])
    assert "Blink" in program_text(program.code)
    assert fingerprint([program]) != before


# ------------------------------------------------------------------ the text of mmsim

READERS = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if "from mmsim.ir import nodes as ir" in path.read_text("utf-8")
)


def of_nodes(match):
    """Return whether a `match` has cases for nodes of the representation."""
    return any(
        isinstance(part, ast.MatchClass) and ast.unparse(part.cls).startswith("ir.")
        for case in match.cases
        for part in ast.walk(case.pattern)
    )


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_match_over_nodes_ends_in_assert_never(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Match) and of_nodes(node):
            last = node.cases[-1]
            where = f"line {node.lineno}"
            assert ast.unparse(last.pattern) == "_", where
            assert ast.unparse(last.body[-1]).startswith("assert_never("), where


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_node_goes_by_its_place_in_pythons_memory(path):
    """Except in `Memo`, which holds its nodes."""
    tree = ast.parse(path.read_text("utf-8"))
    tree.body = [one for one in tree.body if getattr(one, "name", "") != "Memo"]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [node.lineno for node in calls if ast.unparse(node.func) == "id"]


def test_a_memo_holds_its_nodes():
    """Else a new node could have the place of an earlier one, and its result."""
    memo = walk.Memo(lambda node: node.value)
    assert [memo(ir.Const(value)) for value in range(100)] == list(range(100))
