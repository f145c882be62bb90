"""A module of PTX as data: what its text says, before it means anything.

PTX is the assembly language that every CUDA compiler writes (NVIDIA, "PTX ISA 9.0"). An instruction
has a name with suffixes, operands, and a guard; a label stands between instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Where:
    """A place in the source: of the file with a number, as the directive .loc gives it.

    `function` is the name of an inlined function, `inlined_at` the place of its call. `ptx` is the
    line of the module's own text.
    """

    file: int
    line: int
    column: int
    ptx: int
    function: str = ""
    inlined_at: Where | None = None


@dataclass(frozen=True, slots=True)
class Register:
    """A register, as %r1 or %tid.x, or its negation, as !%p1."""

    name: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number: an integer, or a float of 32 or 64 `bits`."""

    value: int | float
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, parameter, function, label or table of labels; + an offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset], where base is a register, a symbol's name, or nothing.

    `parts` are what follows on it: of a tensor, a texture or a surface, its coordinates.
    """

    base: Register | Symbol | None
    offset: int = 0
    parts: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """{a, b, ...}."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """a|b: two results of one instruction; `_`, for a result that is dropped, is a Register."""

    first: Operand
    second: Operand


Operand = Register | Immediate | Symbol | Address | Vector | Pair


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: ("ld", "global", "v4", "f32"), its operands in order, and its guard.

    Of a call, `results`, then the function, then the arguments are `operands`: a Vector of results,
    a Symbol or a Register, a Vector of arguments, and perhaps the Symbol of a prototype or a table.
    """

    name: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    where: Where


@dataclass(frozen=True, slots=True)
class Label:
    """A label in front of the next instruction."""

    name: str


@dataclass(frozen=True, slots=True)
class Reference:
    """The address of a symbol as an initial value: of so many bytes at a place of the variable."""

    at: int
    size: int
    symbol: Symbol
    generic: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or a parameter: its space (param, shared, global, const, local, reg), alignment,
    type as "f32", the number of its elements, and its first bytes if it is initialized.

    `count` is None without a size: `extern .shared .b8 s[]`. `references` are the addresses among
    its initial values.
    """

    name: str
    space: str
    type: str
    align: int
    count: int | None = 1
    initial: bytes | None = None
    references: tuple[Reference, ...] = ()
    is_array: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel (`is_entry`) or a function; `body` is None if it is only declared.

    `registers` gives the type of each register, as "b32"; of a range, of those that are used. What
    the second inner scope declares has a name as `%r1@2`. `variables` are its shared, local and
    param variables. `tables` are its lists of labels. `limits` are directives as
    {"maxntid": (256, 1, 1)}.
    """

    name: str
    is_entry: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    body: tuple[Instruction | Label, ...] | None
    registers: Mapping[str, str]
    variables: tuple[Variable, ...]
    tables: Mapping[str, tuple[str, ...]]
    limits: Mapping[str, tuple[int, ...]]
    where: Where


@dataclass(frozen=True, slots=True)
class Module:
    """A module: its version as "9.0", its target as "sm_90", functions and variables by name.

    `files` are the names of source files by number. `used` are the functions, but no kernels, whose
    address an instruction or a variable uses.
    """

    version: str
    target: str
    functions: Mapping[str, Function]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    files: Mapping[int, str] = field(default_factory=dict)
    used: tuple[str, ...] = ()
