"""Kernels made of a text: where their text is kept."""

import inspect
import subprocess
import sys

from mmsim.cuda.source_text import function_from


def test_the_text_of_a_function_is_found():
    text = "def f(x):\n    return x + given\n"
    made = function_from(text, "f", {"given": 2})
    assert made(3) == 5
    assert inspect.getsource(made) == text


def test_exec_keeps_texts_and_means_the_same():
    code = (
        "import inspect\n"
        "from mmsim.cuda.source_text import keep_all\n"
        "keep_all()\n"
        "text = 'def f(x):\\n    return x + y\\n'\n"
        "y = 2\n"
        "exec(text)\n"
        "assert f(3) == 5 and inspect.getsource(f) == text\n"
        "def inside():\n"
        "    space = {'y': 4}\n"
        "    exec(text, space)\n"
        "    names = {}\n"
        "    exec('z = y', space, names)\n"
        "    exec(compile('w = 1', 'file', 'exec'), space)\n"
        "    return space['f'](3), names, space['w']\n"
        "assert inside() == (7, {'z': 4}, 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
