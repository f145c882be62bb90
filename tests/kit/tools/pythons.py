"""Runs the fast tests on each Python of this machine, with the oldest libraries and the newest.

The Pythons are those that pyenv or the PATH has, from 3.11 on, one for each minor version. The
oldest libraries are the lowest versions that pyproject.toml allows and that have a wheel for that
Python; uv finds them. `make test` has neither: its versions are those of .ci/constraints. With the
newest libraries mypy is run, too. Environments, pins and what the tests said, with the version of
every library, lie in build/pythons.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TextIO

from tests.kit import ROOT

PLACE = ROOT / "build" / "pythons"
OLDEST = (3, 11)
WAYS = {"oldest": "lowest-direct", "newest": "highest"}

Minor = tuple[int, int]

# fmt: off
SLOW_FILES = [
    "agreement", "array_against_events", "array_watched", "bad_input", "bench", "byte_banks",
    "cache_rule", "cached", "card_counters", "checker", "ci_guide", "claims_mutation", "cli_edges",
    "compile_cache", "compiled_programs", "conflict_proofs", "cost_widths", "counters",
    "counting_barriers", "course", "cuda_c_guides", "cuda_emulated", "cuda_writer", "curves",
    "dmm_permutation", "docs", "domain", "dynamic_programming", "events_against_reference",
    "evidence", "examples", "exchange", "execution", "family_pictures", "figures", "fingerprints",
    "free_memory", "gpu_cached", "gpu_counters", "gpu_experiments", "gpu_predictions",
    "gpu_programs", "gpu_results", "graphs", "hmm_permutation", "hmm_regular", "house",
    "huge_machines", "in_python", "interrupts", "js_clock", "js_findings", "js_layouts",
    "js_meaning", "js_text", "js_types", "kept_proofs", "kernels_proved", "lab", "lab_firefox",
    "language_names", "launches", "layouts", "ledger", "libdevice", "liveness", "matrices", "metal",
    "mutation", "notebook_laboratories", "notebooks", "numba_calls", "numba_known", "numba_on_gpu",
    "numba_refusals", "numba_simulator", "numba_suite", "numba_typed", "odd_arguments",
    "operations", "operators", "other_repositories", "own_machines", "own_sizes", "papers",
    "phases", "planted", "planted_on_gpu", "planted_proofs", "player", "player_axe", "player_dense",
    "player_embedded", "player_kinds", "player_lecture", "player_runs", "player_stops",
    "player_widget", "player_work", "printable", "prove", "proved_claims", "ptx_instructions",
    "puzzles", "puzzles_page", "questions", "race_detector", "race_free_programs", "race_proofs",
    "races", "random_typing", "rap", "rap_simulation", "reductions", "reference", "repository",
    "representation", "reproduce", "room", "rows", "schedule", "schedules", "script",
    "shown_figures", "signatures", "simulations", "site", "sorts", "sources", "start", "stencils",
    "stepping", "structured", "sweep", "sweep_cli", "terminal", "tile_figures", "tiles_proved",
    "timing_rules", "typed_arithmetic", "umm_permutation", "umm_transpose", "vectors",
    "verified_proofs", "versions", "worksheets", "wrong_results",
]
SLOW_TESTS = [
    "array_engine.py::test_the_compiled_counters_agree_with_the_rule",
    "damaged_results.py::test_a_map_that_is_too_large_is_refused_before_it_is_made",
    "fuzz.py::test_damaged_documents_are_refused_by_their_readers",
    "fuzz.py::test_every_mutation_of_trees_is_made",
    "fuzz.py::test_the_command_prints_a_table_and_keeps_what_it_finds",
    "fuzz.py::test_what_goes_wrong_in_a_worker_is_reported_and_the_next_is_tried",
    "golden.py::test_a_change_of_one_unit_is_reported",
    "guesses.py::test_a_guess_works_or_says_what_to_write[claims.verify_claim(claim).table()]",
    "language_arithmetic.py::test_expressions_mean_what_they_mean_in_python[events]",
    "language_arithmetic.py::test_expressions_mean_what_they_mean_in_python[fused]",
    "nothing_executed.py::test_arrays_are_loaded_without_pickles",
    "nothing_executed.py::test_only_what_is_explained_executes_anything",
    "pickling.py::test_a_dask_cluster",
    "pickling.py::test_programs_of_a_notebook",
    "pickling.py::test_programs_of_a_script_and_their_way_back",
    "powers.py::test_a_gpu_gives_the_same_bits",
    "ptx_text.py::test_damaged_text_is_read_or_refused_with_its_line[quick]",
    "trace.py::test_cycles_of_random_programs",
    "tracebacks.py::test_ipython_shows_the_users_lines",
    "tracebacks.py::test_the_development_mode_shows_all",
]
SAMPLES = [
    "compile_cache.py::test_a_compiled_program_is_kept",
    "compile_cache.py::test_a_text_that_numba_refuses_is_interpreted",
    "figures.py::test_a_figure_is_saved_the_same_twice[.svg]",
    "figures.py::test_figures_are_drawn_on_the_axes_given",
    "figures.py::test_letters_can_be_read_and_nothing_is_cut_off",
    "figures.py::test_source_with_dollars_and_braces_is_text",
    "figures.py::test_the_whole_figure_is_saved",
    "sweep.py::test_a_module_imported_anew_is_so_in_the_workers_too",
    "sweep.py::test_rows_come_in_the_order_of_the_grid_and_lie_in_the_file",
]
# fmt: on
"""Files of tests that take more than some five seconds of a processor, or that need the libraries
of the site and the notebooks; single tests of other files that take more than one; and tests that
are run of the files that are left out. All others are run."""


NOT_IN_CORNERS = ("claims", "gpu", "house", "kernels", "papers")
"""Folders whose tests are about what is built on the library: `--corners` leaves them out."""


@dataclass(frozen=True)
class Environment:
    """A Python with the oldest libraries or the newest."""

    minor: Minor
    base: Path
    way: str

    @property
    def name(self) -> str:
        return f"{self.minor[0]}.{self.minor[1]}-{self.way}"

    @property
    def python(self) -> Path:
        return PLACE / self.name / "bin" / "python"


def version(python: Path) -> Minor | None:
    """The minor version of a Python that works, None of anything else."""
    code = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
    except OSError:
        return None
    words = done.stdout.split()
    if done.returncode != 0 or len(words) != 3 or words[0] != "cpython":
        return None
    return int(words[1]), int(words[2])


def candidates() -> list[Path]:
    """Files that may be a Python: the running one first, then pyenv's, then those of the PATH."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [Path(sys.executable), *sorted(pyenv.glob("versions/*/bin/python"))]
    for folder in os.get_exec_path():
        found += sorted(Path(folder).glob("python3.[0-9][0-9]"))
    return found


def first_of_each(pythons: Iterable[Path]) -> dict[Minor, Path]:
    """The first Python of each minor version from OLDEST on."""
    found: dict[Minor, Path] = {}
    for python in pythons:
        minor = version(python)
        if minor is not None and minor >= OLDEST:
            found.setdefault(minor, python)
    return dict(sorted(found.items()))


def supported() -> list[Minor]:
    """The Pythons that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    words = [text.split(" :: ") for text in project["classifiers"]]
    last = [
        parts[-1].split(".") for parts in words if parts[:2] == ["Programming Language", "Python"]
    ]
    return [(int(minor[0]), int(minor[1])) for minor in last if len(minor) == 2]


def environments(found: dict[Minor, Path]) -> list[Environment]:
    """Every Python with the oldest libraries and the newest."""
    return [Environment(minor, base, way) for minor, base in found.items() for way in WAYS]


def corners(tried: list[Environment]) -> list[Environment]:
    """The oldest Python with the oldest libraries and the newest Python with the newest."""
    by_age = sorted(tried, key=lambda one: one.minor)
    old = [one for one in by_age if one.way == "oldest"][:1]
    new = [one for one in by_age if one.way == "newest"][-1:]
    return old + new


def chosen(without: Collection[str] = ()) -> list[str]:
    """The arguments of pytest, for all folders of tests but some."""
    every = sorted((ROOT / "tests").glob("*/test_*.py"))
    paths = [path for path in every if path.parent.name not in without]
    folders = {path.name.removeprefix("test_"): path.parent.name for path in paths}

    def place(test: str) -> str:
        return f"tests/{folders[test.split('::')[0]]}/test_{test}"

    files = [place(file) for file in folders if file.removesuffix(".py") not in SLOW_FILES]
    here = [test for test in SLOW_TESTS if test.split("::")[0] in folders]
    return [*files, *map(place, SAMPLES), *(f"--deselect={place(test)}" for test in here)]


def uv(*words: str | Path, said: TextIO | None = None) -> None:
    command = [Path(sys.executable).parent / "uv", "--quiet", *words]
    subprocess.run(command, check=True, cwd=ROOT, stdout=said, stderr=said)


def make(environment: Environment) -> None:
    """An environment with mmsim alone.

    One at a time, and before any test is run: to install mmsim writes in its own folder.
    """
    PLACE.mkdir(parents=True, exist_ok=True)
    if version(environment.python) != environment.minor:
        uv("venv", "--clear", "--python", environment.base, PLACE / environment.name)
    uv("pip", "install", "--python", environment.python, "--no-deps", "--editable", ".")


def fill(environment: Environment, said: TextIO) -> None:
    """Install the libraries, and what the fast tests need; write down the versions."""
    python, pins = environment.python, PLACE / f"{environment.name}.txt"
    resolve = ["--no-build", "--no-header", "--resolution", WAYS[environment.way], "--upgrade"]
    resolve += ["--output-file", str(pins)]
    uv("pip", "compile", "--python", python, *resolve, "pyproject.toml", said=said)
    uv("pip", "install", "--python", python, "-r", pins, "--group", "fast", said=said)
    said.write(f"{environment.name} has {versions(python)}\n")
    said.flush()


def versions(python: Path) -> str:
    """The version of a Python and of each library that it has."""
    code = (
        "import platform; from importlib.metadata import distributions; "
        "print('Python', platform.python_version(), "
        "*sorted({f'{one.name}=={one.version}' for one in distributions()}))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def passed(environment: Environment, tests: list[str], said: TextIO) -> bool:
    """Run such tests, in one process, and mypy with the newest libraries; whether all passed."""
    begun: list[str | Path] = [environment.python, "-m"]
    surroundings = os.environ | {"PYTHONPYCACHEPREFIX": str(PLACE / "bytecode")}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)  # libraries are compiled once, not by each
    commands = [[*begun, "pytest", "-q", "--disable-warnings", *tests]]
    if environment.way == "newest":
        commands.append([*begun, "mypy", "--strict"])
    done = [
        subprocess.run(words, cwd=ROOT, env=surroundings, stdout=said, stderr=said)
        for words in commands
    ]
    return all(each.returncode == 0 for each in done)


def attempt(environment: Environment, tests: list[str]) -> bool:
    """Fill an environment and run the tests; say how it went when it is done."""
    begun = time.monotonic()
    log = PLACE / f"{environment.name}.log"
    with log.open("w") as said:
        try:
            fill(environment, said)
            good = passed(environment, tests, said)
        except subprocess.CalledProcessError:
            good = False
    took = f"{time.monotonic() - begun:.0f} s"
    result = "passed" if good else "FAILED"
    print(f"{log.read_text()}== {environment.name}: {result}, {took}", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="environments at a time")
    parser.add_argument("--only", nargs="*", help="such environments, as 3.13-oldest")
    parser.add_argument(
        "--corners",
        action="store_true",
        help="only the oldest of both and the newest of both, in fewer tests",
    )
    options = parser.parse_args()
    found = first_of_each(candidates())
    for minor, python in found.items():
        print(f"Python {minor[0]}.{minor[1]} is {python}")
    for minor in supported():
        if minor not in found:
            print(f"no Python {minor[0]}.{minor[1]} is here: nothing is run with it")
    tried = environments(found)
    if options.only is not None:
        if unknown := set(options.only) - {environment.name for environment in tried}:
            parser.error(f"no such environment: {', '.join(sorted(unknown))}")
        tried = [environment for environment in tried if environment.name in options.only]
    if options.corners:
        tried = corners(tried)
    failed = []
    for environment in list(tried):
        try:
            make(environment)
        except subprocess.CalledProcessError:
            tried.remove(environment)
            failed.append(environment.name)
    tests = chosen(NOT_IN_CORNERS if options.corners else ())
    with ThreadPoolExecutor(options.jobs) as pool:
        good = list(pool.map(attempt, tried, repeat(tests)))
    failed += [each.name for each, passed in zip(tried, good, strict=True) if not passed]
    print("failed:" if failed else "all passed:", *(failed or [each.name for each in tried]))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
