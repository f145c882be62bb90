"""Every table and figure of the five papers, with its caption, in the papers' order.

Each is reproduced under its id: by a table in `reports`, a drawing here, or a measurement in `gpu`.
This file says which ones claims reproduce, and which ones nothing does.
"""

from __future__ import annotations

from mmsim.claims.printed import PrintedItem as Item

MACHINE = "a picture of the machine: it shows no access and no result"

CONTENTS = [
    Item("SMM-F1", "The architectures of the DMM and the UMM", omitted=MACHINE),
    Item("SMM-F2", "The contiguous access and the stride access for p = 4 and n = 16"),
    Item(
        "SMM-F3",
        "(no caption)",
        omitted="the text at hand lacks it and its caption; the definitions of banks and of "
        "address groups stand around its place",
    ),
    Item("SMM-F4", "An example of memory access"),
    Item("SMM-F5", "Transposing on the DMM"),
    Item("SMM-F6", "Transposing of a 2-dimensional array of size w × w on the UMM"),
    Item("SMM-F7", "Transposing on the UMM"),
    Item("SMM-F8", "A regular bipartite graph with degree 4"),
    Item("SMM-F9", "Row-wise permutation"),
    Item("SMM-F10", "Column-wise permutation"),
    Item("SMM-F11", "Illustrating a data movement of the permutation algorithm on the UMM"),
    Item(
        "SMM-T1",
        "The running time for the contiguous access and the stride access",
        claims=("SMM-T3.1a", "SMM-T3.1b", "SMM-T3.1c"),
    ),
    Item("CFP-F1", "The architectures of the DMM and the UMM", omitted=MACHINE),
    Item("CFP-F2", "Memory banks for w = 4"),
    Item("CFP-F3", "A regular bipartite graph with degree 4"),
    Item("CFP-F4", "Examples of augmenting paths"),
    Item("CFP-F5", "The resulting bipartite matching after flipping operation"),
    Item("CFP-F6", "Transpose permutation"),
    Item("CFP-F7", "The executing time to permute arrays of 1024 elements"),
    Item("CFP-T1", "Memory access by each algorithm"),
    Item(
        "CFP-T2",
        "The executing time and the ratio with respect to the copy for an array of size n = 1024",
    ),
    Item("ICPP-F1", "The architectures of the DMM and the UMM with width w = 4", omitted=MACHINE),
    Item(
        "ICPP-F2",
        "The architecture of the HMM with d = 3 DMMs and width w = 4",
        omitted=MACHINE,
    ),
    Item("ICPP-F3", "Examples of memory access on the DMM and the UMM"),
    Item("ICPP-F4", "Diagonal arrangement of a 4 × 4 matrix"),
    Item("ICPP-F5", "A regular bipartite graph with degree 4 painted by 4 colors"),
    Item("ICPP-F6", "Illustrating how numbers are routed by the permutation algorithm"),
    Item("ICPP-T1", "The number of rounds and the running time of algorithms on the HMM"),
    Item(
        "ICPP-T2",
        "The running time (milliseconds) of D-designated, S-designated and our scheduled algorithm",
    ),
    Item(
        "ICPP-T3",
        "The running time (milliseconds) of the three permutations and the values of D_w(P) for "
        "permutation P of size 4M",
    ),
    Item(
        "IEICE",
        "(no table, no figure)",
        omitted="only the abstract is at hand, which has no table and no figure",
    ),
    Item("RAP-F1", "The architectures of the DMM and the UMM with width w = 4", omitted=MACHINE),
    Item("RAP-F2", "Examples of memory access and the congestion for w = 4"),
    Item("RAP-F3", "The Discrete Memory Machine (DMM)"),
    Item("RAP-F4", "The contiguous access, the stride access, and the diagonal access for w = 4"),
    Item("RAP-F5", "Illustrating the three matrix transpose algorithms for w = 4"),
    Item("RAP-F6", "An example of the random address permute-shift"),
    Item("RAP-F7", "Arrangement of random numbers r_i (0 ≤ i ≤ 31) in local registers r[*]"),
    Item(
        "RAP-T1",
        "The memory access congestion of the RAW, the RAS, and the RAP",
        claims=("RAP-TH2", "RAP-T2"),
    ),
    Item("RAP-T2", "The congestion of memory access to a matrix of size w × w"),
    Item(
        "RAP-T3",
        "The congestion on the DMM and the computing time on the GPU for CRSW, SRCW, and DRDW "
        "algorithms by the RAW, the RAS, and the RAP implementations",
    ),
    Item(
        "RAP-T4",
        "The congestion and the used random numbers by the RAW, the RAS, and the RAPs for an array "
        "of size w⁴",
    ),
]
