"""The time that a multiprocessor takes for each kind of operation, measured on the GPU at hand.

Every number comes from a kernel whose warps do one statement over and over, on all multiprocessors
with all the threads that they hold. Two numbers of trips are timed; the difference leaves out what
both have. `mmsim.ir.operations` has the names of the operations.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from mmsim.cuda_c.kernels import WARP
from mmsim.gpu.record import Row
from mmsim.gpu.replay import cupy, device, elapsed
from mmsim.model.card import LIMITS

RESIDENT = 2048
"""Threads of a multiprocessor."""
BLOCK = 1024
OF_A_TRIP = 16
"""The statements of a trip."""
BLOCKS, THREADS = "empty blocks", 256
"""The name of launches of blocks that do nothing, and the threads of these."""
MANY_BLOCKS = (32_768, 262_144, 1_048_576)
ATTRIBUTES = (106, 82, 81, 111)
"""The numbers that `cudaDeviceAttr` has for `LIMITS`."""
HOT, ATOMICS, LIMIT = "hot line", "atomic on one word", "limit"
"""The names of reads of one line by all warps, and of atomics on one word by all threads."""
LINES = "lines from memory"
"""The name of reads of several lines from memory at once."""
TRIPS = (64, 320)
SAMPLES = 7
TYPES = {"int32": "int", "int64": "long long", "float32": "float", "float64": "double"}
ONE_OPERAND = (
    *("sqrt", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
    *("atanh", "erf", "erfc", "tgamma", "lgamma", "floor", "ceil", "trunc", "rint"),
)
TWO_OPERANDS = ("pow", "hypot", "atan2", "fmod", "remainder", "nextafter")
OF_MMSIM = {"tgamma": "gamma"}
"""The names of C's functions in mmsim, if they differ."""


@dataclass(frozen=True)
class Measured:
    """A statement on x, y and z of a type, and how many operations it does.

    `within` says that a sum and a product that bring the operand into range are part of it.
    """

    operation: str
    type: str
    statement: str
    count: int = 1
    within: str = ""


def statements() -> Iterator[Measured]:
    """All that is measured."""
    for type_ in ("int32", "int64"):
        c = TYPES[type_]
        yield Measured("sum", type_, "x = x + y; y = y ^ x;", 2)
        yield Measured("product", type_, "x = x * y + z; z = z * y + x;", 2)
        for sign, name in (("/", "division"), ("%", "remainder of division")):
            yield Measured(name, type_, f"x = ({c}) (y {sign} (x | 1)) + z;", within="3 sum")
    for type_ in ("float32", "float64"):
        suffix = "f" if type_ == "float32" else ""
        yield Measured("sum", type_, "x = x + y; y = y + x;", 2)
        yield Measured("product", type_, "x = x * y + z; z = z * y + x;", 2)
        yield Measured("quotient", type_, "x = y / x;")
        for name in ONE_OPERAND:
            statement = f"x = {name}{suffix}(x * y + z);"
            yield Measured(OF_MMSIM.get(name, name), type_, statement, within="product")
        for name in TWO_OPERANDS:
            statement = f"x = {name}{suffix}(x * y + z, w);"
            yield Measured(name, type_, statement, within="product")
    for number in ("float32", "float64"):
        c = TYPES[number]
        for whole in ("int32", "int64"):
            statement = f"{{ {TYPES[whole]} k = ({TYPES[whole]}) x; x = ({c}) (k ^ n); }}"
            yield Measured(f"convert from and to {whole}", number, statement, 2, "sum int32")
    yield Measured(
        "convert from and to float32", "float64", "{ float k = (float) x; x = (double) k + y; }",
        2, "sum",
    )  # fmt: skip
    yield Measured("exchange", "int32", "x = __shfl_xor_sync(0xffffffffu, x, 1);")
    yield Measured("barrier", "int32", "__syncthreads();")


def source(of: Measured) -> str:
    """The kernel of a statement."""
    c = TYPES[of.type]
    body = "\n".join([f"        {of.statement}"] * OF_A_TRIP)
    return f"""extern "C" __global__ void measured({c} *a, {c} y0, {c} z0, int trips) {{
    {c} x = a[threadIdx.x], y = y0, z = z0, w = y0;
    int n = trips & 1;
    #pragma unroll 1
    for (int trip = 0; trip < trips; trip++) {{
{body}
    }}
    if (x == ({c}) 12345) a[threadIdx.x] = x + y + z + w;
}}
"""


def measured(say: Callable[[str], None] = lambda text: None) -> list[Row]:
    """A row for each statement: picoseconds of a multiprocessor for a warp's operation."""
    properties = cupy().cuda.runtime.getDeviceProperties(cupy().cuda.Device().id)
    multiprocessors = int(properties["multiProcessorCount"])
    rows: list[Row] = []
    for of in statements():
        say(f"{of.operation} {of.type}")
        few, many = (_milliseconds(of, multiprocessors, trips) for trips in TRIPS)
        done = (TRIPS[1] - TRIPS[0]) * OF_A_TRIP * of.count * RESIDENT // WARP
        about: Row = {"operation": of.operation, "type": of.type, "count": of.count}
        found: Row = {"within": of.within, "ps": round((many - few) * 1e9 / done, 3)}
        rows.append({**about, **found, "few ms": few, "many ms": many})
    return [*rows, *_empty_blocks(), _hot_line(multiprocessors), *_atomics(), _lines(), *_limits()]


def _limits() -> Iterator[Row]:
    """The driver's limits for what a multiprocessor holds at a time."""
    runtime, device = cupy().cuda.runtime, cupy().cuda.Device().id
    for name, attribute in zip(LIMITS, ATTRIBUTES, strict=True):
        number = int(runtime.deviceGetAttribute(attribute, device))
        yield {"operation": LIMIT, "type": name, "number": number}


def _hot_line(multiprocessors: int) -> Row:
    """Picoseconds of the whole GPU for a warp's read of a line that all warps read, past L1."""
    cp = cupy()
    function = cp.RawKernel(
        """extern "C" __global__ void hot(const int *a, int trips, int *b) {
    int s = 0;
    for (int t = 0; t < trips; t++) s += __ldcg(a + (t & 31));
    if (s == 12345) b[0] = s;
}
""",
        "hot",
    )
    a, b, grid = cp.ones(WARP, "int32"), cp.zeros(1, "int32"), (2 * multiprocessors,)
    few, many = TRIPS[0], TRIPS[1]
    times = []
    for trips in (few, few, many):
        launch = partial(function, grid, (BLOCK,), (a, cp.int32(trips), b))
        times.append(statistics.median(elapsed(cp, launch) for _ in range(SAMPLES)))
    reads = (many - few) * grid[0] * BLOCK // WARP
    return {"operation": HOT, "type": "int32", "ps": round((times[2] - times[1]) * 1e9 / reads, 3)}


def _atomics() -> Iterator[Row]:
    """Picoseconds of a thread's atomic on a word that all threads change, its place from data."""
    cp = cupy()
    for type_ in ("int32", "float32"):
        c = TYPES[type_]
        text = f"""extern "C" __global__ void changed({c} *a, const int *b) {{
    atomicAdd(a + b[threadIdx.x], ({c}) 1);
}}
"""
        function = cp.RawKernel(text, "changed")
        arguments = (cp.zeros(1, type_), cp.zeros(BLOCK, "int32"))
        times = []
        for blocks in (BLOCK, BLOCK, 2 * BLOCK):
            launch = partial(function, (blocks,), (BLOCK,), arguments)
            times.append(statistics.median(elapsed(cp, launch) for _ in range(SAMPLES)))
        ps = (times[2] - times[1]) * 1e9 / BLOCK**2
        yield {"operation": ATOMICS, "type": type_, "ps": round(ps, 3)}


def _lines() -> Row:
    """Picoseconds more that a warp waits for each doubling of the lines that it reads from memory.

    A launch finds another array in the cache. Each read needs the word of the one before.
    """
    cp = cupy()
    few, many = TRIPS
    text = f"""extern "C" __global__ void lines(const int *a, int trips, int lines, int *b) {{
    const int *own = a + threadIdx.x % lines * {(many + 1) * WARP};
    int x = 0;
    for (int t = 0; t < trips; t++) x = own[t * {WARP} + x];
    if (x == 12345) b[0] = x;
}}
"""
    function = cp.RawKernel(text, "lines")
    a, b = cp.zeros(WARP * (many + 1) * WARP, "int32"), cp.zeros(1, "int32")
    other = cp.zeros(3 * device().cache_bytes, "uint8")

    def read(trips: int, lines: int) -> float:
        times = []
        for sample in range(SAMPLES):
            other.fill(sample)
            launch = partial(function, (1,), (WARP,), (a, cp.int32(trips), cp.int32(lines), b))
            times.append(elapsed(cp, launch))
        return statistics.median(times)

    one, all_ = (read(many, lines) - read(few, lines) for lines in (1, WARP))
    ps = (all_ - one) * 1e9 / (many - few) / (WARP.bit_length() - 1)
    return {"operation": LINES, "type": "int32", "ps": round(ps, 3)}


def _empty_blocks() -> Iterator[Row]:
    """The times of launches of many blocks that do nothing."""
    cp = cupy()
    function = cp.RawKernel('extern "C" __global__ void empty() {}', "empty")
    for blocks in MANY_BLOCKS:
        function((blocks,), (THREADS,), ())
        launch = partial(function, (blocks,), (THREADS,), ())
        times = [elapsed(cp, launch) for _ in range(SAMPLES)]
        ms = statistics.median(times)
        yield {"operation": BLOCKS, "type": "", "threads": THREADS, "blocks": blocks, "ms": ms}


def _milliseconds(of: Measured, multiprocessors: int, trips: int) -> float:
    """The median time of a launch that fills all multiprocessors."""
    cp = cupy()
    function = cp.RawKernel(source(of), "measured")
    is_float = of.type.startswith("float")
    a = cp.full(BLOCK, 1.25 if is_float else 12, of.type)
    y, z = map(a.dtype.type, (0.25, 0.5) if is_float else (3, 5))
    grid, arguments = (multiprocessors * RESIDENT // BLOCK,), (a, y, z, cp.int32(trips))
    function(grid, (BLOCK,), arguments)
    times = (elapsed(cp, lambda: function(grid, (BLOCK,), arguments)) for _ in range(SAMPLES))
    return statistics.median(times)
