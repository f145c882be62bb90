"""A kernel with the bodies of the functions that it calls in place of the calls.

Each call has registers, labels and variables of its own. Parameters become registers: PTX stores
arguments in variables of the space `param`, from which the function loads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from warnings import warn_explicit

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.expansions import expanded, is_expanded
from mmsim.frontend.ptx.grids import with_grid_barriers
from mmsim.frontend.ptx.heap import called, is_of_heap
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.missing import missing, missing_word, refuse_cluster
from mmsim.frontend.ptx.module import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Operand,
    Pair,
    Register,
    Symbol,
    Variable,
    Vector,
    Where,
)
from mmsim.frontend.ptx.parameters import with_named_parameters
from mmsim.frontend.ptx.pointers import parts
from mmsim.frontend.ptx.printing import format_of, parts_of, places

STOPS = ("__assertfail",)
"""Functions of the device that end the kernel with an error."""
PRINTS = "vprintf"
"""The function of the device that writes a text."""
CODE = 1 << 59
"""The number that stands for the address of the first function."""
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass
class Flat:
    """Instructions without calls, the types of their registers, variables, and tables of labels."""

    body: list[Instruction | Label] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def symbols(self) -> set[str]:
        """The names in the instructions: only variables among them can be accessed."""
        operands = [
            part for one in self.body if isinstance(one, Instruction) for part in one.operands
        ]
        inner = [part for one in operands for part in parts(one)]
        bases = [one.base if isinstance(one, Address) else one for one in inner]
        return {one.name for one in bases if isinstance(one, Symbol)}


def flattened(module: Module, kernel: Function, place_of: Callable[[Where], Place]) -> Flat:
    """The kernel with all calls inlined. Raises `LanguageError` for what can't be inlined."""
    refuse_cluster(kernel, place_of(kernel.where))
    flat = Flat()
    body = list(_Inliner(module, flat, place_of).body(kernel, "", {}, (kernel.name,)))
    names = {one.name for one in kernel.parameters}
    flat.body = with_grid_barriers(with_named_parameters(body, names))
    return flat


def codes_of(module: Module) -> dict[str, int]:
    """The numbers that stand for the addresses of functions, of those whose address is used."""
    return {name: CODE + 16 * number for number, name in enumerate(module.used)}


def with_codes(variable: Variable, codes: Mapping[str, int]) -> Variable:
    """A variable whose first value has the numbers of functions in place of their addresses."""
    held = bytearray(variable.initial or b"")
    left = []
    for one in variable.references:
        if one.symbol.name in codes:
            number = codes[one.symbol.name].to_bytes(8, "little")
            held[one.at : one.at + one.size] = number[: one.size]
        else:
            left.append(one)
    return replace(variable, initial=bytes(held), references=tuple(left)) if held else variable


def size_of(variable: Variable) -> int:
    """The bytes of a variable."""
    return (variable.count or 0) * SIZES[variable.type.lstrip("bsuf")]


class _Inliner:
    def __init__(self, module: Module, flat: Flat, place_of: Callable[[Where], Place]) -> None:
        self.module = module
        self.flat = flat
        self.place_of = place_of
        self.calls = 0
        self.codes = codes_of(module)
        self.expansions = 0

    def body(
        self, function: Function, prefix: str, slots: Mapping[str, str], chain: tuple[str, ...]
    ) -> Iterator[Instruction | Label]:
        """The instructions of a function whose names begin with `prefix`.

        `slots` are the caller's variables for its parameters and results.
        """
        assert function.body is not None
        flat = self.flat
        flat.registers |= {prefix + name: type_ for name, type_ in function.registers.items()}
        own = {one.name: one for one in function.variables if one.space in ("shared", "local")}
        flat.variables |= {
            name if one.space == "shared" else prefix + name: one for name, one in own.items()
        }
        local = {name for name, one in own.items() if one.space == "local"}
        slots = {
            **{one.name: prefix + one.name for one in function.variables if one.space == "param"},
            **slots,
        }
        labels = {one.name for one in function.body if isinstance(one, Label)}
        flat.tables |= {
            prefix + name: tuple(prefix + label for label in table)
            for name, table in function.tables.items()
        }
        names = labels | local | function.tables.keys()

        def renamed(operand: Operand) -> Operand:
            match operand:
                case Register(name) if name in function.registers:
                    return replace(operand, name=prefix + name)
                case Symbol(name) if name in names:
                    return replace(operand, name=prefix + name)
                case Symbol(name) if name in self.codes:
                    return Immediate(self.codes[name])
                case Address(base) if base is not None:
                    new = renamed(base)
                    assert isinstance(new, Register | Symbol)
                    return replace(operand, base=new)
                case Vector(parts):
                    return Vector(tuple(map(renamed, parts)))
                case Pair(first, second):
                    return Pair(renamed(first), renamed(second))
            return operand

        end = f"{prefix}return"
        for one in function.body:
            if isinstance(one, Label):
                yield Label(prefix + one.name)
                continue
            if word := missing_word(one):
                raise missing(one, word, self.place_of(one.where))
            operands = one.operands
            if one.name[0] == "call":  # its function is a name, or a register
                operands = tuple(renamed(x) if isinstance(x, Register) else x for x in operands)
            else:
                operands = tuple(map(renamed, operands))
            new = replace(one, operands=operands)
            if one.guard is not None:
                guard = renamed(one.guard)
                assert isinstance(guard, Register)
                new = replace(new, guard=guard)
            if new.name[0] == "call":
                yield from self.call(function, new, slots, chain)
            elif new.name[:2] in (("st", "param"), ("ld", "param")):
                yield from self.moves(new, slots)
            elif new.name[0] == "ret" and prefix:
                yield replace(new, name=("bra",), operands=(Symbol(end),))
            elif is_expanded(new):
                self.expansions += 1
                place = self.place_of(new.where)
                more = flat.registers, flat.variables, self.expansions, place
                yield from expanded(new, *more)
            else:
                yield new
        if prefix:
            yield Label(end)

    def call(
        self, caller: Function, one: Instruction, slots: Mapping[str, str], chain: tuple[str, ...]
    ) -> Iterator[Instruction | Label]:
        """The body of the called function, or the end of the kernel."""
        vectors = [part for part in one.operands if isinstance(part, Vector)]
        callee = next(part for part in one.operands if not isinstance(part, Vector))
        if not isinstance(callee, Symbol):
            yield from self.chosen(caller, one, callee, slots, chain)
            return
        if callee.name == PRINTS:
            yield from self.printing(caller, one, vectors[-1], slots)
            for result in vectors[0].parts:
                assert isinstance(result, Symbol)
                slot = f"{slots.get(result.name, result.name)}_0_32"
                self.flat.registers[slot] = "b32"
                yield replace(one, name=("mov", "b32"), operands=(Register(slot), Immediate(0)))
            return
        if callee.name in STOPS:
            yield replace(one, name=("trap", "assertion"), operands=())
            return
        function = self.module.functions.get(callee.name)
        if function is None or function.body is None:
            raise self.refused(
                one,
                f"a call of {plain_name(callee.name)!r}, which this module does not define",
                "define it in the same text, or leave the call out",
            )
        if callee.name in chain:
            names = [repr(plain_name(name)) for name in chain[chain.index(callee.name) :]]
            way = f" through {' and '.join(names[1:])}" if len(names) > 1 else ""
            raise self.refused(one, f"{names[0]} calls itself{way}", "write a loop instead")
        given = vectors[-1].parts if one.operands[-1] is not callee else ()
        results = vectors[0].parts if one.operands[0] is not callee else ()
        pairs = (
            *zip(function.parameters, given, strict=False),
            *zip(function.results, results, strict=False),
        )
        self.calls += 1
        inner = {
            slot.name: slots.get(part.name, part.name)
            for slot, part in pairs
            if isinstance(part, Symbol)
        }
        prefix = f"{function.name}_{self.calls}_"
        skipped = f"{prefix}skipped"
        if one.guard is not None:
            turned = replace(one.guard, negated=not one.guard.negated)
            target = (Symbol(skipped),)
            yield replace(one, name=("bra",), operands=target, guard=turned)
        body = self.body(function, prefix, inner, (*chain, callee.name))
        if is_of_heap(function):  # its accesses are those of the call
            at, line = one.where, self.place_of(one.where).line
            body = (called(x, at, line) if isinstance(x, Instruction) else x for x in body)
        yield from body
        if one.guard is not None:
            yield Label(skipped)

    def printing(
        self, caller: Function, one: Instruction, given: Vector, slots: Mapping[str, str]
    ) -> Iterator[Instruction]:
        """The loads of the values of a text, and its writing."""
        names = [part.name for part in given.parts if isinstance(part, Symbol)]
        text = format_of(self.module, caller.body or (), one, names[0]) if names[1:] else None
        texts = None if text is None else parts_of(text)
        if texts is None:
            place = self.place_of(one.where)
            what = "has a format that is no constant text" if text is None else f"of {text!r}"
            warning = f"{place}: a printf {what} writes nothing in the model"
            warn_explicit(warning, UserWarning, place.file, place.line)
            return
        self.calls += 1
        values = Register(f"{slots.get(names[1], names[1])}_0_64")
        for part, at in zip(texts, places(texts), strict=True):
            end = "end" if part is texts[-1] else ""
            name = f"printed_{self.calls}_{at}"
            found: tuple[Register, ...] = ()
            if part.type:
                found = (Register(name),)
                self.flat.registers[name] = part.type.replace("u", "b")
                operands = (*found, Address(values, at))
                yield replace(one, name=("ld", part.type), operands=operands)
            yield replace(one, name=("print", part.held, part.text, end), operands=found)

    def chosen(
        self,
        caller: Function,
        one: Instruction,
        callee: Operand,
        slots: Mapping[str, str],
        chain: tuple[str, ...],
    ) -> Iterator[Instruction | Label]:
        """The body of the function whose address a register holds: one of those that fit."""
        self.calls += 1
        prefix = f"chosen_{self.calls}_"
        end = f"{prefix}end"
        if one.guard is not None:
            turned = replace(one.guard, negated=not one.guard.negated)
            yield replace(one, name=("bra",), operands=(Symbol(end),), guard=turned)
        plain = replace(one, guard=None)
        sizes = {x.name: size_of(x) for x in caller.variables if x.space == "param"}
        given = [
            [sizes.get(x.name) for x in part.parts if isinstance(x, Symbol)]
            for part in one.operands
            if isinstance(part, Vector)
        ]
        for name, code in self.codes.items():
            function = self.module.functions[name]
            taken = [[size_of(x) for x in each] for each in (function.results, function.parameters)]
            if function.body is None or [x for x in taken if x] != [x for x in given if x]:
                continue
            other, wrong = f"{prefix}{name}", Register(f"{prefix}{name}_other")
            self.flat.registers[wrong.name] = "pred"
            test = (wrong, callee, Immediate(code))
            yield replace(plain, name=("setp", "ne", "u64"), operands=test)
            yield replace(plain, name=("bra",), operands=(Symbol(other),), guard=wrong)
            named = tuple(Symbol(name) if x is callee else x for x in one.operands)
            yield from self.call(caller, replace(plain, operands=named), slots, chain)
            yield replace(plain, name=("bra",), operands=(Symbol(end),))
            yield Label(other)
        yield replace(plain, name=("trap", "call"), operands=())
        yield Label(end)

    def moves(self, one: Instruction, slots: Mapping[str, str]) -> Iterator[Instruction]:
        """A load or a store of parameters of a function as moves; those of the kernel stay."""
        is_store = one.name[0] == "st"
        address, value = one.operands if is_store else one.operands[::-1]
        assert isinstance(address, Address)
        base = address.base
        if not isinstance(base, Symbol) or base.name not in slots:
            yield one
            return
        bits = one.name[-1].lstrip("bsuf")
        parts = value.parts if isinstance(value, Vector) else (value,)
        for number, part in enumerate(parts):
            place = base.offset + address.offset + number * SIZES[bits]
            slot = f"{slots[base.name]}_{place}_{bits}"
            self.flat.registers[slot] = "b16" if bits == "8" else f"b{bits}"
            operands = (Register(slot), part) if is_store else (part, Register(slot))
            width = "16" if bits == "8" else bits
            yield replace(one, name=("mov", f"b{width}"), operands=operands)

    def refused(self, one: Instruction, what: str, advice: str) -> LanguageError:
        return LanguageError(what, self.place_of(one.where), advice)
