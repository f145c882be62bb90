"""`mmsim bench`: the speed of the simulator, compared with a measurement of the same run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.bench import Result, Settings
from mmsim.bench.benchmark import LEAST, to_json
from mmsim.cli.numbers import at_least
from mmsim.cli.output import console, save, status
from mmsim.cli.supervise import so_far
from mmsim.errors import MMSimError

if TYPE_CHECKING:
    from mmsim.bench import Result


def add_parser(add: Any) -> None:
    parser = add(
        description="Measure the simulator and something else, alternately in the same run, and "
        "print medians and ranges. Ctrl-C prints what there is so far. Exit status 1 if a "
        "benchmark can't be finished.",
    )
    parser.add_argument(
        "what",
        nargs="*",
        metavar="BENCHMARK",
        help="as events (default: all, which takes minutes; --list names them)",
    )
    parser.add_argument("--list", action="store_true", help="name the benchmarks")
    parser.add_argument(
        "--repeat", type=at_least(1), metavar="N", help="repetitions of each (default: its own)"
    )
    parser.add_argument("--most", type=size, metavar="N", help="the largest n, as 2^22 or 4194304")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results as JSON")
    parser.set_defaults(command=command)


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
    from mmsim.bench.facts import facts
    from mmsim.bench.registry import choose_benchmarks, registered_benchmarks
    from mmsim.reports.benchmarks import benchmark_table, list_of_benchmarks

    output = console()
    chosen = choose_benchmarks(registered_benchmarks(), arguments.what)
    if arguments.list:
        output.print(list_of_benchmarks(chosen))
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
                output.print(f"{result.benchmark.name} is not finished: interrupted", style="red")
            so_far(table.get())
            if arguments.json is not None:
                arguments.json.write_text(to_json(results, known), encoding="utf-8")

        try:
            _run(result, arguments, keep)
        finally:
            so_far("")
            if result.rows:
                output.print(benchmark_table(result))
            if result.failure:
                text = f"{benchmark.name} is not finished: {result.failure}"
                output.print(text, style="red")
            if arguments.json is not None:
                save(arguments.json, to_json(results, known))
    for key, value in known.items():
        output.print(f"{key}: {value}", highlight=False)
    return 1 if any(result.failure for result in results) else 0


def _run(result: Result, arguments: argparse.Namespace, keep: Callable[[], None]) -> None:
    """Gather the rows, and report the progress on the terminal; call `keep` after each row."""

    name = result.benchmark.name
    with status(name) as shown:
        settings = Settings(
            arguments.most, arguments.repeat, lambda text: shown.update(f"{name}: {text}")
        )
        try:
            for row in result.benchmark.rows(settings):
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
