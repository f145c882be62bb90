"""A card computes what the table of kernels says, from their CUDA C++ and from their PTX."""

import re

import pytest

from tests.cudart.kernels.expected import CASES, EXPRESSIONS
from tests.kit.cards.arguments import launch

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
    args = launch(cp, kernel, case)
    case.check(back(cp, args, before))
