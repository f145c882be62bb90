"""Edit distances of pairs of strings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import int32, uint8

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

EDIT = r"""
typedef unsigned char Letter;

extern "C" __global__ void edit_thread(const Letter* a, const Letter* b, int* distances)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x, first = pair * 32;
    int row[33];
    for (int j = 0; j <= 32; j++) row[j] = j;
    for (int i = 0; i < 32; i++) {
        int corner = i, letter = a[first + i];
        row[0] = i + 1;
        for (int j = 0; j < 32; j++) {
            int change = corner + (letter != b[first + j]);
            corner = row[j + 1];
            row[j + 1] = min(change, min(corner, row[j]) + 1);
        }
    }
    distances[pair] = row[32];
}

extern "C" __global__ void edit_warp(const Letter* a, const Letter* b, int* distances)
{
    __shared__ Letter s[4][32];
    int warp = threadIdx.y, lane = threadIdx.x, pair = blockIdx.x * 4 + warp;
    s[warp][lane] = a[pair * 32 + lane];
    __syncwarp();
    int letter = b[pair * 32 + lane], own = lane + 1, corner = lane;
    for (int step = 0; step < 63; step++) {
        int i = step - lane, left = __shfl_up_sync(0xffffffff, own, 1);
        if (i < 0 || i > 31) continue;
        if (lane == 0) left = i + 1;
        int change = corner + (s[warp][i] != letter);
        own = min(change, min(own, left) + 1);
        corner = left;
    }
    if (lane == 31) distances[pair] = own;
}
"""


def edit_thread(a: Any, b: Any, distances: Any) -> None:
    pair = cuda.grid(1)
    row = cuda.local.array(33, int32)
    for j in range(33):
        row[j] = j
    for i in range(32):
        corner = int32(i)
        letter = a[pair, i]
        row[0] = i + 1
        for j in range(32):
            change = corner
            if letter != b[pair, j]:
                change += 1
            corner = row[j + 1]
            row[j + 1] = min(change, min(corner, row[j]) + 1)
    distances[pair] = row[32]


def edit_warp(a: Any, b: Any, distances: Any) -> None:
    s = cuda.shared.array((4, 32), uint8)
    warp, lane = cuda.threadIdx.y, cuda.threadIdx.x
    pair = cuda.blockIdx.x * 4 + warp
    s[warp, lane] = a[pair, lane]
    cuda.syncwarp()
    letter = b[pair, lane]
    own, corner = int32(lane + 1), int32(lane)
    for step in range(63):
        i = step - lane
        left = cuda.shfl_up_sync(0xFFFFFFFF, own, 1)
        if i >= 0 and i < 32:
            if lane == 0:
                left = int32(i + 1)
            change = corner
            if s[warp, i] != letter:
                change += 1
            own = int32(min(change, min(own, left) + 1))
            corner = left
    if lane == 31:
        distances[pair] = own


def two_strings(pairs: int) -> Data:
    """Pairs of strings of 32 letters, out of four."""
    a, b = random(138).integers(0, 4, (2, pairs, 32), np.uint8)
    row = np.tile(np.arange(33), (pairs, 1))
    for i in range(32):
        before, row = row, np.empty_like(row)
        row[:, 0] = i + 1
        for j in range(32):
            change = before[:, j] + (a[:, i] != b[:, j])
            row[:, j + 1] = np.minimum(change, np.minimum(before[:, j + 1], row[:, j]) + 1)
    return Data((a, b, np.zeros(pairs, np.int32)), {2: row[:, 32]})


edit = partial(Case, "edit distances", EDIT, two_strings, 1 << 12, 1 << 7)
CASES = [
    edit("thread a pair", edit_thread, lambda pairs: pairs // 32, 32),
    edit("warp a pair", edit_warp, lambda pairs: pairs // 4, (32, 4)),
]
