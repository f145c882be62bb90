"""`mmsim bench`: the speed of the simulator, compared with a measurement of the same run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mmsim.bench import Benchmark, BenchmarkError, Measured, Result, Settings, Value
from mmsim.bench.benchmark import LEAST, facts, to_json
from mmsim.cli.output import add_targets, console, save_text, status
from mmsim.cli.supervise import so_far
from mmsim.cli.values import at_least
from mmsim.errors import MMSimError
from mmsim.host.guesses import nearest
from mmsim.host.plugins import registered_in

ABOUT = {
    "description": "Measure the simulator and something else, alternately in the same run, and "
    "print medians and ranges. Ctrl-C prints what there is so far. Exit status 1 if a benchmark "
    "can't be finished."
}

FAILED: Any = {"style": "red", "highlight": True}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    named = "as events (default: all, which takes minutes; --list names them)"
    add("what", nargs="*", metavar="BENCHMARK", help=named)
    add("--list", action="store_true", help="name the benchmarks")
    repeat = "repetitions of each (default: its own)"
    add("--repeat", type=at_least(1), metavar="N", help=repeat)
    add("--most", type=size, metavar="N", help="the largest n, as 2^22 or 4194304")
    add_targets(parser, json="save the results as JSON")


def size(text: str) -> int:
    """A number of words, for argparse: 2^22 or 4194304."""
    base, _, power = text.partition("^")
    if not base.isdecimal() or not (power or "1").isdecimal() or len(power) > 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write 2^22 or 4194304")
    value: int = int(base) ** int(power or 1)
    if value < LEAST:
        raise argparse.ArgumentTypeError(f"{text} is too small; the benchmarks need {LEAST}")
    return value


def command(arguments: argparse.Namespace) -> int:
    from mmsim.view.tables import columns, rich_rows

    output = console()
    chosen = choose_benchmarks(registered_benchmarks(), arguments.what)
    if arguments.list:
        rows = [(one.name, one.title) for one in chosen]
        output.print(rich_rows(columns("benchmark", "what it compares"), rows))
        return 0
    known = facts(_called(arguments))
    results: list[Result] = []
    for benchmark in chosen:
        result = Result(benchmark)
        results.append(result)

        def keep(result: Result = result) -> None:
            """Save each row before the next step, as that may be uninterruptible."""
            with output.capture() as table:
                output.print(benchmark_table(result))
                output.print(f"{result.benchmark.name} is not finished: interrupted", **FAILED)
            so_far(table.get())
            save_text(arguments.json, lambda: to_json(results, known))

        try:
            _run(result, arguments, keep)
        finally:
            so_far("")
            if result.rows:
                output.print(benchmark_table(result))
            if result.failure:
                output.print(f"{benchmark.name} is not finished: {result.failure}", **FAILED)
            save_text(arguments.json, lambda: to_json(results, known))
    for key, value in known.items():
        output.print(f"{key}: {value}")
    return 1 if any(result.failure for result in results) else 0


def registered_benchmarks() -> list[Benchmark]:
    """All benchmarks of all installed packages, and the library's own.

    A package names a function that returns its benchmarks in the entry point group
    `mmsim.benchmarks`: mine = "my_algorithms:benchmarks".
    """
    from mmsim.bench import cached, events, start  # loads what they measure

    return [*registered_in("mmsim.benchmarks"), events.BENCHMARK, start.BENCHMARK, cached.BENCHMARK]


def choose_benchmarks(known: Sequence[Benchmark], names: Iterable[str]) -> list[Benchmark]:
    """The benchmarks of these names, or all. Raises `BenchmarkError` for an unknown name."""
    by_name = {benchmark.name: benchmark for benchmark in known}
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in by_name:
            raise BenchmarkError(f"no benchmark is called {name!r}; {nearest(name, by_name)}")
    return [by_name[name] for name in wanted] or list(known)


def _run(result: Result, arguments: argparse.Namespace, keep: Callable[[], None]) -> None:
    """Gather the rows, and report the progress on the terminal; call `keep` after each row."""
    with status(result.benchmark.name) as say:
        try:
            for row in result.benchmark.rows(Settings(arguments.most, arguments.repeat, say)):
                result.rows.append(row)
                keep()
        except (MMSimError, MemoryError) as error:
            result.failure = str(error) or "out of memory"
        except KeyboardInterrupt:
            result.failure = "interrupted"
            raise


def _called(arguments: argparse.Namespace) -> str:
    """The command line of this call."""
    words = ["mmsim", "bench", *arguments.what]
    for option in ("repeat", "most"):
        if getattr(arguments, option) is not None:
            words += [f"--{option}", str(getattr(arguments, option))]
    return " ".join(words)


def benchmark_table(result: Result) -> object:
    """The rows so far for Rich, a column for each key of any row."""
    from mmsim.view.tables import Column, rich_rows

    benchmark = result.benchmark
    keys = list(dict.fromkeys(key for row in result.rows for key in row))
    columns = [
        Column(key, not all(isinstance(row.get(key, ""), str) for row in result.rows))
        for key in keys
    ]
    rows = ([cell(row[key]) if key in row else "" for key in keys] for row in result.rows)
    return rich_rows(columns, rows, f"{benchmark.name}: {benchmark.title}", benchmark.method)


def cell(value: Value) -> str:
    """A value as text; for alternating measurements the median, and below it the range.

    >>> cell(2**20), cell(1234), cell(0.0123456), cell(Measured((2.0, 1.0, 4.0), "s"))
    ('2^20', '1,234', '0.01235', '2 s\\n1 to 4')
    """
    if isinstance(value, Measured):
        text = f"{_number(value.median)} {value.unit}".replace(" /", "/")
        if len(value.values) > 1:
            text += f"\n{_number(value.least)} to {_number(value.most)}"
        return text
    if isinstance(value, int):
        power = value.bit_length() - 1
        return f"2^{power}" if value > 1000 and value == 2**power else f"{value:,}"
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """A number with four digits, or with all digits before the point if there are more."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
