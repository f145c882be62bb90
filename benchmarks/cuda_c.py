"""Compare kernels of CUDA C++ with their twins in Python: how long a simulated launch takes.

    python benchmarks/cuda_c.py [--threads 1048576] [--repeat 5]

Each kernel is launched as `mm.RawKernel` (CUDA C++, through PTX) and as a kernel of `cuda.jit`, in
turn, on the same arrays and machine. Printed are the medians and their ratio, which should be at
most 2. Then a new process compiles and launches a small kernel for the first time: from the call to
its end, without the import of mmsim, it should take at most 1 s. It needs NVIDIA's compiler, of the
extra `cuda-c`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import mmsim as mm
from mmsim import cuda

CODE = r"""
extern "C" __global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void block_sums(float *out, const float *a, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? a[i] : 0.0f;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void stencil(float *out, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
}

extern "C" __global__ void histogram(int *counts, const int *a, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) atomicAdd(&s[a[i]], 1);
    __syncthreads();
    if (t < 64) atomicAdd(&counts[t], s[t]);
}
"""
FIRST = """
import time, numpy as np, mmsim as mm
code = {code!r}
a = np.zeros(1024, np.float32)
before = time.perf_counter()
mm.RawKernel(code, "add")((4,), (256,), (np.zeros_like(a), a, a, 1024))
print(time.perf_counter() - before)
"""


@cuda.jit
def add(c: Any, a: Any, b: Any, n: int) -> None:
    i = cuda.grid(1)
    if i < n:
        c[i] = a[i] + b[i]


@cuda.jit
def block_sums(out: Any, a: Any, n: int) -> None:
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 256 + t
    s[t] = a[i] if i < n else 0
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def stencil(out: Any, a: Any, n: int) -> None:
    i = cuda.grid(1)
    if i > 0 and i < n - 1:
        out[i] = np.float32(0.25) * a[i - 1] + np.float32(0.5) * a[i] + np.float32(0.25) * a[i + 1]


@cuda.jit
def histogram(counts: Any, a: Any, n: int) -> None:
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    if t < 64:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(s, a[i], 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(counts, t, s[t])


def medians(repeat: int, *launches: Callable[[], object]) -> list[float]:
    """The median seconds of launches that take turns, after two of each."""
    times: list[list[float]] = [[] for _ in launches]
    for number in range(repeat + 2):
        for launch, own in zip(launches, times, strict=True):
            before = time.perf_counter()
            launch()
            if number > 1:
                own.append(time.perf_counter() - before)
    return [statistics.median(own) for own in times]


def twins(threads: int, repeat: int) -> None:
    """Print how long each kernel and its twin take."""
    draw = np.random.RandomState(0)
    a, b = draw.random_sample((2, threads)).astype(np.float32)
    bins = draw.randint(0, 64, threads).astype(np.int32)
    blocks = -(-threads // 256)
    module = mm.RawModule(code=CODE)
    for twin, args in (
        (add, (np.zeros_like(a), a, b, threads)),
        (block_sums, (np.zeros(blocks, np.float32), a, threads)),
        (stencil, (np.zeros_like(a), a, threads)),
        (histogram, (np.zeros(64, np.int32), bins, threads)),
    ):
        kernel = module.get_function(twin.__name__)
        sizes = (blocks,), (256,)
        own, other = medians(
            repeat, partial(kernel, *sizes, args), partial(twin[blocks, 256], *args)
        )
        assert kernel.last.time == twin.last.time, "both have the same time in the model"
        print(
            f"{kernel.name}, {threads} threads: CUDA C++ {own * 1000:.0f} ms, Python "
            f"{other * 1000:.0f} ms: {own / other:.2f} times as long (goal: 2)"
        )


def first() -> None:
    """Print how long a first launch takes in a new process, with an empty cache and with a full."""
    with tempfile.TemporaryDirectory() as cache:
        for what in ("with an empty cache", "with what that kept"):
            done = subprocess.run(
                [sys.executable, "-c", FIRST.format(code=CODE)],
                env={**os.environ, "MMSIM_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
            print(f"a first launch in a new process, {what}: {float(done.stdout):.2f} s (goal: 1)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--threads", type=int, default=1 << 20)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    twins(asked.threads, asked.repeat)
    first()


if __name__ == "__main__":
    main()
