"""Removes the variables that only the parser needed, so that the text reads like the program.

The representation keeps operands in variables `t`, `t_2`, ...; most of them are set once and read
once. Such a variable is replaced by its value, or a load goes straight into its final variable, if
this changes neither the computation nor the order of memory accesses.
"""

from __future__ import annotations

import re
from collections import Counter

from mmsim.ir import nodes as ir
from mmsim.ir.walk import (
    expressions,
    parts,
    reads_registers,
    statements,
    targets,
    with_expressions,
    with_inside,
    with_targets,
    writes_registers,
)

_TEMPORARY = re.compile(r"t(_\d+)?")
DEEPEST = 20
"""Most levels of an expression to be put into another: the parser keeps long chains flat."""


def depth(value: ir.Expr) -> int:
    """Levels of an expression."""
    return 1 + max(map(depth, expressions(value)), default=0)


def read_by(statement: ir.Stmt) -> list[str]:
    """The variables that a statement itself reads, once for each read."""
    return [
        part.name
        for value in expressions(statement)
        for part in parts(value)
        if isinstance(part, ir.Var)
    ]


def set_by(statement: ir.Stmt) -> set[str]:
    """The variables that a statement sets, or one inside it."""
    return {name for one in statements((statement,)) for name in targets(one)}


def tidy(body: ir.Block) -> ir.Block:
    """The program without the variables that can be removed."""
    reads = Counter(name for one in statements(body) for name in read_by(one))
    settings = Counter(name for one in statements(body) for name in targets(one))
    spare = {
        name: reads[name]
        for name, times in settings.items()
        if times == 1 and _TEMPORARY.fullmatch(name)
    }
    return _block(body, spare)


def _block(block: ir.Block, spare: dict[str, int]) -> ir.Block:
    """A block without the variables of `spare`, which says how often each is read."""
    result = [with_inside(statement, lambda inner: _block(inner, spare)) for statement in block]
    position = 0
    while position < len(result):
        statement = result[position]
        if isinstance(statement, ir.Assign):
            reads = spare.get(statement.target)
            if reads is not None and _into_its_readers(result, position, statement, reads):
                position = max(position - 1, 0)
                continue
        elif not isinstance(statement, ir.For):
            for name in targets(statement):
                while spare.get(name) == 1 and (new := _into_its_variable(result, position, name)):
                    name = new
        position += 1
    return tuple(result)


def _into_its_readers(
    block: list[ir.Stmt], position: int, statement: ir.Assign, reads: int
) -> bool:
    """Replace a variable by its value where it is read, if nothing on the way could change that.

    In several places, only another variable may replace it.
    """
    name, value = statement.target, statement.value
    if depth(value) > DEEPEST or not (reads == 1 or isinstance(value, ir.Var)):
        return False
    needed = {part.name for part in parts(value) if isinstance(part, ir.Var)}
    changed: dict[int, ir.Stmt] = {}
    for later in range(position + 1, len(block)):
        reader = block[later]
        found = read_by(reader).count(name)
        if found:
            if isinstance(reader, ir.While):  # it reads more than once
                return False
            changed[later] = with_expressions(reader, lambda old: substituted(old, name, value))
            reads -= found
        if reads == 0:
            for at, new in changed.items():
                block[at] = new
            del block[position]
            return True
        if needed & set_by(reader) or isinstance(reader, ir.Scope | ir.Forget):
            return False
        if reads_registers(value) and writes_registers(reader):
            return False
    return False


def _into_its_variable(block: list[ir.Stmt], position: int, name: str) -> str | None:
    """Load or exchange straight into the variable that a later line sets to this value only, if no
    line in between uses the variable; return this variable."""
    statement = block[position]
    for later in range(position + 1, len(block)):
        reader = block[later]
        if not isinstance(reader, ir.Assign | ir.Access):
            return None
        if isinstance(reader, ir.Assign) and isinstance(reader.value, ir.Var):
            target, between = reader.target, block[position + 1 : later]
            if reader.value.name == name:
                break
        if name in read_by(reader):
            return None
    else:
        return None
    used = {one for line in between for one in (*set_by(line), *read_by(line))}
    if target in used or target in targets(statement):
        return None
    block[position] = with_targets(statement, lambda old: target if old == name else old)
    del block[later]
    return target


def substituted(value: ir.Expr, name: str, by: ir.Expr) -> ir.Expr:
    """An expression with `by` instead of the variable `name`."""
    if isinstance(value, ir.Var):
        return by if value.name == name else value
    return with_expressions(value, lambda part: substituted(part, name, by))
