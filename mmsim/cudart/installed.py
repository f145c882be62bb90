"""The places of NVRTC and of CUDA's headers on this computer: in wheels, or in a toolkit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from ctypes.util import find_library
from importlib.util import find_spec
from pathlib import Path

from mmsim.errors import MMSimError

LIBRARIES = ("cu*/lib", "cuda_nvrtc/lib", "cu*/bin/*", "cuda_nvrtc/bin")
"""The folders of the library in the wheels of CUDA 13 and 12, on Linux and on Windows."""
HEADERS = ("cu*/include", "cu*/include/cccl", "cuda_runtime/include", "cuda_cccl/include")
"""The folders of headers in these wheels."""
IN_TOOLKIT = ("lib64", "lib", "targets/*/lib", "bin", "bin/x64")
FILE = "nvrtc64_*0.dll" if sys.platform == "win32" else "libnvrtc.so*"
MISSING = (
    "CUDA C++ needs NVIDIA's compiler NVRTC, which was not found: pip install "
    '"memory-machine-simulator[cuda-c]", or name the folder of a CUDA toolkit in CUDA_HOME, or '
    "give PTX (nvcc -ptx -lineinfo file.cu), which needs no compiler"
)

WITHOUT_NVCC = (
    "a program of CUDA C++ needs NVIDIA's compiler nvcc, which was not found: pip install "
    '"memory-machine-simulator[cuda-programs]", or name the folder of a CUDA toolkit in CUDA_HOME'
)


def library() -> str:
    """The path of NVRTC, or its name for the system's loader. Raises `MMSimError` without it."""
    found = next(_libraries(), None) or find_library("nvrtc")
    if found is None:
        raise MMSimError(MISSING)
    return found


def nvcc() -> str:
    """The path of nvcc: the wheels', a toolkit's, or the system's. Raises `MMSimError` without."""
    wheels = (file for root in _wheels() for file in sorted(root.glob("cu*/bin/nvcc")))
    toolkits = (root / "bin" / "nvcc" for root in _toolkits())
    for file in (*wheels, *toolkits):
        if os.access(file, os.X_OK):
            return str(file)
    if found := shutil.which("nvcc"):
        return found
    raise MMSimError(WITHOUT_NVCC)


def headers() -> list[str]:
    """The folders with the headers of CUDA."""
    if found := [str(one) for root in _wheels() for part in HEADERS for one in root.glob(part)]:
        return found
    folders = (root / part for root in _toolkits() for part in ("include", "include/cccl"))
    return [str(folder) for folder in folders if folder.is_dir()]


def _libraries() -> Iterator[str]:
    """The files of the library: the wheels' before a toolkit's, the newest version first."""
    for roots, folders in ((_wheels(), LIBRARIES), (_toolkits(), IN_TOOLKIT)):
        for root in roots:
            files = (file for folder in folders for file in root.glob(f"{folder}/{FILE}"))
            yield from map(str, sorted(files, key=lambda file: file.name, reverse=True))


def _wheels() -> list[Path]:
    """The folders of the package `nvidia`, which the wheels share."""
    found = find_spec("nvidia")
    return [Path(one) for one in (found and found.submodule_search_locations) or ()]


def _toolkits() -> list[Path]:
    """The folders of CUDA toolkits that the environment names."""
    return [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
