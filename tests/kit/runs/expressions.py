"""Programs that evaluate expressions of the language, a thread for each element of the arrays."""

import numpy as np

import mmsim as mm
from tests.kit.generators.random_programs import define
from tests.kit.runs.paths import run_along


def evaluate(expression, dtype="float64", engines=("array",), outside="", **arrays):
    """The values of an expression of elements of the arrays, the same on each engine."""
    text = [f"def program(T, {''.join(f'{name}_, ' for name in arrays)}out):"]
    text += [f"    {name} = {name}_[T.id]" for name in arrays]
    text += [f"    out[T.id] = {expression}"]
    program = mm.program(define(outside + "\n".join(text) + "\n", "program"))
    given = [np.array(one) for one in arrays.values()]
    out = np.zeros(len(given[0]), dtype)
    first, *others = (
        mm.DMM(4, 2).run(program, *given, out, threads=len(out), engine=engine).arrays["out"]
        for engine in engines
    )
    assert all(other.tobytes() == first.tobytes() for other in others)
    return first


def operations_of(name, texts):
    """A program with all these operations on `x` and `y` of the type, one to a row of `out`."""
    lines = ["def program(T, a, b, out):"]
    lines += [f"    x = mm.{name}(a[T.id])", f"    y = mm.{name}(b[T.id])"]
    lines += [f"    out[{k}, T.id] = {text.format(name)}" for k, text in enumerate(texts)]
    return mm.program(define("\n".join(lines) + "\n", "program"))


def results_on(path, program, args):
    """The array `out` after a run of the event engine or on one of the array engine's paths."""
    machine, threads = mm.DMM(8, 3), len(args[0])
    if path == "events":
        return machine.run(program, *args, threads=threads, engine="events").arrays["out"]
    return run_along(path, program, *args, machine=machine, threads=threads).arrays["out"]
