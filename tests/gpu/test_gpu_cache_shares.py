"""The blocks that multiprocessors run while all write to memory."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.laboratory.cache import blocks_run
from benchmarks.laboratory.cache import section as cache
from mmsim.cuda_c.kernels import Kernel
from mmsim_algorithms.gpu.cache_multiprocessors import (
    ASKS,
    READS,
    TIMES_WRITTEN,
    WHERE,
    WRITES,
    kernel,
    shares,
)
from mmsim_algorithms.gpu.kept import Results
from tests.kit.cards.played import stage
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

KEPT = Results.read()
NVCC = shutil.which("nvcc")


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
def test_nvcc_takes_what_is_written_in_cuda_c(tmp_path):
    (tmp_path / "kernels.cu").write_text("\n".join((ASKS, WRITES, READS, WHERE)))
    command = [NVCC, "-ptx", "-o", str(tmp_path / "kernels.ptx"), str(tmp_path / "kernels.cu")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    assert "%smid" in (tmp_path / "kernels.ptx").read_text()


@needs_compiler
def test_blocks_write_a_word_of_random_sectors_and_note_where_they_ran(tmp_path):
    """With three multiprocessors in turn; beyond the sectors nothing is written."""
    (asked,) = [line for line in WRITES.splitlines() if "asm" in line]
    text = WRITES.replace(asked, "own = blockIdx.x % 3;")
    one = replace(kernel(WRITES, 7), source=text)
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

    (row,) = shares(stage(3, 4096, ready))
    assert row == {"number": "shares", "blocks": "90 0 140 0 0 70"}
    assert launched == [((300, 1, 1), (1024, 1, 1), 4096, [TIMES_WRITTEN, 512, 8])]
    assert blocks_run([{"number": "halves"}, row]) == [90, 0, 140, 0, 0, 70]
    assert blocks_run([]) == []


def test_the_page_has_the_blocks_of_each_size():
    """Without clusters only what all ran, without the row nothing."""
    rows = [row for row in KEPT["cache"].rows if row["number"] not in ("shares", "clusters")]

    def page(*more):
        record = replace(KEPT["cache"], rows=(*rows, *more))
        return " ".join(cache(Results({**KEPT.records, "cache": record})).split())

    ran = {"number": "shares", "blocks": "90 92 91 138 140"}
    clusters = {"number": "clusters", "multiprocessors": "0 1 2; 3 4"}
    assert "equal blocks" not in page()
    assert "Of 551 equal blocks" in page(ran)
    assert "each multiprocessor runs 90 to 140. " in page(ran) + " "
    assert "It depends on its cluster" not in page(ran)
    assert "in one of 3 90 to 92, in one of 2 138 to 140." in page(ran, clusters)
    assert "1 of 3, 1 of 2" in page(ran, clusters)
