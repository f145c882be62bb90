"""What may be fused: which variables are uniform or can be inlined, which order of pieces is safe.

A program can be fused where every thread takes the same path through its loops, so that the list
of its accesses is known before it runs. Anything else raises `CannotFuse`, and is interpreted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mmsim.language import ir
from mmsim.language.walk import expressions, parts, statements

FAILING = ("/", "//", "%", "**", "<<", ">>")
LONGEST = 30
"""Parts of an expression that is inlined: one that stands for others, each used twice, explodes."""


class CannotFuse(Exception):
    """The program has to be interpreted; why."""


def straighten(block: ir.Block, tail: bool = True, scope: str | None = None) -> ir.Block:
    """The block without jumps: what follows `if test: return` becomes the other part of the `if`.

    `tail` says that the end of the block is the end of the program, or of the call `scope`.
    """
    result: list[ir.Stmt] = []
    for position, statement in enumerate(block):
        last = position == len(block) - 1
        match statement:
            case ir.Return() | ir.Leave() if tail and _ends(statement, scope):
                return tuple(result)  # what follows is never reached
            case ir.If(_, then, orelse) if tail and not last and _leaves(then, scope):
                rest = straighten((*orelse, *block[position + 1 :]), tail, scope)
                result.append(replace(statement, then=straighten(then, tail, scope), orelse=rest))
                return tuple(result)
            case ir.If(_, then, orelse):
                result.append(
                    replace(
                        statement,
                        then=straighten(then, tail and last, scope),
                        orelse=straighten(orelse, tail and last, scope),
                    )
                )
            case ir.Scope(name, body):
                result += straighten(body, True, name)
            case ir.While(_, _, body) | ir.For(_, _, _, _, body):
                result.append(replace(statement, body=straighten(body, False)))
            case ir.Return() | ir.Leave():
                raise CannotFuse("it returns from inside")
            case _:
                result.append(statement)
    return tuple(result)


def _ends(statement: ir.Return | ir.Leave, scope: str | None) -> bool:
    """Whether a jump goes to the end of what is being straightened."""
    return scope is None if isinstance(statement, ir.Return) else statement.scope == scope


def _leaves(block: ir.Block, scope: str | None) -> bool:
    return bool(block) and isinstance(block[-1], ir.Return | ir.Leave) and _ends(block[-1], scope)


def breaks(block: ir.Block) -> bool:
    """Whether the body of a loop leaves that loop by `break`."""
    return any(
        isinstance(one, ir.Break)
        or (isinstance(one, ir.If) and (breaks(one.then) or breaks(one.orelse)))
        for one in block
    )


Path = tuple[tuple[int, bool], ...]
"""The branches of varying tests that lead to a statement: each test's number and its side."""


class Analysis:
    """What is known of the variables of a straightened program.

    `uniform` are the variables that have one value for all threads that can see it, `inlined` those
    that stand for an expression of the thread's own numbers.
    """

    def __init__(self, body: ir.Block) -> None:
        self.body = body
        targets = [s.target for s in statements(body) if isinstance(s, ir.Assign | ir.For)]
        loaded = {s.target for s in statements(body) if isinstance(s, ir.Load)}
        self.uniform = set(targets) - loaded
        while varying := self._varying():
            self.uniform -= varying
        self.inlined: dict[str, ir.Expr] = {}
        self._length: dict[str, int] = {}  # of what is inlined, written out
        loads = [s.target for s in statements(body) if isinstance(s, ir.Load)]
        forgotten = {name for s in statements(body) if isinstance(s, ir.Forget) for name in s.names}
        self._once = {
            name
            for name, times in Counter([*targets, *loads]).items()
            if name is not None and times == 1
        }
        self._once -= self.uniform | forgotten
        once = self._once - loaded
        self._same_once = {
            name for name in self.uniform if targets.count(name) == 1 and name not in forgotten
        }
        for statement in statements(body):
            match statement:
                case ir.Assign(target, value) if target in once:
                    length = sum(self._length_of(part) for part in parts(value))
                    if length <= LONGEST and self._inlinable(value):
                        self.inlined[target] = value
                        self._length[target] = length

    def is_uniform(self, value: ir.Expr) -> bool:
        """Whether an expression has one value for all threads that evaluate it."""
        return all(self._same(part) for part in parts(value))

    def _same(self, value: ir.Expr) -> bool:
        match value:
            case ir.ThreadField(field):
                return field in ir.UNIFORM_FIELDS
            case ir.Var(name):
                return name in self.uniform
            case ir.RegisterRead():
                return False
        return True

    def _varying(self) -> set[str]:
        """Names in `uniform` that don't belong there, as far as can be told from the others.

        A variable with one value for all is set by a uniform expression, always in the same branch,
        and read nowhere else.
        """
        home: dict[str, Path] = {}
        varying: set[str] = set()
        for name, value, path in self._settings(self.body, ()):
            if home.setdefault(name, path) != path or not self.is_uniform(value):
                varying.add(name)
        for name, path in self._readings(self.body, ()):
            if name in home and path[: len(home[name])] != home[name]:
                varying.add(name)
        return varying & self.uniform

    def _branches(self, statement: ir.Stmt, path: Path) -> Iterator[tuple[ir.Block, Path]]:
        """The blocks inside a statement, and the path to each."""
        match statement:
            case ir.If(test, then, orelse):
                same = self.is_uniform(test)
                yield then, path if same else (*path, (id(statement), True))
                yield orelse, path if same else (*path, (id(statement), False))
            case ir.While(prelude, _, body):
                yield prelude, path
                yield body, path
            case ir.For(_, start, stop, step, body):
                same = all(map(self.is_uniform, (start, stop, step)))
                yield body, path if same else (*path, (id(statement), True))

    def _settings(self, block: ir.Block, path: Path) -> Iterator[tuple[str, ir.Expr, Path]]:
        for statement in block:
            match statement:
                case ir.Assign(target, value):
                    yield target, value, path
                case ir.For(target, start, stop, step):
                    for bound in (start, stop, step):
                        yield target, bound, path
            for inner, inner_path in self._branches(statement, path):
                yield from self._settings(inner, inner_path)

    def _readings(self, block: ir.Block, path: Path) -> Iterator[tuple[str, Path]]:
        for statement in block:
            for value in expressions(statement):
                for part in parts(value):
                    if isinstance(part, ir.Var):
                        yield part.name, path
            for inner, inner_path in self._branches(statement, path):
                yield from self._readings(inner, inner_path)

    def _length_of(self, part: ir.Expr) -> int:
        return self._length.get(part.name, 1) if isinstance(part, ir.Var) else 1

    def _inlinable(self, value: ir.Expr) -> bool:
        """Whether an expression is the same wherever it stands, and can't fail.

        A variable that is set once may take another's value in a loop's next turn, but then it is
        set before it is read again: reading it earlier is refused.
        """
        if isinstance(value, ir.Var):
            return value.name in self._once or value.name in self._same_once
        for part in parts(value):
            match part:
                case ir.Var(name):
                    if name not in self.inlined and name not in self._same_once:
                        return False
                case ir.RegisterRead():
                    return False
                case ir.Binary(op, _, right):
                    if op in FAILING and not (op in ("//", "%") and self._constant(right)):
                        return False
                case ir.Unary("int"):
                    return False
        return True

    def _constant(self, value: ir.Expr) -> bool:
        """Whether an expression is one number all along, without an operation that can fail."""
        return self.is_uniform(value) and self._inlinable(value)


def own_index(index: tuple[ir.Expr, ...], inlined: dict[str, ir.Expr]) -> bool:
    """Whether no two threads can use this index: it has T.id in it, or T.block and T.index."""
    fields = set()
    for part in index:
        while isinstance(part, ir.Var) and part.name in inlined:
            part = inlined[part.name]
        if isinstance(part, ir.ThreadField):
            fields.add(part.field)
    return "id" in fields or {"block", "index"} <= fields


def order_matters(body: ir.Block, array: str, inlined: dict[str, ir.Expr]) -> str:
    """Whether the result depends on the order in which pieces of the grid run.

    "no": nobody writes the array, or every thread keeps to elements of its own. "written": it is
    written and never read, so that the order is lost only where two threads write one element.
    "yes": one thread may read what another one writes.
    """
    reads = [s for s in statements(body) if isinstance(s, ir.Load) and s.array == array]
    writes = [s for s in statements(body) if isinstance(s, ir.Store) and s.array == array]
    if not writes:
        return "no"
    uses: Iterable[ir.Load | ir.Store] = [*reads, *writes]
    if all(own_index(use.index, inlined) for use in uses) and _one_form(uses, inlined):
        return "no"
    return "yes" if reads else "written"


def _one_form(uses: Iterable[ir.Load | ir.Store], inlined: dict[str, ir.Expr]) -> bool:
    """Whether all these indices are the same expression."""
    return len({tuple(_form(part, inlined) for part in use.index) for use in uses}) == 1


def _form(value: ir.Expr, inlined: dict[str, ir.Expr]) -> str:
    """A text that is the same for index parts that are the same field of T; else unlike any."""
    while isinstance(value, ir.Var) and value.name in inlined:
        value = inlined[value.name]
    return value.field if isinstance(value, ir.ThreadField) else f"{id(value)}"
