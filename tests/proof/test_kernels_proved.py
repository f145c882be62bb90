"""Programs of papers and textbooks that are proved for all sizes that they are meant for."""

from importlib import import_module

import numpy as np
import pytest

import mmsim as mm
from mmsim.api.binding import bind
from mmsim.model.threads import asked
from mmsim.results.proved import MISTAKES

pytest.importorskip("z3", reason="proofs need z3-solver")

MACHINE = mm.HMM(dmms=2, width=8, global_latency=20)
FULL = "threads % block_size == 0"
POSITIVE = "w >= 1"


def squares(side, *names):
    """Square matrices of one size."""
    return [f"{name}.shape[{axis}] == {side}" for name in names for axis in (0, 1)]


def sizes(size, *names):
    """Arrays of one size."""
    return [f"{name}.size == {size}" for name in names]


def below(limit, *names):
    """Arrays of indices."""
    return [f"all(0 <= x < {limit} for x in {name})" for name in names]


MATRIX = ["threads == a.shape[0] * a.shape[0]", *squares("a.shape[0]", "a")]
TILES = [
    *("block_size == w * w", FULL, POSITIVE, "a.shape[0] % w == 0", *squares("a.shape[0]", "a")),
    "blocks == (a.shape[0] // w) * (a.shape[0] // w)",
]
BORDERS = [
    *("above.shape[0] == a.shape[0] // w", "above.shape[1] == a.shape[0]"),
    *("left.shape[0] == a.shape[0] // w", "left.shape[1] == a.shape[0]"),
]
ROWS = ["r.size == y.size + 1", *sizes("v.size", "c"), "all(0 <= k <= v.size for k in r)"]
ELL = [*("c.shape[0] == v.shape[0]", "c.shape[1] == y.size", "v.shape[1] == y.size")]
SCAN = ["block_size == width", FULL, "sums.size == blocks"]
EQUAL = ["a.shape[0] == b.shape[0]", "a.shape[1] == b.shape[1]"]

PAPERS = {
    "access.figures:one_cell": ["0 <= i", "i < a.size"],
    "access.programs:contiguous": [],
    "access.programs:copy": sizes("a.size", "b"),
    "access.programs:stride": [],
    "access.rounds:coalesced": ["a.size == threads"],
    "access.rounds:conflict_free": [],
    "access.rounds:one_bank": ["threads == w * w", POSITIVE],
    "bulk.programs:prefix_sums": ["a.shape[0] == threads"],
    "bulk.programs:sort": ["a.shape[0] == threads"],
    "convolution.programs:direct": ["b.size == a.size + c.size - 1", "a.size >= 1"],
    "dmm_permutation.programs:source_designated": [
        *sizes("a.size", "b", "q"),
        *below("a.size", "q"),
    ],
    "dynamic_programming.programs:in_global_memory": ["M.shape[0] == M.shape[1]"],
    "fft.programs:stockham": ["power_of_two(x.size)", "z.size == x.size // 2", "y.size == x.size"],
    "histogram.programs:histogram": below("h.size", "x"),
    "prefix_sums.look_back:added": ["b.size == r * threads", *SCAN],
    "prefix_sums.look_back:scanned": ["a.size == r * threads", "b.size == a.size", *SCAN],
    "prefix_sums.look_back:sums_before": ["block_size == width", "threads == width"],
    "prefix_sums.look_back:tile_scans": ["a.size == r * threads", "b.size == a.size", *SCAN],
    "prefix_sums.look_back:tile_sums": ["a.size == r * threads", *SCAN],
    "prefix_sums.programs:doubling": sizes("a.size", "b"),
    "prefix_sums.programs:in_registers": [
        *("a.size % threads == 0", "b.size == a.size", "w == width"),
        *("threads % width == 0", "sums.size == threads // width"),
    ],
    "product.programs:by_columns": squares("a.shape[0]", "a", "b", "c"),
    "product.programs:by_rows": squares("a.shape[0]", "a", "b", "c"),
    "product.programs:tiled": [*squares("a.shape[0]", "b", "c"), *TILES],
    "product.programs:tiled_by_rows": [
        *(*squares("a.shape[0]", "b", "c"), *TILES, "r.size == w", *below("w", "r")),
    ],
    **{
        f"rap.programs:{name}": MATRIX
        for name in (
            *("contiguous", "stride", "diagonal", "diagonal_transposed"),
            *("crsw_with_barrier", "srcw_with_barrier", "drdw_with_barrier"),
        )
    },
    "rap.programs:any_access": [
        *sizes("threads", "row", "column"),
        *(*below("a.shape[0]", "row"), *below("a.shape[1]", "column")),
    ],
    **{
        f"rap.programs:{name}": [*MATRIX, *squares("a.shape[0]", "b")]
        for name in ("crsw_to", "srcw_to", "drdw_to")
    },
    "sparse.programs:ell": [*ELL, *below("x.size", "c")],
    "sparse.programs:ell_shared": [*ELL, *below("x.size", "c")],
    "sparse.programs:row_of_thread": [*ROWS, *below("x.size", "c")],
    "sparse.programs:row_of_warp": [
        *(*ROWS, *below("x.size", "c"), "w == width", "threads % width == 0"),
    ],
    "summed_area.programs:along": ["b.shape[0] == threads"],
    "summed_area.programs:before": ["above.shape[1] == threads", "left.shape[1] == threads"],
    "summed_area.programs:borders": [*TILES, *BORDERS],
    "summed_area.programs:corners": [
        *("left.shape[0] == threads", "left.shape[1] == w * corner.shape[0]"),
        *("corner.shape[1] == threads", POSITIVE),
    ],
    "summed_area.programs:down": [*EQUAL, "a.shape[1] == threads"],
    "summed_area.programs:finished": [
        *(*TILES, *BORDERS, *squares("a.shape[0]", "b"), *squares("a.shape[0] // w", "corner")),
    ],
    "summed_area.programs:wave": [
        *(*TILES[:-1], *squares("a.shape[0]", "b"), *sizes("a.shape[0]", "above", "left")),
        *("0 <= first", "first + blocks <= a.shape[0] // w", "first + blocks <= k + 1"),
        "k - first < a.shape[0] // w",
    ],
    "sums.programs:block_sums": ["a.size % threads == 0", "a.size >= 1", FULL, "b.size == blocks"],
    "sums.programs:columns": ["a.size % threads == 0", "a.size >= 1", "c.size == threads"],
    "sums.programs:strided_tree": ["power_of_two(a.size)"],
    "sums.programs:tree": [],
    "transpose.dmm:diagonal": [*MATRIX, *squares("a.shape[0]", "b")],
    "transpose.dmm:straightforward": [*MATRIX, *squares("a.shape[0]", "b")],
    "transpose.hmm:transpose": [*TILES, *squares("a.shape[0]", "b")],
    "transpose.umm:rotating": [*squares("threads", "a", "b")],
    "triangulation.programs:by_diagonals": squares("u.shape[0]", "u", "c"),
    "triangulation.programs:by_rows": squares("u.shape[0]", "u", "c"),
}
"""The facts of each program of `algorithms`, which is launched as its example."""

BLOCKS = "d.shape[0] == 4 * gridDim.x"
TEXTBOOK = {
    "graphs:other_tiles": (
        [np.zeros((12, 12), int), 1],
        {"grid": (3, 3), "block": (4, 4)},
        ["blockDim.x == 4", "blockDim.y == 4", "gridDim.x == gridDim.y"],
        [BLOCKS, "d.shape[1] == d.shape[0]", "0 <= k", "k < gridDim.x"],
    ),
    "reductions:several_values_each": (
        [np.zeros(1024, int), np.zeros(2, int)],
        {"threads": 128, "block_size": 64},
        [FULL, "data.size % (2 * block_size) == 0", "sums.size == blocks"],
        ["width == 8", "block_size % 16 == 0"],
    ),
    "simulations:accelerations_in_single_precision": (
        [np.zeros((48, 3)), np.zeros(48), np.zeros((48, 3))],
        {"threads": 48, "block_size": 16},
        ["block_size == 16", FULL, "position.shape[0] == threads", "position.shape[1] == 3"],
        ["mass.size == threads", "acceleration.shape[0] == threads", "acceleration.shape[1] == 3"],
    ),
    "sorts:count_digits": (
        [np.zeros(128, int), np.zeros((4, 16), int), 2],
        {"threads": 16, "block_size": 8},
        ["counts.shape[0] == 4", "counts.shape[1] == threads"],
        ["data.size % threads == 0"],
    ),
    "sorts:scan_counts": (
        [np.zeros((4, 16), int), np.zeros((4, 16), int)],
        {"threads": 64},
        ["starts.shape[0] == counts.shape[0]", "starts.shape[1] == counts.shape[1]"],
        ["threads == counts.shape[0] * counts.shape[1]"],
    ),
    "stencils:jacobi": (
        [np.zeros(34), np.zeros(34), np.zeros(34), 10],
        {"threads": 32},
        sizes("threads + 2", "u", "v", "f"),
        [],
    ),
    "stencils:jacobi_in_many_blocks": (
        [np.zeros(34), np.zeros(34), np.zeros(34), 10],
        {"threads": 32, "block_size": 8},
        sizes("threads + 2", "u", "v", "f"),
        [FULL],
    ),
}
"""Arguments, launch and facts of kernels of `tests/kernels`."""

TURNED = ["b.shape[0] == a.shape[1]", "b.shape[1] == a.shape[0]"]


def z(*shape):
    """An array of zeros."""
    return np.zeros(shape, int)


CARDS = {
    "gpu.dense_kernels:dense_row_of_thread": (
        [z(32, 5), z(5), z(32)],
        {"threads": 32, "block_size": 8},
        ["a.shape[0] == threads", "y.size == threads", "x.size == a.shape[1]"],
    ),
    "gpu.dense_kernels:dense_row_of_warp": (
        [z(4, 9), z(9), z(4), 8],
        {"threads": 32, "block_size": 8},
        [
            "w == width",
            "threads % width == 0",
            "block_size % width == 0",
            FULL,
            "a.shape[0] == threads // width",
            "y.size == a.shape[0]",
            "x.size == a.shape[1]",
        ],
    ),
    "gpu.dense_kernels:padded_transpose": (
        [z(16, 24), z(24, 16), 8],
        {"threads": 384, "block_size": 64},
        [
            "block_size == w * w",
            FULL,
            "w >= 1",
            "a.shape[0] % w == 0",
            "a.shape[1] % w == 0",
            "blocks == (a.shape[0] // w) * (a.shape[1] // w)",
            *TURNED,
        ],
    ),
    "gpu.dense_kernels:naive_transpose": (
        [z(4, 8), z(8, 4)],
        {"threads": 32, "block_size": 8},
        ["threads == a.shape[0] * a.shape[1]", *TURNED],
    ),
    "gpu.dense_kernels:nine_points": (
        [z(4, 8), z(4, 8)],
        {"threads": 32, "block_size": 8},
        ["threads == a.shape[0] * a.shape[1]", *EQUAL],
    ),
    "gpu.dense_kernels:hadamard_step": (
        [z(128), z(128), 4],
        {"threads": 32, "block_size": 8},
        ["h >= 1", "threads % h == 0", "a.size == 4 * threads", "b.size == a.size"],
    ),
    "gpu.dense_kernels:rotate": (
        [z(8, 8), z(8, 8).astype(float), 222, 128],
        {"threads": 64, "block_size": 8},
        ["threads == a.shape[0] * a.shape[0]", "a.shape[0] == a.shape[1]", *EQUAL],
    ),
    "gpu.indexed_kernels:gather": (
        [z(9), z(32), z(32)],
        {"threads": 32, "block_size": 8},
        ["all(0 <= x < a.size for x in q)", *sizes("threads", "b", "q")],
    ),
    "gpu.indexed_kernels:mark": (
        [z(9), z(32)],
        {"threads": 32, "block_size": 8},
        ["all(0 <= x < flags.size for x in q)", *sizes("threads", "q")],
    ),
    "gpu.indexed_kernels:binary_search": (
        [z(9), z(32), z(32)],
        {"threads": 32, "block_size": 8},
        sizes("threads", "keys", "found"),
    ),
    "gpu.reduction_kernels:clear": ([z(40)], {"threads": 32, "block_size": 8}, []),
    "gpu.reduction_kernels:add_before": (
        [z(32), z(4)],
        {"threads": 32, "block_size": 8},
        ["b.size == threads", "sums.size == blocks"],
    ),
    "gpu.reduction_kernels:products_of_block": (
        [z(40), z(40), z(4)],
        {"threads": 32, "block_size": 8},
        ["y.size == x.size", "sums.size == blocks", FULL],
    ),
    "gpu.reduction_kernels:sum_of_block": ([z(40), z(1)], {"threads": 32}, ["s.size == 1"]),
    "gpu.reduction_kernels:bitonic_step": (
        [z(64), 8, 4],
        {"threads": 32, "block_size": 8},
        ["h >= 1", "run >= 1", "threads % h == 0", "a.size == 2 * threads"],
    ),
    "gpu.reduction_kernels:block_scan": (
        [z(32), z(32), z(4)],
        {"threads": 32, "block_size": 8},
        [FULL, "a.size == threads", "b.size == threads", "sums.size == blocks"],
    ),
    "gpu.reduction_kernels:bitonic_steps_of_block": (
        [z(64), 16],
        {"threads": 32, "block_size": 8},
        [FULL, "a.size == 2 * threads", "power_of_two(block_size)", "run >= 1"],
    ),
    "gpu.reduction_kernels:sum_by_shuffles": (
        [z(64), z(1), 8],
        {"threads": 32, "block_size": 8},
        [
            "w == width",
            "block_size % width == 0",
            FULL,
            "s.size == 1",
            "block_size <= width * width",
        ],
    ),
}
"""Arguments, launch and facts of kernels that run on cards."""

SLOW = {
    *("fft.programs:stockham", "prefix_sums.programs:doubling", "sums.programs:strided_tree"),
    *("dynamic_programming.programs:in_global_memory", "prefix_sums.look_back:scanned"),
    *("prefix_sums.look_back:tile_scans", "prefix_sums.programs:in_registers"),
    *("product.programs:tiled", "product.programs:tiled_by_rows"),
    *("reductions:several_values_each", "sparse.programs:row_of_warp"),
    *("summed_area.programs:borders", "summed_area.programs:finished"),
    *("summed_area.programs:wave", "triangulation.programs:by_diagonals"),
    *("triangulation.programs:by_rows", "sparse.programs:ell_shared"),
    *("sparse.programs:row_of_thread", "prefix_sums.look_back:sums_before"),
    "gpu.reduction_kernels:sum_by_shuffles",
}
"""They are proved by `make test-long` only."""


def cases():
    """Each program, with its arguments, launch and facts."""
    for name, facts in PAPERS.items():
        yield name, facts
    for name, (_, _, some, others) in TEXTBOOK.items():
        yield name, [*some, *others]
    for name, (_, _, facts) in CARDS.items():
        yield name, facts


def launched(name):
    module, _, program = name.partition(":")
    if name in TEXTBOOK:
        arguments, sizes_of, _, _ = TEXTBOOK[name]
        return getattr(import_module(f"tests.kernels.test_{module}"), program), arguments, sizes_of
    found = getattr(import_module(f"mmsim_algorithms.{module}"), program)
    if name in CARDS:
        arguments, sizes_of, _ = CARDS[name]
        return found, arguments, sizes_of
    example = found.prepare(MACHINE.width)
    return found, example.arguments, example.launch


def asked_about(name, facts):
    from mmsim.proof.races import Questions

    program, arguments, launch = launched(name)
    shape = asked(**launch)
    bound = bind(MACHINE, program, tuple(arguments), shape, "asynchronous")
    return Questions(bound, tuple(facts), shape[2], shape[1] is None)


FREE = ("products_of_block", "sum_of_block", "block_scan", "sum_by_shuffles")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        pytest.param(*case, id=case[0], marks=[pytest.mark.long] * (case[0] in SLOW))
        for case in cases()
    ],
)
def test_a_program_is_proved(name, facts):
    asked = asked_about(name, facts)
    assert [one.reason for about in MISTAKES for one in asked.open(about)] == []


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("gpu.dense_kernels:padded_transpose", ["w == width"]),
        *((f"gpu.reduction_kernels:{name}", []) for name in FREE),
    ],
)
def test_a_kernel_is_free_of_conflicts(name, more):
    found = asked_about(name, [f"width == {MACHINE.width}", *more, *dict(cases())[name]])
    assert [one.reason for one in found.conflicts()] == []


def test_facts_are_needed():
    for name in ("access.programs:copy", "rap.programs:crsw_to"):
        program, arguments, launch = launched(name)
        report = MACHINE.check(program, *arguments, prove=True, **launch)
        assert report.proved.index.answer == "no", name


def test_eighty_programs_are_proved():
    assert len(dict(cases())) >= 80
