"""The shape of the text: loads inside other statements, and the declarations of variables.

A load moves into the statement behind it if this has no other access, apart from those that depend
on the load: their order stays unchanged. A variable is declared where it is
first set if all its readers see this declaration, else in front of the statement that uses it
first. C++ discards the variables of a loop's body after every trip, so a variable that may keep
its value from trip to trip is declared in front of the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT
from mmsim.ir.ranges import Ranges
from mmsim.ir.row import WHOLE, is_within
from mmsim.ir.tidy import read_by, set_by
from mmsim.ir.walk import expressions, inside, parts, targets
from mmsim.ir.walk import statements as all_statements

Path = tuple[tuple[int, int], ...]
"""The path to a statement: the blocks around it, and its position in each."""


class Shape:
    """The writer's information on a tidied program.

    Statements go by their numbers: `folded` are the loads inside the next statement,
    `plain_loops` the loops that C can write as Python does. `declaring` are the statements that
    declare a variable that they set, each with that variable. `before` gives the variables
    declared in front of a statement. With `apart` every access is a separate statement.
    """

    def __init__(self, body: ir.Block, ranges: Ranges, apart: bool = False) -> None:
        everything = list(all_statements(body))
        self._reads = Counter(name for one in everything for name in read_by(one))
        self._settings = Counter(name for one in everything for name in targets(one))
        self._ranges = ranges
        self.folded: set[int] = set()
        self._gone: set[str] = set()  # variables that need no declaration
        if not apart:
            self._fold(body)
        loops = [one for one in everything if isinstance(one, ir.For)]
        plain = {one.target for one in loops} - set(self._not_plain(loops))
        self.plain_loops = {one.number for one in loops if one.target in plain}
        self._gone |= plain
        self.before: dict[int, list[str]] = {}
        self.declaring: set[tuple[int, str]] = set()
        self._blocks: list[list[ir.Stmt]] = []
        self._loops: set[int] = set()  # blocks that are bodies of loops
        self._met: dict[str, list[Path]] = {}
        self._walk(body, (), False)
        for name, paths in self._met.items():
            self._declare(name, paths)

    # Loads inside statements

    def _fold(self, block: ir.Block) -> None:
        for first, second in pairwise(block):
            if isinstance(first, ir.Load) and not isinstance(second, ir.For | ir.While):
                self._fold_into(first, expressions(second))
        for statement in block:
            for inner in inside(statement):
                self._fold(inner)
            if isinstance(statement, ir.While) and len(statement.prelude) == 1:
                (load,) = statement.prelude
                if isinstance(load, ir.Load):
                    self._fold_into(load, (statement.test,))

    def _fold_into(self, load: ir.Load, expressions: Iterable[ir.Expr]) -> None:
        """Fold a load if its value has one reader in all, in these expressions, on every path."""
        name = load.target
        if name is None or self._settings[name] != 1 or self._reads[name] != 1:
            return
        if any(name in _always_read(value) for value in expressions):
            self.folded.add(load.number)
            self._gone.add(name)

    def is_folded(self, statement: ir.Stmt) -> bool:
        """Return whether a statement stands inside the next one."""
        return statement.number in self.folded

    def prelude(self, loop: ir.While) -> ir.Block:
        """The statements before a loop's test, without a load inside the test."""
        return () if len(loop.prelude) == 1 and self.is_folded(loop.prelude[0]) else loop.prelude

    # Loops

    def _not_plain(self, loops: list[ir.For]) -> Iterator[str]:
        """The variables of loops that `for (i = start; i < stop; i += step)` can't express."""
        turning = Counter(loop.target for loop in loops)
        inside: Counter[str] = Counter()
        for loop in loops:
            reads = (name for one in all_statements(loop.body) for name in read_by(one))
            inside[loop.target] += sum(name == loop.target for name in reads)
            if not self._is_plain(loop):
                yield loop.target
        for name, times in turning.items():
            if self._settings[name] != times or self._reads[name] != inside[name]:
                yield name

    def _is_plain(self, loop: ir.For) -> bool:
        """Return whether a loop's bounds and its variable stay unchanged."""
        set_inside = {name for one in loop.body for name in set_by(one)}
        if self._ranges.typing.variables[loop.target] != INT or loop.target in set_inside:
            return False
        for part in (*parts(loop.stop), *parts(loop.step)):
            if isinstance(part, ir.RegisterRead):
                return False
            if isinstance(part, ir.Var) and part.name in set_inside:
                return False
        last = self._ranges.of(loop.stop) or WHOLE
        step = self._ranges.of(loop.step) or WHOLE
        one_way = step[0] > 0 or step[1] < 0
        return one_way and is_within((last[0] + min(step[0], 0), last[1] + max(step[1], 0)), WHOLE)

    # Declarations

    def _walk(self, block: Iterable[ir.Stmt], path: Path, is_loop: bool) -> None:
        statements = list(block)
        number = len(self._blocks)
        self._blocks.append(statements)
        if is_loop:
            self._loops.add(number)
        for position, statement in enumerate(statements):
            here = (*path, (number, position))
            names = list(read_by(statement))
            if isinstance(statement, ir.While):
                if self.prelude(statement):
                    # Test and body follow the prelude in one block of C.
                    tested = ir.If(statement.test, (), (), statement.place)
                    self._walk((*statement.prelude, tested, *statement.body), here, True)
                    continue
                names += [name for load in statement.prelude for name in read_by(load)]
            elif isinstance(statement, ir.For):
                if statement.number not in self.plain_loops:
                    names.append(statement.target)
            elif not self.is_folded(statement):
                names += targets(statement)
            for name in names:
                self._met.setdefault(name, []).append(here)
            if isinstance(statement, ir.For | ir.While):
                self._walk(statement.body, here, True)
            else:
                for inner in inside(statement):
                    self._walk(inner, here, False)

    def _declare(self, name: str, paths: list[Path]) -> None:
        if name in self._gone:
            return
        depth = 0
        while all(len(path) > depth + 1 for path in paths) and (
            len({path[depth + 1][0] for path in paths}) == 1
        ):
            depth += 1
        first = min(paths, key=lambda path: path[depth][1])
        block, position = first[depth]
        statement = self._blocks[block][position]
        sets = name in targets(statement) and not isinstance(statement, ir.For)
        if sets and name not in read_by(statement):
            self.declaring.add((statement.number, name))
            return
        for outer in range(depth):
            if first[outer + 1][0] in self._loops:
                block, position = first[outer]
                break
        self.before.setdefault(self._blocks[block][position].number, []).append(name)


def _always_read(value: ir.Expr) -> Iterator[str]:
    """The variables that an expression reads in all cases."""
    if isinstance(value, ir.Var):
        yield value.name
    first_only = isinstance(value, ir.Logic | ir.Choose)
    for operand in expressions(value)[: 1 if first_only else None]:
        yield from _always_read(operand)
