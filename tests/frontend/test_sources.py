"""Programs are readable wherever people write them: files, notebooks, prompts, nested functions."""

from __future__ import annotations

import importlib.util
import signal
import sys
import textwrap

import numpy as np
import pexpect
import pytest
from IPython.core.interactiveshell import InteractiveShell

import mmsim as mm

DOUBLE = """\
import numpy as np, mmsim as mm

@mm.program
def double(T, a, factor):
    a[T.id] *= factor
"""
RUN = "mm.DMM(4, 2).run(double, np.arange(4), 2, threads=4).arrays['a'].tolist()"
RESULT = [0, 2, 4, 6]


def from_file(path, text):
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file(tmp_path):
    path = tmp_path / "written.py"
    module = from_file(path, DOUBLE)
    assert eval(RUN, vars(module)) == RESULT
    source = module.double.code.sources[0]
    assert (source.file, source.first) == (str(path), 3)
    assert source.lines == ("@mm.program", "def double(T, a, factor):", "    a[T.id] *= factor")


@pytest.fixture
def notebook(monkeypatch):
    # A shell takes the place of the main module, which others need back to start processes.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    yield shell
    shell.reset()
    InteractiveShell.clear_instance()


def test_a_notebook_cell(notebook):
    notebook.run_cell(DOUBLE).raise_error()
    assert notebook.run_cell(RUN).result == RESULT


def test_a_redefined_cell_is_the_new_one(notebook):
    notebook.run_cell(DOUBLE).raise_error()
    notebook.run_cell(DOUBLE.replace("*= factor", "*= factor + 1")).raise_error()
    assert notebook.run_cell(RUN).result == [0, 3, 6, 9]


def test_a_notebook_shows_a_refusal_at_its_line(notebook, capsys):
    notebook.run_cell(DOUBLE.replace("factor\n", "[1]\n"))
    shown = capsys.readouterr().out
    assert "a[T.id] *= [1]" in shown
    assert "a list isn't in the language of programs" in shown


def prompt(*options):
    """A Python prompt on a terminal. Its line history is what programs are read from."""
    child = pexpect.spawn(
        sys.executable,
        ["-q", *options],
        encoding="utf-8",
        timeout=30,
        env={"TERM": "dumb", "PATH": "", "PYTHON_HISTORY": "", "HOME": "/nonexistent"},
        dimensions=(50, 200),
    )
    child.expect_exact(">>> ")
    return child


def type_in(child, text):
    """The prompt's answer to the last of some lines."""
    for line in text.split("\n"):
        child.sendline(line)
        answered = child.expect_exact([">>> ", "... "])
        assert answered in (0, 1)
    return child.before


@pytest.fixture
def terminal():
    pytest.importorskip("readline", reason="this Python has no readline, so no line history")
    child = prompt("-i")
    yield child
    child.kill(signal.SIGKILL)
    child.wait()


def test_a_prompt(terminal):
    type_in(terminal, DOUBLE)
    assert str(RESULT) in type_in(terminal, RUN)


def test_a_prompt_reads_the_definition_typed_last(terminal):
    type_in(terminal, DOUBLE)
    type_in(terminal, DOUBLE.replace("*= factor", "*= factor + 1"))
    assert "[0, 3, 6, 9]" in type_in(terminal, RUN)


def test_a_prompt_distinguishes_functions_by_their_constants(terminal):
    type_in(terminal, "import numpy as np, mmsim as mm")
    type_in(terminal, "def double(T, a, factor):\n    a[T.id] *= factor + 7\n")
    type_in(terminal, "first = double")
    type_in(terminal, "def double(T, a, factor):\n    a[T.id] *= factor + 8\n")
    type_in(terminal, "double = mm.program(first)")
    assert "[0, 9, 18, 27]" in type_in(terminal, RUN)


def test_a_prompt_shows_a_refusal(terminal):
    shown = type_in(terminal, DOUBLE.replace("factor\n", "[1]\n"))
    assert "a list isn't in the language of programs" in shown
    assert "a[T.id] *= [1]" in shown


def test_lines_may_stand_further_left_than_the_function():
    if True:

        @mm.program
        def odd(T, a):
            """A docstring with a line
            to the left."""
            # fmt: off
            a[
    0
            ] = 1 + T.count
            # a comment to the left
            a[1] = 2
            # fmt: on

    run = mm.DMM(4, 2).run(odd, np.zeros(2, int), threads=1)
    assert run.arrays["a"].tolist() == [2, 2]


def test_several_decorators():
    def same(program):
        return program

    @same
    @mm.program
    @same
    def f(T, a):
        a[T.id] = 1

    assert mm.DMM(4, 2).run(f, np.zeros(2, int), threads=2).arrays["a"].tolist() == [1, 1]


def test_a_function_on_one_line():
    # fmt: off
    @mm.program
    def f(T, a): a[T.id] = 1
    # fmt: on

    assert mm.DMM(4, 2).run(f, np.zeros(2, int), threads=2).arrays["a"].tolist() == [1, 1]


def test_annotations_are_for_the_reader():
    @mm.program
    def f(T: mm.Thread, a: mm.Array, n: int = 2) -> None:
        x: int = n
        a[T.id] = x

    assert mm.DMM(4, 2).run(f, np.zeros(2, int), threads=2).arrays["a"].tolist() == [2, 2]


def test_executed_text_without_lines_is_refused_kindly():
    namespace = {"mm": mm}
    with pytest.raises(mm.LanguageError) as caught:
        exec(textwrap.dedent(DOUBLE), namespace)
    assert str(caught.value) == (
        "the source of 'double' can't be read; define it in a file, a notebook cell or an "
        "interactive session, not through exec\n"
        "  File '<string>', line 3, in double"
    )


def test_a_helper_without_lines_is_refused_kindly():
    namespace = {}
    # Not <string>: so is the text of `python -c` called, which Python 3.13 can show.
    exec(compile("def helper(x):\n    return x\n", "<made>", "exec"), namespace)
    helper = namespace["helper"]

    def f(T, a):
        a[0] = helper(1)

    with pytest.raises(mm.LanguageError, match="the source of 'helper' can't be read"):
        mm.program(f)


def test_a_lambda_next_to_a_function_is_not_taken_for_it():
    def f(T, a): return (lambda T, a: 0)  # fmt: skip

    with pytest.raises(mm.LanguageError, match="'<lambda>' is a lambda; write a program as"):
        mm.program(f(None, None))
