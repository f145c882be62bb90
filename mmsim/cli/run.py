"""`mmsim run MODULE:PROGRAM`: run one program on one machine and print what it cost."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.errors import MMSimError
from mmsim.language.program import Example, Program
from mmsim.machines import DMM, HMM, UMM, Machine
from mmsim.results import Run

ARRAYS = """\
arguments after T, in order, each a number or an array:
  5, 0.5            a number
  zeros:4x8         zeros of that shape (integers)
  arange:4x8        0, 1, 2, ... in row-major order
  random:64         random floats from 0 to 1 (--seed)
  permutation:64    a random permutation of 0..63 (--seed)
  data.npy          an array saved with numpy.save
Without arguments the program's own example is run, at --size and --seed."""


class CallError(MMSimError):
    """A mistake in a call of the command line."""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="run a program on a machine",
        description="Run a program and print its time and its accesses.",
        epilog=ARRAYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program_options(parser)
    parser.add_argument("--profile", action="store_true", help="print the cost of each line")
    parser.add_argument("--rounds", action="store_true", help="print each round")
    parser.add_argument("--check", action="store_true", help="look for mistakes; status 1 if any")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the run as JSON")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="save the accesses (with --rounds the rounds)"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the run: .svg, .pdf or .png"
    )
    parser.add_argument(
        "--chrome", type=Path, metavar="FILE", help="save a trace for ui.perfetto.dev"
    )
    parser.set_defaults(command=command)


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which program is run, on what, and how."""
    parser.add_argument(
        "program", help="MODULE:NAME or FILE.py:NAME, as algorithms.transpose:diagonal"
    )
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="see below")
    add_machine_options(parser)
    parser.add_argument("--threads", type=int, help="p (default: the example's)")
    parser.add_argument("--block-size", type=int, help="threads of a block (default: all)")
    parser.add_argument(
        "--schedule",
        choices=("synchronous", "asynchronous"),
        default="synchronous",
        help="lock step, or every warp on its own (default: synchronous)",
    )
    parser.add_argument("--size", type=at_least(1), help="number of words of the example")
    parser.add_argument("--seed", type=at_least(0), default=0, help="for random data (default: 0)")


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which machine."""
    parser.add_argument(
        "--machine", choices=("dmm", "umm", "hmm"), default="dmm", help="(default: dmm)"
    )
    parser.add_argument("--width", type=int, default=32, help="w (default: 32)")
    parser.add_argument(
        "--latency", type=int, default=5, help="l, or L of the HMM's global memory (default: 5)"
    )
    parser.add_argument("--shared-latency", type=int, default=1, help="of an HMM (default: 1)")
    parser.add_argument("--dmms", type=int, default=1, help="d of an HMM (default: 1)")


def at_least(bound: int) -> Callable[[str], int]:
    """A whole number from `bound` on, for argparse."""

    def parse(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < bound:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {bound} on")
        return int(text)

    return parse


def machine_of(arguments: argparse.Namespace) -> Machine:
    """The machine that the options describe."""
    if arguments.machine == "hmm":
        return HMM(arguments.dmms, arguments.width, arguments.latency, arguments.shared_latency)
    return (DMM if arguments.machine == "dmm" else UMM)(arguments.width, arguments.latency)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.cli.output import console
    from mmsim.view.figures.paper import check_suffix, save
    from mmsim.view.figures.plot import SHORT
    from mmsim.view.tables import rich_table, rounds_table

    if arguments.plot is not None:
        check_suffix(arguments.plot)
    run = run_program(arguments, check=arguments.check, trace=arguments.chrome is not None)
    output = console()
    output.print(run)
    if arguments.profile:
        output.print(run.profile())
    if arguments.rounds:
        output.print(rich_table(rounds_table(run.rounds)))
    if arguments.json is not None:
        arguments.json.write_text(run.to_json(), encoding="utf-8")
    if arguments.csv is not None:
        run.to_csv(arguments.csv, "rounds" if arguments.rounds else "accesses")
    if arguments.chrome is not None:
        run.trace.to_chrome(arguments.chrome)
    if arguments.plot is not None:
        # A short run is worth running again for its pipeline.
        traced = (
            run
            if run.record is not None or run.time > SHORT
            else run_program(arguments, trace=True)
        )
        save(traced.plot(), arguments.plot)
    return 1 if run.findings else 0


def run_program(arguments: argparse.Namespace, **how: Any) -> Run:
    """Run what the options of `add_program_options` describe; `how` goes to `Machine.run`."""
    machine, program, args, options = program_call(arguments)
    return machine.run(program, *args, **options, **how)


def program_call(
    arguments: argparse.Namespace,
) -> tuple[Machine, Program, tuple[Any, ...], dict[str, Any]]:
    """What the options of `add_program_options` describe: the machine, the program, its arguments
    after T, and the options that `Machine.run` and `Machine.check` have in common."""
    program = load_program(arguments.program)
    machine = machine_of(arguments)
    example = _example(program, machine, arguments)
    options = {
        "threads": arguments.threads if arguments.threads is not None else example.threads,
        "block_size": (
            arguments.block_size if arguments.block_size is not None else example.block_size
        ),
        "schedule": arguments.schedule,
    }
    return machine, program, example.arguments, options


def load_program(target: str) -> Program:
    """The program that MODULE:NAME or FILE.py:NAME means."""
    found = load(target)
    if not isinstance(found, Program):
        module_name, _, name = target.rpartition(":")
        content = vars(_load(module_name)).items()
        programs = sorted(key for key, value in content if isinstance(value, Program))
        listed = f"it has {', '.join(programs)}" if programs else "it has none"
        raise CallError(f"{module_name} has no program {name!r}; {listed}")
    return found


def load(target: str) -> Any:
    """What MODULE:NAME or FILE.py:NAME means; None where the module has no such name."""
    module_name, colon, name = target.rpartition(":")
    if not colon or not module_name or not name:
        raise CallError(f"{target!r} is no name; write MODULE:NAME or FILE.py:NAME")
    try:
        module = _load(module_name)
    except MMSimError:
        raise
    except SyntaxError as error:
        raise CallError(f"{error.filename}, line {error.lineno}: {error.msg}") from None
    except Exception as error:  # whatever the user's own code raises when it is imported
        raise CallError(f"{module_name}: {type(error).__name__}: {error}") from None
    return getattr(module, name, None)


def _load(name: str) -> Any:
    """A module by its name, seen from here, or by its file, seen from the file's folder."""
    if not name.endswith(".py"):
        sys.path.insert(0, "")
        return importlib.import_module(name)
    path = Path(name).resolve()
    if not path.is_file():
        raise CallError(f"no file {name!r}")
    sys.path.insert(0, str(path.parent))
    own_name = f"mmsim_run_{path.stem}"  # not one that would hide another module
    spec = importlib.util.spec_from_file_location(own_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[own_name] = module
    spec.loader.exec_module(module)
    return module


def _example(program: Program, machine: Machine, arguments: argparse.Namespace) -> Example:
    """The arguments of the run: those given, else the program's own example."""
    if arguments.arguments:
        if arguments.threads is None:
            raise CallError("give --threads with arguments of your own")
        generator = np.random.RandomState(arguments.seed)
        values = [parse_argument(text, generator) for text in arguments.arguments]
        return Example(*values, threads=arguments.threads)
    choices = {"seed": arguments.seed}
    if arguments.size is not None:
        choices["size"] = arguments.size
    return program.prepare(machine.width, **choices)


def parse_argument(text: str, generator: np.random.RandomState) -> Any:
    """A number or an array, as the help of `mmsim run` lists them."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if text.endswith(".npy"):
        try:
            loaded = np.load(text, allow_pickle=False)
        except (OSError, MemoryError):
            raise
        except Exception:  # whatever NumPy's reading of a damaged head ends with
            loaded = None
        if not isinstance(loaded, np.ndarray):
            raise CallError(f"{text} holds no array of numbers saved with numpy.save")
        return loaded
    maker, _, extents = text.partition(":")
    try:
        shape = tuple(int(extent) for extent in extents.split("x"))
    except ValueError:
        shape = ()
    if shape and all(extent > 0 for extent in shape):
        size = math.prod(shape)
        if size > sys.maxsize // 8:
            raise MemoryError(f"{text!r} has more words than can be numbered")
        if maker == "zeros":
            return np.zeros(shape, dtype=np.int64)
        if maker == "arange":
            return np.arange(size).reshape(shape)
        if maker == "random":
            return generator.random_sample(shape)
        if maker == "permutation":
            return generator.permutation(size).reshape(shape)
    raise CallError(f"{text!r} is neither a number nor an array; see mmsim run --help")
