"""Repositories that test with Numba's simulator run on mmsim by one line of their workflow.

Two are made up, laid out as those of stumpy and of xarray-spatial: kernels are decorated when they
are imported, some with signatures; tests import numba.cuda when they are collected.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "ci.md").read_text("utf-8")
[STEP] = yaml.safe_load(
    re.search(r":caption: One step of .*?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
)

PROFILES = {
    "test.sh": """\
        set -e
        export NUMBA_DISABLE_JIT=1 NUMBA_ENABLE_CUDASIM=1
        python -m pytest -x -W ignore::RuntimeWarning tests/test_gpu_*.py
    """,
    "pyproject.toml": """\
        [tool.pytest.ini_options]
        testpaths = ["tests"]
    """,
    "conftest.py": """\
        import pytest
        from numba import cuda


        def pytest_report_header(config):
            return f"a device: {cuda.is_available()}"
    """,
    "profiles/__init__.py": "from profiles.gpu import gpu_distances\n",
    "profiles/config.py": "THREADS_PER_BLOCK = 512\n",
    "profiles/core.py": """\
        import numpy as np
        from numba import cuda, njit, prange


        @njit(parallel=True)
        def distances(T, m):
            n = len(T) - m + 1
            D = np.empty(n)
            for i in prange(n):
                D[i] = np.sqrt(np.sum((T[i : i + m] - T[:m]) ** 2))
            return D


        @cuda.jit(device=True)
        def _searchsorted_left(a, v, bfs, nlevel):
            i = 0
            for level in range(nlevel):
                if v <= a[bfs[i]]:
                    i = 2 * i + 1
                else:
                    i = 2 * i + 2
            return i
    """,
    "profiles/gpu.py": """\
        import math

        import numpy as np
        from numba import cuda

        from profiles import config


        @cuda.jit(
            "(f8[:], i8, f8[:], b1)"
        )
        def _distances(T, m, D, normalize):
            start = cuda.grid(1)
            stride = cuda.gridsize(1)
            for i in range(start, D.shape[0], stride):
                total = 0.0
                for k in range(m):
                    total = total + (T[i + k] - T[k]) ** 2
                D[i] = math.sqrt(total)


        def gpu_distances(T, m, device_id=0):
            with cuda.gpus[device_id]:
                D = cuda.to_device(np.empty(len(T) - m + 1))
                blocks = math.ceil(D.size / config.THREADS_PER_BLOCK)
                _distances[blocks, config.THREADS_PER_BLOCK](cuda.to_device(T), m, D, False)
                if cuda.current_context().__class__.__name__ != "FakeCUDAContext":
                    cuda.current_context().deallocations.clear()
                return D.copy_to_host()
    """,
    "tests/test_gpu_distances.py": """\
        from unittest.mock import patch

        import numpy as np
        import numpy.testing as npt
        import pytest
        from numba import cuda

        from profiles import core, gpu_distances

        THREADS_PER_BLOCK = 10

        if not cuda.is_available():
            pytest.skip("Skipping Tests No GPUs Available", allow_module_level=True)


        @cuda.jit("(f8[:], f8[:], i8[:], i8, i8[:])")
        def _search_kernel(a, v, bfs, nlevel, idx):
            i = cuda.grid(1)
            if i < v.shape[0]:
                idx[i] = core._searchsorted_left(a, v[i], bfs, nlevel)


        @pytest.mark.parametrize("m", [3, 5])
        @patch("profiles.config.THREADS_PER_BLOCK", THREADS_PER_BLOCK)
        def test_gpu_distances(m):
            T = np.random.RandomState(0).rand(40)
            npt.assert_almost_equal(gpu_distances(T, m), core.distances(T, m))


        def test_search():
            a, v = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.5, 9.0])
            idx = np.zeros(3, np.int64)
            _search_kernel[1, 4](a, v, np.array([1, 0, 2]), 1, idx)
            assert idx.tolist() == [1, 1, 2]
    """,
}
SPATIAL = {
    "test.sh": "python -m pytest -p no:cacheprovider\n",
    "setup.cfg": """\
        [tool:pytest]
        testpaths = spatial/tests
        filterwarnings = error
    """,
    "spatial/__init__.py": "",
    "spatial/utils.py": """\
        from math import ceil

        import numba as nb
        import numpy as np
        from numba import cuda

        try:
            import cupy
        except ImportError:
            class cupy(object):
                ndarray = False


        def has_cuda():
            try:
                cuda.cudadrv.devices.gpus.current
                return True
            except cuda.cudadrv.error.CudaSupportError:
                return False


        def cuda_args(shape):
            threads = int(ceil((cuda.get_current_device().MAX_THREADS_PER_BLOCK / 2) ** 0.5))
            return tuple(int(ceil(d / threads)) for d in shape), (threads, threads)


        @nb.cuda.jit(device=True)
        def _mean3(window):
            return (window[0, 0] + window[1, 1] + window[2, 2]) / 3
    """,
    "spatial/focal.py": """\
        import numpy as np
        import numba.cuda
        from numba import cuda, float32, jit, prange

        from spatial.utils import _mean3, cuda_args


        @cuda.jit
        def _run_gpu(data, cellsize, out):
            i, j = cuda.grid(2)
            di, dj = 1, 1
            if i - di >= 0 and i + di < out.shape[0] and j - dj >= 0 and j + dj < out.shape[1]:
                out[i, j] = _mean3(data[i - 1 : i + 2, j - 1 : j + 2]) * cellsize[0]
            elif i < out.shape[0] and j < out.shape[1]:
                out[i, j] = np.nan


        def mean3(data):
            griddim, blockdim = cuda_args(data.shape)
            out = np.empty(data.shape, dtype="f4")
            _run_gpu[griddim, blockdim](data, np.array([float32(2)], "f4"), out)
            return out
    """,
    "spatial/tests/__init__.py": "",
    "spatial/tests/conftest.py": """\
        import numpy as np
        import pytest


        @pytest.fixture
        def raster():
            return np.arange(20, dtype=np.float32).reshape(4, 5)
    """,
    "spatial/tests/test_focal.py": """\
        import numpy as np
        import pytest

        from spatial.focal import mean3
        from spatial.utils import has_cuda

        cuda_only = pytest.mark.skipif(not has_cuda(), reason="CUDA not available")


        @cuda_only
        def test_mean3(raster):
            found = mean3(raster)
            assert np.isnan(found[0]).all()
            np.testing.assert_allclose(found[1:3, 1:4], 2 * raster[1:3, 1:4])
    """,
}
REPOSITORIES = {
    "stumpy's": (PROFILES, 3, "_distances"),
    "xarray-spatial's": (SPATIAL, 1, "_run_gpu"),
}


def outcome(files, folder, **more):
    """The output of test.sh of a repository, in a job with the step's environment."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub("^        ", "", text, flags=re.MULTILINE), "utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "NUMBA_ENABLE_CUDASIM": "1", **STEP["env"], **more}
    return subprocess.run(
        ["bash", "-e", "-c", STEP["run"]],
        cwd=folder,
        env={name: str(value) for name, value in variables.items()},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("name", REPOSITORIES)
def test_its_tests_run_on_mmsim_unchanged(name, tmp_path):
    files, count, kernel = REPOSITORIES[name]
    done = outcome(files, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} passed" in done.stdout
    assert re.search(rf"^ *{kernel} \(\w+\.py:\d+\) ", done.stdout, re.MULTILINE), done.stdout


RACY = {
    "test.sh": "python -m pytest -n 1 test_racy.py\n",
    "test_racy.py": """\
        import numpy as np
        from numba import cuda


        @cuda.jit
        def racy(a):
            a[0] = cuda.grid(1)


        def test_racy():
            racy[2, 32](np.zeros(1, np.int64))
    """,
}


def test_findings_of_another_process_fail_the_tests(tmp_path):
    addopts = f"{STEP['env']['PYTEST_ADDOPTS']} --cuda-check"
    done = outcome(RACY, tmp_path, PYTEST_ADDOPTS=addopts)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "= kernels of gw0 =" in done.stdout
    assert "Found: data race (1)." in done.stdout
    refused = outcome(RACY, tmp_path, PYTEST_ADDOPTS=f"{addopts} --cuda-json kernels.json")
    assert refused.returncode == 4
    assert "--cuda-json and --cuda-html need one process: add -n 0" in refused.stderr
