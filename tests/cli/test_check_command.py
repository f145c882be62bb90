"""`mmsim check`, as a user calls it."""

import re

import pytest

from mmsim.api.report import Report
from mmsim.cli import main
from mmsim.cli.loading import CommandError, load_program

FILE = """\
import mmsim as mm

@mm.program
def staged(T, a, b):
    s = mm.shared(T.block_size, dtype=int)
    s[T.index] = a[T.id]
    b[T.id] += s[(T.index + 4) % T.block_size]
"""


@pytest.fixture
def call(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    called = ["check", f"{path}:staged", "arange:8", "zeros:8", "--threads", "8", "--width", "4"]
    return [*called, "--machine", "hmm", "--latency", "10"]


def test_what_is_found_is_printed_and_leaves_with_1(call, capsys):
    assert main([*call, "--schedule", "asynchronous"]) == 1
    output = capsys.readouterr().out
    head, finding = output.splitlines()
    assert head == (
        "staged on HMM(dmms=1, width=4, global_latency=10, shared_latency=1), 8 threads in blocks "
        "of 8, asynchronous: 1 finding"
    )
    assert finding.startswith(
        "1. data race on s[0] of block 0: thread 0 writes it at time 10 (staged, line 6) and "
        "thread 4 reads it at time "
    )


def test_nothing_found_leaves_with_0(call, capsys):
    assert main([*call, "--schedule", "synchronous"]) == 0
    head, scope = capsys.readouterr().out.splitlines()
    assert head.endswith("synchronous: nothing found")
    assert scope.startswith("Looked for in lock step (synchronous schedule): data races within a ")
    assert "Not looked for: races between warps and missing syncs" in scope
    assert 'pass schedule="asynchronous"' in scope


KERNELS = """\
import numpy as np
from numba import cuda
from mmsim import cuda as drop_in

def total(a, out):
    s = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    k = 64
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        k //= 2
    cuda.syncthreads()  # belongs into the loop
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

of_numba, of_mmsim = cuda.jit(total), drop_in.jit(total)
"""


@pytest.mark.parametrize("name", ["of_numba", "of_mmsim"])
def test_a_kernel_is_checked_as_a_gpu_runs_it(name, tmp_path, capsys):
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    launch = ["--grid", "2", "--block", "128", "--machine", "hmm"]
    called = ["check", f"{path}:{name}", "arange:256", "zeros:2", *launch]
    assert main(called) == 1
    head, finding = capsys.readouterr().out.splitlines()
    assert head.endswith("asynchronous: 1 finding")
    assert finding.startswith("1. data race on s[32] of block 0: ")
    assert "; in a loop put cuda.syncthreads() between two iterations; else " in finding
    assert main([*called, "--schedule", "synchronous"]) == 0
    assert "synchronous: nothing found\nLooked for in lock step" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--unset", "b"], "1. read of uninitialized memory, b[0]: thread 0 reads it at time"),
        (
            ["--shared-words", "4"],
            "1. too much shared memory, s of block 0: declared (staged, line 5)",
        ),
        (["--unset", "a", "--unset", "b"], "2 findings"),
    ],
)
def test_options_of_the_checker(call, options, text, capsys):
    assert main([*call, *options]) == 1
    assert text in capsys.readouterr().out


def test_a_proof_leaves_with_0_only_if_it_succeeds(call, capsys):
    pytest.importorskip("z3", reason="proofs need z3-solver")
    sizes = [f"--given={name} == threads" for name in ("a.size", "b.size")]
    assert main([*call, "--schedule", "synchronous", "--prove", *sizes]) == 1
    *_, race, index, barrier, conflict = capsys.readouterr().out.splitlines()
    assert race.startswith("- no data race: no: ")
    assert (index, barrier) == ("- no index out of range: yes", "- no divergent barrier: yes")
    assert conflict.startswith("- no bank conflict at this width: no: ")
    one = ["--given=threads == 1"]
    call[2:6] = "arange:1", "zeros:1", "--threads", "1"
    assert main([*call, "--prove", *sizes, *one]) == 0
    assert "- no index out of range: yes" in capsys.readouterr().out


def test_an_error_of_the_program_is_a_finding(call, capsys):
    call[2] = "arange:7"
    assert main(call) == 1
    assert "1. index out of range, a[7]: thread 7 is here at time" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--unset", "c"], "unset='c', but 'staged' has no such array parameter; it has a, b"),
        (["--block-size", "9"], "block_size=9 is larger than threads=8"),
    ],
)
def test_a_mistake_in_the_call_leaves_with_2(call, options, text, capsys):
    assert main([*call, *options]) == 2
    assert text in capsys.readouterr().err


def test_shared_words_are_at_least_1(call, capsys):
    with pytest.raises(SystemExit) as left:
        main([*call, "--shared-words", "0"])
    assert left.value.code == 2
    assert "'0' is not a whole number from 1 on" in capsys.readouterr().err


def test_the_report_is_saved(call, tmp_path):
    saved = tmp_path / "report.json"
    assert main([*call, "--schedule", "asynchronous", "--json", str(saved)]) == 1
    report = Report.from_json(saved.read_text())
    assert [finding.kind for finding in report.findings] == ["race"]
    assert report.run is not None


def test_the_page_shows_what_happened_and_what_was_found(call, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main([*call, "--schedule", "asynchronous", "--html", str(page)]) == 1
    finding = capsys.readouterr().out.splitlines()[1]
    (advice,) = re.findall("; (put .*)", finding)
    assert advice in page.read_text(encoding="utf-8")
    assert "Looked for" not in page.read_text(encoding="utf-8")
    assert main([*call, "--html", str(page)]) == 0
    assert advice not in page.read_text(encoding="utf-8")
    assert "Looked for in lock step (synchronous schedule)" in page.read_text(encoding="utf-8")


def test_where_nothing_ran_there_is_no_page(call, tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(FILE.replace("b[T.id] +=", "b[T.id] = 0.5 *"))
    page = tmp_path / "page.html"
    assert main([*call, "--html", str(page)]) == 1
    shown = capsys.readouterr()
    assert "1. value of a wrong type, b: thread 0 is here (staged, line 7)" in shown.out
    assert shown.err == f"mmsim: {page} wasn't made: no thread has begun\n"
    assert not page.exists()


@pytest.mark.parametrize("head", ["def\tmine(T, a):", "def \\\n        mine(T, a):"])
def test_a_program_may_be_spaced_as_python_allows(tmp_path, capsys, head):
    path = tmp_path / "spaced.py"
    path.write_text(f"import mmsim as mm\n\n@mm.program\n{head}\n    if T.warp == 1: T.barrier()\n")
    called = ["check", f"{path}:mine", "zeros:8", "--threads", "8", "--width", "4"]
    assert main(called) == 1
    assert "and thread 0 is elsewhere (mine, line 4)" in capsys.readouterr().out


def test_kernels_are_named_where_a_name_is_unknown(tmp_path):
    (tmp_path / "two.py").write_text(
        "from mmsim import cuda\n\n\n@cuda.jit\ndef scale(a):\n    a[cuda.grid(1)] *= 2\n"
    )
    with pytest.raises(CommandError, match=r"has no program 'scaled'; it has scale$"):
        load_program(f"{tmp_path / 'two.py'}:scaled")
