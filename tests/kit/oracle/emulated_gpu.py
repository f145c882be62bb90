"""Runs generated kernels on the CPU: all of a list in one compilation, by the C++ compiler."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

COMPILER = shutil.which("g++") or shutil.which("clang++")
HEADER = Path(__file__).with_name("emulated_gpu.h")

FLAGS = ("-std=c++17", "-pthread", "-O0", "-fPIC", "-shared", "-ffp-contract=off", "-Wall")
QUIET = ("-Wno-unused", "-Wno-unused-value", "-Wno-dangling-pointer")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


def knows(option):
    """Return whether the compiler has an option."""
    command = [COMPILER, option, "-Werror", "-E", "-x", "c++", "/dev/null"]
    return subprocess.run(command, capture_output=True).returncode == 0


def dimensions(extents):
    """Extents in C++."""
    return f"Dimensions{{{', '.join(map(str, extents))}}}"


def width_of(kernel):
    """Lanes of a warp, where the kernel asks for them."""
    found = re.search(r"first_lanes\(.*, (\d+)\);", kernel.source)
    return int(found[1]) if found else 32


class Emulated:
    """Kernels compiled for the CPU, run by their position in the list.

    What C++ leaves without a meaning (an overflow, an index out of bounds) ends the process, and a
    variable that wasn't set holds nonsense.
    """

    def __init__(self, kernels, folder):
        texts = [f'#include "{HEADER}"']
        for number, kernel in enumerate(kernels):
            source = kernel.source.replace('extern "C" ', "")
            source = re.sub("#include <(cooperative_groups|cuda_fp16).h>", "", source)
            size = max(kernel.shared_bytes, 1)
            memory = f"thread_local __align__(128) unsigned char memory[{size}];"
            texts.append(f"namespace n{number} {{\n{memory}\n{source}}}")
            texts.append(
                f'extern "C" void run_{number}(void **arguments, int backward)\n{{\n'
                f"    emulation::launch(n{number}::{kernel.name}, arguments, "
                f"{dimensions(kernel.grid)}, {dimensions(kernel.block)}, backward, "
                f"{width_of(kernel)}, {int(kernel.cooperative)});\n}}"
            )
        source, library = folder / "kernels.cpp", folder / "kernels.so"
        source.write_text("\n".join(texts))
        checks = "signed-integer-overflow,shift,bounds,integer-divide-by-zero,float-cast-overflow"
        command = [COMPILER, *FLAGS, *QUIET, f"-fsanitize={checks}"]
        command += ["-fno-sanitize-recover=all", "-fsanitize-undefined-trap-on-error"]
        command += ["-ftrivial-auto-var-init=pattern"] * knows("-ftrivial-auto-var-init=pattern")
        done = subprocess.run(
            [*command, str(source), "-o", str(library)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[:4000]
        self.kernels = kernels
        self.warnings = done.stderr
        self.library = ctypes.CDLL(str(library))

    def run(self, number, backward=False, repeat=1):
        """The arrays of one kernel's program after a launch."""
        kernel = self.kernels[number]
        words = {}
        pointers = []
        for argument in kernel.arguments:
            if argument.role == "repeat":
                pointers.append(ctypes.pointer(ctypes.c_int(repeat)))
                continue
            held = np.ascontiguousarray(argument.words())
            words[argument.name, argument.role] = held
            pointers.append(ctypes.pointer(ctypes.c_void_p(held.ctypes.data)))
        table = (ctypes.c_void_p * max(len(pointers), 1))(
            *(ctypes.cast(pointer, ctypes.c_void_p) for pointer in pointers)
        )
        getattr(self.library, f"run_{number}")(table, int(backward))
        return {
            argument.name: argument.elements(words[argument.name, "array"])
            for argument in kernel.arguments
            if argument.role == "array"
        }


class CuPyOnTheCPU:
    """Arrays of NumPy in the place of those on a GPU."""

    asarray, asnumpy, zeros, uint8 = np.array, np.array, np.zeros, np.uint8

    class cuda:
        class Device:
            def synchronize(self):
                pass


def on_the_cpu(folder, launched):
    """`compiled` for kernels that the C++ compiler takes; `launched` lists what was."""

    def compiled(cp, written):
        own = folder / str(len(list(folder.iterdir())))
        own.mkdir()
        run = Emulated([written], own).library.run_0

        def function(grid, block, passed, shared_mem):
            launched.append((written.name, grid, block, shared_mem))
            held = [
                ctypes.c_void_p(one.ctypes.data) if isinstance(one, np.ndarray) else
                ctypes.c_int(int(one))
                for one in passed
            ]  # fmt: skip
            table = (ctypes.c_void_p * len(held))(
                *(ctypes.cast(ctypes.pointer(one), ctypes.c_void_p) for one in held)
            )
            run(table, 0)

        return function

    return compiled
