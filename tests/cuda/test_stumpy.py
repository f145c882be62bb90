"""Matrix profiles by stumpy's own kernels for GPUs: compared with the CPU's, and its own tests."""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import textwrap
from importlib.metadata import version

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("stumpy") is None, reason="needs stumpy"),
]

BOTH = {
    "gpu_stump": """
        own, theirs = stumpy.gpu_stump(T, 8), stumpy.stump(T, 8)
        assert np.allclose(own[:, 0].astype(float), theirs[:, 0].astype(float))
        assert (own[:, 1:] == theirs[:, 1:]).all()
    """,
    "gpu_mpdist": """
        other = np.random.RandomState(1).rand(60)
        assert np.isclose(stumpy.gpu_mpdist(T, other, 8), stumpy.mpdist(T, other, 8))
    """,
    "gpu_stimp": """
        own = stumpy.gpu_stimp(T, min_m=3, max_m=6)
        theirs = stumpy.stimp(T, min_m=3, max_m=6, percentage=1.0)
        for _ in range(3):
            own.update()
            theirs.update()
        assert own.PAN_.size and np.allclose(own.PAN_, theirs.PAN_)
    """,
}
START = """
    from mmsim.cuda import history
    from mmsim.cuda.replacing import replace

    replace()
    import numpy as np
    import stumpy

    launched = []
    history.listeners.append(launched.append)
    T = np.random.RandomState(0).rand(60)
"""


@pytest.mark.parametrize("function", BOTH)
def test_a_function_for_gpus_gives_what_that_for_the_cpu_does(function):
    program = textwrap.dedent(START) + textwrap.dedent(BOTH[function]) + "print(len(launched))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[-1]) > 0


OWN = {"test_gpu_aampdist": 2, "test_gpu_mpdist": 4}
"""Files of its tests that take seconds, and the number of their tests; the others take minutes."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """The folder of its source distribution, of the installed version."""
    folder, name = tmp_path_factory.mktemp("stumpy"), f"stumpy-{version('stumpy')}"
    pip = [sys.executable, "-m", "pip", "--no-input", "download", "--quiet", "--no-deps"]
    pip += ["--no-binary", "stumpy", "--dest", str(folder), name.replace("-", "==")]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=900)
    if done.returncode:
        pytest.skip(f"its source can't be downloaded: {done.stderr.strip()[-300:]}")
    with tarfile.open(folder / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    if not all((folder / name / "tests" / f"{file}.py").exists() for file in OWN):
        pytest.skip(f"the source of {name} has no tests for GPUs")
    return folder / name


@pytest.mark.parametrize("file", OWN)
def test_its_own_tests_pass_unchanged(file, repository):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{file}.py"]
    variables = {"NUMBA_ENABLE_CUDASIM": "1", "PYTEST_ADDOPTS": "-p mmsim.cuda.pytest"}
    done = subprocess.run(
        command, cwd=repository, env=os.environ | variables, capture_output=True, text=True
    )
    assert re.search(rf"^{OWN[file]} passed in", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^\d+ launches of 1 kernel: ", done.stdout, re.MULTILINE), done.stdout
