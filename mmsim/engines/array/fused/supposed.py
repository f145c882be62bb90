"""Loops that a program of many threads is supposed to leave when its first thread does.

Kernels often begin a loop at a place that depends on the block, and all threads make the same
number of trips. Nothing in the text says so. The variables in such a test get a second form, that
of the first thread, and this one decides. Each thread checks that its own test agrees. If one
doesn't, the fused program gives up, and the interpreter runs the launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT
from mmsim.ir.lower import Lowered
from mmsim.ir.uniform import Uniformity
from mmsim.ir.walk import inside, parts, statements, targets, with_expressions, with_inside

CHECKED = "agrees_with_first"
"""The variable that is set by each check."""


def supposing(body: ir.Block, typing: Lowered) -> tuple[ir.Block, Lowered]:
    """A straightened program whose loops all threads leave together, with its types.

    Raises `CannotFuse` if it has no loop that another thread may leave earlier, or one whose end
    depends on memory.
    """
    found = _Supposing(body)
    if not found.find():
        raise CannotFuse("nothing to suppose")
    types = {found.first_of(name): typing.variables[name] for name in found.needed}
    begin = ir.Assign(CHECKED, ir.Const(1), found.deciding[0].place)
    changed = (begin, *found.block(body))
    return changed, typing.with_variables({**types, CHECKED: INT})


class _Supposing:
    """The branches in question, and the variables that they need of the first thread."""

    def __init__(self, body: ir.Block) -> None:
        self.uniformity = Uniformity(body)
        self.setters: dict[str, list[ir.Stmt]] = {}
        for one in statements(body):
            for name in targets(one):
                self.setters.setdefault(name, []).append(one)
        self.needed: set[str] = set()
        self.deciding: list[ir.While | ir.If] = []
        self._branches = [
            one
            for one in statements(body)
            if isinstance(one, ir.While | ir.If) and not self.uniformity.is_uniform(one.test)
        ]

    def find(self) -> bool:
        """Find what decides for each thread by itself how a loop goes on; False without it.

        It is False, too, if something else than numbers decides.
        """
        while new := [one for one in self._branches if self._decides(one)]:
            self.deciding += new
            if not all([self.follows(one.test) for one in new]):
                return False
        return bool(self.deciding)

    def _decides(self, one: ir.While | ir.If) -> bool:
        """Return whether a branch is known to decide, and not found yet."""
        if any(one is found for found in self.deciding):
            return False
        if isinstance(one, ir.While) or any(map(_jumps, inside(one))):
            return True
        inner = [each for block in inside(one) for each in statements(block)]
        sets = {name for each in inner for name in targets(each)}
        loops = any(each is found for each in inner for found in self.deciding)
        return loops or not self.needed.isdisjoint(sets)

    def follows(self, value: ir.Expr) -> bool:
        """Return whether a value of the first thread follows from numbers alone."""
        for part in parts(value):
            if isinstance(part, ir.RegisterRead):
                return False
            if isinstance(part, ir.Var) and self.varies(part.name):
                self.needed.add(part.name)
                for setter in self.setters.get(part.name, ()):
                    if not isinstance(setter, ir.Assign) or not self.follows(setter.value):
                        return False
        return True

    def varies(self, name: str) -> bool:
        """Return whether a variable needs a form of the first thread, and has none yet."""
        return name not in self.uniformity.uniform and name not in self.needed

    def first_of(self, name: str) -> str:
        """The variable of the first thread."""
        return f"{name}_of_first"

    def first(self, value: ir.Expr) -> ir.Expr:
        """The value of the first thread."""
        if isinstance(value, ir.Var) and value.name in self.needed:
            return replace(value, name=self.first_of(value.name))
        if isinstance(value, ir.ThreadField) and value.field not in ir.UNIFORM_FIELDS:
            return ir.Const(0)
        return with_expressions(value, self.first)

    def block(self, block: ir.Block) -> ir.Block:
        """The statements with those for the first thread."""
        return tuple(new for one in block for new in self.statement(one))

    def statement(self, one: ir.Stmt) -> Iterator[ir.Stmt]:
        """A statement with those for the first thread."""
        decides = any(one is found for found in self.deciding)
        one = with_inside(one, self.block)
        if isinstance(one, ir.Assign) and one.target in self.needed:
            yield one
            yield replace(one, target=self.first_of(one.target), value=self.first(one.value))
        elif isinstance(one, ir.While) and decides:
            check = self.check(one.test, one.place)
            yield replace(one, prelude=(*one.prelude, check), test=self.first(one.test))
        elif isinstance(one, ir.If) and decides:
            yield self.check(one.test, one.place)
            yield replace(one, test=self.first(one.test))
        else:
            yield one

    def check(self, test: ir.Expr, place: Place) -> ir.Stmt:
        """The check that a thread's test agrees with that of the first one."""
        own, first = (ir.Unary("int64", one, place) for one in (test, self.first(test)))
        agrees = ir.Unary("int64", ir.Compare("==", own, first, place), place)
        return ir.Assign(CHECKED, ir.Unary("divisor", agrees, place), place)


def _jumps(block: ir.Block) -> bool:
    """Return whether a block of a loop leaves its trip early."""
    return any(
        isinstance(one, ir.Break | ir.Continue)
        or (isinstance(one, ir.If | ir.Scope) and any(map(_jumps, inside(one))))
        for one in block
    )
