"""Arguments that a card would take for something else, and other mistakes of a first launch."""

import warnings

import numpy as np
import pytest

import mmsim as mm
from mmsim.cudart import nvrtc
from mmsim.errors import CallError, LaunchError
from tests.cudart.kernels.expected import HERE


@pytest.fixture
def saxpy(monkeypatch):
    """A kernel whose source is known: saxpy(float alpha, const float* x, float* y, int n)."""
    monkeypatch.chdir(HERE)
    return mm.RawModule(path="saxpy.ptx").get_function("saxpy")


def start(kernel, alpha=2.0, x=np.float32, n=4):
    y = np.ones(4, np.float32)
    kernel((1,), (4,), (alpha, np.arange(16).astype(x), y, n))
    return y.tolist()


@pytest.mark.parametrize("alpha", [2, 2.0, np.float32(2)])
@pytest.mark.parametrize("n", [4, np.int32(4), np.int64(4)])
def test_numbers_of_python_and_of_the_right_type_are_taken(saxpy, alpha, n):
    assert start(saxpy, alpha, n=n) == [1, 3, 5, 7]


@pytest.mark.parametrize("alpha", [np.float64(2), np.int32(2), np.float16(2), np.bool_(True)])
def test_other_numbers_for_a_float_are_refused(saxpy, alpha):
    with pytest.raises(LaunchError, match=r"'alpha' .* as float32: give np\.float32\(.*\)$"):
        start(saxpy, alpha)


@pytest.mark.parametrize("type_", [np.float64, np.int32, np.uint8])
def test_an_array_of_other_numbers_gives_a_warning(saxpy, type_):
    said = f"'x' of the kernel 'saxpy' is a pointer to float32, and the array has {np.dtype(type_)}"
    with pytest.warns(UserWarning, match=said) as caught:
        start(saxpy, x=type_)
    assert (caught[0].filename, caught[0].lineno) == ("saxpy.cu", 2)


def test_without_the_source_nothing_is_known_of_the_array(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start(mm.RawModule(path=HERE / "saxpy.ptx").get_function("saxpy"), x=np.float64)


def test_signs_and_types_that_are_no_numbers_give_no_warning(monkeypatch):
    monkeypatch.chdir(HERE)
    kernel = mm.RawModule(path="counter.ptx").get_function("compact")
    a, out, count = np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32), np.zeros(1, np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel((1,), (4,), (a, out, count, 4))
        kernel((1,), (1,), (np.zeros(4, "c8"), np.zeros(9, np.int32), count, 4))


@pytest.mark.parametrize("code", ["blur.cu", "folder/blur.ptx"])
def test_the_name_of_a_file_is_no_code(code):
    with pytest.raises(CallError, match=rf"write RawModule\(path='{code}'\)\.get_function\('f'\)"):
        mm.RawKernel(code, "f")


@pytest.mark.parametrize(
    ("message", "said", "advice"),
    [
        (
            'catastrophic error: cannot open source file "vector"',
            'cannot open source file "vector"',
            "no headers of the host's C++ library: leave them out; -Ifolder",
        ),
        (
            "error: A function is considered a host function, not allowed. Consider using a flag",
            "A function is considered a host function, not allowed",
            "leave code of the host out, or run the whole program: mmsim cuda file.cu",
        ),
    ],
)
def test_code_of_the_host_gets_advice(message, said, advice):
    error = nvrtc.error_of(f"k.cu(3): {message}\n  text\n  ^\n", "k.cu", "")
    assert str(error).startswith(said)
    assert advice in str(error)
    assert "Consider" not in str(error)
