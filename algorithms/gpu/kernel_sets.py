"""The sets of kernels that are timed, counted and predicted, each under names of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mmsim_algorithms.gpu.kernel_cases import Case, cases
from mmsim_algorithms.gpu.third_cases import third
from mmsim_algorithms.gpu.unseen_cases import unseen


@dataclass(frozen=True)
class KernelSet:
    """The cases of a side, and the experiment that times them."""

    experiment: str
    cases: Callable[[int], Iterator[Case]]


SETS = {
    "kernels": KernelSet("KERNELS", cases),
    "unseen": KernelSet("UNSEEN", unseen),
    "third": KernelSet("THIRD", third),
}
"""By the name that counts and predictions are kept under."""
