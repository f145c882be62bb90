"""A run that shows and saves itself, several runs as one, and two runs side by side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from mmsim.api.trace import Trace
from mmsim.errors import LaunchError, shown
from mmsim.host.arguments import two_names
from mmsim.host.guesses import advised
from mmsim.results import run
from mmsim.results.prediction import ComparedPredictions, Prediction, compared

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mmsim.results.difference import Difference
    from mmsim.view.lab import Laboratory
    from mmsim.view.player import Comparison, Player


OTHER_FIGURES = "mm.figures.banks(run), or another function of mm.figures, each for one figure"


class Saved:
    """A result that `to_json` writes; two of them are equal if their texts are."""

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    @classmethod
    def _as(cls, plain: object) -> Self:
        """The content of `plain`, of a class from which this one is derived; nothing is copied."""
        made = object.__new__(cls)
        made.__dict__.update(plain.__dict__)
        if (record := made.__dict__["record"]) is not None:
            made.__dict__["record"] = Trace.of(record)
        return made

    @abstractmethod
    def to_json(self) -> str:
        """Return the result as JSON text; `from_json` returns an equal one."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result that `to_json` wrote. Raises `FormatError` for any other text."""
        from mmsim.results.codec import load

        return load(text, cls)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.to_json() == other.to_json()


@dataclass(frozen=True, eq=False, repr=False)
class Run(Saved, run.Run):
    """The result of `Machine.run`: plain data.

    Attributes
    ----------
    time
        Time units until all requests have completed.
    arrays
        The final contents of every array parameter by name, in logical order. A parameter of more
        than 64 KiB that the program doesn't write is a read-only view of the argument, not a copy.
    accesses
        An `AccessRow` for each source line, array and read or write, in the order of the program.
    rounds
        Under the synchronous schedule a `RoundRow` for each round, else empty.
    findings
        With `check=True`, a `Finding` for each data race, read of uninitialized memory, and
        divergent barrier. None: not checked.
    cache
        The use of the cache and of memory on a `Cached` machine: a `CacheRow` for each source line,
        array and kind of access to the global memory. Empty on any other machine.
    text
        What the kernels wrote by `printf` of CUDA C++, in order.
    registers
        The registers that a thread needs (`Registers`), the most of several launches. None in a run
        that an earlier mmsim saved without them.
    machine, program, threads, block_size, schedule, engine, sources
        The launch, and the text of the program's functions.
    """

    record: Trace | None = field(default=None, repr=False)
    records: tuple[Trace, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, plain: run.Run) -> Run:
        """Return an engine's run, with the methods for users."""
        made = cls._as(plain)
        made.__dict__["records"] = tuple(map(Trace.of, plain.records))
        return made

    def __getstate__(self) -> dict[str, Any]:
        """The run as data, without what predicts its time, which may hold its arguments."""
        return {name: value for name, value in vars(self).items() if name != "predicts"}

    @property
    def trace(self) -> Trace:
        """Everything that happened. Raises `MMSimError` if the run did not record it."""
        found = super().trace
        assert isinstance(found, Trace)
        return found

    def player(
        self, *, start: int = 0, end: int | None = None, preset: str | None = None
    ) -> Player:
        """Return a page to step through the run, all of its launches in order.

        See `Trace.player`. Each launch of the run needs a trace (trace=True).
        """
        from mmsim.view.player import Player

        return Player(self.traces, start, end, preset=preset, lab=self.lab)

    def lab(self) -> Laboratory:
        """Return a page in which one changes the program of this run, and sees it run at once.

        See `mmsim.lab`. The arguments are those of the run; an array that has changed since counts
        as it is now. Raises `MMSimError` for a run without a trace, of several launches, or loaded
        from a file, and `LaunchError` for a machine that the page doesn't have, or a kernel of
        numba.cuda.

        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def copy(T, a, b):
        ...     b[T.id] = a[T.id]
        >>> mm.DMM(4, 3).run(copy, np.arange(8), np.zeros(8), threads=8, trace=True).lab()
        <laboratory of copy on DMM(width=4, latency=3)>
        """
        return self.trace.lab()

    @advised(
        OTHER_FIGURES, kind=OTHER_FIGURES, figsize="axes.figure.set_size_inches(width, height)"
    )
    def plot(self, *, axes: Axes | None = None) -> Axes:
        """Draw the pipeline of a short run with a trace, else the stages by round or by line.

        `mmsim.figures` has these figures and others.
        """
        from mmsim.view.figures import plot  # loads what draws

        return plot(self, axes=axes)

    @advised("Path(path).write_text(run.to_json())")
    def to_json(self) -> str:
        """Return the run as JSON text; `Run.from_json` returns an equal run."""
        from mmsim.results.codec import dump

        return dump(self)

    @advised('run.to_csv("run.csv")')
    def to_csv(self, path: str | Path, rows: Literal["accesses", "rounds"] = "accesses") -> None:
        """Write `accesses` or `rounds` to a file of comma-separated values.

        The columns are the fields of `AccessRow` or `RoundRow`, and `wasted`. A text that a
        spreadsheet would take for a formula gets an apostrophe in front.
        """
        from mmsim.results.sheets import save_csv

        save_csv(self, path, rows)

    @advised("run.to_dataframe().to_csv(path), or run.to_csv(path)")
    def to_dataframe(self, rows: Literal["accesses", "rounds"] = "accesses") -> Any:
        """Return `accesses` or `rounds` as a `pandas.DataFrame`, with the columns of `to_csv`.

        Raises `MMSimError` if pandas is missing; mmsim itself doesn't need it.

        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def read(T, a):
        ...     a[4 * T.id]
        >>> frame = mm.DMM(4, 3).run(read, np.zeros(32), threads=8).to_dataframe()
        >>> frame[["array", "kind", "stages", "wasted"]]
          array  kind  stages  wasted
        0     a  read       8       6
        """
        from mmsim.results.sheets import data_frame

        return data_frame(self, rows)

    @advised("first.diff(second)")
    def diff(self, other: run.Run) -> Difference:
        """Compare this run with another, by line and array: requests, stages, waste, time.

        A cell has both numbers if they differ. Lines have times if both runs are in lock step.
        `mm.compare` steps through two runs.

        >>> import numpy as np, mmsim as mm
        >>> @mm.program
        ... def read(T, a, s):
        ...     a[s * T.id]
        >>> one, two = (mm.DMM(4, 3).run(read, np.zeros(32), s, threads=8) for s in (4, 1))
        >>> print(one.diff(two))
        read on DMM(width=4, latency=3), synchronous: time 10 -> 4, stages 8 -> 2, wasted 6 -> 0
        line  array  access  space   requests  stages  wasted     time
           3  a      read    memory         2  8 -> 2  6 -> 0  10 -> 4
        """
        from mmsim.results.difference import difference

        if not isinstance(other, run.Run):
            raise LaunchError(f"diff takes another run, not {shown(other)}")
        return difference(self, other)


@advised("mm.total([first, second])")
def total(runs: Iterable[run.Run]) -> Run:
    """Return several launches as one run. Each begins when the previous one has completed.

    Times, accesses and rounds add up. If several launches have an array of the same name, the last
    launch's contents are kept: as a copy or, above 64 KiB, shared. If every launch has a trace,
    `Run.traces` has all of them, and `Run.player` steps through them. Raises `LaunchError` for no
    runs, or runs on different machines or schedules.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> run = mm.UMM(4, 5).run(read, np.zeros(8), threads=8)
    >>> run.time, mm.total([run, run]).time
    (6, 12)
    """
    return Run.of(run.total(runs))


@overload
def compare(
    first: run.Run,
    second: run.Run,
    *,
    names: Sequence[str] | None = None,
    start: int = 0,
    end: int | None = None,
    preset: str | None = None,
) -> Comparison: ...
@overload
def compare(
    first: Prediction, second: Prediction, *, names: Sequence[str] | None = None
) -> ComparedPredictions: ...
@advised()
def compare(
    first: run.Run | Prediction,
    second: run.Run | Prediction,
    *,
    names: Sequence[str] | None = None,
    start: int = 0,
    end: int | None = None,
    preset: str | None = None,
) -> Comparison | ComparedPredictions:
    """Return two runs with traces side by side, or which of two predictions is the faster one.

    Runs may have any machines, programs and schedules, and several launches (`mm.total`). A page
    steps through both at the same time. A notebook shows it, `save` writes it, `widget()` makes a
    widget, `plot()` a figure.

    Predictions of `Card.predict` may be of any kernels and cards. The result says which is faster,
    by how much, and whether this exceeds what predictions of these kinds miss.

    Parameters
    ----------
    first, second
        Runs made with trace=True, or predictions.
    names
        Their names. Default: the settings in which they differ.
    start, end, preset
        For runs: the first and the last time unit to show, and with which moments to begin; see
        `Run.player`.

    Examples
    --------
    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[2 * T.id]
    >>> dmm, umm = (
    ...     machine.run(read, np.arange(16), threads=8, trace=True)
    ...     for machine in (mm.DMM(4, 3), mm.UMM(4, 3))
    ... )
    >>> mm.compare(dmm, umm, names=["DMM", "UMM"])
    <DMM and UMM, time units 0 to 6>

    >>> near, far = (
    ...     mm.H200().predict(read, np.zeros(2 * size), threads=size, block_size=256)
    ...     for size in (1 << 12, 1 << 20)
    ... )
    >>> compared = mm.compare(near, far, names=["few", "many"])
    >>> compared.faster is near, compared.exceeds
    (True, True)
    """
    if isinstance(first, Prediction) and isinstance(second, Prediction):
        if (start, end, preset) != (0, None, None):
            raise LaunchError("start, end and preset are for two runs; leave them out")
        return compared(first, second, None if names is None else two_names(names))
    if not (isinstance(first, run.Run) and isinstance(second, run.Run)):
        raise LaunchError(
            "compare takes two runs, or two predictions as card.predict(kernel, ...) makes them, "
            f"not {type(first).__name__} and {type(second).__name__}"
        )
    from mmsim.view.player import Comparison

    return Comparison(first, second, names, start, end, preset)
