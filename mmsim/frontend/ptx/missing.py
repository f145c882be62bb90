"""Instructions of PTX that the model leaves out: refused with the reason, and with what to do."""

from __future__ import annotations

from math import prod

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.module import Function, Instruction

MATRICES = "multiply with nvcuda::wmma or mma.sync"
COPY = "copy with cuda::memcpy_async and a barrier of threads, or with loads and stores"
GLOBAL = "let blocks exchange data through global memory"
MISSING = {
    "wgmma": ("products of matrices by four warps together", MATRICES),
    "tcgen05": ("the memory of tensor cores", MATRICES),
    "bulk": ("copies by the tensor memory accelerator", COPY),
    "tensormap": ("copies by the tensor memory accelerator", COPY),
    "mapa": ("the shared memory of another block of a cluster", GLOBAL),
    "getctarank": ("the shared memory of another block of a cluster", GLOBAL),
    "async": ("stores into the shared memory of another block of a cluster", GLOBAL),
    "multimem": ("memory of several devices", "run the kernel on one device"),
    "alloca": ("arrays of a size that is known only at run time", "declare one of constant size"),
    "stacksave": (
        "arrays of a size that is known only at run time",
        "declare one of constant size",
    ),
    "tex": ("textures", "load from an array"),
    "tld4": ("textures", "load from an array"),
    "txq": ("textures", "load from an array"),
    "suld": ("surfaces", "load from an array"),
    "sust": ("surfaces", "store into an array"),
    "sured": ("surfaces", "use an atomic on an array"),
    "suq": ("surfaces", "load from an array"),
}
"""The things that such an instruction needs, by a word of its name; and what to do."""


def missing_word(one: Instruction) -> str | None:
    """The word of `MISSING` for an instruction, None if the model may have it."""
    first = one.name[0]
    if first in MISSING:
        return first
    if first == "cp" and "bulk" in one.name and {"tensor", "prefetch", "reduce"} & {*one.name}:
        return "bulk"
    return "async" if first in ("st", "red") and "async" in one.name else None


def missing(one: Instruction, word: str, place: Place) -> LanguageError:
    """The error for an instruction that the model leaves out."""
    what, advice = MISSING[word]
    name = ".".join(one.name)
    return LanguageError(f"{name} needs {what}, which the model leaves out", place, advice)


def refuse_cluster(kernel: Function, place: Place) -> None:
    """Refuse a kernel whose blocks form clusters."""
    blocks = prod(kernel.limits.get("reqnctapercluster", (1,)))
    if blocks > 1:
        raise LanguageError(
            f"the kernel asks for clusters of {blocks} blocks, and each block is a cluster of its "
            "own in the model",
            place,
            f"leave out __cluster_dims__, and {GLOBAL}",
        )
