"""The command that compares all engines on random programs."""

import json
import typing
from pathlib import Path

import agreement
import mmsim as mm
from mmsim.language import grammar, ir
from random_programs import define


def test_what_it_counts_is_the_whole_language():
    names = set(agreement.language())
    operators = {*grammar.BINARY.values(), "min", "max"}
    assert {f"binary {op}" for op in operators} <= names
    assert {f"compare {op}" for op in grammar.COMPARE.values()} <= names
    assert {f"unary {op}" for op in grammar.UNARY.values()} <= names
    assert {kind.__name__ for kind in typing.get_args(ir.Stmt)} <= names
    assert len(names) == len(agreement.language())


def test_what_is_kept_is_a_whole_run_beside_a_gpu():
    kept = Path(__file__).parent.parent / "benchmarks" / "results" / "agreement.json"
    record = json.loads(kept.read_text(encoding="utf-8"))
    assert record["device"]
    assert record["programs"] >= 20_000
    assert record["different"] == 0
    assert record["compared"]["GPU, arrays"] > record["programs"] / 2
    assert list(record["language"]) == agreement.language()
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


def test_all_engines_agree_on_some_and_a_difference_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("MMSIM_CACHE_DIR", str(tmp_path))
    programs, done, wrong = agreement.chunk((5, 0, False))
    assert len(programs) > agreement.CHUNK // 2
    assert not wrong
    assert done["synchronous, array, compiled"] == 1
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
