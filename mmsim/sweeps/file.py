"""The file of a sweep: one row a line, whole after a kill at any moment.

A row is one line of JSON, appended by one write. A kill can leave an unfinished line, but only the
last one; opening the file removes it. A lock keeps a second sweep out. It belongs to the open file,
so it ends with the process that holds it.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from mmsim.errors import MMSimError
from mmsim.sweeps.rows import SweepRow

try:
    import fcntl
except ImportError:  # Windows: nothing keeps a second sweep out
    fcntl = None  # type: ignore[assignment]

START = b'{"key": "k'
SYNC = 1.0  # seconds of rows that a power cut may lose; a kill loses none


class SweepError(MMSimError):
    """A sweep that can't begin or go on: its grid, its function, its file, its workers."""


class RowFile:
    """The rows of a file, open for more rows. `rows` are the rows already in it, by key.

    A sweep that fails before its first row creates no file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(os.path.realpath(path))
        self._new = not self.path.exists()
        self._file = _locked(self.path)
        try:
            text = self.path.read_bytes()
            self.rows = {row["key"]: row for row in parsed(text, self.path)}
            whole = text.rfind(b"\n") + 1
            if whole < len(text):
                os.ftruncate(self._file, whole)
        except BaseException:
            os.close(self._file)
            raise
        self._synced = time.monotonic()

    def append(self, row: SweepRow) -> None:
        """Write a row, whole."""
        line = line_of(row)
        with _naming(self.path, "a row could not be written"):
            written = os.write(self._file, line)
        if written != len(line):
            raise SweepError(f"{self.path}: a row could not be written whole; is the disk full?")
        if time.monotonic() - self._synced >= SYNC:
            self.sync()

    def sync(self) -> None:
        """Write the rows through to the disk."""
        with _naming(self.path, "its last rows could not be written to the disk"):
            os.fsync(self._file)
        self._synced = time.monotonic()

    def drop(self, keys: Collection[str]) -> None:
        """Take rows out: a file without them replaces this one atomically."""
        self.rows = {key: row for key, row in self.rows.items() if key not in keys}
        fresh = self.path.with_name(f"{self.path.name}.new")
        file = os.open(fresh, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            _lock(file, self.path)
            with _naming(self.path, "rows could not be dropped"):
                with open(file, "wb", closefd=False) as buffered:
                    buffered.writelines(map(line_of, self.rows.values()))
                os.fsync(file)
                os.replace(fresh, self.path)
        except BaseException:
            os.close(file)
            fresh.unlink(missing_ok=True)
            raise
        os.close(self._file)
        self._file = file

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self.sync()
        except SweepError:
            if error is None:  # otherwise the first error is reported
                raise
        finally:
            empty = os.fstat(self._file).st_size == 0
            os.close(self._file)
            if error is not None and self._new and empty:
                self.path.unlink(missing_ok=True)


def read(path: str | Path) -> list[SweepRow]:
    """The rows of a sweep's file, also while the sweep runs.

    Raises `SweepError` for another file.
    """
    return parsed(Path(path).read_bytes(), Path(path))


def line_of(row: SweepRow) -> bytes:
    """A row as a line."""
    return json.dumps(row, allow_nan=False).encode("ascii") + b"\n"


def parsed(text: bytes, path: Path) -> list[SweepRow]:
    """The rows of a file's text. An unfinished last one is left out."""
    *lines, end = text.split(b"\n")
    rows: list[SweepRow] = []
    for number, line in enumerate(lines, 1):
        row = _row(line)
        if row is None:
            raise SweepError(f"{path}: line {number} is not a row of a sweep; give another file")
        rows.append(row)
    if not (end.startswith(START) or START.startswith(end)):
        raise SweepError(f"{path}: its last line is not a row of a sweep; give another file")
    return rows


def _row(line: bytes) -> SweepRow | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(row, dict) and {"key", "source", "error"} <= set(row)
    return row if whole and isinstance(row["key"], str) else None


def _locked(path: Path) -> int:
    """The file, open for appending and locked."""
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        raise SweepError(f"{path} can't keep rows; give an ordinary file")  # opening it would wait
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise SweepError(f"{path} can't keep rows; give an ordinary file")
            _lock(file, path)
            # While this process waited, another sweep may have put another file in its place.
            if os.path.exists(path) and os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


@contextmanager
def _naming(path: Path, what: str) -> Iterator[None]:
    """Add the file's name to the system's errors, which lack it for an open file."""
    try:
        yield
    except OSError as error:
        raise SweepError(f"{path}: {what}: {error.strerror}") from error


def _lock(file: int, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SweepError(
            f"{path}: another sweep is writing to it; let it end, or give another file"
        ) from None
