"""What a kernel asks of cuda where it can't stand: the error shows the kernel's own line."""

import linecache

import numba
import numpy as np
import pytest
from numba import cuda as of_numba

import mmsim as mm
from mmsim import cuda as of_mmsim
from mmsim.errors import LanguageError

WHERE = "give the array a name of its own, as in s = {}(...), and use that"
SHARED, LOCAL = WHERE.format("cuda.shared.array"), WHERE.format("cuda.local.array")
OTHERS = "call min, max"
CONSTANT = "must be a constant, and not 0"
REFUSED = {
    "a[0] = cuda.shared.array(0, numba.int64)[:4][0]": SHARED,
    "s = cuda.shared.array(0, numba.int64)[:4]": SHARED,
    "s = cuda.shared.array((2, 0), numba.int64)[0]": SHARED,
    "s = t = cuda.shared.array(4, numba.int64)": SHARED,
    "s, t = cuda.shared.array(4, numba.int64), 1": SHARED,
    "cuda.shared.array(4, numba.int64)": SHARED,
    "a[0] = len(cuda.local.array(4, numba.int64))": LOCAL,
    "a[0] = first(cuda.local.array(4, numba.int64))": LOCAL,
    "for x in cuda.local.array(3, numba.int64):\n        a[0] += x": LOCAL,
    "a[0] = cuda.const.array_like(TABLE)[1]": WHERE.format("cuda.const.array_like"),
    "s = made()": SHARED,
    "a[0] = cuda.to_device(a)": OTHERS,
    "cuda.synchronize()": OTHERS,
    "a[0] = cuda.syncthreads()": "as a statement of its own",
    "cuda.grid(1)": "this statement does nothing",
    "a[0] = [1, 2]": "a list isn't in the language of programs; use a cuda.local.array",
    "a[0] = 1 + TABLE": "or pass it to the kernel as a parameter",
    "TABLE[0] = a[0]": "it is constant; make it a parameter and pass it to the kernel",
    "s = cuda.shared.array(cuda.threadIdx.x, numba.int64)": "must be the same for all threads; "
    "make it of numbers, parameters, shapes, cuda.blockDim and cuda.gridDim",
    # Arrays of odd shapes, with a name:
    "s = cuda.shared.array(-1, numba.int64)": "extents are whole numbers from 1 on",
    "s = cuda.local.array(0, numba.int64)": "extents are whole numbers from 1 on",
    "s = cuda.shared.array((0, 2), numba.int64)": "extents are whole numbers from 1 on",
    "s = cuda.shared.array((), numba.int64)": "",
    "s = cuda.shared.array(0, numba.int64)\n    a[0] = s[:4][0]": "give its bytes, as in kernel[",
    "s = cuda.shared.array(4, numba.int64)\n    a[0] = s[::0][0]": CONSTANT,
    "s = cuda.shared.array(4, numba.int64)\n    a[0] = s[:: a[1]][0]": CONSTANT,
}
TEXT = """\
def first(x): return x[0]
def made(): return cuda.shared.array(4, numba.int64)
def kernel(a):
    {}
"""


@pytest.mark.parametrize("cuda", [of_mmsim, of_numba], ids=["mmsim", "numba"])
@pytest.mark.parametrize("number", range(len(REFUSED)), ids=list(REFUSED))
def test_the_line_of_the_kernel_is_shown(number, cuda):
    body, advice = list(REFUSED.items())[number]
    text, file = TEXT.format(body), f"<a refused kernel {number} {cuda.__name__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"cuda": cuda, "numba": numba, "TABLE": np.arange(4)}
    exec(compile(text, file, "exec"), names)
    how = {"grid": 1, "block": 1, "schedule": "asynchronous"}
    with pytest.raises(mm.MMSimError) as caught:
        mm.HMM(1, 32, 5).run(cuda.jit(names["kernel"]), np.arange(4), **how)
    assert isinstance(caught.value, LanguageError) or "an extent of" in str(caught.value)
    assert caught.value.place.file == file
    assert caught.value.place.text.strip() in text
    assert advice in str(caught.value)


def test_dynamic_memory_with_a_name_is_cut_into_parts():
    @of_mmsim.jit
    def kernel(a):
        s = of_mmsim.shared.array(0, numba.int64)
        first, rest = s[:2], s[2:]
        first[0] = 5
        rest[1] = 7
        for k in range(4):
            a[k] = s[k] * (k % 3 == 0)

    a = np.arange(4)
    kernel[1, 1, 0, 32](a)
    assert a.tolist() == [5, 0, 0, 7]
