"""Changes of Numba's representation of a function before its types are inferred."""

from __future__ import annotations

from typing import Any

from numba.core import ir as numba_ir
from numba.core.errors import TypingError


def definition(func_ir: Any, var: Any) -> Any:
    """The value of a variable that is set once, None for any other."""
    found = func_ir._definitions.get(var.name, ())
    return found[0] if len(found) == 1 else None


def checked_names(func_ir: Any) -> None:
    """Take `strict=False` from calls of zip, which Numba types without keywords.

    Refuse other names in calls of functions inside of this one, which Numba inlines without them.
    """
    for block in func_ir.blocks.values():
        for one in block.body:
            call = getattr(one, "value", None)
            if not isinstance(call, numba_ir.Expr) or call.op != "call" or not call.kws:
                continue
            called = definition(func_ir, call.func)
            if isinstance(called, numba_ir.Global) and called.value is zip:
                known = [definition(func_ir, var) for _, var in call.kws]
                if all(getattr(value, "value", True) is False for value in known):
                    call.kws = ()
            if getattr(called, "op", "") == "make_function":
                said = ", ".join(f"{name}=" for name, _ in call.kws)
                message = f"a function inside another one takes its arguments in order: no {said}"
                raise TypingError(message, loc=one.loc)
