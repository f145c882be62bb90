"""The blocks that multiprocessors run while all write to memory, and the clusters they show."""

import ctypes
import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from emulated_gpu import Emulated, needs_compiler
from mmsim.cuda_c.kernels import Kernel
from mmsim.gpu import cache_halves, cache_shares
from mmsim.gpu.cache_calibrated import CHOSEN, cached_machine, cached_numbers
from mmsim.gpu.cache_shares import counts, kernel, measured, sizes
from mmsim_algorithms.gpu.kept import Results
from mmsim_algorithms.gpu.page_cache import cache
from mmsim_algorithms.gpu.page_cached import cached

KEPT = Results.read()
NVCC = shutil.which("nvcc")
UNEQUAL = (18, 18, 18, 18, 18, 18, 12, 12)


def blocks_of(clusters, each=1650):
    """The blocks of each multiprocessor where each cluster runs so many."""
    return [round(each / size) for size in clusters for _ in range(size)]


def with_blocks(blocks):
    """The kept results, in which multiprocessors ran so many blocks; None: without such a row."""
    rows = [row for row in KEPT["cache"].rows if row["number"] != "shares"]
    if blocks is not None:
        rows.append({"number": "shares", "blocks": " ".join(map(str, blocks))})
    record = replace(KEPT["cache"], rows=tuple(rows))
    return Results({**KEPT.records, "cache": record})


# ------------------------------------------------------------ the kernel


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
def test_nvcc_takes_what_is_written_in_cuda_c(tmp_path):
    texts = (cache_shares.SOURCE, cache_halves.SOURCE, cache_halves.WHERE)
    (tmp_path / "kernels.cu").write_text("\n".join(texts))
    command = [NVCC, "-ptx", "-o", str(tmp_path / "kernels.ptx"), str(tmp_path / "kernels.cu")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    assert "%smid" in (tmp_path / "kernels.ptx").read_text()


@needs_compiler
def test_blocks_write_a_word_of_random_sectors_and_note_where_they_ran(tmp_path):
    """With three multiprocessors in turn; beyond the sectors nothing is written."""
    (asked,) = [line for line in cache_shares.SOURCE.splitlines() if "asm" in line]
    text = cache_shares.SOURCE.replace(asked, "own = blockIdx.x % 3;")
    one = replace(kernel(7), source=text)
    words, sectors = 8, 5000
    a, b = np.full((sectors + 1000, words), -1, np.int32), np.full(8, -1, np.int32)
    p = np.array([3, sectors, words], np.int32)
    pointers = [ctypes.pointer(ctypes.c_void_p(array.ctypes.data)) for array in (a, b, p)]
    table = (ctypes.c_void_p * 3)(*(ctypes.cast(one, ctypes.c_void_p) for one in pointers))
    Emulated([one], tmp_path).library.run_0(table, 0)
    assert b.tolist() == [0, 1, 2, 0, 1, 2, 0, -1]
    assert (a[:, 1:] == -1).all()
    assert (a[sectors:] == -1).all()
    # Of 21504 writes to 5000 sectors hardly any sector is left out.
    assert 0.98 < (a[:sectors, 0] >= 0).mean() < 0.993
    assert set(a[:sectors, 0].tolist()) == {-1, 0, 1, 2}


def test_the_blocks_of_each_multiprocessor_are_counted():
    """Multiprocessors 0, 2 and 5 run them; others have no number."""
    launched = []

    def ready(written: Kernel, passed):
        def launch():
            a, b, p = passed
            launched.append((written.grid, written.block, a.size, p.tolist()))
            b[:] = [0] * 90 + [2] * 140 + [5] * 70

        return launch

    stage = SimpleNamespace(
        cp=SimpleNamespace(zeros=np.zeros, asarray=np.asarray, asnumpy=np.asarray),
        card=SimpleNamespace(multiprocessors=3),
        scratch=np.zeros(4096, np.int32),
        ready=ready,
    )
    row = measured(stage)
    assert row == {"number": "shares", "blocks": "90 140 70"}
    assert launched == [((300, 1, 1), (1024, 1, 1), 4096, [cache_shares.WRITES, 512, 8])]
    assert counts([{"number": "halves"}, row]) == [90, 140, 70]
    assert counts([]) == []


# ------------------------------------------------------------ the clusters


@pytest.mark.parametrize("clusters", [UNEQUAL, 8 * (16,), (18, 18, 16, 16, 16, 16, 16, 16), (3,)])
def test_equal_shares_show_the_sizes_of_clusters(clusters):
    blocks = blocks_of(clusters)
    assert sizes(blocks, len(clusters)) == clusters
    near = [one + (number % 3 - 1) for number, one in enumerate(blocks)]
    assert sizes(near, len(clusters)) == clusters
    assert sizes(near[::-1], len(clusters)) == clusters


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [*blocks_of(UNEQUAL)[:-1], 92],  # 109 multiprocessors aren't clusters of 18
        blocks_of(8 * (16,))[:-1],
        [1, *[10_000] * 131],
        [10_000, *[1] * 131],
    ],
)
def test_blocks_that_make_up_no_clusters_show_none(blocks):
    assert sizes(blocks, 8) is None
    assert cached_numbers(with_blocks(blocks)["cache"], KEPT.card)["clusters"] == 8


def test_the_clusters_of_fewer_multiprocessors_than_the_card_has_are_not_taken():
    blocks = blocks_of(8 * (16,))
    assert sizes(blocks, 8) == 8 * (16,)
    assert cached_numbers(with_blocks(blocks)["cache"], KEPT.card)["clusters"] == 8


def test_without_such_a_row_the_clusters_are_equal():
    results = with_blocks(None)
    assert cached_numbers(results["cache"], KEPT.card)["clusters"] == CHOSEN["clusters"] == 8
    assert cached_machine(results["cache"], KEPT.card).clusters == 8
    assert "equal blocks that write" not in " ".join(cache(results)[0].split())
    assert "`clusters` = 8" in " ".join(cached(results)[0].split())


def test_the_page_has_the_blocks_and_the_clusters():
    results = with_blocks(blocks_of(UNEQUAL))
    assert cached_numbers(results["cache"], KEPT.card)["clusters"] == UNEQUAL
    text = " ".join(cache(results)[0].split())
    assert "Of 13,248 equal blocks" in text
    assert "each multiprocessor runs 92 to 138, as if clusters of 18, 18, " in text
    text = " ".join(cached(results)[0].split())
    assert "| clusters | 18, 18, 18, 18, 18, 18, 12, 12 |" in text
    assert "`clusters` = 8" not in text
    assert "that there are 8 clusters of multiprocessors" in text
    unclear = " ".join(cache(with_blocks([1, *[10_000] * 131]))[0].split())
    assert "each multiprocessor runs 1 to 10000." in unclear
