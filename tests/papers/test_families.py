"""The house of `algorithms/`: families register themselves, imports run in no circle."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import mmsim_algorithms
from mmsim.claims.registry import registered

FOLDER = Path(mmsim_algorithms.__file__).parent
NAME = "mmsim_algorithms"
FAMILY = {
    "gather/__init__.py": "",
    "gather/programs.py": """
import numpy as np
import mmsim as mm

@mm.program
def gather(T: mm.Thread, a: mm.Array) -> None:
    a[T.id]

@gather.example
def example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return mm.Example(np.arange(width), threads=width)
""",
    "gather/claims.py": """
from mmsim.claims import Claim
from mmsim_algorithms.gather.programs import gather

SECTION = 4
CLAIMS = [Claim(id="CFP-OWN", source="CFP, section IV", title="own", formula=lambda: 0,
                kind="exact", grid=list, run=lambda schedule: gather)]
""",
    "reports/own_tables.py": "TABLES = ['a table']",
    "bench/own.py": "BENCHMARKS = ['a benchmark']",
    "gpu/own_tables.py": "EXPERIMENTS = ['an experiment']",
}


@pytest.fixture
def family(tmp_path, monkeypatch):
    """The modules of a family that are listed nowhere, in a folder next to the existing ones."""
    for name, text in FAMILY.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(mmsim_algorithms, "__path__", [*mmsim_algorithms.__path__, str(tmp_path)])
    for folder in ("reports", "bench", "gpu"):
        package = importlib.import_module(f"{NAME}.{folder}")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    yield
    for name in list(sys.modules):
        package, _, last = name.rpartition(".")
        if name.startswith(f"{NAME}.gather") or (package.startswith(NAME) and last[:3] == "own"):
            del sys.modules[name]


def test_a_family_registers_by_being_there(family):
    claims = [claim.id for claim in mmsim_algorithms.claims()]
    assert "CFP-OWN" in claims
    assert claims.index("SMM-T7.6") < claims.index("CFP-OWN") < claims.index("CFP-E1.D")
    names = [program.function.__module__ for program in mmsim_algorithms.programs()]
    assert f"{NAME}.gather.programs" in names
    assert "a table" in mmsim_algorithms.tables()
    assert "a benchmark" in mmsim_algorithms.benchmarks()
    assert "an experiment" in mmsim_algorithms.experiments()


def test_what_there_is_comes_paper_by_paper_and_each_time_in_the_same_order():
    claims = mmsim_algorithms.claims()
    papers = [mmsim_algorithms.PAPERS.index(claim.paper) for claim in claims]
    assert papers == sorted(papers)
    assert [claim.id for claim in registered()] == [claim.id for claim in claims]
    assert [one.id for one in mmsim_algorithms.tables()] == [
        *("CFP-E1", "CFP-T1", "ICPP-T1", "ICPP-T3", "RAP-T2", "RAP-T3", "RAP-T4")
    ]
    assert [one.name for one in mmsim_algorithms.benchmarks()] == [
        *("scheduled", "designated", "cuda", "cudasim", "engines", "growth")
    ]
    assert [one.name for one in mmsim_algorithms.experiments()] == [
        *("CFP-T2", "CFP-F7", "RAP-T3", "FIELD", "ICPP-T2", "ICPP-T3"),
        *("KERNELS", "UNSEEN", "THIRD", "atomics", "banks", "cache", "operations", "cards"),
    ]


def test_schedules_need_no_numba_and_scipy_and_claims_no_benchmark_and_gpu():
    code = (
        f"import sys, {NAME}.permutations, {NAME}.colouring.schedules; "
        f"print({{*sys.modules}} & {{'numba', 'scipy'}}); {NAME}.claims(); {NAME}.programs(); "
        f"print([m for m in sys.modules if m.startswith(('{NAME}.bench', '{NAME}.gpu'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n[]\n"


def test_no_file_is_long():
    for path in FOLDER.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 400, path
