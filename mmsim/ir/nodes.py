"""The intermediate representation: the form of a program for everything that runs it.

Parsing gives a tree of statements over *pure* expressions. Only `Access` statements touch memory,
in Python's order of evaluation. So every memory access, barrier, exchange and branch of a program
is a separate statement, and an expression never touches the memory. Calls to other functions of the
language are inlined; a `Scope` is the rest of one.

Names: every variable and array of a program has one unique name (a helper's get a number). Types
are not here: they depend on the arguments of a launch (see `types`).

`walk` derives the parts of a node from the annotations of its fields. Every `match` over nodes
names all of them and ends in `assert_never`. So mypy finds every reader that must know all nodes
and has no case for a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Never

from mmsim.errors import Place

AXES = ("x", "y", "z")
INDICES = tuple(f"{name}.{axis}" for name in ("threadIdx", "blockIdx") for axis in AXES)
"""The fields of T for a thread's place, by CUDA's names; `shapes` defines them."""
EXTENTS = tuple(f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in AXES)
"""The fields of T for the launch's shape, by CUDA's names."""
NUMBERS = ("id", "index", "block", "lane", "warp", "count", "block_size", "blocks")
"""The fields of T by the papers' names."""
THREAD_FIELDS = (*NUMBERS, *INDICES, *EXTENTS)
VECTORS = (2, 4, 8, 16)
"""The possible numbers of elements of a vector."""
Use = Literal["array", "number", "unused"]
UNIFORM_FIELDS = ("count", "block_size", "blocks", *EXTENTS)
AtomicOp = Literal[
    "add",
    "sub",
    "max",
    "min",
    "and",
    "or",
    "xor",
    "exch",
    "cas",
    "inc",
    "dec",
    "real",
    "imag",
    "greater",
    "less",
    "nanmax",
    "nanmin",
    "signed_max",
    "signed_min",
    "float_add",
    "part_add",
    "part_max",
    "part_min",
    "part_and",
    "part_or",
    "part_xor",
    "part_exch",
    "part_cas",
    "part_inc",
    "part_dec",
    "part_signed_max",
    "part_signed_min",
    "part_float_add",
]
BarrierScope = Literal["block", "grid"]
BarrierOp = Literal["or", "and", "count"]
ExchangeOp = Literal[
    "shuffle",
    "shuffle_up",
    "shuffle_down",
    "shuffle_xor",
    "ballot",
    "any",
    "all",
    "match_any",
    "match_all",
    "active_mask",
    "sync",
]
Strength = Literal["", "warps", "threads"]
HeapUse = Literal["", "allocates", "frees", "other"]
UNNUMBERED = -1
Scalar = int | float | complex | bool
"""A number of Python's."""
Target = str
"""The name of a variable, in a field of the statement that sets it."""


def assert_never(node: Never, reader: str) -> Never:
    """As `typing.assert_never`: refuse a node for which `reader` has no case, by name."""
    raise NotImplementedError(f"{reader} has no case for the node {type(node).__name__}")


@dataclass(frozen=True, slots=True)
class Const:
    """A number written in the program or captured from outside."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Var:
    """A thread's own variable."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that holds a number."""

    name: str


@dataclass(frozen=True, slots=True)
class ThreadField:
    """T.id, T.threadIdx.x and the others of `THREAD_FIELDS`, without the `T.`."""

    field: str


@dataclass(frozen=True, slots=True)
class Extent:
    """a.shape[axis]; the number of elements if `axis` is None, that of axes if it is "ndim".

    `rank` is the number of dimensions that the program assumes, None if it assumes none.
    """

    array: str
    axis: int | Literal["ndim"] | None
    rank: int | None
    place: Place


class Operation:
    """An expression with a value that depends on all its operands: `op` is its row in a table."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unary(Operation):
    """-x, +x, ~x, not x, abs(x), the casts int(x), float(x), complex(x), bool(x), and NumPy's.

    A cast to one of NumPy's types has the type's name for its `op`, as "float32".
    """

    op: str
    operand: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class Binary(Operation):
    """x op y: + - * / // % ** & | ^ << >> min max."""

    op: str
    left: Expr
    right: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class Compare(Operation):
    """x op y: == != < <= > >=."""

    op: str
    left: Expr
    right: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class Logic:
    """x and y, x or y: the value of an operand; y only for the lanes that need it."""

    op: Literal["and", "or"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Choose:
    """then if test else other, each side only for its own lanes."""

    test: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class Call(Operation):
    """A mathematical function or a count of bits, `op`, of its operands: see `functions`."""

    op: str
    operands: tuple[Expr, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class RegisterRead:
    """r[i] of an `mm.registers` array: local to the thread, free."""

    array: str
    index: tuple[Expr, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Lookup:
    """table[index] of a captured constant table: local to the thread, free.

    `values` are its numbers in row-major order; a negative index counts from the end, as Python's.
    """

    table: str
    values: tuple[Scalar, ...]
    shape: tuple[int, ...]
    index: tuple[Expr, ...]
    place: Place


Expr = (
    Const
    | Var
    | Number
    | ThreadField
    | Extent
    | Unary
    | Binary
    | Compare
    | Logic
    | Choose
    | Call
    | RegisterRead
    | Lookup
)
Operating = Unary | Binary | Compare | Call
"""The kinds of `Operation`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A statement: `number` is its number in the program, in the order of the text.

    It distinguishes statements that are equal otherwise. `walk.numbered` gives the numbers.
    """

    number: int = field(default=UNNUMBERED, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAccess(Numbered):
    """A statement that accesses memory: `site` is its number among these, in text order.

    A `strong` load or store (a term of PTX's memory model) is one by which threads, or only those
    of different warps, wait for each other, as one of an atomic variable: it doesn't race with
    others, and orders what comes before the store and after the load. `heap` is the purpose of an
    access by malloc or free, which only PTX has: to write the size in front of an allocation, to
    write that it is freed, or another one.
    """

    site: int = field(default=UNNUMBERED, compare=False, repr=False)
    strong: Strength = field(default="", repr=False)
    heap: HeapUse = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Assign(Numbered):
    """target = value.

    If there is a `text`, a thread writes it with the value in the place of its one conversion, as
    Python's operator % does; True says that what the thread writes at once ends there.
    """

    target: Target
    value: Expr
    place: Place
    text: tuple[str, bool] | None = field(default=None, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Load(MemoryAccess):
    """target = array[index]: one memory access; the value is dropped if `target` is None."""

    target: Target | None
    array: str
    index: tuple[Expr, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Store(MemoryAccess):
    """array[index] = value: one memory access."""

    array: str
    index: tuple[Expr, ...]
    value: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class VectorLoad(MemoryAccess):
    """targets = mm.vector(array, n)[index]: one access to n adjacent elements, n = len(targets).

    The last number of the index counts vectors: element k of the vector is n * last + k. With
    `matrix` each lane reads a row of a matrix (ldmatrix), which some rules serve otherwise.
    """

    targets: tuple[Target, ...]
    array: str
    index: tuple[Expr, ...]
    place: Place
    matrix: bool = field(default=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class VectorStore(MemoryAccess):
    """mm.vector(array, n)[index] = values: one access to n adjacent elements, n = len(values)."""

    array: str
    index: tuple[Expr, ...]
    values: tuple[Expr, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Atomic(MemoryAccess):
    """target = mm.atomic.op(array, index, value): one access that reads and writes a word.

    `compare` is the word for "cas" to compare with, None for the others. The old value is dropped
    if `target` is None. `mmsim.ir.atomics` defines the new word for each `op`. With `part`, it
    belongs to a store of a part of the word, which may be uninitialized. An op that begins with
    "part_" is one of 4 of the 8 bytes of a word: `compare` has in its upper half the number of bits
    below these, and in its lower half what they are compared with.
    """

    target: Target | None
    op: AtomicOp
    array: str
    index: tuple[Expr, ...]
    compare: Expr | None
    value: Expr
    place: Place
    part: bool = field(default=False, repr=False, kw_only=True)

    @property
    def operands(self) -> tuple[Expr, ...]:
        """Its operands, in the order of the text."""
        return (self.value,) if self.compare is None else (self.compare, self.value)


@dataclass(frozen=True, slots=True)
class RegisterWrite(Numbered):
    """r[i] = value of an `mm.registers` array."""

    array: str
    index: tuple[Expr, ...]
    value: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class If(Numbered):
    """The lanes where `test` is true run `then`, after them the others run `orelse`."""

    test: Expr
    then: Block
    orelse: Block
    place: Place


@dataclass(frozen=True, slots=True)
class While(Numbered):
    """Until its last lane has left: `prelude` (the test's accesses), `test`, `body`."""

    prelude: Block
    test: Expr
    body: Block
    place: Place


@dataclass(frozen=True, slots=True)
class For(Numbered):
    """for target in range(start, stop, step), every lane with its own bounds."""

    target: Target
    start: Expr
    stop: Expr
    step: Expr
    body: Block
    place: Place


@dataclass(frozen=True, slots=True)
class Break(Numbered):
    """Leave the innermost loop."""

    place: Place


@dataclass(frozen=True, slots=True)
class Continue(Numbered):
    """Go on with the innermost loop's next iteration."""

    place: Place


@dataclass(frozen=True, slots=True)
class Return(Numbered):
    """The thread ends. With a `message`, which begins with an exception's name, it raises that.

    The `value` stands for {} in the message.
    """

    place: Place
    message: str | None = None
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Forget(Numbered):
    """An inlined call starts afresh: its variables are unassigned again, its registers hold 0."""

    names: tuple[str, ...]
    registers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope(Numbered):
    """The body of an inlined call; `Leave` with the same name jumps to its end."""

    name: str
    body: Block


@dataclass(frozen=True, slots=True)
class Leave(Numbered):
    """Return from an inlined call."""

    scope: str
    place: Place


@dataclass(frozen=True, slots=True)
class Barrier(Numbered):
    """T.barrier(), T.grid_barrier(), or target = T.barrier_or(test) and its siblings.

    All unfinished warps of the block, or of the grid, wait for each other. With an `op`, the target
    is the result of the tests of the block's threads; it is dropped if the target is None.
    """

    place: Place
    scope: BarrierScope = "block"
    target: Target | None = None
    op: BarrierOp | None = None
    test: Expr | None = None


@dataclass(frozen=True, slots=True)
class Exchange(Numbered):
    """target = op(operands) among the active lanes of each warp: local, free.

    The shuffles take a value and a lane, a distance or a mask of bits; ballot, any and all a test;
    match_any and match_all a value; active_mask and sync nothing. The value is dropped if
    `target` is None. A sync has no value. A clock, which takes nothing, is the time at which the
    warp is, a later one at each reading; only PTX has it.
    """

    target: Target | None
    op: ExchangeOp | Literal["clock"]
    operands: tuple[Expr, ...]
    place: Place


Access = Load | Store | VectorLoad | VectorStore | Atomic
"""The statements that access memory."""
Setting = Assign | Load | VectorLoad | Atomic | For | Exchange | Barrier
"""The statements that set variables."""
Jump = Break | Continue | Return
Inlined = Forget | Scope | Leave
Stmt = Assign | Access | RegisterWrite | If | While | For | Jump | Inlined | Barrier | Exchange
Block = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class LocalArray:
    """An array made by the program: `mm.shared` (one a block) or `mm.registers` (one a thread).

    A "local" one, which only PTX has, is one for all threads of a block, in global memory.

    `shape` consists of launch constants. `dtype` is a NumPy dtype name, or the name of the
    parameter with the dtype ("dtype of a" is `("a",)`), or None if the stored values decide it.
    """

    name: str
    kind: Literal["shared", "registers", "local"]
    shape: tuple[Expr, ...]
    dtype: str | tuple[str] | None
    place: Place


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter after T: whether the program uses it as an array, as a number, or not at all.

    `type` is that of the argument's numbers, if the program takes their words as other numbers, and
    `shape` is the argument's, if the program takes its elements in a row.
    """

    name: str
    use: Use
    default: Scalar | None
    place: Place
    type: Any = field(default=None, compare=False)  # of an argument, not of the program
    shape: tuple[int, ...] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that a function of the program assigns: `text` there, unique as `name`.

    A function that is called at several places has variables for each of them.
    """

    name: str
    text: str
    function: str


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a function: `lines[0]` stands in `file` at line `first`."""

    function: str
    file: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A parsed program. `arithmetic` names the language whose types its numbers have."""

    name: str
    parameters: tuple[Parameter, ...]
    locals: tuple[LocalArray, ...]
    variables: tuple[Variable, ...]
    body: Block
    sources: tuple[Source, ...]
    arithmetic: Literal["python", "numba", "ptx"] = "python"
