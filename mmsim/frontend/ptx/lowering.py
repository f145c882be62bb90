"""From the instructions of a kernel to statements of the representation.

Every register is a variable. Branches and labels give basic blocks, and these loops and branches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx import warp
from mmsim.frontend.ptx.accesses import Accesses
from mmsim.frontend.ptx.addresses import Addresses, Sum
from mmsim.frontend.ptx.arrays import (
    BYTES,
    Array,
    address_in,
    cast,
    purpose,
    refused,
    unpacked,
    use_of,
)
from mmsim.frontend.ptx.cpp import Places
from mmsim.frontend.ptx.flat import Flat
from mmsim.frontend.ptx.instructions import computed
from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Label,
    Operand,
    Register,
    Symbol,
    Where,
)
from mmsim.frontend.ptx.pointers import (
    AFFINE,
    NUMBER,
    Kind,
    Pointers,
    offset_in,
    parts,
    results_and_sources,
)
from mmsim.frontend.ptx.products import multiplied
from mmsim.frontend.ptx.reach import Reach, is_access
from mmsim.frontend.ptx.unassigned import unassigned
from mmsim.ir import nodes as ir
from mmsim.ir.splitting import reducible
from mmsim.ir.structured import BasicBlock, structured
from mmsim.ir.structured import Label as BlockName

HELD = {"pred": "bool", "8": "int16", "16": "int16", "32": "int32", "64": "int64"}
"""The type in which a register is held, by its bits; that of floats is f32 or f64."""
WITHOUT_EFFECT = frozenset(
    (
        *("membar", "fence", "prefetch", "prefetchu", "discard", "applypriority", "pmevent"),
        *("nanosleep", "griddepcontrol"),
    )
)
STOPS: Mapping[tuple[str, ...], str] = {
    (): "RuntimeError: the kernel stops with a trap",
    ("assertion",): "AssertionError: an assertion of the kernel fails",
    ("free",): "RuntimeError: free() gets an address that malloc() did not give",
    ("freed",): "RuntimeError: free() gets memory that was freed before, in line {}",
    ("call",): "RuntimeError: the kernel calls a function at an address that is that of none",
}
"""The error of each instruction that stops a kernel, by its suffixes."""
CARRY = "carry_of_additions"
"""The register of the carry, which no instruction names."""
KNOWN = "use numbers of 8, 16, 32 or 64 bits, or vectors of them"
TOGETHER: Mapping[str, warp.Statements] = {**warp.STATEMENTS, "mma": multiplied}
"""The instructions that threads carry out together, by their names."""
NOWHERE = "ValueError: the address {} lies in no array"
"""The error of an access to a place where no array is."""


Access = Callable[[Instruction, Array, Sum, Place], Iterator[ir.Stmt]]
"""The statements of an access of an array at an address."""


class Slots(Protocol):
    """The arguments, by the parameter and the offset in it."""

    @property
    def is_raw(self) -> bool:
        """Return whether nothing says which arguments are pointers."""

    def names(self) -> Collection[str]:
        """The names of the arguments."""

    def array(self, parameter: str, at: int) -> Array | None:
        """The array that a pointer leads to; None if none is there."""

    def offset(self, parameter: str, at: int) -> ir.Expr:
        """The bytes from the first one of this array to where the pointer leads."""

    def factor(self, parameter: str, at: int) -> int:
        """A power of two that divides these bytes; 0 if they are 0."""

    def number(self, parameter: str, at: int, type_: str) -> ir.Expr | None:
        """The number that is there; None without one of this type."""

    def address(self, array: Array) -> ir.Expr:
        """The address of an array, by which several launches know it."""


class Lowering:
    """Lowers one kernel, which begins at `where`.

    `parameters` gives the arrays and the numbers of its arguments.

    `arrays` are the arrays by name; `variables` gives the array of each variable of the module.
    The launch gives the addresses of arrays if they may be in memory before or after it. Else any
    numbers will do, and the text has them.
    """

    def __init__(
        self,
        flat: Flat,
        arrays: Mapping[str, Array],
        variables: Mapping[str, str],
        parameters: Slots,
        places: Places,
        where: Where,
    ) -> None:
        self.flat = flat
        self.arrays = arrays
        self.variables = variables
        self.parameters = parameters
        self.places = places
        self.instructions = [one for one in flat.body if isinstance(one, Instruction)]
        passing = [one.name for one in arrays.values() if one.is_passing]
        self.pointers = Pointers(self.instructions, variables, self._seed, self._factor, passing)
        self.reach = Reach(self.instructions, arrays, self.pointers, parameters.is_raw)
        self.temporaries = 0
        self.place = places.of(where)
        self.taken = {*arrays, *parameters.names(), CARRY}
        self.names = {name: self._free(re.sub(r"\W", "", name)) for name in flat.registers}
        self._find_definitions()
        self.addresses = Addresses(self.defined, self.pointers, self.names)
        self.accesses = Accesses(self, self.addresses)
        for one in self.instructions:
            if is_access(one):
                if one.name[-1].lstrip("bsuf") not in BYTES:
                    place = places.of(one.where)
                    raise refused(one, "accesses memory by an unknown type", place, KNOWN)
                address = address_in(one)
                alone = address.base is not None and self.pointers.kind(address.base)
                is_known = alone and alone.is_offset and not self.addresses.sum_of(address).terms
                for array in self.reach.candidates(one):
                    array.uses.add(use_of(one))
                    array.is_indexed |= array.space == "local" and not (is_known or array.is_held)
        for array in arrays.values():
            array.settle()

    def _seed(self, one: Instruction) -> Kind | None:
        if one.name[:2] != ("ld", "param"):
            return None
        found = self.parameters.array(*_place_of(one))
        return NUMBER if found is None else offset_in(found.name)

    def _factor(self, one: Instruction) -> int:
        """A power of two that divides the offset that a load of a parameter gives."""
        return self.parameters.factor(*_place_of(one))

    def _find_definitions(self) -> None:
        """Note the only instruction that sets a register, if there is only one."""
        found: dict[str, list[Instruction]] = {}
        for one in self.instructions:
            for name in results_and_sources(one)[0]:
                found.setdefault(name, []).append(one)
        self.defined = {name: ones[0] for name, ones in found.items() if len(ones) == 1}

    # Control flow

    def body(self) -> ir.Block:
        """The statements of the kernel."""
        blocks: dict[BlockName, BasicBlock] = {}
        name: BlockName = "entry"
        place = self.place
        statements: list[ir.Stmt] = [
            ir.Assign(self.name_of(one), cast(self.held(one), ir.Const(0), place), place)
            for one in unassigned(self.flat.body, self.flat.tables)
            if one in self.flat.registers
        ]
        extra = 0

        def end(targets: tuple[BlockName, ...], test: ir.Expr | None = None) -> None:
            nonlocal statements
            blocks[name] = BasicBlock(tuple(statements), targets, place, test)
            statements = []

        def fresh() -> BlockName:
            nonlocal extra
            extra += 1
            return f"next_{extra}"

        for one in self.flat.body:
            if isinstance(one, Label):
                end((one.name,))
                name = one.name
                continue
            place = self.place = self.places.of(one.where)
            kind = one.name[0]
            if kind in ("bra", "ret", "exit", "trap", "brx"):
                after = fresh()
                targets = self._jump(one, statements, blocks, fresh, place)
                if one.guard is None:
                    end(targets)
                elif len(targets) == 1:
                    end((*targets, after), self.guard(one.guard, place))
                else:
                    inner = fresh()
                    end((inner, after), self.guard(one.guard, place))
                    blocks[inner] = BasicBlock((), targets, place)
                name = after
                continue
            new = tuple(self.statements(one, place))
            if one.guard is not None and new:
                new = (ir.If(self.guard(one.guard, place), new, (), place),)
            statements += new
        end(())
        try:
            return structured(blocks, "entry", ends=ir.Return)
        except LanguageError:  # a loop has several entries
            return structured(reducible(blocks, "entry"), "entry", ends=ir.Return)

    def _jump(
        self,
        one: Instruction,
        statements: list[ir.Stmt],
        blocks: dict[BlockName, BasicBlock],
        fresh: object,
        place: Place,
    ) -> tuple[BlockName, ...]:
        """The targets of a jump."""
        kind = one.name[0]
        if kind == "bra":
            (target,) = one.operands
            assert isinstance(target, Symbol)
            return (target.name,)
        if kind == "brx":
            index, table = one.operands
            assert isinstance(table, Symbol)
            labels = self.flat.tables[table.name]
            value = self.operand(index, "u32", place)
            name: BlockName = f"case_{len(blocks)}_{table.name}"
            first = name
            for number, label in enumerate(labels[:-1]):
                test = ir.Compare("==", value, ir.Const(number), place)
                rest: BlockName = f"{first}_{number}"
                last = number == len(labels) - 2
                blocks[name] = BasicBlock((), (label, labels[-1] if last else rest), place, test)
                name = rest
            return (first if len(labels) > 1 else labels[0],)
        if kind == "trap":
            name = f"trap_{len(blocks)}"
            given = [self.operand(part, "u64", place) for part in one.operands]
            stop = ir.Return(place, STOPS[one.name[1:]], *given)
            blocks[name] = BasicBlock((stop,), (), place)
            return (name,)
        return ()

    def name_of(self, register: str) -> str:
        """The variable of a register."""
        return self._own(register, self.names)

    def guard(self, guard: Register, place: Place) -> ir.Expr:
        """The test of a guard."""
        test = ir.Var(self.name_of(guard.name), place)
        return ir.Unary("not", test, place) if guard.negated else test

    # Instructions

    def statements(self, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
        """The statements of an instruction without its guard."""
        kind = one.name[0]
        if one.name[:2] == ("ld", "param"):
            yield from self.parameter(one, place)
        elif kind in ("ld", "ldu"):
            yield from self.over_arrays(one, place, self.accesses.load)
        elif kind == "st":
            yield from self.over_arrays(one, place, self.accesses.store)
        elif kind in ("atom", "red"):
            yield from self.over_arrays(one, place, self.accesses.atomic)
        elif kind in TOGETHER:
            yield from TOGETHER[kind](self, one, place)
        elif kind in ("mov", "cvt") and warp.reads_clock(one):
            yield from warp.time(self, one, place)
        elif kind == "isspacep":
            yield from self.is_in_space(one, place)
        elif kind == "cvta":
            yield self.converted(one, place)
        elif kind == "print":
            yield self.printing(one, place)
        elif kind not in WITHOUT_EFFECT:
            yield from self.computation(one, place)

    def assign(self, target: Operand, value: ir.Expr, place: Place) -> Iterator[ir.Stmt]:
        """Set a register, unless the result is dropped."""
        assert isinstance(target, Register)
        if target.name != "_":
            yield ir.Assign(self.name_of(target.name), value, place)

    def type_of(self, register: str) -> str:
        """The type of a register."""
        return "pred" if register == CARRY else self._own(register, self.flat.registers)

    def _own(self, register: str, known: Mapping[str, str]) -> str:
        """An entry for a register of the kernel; a `LanguageError` for any other register."""
        if register not in known:
            raise LanguageError(
                f"the register {register} has no meaning in the model",
                self.place,
                "leave it out",
            )
        return known[register]

    def held(self, register: str) -> str:
        """The name of the type in which a register is held."""
        type_ = self.type_of(register)
        if type_ in ("f32", "f64"):
            return f"float{type_[1:]}"
        return HELD[type_ if type_ == "pred" else type_.lstrip("bsuf")]

    def operand(self, operand: Operand, type_: str, place: Place, offset: bool = False) -> ir.Expr:
        """The value of an operand; with `offset`, of one that points its offset."""
        if isinstance(operand, Immediate):
            return number_of(operand)
        if isinstance(operand, Symbol):
            if operand.name not in self.variables:
                raise LanguageError(
                    f"the address of {operand.name!r} is used as a number",
                    place,
                    "only addresses of variables have one",
                )
            array = self.arrays[self.variables[operand.name]]
            if offset or self._is_const(array):
                return ir.Const(operand.offset + (0 if offset else array.base))
            return ir.Binary("+", self.address_of(array), ir.Const(operand.offset), place)
        assert isinstance(operand, Register), operand
        if special := warp.SPECIAL.get(operand.name):
            return special(place)
        own: ir.Expr = ir.Var(self.name_of(operand.name), place)
        kind = self.pointers.kinds.get(operand.name, NUMBER)
        if kind.is_offset and not offset:
            base = self.address_of(self.arrays[kind.array])
            own = cast(self.held(operand.name), ir.Binary("+", own, base, place), place)
        return ir.Unary("not", own, place) if operand.negated else own

    def constant(self, operand: Operand) -> int | None:
        """The value of a whole number in the text, or of a register that only holds one."""
        if isinstance(operand, Immediate):
            return int(operand.value)
        one = self.defined.get(operand.name) if isinstance(operand, Register) else None
        if one is None or one.name[0] != "mov" or len(one.operands) != 2:
            return None
        return self.constant(one.operands[1])

    def register_type(self, operand: Operand, otherwise: str) -> str:
        """The type of an operand."""
        if isinstance(operand, Register):
            if operand.name in warp.SPECIAL:
                return "b64" if "64" in operand.name else "b32"
            return self.type_of(operand.name)
        if isinstance(operand, Symbol):
            return otherwise
        return otherwise

    def computation(self, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
        """An instruction of the table of instructions."""
        targets, sources = operands_of(one)
        type_ = one.name[-1]
        results = [part for part in targets if isinstance(part, Register)]
        named = [part.name for part in results if part.name != "_"]
        kinds = {self.pointers.kinds.get(name, NUMBER) for name in named}
        is_offset = one.name[0] in AFFINE and len(kinds) == 1 and next(iter(kinds)).is_offset
        given = [
            (self.operand(part, type_, place, is_offset), self.register_type(part, type_))
            for part in sources
        ]
        if one.name[0] in ("addc", "subc", "madc"):
            given.append((ir.Var(CARRY, place), "pred"))
        held = [self.type_of(part.name) if part.name != "_" else type_ for part in results]
        more = "cc" in one.name
        values = computed(one, given, [*held, "pred"] if more else held, place)
        if is_offset and one.name[0] == "cvt":  # an offset may be negative
            (own,) = given
            values = (cast(self.held(named[0]), own[0], place),)
        pairs: list[tuple[str, ir.Expr]] = [
            (self.name_of(part.name), value)
            for part, value in zip(results, values, strict=False)
            if part.name != "_"
        ]
        if more:
            pairs.append((CARRY, values[-1]))
        if len(pairs) == 1:
            (pair,) = pairs
            yield ir.Assign(*pair, place)
            return
        fresh = [self.temporary() for _ in pairs]
        for temporary, (_, value) in zip(fresh, pairs, strict=True):
            yield ir.Assign(temporary, value, place)  # all sources are read before a result is set
        for temporary, (name, _) in zip(fresh, pairs, strict=True):
            yield ir.Assign(name, ir.Var(temporary, place), place)

    def printing(self, one: Instruction, place: Place) -> ir.Stmt:
        """A part of a text that the kernel writes, with its value."""
        _, type_, text, end = one.name
        value: ir.Expr = ir.Const(0)
        for register in one.operands:
            assert isinstance(register, Register)
            value = cast(type_, ir.Var(self.name_of(register.name), place), place)
        return ir.Assign(self.temporary(), value, place, text=(text, bool(end)))

    def converted(self, one: Instruction, place: Place) -> ir.Stmt:
        """An address of one space as one of another: the same number."""
        target, source = one.operands
        assert isinstance(target, Register)
        type_ = one.name[-1]
        kind = self.pointers.kinds.get(target.name, NUMBER)
        value = self.operand(source, type_, place, kind.is_offset)
        return ir.Assign(
            self.name_of(target.name), cast(self.held(target.name), value, place), place
        )

    def is_in_space(self, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
        """isspacep: whether an address lies in a space."""
        target, source = one.operands
        space = one.name[1].partition("::")[0]
        kind = self.pointers.kind(source) or NUMBER
        spaces = {self.arrays[name].space for name in kind.arrays}
        if len(spaces) > 1:
            raise refused(one, "asks for the space of an address that may be in several", place)
        yield from self.assign(target, ir.Const(space in spaces), place)

    def parameter(self, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
        """A load of parameters of the kernel."""
        targets, address = unpacked(one.operands[0]), address_in(one)
        assert isinstance(address.base, Symbol)
        use = use_of(one)
        for number, target in enumerate(targets):
            assert isinstance(target, Register)
            at = address.base.offset + address.offset + number * use.size
            value: ir.Expr | None = self.parameters.offset(address.base.name, at)
            array = self.parameters.array(address.base.name, at)
            if array is None:
                value = self.parameters.number(address.base.name, at, use.type)
            if value is None:
                raise refused(one, "reads a part of a parameter that no argument gives", place)
            if array is not None and not self.pointers.kinds.get(target.name, NUMBER).is_offset:
                value = ir.Binary("+", value, self.address_of(array), place)
            held = self.held(target.name)
            yield from self.assign(target, cast(held, value, place), place)

    def temporary(self) -> str:
        """The name of a new variable."""
        self.temporaries += 1
        return self._free(f"t_{self.temporaries}")

    def _free(self, name: str) -> str:
        """A name for a variable that nothing has yet."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    # Memory

    def _is_const(self, array: Array) -> bool:
        """Return whether the text has the address of an array."""
        return self.parameters.is_raw or not self.reach.is_lasting or array.is_passing

    def address_of(self, array: Array) -> ir.Expr:
        """The address of an array."""
        return ir.Const(array.base) if self._is_const(array) else self.parameters.address(array)

    def over_arrays(self, one: Instruction, place: Place, access: Access) -> Iterator[ir.Stmt]:
        """An access to one of several arrays: where its address lies decides."""

        def of(array: Array, address: Sum) -> Iterator[ir.Stmt]:
            for found in access(one, array, address, place):
                if isinstance(found, ir.Load | ir.Store | ir.VectorLoad | ir.VectorStore):
                    found = replace(found, heap=purpose(one))
                yield found

        arrays = self.reach.candidates(one)
        address = address_in(one)
        base = address.base
        if isinstance(base, Register) and self.type_of(base.name) in ("pred", "f32", "f64"):
            raise refused(
                one,
                f"has its address in {base.name!r}, a register of type {self.type_of(base.name)}",
                place,
                "give it in a register of integers",
            )
        if not arrays and not self.parameters.is_raw:
            raise refused(
                one,
                "has an address that comes from no argument and from no variable",
                place,
                "give the array as an argument",
            )
        kind = self.reach.kind(one)
        if kind.is_offset:
            yield from of(arrays[0], self.addresses.sum_of(address))
            return
        arrays = [array for array in arrays if array.size]
        if not arrays:
            yield ir.Return(place, "ValueError: the address of an access lies in no array")
            for name in results_and_sources(one)[0]:  # later instructions read it
                zero = cast(self.held(name), ir.Const(0), place)
                yield ir.Assign(self.name_of(name), zero, place)
            return
        assert isinstance(base, Register)
        number = self.operand(base, "b64", place)
        if address.offset:
            number = ir.Binary("+", number, ir.Const(address.offset), place)
        is_exact = self.parameters.is_raw or self.reach.is_anywhere(kind)
        chosen: ir.Block = ()
        if is_exact or kind.is_loaded or self.reach.is_lasting:
            chosen = (ir.Return(place, NOWHERE, number),)
        for array in arrays:
            offset = self.temporary()
            own = cast("int64", ir.Binary("-", number, self.address_of(array), place), place)
            block: ir.Block = (*of(array, Sum(0, {offset: 1})),)
            if chosen:
                margin, within = 0 if is_exact else array.margin, ir.Var(offset, place)
                test = ir.Logic(
                    "and",
                    ir.Compare(">=", within, ir.Const(-margin), place),
                    ir.Compare("<", within, ir.Const(array.size + margin), place),
                )
                block = (ir.If(test, block, chosen, place),)
            chosen = (ir.Assign(offset, own, place), *block)
        yield from chosen

    def is_read(self, register: str) -> bool:
        """Return whether an instruction reads a register."""
        if not hasattr(self, "_reads"):
            self._reads = {name for one in self.instructions for name in registers_read(one)}
        return register in self._reads


def registers_read(one: Instruction) -> Iterator[str]:
    """The registers that an instruction reads."""
    _, sources = results_and_sources(one)
    if one.guard is not None:
        yield one.guard.name
    for source in sources:
        base = source.base if isinstance(source, Address) else source
        if isinstance(base, Register):
            yield base.name


def operands_of(one: Instruction) -> tuple[list[Operand], list[Operand]]:
    """The results and the operands of an instruction of numbers, one by one."""
    if not one.operands:
        return [], []
    first, *rest = one.operands
    targets = list(parts(first))
    return targets, [part for operand in rest for part in parts(operand)]


def number_of(operand: Immediate) -> ir.Expr:
    """A number in the text; an unsigned one as the signed one of the same bits."""
    value = operand.value
    if isinstance(value, int) and value >= 1 << 63:
        value -= 1 << 64
    return ir.Const(value)


def _place_of(one: Instruction) -> tuple[str, int]:
    """The parameter that an instruction loads, and the offset in it."""
    address = address_in(one)
    assert isinstance(address.base, Symbol)
    return address.base.name, address.base.offset + address.offset
