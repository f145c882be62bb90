"""Launches that call the Python function of a kernel, so that print prints and a debugger stops.

`MMSIM_PYTHON=1` in the environment asks for them. The threads of a launch take turns in their
order, block after block: each runs until it waits for others, or ends. A thread here is one of the
operating system, as it has to keep its place in the function while it waits.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numba.np.numpy_support import as_dtype

from mmsim.cuda.types import as_type
from mmsim.errors import MMSimError, thread_named
from mmsim.ir.atomics import LEAVES, OTHERS
from mmsim.ir.functions import FUNCTIONS
from mmsim.meaning.exchange import InactiveLane, Warps

Extents = tuple[int, int, int]
Group = list["Thread"]
VARIABLE = "MMSIM_PYTHON"
UNCHECKED = (
    f"with {VARIABLE} set, launches call the Python function and nothing is checked; unset it"
)
WARP, ALL_LANES = 32, 0xFFFFFFFF


def is_asked_for() -> bool:
    """Return whether launches call the Python function."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


class Stopped(BaseException):
    """Ends a thread of a launch in which another thread has failed."""


class Waits(NamedTuple):
    """A thread that waits: for the lanes of its warp, for its "block" or for the "grid"."""

    scope: str
    word: str
    place: tuple[int, ...]
    """The place in the code: the instruction in each function, the kernel's first."""
    lanes: int
    operands: tuple[Any, ...]
    result: Callable[[Group, Thread], Any]


class Launch:
    """One launch of a function; its arrays are NumPy's."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Iterable[Any],
        grid: Extents,
        block: Extents,
        shared_bytes: int,
    ) -> None:
        self.function = function
        self.args = tuple(map(with_fields, args))
        self.extents = {"gridDim": grid, "blockDim": block}
        self.shared_bytes = shared_bytes
        self.turn_ends = threading.Semaphore(0)
        self.is_stopped = False
        self.tracer = None if threading.gettrace() else sys.gettrace()
        """The function of a debugger, which Python sets for the launching thread alone."""

    def run(self) -> None:
        """Run all threads to their ends. Raises the first error of a thread."""
        blocks = [Block(self, index) for index in _places(self.extents["gridDim"])]
        try:
            for block in blocks:
                block.go_on()
            while waiting := [thread for block in blocks for thread in block.threads]:
                if any(_waits(thread).scope != "grid" for thread in waiting):
                    words = sorted({f"cuda.{_waits(thread).word}" for thread in waiting})
                    raise MMSimError(
                        f"the kernel {self.function.__name__!r} can't go on: its threads wait for "
                        f"each other at {', '.join(words)}"
                    )
                _release(waiting)
                for block in blocks:
                    block.go_on()
        finally:
            self.is_stopped = True
            for block in blocks:
                for thread in block.threads:
                    thread.turn.release()


class Block:
    """One block of a launch: its threads that have not ended, and its arrays."""

    def __init__(self, launch: Launch, index: Extents) -> None:
        self.launch, self.index = launch, index
        self.begun = False
        self.threads: Group = []
        self.arrays: dict[tuple[int, ...], Any] = {}
        self.dynamic = np.zeros(launch.shared_bytes, np.uint8)

    def go_on(self) -> None:
        """Run its threads until each has ended, or waits for other blocks."""
        if not self.begun:
            self.begun, places = True, _places(self.launch.extents["blockDim"])
            self.threads = [Thread(self, *one) for one in enumerate(places)]
        while True:
            for thread in self.threads:
                if thread.waits is None:
                    thread.take_turn()
            self.threads = [thread for thread in self.threads if thread.waits is not None]
            ready = self.ready()
            if not ready:
                return
            _release(ready)

    def ready(self) -> Group:
        """Some threads that need not wait any more.

        Lanes go on when all lanes of their mask are there. Else, as in a branch, those of them go
        on that are behind the others in the code.
        """
        groups: defaultdict[tuple[Any, ...], Group] = defaultdict(list)
        for thread in self.threads:
            if (waits := _waits(thread)).scope == "warp":
                groups[waits.place, waits.word, thread.warp].append(thread)
        for group in groups.values():
            lanes = _waits(group[0]).lanes
            if all(
                thread in group
                for thread in self.threads
                if thread.warp == group[0].warp and lanes >> thread.laneid & 1
            ):
                return group
        if all(_waits(thread).scope == "block" for thread in self.threads):
            return self.threads
        return groups[min(groups)] if groups else []


class Thread:
    """One thread of a launch."""

    warpsize = WARP

    def __init__(self, block: Block, number: int, index: Extents) -> None:
        self.block, self.launch = block, block.launch
        self.warp, self.laneid = divmod(number, WARP)
        self.number = number
        self.places = {"threadIdx": index, "blockIdx": block.index, **self.launch.extents}
        self.waits: Waits | None = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.turn = threading.Semaphore(0)
        self.system = threading.Thread(target=self._run, daemon=True)

    def take_turn(self) -> None:
        """Let it run until it waits or ends. Raises its error."""
        if self.system.ident is None:
            self.system.start()
        else:
            self.turn.release()
        self.launch.turn_ends.acquire()
        if self.error is not None:
            position = self.places["threadIdx"], self.places["blockIdx"]
            said = f"in {thread_named(self.number, position)} of the kernel"
            self.error.add_note(f"{said} {self.launch.function.__name__!r}")
            raise self.error

    def _run(self) -> None:
        here.thread = self
        try:
            with np.errstate(all="ignore"):
                sys.settrace(self.launch.tracer or sys.gettrace())
                self.launch.function(*self.launch.args)
        except Stopped:
            pass
        except BaseException as error:
            self.error = error
        finally:
            sys.settrace(None)
            self.launch.turn_ends.release()

    def wait(
        self,
        scope: str,
        word: str,
        result: Callable[[Group, Thread], Any],
        *operands: Any,
        lanes: int = ALL_LANES,
    ) -> Any:
        """Wait for others; return this thread's result of all their operands."""
        self.waits = Waits(scope, word, self.place(), int(lanes), operands, result)
        self.launch.turn_ends.release()
        self.turn.acquire()
        if self.launch.is_stopped:
            raise Stopped
        return self.result

    def place(self) -> tuple[int, ...]:
        """The instruction that each function on the way to here is at."""
        frame, found = sys._getframe(), []
        while frame.f_code is not Thread._run.__code__ and frame.f_back is not None:
            found.append(frame.f_lasti)
            frame = frame.f_back
        return tuple(reversed(found))

    def along(self, values: Iterable[int], ndim: int) -> Any:
        """One number, or a tuple of one for each axis."""
        found = tuple(values)[:ndim]
        if len(found) != ndim or not found:
            raise ValueError("cuda.grid and cuda.gridsize take 1, 2 or 3")
        return found[0] if ndim == 1 else found


here = threading.local()
"""Its `thread` is that of a launch that runs here."""


def current() -> Thread | None:
    """The thread of a launch that runs here; None on the host."""
    return getattr(here, "thread", None)


def _waits(thread: Thread) -> Waits:
    assert thread.waits is not None
    return thread.waits


def _places(extents: Extents) -> list[Extents]:
    """All places of a grid or a block, x first."""
    x, y, z = extents
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]


def _release(group: Group) -> None:
    """Give each thread of a group its result, and let them go on."""
    for thread in group:
        thread.result = _waits(thread).result(group, thread)
    for thread in group:
        thread.waits = None


def with_fields(value: Any) -> Any:
    """An array; the fields of a structured one, and of its elements, are also attributes."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return value.view(np.recarray)
    return value


# ------------------------------------------------------------ the words of kernels

WORDS: dict[str, Callable[..., Any]] = {}
"""The names of numba.cuda that kernels call, without those that `stubs` computes itself.

The first operand is the thread.
"""


def elements(dtype: Any) -> np.dtype[Any]:
    """NumPy's type for the elements of an array that a kernel makes."""
    return np.dtype(dtype if isinstance(dtype, type | np.dtype) else as_dtype(as_type(dtype)))


def _barrier(name: str, result: Callable[[list[bool]], Any]) -> None:
    """A barrier of the block, with a result of all tests."""

    def all_tests(group: Group, _: Thread) -> Any:
        return result([bool(one) for thread in group for one in _waits(thread).operands])

    WORDS[name] = lambda thread, *predicate: thread.wait("block", name, all_tests, *predicate)


_barrier("syncthreads", lambda _: None)
_barrier("syncthreads_count", sum)
_barrier("syncthreads_and", lambda tests: int(all(tests)))
_barrier("syncthreads_or", lambda tests: int(any(tests)))


def _exchanged(op: Any, group: Group, thread: Thread) -> Any:
    """A lane's result of an exchange, from the operands of all lanes."""
    active = np.zeros(WARP, np.bool_)
    own = [_waits(thread).operands] * WARP
    for other in group:
        active[other.laneid], own[other.laneid] = True, _waits(other).operands
    operands = map(np.array, zip(*own, strict=True))
    try:
        found = Warps(np.arange(WARP), WARP).exchange(op, active, *operands)
    except InactiveLane as asks:
        name, first = thread.launch.function.__name__, thread.number - thread.laneid
        raise MMSimError(
            f"in the kernel {name!r} thread {first + asks.position} asks lane {asks.asked} of its "
            f"warp by cuda.{_waits(thread).word}, in which that lane does not take part"
        ) from None
    return None if found is None else found[thread.laneid]


def _exchange(name: str, op: str, kind: Callable[[Any], Any] = lambda found: found) -> None:
    """A word by which the lanes of a mask exchange operands."""

    def exchange(thread: Thread, mask: int = ALL_LANES, *operands: Any) -> Any:
        def result(group: Group, one: Thread) -> Any:
            return _exchanged(op, group, one)

        return kind(thread.wait("warp", name, result, *operands, lanes=mask))

    WORDS[name] = exchange


def _of_bits(kind: type[np.integer[Any]]) -> Callable[[Any], Any]:
    """The bits of a result as an integer of 32 bits."""
    return lambda found: np.asarray(found).astype(kind)[()]


_exchange("syncwarp", "sync")
for _name in ("", "_up", "_down", "_xor"):
    _exchange(f"shfl{_name}_sync", f"shuffle{_name}")
_exchange("all_sync", "all", bool)
_exchange("any_sync", "any", bool)
_exchange("eq_sync", "match_all", bool)
_exchange("ballot_sync", "ballot", _of_bits(np.int32))
_exchange("match_any_sync", "match_any", _of_bits(np.int32))
_exchange("match_all_sync", "match_all", lambda found: (_of_bits(np.int32)(found), bool(found)))
_exchange("activemask", "active_mask", _of_bits(np.uint32))


def of_numbers(name: str, *given: Any) -> Any:
    """A function of floats, or of the bits of an integer: Python's have 32 bits, or 64."""
    held = np.result_type(*given) if any(isinstance(one, np.generic) for one in given) else None
    if FUNCTIONS[name].takes != "bits":
        held = np.dtype(np.float32 if held == np.float32 else np.float64)
    elif held is None:
        held = np.dtype(np.uint32 if -(2**31) <= given[0] < 2**32 else np.uint64)
    else:
        held = np.dtype(f"u{held.itemsize}")
    numbers = (np.asarray(one).astype(held).reshape(1) for one in given)
    return np.asarray(FUNCTIONS[name].compute(*numbers))[0]


def _atomic(op: Any) -> Callable[..., Any]:
    """An atomic: as one thread runs at a time, it is a read and a write."""

    def atomic(thread: Thread, array: Any, index: Any, *given: Any) -> Any:
        old = array[index]
        before, *_, compared, value = (
            np.asarray(one).astype(array.dtype).reshape(1) for one in (old, *given[-1:], *given)
        )
        own = OF_THE_FLOATS.get(op, op) if array.dtype.kind == "f" else op
        leaves = OTHERS.get(own) or LEAVES[own]
        array[index] = leaves(before, value, compared)[0]
        return old

    return atomic


OF_THE_FLOATS: dict[Any, Any] = {"max": "greater", "min": "less"}
for _name in ("add", "sub", "max", "min", "nanmax", "nanmin", "xor", "exch", "inc", "dec", "cas"):
    WORDS[f"atomic.{_name}"] = _atomic(_name)
WORDS["atomic.and_"], WORDS["atomic.or_"] = _atomic("and"), _atomic("or")


def vector(names: tuple[str, ...], held: Any, given: Iterable[Any]) -> Any:
    """A value of a vector type, of numbers and smaller vectors."""
    numbers = [
        held(one) for part in given for one in (part if isinstance(part, tuple) else (part,))
    ]
    return namedtuple("vector", names)(*numbers)
