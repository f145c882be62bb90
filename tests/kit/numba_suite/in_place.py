"""Put mmsim in the place of numba-cuda's simulator, in this process: a plugin of pytest.

What the simulator provides comes from `mmsim.cuda`, but for what that only refuses; the rest of the
package, its types and its compiler, which the simulator leaves alone too, stays. The simulator
itself is taken away: a kernel that reached it would fail. What the tests skip under the simulator
is run, and its reason kept.

Each test's outcome goes to the JSON file that MMSIM_SUITE_OUTCOMES names.
"""

import json
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")

import numba
import numba.cuda
import numba.cuda.simulator as simulator
import numba.cuda.testing as testing

from mmsim import cuda
from mmsim.cuda import (
    allocation,
    arguments,
    arrays,
    cg,
    devices,
    dispatcher,
    lacking,
    launches,
    random,
    reduction,
    source_text,
    streams,
    types,
    vectors,
)

OUTCOMES = {}
"""By the test's name: its outcome, its launches of kernels, the processes that it started (in which
the simulator itself stays), what it said, why the simulator skips it."""
REASON = "_simulator_skips"
SECONDS = 60


def replace_simulator():
    """Let `numba.cuda` mean `mmsim.cuda`."""
    named = set(cuda.__all__) - {"types", *types.__all__, *lacking.REASONS}
    values = {name: getattr(cuda, name) for name in named}
    values |= {"cg": cg, "random": random, "reduce": reduction.reduce}
    vars(numba.cuda).update(values)
    vars(simulator).update(
        {name: value for name, value in values.items() if name in simulator.__dict__}
    )
    for name, module in {
        "args": arguments,
        "cg": cg,
        "random": random,
        "simulator.vector_types": vectors,
        "dispatcher": dispatcher,
    }.items():
        sys.modules[f"numba.cuda.{name}"] = module
        if "." not in name:
            setattr(numba.cuda, name, module)
    dispatcher.CUDADispatcher = dispatcher.Dispatcher
    for module, source in {"devicearray": arrays, "devices": devices, "driver": streams}.items():
        public = {name: value for name, value in vars(source).items() if name[0] != "_"}
        vars(sys.modules[f"numba.cuda.cudadrv.{module}"]).update(public)
    devicearray = sys.modules["numba.cuda.cudadrv.devicearray"]
    public = {name: value for name, value in vars(allocation).items() if name[0] != "_"}
    vars(devicearray).update(public)
    devicearray.FakeCUDAArray = arrays.DeviceNDArray
    sys.modules["numba.cuda.cudadrv.devices"].get_context = devices.current_context
    for name in ("vectorize", "guvectorize"):
        setattr(numba, name, for_target(getattr(numba, name), getattr(cuda, name)))
    take_away_simulator()


def for_target(of_numba, of_mmsim):
    """Numba's decorator, which for the target "cuda" is mmsim's."""

    def decorator(*args, **options):
        chosen = of_mmsim if options.get("target") == "cuda" else of_numba
        return chosen(*args, **options)

    return decorator


def take_away_simulator():
    """Let the simulator's kernels fail."""
    from numba.cuda.simulator.kernel import FakeCUDAKernel

    def refuse(self, *args, **options):
        raise AssertionError("a kernel of numba-cuda's simulator was reached")

    FakeCUDAKernel.__init__ = refuse


def run_what_is_skipped():
    """Let the decorator that skips under the simulator only keep its reason."""

    def skip_on_cudasim(reason):
        def keep(one):
            setattr(one, REASON, reason)
            return one

        return keep

    testing.skip_on_cudasim = skip_on_cudasim


replace_simulator()
run_what_is_skipped()
source_text.keep_all()
warnings.filterwarnings("ignore", category=DeprecationWarning)


def counted(launched):
    """Count a launch for the test that runs now."""
    if CURRENT:
        OUTCOMES[CURRENT[-1]]["launches"] += 1


CURRENT = []
launches.history.listeners.append(counted)


class CountedProcess(subprocess.Popen):
    """A process, counted for the test that starts it."""

    def __init__(self, *args, **options):
        if CURRENT:
            OUTCOMES[CURRENT[-1]]["processes"] += 1
        super().__init__(*args, **options)


subprocess.Popen = CountedProcess


NAMES = {}
"""The tests' names, which don't depend on where the package lies, by pytest's."""


def name_of(item):
    """A test's name: folder, file, class, method."""
    test = item.nodeid.partition("::")[2]
    return f"{item.path.parent.name}/{item.path.name}::{test}"


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    """The fixture of the package's own configuration of pytest."""
    request.cls._dump_failed_filechecks = False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """End a test that takes too long."""

    def end(number, frame):
        raise TimeoutError(f"took more than {SECONDS} seconds")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    name = NAMES[item.nodeid] = name_of(item)
    method = getattr(item, "function", None)
    reason = getattr(method, REASON, None) or getattr(item.cls, REASON, None)
    OUTCOMES[name] = {
        "outcome": "",
        "launches": 0,
        "processes": 0,
        "simulator_skips": reason,
        "said": "",
    }
    CURRENT.append(name)
    yield
    CURRENT.pop()


def shortened(said):
    """The words of a test: an error of mmsim without the source before it, and no folders."""
    said = re.sub(r"^.*?(?=mmsim\.errors\.)", "", " ".join(said.split()))
    return re.sub(r"(/[\w.+@-]+)+/", "", said)[:300]


def pytest_runtest_logreport(report):
    one = OUTCOMES[NAMES[report.nodeid]]
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
        if one["outcome"] != "failed":
            one["outcome"] = outcome
        if outcome == "skipped":
            one["said"] = shortened(str(report.longrepr[2]))
        elif outcome == "failed" and not one["said"]:
            crash = getattr(report.longrepr, "reprcrash", None)
            one["said"] = shortened(crash.message if crash else str(report.longrepr))


def pytest_sessionfinish():
    Path(os.environ["MMSIM_SUITE_OUTCOMES"]).write_text(json.dumps(OUTCOMES), "utf-8")
