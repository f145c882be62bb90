"""The time that a kernel is predicted to take on a card."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from mmsim.printable import counted, printable
from mmsim.tabular import Tabular

UNMODELLED = "instructions, which this machine does not model"
"""The bound if the least time of the instructions, which is all that is known, is the longest."""


@dataclass(frozen=True, repr=False)
class Prediction(Tabular):
    """The predicted time of a kernel on a card.

    Attributes
    ----------
    kernel, card
        The kernel's name, and the card's.
    milliseconds
        With a cache that has no word of the arrays.
    bound
        What takes that time: a resource of the memory ("tags", "memory", "wires", ...), "latency",
        "instructions" or "blocks". "instructions, which this machine does not model" on a card
        without times of operations: `milliseconds` is the least that they take.
    error, kernels
        The error of predictions of kernels that the same thing binds: the mean of
        abs(log(predicted / measured)), and of how many kernels. None: there were none.
    parts
        The milliseconds that each of the bounds takes by itself, with the launch: "memory" is the
        time of all requests.
    empty
        Whether the cache was empty at first, as in a run. Else it was full of words of another
        array, some of which have to be written to memory.
    """

    kernel: str
    card: str
    milliseconds: float
    bound: str
    error: float | None
    kernels: int
    parts: dict[str, float]
    again: Callable[[], float] = field(compare=False)
    empty: bool = False

    @cached_property
    def warm(self) -> float:
        """Milliseconds with the cache that an earlier launch left, computed on demand."""
        return self.again()

    def __str__(self) -> str:
        """One line: the time, what binds it, and how sure that is."""
        return f"{printable(self.kernel)} on {printable(self.card)}: {self.in_words}"

    @property
    def in_words(self) -> str:
        """The time, what binds it, and how sure that is, without the names."""
        least = "at least " if self.bound == UNMODELLED else ""
        cache = " from an empty cache" if self.empty else ""
        sure = "no kernel that this binds was measured"
        if self.error is not None:
            kernels = counted(self.kernels, "kernel")
            sure = f"off by {self.error:.0%} for {kernels} that this binds"
        return f"{least}{self.milliseconds:.4g} ms{cache}, bound by {self.bound} ({sure})"


@dataclass(frozen=True, repr=False)
class ComparedPredictions(Tabular):
    """Two predictions, and what their difference means: the result of `mm.compare`.

    `print` shows one sentence. `names` stand for the two in it.
    """

    first: Prediction
    second: Prediction
    names: tuple[str, str]

    @property
    def faster(self) -> Prediction | None:
        """The one with the shorter time; None if the times are the same."""
        one, other = self.first, self.second
        if one.milliseconds == other.milliseconds:
            return None
        return one if one.milliseconds < other.milliseconds else other

    @property
    def ratio(self) -> float:
        """The longer time, divided by the shorter one."""
        shorter, longer = sorted((self.first.milliseconds, self.second.milliseconds))
        return longer / shorter if shorter else math.inf if longer else 1.0

    @property
    def miss(self) -> float | None:
        """The mean of abs(log(predicted / measured)) of such a ratio.

        Computed from the errors of both, as if they were independent. None: an error isn't known.
        """
        one, other = self.first.error, self.second.error
        return None if one is None or other is None else math.hypot(one, other)

    @property
    def exceeds(self) -> bool | None:
        """Return whether the difference is larger than such predictions miss; None: not known."""
        return None if self.miss is None else math.log(self.ratio) > self.miss

    def __str__(self) -> str:
        """One sentence: the faster one, by how much, and how sure that is."""
        if self.faster is None:
            both, time = " and ".join(self.names), self.first.milliseconds
            return f"{both} are predicted to take the same time, {time:.4g} ms"
        names = self.names if self.faster is self.first else self.names[::-1]
        times = sorted((self.first.milliseconds, self.second.milliseconds))
        is_close = self.ratio < 1.01
        faster = "less than 1% faster than" if is_close else f"{self.ratio:.3g} times as fast as"
        return (
            f"{names[0]} is predicted to be {faster} {names[1]} "
            f"({times[0]:.4g} ms, {times[1]:.4g} ms): {self._sure}"
        )

    @property
    def _sure(self) -> str:
        if self.miss is None:
            unknown = self.first if self.first.error is None else self.second
            return (
                f"whether that exceeds what predictions miss isn't known, as no kernel bound by "
                f"{unknown.bound} was measured"
            )
        factor = f"such predictions miss, a factor of {math.exp(self.miss):.3g}"
        return f"more than {factor}" if self.exceeds else f"no more than {factor}; measure both"


def compared(
    first: Prediction, second: Prediction, names: tuple[str, str] | None = None
) -> ComparedPredictions:
    """Compare two predictions. Names by default: the kernels', with the cards' if these differ."""
    if names is None:
        with_card = first.card != second.card
        one, other = (
            printable(f"{of.kernel} on {of.card}" if with_card else of.kernel)
            for of in (first, second)
        )
        names = (one, other) if one != other else ("the first", "the second")
    return ComparedPredictions(first, second, names)
