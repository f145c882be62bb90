"""The short names of the papers and of the families of algorithms, and their meanings."""

from __future__ import annotations

from mmsim_algorithms.gpu.markdown import paragraph

PAPERS = {
    "SMM": "*Simple Memory Machine Models*",
    "CFP": "conflict-free permutation",
    "ICPP": "International Conference on Parallel Processing",
    "IEICE": "Institute of Electronics, Information and Communication Engineers",
    "RAP": "random address permute-shift",
}
"""The five papers, by the first letters of their claims' ids."""

FAMILIES = {
    "SUM": "the sum",
    "SCAN": "prefix sums",
    "SAT": "the summed area table",
    "MATMUL": "the product of matrices",
    "SORT": "sorting",
    "CONV": "direct convolution",
    "ASM": "approximate string matching",
    "DP": "dynamic programming",
    "BULK": "bulk execution",
    "LIST": "lists in fragments",
    "POLY": "optimal polygon triangulation",
    "FFT": "the fast Fourier transform",
    "STENCIL": "a stencil",
    "HIST": "histograms",
    "SPMV": "sparse matrix times vector",
}
"""The families of the field's algorithms, by the first letters of their claims' ids."""


def names() -> list[tuple[str, str]]:
    """Each short name with its meaning (the entry point of `mmsim verify --html`)."""
    return [(name, text.strip("*")) for name, text in (PAPERS | FAMILIES).items()]


_papers = ", ".join(f"{name} ({text})" for name, text in PAPERS.items())

ABBREVIATIONS = paragraph(
    f"""The papers are {_papers}. The machines are the DMM (Discrete Memory Machine), the UMM
    (Unified Memory Machine) and the HMM (Hierarchical Memory Machine). RAP has the layouts RAW
    (row-major order), RAS (random address shift) and RAP, and the transposes CRSW (contiguous read,
    stride write), SRCW (stride read, contiguous write) and DRDW (diagonal read, diagonal write)."""
)
"""The meanings of the abbreviations in the claims' titles and notes, for the head of a page."""


def titled(name: str) -> str:
    """The short name of a paper or family with its meaning, if that is known.

    >>> titled("FFT"), titled("OTHER")
    ('FFT (the fast Fourier transform)', 'OTHER')
    """
    text = (PAPERS | FAMILIES).get(name)
    return name if text is None else f"{name} ({text})"
