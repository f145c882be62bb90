"""Names and words of Python, NumPy and mmsim for the parser of the page, as data for JSON.

The names that a text can import, the words of a program with their parameters, the limits of the
language, and the replacements for what is refused.
"""

from __future__ import annotations

import builtins
import cmath
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, get_args

import numpy as np

from mmsim.frontend.python import aliases, grammar, tables, thread, words
from mmsim.frontend.python.remedies import ARRAYS, OF_C, OF_NAME
from mmsim.frontend.thread import atomic, warp
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import TYPES
from mmsim.ir.dtypes import SUPPORTED, SUPPORTED_TEXT
from mmsim.ir.functions import FUNCTIONS

MODULES: tuple[ModuleType, ...] = (builtins, math, cmath, np, atomic, warp)
"""The modules whose names the parser knows, apart from `mmsim`."""


def vocabulary(own: Mapping[str, Any]) -> dict[str, Any]:
    """All of it; `own` is what `mmsim` calls by which name."""
    modules = {module.__name__: _members(module) for module in MODULES}
    return {
        "modules": {name: _by_type(found) for name, found in (modules | {"mmsim": own}).items()},
        "types": {
            name: found.__name__ for name, found in vars(np).items() if isinstance(found, type)
        },
        "math": {
            name: row.arity
            for name, row in FUNCTIONS.items()
            if hasattr(math, name) and name != "log"
        },
        "functions": {name: row.arity for name, row in FUNCTIONS.items() if row.own},
        "exchanges": {
            op: list(thread.parameters(getattr(warp, op))) for op in get_args(ir.ExchangeOp)
        },
        "atomics": dict(map(_atomic, TYPES)),
        "dtypes": _dtypes(),
        "operators": {
            node.__name__: op
            for known in (grammar.BINARY, grammar.COMPARE, grammar.UNARY)
            for node, op in known.items()
        },
        "supported": SUPPORTED_TEXT,
        "numbers": list(ir.NUMBERS),
        "vectors": list(ir.VECTORS),
        "whole": list(words.WHOLE),
        "limits": {
            "deepest": grammar.DEEPEST,
            "longest": grammar.LONGEST,
            "calls": grammar.MOST_CALLS,
            "trips": grammar.MOST_TRIPS,
            "captured": tables.MOST_CAPTURED,
            "fixed": aliases.MOST_FIXED,
        },
        "refused": {kind.__name__: list(text) for kind, text in grammar.ADVICE.items()},
        "refused statements": {
            kind.__name__: list(text) for kind, text in grammar.STATEMENT_ADVICE.items()
        },
        "advice": words.ADVICE,
        "remedies": {name: remedy.words for name, remedy in OF_NAME.items()},
        "of c": OF_C,
        "makers": list(ARRAYS),
        "attributes": dir(np.ndarray),
    }


def _members(module: ModuleType) -> Mapping[str, Any]:
    """The objects of a module, by their names."""
    names: Iterable[str] = (name for name in dir(module) if not name.startswith("_"))
    if module is builtins:
        names = {*dir(module), *dir(object), "__dict__"}  # any attribute of this module is a name
    return {name: getattr(module, name) for name in names}


def _by_type(members: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names of a module by the types of what they stand for."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(members):
        found[type(members[name]).__name__].append(name)
    return dict(found)


def _atomic(op: ir.AtomicOp) -> tuple[str, list[Any]]:
    function, word = thread.atomic_of(op)
    return getattr(function, "__name__", ""), [op, list(word.parameters)]


def _dtypes() -> dict[str, str]:
    """The texts that name a type of elements, each with the type's name."""
    texts = [*grammar.CODES, *(text for text in np.sctypeDict if isinstance(text, str)), *SUPPORTED]
    names = {text: grammar.numpy_name(text) for text in texts}
    return {text: name for text, name in names.items() if name in SUPPORTED}
