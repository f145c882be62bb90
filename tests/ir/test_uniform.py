"""Variables with one value for all threads, where some threads jump over statements."""

import pytest

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.uniform import Apart, Uniformity
from mmsim.ir.walk import numbered

AT = Place("made", "file.py", 1)


@pytest.mark.parametrize(("field", "together"), [("lane", False), ("count", True)])
def test_a_variable_that_some_threads_skip_is_not_uniform(field, together):
    """The branch goes to the end of the scope, over i = 1."""
    leaving = ir.If(ir.ThreadField(field), (ir.Leave("s", AT),), (), AT)
    scope = ir.Scope("s", (leaving, ir.Assign("i", ir.Const(1), AT)))
    body = (ir.Assign("i", ir.Const(0), AT), scope, ir.Assign("i", ir.Const(2), AT))
    code = numbered(body)
    assert ("i" in Apart(code).uniform) is together
    assert "i" in Uniformity(code).uniform
