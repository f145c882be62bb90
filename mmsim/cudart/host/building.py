"""The compilation of a program and of its runtime: NVIDIA's compiler nvcc, with g++.

The runtime's library is kept in mmsim's cache directory.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from mmsim.cudart import installed
from mmsim.errors import MMSimError
from mmsim.host import cached_files, ownership

ARCHITECTURE = "arch=compute_90,code=compute_90"
DECLARED = re.compile(r"\bcudaError_t\s+(cuda[A-Z]\w+)\s*\(")
DEFINED = re.compile(r"^API\((\w+)", re.MULTILINE)
RUNTIME = ("runtime.cpp", "graphs.cpp")
LINK = "libcudart.so"
"""The name by which a linker looks for the runtime."""
OLDER = "older.cuh"
"""A header with functions that CUDA 13 has left out."""
RELEASE = re.compile(r"release (\d+)")
WITHOUT_GPP = "a program of CUDA C++ needs the compiler g++, which was not found; install g++"


class CompilationError(MMSimError):
    """A program that nvcc doesn't compile; nvcc's messages are on stderr."""


class Nvcc:
    """The compiler that is installed. Raises `MMSimError` without it, or without g++."""

    def __init__(self) -> None:
        self.file = installed.nvcc()
        if shutil.which("g++") is None:
            raise MMSimError(WITHOUT_GPP)
        self.version = self._run("--version").strip()
        found = RELEASE.search(self.version)
        if found is None:
            raise MMSimError(f"{self.file} doesn't say its version; install nvcc anew")
        self.soname = f"libcudart.so.{found[1]}"

    @contextmanager
    def library(self) -> Iterator[Path]:
        """The folder with the runtime for programs of this compiler."""
        key = f"{self.version}\n{self.file}\n{_source()}{_text(OLDER)}"
        name = f"cudart-{hashlib.sha256(key.encode()).hexdigest()[:32]}"
        directory = cached_files.cache_directory()
        if directory is not None:
            with suppress(OSError, ownership.NotOwnError):
                ownership.check_folder(directory / name, make=True)
                if not (directory / name / self.soname).exists():
                    with tempfile.TemporaryDirectory(dir=directory) as new:
                        self._library(Path(new))
                        for file in (LINK, OLDER, self.soname):
                            (Path(new) / file).replace(directory / name / file)
                yield directory / name
                return
        with tempfile.TemporaryDirectory() as new:
            self._library(Path(new))
            yield Path(new)

    def program(
        self, sources: Sequence[str], options: Sequence[str], library: Path, to: Path
    ) -> None:
        """Compile a program to a file. Raises `CompilationError` for a mistake in it."""
        command = [
            self.file,
            "-cudart",
            "shared",  # without a runtime nvcc links no device code of several files
            "-cudadevrt",
            "none",
            "-gencode",
            ARCHITECTURE,
            "-lineinfo",
            "-Xcompiler",
            "-g1",
        ]
        command += [
            "-include",
            str(library / OLDER),
            "--no-compress",
            *options,
            *sources,
            "-o",
            str(to),
        ]
        command += ["-Xlinker", str(library / self.soname), f"-L{library}"]
        if subprocess.run(command).returncode:
            raise CompilationError(f"nvcc can't compile {' '.join(sources)}")

    def _library(self, folder: Path) -> None:
        """Compile the runtime into a folder."""
        source, rest = folder / "runtime.cpp", folder / "refused.cpp"
        source.write_text(_source())
        declared = {*DECLARED.findall(self._run("-x", "c++", "-E", str(source)))}
        own = {*DEFINED.findall(_source())}
        names = sorted(declared - own)
        rest.write_text(
            'extern "C" int mmsim_refuse(const char *);\n'
            + "".join(
                f'extern "C" int {name}() {{ return mmsim_refuse("{name}"); }}\n' for name in names
            )
        )
        script = folder / "version"
        script.write_text(f"{self.soname} {{ global: *; }};\n")
        given = ["-cudart", "none", "-shared", "-O2", "-std=c++17", "-Xcompiler", "-fPIC"]
        given += ["-Xcompiler", "-Wno-deprecated-declarations", "-Xlinker"]
        given += [f"-soname={self.soname}", "-Xlinker", f"--version-script={script}", "-ldl"]
        self._run(*given, str(source), str(rest), "-o", str(folder / self.soname))
        (folder / LINK).symlink_to(self.soname)
        (folder / OLDER).write_text(_text(OLDER))

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([self.file, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise MMSimError(f"{self.file} {arguments[0]} fails: {done.stderr.strip()}")
        return done.stdout


def _source() -> str:
    return "".join(map(_text, RUNTIME))


def _text(name: str) -> str:
    return files("mmsim.cudart.host").joinpath(name).read_text("utf-8")
