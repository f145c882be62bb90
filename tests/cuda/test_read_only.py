"""Read-only arrays of the host: kernels read them, and none writes them."""

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.errors import TypeFault


@cuda.jit
def plus_one(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i] + 1


@cuda.jit
def add(pair):
    cuda.atomic.add(pair[0], 0, 1)


@cuda.jit
def through_a_view(pair):
    rest = pair[0][1:]
    rest[0] = 1


@cuda.jit
def never(pair):
    if cuda.grid(1) < 0:
        pair[0][0] = 1


@cuda.jit
def of_a_record(record):
    record.x = 1


def read_only(array):
    array.setflags(write=False)
    return array


HOW = {
    "setflags": lambda: read_only(np.arange(4)),
    "broadcast_to": lambda: np.broadcast_to(np.zeros(1, int), 4),
    "a view": lambda: read_only(np.arange(8))[::2],
    "In": lambda: cuda.In(read_only(np.arange(4))),
    "Out": lambda: cuda.Out(read_only(np.arange(4))),
    "InOut": lambda: cuda.InOut(read_only(np.arange(4))),
}


@pytest.mark.parametrize("how", HOW)
def test_a_kernel_that_writes_a_read_only_array_is_refused(how):
    given = HOW[how]()
    before = np.array(getattr(given, "value", given))
    with pytest.raises(TypeFault) as caught:
        plus_one[1, 4](np.zeros(4, int), given)
    text = (
        "program 'plus_one', line 15: 'b' is written here, but the array that was given for it is "
        "read-only (by setflags(write=False) or np.broadcast_to, or as pandas gives it); give "
        "a copy of it\n"
    )
    assert str(caught.value).startswith(text)
    assert "b[i] = a[i] + 1" in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert (getattr(given, "value", given) == before).all()


@pytest.mark.parametrize("kernel", [add, through_a_view, never])
def test_it_is_refused_however_it_is_written_and_whether_it_is(kernel):
    with pytest.raises(TypeFault, match="'pair_0' is written here"):
        kernel[1, 1]((read_only(np.arange(4)), np.arange(4)))


def test_read_only_records_are_refused():
    records = read_only(np.zeros(2, [("x", int)]))
    for given in (records, records[0], cuda.InOut(records[0])):
        with pytest.raises(TypeFault, match=r"'\w+_x' is written here"):
            of_a_record[1, 1](given)
    assert records["x"].tolist() == [0, 0]


@pytest.mark.parametrize("how", HOW)
def test_a_kernel_may_read_it(how):
    given, found = HOW[how](), np.zeros(4, int)
    plus_one[1, 4](given, found)
    if how != "Out":  # which is not copied to the device
        assert (found == getattr(given, "value", given) + 1).all()


def test_a_run_of_a_machine_takes_it_for_it_changes_no_argument():
    given = read_only(np.zeros(4, int))
    how = {"grid": 1, "block": 4, "schedule": "asynchronous"}
    run = mm.HMM(1, 4, 5).run(plus_one, np.arange(4), given, **how)
    assert run.arrays["b"].tolist() == [1, 2, 3, 4]
    assert given.tolist() == [0] * 4
