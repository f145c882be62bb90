"""Uniformity: the values that all threads share, and the inputs of an expression."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, inside, names, parts, statements, targets

Path = tuple[tuple[int, int], ...]
"""The branches of varying tests that lead to a statement: each one's number and the side."""
SKIPPED = -1
"""Stands for a side: the statements over which some threads jump from inside a branch."""
LOOP = ""
"""Stands for the loop that a break or a continue leaves, among the names of scopes."""


def follows_from(value: ir.Expr, fields: Collection[str], variable: Callable[[str], bool]) -> bool:
    """Return whether a value depends only on fields of T, variables, and shared values."""
    return not any(
        isinstance(part, ir.RegisterRead)
        or (isinstance(part, ir.ThreadField) and part.field not in fields)
        or (isinstance(part, ir.Var) and not variable(part.name))
        for part in parts(value)
    )


class Uniformity:
    """The variables of a program that are `uniform`: one value for all threads that can see it.

    These are the threads of the launch, or those for which the `fields` of T have one value.
    """

    def __init__(self, body: ir.Block, fields: Collection[str] = ir.UNIFORM_FIELDS) -> None:
        self._body = body
        self._fields = fields
        every = list(statements(body))
        brought = ir.Load | ir.VectorLoad | ir.Atomic | ir.Exchange | ir.Barrier
        varying = {name for one in every if isinstance(one, brought) for name in targets(one)}
        self.uniform = {name for one in every for name in targets(one)} - varying
        while varying := self._varying():
            self.uniform -= varying

    def is_uniform(self, value: ir.Expr) -> bool:
        """Return whether an expression has one value for all threads that evaluate it."""
        return follows_from(value, self._fields, self.uniform.__contains__)

    def _varying(self) -> set[str]:
        """Names in `uniform` that don't belong there, as far as the others show.

        A variable with one value for all is set by a uniform expression, always in the same branch,
        and read nowhere else.
        """
        home: dict[str, Path] = {}
        varying: set[str] = set()
        placed = list(self._placed(self._body, ()))
        for statement, path in placed:
            if isinstance(statement, ir.Assign | ir.For):
                name, values = statement.target, expressions(statement)
                if home.setdefault(name, path) != path or not all(map(self.is_uniform, values)):
                    varying.add(name)
        for statement, path in placed:
            for name in names(expressions(statement)) & home.keys():
                if path[: len(home[name])] != home[name]:
                    varying.add(name)
        return varying & self.uniform

    def _placed(self, block: ir.Block, path: Path) -> Iterator[tuple[ir.Stmt, Path]]:
        """Every statement with its path."""
        for statement in block:
            yield statement, path
            parting = self._parts_threads(statement)
            for side, inner in enumerate(inside(statement)):
                inner_path = (*path, (statement.number, side)) if parting else path
                yield from self._placed(inner, inner_path)

    def _parts_threads(self, statement: ir.Stmt) -> bool:
        """Return whether some threads may do the statements inside, and others not.

        A loop whose end is found during its iterations counts as one that all threads leave
        together.
        """
        branches = isinstance(statement, ir.If | ir.For)
        return branches and not all(map(self.is_uniform, expressions(statement)))


class Apart(Uniformity):
    """The same for threads that leave a loop, or the body of a call, one by one."""

    def _placed(self, block: ir.Block, path: Path) -> Iterator[tuple[ir.Stmt, Path]]:
        for statement in block:
            yield from super()._placed((statement,), path)
            if self._jumps(statement):
                path = (*path, (statement.number, SKIPPED))

    def _parts_threads(self, statement: ir.Stmt) -> bool:
        is_loop = isinstance(statement, ir.For | ir.While)
        inner = (one for block in inside(statement) for one in block)
        return self._differs(statement) or (is_loop and any(map(self._jumps, inner)))

    def _differs(self, statement: ir.Stmt) -> bool:
        """Return whether a branch, or the trips of a loop, are those of some threads only."""
        is_branch = isinstance(statement, ir.If | ir.For | ir.While)
        return is_branch and not all(map(self.is_uniform, expressions(statement)))

    def _jumps(self, statement: ir.Stmt) -> set[str]:
        """The scopes around a statement that some threads leave from inside it."""
        inner = [one for block in inside(statement) for one in block]
        if self._differs(statement):
            found = {
                _left(one)
                for one in statements(inner)
                if isinstance(one, ir.Break | ir.Continue | ir.Leave)
            }
        else:
            found = set().union(*map(self._jumps, inner))
        if isinstance(statement, ir.For | ir.While):
            found.discard(LOOP)
        return found - {statement.name} if isinstance(statement, ir.Scope) else found


def _left(jump: ir.Break | ir.Continue | ir.Leave) -> str:
    """The scope that a jump leaves."""
    return jump.scope if isinstance(jump, ir.Leave) else LOOP
