"""The papers' programs give what they have always given, on this platform too."""

import json

import numpy as np

import mmsim as mm
from tests.kit.tools import golden


def test_nothing_has_changed(capsys):
    status = golden.main([])
    assert status == 0, capsys.readouterr().out


def test_a_change_of_one_unit_is_reported(capsys, monkeypatch, tmp_path):
    known = json.loads(golden.FILE.read_text())
    assert len(known) > 300
    name = "access.programs.contiguous DMM synchronous"
    known[name][0] += 1
    changed = tmp_path / "golden.json"
    changed.write_text(json.dumps(known))
    monkeypatch.setattr(golden, "FILE", changed)
    assert golden.main([]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}: [129, 64, ")
    assert printed.rstrip().endswith("1 differ")


def test_every_bit_of_memory_counts():
    machine = mm.DMM(4, 3)

    @mm.program
    def fill(T, a, x):
        a[T.id] = x

    plus, minus = (machine.run(fill, np.ones(4), zero, threads=4) for zero in (0.0, -0.0))
    assert (plus.arrays["a"] == minus.arrays["a"]).all()
    assert golden.digest(plus) != golden.digest(minus)
    again = machine.run(fill, np.ones(4), 0.0, threads=4)
    assert golden.digest(plus) == golden.digest(again)
