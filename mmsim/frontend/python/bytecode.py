"""Python's code for the functions of a text, and the differences between such codes."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType


@lru_cache(maxsize=16)
def functions_in(text: str) -> tuple[CodeType, ...]:
    """The code of all functions of a text; none if it is not Python. Nothing of it runs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python gave its warnings when it read the text
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # notebooks set it
            return tuple(inside(compile(text, "<text>", "exec", flags, dont_inherit=True)))
    except (SyntaxError, ValueError):
        return ()


def inside(code: CodeType) -> Iterator[CodeType]:
    """The code of the functions in a module or a function, and of those inside them."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from inside(one)


def does(code: CodeType) -> tuple[object, ...]:
    """The distinguishing parts of functions of one name: instructions, names and constants.

    It is the same in every process, and so is its `repr`.
    """
    names = code.co_names, code.co_varnames, code.co_freevars
    return code.co_code, code.co_argcount, names, tuple(map(_constant, code.co_consts))


def _constant(one: object) -> object:
    if isinstance(one, CodeType):
        return does(one)
    if isinstance(one, tuple):
        return tuple(map(_constant, one))
    if isinstance(one, frozenset):  # its order is arbitrary
        return sorted(map(repr, map(_constant, one)))
    if type(one) is int:  # any length can be written in base 16
        return hex(one)
    return repr(one)
