"""The requests of a program's runtime (`runtime.cpp`), through a socket, and the replies."""

from __future__ import annotations

import socket
import struct
from enum import IntEnum
from typing import Any, NamedTuple

from mmsim.cuda.launches import Extents

HEAD = struct.Struct("=II")
REPLY = struct.Struct("=iId")
"""The error, the bytes of what follows, the milliseconds of all launches so far."""


class Request(IntEnum):
    """The kinds of requests, in the order of `runtime.cpp`."""

    HELLO = 0
    MODULE = 1
    VARIABLE = 2
    FUNCTION = 3
    LAUNCH = 4
    ALLOCATION = 5
    FREED = 6
    HEAP = 7


class Error(IntEnum):
    """CUDA's numbers of errors."""

    SUCCESS = 0
    INVALID_VALUE = 1
    INVALID_CONFIGURATION = 9
    INVALID_SYMBOL = 13
    INVALID_DEVICE_FUNCTION = 98
    NO_KERNEL_IMAGE = 209
    INVALID_PTX = 218
    ILLEGAL_ADDRESS = 700
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801


class Fields:
    """The fields of a request, read one after another."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def numbers(self, layout: str) -> tuple[Any, ...]:
        """The next fields, numbers of a layout of `struct`."""
        found = struct.unpack_from(f"={layout}", self._data, self._at)
        self._at += struct.calcsize(f"={layout}")
        return found

    def bytes(self) -> bytes:
        """The next field, bytes behind their number."""
        (size,) = self.numbers("I")
        self._at += size
        return self._data[self._at - size : self._at]


class LaunchRequest(NamedTuple):
    """A launch of a kernel of a module; `args` are the bytes of its arguments."""

    module: int
    kernel: str
    grid: Extents
    block: Extents
    shared_bytes: int
    most_dynamic: int
    is_cooperative: bool
    args: tuple[bytes, ...]

    @classmethod
    def of(cls, data: bytes) -> LaunchRequest:
        """Read it from a request."""
        fields = Fields(data)
        (module,) = fields.numbers("I")
        kernel = fields.bytes().decode()
        *extents, shared, most, cooperative, count = fields.numbers("6IQiiI")
        grid, block = (extents[0], extents[1], extents[2]), (extents[3], extents[4], extents[5])
        args = tuple(fields.bytes() for _ in range(count))
        return cls(module, kernel, grid, block, shared, most, bool(cooperative), args)


def received(connection: socket.socket) -> tuple[Request, bytes] | None:
    """The next request; None when the program has ended."""
    head = _bytes(connection, HEAD.size)
    if head is None:
        return None
    kind, size = HEAD.unpack(head)
    data = _bytes(connection, size)
    return None if data is None else (Request(kind), data)


def reply(connection: socket.socket, error: Error, milliseconds: float, data: bytes = b"") -> None:
    """Answer a request."""
    connection.sendall(REPLY.pack(error, len(data), milliseconds) + data)


def _bytes(connection: socket.socket, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        try:
            part = connection.recv(min(size - len(found), 1 << 20))
        except ConnectionResetError:
            return None
        if not part:
            return None
        found += part
    return bytes(found)
