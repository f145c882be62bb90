"""What claims prepare is made once, within bounds."""

from dataclasses import dataclass

import numpy as np
import pytest

from mmsim_algorithms import remembered
from mmsim_algorithms.remembered import Store, size


@pytest.fixture
def store(monkeypatch):
    store = Store(room=800)
    monkeypatch.setattr(remembered, "STORE", store)
    return store


def counted():
    made = []

    @remembered.remembered
    def zeros(n, seed=0):
        made.append((n, seed))
        return np.zeros(n), np.zeros(n)

    return zeros, made


def test_a_result_is_made_once_however_its_arguments_are_given(store):
    zeros, made = counted()
    assert zeros(4) is zeros(4, 0) is zeros(n=4, seed=0)
    assert zeros(4, seed=1) is not zeros(4)
    assert made == [(4, 0), (4, 1)]
    assert store.size == 2 * 2 * 4 * 8


def test_what_was_used_longest_ago_is_forgotten_first(store):
    zeros, made = counted()
    zeros(10), zeros(20), zeros(10), zeros(21)
    assert store.size == 2 * 8 * (10 + 21)
    zeros(10), zeros(20)
    assert made == [(10, 0), (20, 0), (21, 0), (20, 0)]


def test_what_is_larger_than_the_room_is_not_kept(store):
    zeros, made = counted()
    zeros(1000), zeros(1000)
    assert (len(made), store.size) == (2, 0)


def test_what_has_no_arrays_is_not_forgotten(store):
    zeros, made = counted()
    zeros(0), zeros(40), zeros(41), zeros(0)
    assert made == [(0, 0), (40, 0), (41, 0)]


def test_the_arrays_of_a_result_are_counted():
    @dataclass
    class Both:
        tables: tuple
        arrays: dict

    word = np.zeros(1)
    assert size(Both((word, (word, 3)), {"a": word, "b": "text"})) == 3 * 8
