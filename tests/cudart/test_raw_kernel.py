"""CuPy's RawKernel and RawModule on mmsim: what a user calls and sees.

A stand-in reads the PTX, so that only the host's side is tested: each kernel doubles its array.
"""

import pickle
import re
import sys
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.api.binding import as_program
from mmsim.cli.loading import load_program, programs_of
from mmsim.cuda import launches
from mmsim.cuda.report import Report
from mmsim.cudart import compilation, nvrtc, source
from mmsim.cudart.nvrtc import Compiled
from mmsim.errors import CallError, LaunchError, RaisedError, UnknownNameError
from mmsim.frontend.program import Program
from mmsim.frontend.ptx.module import Function, Module, Where

PTX = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 a) { ret; }
.visible .entry bounded(.param .u64 a) .maxntid 16, 2, 1 { ret; }
.file 1 "twice.cu"
"""


@mm.program
def doubled(T, a):
    a[T.id] = a[T.id] * 2


@dataclass
class Special:
    program: Program
    args: tuple

    def store(self, arrays):
        np.copyto(self.args[0], arrays["a"])


class Doubling(Program):
    """A stand-in for the program of a kernel."""

    parsed_late = True

    def __init__(self, module, name, *, text, ptx, file, memory):
        super().__init__(doubled.function, doubled.code)
        self.name, self.text, self.bytes = name, text, 0
        self.of = ptx, file
        assert memory == {}

    def with_shared(self, dynamic_bytes):
        self.bytes = dynamic_bytes
        return self

    def specialized(self, args):
        return Special(doubled, tuple(args))


def read(text):
    def function(name, entry, rest):
        limit = re.search(r"\.maxntid ([\d, ]+)", rest)
        limits = {"maxntid": tuple(map(int, limit[1].split(",")))} if limit else {}
        return Function(name, entry, (), (), (), {}, (), {}, limits, Where(1, 1, 0, 1))

    found = re.findall(r"\.(entry|func) (\w+)\((.*)", text)
    functions = {name: function(name, kind == "entry", rest) for kind, name, rest in found}
    files = dict(enumerate(re.findall(r'\.file\s+\d+ "(.*)"', text), 1))
    return Module("9.0", "sm_90", functions, files=files)


@pytest.fixture(autouse=True)
def front_end(monkeypatch):
    """Put the stand-in where the front end is."""
    for name, what in (("text", {"read": read}), ("kernel", {"PtxProgram": Doubling})):
        module = ModuleType(f"mmsim.frontend.ptx.{name}")
        vars(module).update(what)
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture
def kernel():
    return mm.RawKernel(PTX, "twice")


@pytest.fixture
def compiled(monkeypatch):
    """The calls of the compiler, for which something else writes the PTX."""
    calls = []

    def to_ptx(code, file, options, expressions):
        calls.append((code, file, options, expressions))
        names = {one: "twice" for one in expressions}
        return Compiled(PTX.replace('"twice.cu"', f'"{file}"'), names, "a warning")

    monkeypatch.setattr(source, "to_ptx", to_ptx)
    return calls


def test_a_launch_writes_into_the_arrays(kernel):
    a = np.arange(64, dtype=np.float32)
    assert kernel((2,), (32,), (a,)) is None
    assert a.tolist() == [2 * x for x in range(64)]
    kernel(2, 32, [a])
    assert a[3] == 12
    on_device = cuda.to_device(a)
    kernel((2, 1), (32, 1, 1), (on_device,))
    assert on_device.copy_to_host()[3] == 24
    assert a[3] == 12


def test_a_launch_on_a_card_has_a_predicted_time(kernel):
    a = np.ones(64, np.float32)
    with cuda.machine(mm.H200()):
        kernel((2,), (32,), (a,))
    last = str(kernel.profile()).splitlines()[-1]
    assert last.startswith("predicted on h200: ")
    run = mm.H200().run(kernel, a, grid=2, block=32)
    assert run.profile().prediction == mm.H200().predict(kernel, a, grid=2, block=32)


def test_a_launch_is_one_of_cuda(kernel):
    with cuda.machine(mm.HMM(2, 8, 20, bank_bytes=4)):
        kernel((2,), (32,), (np.ones(64),))
    assert kernel.last is cuda.last
    assert kernel.last.machine.width == 8
    assert "doubled" in str(kernel.profile())
    assert "doubled" in str(kernel.verdict())
    report = Report()
    report.listen()
    try:
        kernel((1,), (32,), (np.ones(32),))
    finally:
        launches.history.listeners.clear()
    assert [row.launches for row in report.kernels] == [1]


def test_the_player_shows_the_last_launch(kernel):
    with pytest.raises(mm.MMSimError, match=r"launch it as twice\(grid, block, args\)"):
        kernel.player()
    assert kernel.last is None
    kernel(1, 32, (np.ones(32),))
    assert kernel.player().data["machine"].startswith("HMM(dmms=2")


def test_a_machine_takes_a_kernel_for_its_program(kernel):
    a = np.arange(8.0)
    machine = mm.DMM(4, 3)
    assert machine.run(kernel, a, grid=1, block=8).arrays["a"].tolist() == (2 * a).tolist()
    assert a[1] == 1
    assert machine.run(kernel, a, threads=8).time == machine.run(doubled, a, threads=8).time
    report = machine.check(kernel, a, grid=2, block=4)
    assert (report.schedule, report.findings) == ("asynchronous", ())
    assert machine.check(doubled, a, threads=8).schedule == "synchronous"
    assert as_program(kernel) is kernel.program


def test_other_things_are_not_programs():
    with pytest.raises(LaunchError, match="3 is not a program"):
        mm.DMM(4, 3).run(3, threads=4)


def test_the_command_line_finds_a_kernel(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(f"import mmsim as mm\nk = mm.RawKernel({PTX!r}, 'twice')\n")
    assert load_program(f"{file}:k").name == "twice"
    with pytest.raises(mm.MMSimError, match="has no program 'a'; it has k"):
        load_program(f"{file}:a")
    with pytest.raises(mm.MMSimError, match="has no program"):
        programs_of(str(file))


def test_the_shared_memory_of_a_launch_goes_to_the_program(kernel):
    a = np.ones(32)
    kernel(1, 32, (a,), shared_mem=1000)
    assert kernel.program.bytes == 1000
    with pytest.raises(LaunchError, match=r"with 50000 bytes .* a block has at most 49152"):
        kernel(1, 32, (a,), shared_mem=50000)
    kernel.max_dynamic_shared_size_bytes = 50000
    kernel(1, 32, (a,), shared_mem=50000)
    assert kernel.max_dynamic_shared_size_bytes == 50000
    with pytest.raises(LaunchError, match="at most 50000"):
        kernel(1, 32, (a,), shared_mem=50001)


@pytest.mark.parametrize("most", [-1, 227 * 1024 + 1, "a", 1.5])
def test_a_card_has_so_much_shared_memory(kernel, most):
    with pytest.raises(LaunchError, match="max_dynamic_shared_size_bytes is from 0 to 232448"):
        kernel.max_dynamic_shared_size_bytes = most


def test_launch_bounds_limit_the_threads(kernel):
    bounded = mm.RawModule(PTX).get_function("bounded")
    assert (bounded.max_threads_per_block, kernel.max_threads_per_block) == (32, 1024)
    with pytest.raises(LaunchError, match="blocks of 33 threads; a block has at most 32"):
        bounded(1, 33, (np.ones(33),))


@pytest.mark.parametrize("args", [np.ones(32), 3, None])
def test_arguments_are_a_tuple(kernel, args):
    with pytest.raises(CallError, match=r"the arguments of the kernel 'twice' are a tuple"):
        kernel(1, 32, args)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (((1, 1, 1, 1), 32), "kernel 'twice': grid must be a sequence of 1, 2 or 3 integers"),
        ((1, "a"), "kernel 'twice': block must be a sequence of integers"),
        ((0, 32), "with a grid of 0 along x"),
        ((1, 2000), "with a block of 2000 along x"),
    ],
)
def test_sizes_are_checked(kernel, sizes, message):
    with pytest.raises(LaunchError, match=message):
        kernel(*sizes, (np.ones(32),))


def test_an_error_that_a_kernel_raises_keeps_its_words(kernel, monkeypatch):
    def fails(*_):
        raise RaisedError("assertion failed", program="twice")

    monkeypatch.setattr(launches, "run_kernel", fails)
    with pytest.raises(RaisedError, match="program 'twice': assertion failed"):
        kernel(1, 32, (np.ones(32),))


def test_a_name_that_is_not_in_the_code_is_an_error():
    with pytest.raises(UnknownNameError) as raised:
        mm.RawKernel(PTX, "third").compile()
    assert str(raised.value) == (
        "no kernel 'third' in 'third.ptx'; its kernels are twice, bounded. Declare it "
        "extern \"C\" __global__, or take RawModule(code=..., name_expressions=['third'])"
    )
    mangled = PTX.replace("twice(", "_Z5twicePf(")
    with pytest.raises(UnknownNameError) as raised:
        mm.RawKernel(mangled, "twice").compile()
    assert str(raised.value) == (
        "the kernel 'twice' in 'twice.ptx' has a name of C++. Declare it extern \"C\" __global__, "
        "or take RawModule(code=..., name_expressions=['twice'])"
    )
    functions = ".version 9.0\n.func twice() { ret; }"
    with pytest.raises(UnknownNameError, match="it has no kernel"):
        mm.RawKernel(functions, "twice")(1, 1, ())


def test_a_kernel_shows_what_it_was_made_of(kernel):
    assert (kernel.name, kernel.code, kernel.options) == ("twice", PTX, ())
    assert (kernel.backend, kernel.ptx, kernel.enable_cooperative_groups) == ("nvrtc", PTX, False)
    assert repr(kernel) == "<kernel twice>"
    with pytest.raises(AttributeError, match=r"kernel\.last\.registers"):
        kernel.num_regs


def test_cuda_c_is_compiled_once_when_it_is_needed(compiled):
    kernel = mm.RawKernel("code", "twice", ("-DN=3",), enable_cooperative_groups=True)
    assert (compiled, kernel.options, kernel.enable_cooperative_groups) == ([], ("-DN=3",), True)
    kernel(1, 4, (np.ones(4),))
    kernel(1, 4, (np.ones(4),))
    assert kernel.ptx.startswith("\n.version")
    assert compiled == [("code", "twice.cu", ("-DN=3",), ())]
    assert kernel.program.text == {"twice.cu": "code"}
    assert kernel.program.of == (kernel.ptx, "twice.cu.ptx")


def test_the_log_can_be_read(compiled, tmp_path):
    with open(tmp_path / "log", "w") as log:
        mm.RawKernel("code", "twice").compile(log)
        mm.RawModule("code").compile(log_stream=log)
    assert (tmp_path / "log").read_text() == "a warning" * 2
    mm.RawModule("code").compile()


def test_a_module_has_kernels(compiled):
    module = mm.RawModule(code="code", options=["-G"], name_expressions=["f<int>", "f<float>"])
    assert (module.code, module.options, module.backend) == ("code", ("-G",), "nvrtc")
    assert (module.name_expressions, module.file_path) == (("f<int>", "f<float>"), None)
    kernel = module.get_function("f<float>")
    a = np.ones(4)
    kernel(1, 4, (a,))
    assert a[0] == 2
    assert kernel.name == "f<float>"
    assert kernel.program.name == "twice"
    assert module.get_function("twice").program is kernel.program
    assert compiled == [("code", "module.cu", ("-G",), ("f<int>", "f<float>"))]
    with pytest.raises(UnknownNameError, match=r"no kernel 'f<int, 3>' in 'module\.cu'"):
        module.get_function("f<int, 3>").compile()
    with pytest.raises(CallError, match="name is a text, not 3"):
        module.get_function(3)


def test_a_module_may_be_a_file(compiled, tmp_path):
    (tmp_path / "twice.cu").write_text("code")
    (tmp_path / "twice.ptx").write_text(PTX)
    (tmp_path / "twice.cubin").write_bytes(b"\x7fELF\xff\xfe")
    module = mm.RawModule(path=tmp_path / "twice.cu")
    assert module.file_path == str(tmp_path / "twice.cu")
    module.get_function("twice").compile()
    assert compiled == [("code", str(tmp_path / "twice.cu"), (), ())]
    module = mm.RawModule(path=str(tmp_path / "twice.ptx"))
    assert module.get_function("twice").ptx == PTX
    assert len(compiled) == 1
    with pytest.raises(LaunchError, match=r"twice\.cubin'\) is not a text, as a cubin"):
        mm.RawModule(path=tmp_path / "twice.cubin")
    for path in (tmp_path / "gone.cu", tmp_path, 1.5):
        with pytest.raises(LaunchError, match="can't be read"):
            mm.RawModule(path=path)


def test_texts_of_files_that_the_ptx_names_are_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = mm.RawKernel(PTX, "twice").program
    assert (program.text, program.of) == ({}, (PTX, "twice.ptx"))
    (tmp_path / "twice.cu").write_text("code")
    assert mm.RawKernel(PTX, "twice").program.text == {"twice.cu": "code"}
    (tmp_path / "twice.cu").write_bytes(b"\xff")
    assert mm.RawKernel(PTX, "twice").program.text == {}


@pytest.mark.parametrize("given", [{}, {"code": PTX, "path": "a.cu"}])
def test_a_module_is_made_of_one_text(given):
    with pytest.raises(CallError, match="either code= or path="):
        mm.RawModule(**given)


@pytest.mark.parametrize("make", [lambda **how: mm.RawKernel(PTX, "twice", **how), mm.RawModule])
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"backend": "nvcc"}, "backend='nvcc' is not supported"),
        ({"translate_cucomplex": True}, "translate_cucomplex=True is not supported"),
        ({"jitify": True}, "jitify=True is not supported"),
        ({"options": "-G"}, "options are a tuple of texts"),
    ],
)
def test_what_is_not_supported_is_refused(make, how, message):
    with pytest.raises(mm.MMSimError, match=message):
        make(**({"code": PTX} if make is mm.RawModule else {}), **how)


def test_code_and_names_are_texts():
    with pytest.raises(CallError, match=r"code is a text, not b'a'"):
        mm.RawKernel(b"a", "twice")
    with pytest.raises(CallError, match=r"name is a text, not 3"):
        mm.RawKernel(PTX, 3)
    with pytest.raises(CallError, match=r"code is a text, not 3"):
        mm.RawModule(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda kernel: kernel(1, 1, np.ones(1), 3),
            r"write kernel\(\(blocks,\), \(threads,\), \(a",
        ),
        (lambda kernel: kernel[1, 1], r"launched as twice\(grid, block, args\), with a tuple"),
        (lambda _: mm.RawKernel(PTX), r"write RawKernel\(code, name, options=\(\)"),
        (lambda _: mm.RawModule(PTX, ("-G",)), r"write RawModule\(code=None, \*, path=None"),
        (lambda _: mm.RawModule(PTX, option=("-G",)), r"takes no option=; did you mean options"),
        (lambda _: mm.RawModule(PTX, name_expressions="f<1>"), r"as \('scale<float>'"),
    ],
)
def test_wrong_calls_say_what_to_write(kernel, call, message):
    with pytest.raises(mm.MMSimError, match=message):
        call(kernel)


def test_a_kernel_can_be_pickled(kernel):
    kernel(1, 4, (np.ones(4),))
    again = pickle.loads(pickle.dumps(kernel))
    assert (again.name, again.code, again.last) == ("twice", PTX, None)
    a = np.ones(4)
    again(1, 4, (a,))
    assert a[0] == 2


def test_without_a_compiler_an_error_says_what_to_do(monkeypatch):
    def fails():
        raise mm.MMSimError("install it")

    monkeypatch.setattr(nvrtc, "compiler", fails)
    with pytest.raises(mm.MMSimError, match="install it"):
        mm.RawKernel("code", "twice")(1, 1, ())
    assert compilation.nvrtc is nvrtc
