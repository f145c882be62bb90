"""Functions that Numba writes in Python itself, by `overload`: they are typed and inlined here.

Numba would compile what an overload gives. Here its types are inferred as those of a device
function, and the call is one. `WRITTEN` has the functions that were found.
"""

from __future__ import annotations

import types as python
from functools import cache
from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing import templates

from mmsim.errors import LanguageError
from mmsim.frontend.numba.signatures import Given

WRITTEN: dict[tuple[Any, Given], python.FunctionType] = {}
"""By the key of what is called and the types of its arguments: what Numba writes for them."""


def is_declared(template: Any) -> bool:
    """Return whether a template only declares types."""
    return not hasattr(template, "_overload_func") and not hasattr(template, "_definition_func")


def taken(template: Any) -> Any:
    """A template of Numba's, or ours in its place; None for one that needs a compiler."""
    if is_declared(template):
        return template
    name = getattr(getattr(template, "_definition_func", None), "__name__", "")
    if name in OF_INTRINSICS:
        return _function(template.key, OF_INTRINSICS[name], False, ())
    return _inlining(template) if hasattr(template, "_overload_func") else None


@cache
def sum_as(wanted: Any) -> Any:
    """A function that adds all elements of an array, as numbers of a type."""

    def total(array: Any) -> Any:
        found = wanted(0)
        for one in array.flat:
            found += wanted(one)
        return found

    return total


def _total(array: Any, axis: Any, dtype: Any) -> Any:
    """The part of np.sum that Numba does not write in Python; old versions have all of it so."""
    from numba.np.arraymath import get_ret_dtype_if_any

    total = sum_as(get_ret_dtype_if_any(array, dtype))

    def without_axis(array: Any, axis: Any, dtype: Any) -> Any:
        return total(array)

    return without_axis


OF_INTRINSICS = {"_numpy_sum": _total}


@cache
def _inlining(template: Any) -> Any:
    """The template of a function or a method that is inlined; None for an attribute."""
    name, prefers = getattr(template, "_attr", None), template.prefer_literal
    if name is None:
        return _function(template.key, template._overload_func, prefers, ())
    if not template.is_method:
        return None

    def generic_resolve(self: Any, owner: Any, attr: str) -> Any:
        if attr != name:
            return None
        key = (template.key, name)
        found = _function(key, template._overload_func, prefers, (owner,))
        return types.BoundFunction(found, owner)

    facts = {"key": template.key, "generic_resolve": generic_resolve}
    return type("Inlined", (templates.AttributeTemplate,), facts)


@cache
def _function(key: Any, overload: Any, prefers_literal: bool, owner: Given) -> Any:
    """The template of a function, or of a method of its first argument."""

    def generic(self: Any, args: Given, kws: Any) -> Any:
        function = _written(overload, (*owner, *args), tuple(kws.items()))
        if function is None:
            return None
        try:
            found = self.context.written(key, function, (*owner, *args), kws)
        except LanguageError as error:
            raise TypingError(str(error)) from None
        if not owner:
            return found
        return templates.signature(found.return_type, *found.args[1:], recvr=found.args[0])

    facts = {"key": key, "generic": generic, "prefer_literal": prefers_literal}
    return type("Inlined", (templates.AbstractTemplate,), facts)


@cache
def _written(overload: Any, args: Given, kws: Any) -> Any:
    """The function that an overload gives for types; None if they aren't for it."""
    try:
        found = overload(*args, **dict(kws))
    except TypeError:
        return None
    return found[1] if isinstance(found, tuple) else found
