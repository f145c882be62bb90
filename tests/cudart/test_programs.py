"""Whole programs of CUDA C++: compiled by nvcc, run on mmsim by `mmsim cuda`.

They need nvcc and g++; `make test-programs` fetches nvcc.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mmsim.cudart.host.building import Nvcc
from mmsim.errors import MMSimError
from tests.kit import ROOT

pytestmark = pytest.mark.long
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The folder of the compiled runtime."""
    try:
        Nvcc()
    except MMSimError as error:
        pytest.skip(str(error))
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(cache):
    def run(*words, cwd=PROGRAMS):
        environment = {**os.environ, "MMSIM_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            [sys.executable, "-m", "mmsim", "cuda", *words],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def lines(done):
    """The lines that a program writes, without the report."""
    return re.split(r"\d+ launch(?:es)? of|no launch was", done.stdout)[0].splitlines()


def test_a_program_computes_and_reports_its_kernels(run):
    done = run("vector_add.cu", "1000")
    assert (lines(done), done.returncode, done.stderr) == (["1000 sums"], 0, "")
    assert "1 launch of 1 kernel: 33124 time units" in done.stdout
    assert re.search(r"add \(vector_add.cu:6\) .* 1 .* 1024 .* 33124 .* 96 ", done.stdout)


def test_arguments_and_exit_status_are_the_programs(run):
    done = run("vector_add.cu", "5", "3")
    assert (lines(done), done.returncode) == (["5 sums"], 3)


def test_streams_and_events_have_the_time_of_the_model(run):
    done = run("streams.cu")
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = lines(done)
    time, none, called = line.split(", ")
    assert float(time.split()[0]) == pytest.approx(88252 * 30.846e-9, abs=1e-6)
    assert (none, called) == ("0 ms", "1 call")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("symbols.cu", ["1 2 30 40", "74 202 128 31 31"]),
        ("managed.cu", ["1000000000000 1000198009801 1", "1200"]),
        ("pitched.cu", ["transposed, 48, 12"]),
        ("pointers.cu", ["10 15 20", "10"]),
        (
            "graphs.cu",
            ["0 1 1 4", "33 3", "1005 1007 1005", "cudaSuccess cudaErrorGraphExecUpdateFailure"],
        ),
        ("device.cpp", ["cudaSuccess 9 32"]),
        (
            "heap.cu",
            [
                "64 right, 2097152 bytes, much 0, cudaSuccess",
                "cudaErrorInvalidValue, cudaErrorUnsupportedLimit",
            ],
        ),
        ("printing.cu", ["before", "thread 0 of 2: -0.5", "thread 1 of 2: 0.5", "after"]),
        ("cooperative.cu", ["1 100 44", "cudaErrorCooperativeLaunchTooLarge"]),
        (
            "templates.cu",
            [
                "9168 4064 992",
                "64 400 64 32",
                "cudaErrorInvalidValue",
                "cudaErrorInvalidConfiguration",
            ],
        ),
    ],
)
def test_a_program_computes_what_a_card_does(run, program, expected):
    done = run(program)
    assert (lines(done), done.returncode) == (expected, 0), done.stderr


def test_structs_with_pointers_and_options_of_the_compiler(run):
    done = run("--nvcc=--extended-lambda", "-std", "c++17", "-DUNUSED=1", "-I.", "structs.cu")
    assert (lines(done), done.returncode) == (["-56 -62 -200 -224"], 0), done.stderr


ALLOCATION = "400 bytes, allocated in faults.cu:22 (main)"
ROW = "16 (row), called from faults.cu:39 (main)"
FAULTS = {
    "beyond": ("IllegalAddress", "index [100] of 'numbers' is out of range"),
    "before": ("IllegalAddress", "index [-1] of 'numbers' is out of range"),
    "misaligned": ("MisalignedAddress", "an address of 4 bytes is no multiple of 4"),
    "assert": ("Assert", "AssertionError: an assertion of the kernel fails"),
    "trap": ("LaunchFailure", "the kernel stops with a trap"),
    "host": ("IllegalAddress", "argument 1 of the launch is an address of the host"),
    "freed": (
        "IllegalAddress",
        f"freed before the launch, {ALLOCATION}, freed in faults.cu:35 (main); free it after",
    ),
    "followed": (
        "IllegalAddress",
        f"12 bytes past the end of an allocation of {ALLOCATION.replace('22 (main)', ROW)}",
    ),
    "followed-freed": (
        "IllegalAddress",
        f"is byte 12 of an allocation of {ALLOCATION.replace('22 (main)', ROW)}, freed in "
        "faults.cu:40 (main)",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_kernel_is_an_error_of_the_next_call_that_waits(run, fault):
    done = run("faults.cu", fault)
    error, message = FAULTS[fault]
    assert lines(done) == ["cudaSuccess", *[f"cudaError{error}"] * 3]
    assert message in done.stderr
    assert ("'numbers' is " + ALLOCATION in done.stderr) == (fault in ("beyond", "before"))
    assert done.returncode == 0


def test_mistakes_of_the_host_are_errors_of_its_calls(run):
    def line(number):
        return f"mistakes.cu:{number} (main)"

    allocation = f"an allocation of 16 bytes, allocated in {line(10)}"
    freed = f"{allocation}, freed in {line(28)}"
    begins = "an allocation is freed once, by the address that it begins at; this is"
    done = run("mistakes.cu")
    assert [line.removeprefix("cudaError") for line in lines(done)] == [
        *("cudaSuccess", "MemoryAllocation", "InvalidValue", "InvalidValue", "InvalidValue"),
        *("InvalidValue", "InvalidValue", "InvalidPitchValue"),
        *("InvalidSymbol", "InvalidValue", "InvalidDevice"),
        *("InvalidConfiguration", "InvalidConfiguration", "InvalidConfiguration"),
        *("InvalidValue", "cudaSuccess", "InvalidValue", "InvalidValue"),
        *("InvalidValue", "InvalidValue"),
        *("NotSupported", "cudaSuccess", "NotSupported", "InvalidConfiguration", "InvalidDevice"),
        *("cudaSuccess", "InvalidResourceHandle"),
        "invalid argument, unrecognized error code",
    ]
    for message in (
        f"cudaMalloc in {line(12)}: it asks for 1152921504606846976 bytes; the device has",
        f"cudaMemcpy in {line(13)}: the direction is cudaMemcpyHostToDevice, but the target is "
        "memory of the host",
        f"cudaMemcpy in {line(14)}: it writes 32 bytes from the beginning of {allocation}",
        f"cudaMemset in {line(15)}: it fills memory of the device; this is memory of the host",
        f"cudaMemset in {line(16)}: it writes 12 bytes from byte 8 of {allocation}",
        f"cudaMemcpy in {line(17)}: the target is no memory: the address is 0",
        f"cudaMemcpy2D in {line(18)}: rows of 8 bytes are longer than their pitch of 4 bytes",
        f"cudaMemcpyToSymbol in {line(19)}: the symbol is no __device__ or __constant__ variable",
        f"cudaMemcpyToSymbol in {line(20)}: it copies 8 bytes from the beginning of the variable "
        "'variable' of 4 bytes\n",
        "kernel 'nothing' is launched with a block of 1025 along x; it must be from 1 to 1024\n"
        f"launched in {line(22)}",
        f"cudaFree in {line(27)}: {begins} byte 4 of {allocation}",
        f"cudaFree in {line(29)}: {begins} the beginning of {freed}",
        f"cudaMemcpy in {line(30)}: it reads 4 bytes from the beginning of {freed}",
        f"cudaFree in {line(31)}: {begins} memory of the host",
        f"cudaFree in {line(34)}: it frees memory of the device; this is the beginning of an "
        f"allocation of 4 bytes, allocated in {line(33)}",
        f"cudaMallocArray in {line(37)}: it is not supported",
        f"cudaLaunchKernelExC in {line(46)}: clusters of blocks are not supported",
    ):
        assert f"mmsim: {message}" in done.stderr


def test_the_host_cannot_access_memory_of_the_device(run):
    done = run("mistakes.cu", "access")
    assert done.returncode == 139
    assert "the host accesses memory of the device; copy it by cudaMemcpy" in done.stderr


def test_check_finds_a_race(run):
    assert run("race.cu").returncode == 0
    done = run("--check", "race.cu")
    assert done.returncode == 1
    assert "data race" in done.stdout


@pytest.mark.parametrize("words", [["faults.cu", "beyond"], ["mistakes.cu"]])
def test_check_fails_for_a_launch_or_a_call_that_fails(run, words):
    assert run(*words).returncode == 0
    assert run("--check", *words).returncode == 1


def test_a_page_and_another_machine(run, tmp_path):
    page = tmp_path / "page.html"
    done = run("--html", str(page), "--machine", "hmm", "--width", "16", "--dmms", "2", "race.cu")
    assert done.returncode == 0, done.stderr
    assert "part[threadIdx.x]" in page.read_text("utf-8")


def test_a_mistake_in_the_code_is_the_compilers_message(run, tmp_path):
    (tmp_path / "wrong.cu").write_text("int main() { return nothing; }")
    done = run(str(tmp_path / "wrong.cu"))
    assert done.returncode == 2
    assert "nothing" in done.stderr
    assert "nvcc can't compile" in done.stderr


def test_several_files_and_what_is_compiled(run, tmp_path):
    (tmp_path / "kernel.cu").write_text(
        "__global__ void one(int *a) { *a = 1; }\nvoid start(int *a) { one<<<1, 1>>>(a); }"
    )
    (tmp_path / "main.cu").write_text(
        "#include <cstdio>\nvoid start(int *);\nint main(int n, char **) {\n"
        "int *a; cudaMallocManaged(&a, 4); start(a); cudaDeviceSynchronize();\n"
        'std::printf("%d %d\\n", *a, n); }'
    )
    done = run("main.cu", "kernel.cu", "x", cwd=tmp_path)
    assert (lines(done), done.returncode) == (["1 2"], 0), done.stderr
    done = run("/bin/true")
    assert done.returncode == 2
    assert "called no function of CUDA's shared runtime; compile it with" in done.stderr
    done = run("-DN=1", "/bin/true")
    assert "options of the compiler are for a file .cu" in done.stderr


def test_device_code_of_several_files_is_linked(run, cache, tmp_path):
    done = run("--nvcc=-rdc=true", "linked.cu", "linked_parts.cu")
    assert (lines(done), done.returncode) == (["220 240 260 280"], 0), done.stderr
    assert "2 launches of 2 kernels" in done.stdout
    assert "look (linked.cu:9)" in done.stdout
    assert "look (linked_parts.cu:12)" in done.stdout
    (library,) = cache.glob("cudart-*")
    program = str(tmp_path / "program")
    given = ["-rdc=true", "-cudadevrt", "none", "-cudart", "shared", f"-L{library}", "-o", program]
    for architecture in ("compute_90,code=compute_90", "compute_90,code=[sm_90,compute_90]"):
        code = ["-gencode", f"arch={architecture}"]  # its PTX is compressed
        command = [Nvcc().file, *code, *given, "linked.cu", "linked_parts.cu"]
        subprocess.run(command, cwd=PROGRAMS, check=True)
        assert lines(run(program)) == ["220 240 260 280"]


CCCL = (
    *("cub_reduce", "cub_scan", "cub_select", "cub_sort", "cub_segmented"),
    *("thrust_numbers", "thrust_order", "device_scope"),
)
"""Programs of CUB, Thrust and libcu++. Most take minutes: many cases, each at five sizes."""


@pytest.mark.parametrize("program", CCCL)
def test_cub_and_thrust_compute_what_the_host_does(run, program):
    done = run(f"{program}.cu")
    assert (lines(done), done.returncode) == (["OK"], 0), done.stderr


def test_the_checker_finds_nothing_in_a_scan(run):
    done = run("--check", "cub_scan.cu", "Scan::InclusiveSum", "9300")
    assert (lines(done), done.returncode) == (["OK"], 0), done.stderr


def test_a_case_and_sizes_are_chosen(run):
    done = run("cub_reduce.cu", "Reduce::Sum", str(1 << 20))
    assert lines(done) == ["OK"], done.stderr
    assert lines(run("cub_reduce.cu", "nothing")) == ["no such case"]
