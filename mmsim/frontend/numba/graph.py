"""Changes of Numba's representation of a function before its types are inferred."""

from __future__ import annotations

from typing import Any

from numba.core import ir as numba_ir


def _definition(func_ir: Any, var: Any) -> Any:
    """The value of a variable that is set once, None for any other."""
    found = func_ir._definitions.get(var.name, ())
    return found[0] if len(found) == 1 else None


def without_strictness(func_ir: Any) -> None:
    """Take `strict=False` from calls of zip, which Numba types without keywords."""
    for block in func_ir.blocks.values():
        for one in block.body:
            call = getattr(one, "value", None)
            if isinstance(call, numba_ir.Expr) and call.op == "call" and call.kws:
                called = _definition(func_ir, call.func)
                if isinstance(called, numba_ir.Global) and called.value is zip:
                    known = [_definition(func_ir, var) for _, var in call.kws]
                    if all(getattr(value, "value", True) is False for value in known):
                        call.kws = ()
