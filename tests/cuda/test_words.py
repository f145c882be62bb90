"""Errors and findings speak of kernels in the words of numba.cuda."""

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.cuda.launches import history


@cuda.jit
def counts(x, h):
    i = cuda.grid(1)
    if i < x.size:
        h[x[i]] += 1


@cuda.jit
def beyond(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def parted(x):
    if cuda.threadIdx.x < 10:
        cuda.syncthreads()
    x[cuda.threadIdx.x] = 1


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(history, "check", True)


def test_an_index_out_of_range_names_kernel_line_thread_and_block():
    with pytest.raises(IndexError) as caught:
        beyond[2, 64](np.zeros(100))
    said = str(caught.value)
    assert "'beyond', line 20, thread 100 (threadIdx (36, 0, 0), blockIdx (1, 0, 0))" in said
    assert "index [100] of 'x' is out of range" in said


def test_a_barrier_that_not_all_reach_names_thread_and_block():
    with pytest.raises(
        mm.errors.BarrierError, match=r"threadIdx \(10, 0, 0\), blockIdx \(0, 0, 0\)"
    ):
        parted[1, 64](np.zeros(64))


def test_findings_advise_in_the_words_of_the_kernel(checked):
    counts[4, 64](np.arange(256) % 4, np.zeros(4, np.int32))
    found = {one.kind: one for one in cuda.last.findings}
    assert "cuda.atomic.add" in found["lost-update"].advice
    assert "put cuda.syncthreads() after that" in found["race"].advice
    assert "threadIdx" in str(found["race"])
    again = mm.Run.from_json(cuda.last.to_json())
    assert again.findings == cuda.last.findings
    assert again.findings[0].language == "numba"
