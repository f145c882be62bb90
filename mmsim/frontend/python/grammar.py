"""The part of Python that is in the language, and the replacements for the rest."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from mmsim.ir import operators
from mmsim.ir.dtypes import SUPPORTED
from mmsim.ir.row import Row


def _written(table: Mapping[str, Row]) -> dict[Any, str]:
    """The operators by their nodes of Python's tree."""
    return {node: op for op, row in table.items() for node in row.means if isinstance(node, type)}


BINARY: dict[type[ast.operator], str] = _written(operators.BINARY)
COMPARE: dict[type[ast.cmpop], str] = _written(operators.COMPARE)
UNARY: dict[type[ast.unaryop], str] = _written(operators.UNARY)
CASTS: dict[type, str] = {
    **{int: "int", float: "float", complex: "complex", bool: "bool", np.bool_: "bool"},
    **{np.dtype(name).type: name for name in SUPPORTED if name != "bool"},
}
"""Python's types and NumPy's (`mm.float32` and so on are these), with their casts."""

DEEPEST = 100
"""The most levels of nesting in a program: no walk reaches Python's recursion limit."""
MOST_CALLS = 1000
"""The most calls in a program, with those inside the functions that it calls."""
MOST_TRIPS = 1000
"""The most iterations of loops over tuples in a program in total: each is unrolled."""
LONGEST = 25
"""After this many operators a long chain, such as a sum, is kept in a variable and continued."""

OWN_ARRAY = "an mm.registers array"
NO_SLICE = "give one index for each dimension, in a loop where there are several"

ADVICE: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "write a function with def and call it"),
    ast.NamedExpr: ("an assignment inside an expression", "assign in a statement of its own"),
    ast.ListComp: ("a list comprehension", f"write a loop and {OWN_ARRAY}"),
    ast.SetComp: ("a set comprehension", "write a loop"),
    ast.DictComp: ("a dict comprehension", "write a loop"),
    ast.GeneratorExp: ("a generator expression", "write a loop"),
    ast.List: ("a list", f"use {OWN_ARRAY}"),
    ast.Tuple: ("a tuple", "assign it to a name, or to several"),
    ast.Set: ("a set", f"use {OWN_ARRAY}"),
    ast.Dict: ("a dict", "use arrays"),
    ast.JoinedStr: ("a string", "programs compute with numbers only"),
    ast.Slice: ("a slice", NO_SLICE),
    ast.Starred: ("a starred expression", "write the items one by one"),
    ast.Yield: ("yield", "programs store their results in arrays"),
    ast.YieldFrom: ("yield from", "programs store their results in arrays"),
}


STATEMENT_ADVICE: dict[type[ast.AST], tuple[str, str]] = {
    ast.FunctionDef: ("a function inside a program", "define it outside and call it"),
    ast.AsyncFunctionDef: ("async", "define a plain function outside"),
    ast.ClassDef: ("a class", "programs compute with numbers and arrays"),
    ast.Delete: ("del", "leave it out; variables vanish with their thread"),
    ast.With: ("with", "write its body alone"),
    ast.Match: ("match", "write if, elif, else"),
    ast.Raise: ("raise", "store a mark in an array and check it after the run"),
    ast.Try: ("try", "avoid the error with an if"),
    ast.TryStar: ("try", "avoid the error with an if"),
    ast.Assert: ("assert", "check the arrays after the run"),
    ast.Import: ("import", "import outside the program"),
    ast.ImportFrom: ("import", "import outside the program"),
    ast.Global: ("global", "pass numbers as parameters, store results in arrays"),
    ast.Nonlocal: ("nonlocal", "pass numbers as parameters, store results in arrays"),
}

CODES = {np.dtype(name).str[1:]: name for name in SUPPORTED}
"""NumPy's short names, as i4."""


def numpy_name(given: Any) -> str:
    """The name of the element type for an object, "" for none.

    NumPy's own reading of a type trusts any object's attributes, and parses text.
    """
    if isinstance(given, str):
        return CODES.get(given) or numpy_name(np.sctypeDict.get(given))
    if isinstance(given, np.dtype):
        return given.name
    if isinstance(given, type):
        for known in (bool, int, float, complex, *(np.dtype(name).type for name in SUPPORTED)):
            if given is known:
                return np.dtype(known).name
    return ""
