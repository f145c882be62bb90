"""The command that compares all engines on random programs."""

import json
import typing
from pathlib import Path

import pytest

import mmsim as mm
from mmsim.frontend.python import grammar
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import TYPES
from tests.kit.generators.language_forms import FORMS, forms
from tests.kit.generators.random_programs import define
from tests.kit.tools import agreement


def test_what_it_counts_is_the_whole_language():
    names = set(agreement.language())
    operators = {*grammar.BINARY.values(), "min", "max"}
    assert {f"binary {op}" for op in operators} <= names
    assert {f"compare {op}" for op in grammar.COMPARE.values()} <= names
    assert {f"unary {op}" for op in grammar.UNARY.values()} <= names
    plain = {*typing.get_args(ir.Stmt)} - {ir.Atomic, ir.Exchange}
    assert {kind.__name__ for kind in plain} <= names
    assert {f"atomic {op}" for op in TYPES} <= names
    assert {f"warp.{op}" for op in typing.get_args(ir.ExchangeOp)} <= names
    assert len(names) == len(agreement.language())


def test_what_is_kept_is_a_whole_run_next_to_a_gpu():
    kept = Path(__file__).parents[2] / "benchmarks" / "results" / "agreement.json"
    record = json.loads(kept.read_text(encoding="utf-8"))
    assert record["device"]
    assert record["programs"] >= 20_000
    assert record["different"] == 0
    assert record["compared"]["GPU, arrays"] > record["programs"] / 2
    assert set(record["language"]) == set(agreement.language())
    assert all(record["language"].values())


def test_what_a_program_uses_is_seen():
    text = """
def program(T, a):
    s = mm.shared(4)
    for i in range(3):
        if not (T.id < 2 or i == 1):
            continue
        s[T.id % 4] = -a[T.id]
"""
    uses = agreement.used(mm.program(define(text, "program")).code)
    assert uses >= {
        *("For", "If", "Continue", "Store", "Load", "mm.shared", "T.id", "or"),
        *("compare <", "compare ==", "binary %", "unary -", "unary not", "Const", "Var"),
    }
    assert uses <= set(agreement.language())
    assert not uses & {"While", "Break", "and", "binary +", "mm.registers"}


def test_forms_that_parsing_takes_away_are_seen():
    text = """
@mm.program
def both(x, y):
    return y, x

def program(T, a, b, s):
    rows, columns = s.shape
    for k in (1, 2):
        a, b = b, a
    a, b = both(a, b)
    row = s[T.id]
    row[0] += a[0] if T.id in (1, 2) else b[0]
    other = a if T.id not in (1,) else row
    p, (q, r) = divmod(T.id, 2)[0], (other[0], s.ndim + s.size)
    t = (p, q)
    for i, j in zip(t, t):
        for m, n in enumerate(t):
            x = other
            y, z = s.shape[:2]
            x[0] += y
"""
    assert forms(mm.program(define(text, "program")).code) == set(FORMS)
    plain = "def program(T, a):\n    i = T.id\n    x = a[i] if i else i\n    a[i] = x\n"
    assert forms(mm.program(define(plain, "program")).code) == set()


@pytest.mark.long
def test_all_engines_agree_on_some_and_a_difference_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(agreement, "CHUNK", 20)
    programs, done, wrong = agreement.chunk((5, 0, False))
    assert len(programs) > agreement.CHUNK // 2
    assert not wrong
    assert {n for what, n in done.items() if "compiled" in what} == {1}  # one program
    assert done["synchronous, array, interpreted"] == len(programs)
    assert done["synchronous, array, fused"] > 0
    assert done["asynchronous, array, interpreted"] > 0

    real = agreement.outcome
    monkeypatch.setattr(
        agreement, "outcome", lambda run: (real(run), run.engine if run.time else "")
    )
    _, done, wrong = agreement.chunk((5, 1, False))
    assert not any("compiled" in what for what in done)
    assert len(wrong) > agreement.CHUNK // 2
    assert "def program" in wrong[0]

    def refused(*_):
        raise ValueError("no answer")

    monkeypatch.setattr(agreement, "compare", refused)
    programs, _, wrong = agreement.chunk((5, 1, False))
    assert not programs
    assert len(wrong) > agreement.CHUNK // 2
    assert wrong[0].startswith("ValueError: no answer:")
