"""Random numbers in kernels: xoroshiro128+, with Numba's states and Numba's numbers, bit for bit.

A state is two words of 64 bits. A step is a linear map over bits (Blackman and Vigna, "Scrambled
linear pseudorandom number generators"). So a *jump*, 2^64 steps together, is a linear map too. Its
powers make the states of all threads from the first one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.cuda.allocation import device_array
from mmsim.cuda.arrays import DeviceNDArray
from mmsim.cuda.dispatcher import jit
from mmsim.cuda.types import float32, float64, from_dtype, int64, uint32, uint64

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = from_dtype(xoroshiro128p_dtype)

Words = npt.NDArray[np.uint64]
"""States, of shape (states, 2). A linear map is its results for the 128 states with one bit set."""

BITS = 128
MASK = 2**64 - 1
JUMP = 0xD86B048B86AA9922_BEAC0467EBA5FACB
"""The steps, counted from the lowest bit, whose states add up to the state a jump ahead."""
TWO_PI_FLOAT32 = np.float32(2 * math.pi)
TWO_PI_FLOAT64 = np.float64(2 * math.pi)


def create_xoroshiro128p_states(
    n: int, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> DeviceNDArray:
    """An array of the device with `n` states, each 2^64 steps after the one before it.

    `subsequence_start` is the number of jumps from the seed's state to the first one.

    >>> create_xoroshiro128p_states(2, seed=1).copy_to_host()["s0"]
    array([10451216379200822465,  8341117667364343960], dtype=uint64)
    """
    states = device_array(n, xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


def init_xoroshiro128p_states(
    states: DeviceNDArray, seed: int, subsequence_start: int = 0, stream: Any = 0
) -> None:
    """Fill an array of the device as `create_xoroshiro128p_states` does."""
    made = np.empty(states.shape, xoroshiro128p_dtype)
    words = _states(len(made), int(seed) & MASK, int(subsequence_start) & MASK)
    made["s0"], made["s1"] = words[:, 0], words[:, 1]
    states.copy_to_device(made, stream)


def _states(count: int, seed: int, jumps: int) -> Words:
    """`count` states; the map of 2^k jumps doubles their number."""
    states = np.full((1, 2), _split_mix(seed), np.uint64)
    ahead = _jump()
    power = ahead
    while jumps:
        if jumps & 1:
            states = _mapped(power, states)
        jumps >>= 1
        power = _mapped(power, power) if jumps else power
    while len(states) < count:
        states = np.concatenate([states, _mapped(ahead, states)])
        ahead = _mapped(ahead, ahead)
    return states[:count]


def _split_mix(seed: int) -> int:
    """SplitMix64's word for a seed, so that small seeds differ in many bits."""
    z = (seed + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def _jump() -> Words:
    """The map of one jump."""
    states = np.zeros((BITS, 2), np.uint64)
    for bit in range(BITS):
        states[bit, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    total = np.zeros_like(states)
    for step in range(BITS):
        if JUMP >> step & 1:
            total ^= states
        states = _next(states)
    return total


def _next(states: Words) -> Words:
    """All states one step on."""
    s0 = states[:, 0]
    s1 = states[:, 1] ^ s0
    first = _rotated(s0, 55) ^ s1 ^ (s1 << np.uint64(14))
    return np.stack([first, _rotated(s1, 36)], axis=1)


def _rotated(words: Words, by: int) -> Words:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))


def _mapped(linear: Words, states: Words) -> Words:
    """The result of a linear map for states: the sum over the set bits."""
    result = np.zeros_like(states)
    for bit in range(BITS):
        is_set = (states[:, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1)
        result ^= linear[bit] * is_set[:, None]
    return result


@jit(device=True)
def rotl(x: Any, k: Any) -> Any:
    """The bits of a uint64, turned by `k` to the left."""
    return (x << uint32(k)) | (x >> uint32(64 - k))


@jit(device=True)
def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """The next 64 bits of `states[index]`, which moves one step on."""
    index = int64(index)
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = rotl(s0, 55) ^ s1 ^ (s1 << uint32(14))
    states[index]["s1"] = rotl(s1, 36)
    return result


@jit(device=True)
def uint64_to_unit_float64(x: Any) -> Any:
    """The float64 from 0 up to 1 of the highest 53 bits."""
    return (x >> uint32(11)) * (float64(1) / (uint64(1) << uint32(53)))


@jit(device=True)
def uint64_to_unit_float32(x: Any) -> Any:
    """The float32 from 0 up to 1 of the highest bits."""
    return float32(uint64_to_unit_float64(x))


@jit(device=True)
def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """A float32 from 0 up to 1; `states[index]` moves one step on."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@jit(device=True)
def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """A float64 from 0 up to 1; `states[index]` moves one step on."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@jit(device=True)
def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """A normally distributed float32 (Box and Muller); `states[index]` moves two steps on."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-float32(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT32 * u2)


@jit(device=True)
def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """A normally distributed float64, from two float32 as in Numba; moves two steps on."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-float64(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)
