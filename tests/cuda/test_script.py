"""Programs and tests that import numba.cuda, run on mmsim."""

import json
import re
import subprocess
import sys

import pytest

KERNELS = """
import sys
import numpy as np
from numba import cuda, float32, vectorize

@cuda.jit
def turn(a, b):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        b[y, x] = a[x, y]

@cuda.jit("void(float32[:], float32)")
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= factor

@cuda.jit
def racy(a):
    a[0] = cuda.grid(1)

@vectorize(["float32(float32)"], target="cuda")
def twice(x):
    return 2 * x
"""
PROGRAM = f"""{KERNELS}
a = np.arange(1024, dtype=np.float32).reshape(32, 32)
b = cuda.device_array_like(a)
turn[(2, 2), (16, 16)](cuda.to_device(a), b)
assert (b.copy_to_host() == a.T).all()
scale[32, 32](a.reshape(-1), 2)
scale[32, 32](a.reshape(-1), 2)
assert (twice(a) == 2 * a).all()
if "racy" in sys.argv:
    racy[2, 32](np.zeros(1, np.int64))
print("arguments", sys.argv[1:], __name__)
sys.exit(int(sys.argv[1]) if sys.argv[1:] else None)
"""


@pytest.fixture
def call(tmp_path):
    """`mmsim cuda` with these arguments, in a folder that has the program."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*arguments, command=("mmsim", "cuda")):
        return subprocess.run(
            [sys.executable, "-m", *command, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return run


def test_the_profile_has_the_lines_of_the_first_launch_of_each_kernel(call):
    done = call("--profile", "program.py", "0", "--profile")
    assert done.returncode == 0, done.stderr
    assert "mmsim: --profile stands after the program's name" in done.stderr
    table, *profiles = re.split(r"(?m)^(?=\w+: \d+ stages, )", done.stdout)
    assert "4 launches of 3 kernels" in table
    assert [one.split(":")[0] for one in profiles] == ["turn", "scale", "twice"]
    rows = [re.findall(r"(\d+) │ +(\d+) │ +(\d+) │ +│ +(\S.*?) *│", one) for one in profiles]
    assert rows[0] == [("64", "576", "512", "b[y, x] = a[x, y]")]
    assert rows[1] == [("64", "64", "0", "a[i] *= factor")]


def test_a_program_runs_unchanged_and_its_kernels_are_counted(call, tmp_path):
    done = call("--json", "kernels.json", "program.py", "0", "--json")
    assert done.returncode == 0, done.stderr
    assert "arguments ['0', '--json'] __main__" in done.stdout
    assert "4 launches of 3 kernels" in done.stdout
    rows = {
        row["kernel"]: row for row in json.loads((tmp_path / "kernels.json").read_text())["kernels"]
    }
    assert list(rows) == ["turn", "scale", "twice"]
    assert (rows["scale"]["launches"], rows["scale"]["threads"]) == (2, 2048)
    assert rows["scale"]["memories"] == {"global": {"stages": 128, "wasted": 0, "contended": 0}}
    assert rows["turn"]["worst_text"] == "b[y, x] = a[x, y]"
    # A warp has 16 values of x and 2 of y: it reads 16 rows of a and writes 2 of b, which are a
    # group each. One of each would do: 15 + 1 are wasted by each of 32 warps.
    assert rows["turn"]["worst_wasted"] == 16 * 32


def test_the_programs_status_is_kept(call):
    assert call("program.py", "7").returncode == 7


def test_findings_are_printed_and_end_with_status_1(call):
    assert call("program.py", "0", "racy").returncode == 0
    done = call("--check", "program.py", "0", "racy")
    assert done.returncode == 1
    assert "race" in done.stdout


PARTED = """
import threading
import numpy as np
from numba import cuda

@cuda.jit
def parted(a):
    if cuda.threadIdx.x < 3:
        cuda.syncthreads()
    a[cuda.threadIdx.x] = 1

def launch():
    a = np.zeros(8)
    parted[1, 8](a)
    print(a.sum())

launch()
threads = [threading.Thread(target=launch)]
threads[0].start()
threads[0].join()
"""


def test_lenient_launches_go_on_and_warn(call, tmp_path):
    (tmp_path / "parted.py").write_text(PARTED)
    assert "thread 3 (threadIdx (3, 0, 0)" in call("parted.py").stderr
    done = call("--lenient", "parted.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("8.0") == 2
    assert "parted.py:9: LenientWarning: thread 3: thread 0 waits at this barrier" in done.stderr
    assert call("--lenient", "--check", "parted.py").returncode == 1


APART = """
import numpy as np
from numba import cuda, float64

@cuda.jit
def turned(a):
    part = cuda.shared.array((32, 32), float64)
    t = cuda.threadIdx.x
    part[t, 0] = a[t]
    a[t] = part[31 - t, 0]

@cuda.jit
def turned_in_order(a):
    part = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    part[t] = a[t]
    cuda.syncwarp()
    a[t] = part[31 - t]

@cuda.jit
def first_block(a):
    if cuda.blockIdx.x == 0:
        a[cuda.threadIdx.x] = 1
        cuda.cg.this_grid().sync()

for _ in range(3):
    turned[1, 32](np.zeros(32))
turned_in_order[1, 32](np.zeros(32))
first_block[2, 32](np.zeros(64))
print(turned_in_order.verdict())
"""
SCOPE = "Looked for with warps and lanes that run independently (asynchronous schedule): data races"


def test_missing_syncs_and_grid_barriers_are_found_and_each_kernel_has_a_verdict(call, tmp_path):
    (tmp_path / "apart.py").write_text(APART)
    done = call("--check", "--json", "apart.json", "--html", "apart.html", "apart.py")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("turned_in_order (apart.py:12), 1 launch, 32 threads: glo")
    turned, in_order, first_block, scope, place = lines[-5:]
    assert scope.startswith(SCOPE)
    assert "Not looked for: results that depend on which write wins, deadlocks" in scope
    assert place == "open apart.html in a browser"
    assert turned == (
        "turned (apart.py:5), 3 launches, 96 threads: global memory is coalesced; bank conflicts "
        "take 180 of 192 stages of shared memory, most of it in line 9. Found: missing "
        "cuda.syncwarp() (1)."
    )
    assert in_order == (
        "turned_in_order (apart.py:12), 1 launch, 32 threads: global memory is coalesced; shared "
        "memory has no bank conflict. Nothing found."
    )
    assert first_block.endswith("Found: divergent barrier (1).")
    saved = json.loads((tmp_path / "apart.json").read_text())
    verdicts = [f"{line} {scope}" for line in (turned, in_order, first_block)]
    assert [row["verdict"] for row in saved["kernels"]] == verdicts
    assert [row["findings"] for row in saved["kernels"]] == [1, 0, 1]
    assert len(saved["findings"]) == 2  # of three launches as one
    assert verdicts[1] in (tmp_path / "apart.html").read_text()


def test_a_program_that_is_not_checked_says_so_and_an_option_after_it_is_its_own(call, tmp_path):
    (tmp_path / "apart.py").write_text(APART)
    done = call("--json", "apart.json", "apart.py", "--check")
    assert done.returncode == 0, done.stderr
    assert "--check stands after the program's name and is passed to the program" in done.stderr
    assert "Not checked: `mmsim cuda --check` looks for" in done.stdout.splitlines()[0]
    assert "othing found" not in done.stdout
    (saved, *_) = json.loads((tmp_path / "apart.json").read_text())["kernels"]
    assert (saved["checked"], "Not checked: " in saved["verdict"]) == (0, True)


def test_a_program_that_fails_fails_and_its_kernels_are_shown(call, tmp_path):
    (tmp_path / "program.py").write_text(
        PROGRAM.partition('if "racy"')[0] + "\nraise KeyError('x')\n"
    )
    done = call("program.py")
    assert done.returncode == 1
    assert "KeyError: 'x'" in done.stderr
    assert "4 launches of 3 kernels" in done.stdout
    done = call("nothing.py")
    assert (done.returncode, "no file 'nothing.py'" in done.stderr) == (2, True)


def test_a_page_shows_small_launches_step_by_step(call, tmp_path):
    done = call("--html", "page.html", "program.py")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "a[i] *= factor" in page
    (tmp_path / "small.py").write_text(f"{KERNELS}\nscale[1, 8](np.ones(8, np.float32), 2)\n")
    assert call("--html", "small.html", "small.py").returncode == 0
    small = (tmp_path / "small.html").read_text()
    assert (page.count("<iframe"), small.count("<iframe")) == (3, 1)


def test_a_module_runs_too(call):
    done = call("-m", "program", "0")
    assert done.returncode == 0, done.stderr
    assert "4 launches" in done.stdout


TESTS = f"""{KERNELS}
def test_scale():
    a = np.ones(8, np.float32)
    scale[1, 8](a, 3)
    assert (a == 3).all()

def test_racy():
    racy[2, 32](np.zeros(1, np.int64))
"""


def test_tests_of_kernels_run_with_the_plugin(call, tmp_path):
    (tmp_path / "test_kernels.py").write_text(TESTS)
    plugin = ("pytest", "-q", "-p", "mmsim.cuda.pytest", "-p", "no:cacheprovider")
    done = call("test_kernels.py", "--cuda-json", "kernels.json", command=plugin)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 launches of 2 kernels" in done.stdout
    assert json.loads((tmp_path / "kernels.json").read_text())["kernels"][0]["kernel"] == "scale"
    done = call("test_kernels.py", "--cuda-check", command=plugin)
    assert done.returncode == 1
    assert "2 passed" in done.stdout
    assert re.search(
        r"racy \(test_kernels.py:\d+\), 1 launch, 64 threads: .* Found: data race \(1\)\.$",
        done.stdout,
        re.MULTILINE,
    )
    assert re.search(r"^scale .* Nothing found\.$", done.stdout, re.MULTILINE)
    assert f"\n{SCOPE}" in done.stdout


def test_numbas_packages_for_cuda_need_not_be_there(call, tmp_path):
    (tmp_path / "blocked.py").write_text(
        "import sys\n"
        "sys.modules['numba.cuda'] = sys.modules['numba_cuda'] = None\n"
        "sys.modules['numba_cuda_mlir'] = None\n"
        "from mmsim.cuda.replacing import run_script\n"
        "sys.exit(run_script('small.py', []))\n"
    )
    (tmp_path / "small.py").write_text(
        "import numpy as np\nfrom numba import cuda, float32\n"
        "from numba.cuda.random import create_xoroshiro128p_states\n"
        "from numba_cuda_mlir import cuda as other\n"
        "assert cuda is other\n"
        "@cuda.jit\ndef fill(a):\n    a[cuda.grid(1)] = float32(1)\n"
        "a = np.zeros(4)\nfill[1, 4](a)\nprint(a)\n"
    )
    done = call(command=("blocked",))
    assert "[1. 1. 1. 1.]" in done.stdout, done.stderr


PARTS = """
import importlib.util
import numpy as np
import numba_cuda_mlir
from numba_cuda_mlir import cuda, types
import numba_cuda_mlir.cuda.cudadrv.driver
import numba.cuda.libdevice
from numba.cuda.extending import overload
from numba.cuda.cudadrv.devicearray import DeviceNDArray, DeviceNDArrayBase
from numba.cuda.cudadrv.driver import CudaAPIError, driver
from numba.cuda.cudadrv.error import CudaSupportError, NvvmError
from numba.cuda.cudadrv.nvvm import NvvmSupportError
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda import HostOnlyCUDAMemoryManager, cg, compile_ptx, config, extending
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import overload
from numba.cuda.kernels.reduction import Reduce
import numba.cuda.kernels.reduction as reduction
from numba.cuda.np.numpy_support import from_dtype
from numba.cuda.testing import CUDATestCase, skip_on_cudasim, skip_unless_cc_60
from numba.cuda.testing import skip_unless_cudasim
from numba_cuda_mlir import carray
from numba_cuda_mlir.numba_cuda import grid
from numba_cuda_mlir.types import int32

assert Reduce is reduction.Reduce is numba.cuda.Reduce and extending.overload is overload
assert isinstance(from_dtype(np.dtype("f4")), numba.cuda.types.Float)
assert isinstance(int32, types.Integer) and grid is cuda.grid

class Own(HostOnlyCUDAMemoryManager):
    pass

def one(x):
    pass

@overload(one)
def one_of_integers(x):
    return (lambda x: x + 1) if isinstance(x, types.Integer) else None

def first(a):
    pass

@overload(first)
def first_of_arrays(a):
    return (lambda a: a.size - 2) if isinstance(a, types.Array) else None

class Tests(CUDATestCase):
    @skip_on_cudasim("runs on a device")
    @skip_unless_cc_60
    def test_runs(self):
        self.ran = True

    @skip_unless_cudasim("needs the simulator")
    def test_of_the_simulator(self):
        raise AssertionError

for name in ("numba_cuda_mlir", "numba.cuda", "numba.cuda.cudadrv", "numba.cuda.cudadrv.driver"):
    assert importlib.util.find_spec(name) is not None, name
importlib.util.find_spec("numba_cuda")
for name in ("numba.cuda.cudadecl", "numba.cuda.cudadrv.enums", "numba_cuda_mlir.cuda.nothing"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == name and "mmsim compiles nothing" in str(error)
    else:
        raise AssertionError(name)

assert cuda.cudadrv.driver is numba.cuda.cudadrv.driver
device = cuda.to_device(np.arange(3))
assert isinstance(device, cuda.cudadrv.devicearray.DeviceNDArray)
assert isinstance(device, DeviceNDArrayBase)
host = np.arange(3)
old = cuda.to_device(host)
old[0] = 7
old.to_host()
assert host.tolist() == [7, 1, 2]
assert driver.get_device_count() == 1
assert cuda.runtime.get_version() >= (11, 8)
assert numba.cuda.cudadrv.devices.get_context() is cuda.current_context()
assert cuda.libdevice.exp10f is numba.cuda.libdevice.exp10f
assert types.float32(1.5) == 1.5

@cuda.jit
def fill(a):
    a[cuda.grid(1)] = first(a) * one(a[0]) + int32(0)

assert isinstance(fill, CUDADispatcher)
fill[1, 3](device)
assert issubclass(Own, HostOnlyCUDAMemoryManager) and config.ENABLE_CUDASIM in (0, 1)
for refused in (compile_ptx, Own):
    try:
        refused(fill, ())
    except NotImplementedError as error:
        print(error)
runs = Tests("test_runs")
assert runs.run().wasSuccessful() and runs.ran
assert len(Tests("test_of_the_simulator").run().skipped) == 1
print("all is there", device.copy_to_host())
"""


def test_the_parts_of_numba_cuda_that_programs_name_are_there(call, tmp_path):
    (tmp_path / "parts.py").write_text(PARTS)
    done = call("parts.py")
    assert done.returncode == 0, done.stderr
    assert "all is there [1 1 1]" in done.stdout
    assert "cuda.compile_ptx isn't here: mmsim makes no machine code" in done.stdout
    assert "cuda.HostOnlyCUDAMemoryManager isn't here: the device's arrays are" in done.stdout


@pytest.mark.parametrize(
    ("command", "arguments", "status"),
    [
        (("mmsim", "cuda"), ("--check", "program.py"), 2),
        (("pytest", "-p", "mmsim.cuda.pytest"), ("--cuda-check", "program.py"), 4),
    ],
)
def test_a_check_is_refused_where_launches_call_the_python_function(
    call, command, arguments, status, monkeypatch
):
    monkeypatch.setenv("MMSIM_PYTHON", "1")
    done = call(*arguments, command=command)
    assert done.returncode == status
    assert "with MMSIM_PYTHON set" in done.stderr
    if command[0] == "mmsim":
        done = call("program.py", "0")
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "no launch was simulated")
