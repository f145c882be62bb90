"""CUDA C++ becomes PTX: the compiler is found, its errors are the user's, PTX is kept."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import mmsim as mm
from mmsim.cudart import compilation, installed, nvrtc
from mmsim.cudart.compilation import to_ptx
from mmsim.cudart.nvrtc import Compiled
from mmsim.errors import UnknownNameError

ADD = """
extern "C" __global__ void add(int* a, int by)
{
    a[threadIdx.x] += by;
}
"""
LOG = """k.cu(3): warning #177-D: variable "z" was declared but never referenced
      int z;
          ^

k.cu(4): error: identifier "x" is undefined
      a[0] = x;
             ^

k.cu(7): error #20014-D: expected an expression

2 errors detected in the compilation of "k.cu".
"""


def missing():
    """The reason why NVRTC can't be used here, or ""."""
    try:
        nvrtc.compiler()
    except mm.MMSimError as error:
        return str(error)
    return ""


needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")


@pytest.fixture
def nothing_installed(tmp_path, monkeypatch):
    """A computer without the library; a function adds files to the package `nvidia`."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    wheels = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(installed, "find_spec", lambda name: wheels if name == "nvidia" else None)
    monkeypatch.setattr(installed, "find_library", lambda name: None)

    def add(*files):
        for file in files:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    return add


on_linux = pytest.mark.skipif(sys.platform == "win32", reason="the names are Linux's")


@on_linux
def test_the_library_of_a_wheel_is_found(nothing_installed, tmp_path):
    nothing_installed("cuda_nvrtc/lib/libnvrtc.so.12", "cuda_nvrtc/lib/libnvrtc-builtins.so.12.8")
    assert installed.library() == str(tmp_path / "cuda_nvrtc/lib/libnvrtc.so.12")
    nothing_installed("cu13/lib/libnvrtc.so.13", "cu13/lib/libnvrtc-builtins.so.13.0")
    assert installed.library() == str(tmp_path / "cu13/lib/libnvrtc.so.13")


@on_linux
@pytest.mark.parametrize("name", ["CUDA_HOME", "CUDA_PATH"])
def test_the_library_of_a_toolkit_is_found(nothing_installed, tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, str(tmp_path / "toolkit"))
    nothing_installed("toolkit/lib64/libnvrtc.so.12", "toolkit/include/cuda.h")
    assert installed.library() == str(tmp_path / "toolkit/lib64/libnvrtc.so.12")
    assert installed.headers() == [str(tmp_path / "toolkit/include")]
    nothing_installed("cu13/lib/libnvrtc.so.13", "cu13/include/cccl/nv/target")
    assert installed.library() == str(tmp_path / "cu13/lib/libnvrtc.so.13")
    folders = [str(tmp_path / "cu13/include"), str(tmp_path / "cu13/include/cccl")]
    assert installed.headers() == folders


def test_the_library_of_the_system_is_found(nothing_installed, monkeypatch):
    monkeypatch.setattr(installed, "find_library", {"nvrtc": "libnvrtc.so.12"}.get)
    assert installed.library() == "libnvrtc.so.12"
    assert installed.headers() == []


def test_without_the_library_an_error_says_what_to_install(nothing_installed, monkeypatch):
    with pytest.raises(mm.MMSimError, match=r'pip install "memory-machine-simulator\[cuda-c\]"'):
        installed.library()
    monkeypatch.setattr(installed, "find_spec", lambda name: None)
    with pytest.raises(mm.MMSimError, match="or give PTX"):
        installed.library()


def test_a_library_that_cannot_be_loaded_is_an_error(tmp_path):
    (tmp_path / "libnvrtc.so.13").write_text("text")
    with pytest.raises(mm.MMSimError, match=r"can't be loaded .* install it anew"):
        nvrtc.Compiler(str(tmp_path / "libnvrtc.so.13"))


def test_an_error_has_the_compilers_message_and_the_line():
    error = nvrtc.error_of(LOG, "dir/k.cu", "NVRTC_ERROR_COMPILATION")
    assert isinstance(error, mm.LanguageError)
    assert str(error) == (
        'identifier "x" is undefined; also line 7: expected an expression\n'
        "  File 'k.cu', line 4, in k\n"
        "    a[0] = x;\n"
        "           ^"
    )


def test_an_error_in_a_name_expression_names_it():
    log = '__nv_name_map(3): error: identifier "g" is undefined\n  g<float>\n  ^\n'
    error = nvrtc.error_of(log, "k.cu", "")
    assert isinstance(error, UnknownNameError)
    assert str(error) == (
        "one of the name_expressions is not a kernel of 'k.cu': identifier \"g\" is undefined"
    )


def test_an_error_without_a_line_is_the_compilers():
    error = nvrtc.error_of("unrecognized option -foo", "k.cu", "NVRTC_ERROR_INVALID_OPTION")
    assert str(error) == (
        "NVRTC can't compile 'k.cu' (NVRTC_ERROR_INVALID_OPTION): unrecognized option -foo"
    )


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ('\t.file\t1 "/somewhere/k.cu"', '\t.file\t1 "k.cu"'),
        ('\t.file\t1 "k.cu"', '\t.file\t1 "k.cu"'),
        ('\t.file\t2 "/somewhere/another_k.cu"', '\t.file\t2 "/somewhere/another_k.cu"'),
        ('\t.file\t1 "C:\\\\folder\\k.cu"', '\t.file\t1 "k.cu"'),
    ],
)
def test_the_file_has_the_users_name(written, wanted):
    assert nvrtc._with_file(f"a\n{written}\nb", "k.cu") == f"a\n{wanted}\nb"


@pytest.mark.parametrize("options", ["-std=c++17", 3, ("-I", Path("a")), None])
def test_options_are_texts(options):
    with pytest.raises(mm.MMSimError, match="options are a tuple of texts"):
        compilation.checked_options(options)


class Counting:
    """A stand-in for the compiler, which counts."""

    version = "13.0"

    def __init__(self):
        self.calls = []
        self.known = [75, 80, 90, 100]

    def architectures(self):
        return self.known

    def compile(self, code, file, options, expressions):
        self.calls.append(list(options))
        names = {one: f"_Z{one}" for one in expressions}
        return Compiled(f".version 9.0\n// {code}", names, "a warning")


@pytest.fixture
def counting(monkeypatch, tmp_path):
    found = Counting()
    monkeypatch.setattr(nvrtc, "compiler", lambda: found)
    monkeypatch.setattr(installed, "headers", lambda: ["headers"])
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path / "cache"))
    return found


def test_the_defaults_join_the_options(counting):
    to_ptx("a", "a.cu", ("-DN=3",))
    to_ptx("a", "a.cu", ("-arch=compute_80",))
    to_ptx("a", "a.cu", ("--gpu-architecture=sm_75",))
    counting.known = [75, 80, 89]
    to_ptx("b", "b.cu")
    counting.known = [100, 120]
    to_ptx("c", "c.cu")
    always = ["-lineinfo", "--include-path=headers"]
    assert counting.calls == [
        ["-DN=3", "--gpu-architecture=compute_90", *always],
        ["-arch=compute_80", *always],
        ["--gpu-architecture=sm_75", *always],
        ["--gpu-architecture=compute_89", *always],
        ["--gpu-architecture=compute_100", *always],
    ]


def test_ptx_is_kept_for_the_same_code_options_and_compiler(counting, monkeypatch):
    first = to_ptx("a", "a.cu", (), ("f<int>",))
    assert first == (".version 9.0\n// a", {"f<int>": "_Zf<int>"}, "a warning")
    assert to_ptx("a", "a.cu", (), ("f<int>",)) == first
    assert len(counting.calls) == 1
    to_ptx("b", "a.cu", (), ("f<int>",))
    to_ptx("a", "b.cu", (), ("f<int>",))
    to_ptx("a", "a.cu", ("-DN",), ("f<int>",))
    to_ptx("a", "a.cu")
    assert len(counting.calls) == 5
    counting.version = "13.1"
    to_ptx("a", "a.cu")
    assert len(counting.calls) == 6
    monkeypatch.setattr(compilation, "STAND_INS", {})
    to_ptx("a", "a.cu")
    assert len(counting.calls) == 7


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ('#include "own.h"', ()),
        (" # include OWN", ()),
        ("a", ("-Ifolder",)),
        ("a", ("-I", "folder")),
        ("a", ("--include-path=folder",)),
        ("a", ("--pre-include=own.h",)),
    ],
)
def test_ptx_that_depends_on_other_files_is_not_kept(counting, code, options):
    to_ptx(code, "a.cu", options)
    to_ptx(code, "a.cu", options)
    assert len(counting.calls) == 2


def test_headers_of_cuda_do_not_hinder_that_it_is_kept(counting):
    to_ptx("#include <cuda_fp16.h>", "a.cu")
    to_ptx("#include <cuda_fp16.h>", "a.cu")
    assert len(counting.calls) == 1


def test_a_damaged_file_is_compiled_again(counting, tmp_path):
    first = to_ptx("a", "a.cu")
    (file,) = (tmp_path / "cache" / "ptx").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert to_ptx("a", "a.cu") == first
    assert len(counting.calls) == 2
    assert to_ptx("a", "a.cu") == first
    assert len(counting.calls) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no modes")
def test_a_file_that_others_can_write_is_compiled_again(counting, tmp_path):
    to_ptx("a", "a.cu")
    (file,) = (tmp_path / "cache" / "ptx").iterdir()
    file.chmod(0o666)
    to_ptx("a", "a.cu")
    assert len(counting.calls) == 2
    file.parent.chmod(0o777)
    to_ptx("b", "b.cu")
    to_ptx("b", "b.cu")
    assert len(counting.calls) == 4


def test_without_a_place_to_keep_it_code_is_compiled_all_the_same(counting, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path / "file"))
    to_ptx("a", "a.cu")
    monkeypatch.setattr(compilation.cached_files, "cache_directory", lambda: None)
    to_ptx("a", "a.cu")
    assert len(counting.calls) == 2


def test_a_character_0_is_refused(counting):
    with pytest.raises(mm.MMSimError, match=r"'a\.cu' has a character 0"):
        to_ptx("a\0b", "a.cu")
    assert counting.calls == []


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """The compiler itself, without what was kept before."""
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path / "cache"))
    return nvrtc.compiler()


@needs_compiler
def test_code_becomes_ptx_with_its_lines(compiler):
    ptx = to_ptx(ADD, "add.cu").ptx
    assert ".visible .entry add(" in ptx
    assert ".loc\t1 4 " in ptx
    assert '.file\t1 "add.cu"' in ptx
    assert ".target sm_90" in ptx
    assert ".target sm_80" in to_ptx(ADD, "add.cu", ("-arch=compute_80",)).ptx


@needs_compiler
def test_a_mistake_is_shown_in_the_users_code(compiler):
    with pytest.raises(mm.LanguageError) as raised:
        to_ptx(ADD.replace("by;", "bye;"), "add.cu")
    assert str(raised.value) == (
        'identifier "bye" is undefined\n'
        "  File 'add.cu', line 4, in add\n"
        "    a[threadIdx.x] += bye;\n"
        "                      ^"
    )


@needs_compiler
def test_a_mistake_in_an_included_file_is_shown_there(compiler, tmp_path):
    (tmp_path / "own.h").write_text("\n__device__ int three() { return 3 +; }\n")
    with pytest.raises(mm.LanguageError) as raised:
        to_ptx(f'#include "own.h"\n{ADD}', str(tmp_path / "add.cu"))
    assert raised.value.place.file == str(tmp_path / "own.h")
    assert raised.value.place.line == 2


@needs_compiler
def test_an_unknown_option_is_refused(compiler):
    with pytest.raises(mm.MMSimError, match="unrecognized option -foo"):
        to_ptx(ADD, "add.cu", ("-foo",))


@needs_compiler
def test_templates_have_names(compiler):
    code = "template <int N> __global__ void f(int* a) { a[0] = N; }"
    ptx, names, _ = to_ptx(code, "f.cu", (), ("f<3>", "f<5>"))
    assert all(f".entry {name}(" in ptx for name in names.values())
    assert list(names) == ["f<3>", "f<5>"]
    with pytest.raises(UnknownNameError, match='identifier "g" is undefined'):
        to_ptx(code, "f.cu", (), ("g<3>",))


@needs_compiler
def test_headers_of_c_have_stand_ins(compiler):
    includes = "".join(f"#include <{name}>\n" for name in compilation.STAND_INS)
    uses = "(int)(uint8_t)300 + (int)(std::int64_t)1 + INT_MAX + (FLT_MAX < INFINITY) + (int)M_PI"
    code = f'{includes} extern "C" __global__ void f(int* a) {{ a[0] = {uses}; }}'
    assert f"{(44 + 1 + 2**31 - 1 + 1 + 3) - 2**32}" in to_ptx(code, "f.cu").ptx


@needs_compiler
def test_warnings_are_reported(compiler):
    code = 'extern "C" __global__ void f(int* a) { int unused; }'
    assert "never referenced" in to_ptx(code, "f.cu").log
    assert "never referenced" in to_ptx(code, "f.cu").log  # kept with the PTX


@needs_compiler
def test_a_failure_of_the_library_is_an_error(compiler):
    with pytest.raises(mm.MMSimError, match="fails in AddNameExpression: NVRTC_ERROR_INVALID"):
        compiler._call("AddNameExpression", None, b"f")


@needs_compiler
def test_nothing_is_left_in_the_folder(compiler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    to_ptx(ADD, "add.cu")
    assert os.listdir(tmp_path) == ["cache"]
