"""Mutated files for every reader: runs, reports, results of a GPU, calibrations, arrays.

What a reader accepts is used: shown, drawn, exported, stepped through.
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import math
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from rich.console import Console

import mmsim as mm
from mmsim.api.report import Report
from mmsim.cli.loading import CommandError
from mmsim.cli.values import parse_argument
from mmsim.errors import FormatError, MMSimError
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record
from mmsim.view.player import Player
from tests.kit.fuzzing.trial import Finding, Verdict

DEEP = 2000
ODD: list[Any] = [
    *(0, 1, -1, 7, 2**31, 2**63, -(2**64), 10**12, 10**400, 0.5, -0.0, math.nan, math.inf),
    *(True, False, None, "", "read", "int64", "object", "a", "\0", "\ud800", "é", [], {}, [[]]),
    *({"$class": "Run"}, {"$class": "os.system"}, {"$class": ["DMM"]}, {"$dict": [[1]]}),
    {"$array": "int64", "shape": [10**12], "base64": ""},
    {"$array": "int64", "shape": [10**30], "base64": ""},
    {"$array": "int64", "shape": [0, 2**40, 2**40], "base64": ""},
    {"$array": "object", "shape": [1], "base64": "AAAAAAAAAAA="},
    {"$array": "bool", "shape": [1], "base64": "Ag=="},
]
FIRST_FORMAT = Path(__file__).parents[2] / "results" / "first_format"
"""Files of earlier versions."""
NAMES = ["", "a", "é", "漢字", "\0", "\ud800", "\x1b[31m", "a\tb\r\n", "\u202e", "$x$", "$\\frac{$"]
NAMES += ["=1+1", "-1", "</script>", "<b>&amp;", "[red]", "_a", "'", '"', "%s{}", "x" * 2000]
"""Names that programs, files and arrays may have."""


@mm.program
def mixed(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Something of everything that a run keeps."""
    s = mm.shared(T.block_size, float)
    r = mm.registers(2, int)
    r[T.id % 2] = T.id
    s[T.index] = a[T.id] + r[0]
    T.barrier()
    b[T.id] = s[T.block_size - 1 - T.index] > 1
    b[0] = T.id > 2


@dataclass(frozen=True)
class Reader:
    """A way to read a file: the texts that it is meant for, how, and what it may raise."""

    originals: tuple[bytes, ...]
    read: Callable[[bytes], object]
    use: Callable[[Any], object]
    refusals: tuple[type[Exception], ...]


def a_run(**how: Any) -> mm.Run:
    arguments = (np.arange(8), np.zeros(8, bool))
    return mm.HMM(2, 4, 3).run(mixed, *arguments, threads=8, block_size=4, **how)


def use_run(run: mm.Run) -> None:
    """A run that was read can be kept again, shown, drawn, exported and stepped through."""
    if mm.Run.from_json(run.to_json()) != run:
        raise Finding("a run that was read and kept is another")
    for value in (run, run.profile()):
        printed(repr(value))
        printed(value._repr_html_())
        Console(file=io.StringIO(), width=200).print(value)
    printed(repr(mm.total([run, run])))
    with tempfile.TemporaryDirectory() as folder:
        for rows in ("accesses", "rounds"):
            run.to_csv(Path(folder) / rows, rows)  # type: ignore[arg-type]
    figures = list(figures_of(run))  # to draw takes a while: two, others for another text
    first = zlib.crc32(run.to_json().encode())
    for number in (first, first + 1):
        axes = refused_kindly(figures[number % len(figures)])
        if axes is not None:
            axes.figure.figure._repr_svg_()
    if run.record is not None:
        use_trace(run.record, run.findings or ())


def figures_of(run: mm.Run) -> Iterator[Callable[[], Any]]:
    """Every figure of a run."""
    figures = mm.figures
    yield run.plot
    yield lambda: figures.lines(run)
    yield lambda: figures.rounds(run)
    yield lambda: figures.roofline(run)
    yield lambda: figures.times([1, 2], [run, run], lambda n: n)
    if run.record is not None:
        yield lambda: figures.pipeline(run)
        yield lambda: figures.warps(run)
        yield lambda: figures.access(run, len(run.trace.dispatches) - 1)
        for unit in run.record.units:
            yield partial(figures.banks, run, unit.name)
        yield lambda: figures.banks(run, over="round")


def use_trace(trace: Any, findings: Sequence[Any]) -> None:
    """A trace that was read can be stepped through and exported, here and in a page."""
    printed(repr(trace))
    for cycle in itertools.islice(trace.cycles(), 100):
        repr(cycle)
        refused_kindly(partial(cycle.thread, 0))
    page = refused_kindly(lambda: Player(trace, findings=findings))
    if page is not None:
        printed(repr(page))
        page.html().encode()
    with tempfile.TemporaryDirectory() as folder:
        trace.to_chrome(Path(folder) / "chrome.json")


def use_report(report: Report) -> None:
    """A report that was read can be kept again, shown and stepped through, and so can its run."""
    if Report.from_json(report.to_json()) != report:
        raise Finding("a report that was read and kept is another")
    printed(str(report))
    if report.run is not None:
        use_run(report.run)
    if report.record is not None:
        use_trace(report.record, report.findings)


def refused_kindly(use: Callable[[], Any]) -> Any:
    """The result of a use; None where mmsim says why it can't be."""
    try:
        return use()
    except MMSimError as error:
        if not str(error):
            raise Finding("an error without a word") from error
        return None


def printed(text: str) -> None:
    """Text for a terminal or a page holds nothing but what prints."""
    for line in text.split("\n"):
        if not line.isprintable():
            raise Finding(f"this does not print: {line!r}")


def from_file(read: Callable[[Path], object], suffix: str) -> Callable[[bytes], object]:
    """A reader of bytes from a reader of files."""

    def read_bytes(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"file{suffix}"
            file.write_bytes(data)
            return read(file)

    return read_bytes


def an_array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


@cache
def readers() -> dict[str, Reader]:
    """All readers of files, by what they read."""
    runs = [
        a_run(check=True),
        a_run(schedule="asynchronous", trace=True, check=True),
        a_run(engine="events"),
        mm.total([a_run(), a_run()]),
    ]
    machine = mm.HMM(2, 4, 3)
    hows: list[dict[str, Any]] = [{}, {"trace": True}, {"schedule": "asynchronous", "trace": True}]
    reports = [
        machine.check(mixed, np.arange(size), np.zeros(8, bool), threads=8, block_size=4, **how)
        for size, several in ((8, hows), (6, hows[:2]))
        for how in several
    ]
    earlier = {file.stem: file.read_bytes() for file in FIRST_FORMAT.glob("*.json")}
    earlier_reports = [earlier.pop(name) for name in ("checked", "report")]
    calibration = Calibration("a GPU", 4, 2.5, 500.0, 20, 30.5, 700, 2000.0)
    facts = {"device": "a GPU", "driver": "1", "date": "2026-01-01"}
    rows = ({"n": 4, "time": 0.5, "said": None}, {"n": 8, "time": 1.5, "said": "text"})
    return {
        "result": Reader(
            (*(run.to_json().encode() for run in runs), *earlier.values()),
            lambda data: mm.Run.from_json(data.decode(errors="surrogateescape")),
            use_run,
            (FormatError,),
        ),
        "report": Reader(
            (*(report.to_json().encode() for report in reports), *earlier_reports),
            lambda data: Report.from_json(data.decode(errors="surrogateescape")),
            use_report,
            (FormatError,),
        ),
        "record of a GPU": Reader(
            (Record("copies", facts, rows).to_json().encode(),),
            from_file(Record.read, ".json"),
            lambda record: Record.to_json(record),
            (FormatError,),
        ),
        "calibration": Reader(
            (Record("calibration", facts, (calibration.to_dict(),)).to_json().encode(),),
            from_file(Calibration.read, ".json"),
            lambda found: (found.dmm, found.umm, found.hmm, found.milliseconds(5)),
            (FormatError,),
        ),
        "array": Reader(
            (an_array(np.arange(6).reshape(2, 3)), an_array(np.zeros(4, bool)), an_array([0.5])),
            from_file(lambda file: parse_argument(str(file), np.random.RandomState(0)), ".npy"),
            lambda array: array.nbytes,
            (CommandError, MemoryError),
        ),
        "argument": Reader(
            (b"zeros:4x8", b"arange:64", b"random:2x2", b"permutation:8", b"12", b"0.5"),
            lambda data: parse_argument(data.decode(errors="replace"), np.random.RandomState(0)),
            repr,
            (CommandError, MemoryError),  # which the command line reports, too
        ),
    }


def make_document(seed: int, number: int) -> tuple[str, str, bytes]:
    """The way in which a document was made, its reader, and its bytes."""
    random = Random(f"{seed}, document {number}")
    name = random.choices(list(readers()), weights=(6, 3, 1, 2, 2, 1))[0]
    data = random.choice(readers()[name].originals)
    how = "bytes"
    if data[:1] == b"{" and random.random() < 0.8:
        how, data = "structure", mutate_structure(random, data)
    else:
        for _ in range(random.choice((1, 1, 2, 4))):
            data = mutate_bytes(random, data)
    return f"{name}: {how}", name, data


def mutate_bytes(random: Random, data: bytes) -> bytes:
    """Bytes changed, left out, put in, cut off or repeated."""
    if not data:
        return b"\0"
    at, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    some = bytes(random.randrange(256) for _ in range(random.choice((1, 1, 2, 8))))
    digits = random.choice((b"9" * 20, b"1e999", b"-1", b"0", b"99999999999", b"NaN", b"()"))
    return random.choice(
        (
            data[:at] + some + data[at + len(some) :],
            data[:at] + some + data[at:],
            data[:at] + digits + data[at + 1 :],
            data[:at] + data[min(end, at + 20) :],
            data[:at],
            data[:end] + data[at:end] + data[end:],
        )
    )


def mutate_structure(random: Random, data: bytes) -> bytes:
    """A document with one to three of its values changed."""
    document = json.loads(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(places_of(document))
        if not places:
            break
        holder, key = random.choice(places)
        choice = random.randrange(8)
        if choice == 0 and isinstance(holder, dict):
            holder[random.choice(("extra", "$class", "$dict", "time"))] = holder.pop(key)
        elif choice == 1:
            del holder[key]
        elif choice == 2:
            other, other_key = random.choice(places)
            holder[key] = json.loads(json.dumps(other[other_key]))
        elif choice == 3 and isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(holder[key])))
        elif choice == 4:
            texts = sorted({holder[key] for holder, key in texts_of(document)}) or [""]
            replace_everywhere(document, random.choice(texts), random.choice(NAMES))
        elif choice == 5 and type(holder[key]) is int:
            holder[key] += random.choice((-1, 1, 2, 4, 1000))
        else:
            holder[key] = copy.deepcopy(random.choice(ODD))
    text = json.dumps(document)
    if random.random() < 0.02:
        deep = random.choice(("[", '{"$dict": [["a", '))
        text = text.replace(": ", ": " + deep * DEEP, 1)
    return text.encode(errors="surrogateescape")


def texts_of(document: Any) -> Iterator[tuple[Any, Any]]:
    """The places of the texts of a document that say something of a program."""
    for holder, key in places_of(document):
        if isinstance(holder[key], str) and key not in ("$class", "$array", "base64", "format"):
            yield holder, key


def replace_everywhere(document: Any, old: str, new: str) -> None:
    """Change a text in all its places, so that the document may stay consistent."""
    for holder, key in list(texts_of(document)):
        if holder[key] == old:
            holder[key] = new


def places_of(value: Any) -> Any:
    """All places in a document, as (holder, key)."""
    if isinstance(value, dict):
        keys: Any = list(value)
    else:
        keys = range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places_of(value[key])


def try_document(name: str, data: bytes) -> Verdict:
    """Raise `Finding`, or whatever else a reader shouldn't, else say what became of a document."""
    reader = readers()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Text of any script may be drawn; matplotlib's own font does not have all.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        # An old matplotlib with a new pyparsing.
        warnings.filterwarnings("ignore", r"'\w+' (argument is )?deprecated", DeprecationWarning)
        try:
            found = reader.read(data)
        except reader.refusals as error:
            if not str(error):
                raise Finding("an error without a word") from error
            return Verdict("refused", [type(error).__name__])
        reader.use(found)
    return Verdict("read")
