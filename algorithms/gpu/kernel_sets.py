"""The sets of kernels that are timed, counted and predicted, each under its own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mmsim_algorithms.gpu.kernel_cases import Case, cases
from mmsim_algorithms.gpu.third_cases import third
from mmsim_algorithms.gpu.unseen_cases import unseen


@dataclass(frozen=True)
class KernelSet:
    """The cases of a side, and their experiment."""

    experiment: str
    cases: Callable[[int], Iterator[Case]]


SETS = {
    "kernels": KernelSet("KERNELS", cases),
    "unseen": KernelSet("UNSEEN", unseen),
    "third": KernelSet("THIRD", third),
}
"""By the name of the kept counts and predictions."""
