"""A card computes what the table of kernels says, from their CUDA C++ and from their PTX."""

import re

import numpy as np
import pytest

from tests.cudart.kernels.expected import CASES, EXPRESSIONS

OLD = "8.0"
"""The version of PTX that each driver reads; the kernels need no newer one."""


@pytest.fixture(scope="module")
def cp():
    found = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        found.cuda.runtime.getDeviceCount()
    except Exception as error:
        pytest.skip(f"CuPy finds no GPU that it can use: {error}")
    return found


def on_card(cp, value):
    """An argument as CuPy takes it; a struct with pointers as its parts on the card."""
    if isinstance(value, tuple):
        return tuple(on_card(cp, part) for part in value)
    if isinstance(value, np.ndarray):
        return cp.asarray(value.view(np.uint8) if value.dtype.names else value)
    return value


def given(cp, value):
    """The argument that CuPy hands to a kernel; a struct as a record with addresses of arrays."""
    if not isinstance(value, tuple):
        return value
    parts = [np.uint64(part.data.ptr) if isinstance(part, cp.ndarray) else part for part in value]
    kinds = [(f"part_{number}", part.dtype) for number, part in enumerate(parts)]
    return np.array(tuple(parts), np.dtype(kinds, align=True))[()]


def back(cp, value, before):
    """An argument on the host, of the type that it had before."""
    if isinstance(value, tuple):
        return tuple(back(cp, *pair) for pair in zip(value, before, strict=True))
    return cp.asnumpy(value).view(before.dtype) if isinstance(value, cp.ndarray) else value


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("language", ["CUDA C++", "PTX"])
def test_a_card_leaves_the_expected_arrays(cp, tmp_path, language, name):
    case = CASES[name]
    if language == "PTX":
        path = tmp_path / f"{case.file}.ptx"
        path.write_text(re.sub(r"^\.version .*", f".version {OLD}", case.ptx, flags=re.MULTILINE))
        kernel = cp.RawModule(path=str(path)).get_function(case.entry)
    else:
        names = [*EXPRESSIONS.get(case.file, ())] or None
        module = cp.RawModule(code=case.code, options=("-std=c++17",), name_expressions=names)
        kernel = module.get_function(case.function)
    before = case.arguments()
    args = on_card(cp, before)
    grid, block = (np.atleast_1d(extents).tolist() for extents in (case.grid, case.block))
    launched = tuple(given(cp, value) for value in args)
    kernel(tuple(grid), tuple(block), launched, shared_mem=case.shared_mem)
    cp.cuda.runtime.deviceSynchronize()
    case.check(back(cp, args, before))
