"""The kernels of the tests, their PTX and what they compute belong together."""

import re

import numpy as np
import pytest

from mmsim.cudart import nvrtc
from mmsim.cudart.compilation import to_ptx
from mmsim.cudart.installed import headers
from mmsim.errors import MMSimError
from tests.cudart.kernels.expected import CASES, EXPRESSIONS, HERE
from tests.kit.cards.unseen import CASES as UNSEEN
from tests.kit.cards.unseen import HERE as THERE

FILES = sorted((*HERE.glob("*.cu"), *THERE.glob("*.cu")))
VARYING = re.compile(r"^//.*\n|^\.version.*\n|(?<=\")/\S*/include/(?:cccl/)?", re.MULTILINE)
"""The versions, and the folders of headers, which the kept PTX lacks."""


def release(ptx):
    """The release of the compiler that wrote a text."""
    return re.search(r"^// Cuda compilation tools, release ([\d.]+)", ptx, re.MULTILINE)[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_ptx_is_that_of_the_code(path):
    try:
        version = nvrtc.compiler().version
    except MMSimError as error:
        pytest.skip(str(error))
    file = path.stem
    kept = path.with_suffix(".ptx").read_text("utf-8")
    if version != release(kept):
        pytest.skip(f"the PTX is that of NVRTC {release(kept)}, and here is {version}")
    code = path.read_text("utf-8")
    needs = re.search(r"#include <(cub/|cuda_|cooperative)", code)
    if needs and not any("cccl" in folder for folder in headers()):
        pytest.skip("the headers of CCCL are not there")
    made = to_ptx(code, f"{file}.cu", (), tuple(EXPRESSIONS.get(file, ())))
    assert VARYING.sub("", made.ptx).strip() == VARYING.sub("", kept).strip()
    assert made.names == EXPRESSIONS.get(file, {})


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_kernel_has_a_case(path):
    ptx = path.with_suffix(".ptx").read_text("utf-8")
    assert f'.file\t1 "{path.name}"' in ptx
    entries = set(re.findall(r"^\.(?:visible|weak) \.entry (\w+)\(", ptx, re.MULTILINE))
    cases = (*CASES.values(), *UNSEEN.values())
    assert entries == {case.entry for case in cases if case.folder / f"{case.file}.cu" == path}


@pytest.mark.parametrize("name", CASES)
def test_a_case_finds_what_is_wrong(name):
    """It accepts its own results, and nothing else; the arguments aren't the results before."""
    case = CASES[name]
    args = list(case.arguments())
    with pytest.raises(AssertionError):
        case.check(tuple(args))
    for where, wanted in case.expected.items():
        if isinstance(where, int):
            args[where] = np.array(wanted)
        else:
            args[where[0]] = (np.array(wanted), *args[where[0]][1:])
    case.check(tuple(args))
    for where, before in enumerate(case.arguments()):
        if isinstance(before, np.ndarray):
            assert before.shape == np.shape(args[where])


def test_arguments_are_made_anew():
    case = CASES["vector_add-vector_add"]
    case.arguments()[2][:] = 1
    assert not case.arguments()[2].any()
    words = CASES["structs-scale_rows"].arguments()[0][0]
    words[:] = 0
    assert CASES["structs-scale_rows"].arguments()[0][0].any()
