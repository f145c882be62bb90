"""Random numbers: the states that Numba makes, and the numbers of the published generator."""

import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda.random import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_states,
    xoroshiro128p_dtype,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

MASK = 2**64 - 1


def step(s0, s1):
    """Blackman and Vigna's xoroshiro128plus.c of 2016: the number and the next state."""

    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    number = (s0 + s1) & MASK
    s1 ^= s0
    return number, (rotl(s0, 55) ^ s1 ^ (s1 << 14) & MASK, rotl(s1, 36))


def jump(state):
    """Their jump(): 2^64 steps."""
    total = [0, 0]
    for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
        for bit in range(64):
            if word >> bit & 1:
                total = [total[0] ^ state[0], total[1] ^ state[1]]
            state = step(*state)[1]
    return tuple(total)


# What numba.cuda.random.create_xoroshiro128p_states of numba-cuda 0.30.4 returns.
NUMBAS = {
    (1, 0): [
        (10451216379200822465, 10451216379200822465),
        (8341117667364343960, 7824662623250379246),
        (809817624983272012, 15258973161149853818),
    ],
    (77, 5): [
        (2479189227152985196, 13639462597777917785),
        (15559810288276074472, 1244483018200277856),
        (17767454782329793021, 18288435408356592051),
    ],
}


@pytest.mark.parametrize(("seed", "start"), NUMBAS)
def test_states_are_numbas(seed, start):
    states = create_xoroshiro128p_states(3, seed, start).copy_to_host()
    assert states.dtype == xoroshiro128p_dtype
    assert states.tolist() == NUMBAS[seed, start]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9])
def test_each_state_is_a_jump_after_the_one_before(count):
    states = create_xoroshiro128p_states(count, seed=2**63 + 5).copy_to_host().tolist()
    assert len(states) == count
    assert states[1:] == [jump(state) for state in states[:-1]]


def test_many_states_are_all_different():
    states = create_xoroshiro128p_states(5000, seed=3).copy_to_host()
    assert len(np.unique(states["s0"])) == 5000
    again = cuda.device_array(5000, xoroshiro128p_dtype)
    init_xoroshiro128p_states(again, seed=3)
    assert (again.copy_to_host() == states).all()


@cuda.jit
def draw(states, words, uniform32, uniform64):
    i = cuda.grid(1)
    for n in range(words.shape[1]):
        words[i, n] = xoroshiro128p_next(states, i)
    uniform32[i] = xoroshiro128p_uniform_float32(states, i)
    uniform64[i] = xoroshiro128p_uniform_float64(states, i)


def test_numbers_are_those_of_the_generator():
    states = create_xoroshiro128p_states(4, seed=11)
    before = states.copy_to_host().tolist()
    words = np.zeros((4, 3), np.uint64)
    uniform32, uniform64 = np.zeros(4, np.float32), np.zeros(4)
    draw[1, 4](states, words, uniform32, uniform64)
    for i, state in enumerate(before):
        for n in range(3):
            number, state = step(*state)
            assert words[i, n] == number
        number, state = step(*state)
        assert uniform32[i] == np.float32((number >> 11) * 2.0**-53)
        number, state = step(*state)
        assert uniform64[i] == (number >> 11) * 2.0**-53
        assert states.copy_to_host().tolist()[i] == state


@cuda.jit
def draw_normal(states, float32s, float64s):
    i = cuda.grid(1)
    float32s[i] = xoroshiro128p_normal_float32(states, i)
    float64s[i] = xoroshiro128p_normal_float64(states, i)


def test_normal_numbers_have_mean_0_and_deviation_1():
    count = 4096
    states = create_xoroshiro128p_states(count, seed=1)
    float32s, float64s = np.zeros(count, np.float32), np.zeros(count)
    draw_normal[count // 128, 128](states, float32s, float64s)
    for values in (float32s, float64s):
        assert abs(values.mean()) < 4 / count**0.5
        assert abs(values.std() - 1) < 4 / (2 * count) ** 0.5
