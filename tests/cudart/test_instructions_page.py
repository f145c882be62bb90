"""The page on CUDA C++ names the instructions that the front end knows, and no other."""

import re

from mmsim.frontend.ptx import expansions, lowering, reach
from mmsim.frontend.ptx.instructions import INSTRUCTIONS
from tests.kit import ROOT

JUMPS = {"bra", "brx", "call", "exit", "ret", "trap"}


def test_the_table_has_all_instructions():
    page = (ROOT / "docs/reference/cuda-c.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", page, re.MULTILINE))
    found = {what: set(re.findall(r"`(\w+)`", names)) for what, names in rows.items()}
    others = expansions.EXPANSIONS.keys() - reach.MEMORY - INSTRUCTIONS.keys()
    assert found == {
        "compute; free": INSTRUCTIONS.keys(),
        "access memory": reach.MEMORY,
        "address; free": {"cvta", "isspacep"},
        "jump": JUMPS,
        "of a warp or of a block": lowering.TOGETHER.keys(),
        "stand for several others": others,
        "nothing in the model": lowering.WITHOUT_EFFECT,
    }
