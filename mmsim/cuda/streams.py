"""Streams and events. The device does every operation immediately, in the order of the calls.

Time is the model's. An event keeps the time units of all launches before it. The time between two
events is that of the time units between them, on the GPU that the machine stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mmsim.cuda.devices import CudaAPIError
from mmsim.cuda.machines import Clock


class Stream:
    """A queue of launches and transfers."""

    def __init__(self, handle: int = 0, name: str = "CUDA stream") -> None:
        self.handle = handle
        self._name = name

    def __int__(self) -> int:
        return self.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        """The stream as other libraries read it: the version of that protocol, and its number."""
        return 0, self.handle

    def __repr__(self) -> str:
        return f"<{self._name} {self.handle}>"

    def synchronize(self) -> None:
        """Wait until all work is done; here it always is."""

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Wait at the end of the `with` block until all is done."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Any, int, Any], Any], arg: Any = None) -> None:
        """Call `callback(stream, status, arg)` when all earlier work is done: immediately."""
        callback(self, 0, arg)

    def async_done(self) -> Any:
        """Return a future of asyncio that is done when all earlier work is done."""
        import asyncio

        future = asyncio.get_running_loop().create_future()
        future.set_result(self)
        return future


Given = Stream | int
"""A stream as an argument; 0 stands for the default stream."""


def handle_of(stream: Given) -> int | None:
    """A stream's number; None for the default stream, written as 0."""
    return None if isinstance(stream, int) and stream == 0 else int(stream)


_made = iter(range(16, 2**63))
"""Numbers of the streams of this process; the lowest ones are CUDA's own."""


def stream() -> Stream:
    """A new stream."""
    return Stream(next(_made))


def default_stream() -> Stream:
    """The default stream."""
    return Stream(0, "Default CUDA stream")


def legacy_default_stream() -> Stream:
    """The default stream that all threads of the host share."""
    return Stream(1, "Legacy default CUDA stream")


def per_thread_default_stream() -> Stream:
    """The default stream of this thread of the host."""
    return Stream(2, "Per-thread default CUDA stream")


def external_stream(ptr: int) -> Stream:
    """A stream that another library made."""
    if ptr == 0:
        raise RuntimeError("external_stream needs the number of a stream, not 0")
    return Stream(ptr, "External CUDA stream")


class Event:
    """A point in the order of launches."""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._time: float | None = None

    def record(self, stream: Given = 0) -> None:
        """Set the event to this point."""
        self._time = Clock.milliseconds

    def query(self) -> bool:
        """Return whether all earlier work is done."""
        return True

    def synchronize(self) -> None:
        """Wait until all earlier work is done; here it always is."""

    def wait(self, stream: Given = 0) -> None:
        """Let a stream wait for this event."""

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds of the model from this event to another."""
        return event_elapsed_time(self, evtend)


def event(timing: bool = True) -> Event:
    """A new event."""
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds of the model between two recorded events."""
    if not (evtstart.timing and evtend.timing):
        raise CudaAPIError("an event made with timing=False has no time")
    if evtstart._time is None or evtend._time is None:
        raise CudaAPIError("an event has no time before it is recorded")
    return evtend._time - evtstart._time


def synchronize() -> None:
    """Wait until all work of the device is done; here it always is."""


__all__ = [
    "Event",
    "Stream",
    "default_stream",
    "event",
    "event_elapsed_time",
    "external_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "stream",
    "synchronize",
]
