"""Fat binaries: the code for several GPUs that the compiler puts into a program."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import NamedTuple

from mmsim.errors import MMSimError

MAGIC = 0xBA55ED50
PTX = 1
LZ4, ZSTD = 0x2000, 0x8000
HEADER = struct.Struct("<IHHQ")
"""The number that marks the beginning, the version, the bytes of this header and of the rest."""
ENTRY = struct.Struct("<HHIQI8xI8xQ8xQ")
"""The kind, the version, the bytes of this header, of the code with padding and when compressed,
the compute capability, flags, the bytes of the plain code."""
WITHOUT = "compile it with: nvcc -gencode arch=compute_90,code=compute_90 --no-compress"
DAMAGED = "the program's code for GPUs is damaged; compile it again"
SHORTEST_MATCH = 4
MORE = 15
"""A length of LZ4 that further bytes extend."""


class Entry(NamedTuple):
    """Code for GPUs of a compute capability (90 is 9.0): PTX, or what no text describes.

    `size` is that of the code when it isn't compressed.
    """

    is_ptx: bool
    capability: int
    flags: int
    size: int
    data: bytes


def ptx_of(data: bytes) -> str:
    """The PTX in a fat binary, that for the newest GPUs. Raises `MMSimError` without any."""
    found = [entry for entry in entries(data) if entry.is_ptx]
    if not found:
        raise MMSimError(f"the program has no PTX, only code for particular GPUs; {WITHOUT}")
    newest = max(found, key=lambda entry: entry.capability)
    return plain(newest).rstrip(b"\0").decode("utf-8", "replace")


def split(data: bytes) -> list[bytes]:
    """The fat binaries that stand one behind another. Raises `MMSimError` for a damaged one."""
    found = []
    while data:
        if len(data) < HEADER.size:
            raise MMSimError(DAMAGED)
        _, _, head, rest = HEADER.unpack_from(data)
        found.append(data[: head + rest])
        data = data[max(head + rest, HEADER.size) :]
    return found


def entries(data: bytes) -> Iterator[Entry]:
    """The entries of a fat binary. Raises `MMSimError` if it is none, or damaged."""
    try:
        magic, _, at, rest = HEADER.unpack_from(data)
        end = at + rest
        if magic != MAGIC or end > len(data):
            raise MMSimError(DAMAGED)
        while at < end:
            kind, _, head, padded, packed, capability, flags, size = ENTRY.unpack_from(data, at)
            length = packed if flags & (LZ4 | ZSTD) else padded
            code = data[at + head : at + head + length]
            if len(code) < length or not head:
                raise MMSimError(DAMAGED)
            yield Entry(kind == PTX, capability, flags, size, code)
            at += head + padded
    except struct.error:
        raise MMSimError(DAMAGED) from None


def plain(entry: Entry) -> bytes:
    """The code of an entry, decompressed. Raises `MMSimError` if this computer can't do it."""
    if entry.flags & LZ4:
        return lz4(entry.data, entry.size)
    return zstd(entry.data, entry.size) if entry.flags & ZSTD else entry.data


def zstd(data: bytes, size: int) -> bytes:
    """The `size` bytes that a frame of Zstandard stands for, by the library that g++ uses too."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        raise MMSimError(
            f"the PTX of the program is compressed; install libzstd.so.1, or {WITHOUT}"
        ) from None
    decompress = library.ZSTD_decompress
    decompress.restype = ctypes.c_size_t
    decompress.argtypes = (ctypes.c_char_p, ctypes.c_size_t) * 2
    found = ctypes.create_string_buffer(size)
    if decompress(found, size, data, len(data)) != size:
        raise MMSimError(DAMAGED)
    return found.raw


def lz4(data: bytes, size: int) -> bytes:
    """The `size` bytes that a block of LZ4 stands for.

    >>> lz4(bytes([0x31]) + b"abc" + bytes([3, 0]), 8)
    b'abcabcab'
    """
    rest = iter(data)
    found = bytearray()

    def length(first: int) -> int:
        total = first
        part = 255 if first == MORE else 0
        while part == 255:
            part = next(rest)
            total += part
        return total

    try:
        while len(found) < size:
            token = next(rest)
            found.extend(next(rest) for _ in range(length(token >> 4)))
            if len(found) < size:
                back = next(rest) | next(rest) << 8
                for _ in range(length(token & 15) + SHORTEST_MATCH):
                    found.append(found[-back])
    except (StopIteration, IndexError, RuntimeError):  # a generator turns the first into the last
        raise MMSimError(DAMAGED) from None
    return bytes(found)
