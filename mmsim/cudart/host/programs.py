"""Whole programs of CUDA C++: their files, and how they are run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from mmsim.errors import MMSimError

CODE = (".cu", ".cpp", ".cc", ".cxx", ".c")
"""The ends of the names of files with the text of programs."""
SOURCES = (*CODE, ".o", ".a")
"""The ends of the names of files that nvcc takes."""
EXECUTABLE = b"\x7fELF"
FAILED = 1
"""The exit status of a program that ends well although a launch failed (see `Served`)."""


def is_program(name: str) -> bool:
    """Return whether a file is CUDA C++ or C++, or a program that a compiler made."""
    if name.endswith(CODE):
        return True
    try:
        with open(name, "rb") as file:
            return file.read(len(EXECUTABLE)) == EXECUTABLE
    except OSError:
        return False


def run(file: str, arguments: Sequence[str], options: Sequence[str] = ()) -> int:
    """Compile a program with options of nvcc, and run it; return its exit status.

    The first arguments that name files for nvcc belong to the program's text. Raises `MMSimError`
    without a compiler, and for a program that it doesn't compile.
    """
    from mmsim.cudart.host.building import Nvcc  # loads what launches
    from mmsim.cudart.host.served import Served

    nvcc = Nvcc()
    rest = list(arguments)
    sources = [file]
    while file.endswith(CODE) and rest and rest[0].endswith(SOURCES) and Path(rest[0]).is_file():
        sources.append(rest.pop(0))
    if options and not file.endswith(CODE):
        raise MMSimError(f"{file} is compiled; options of the compiler are for a file .cu or .cpp")
    with nvcc.library() as library, tempfile.TemporaryDirectory() as folder:
        program = Path(file).resolve()
        if file.endswith(CODE):
            program = Path(folder) / Path(file).stem
            nvcc.program(sources, options, library, program)
        served = Served()
        status = served.run([str(program), *rest], library)
        if not served.is_used:
            raise MMSimError(
                f"{file} ended with status {status} and called no function of CUDA's shared "
                "runtime; compile it with: nvcc -cudart shared -gencode "
                "arch=compute_90,code=compute_90"
            )
        return status or (FAILED if served.failed else 0)
