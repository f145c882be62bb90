"""The time that a kernel is predicted to take on a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a kernel on a card.

    Attributes
    ----------
    kernel, card
        The kernel's name, and the card's.
    milliseconds
        With a cache that has no word of the arrays.
    bound
        What takes that time: a resource of the memory ("tags", "memory", "wires", ...), "latency",
        "instructions" or "blocks".
    error, kernels
        The error of predictions of kernels that the same thing binds: the mean of
        abs(log(predicted / measured)), and of how many kernels. None: there were none.
    parts
        The milliseconds that each of the bounds takes by itself, with the launch: "memory" is the
        time of all requests.
    """

    kernel: str
    card: str
    milliseconds: float
    bound: str
    error: float | None
    kernels: int
    parts: dict[str, float]
    again: Callable[[], float] = field(repr=False, compare=False)

    @cached_property
    def warm(self) -> float:
        """Milliseconds with the cache that an earlier launch left, computed on demand."""
        return self.again()

    def __str__(self) -> str:
        """One line: the time, what binds it, and how sure that is."""
        sure = "no kernel that this binds was measured"
        if self.error is not None:
            several = "kernel" if self.kernels == 1 else "kernels"
            sure = f"off by {self.error:.0%} for {self.kernels} {several} that this binds"
        return (
            f"{self.kernel} on {self.card}: {self.milliseconds:.4g} ms, bound by {self.bound} "
            f"({sure})"
        )
