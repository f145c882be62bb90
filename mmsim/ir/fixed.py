"""The variables that a compiler computes: those of loops that double or halve a number.

As in `h = 1`, `while h < 256: h = 2 * h`: the compiler unrolls such a loop whole, and h is a number
in each copy of its body. So neither the loop nor what is computed from h alone costs an operation.
A loop whose variable moves by a sum has too many trips for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, inside, parts, targets

FEW = ("*", "//", "// or 0", "<<", ">>")
"""The operators that move a variable of a loop with few trips."""


class Fixed:
    """The variables of a program that a compiler computes.

    `constant` gives the value of an expression that the compiler knows without them, `is_flat`
    returns whether a loop over a range is unrolled whole.
    """

    def __init__(
        self,
        body: ir.Block,
        constant: Callable[[ir.Expr], ir.Scalar | None],
        is_flat: Callable[[ir.For], bool],
    ) -> None:
        self.constant, self.is_flat = constant, is_flat
        self._settings: dict[str, list[tuple[ir.Expr | None, tuple[ir.Expr | None, ...]]]]
        self._settings = defaultdict(list)
        self._block(body, (), False)
        own = self._settings.items()
        self.names = {name for name, found in own if all(value for value, _ in found)}
        changed = True
        while changed:
            wrong = {name for name in self.names if not self._are_known(self._settings[name])}
            self.names -= wrong
            changed = bool(wrong)

    def knows(self, value: ir.Expr) -> bool:
        """Return whether the compiler knows a value in each copy of a loop's body."""
        for part in parts(value):
            if isinstance(part, ir.Const | ir.Operating | ir.Logic | ir.Choose):
                continue
            is_fixed = isinstance(part, ir.Var) and part.name in self.names
            if not is_fixed and self.constant(part) is None:
                return False
        return True

    def unrolls(self, loop: ir.While) -> bool:
        """Return whether only what the compiler knows decides when a loop ends."""
        tests = _ends(loop)
        return bool(tests) and all(test is not None and self.knows(test) for test in tests)

    def _are_known(self, settings: list[tuple[ir.Expr | None, tuple[ir.Expr | None, ...]]]) -> bool:
        return all(
            part is not None and self.knows(part)
            for value, tests in settings
            for part in (value, *tests)
        )

    def _block(self, block: ir.Block, tests: tuple[ir.Expr | None, ...], repeats: bool) -> None:
        """Note what a block sets, and the tests that decide whether it runs."""
        for one in block:
            for name in targets(one):
                value = one.value if isinstance(one, ir.Assign) else None
                if isinstance(one, ir.For) and self.is_flat(one):
                    value = ir.Const(0)
                if value is not None and repeats and _moves_far(name, value):
                    value = None
                self._settings[name].append((value, tests))
            own = tests
            if isinstance(one, ir.If):
                own = (*tests, one.test)
            elif isinstance(one, ir.While):
                own = (*tests, *(_ends(one) or [None]))
            elif isinstance(one, ir.For):
                own = (*tests, *expressions(one))
            again = repeats or isinstance(one, ir.While | ir.For)
            for inner in inside(one):
                self._block(inner, own, again)


def _moves_far(name: str, value: ir.Expr) -> bool:
    """Return whether a value depends on its variable's former one in another way than by FEW."""
    used = any(isinstance(part, ir.Var) and part.name == name for part in parts(value))
    return used and not (isinstance(value, ir.Binary) and value.op in FEW)


def _ends(loop: ir.While) -> list[ir.Expr | None]:
    """The tests that decide whether a loop ends; None for a test that isn't known."""
    found: list[ir.Expr | None] = [] if isinstance(loop.test, ir.Const) else [loop.test]

    def look(block: ir.Block, test: ir.Expr | None) -> None:
        for one in block:
            if isinstance(one, ir.Break | ir.Return | ir.Leave):
                found.append(test)
            elif isinstance(one, ir.If):
                look(one.then, one.test)
                look(one.orelse, one.test)
            elif isinstance(one, ir.Scope):
                look(one.body, None)

    look((*loop.prelude, *loop.body), None)
    return found
