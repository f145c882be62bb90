"""The lines of mmsim that each test reaches, recorded once for each file of tests.

A record is kept in `build/mutation` for as long as mmsim and the file of tests stay as they are.
Tests that fail here, or take too long, are no use against mutants: their records say so.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import process_time
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.kit.mutation.forge import Forge, Slow, limit, raise_slow

EACH = 5.0
"""Seconds of processor time that a test may take while it is recorded."""
FILE = 60.0
"""And all tests of a file. Those that come later are not used."""
WALL = 60.0
"""Seconds of the clock for a test that waits for another process."""
EVENTS = 3000
"""Lines that are noted of a function in a test; loops repeat themselves."""


@dataclass
class Test:
    """A test: what it takes, whether it passes, and the lines that it reaches, as bits by file."""

    name: str
    seconds: float
    good: bool
    lines: dict[str, int] = field(default_factory=dict)


class Tracer:
    """Notes the lines of some files that run."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.lines: dict[str, int] = defaultdict(int)
        self.left: dict[CodeType, int] = {}

    def __enter__(self) -> Tracer:
        self.lines, self.left = defaultdict(int), {}
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        file = self.files.get(frame.f_code.co_filename)
        if file is None:
            return None
        self.lines[file] |= 1 << frame.f_code.co_firstlineno
        if self.left.get(frame.f_code, 1) <= 0:
            return None
        lines, left, code = self.lines, self.left, frame.f_code
        left.setdefault(code, EVENTS)

        def line(frame: FrameType, event: str, arg: Any) -> Any:
            lines[file] |= 1 << frame.f_lineno
            left[code] -= 1
            if left[code] <= 0:
                frame.f_trace_lines = False
            return line

        return line


def traced_files(root: Path, rooms: Sequence[str]) -> dict[str, str]:
    """The modules of the rooms: path to path from the root."""
    return {
        str(path): str(path.relative_to(root))
        for room in rooms
        for path in sorted((root / "mmsim" / room).rglob("*.py"))
    }


def digest(*texts: bytes) -> str:
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def of_the_library(root: Path) -> str:
    """A digest of all of mmsim, of the algorithms and of what the tests share."""
    paths = [
        path
        for folder in ("mmsim", "algorithms", "tests/kit")
        for path in sorted((root / folder).rglob("*.py"))
        if "kit/mutation" not in str(path)
    ]
    return digest(*(path.read_bytes() for path in paths))


class Records:
    """The records of the files of tests."""

    def __init__(self, root: Path, rooms: Sequence[str]) -> None:
        self.root = root
        self.folder = root / "build" / "mutation"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.library = of_the_library(root)
        self.traced = traced_files(root, rooms)
        self.tests: dict[str, list[Test]] = {}

    def place(self, file: str) -> Path:
        key = digest(self.library.encode(), (self.root / file).read_bytes())[:16]
        return self.folder / f"{Path(file).parent.name}-{Path(file).stem}-{key}.pickle"

    def missing(self, files: Sequence[str]) -> list[str]:
        return [file for file in files if not self.place(file).exists()]

    def record(self, forge: Forge, file: str) -> int:
        """Run the tests of a file and keep what they reach; in a process of its own."""
        signal.signal(signal.SIGPROF, raise_slow)
        signal.signal(signal.SIGALRM, raise_slow)
        os.environ["MMSIM_CACHE_DIR"] = str(self.folder / f"cache{os.getpid()}")
        tracer, found, begin = Tracer(self.traced), [], process_time()
        items = forge.items.get(file, [])
        for item, after in zip(items, [*items[1:], None], strict=True):
            if process_time() - begin > FILE:
                found.append(Test(item.nodeid, EACH, False))
                continue
            start = process_time()
            good = self._passes(forge, item, after, tracer)
            lines = {path: bits for path, bits in tracer.lines.items() if bits}
            found.append(Test(item.nodeid, process_time() - start, good, lines))
        place = self.place(file)
        place.with_suffix(".part").write_bytes(pickle.dumps(found))
        place.with_suffix(".part").rename(place)
        return 0

    def _passes(
        self, forge: Forge, item: pytest.Item, after: pytest.Item | None, tracer: Tracer
    ) -> bool:
        try:
            with tracer:
                limit(EACH, WALL)
                try:
                    failed = forge.fails(item, after)
                finally:
                    limit(0)
        except (Slow, pytest.exit.Exception, KeyboardInterrupt):
            return False
        return not failed

    def load(self, files: Sequence[str]) -> None:
        for file in files:
            place = self.place(file)
            self.tests[file] = pickle.loads(place.read_bytes()) if place.exists() else []

    @cached_property
    def of_files(self) -> dict[str, dict[str, int]]:
        """The lines that the tests of each file reach."""
        found: dict[str, dict[str, int]] = {}
        for file, tests in self.tests.items():
            lines = found.setdefault(file, {})
            for test in tests:
                for path, run in test.lines.items() if test.good else ():
                    lines[path] = lines.get(path, 0) | run
        return found
