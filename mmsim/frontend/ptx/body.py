"""The body of a function: scopes, names, instructions and their operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lark import Token, Tree

from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Label,
    Operand,
    Pair,
    Register,
    Symbol,
    Variable,
    Vector,
)
from mmsim.frontend.ptx.places import Places
from mmsim.frontend.ptx.source import Source
from mmsim.frontend.ptx.variables import Kind, Node, kind, variable, words

DEEPEST = 100
"""Scopes inside each other in a function that is read."""
_VECTORS = "tid ntid ctaid nctaid clusterid nclusterid cluster_ctaid cluster_nctaid"
_NUMBERS = """
    laneid warpid nwarpid smid nsmid gridid is_explicit_cluster cluster_ctarank cluster_nctarank
    lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi clock64 globaltimer
    globaltimer_lo globaltimer_hi reserved_smem_offset_begin reserved_smem_offset_end
    reserved_smem_offset_cap reserved_smem_offset_0 reserved_smem_offset_1 total_smem_size
    aggr_smem_size dynamic_smem_size current_graph_exec
"""
SPECIAL = frozenset(
    [f"%{name}{axis}" for name in _VECTORS.split() for axis in ("", ".x", ".y", ".z", ".w")]
    + [f"%{name}" for name in _NUMBERS.split()]
    + [f"%pm{number}{bits}" for number in range(8) for bits in ("", "_64")]
    + [f"%envreg{number}" for number in range(32)]
    + ["WARP_SZ", "_"]
)
"""The names of special registers, of the width of a warp, and of a result that is dropped."""
Names = dict[str, Register | Symbol]


class Scope:
    """The names between two braces, in a function or in another scope.

    `number` counts the scopes of a function from 0. The name of what an inner scope declares gets
    it at its end, as in `%tmp@2`, so all names of a function are different.
    """

    def __init__(self, number: int, outer: Scope | None, known: Names) -> None:
        self.number = number
        self.outer = outer
        self.names = known
        self.ranges: list[tuple[str, int, str]] = []

    def own(self, name: str) -> str:
        """Return the name for the whole function of what this scope declares."""
        return f"{name}@{self.number}" if self.number else str(name)


class Body:
    """Reads the body of a function, whose module has `outside` as names."""

    def __init__(self, source: Source, places: Places, outside: Mapping[str, Symbol]) -> None:
        self.items: list[Instruction | Label] = []
        self.registers: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.tables: dict[str, tuple[str, ...]] = {}
        self._source = source
        self._places = places
        self._scope = Scope(0, None, {})
        self._scopes = 0
        self._outside = outside
        self._numbers: dict[str, Immediate] = {}
        self._instructions: dict[str, tuple[str, ...]] = {}

    def declare(self, name: Token, operand: Register | Symbol) -> None:
        """Add a name to the present scope."""
        if name in self._scope.names:
            raise self._source.refuse(name, f"{name} is declared twice")
        self._scope.names[str(name)] = operand

    def parameter(self, declared: Variable, name: Token) -> None:
        """Add a parameter or a result."""
        if name == "_":
            return
        if declared.space == "reg":
            self.declare(name, Register(declared.name))
            self.registers[declared.name] = declared.type
        else:
            self.declare(name, Symbol(declared.name))

    def read(self, body: Tree[Token], depth: int = 0) -> None:
        """Read what stands between two braces."""
        if depth > DEEPEST:
            (brace,) = words(body)[:1]
            raise self._source.refuse(brace, f"more than {DEEPEST} scopes inside each other")
        for node in body.children:
            if isinstance(node, Tree) and node.data in ("label", "table", "prototype"):
                name = words(node)[0]
                self.declare(name, Symbol(self._scope.own(name)))
        for node in body.children:
            if isinstance(node, Token):
                if node.type == "LOC":
                    self._places.move(node)
            elif node.data == "instruction":
                self._instruction(node.children)
            elif node.data == "variables":
                self._declaration(node)
            elif node.data == "label":
                self.items.append(Label(self._scope.own(words(node)[0])))
            elif node.data == "table":
                name, *entries = words(node)
                self.tables[self._scope.own(name)] = tuple(
                    self._symbol(entry).name for entry in entries
                )
            elif node.data == "body":
                self._scopes += 1
                outer = self._scope
                self._scope = Scope(self._scopes, outer, {})
                self.read(node, depth + 1)
                self._scope = outer

    def _declaration(self, node: Tree[Token]) -> None:
        space, modifiers, *declarators = node.children
        assert isinstance(space, Token)
        assert isinstance(modifiers, Tree)
        declared = kind(space, modifiers, self._source)
        for declarator in declarators:
            assert isinstance(declarator, Tree)
            if declared.space == "reg":
                self._register(declared, declarator)
                continue
            name = words(declarator)[0]
            self.declare(name, Symbol(self._scope.own(name)))
            found = variable(declared, declarator, self._source, self._symbol)
            self.variables.append(replace(found, name=self._scope.own(name)))

    def _register(self, declared: Kind, declarator: Tree[Token]) -> None:
        """Declare a register, or so many with a number behind the name: `%r<3>`."""
        name, *rest = declarator.children
        assert isinstance(name, Token)
        if declared.lanes > 1:
            raise self._source.refuse(name, "a register with several lanes", "declare one for each")
        if not rest:
            self.declare(name, Register(self._scope.own(name)))
            self.registers[self._scope.own(name)] = declared.type
            return
        (range_,) = rest if len(rest) == 1 else (None,)
        if not isinstance(range_, Tree) or range_.data != "range":
            raise self._source.refuse(name, f"the register {name} is not a single one")
        self._scope.ranges.append((name, self._source.integer(words(range_)[0]), declared.type))

    def _find(self, name: Token) -> Register | Symbol:
        """Return what a name means here."""
        scope: Scope | None = self._scope
        while scope is not None:
            found = scope.names.get(name) or self._in_range(scope, name)
            if found is not None:
                return found
            scope = scope.outer
        if name in SPECIAL:
            return Register(str(name))
        outside = self._outside.get(name)
        if outside is None:
            raise self._source.refuse(
                name, f"{name} is not declared", "declare it in front of its use"
            )
        return outside

    def _in_range(self, scope: Scope, name: Token) -> Register | None:
        """Return the register of a range in a scope; it is then one of the scope's names."""
        for prefix, count, type_ in scope.ranges:
            number = name[len(prefix) :]
            if not name.startswith(prefix) or not number.isdigit() or len(number) > len(str(count)):
                continue
            if int(number) < count and str(int(number)) == number:
                register = Register(scope.own(name))
                scope.names[str(name)] = register
                self.registers[register.name] = type_
                return register
        return None

    def _symbol(self, name: Token) -> Symbol:
        found = self._find(name)
        if not isinstance(found, Symbol):
            raise self._source.refuse(
                name, f"{name} is a register", "a variable, a function or a label has to be here"
            )
        return found

    def _instruction(self, children: Sequence[Node]) -> None:
        first, *rest = children
        guard = None
        if isinstance(first, Tree):
            *negation, predicate = words(first)
            guard = self._register_named(predicate, negated=bool(negation))
            first, *rest = rest
        assert isinstance(first, Token)
        name = self._instructions.get(first)
        if name is None:
            name = self._instructions[str(first)] = tuple(first.split("."))
        operands = tuple(map(self._operand, rest))
        if name[0] == "call":
            operands = self._call(first, operands, rest)
        where = self._places.at(first.line or 0)
        self.items.append(Instruction(name, operands, guard, where))

    def _call(
        self, word: Token, operands: tuple[Operand, ...], nodes: Sequence[Node]
    ) -> tuple[Operand, ...]:
        """Return results, function, arguments and perhaps a table, the first and third as lists."""
        lists = [isinstance(node, Tree) and node.data == "list" for node in nodes]
        if not lists or not lists[0]:
            operands, lists = (Vector(()), *operands), [True, *lists]
        if len(lists) == 2:
            operands, lists = (*operands, Vector(())), [*lists, True]
        if lists not in ([True, False, True], [True, False, True, False]):
            raise self._source.refuse(
                word, "a call in an unknown form", "write call (results), function, (arguments);"
            )
        return operands

    def _register_named(self, name: Token, negated: bool) -> Register:
        found = self._find(name)
        if not isinstance(found, Register):
            raise self._source.refuse(name, f"{name} is not a register")
        return Register(found.name, True) if negated else found

    def _operand(self, node: Node) -> Operand:
        """Return what an operand is."""
        if isinstance(node, Token):
            return self._find(node) if node.type == "NAME" else self._number(node)
        if node.data == "address":
            return self._address(node)
        if node.data == "moved":
            name, offset = words(node)
            return replace(self._symbol(name), offset=self._source.offset(offset))
        if node.data == "negated":
            return self._register_named(words(node)[0], negated=True)
        parts = tuple(map(self._operand, node.children))
        return Pair(*parts) if node.data == "pair" else Vector(parts)

    def _number(self, token: Token) -> Immediate:
        found = self._numbers.get(token)
        if found is None:
            found = self._numbers[str(token)] = self._source.number(token)
        return found

    def _address(self, node: Tree[Token]) -> Address:
        base, *parts = node.children
        assert isinstance(base, Tree)
        name, *offset = words(base)
        more = tuple(map(self._operand, parts))
        if name.type == "NUMBER":
            return Address(None, self._source.integer(name), more)
        return Address(self._find(name), self._source.offset(offset[0]) if offset else 0, more)
