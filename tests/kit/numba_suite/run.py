"""Run numba-cuda's own tests with mmsim in the place of its simulator, and print a table.

    .venv/bin/python -m tests.kit.numba_suite.run [--json FILE] [--jobs 2] [NAME...]
    .venv/bin/python -m tests.kit.numba_suite.page FILE > docs/numba-suite.md

The tests are those of the installed wheel, `cudapy` and `doc_examples`; a NAME is a part of a
file's name. `simulator_passes.txt` lists the tests that pass under the simulator itself; the exit
status is 1 if fewer of them pass here than `--least`, or fewer of the others than `--least-more`.
"""

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from tests.kit import ROOT

HERE = Path(__file__).parent
FOLDERS = ("cudapy", "doc_examples")
NO_TESTS = 5
"""The exit status of pytest where nothing went wrong and there are no tests."""
BATCH = 10
"""Files to a process: the start of one takes long."""


def test_files():
    """The files of tests in the installed wheel, by folder and name."""
    spec = importlib.util.find_spec("numba_cuda")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("numba-cuda is not installed: pip install --group test")
    tests = Path(spec.submodule_search_locations[0]) / "numba" / "cuda" / "tests"
    return [path for folder in FOLDERS for path in sorted((tests / folder).glob("test_*.py"))]


def simulator_passes():
    """The names of the tests that pass under the simulator itself."""
    return (HERE / "simulator_passes.txt").read_text("utf-8").split()


def run_files(paths, *plugins):
    """The outcomes of some files' tests, in one process; and what files did not end, and said.

    `plugins` are modules that pytest takes in addition to `in_place`.
    """
    modules = [f"numba.cuda.tests.{path.parent.name}.{path.stem}" for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes.json"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
        command += ["--continue-on-collection-errors"]
        for plugin in ("tests.kit.numba_suite.in_place", *plugins):
            command += ["-p", plugin]
        command += ["--import-mode=importlib", "--pyargs", *modules]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "MMSIM_SUITE_OUTCOMES": str(outcomes),
        }
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        found = json.loads(outcomes.read_text("utf-8")) if outcomes.exists() else {}
        if found or done.returncode in (0, NO_TESTS):
            return found, {}
    if len(paths) > 1:  # one of them ended the process, or none could be imported
        found = [run_files([path], *plugins) for path in paths]
        return dict(chain(*(one.items() for one, _ in found))), dict(
            chain(*(one.items() for _, one in found))
        )
    name = f"{paths[0].parent.name}/{paths[0].name}"
    return {}, {name: (done.stdout + done.stderr)[-2000:]}


def named_files(names):
    """The files of tests with one of the names in theirs, or all."""
    return [path for path in test_files() if not names or any(one in path.stem for one in names)]


def run_batches(files, jobs, *plugins):
    """Batches of files with what `run_files` gives of each, as soon as it is there."""
    batches = [files[first : first + BATCH] for first in range(0, len(files), BATCH)]
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda batch: run_files(batch, *plugins), batches)
        yield from zip(batches, found, strict=True)


def own_process(one):
    """Return whether a test runs its kernels in its own process, where the simulator still is."""
    return bool(one["processes"] and not one["launches"])


def table(outcomes, expected):
    """A row for each file: how many pass of those that the simulator passes, and of the rest."""
    names = sorted({name.split("::")[0] for name in [*outcomes, *expected]})
    rows = []
    for file in names:
        own = {name: one for name, one in outcomes.items() if name.split("::")[0] == file}
        listed = [name for name in expected if name.split("::")[0] == file]
        passed = {name for name, one in own.items() if one["outcome"] == "passed"}
        rows.append(
            {
                "file": file,
                "listed": len(listed),
                "listed_passed": len(passed & set(listed)),
                "more_passed": len(passed - set(listed)),
                "without_launch": sum(not own[name]["launches"] for name in passed),
                "elsewhere": sum(own_process(own[name]) for name in passed),
                "failed": sum(one["outcome"] == "failed" for one in own.values()),
                "skipped": sum(one["outcome"] == "skipped" for one in own.values()),
            }
        )
    return rows


def as_json(outcomes, broken):
    """The outcomes, one test a line, and when and with what they were found."""
    packages = ("numba-cuda", "numba", "numpy", "memory-machine-simulator")
    made = {
        "date": datetime.now(UTC).date().isoformat(),
        "command": "make numba",
        "versions": {
            "Python": platform.python_version(),
            **{one: version(one) for one in packages},
        },
    }
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(outcomes.items())]
    head = f'{{"made": {json.dumps(made)},\n"broken": {json.dumps(broken)},\n"outcomes": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def print_table(rows):
    """Print the rows and their sums."""
    heads = {
        "listed": "simulator passes",
        "listed_passed": "of these pass",
        "more_passed": "more pass",
        "without_launch": "without a launch",
        "elsewhere": "in a process of their own",
        "failed": "fail",
        "skipped": "skipped",
    }
    sums = {key: sum(row[key] for row in rows) for key in heads}
    print("  ".join([f"{'file':<46}", *heads.values()]))
    for row in [*rows, {"file": "all", **sums}]:
        numbers = [f"{row[key]:>{len(head)}}" for key, head in heads.items()]
        print("  ".join([f"{row['file']:<46}", *numbers]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names of files")
    parser.add_argument("--json", type=Path, help="save the outcome of each test")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--least", type=int, default=0, help="of the simulator's, so many must pass"
    )
    parser.add_argument(
        "--least-more", type=int, default=0, help="of the others, so many must pass"
    )
    arguments = parser.parse_args()
    files = named_files(arguments.names)
    known = {f"{path.parent.name}/{path.name}" for path in files}
    expected = [name for name in simulator_passes() if name.split("::")[0] in known]
    outcomes, broken = {}, {}
    for _, (found, ended) in run_batches(files, arguments.jobs):
        outcomes |= found
        broken |= ended
    rows = table(outcomes, expected)
    if arguments.json:
        arguments.json.write_text(as_json(outcomes, broken), "utf-8")
    print_table(rows)
    for file, text in broken.items():
        print(f"\n{file} did not end as it should:\n{text}")
    passed = sum(row["listed_passed"] for row in rows)
    more = sum(row["more_passed"] for row in rows)
    return int(passed < arguments.least or more < arguments.least_more)


if __name__ == "__main__":
    raise SystemExit(main())
