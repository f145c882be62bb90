"""Advice for a name that doesn't exist: the name that the user may mean.

It serves attributes of results and machines (`Guessed`), of modules (`guessed_in`), and keywords of
functions (`advised`). Each suggests the nearest existing names. For names that users of NumPy,
Numba and Matplotlib expect, a text says what to write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar

from mmsim.errors import Brief, CallError, MMSimError, UnknownNameError, shown

MOST = 40
"""So many names are listed at most."""
F = TypeVar("F", bound=Callable[..., Any])


def nearest(wanted: str, known: Iterable[str], otherwise: str = "") -> str:
    """Advice for a name that doesn't exist: the nearest names; else `otherwise`, or all names.

    >>> nearest("stage", ["stages", "time"]), nearest("x", ["stages", "time"])
    ('did you mean stages?', 'there are stages, time')
    """
    names = {name.lower(): name for name in known}
    near = [names[one] for one in get_close_matches(wanted.lower(), names)]
    if near:
        return f"did you mean {' or '.join(near)}?"
    many = "no name is similar; dir() lists them" if len(names) > MOST else ""
    return otherwise or many or f"there are {', '.join(names.values())}"


def instead(texts: Mapping[str, str]) -> dict[str, str]:
    """Advice for each name. Names with the same text share an entry.

    >>> instead({"cycles duration": "run.time"})
    {'cycles': 'run.time', 'duration': 'run.time'}
    """
    return {name: text for names, text in texts.items() for name in names.split()}


KEYWORDS = instead(
    {
        "w banks warp_size": "width",
        "l": "latency global_latency",
        "L": "global_latency latency",
        "d": "dmms",
        "p n_threads num_threads": "threads",
        "threads_per_block threadsperblock": "block_size block",
        "blockdim block_dim": "block",
        "blocks griddim grid_dim blockspergrid": "grid",
        "ax": "axes",
        "n_jobs": "jobs",
    }
)
"""Names of arguments elsewhere, with those here; the first that a function has counts."""


def unknown(
    what: str, name: str, known: Iterable[str], texts: Mapping[str, str]
) -> UnknownNameError:
    """The error for an attribute that `what` lacks; `texts` has the advice.

    >>> print(unknown("Run", "cycles", ["time"], {"cycles": "run.time"}))
    Run has no attribute 'cycles'; write run.time
    """
    if name in texts:
        return UnknownNameError(f"{what} has no attribute {name!r}; write {texts[name]}")
    public = (one for one in known if not one.startswith("_"))
    return UnknownNameError(f"{what} has no attribute {name!r}; {nearest(name, public)}")


class Guessed:
    """An object with advice for unknown attributes (`_instead`)."""

    __slots__ = ()

    @property
    def _instead(self) -> Mapping[str, str]:
        """Names that users may expect, with the advice for each."""
        return {}

    if not TYPE_CHECKING:  # else every attribute would pass the type checker

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises what Python raises
            raise unknown(type(self).__name__, name, dir(self), self._instead)


def guessed_in(module: str, what: str, known: Iterable[str], texts: Mapping[str, str]) -> None:
    """Give advice for unknown attributes of a module.

    Users know the module by the name `what`, and its attributes `known`.
    """

    def missing(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise unknown(what, name, known, instead(texts))

    vars(sys.modules[module])["__getattr__"] = missing  # mypy must not see it: all would pass


def advised(usage: str = "", **texts: str) -> Callable[[F], F]:
    """Decorate a function or a class: an error for a wrong call says what to write.

    `usage` is the advice for surplus and missing arguments, `texts` for keywords.

    >>> @advised(size="T.count")
    ... def launch(program, *, threads=1): ...
    >>> launch(None, p=4)
    Traceback (most recent call last):
    mmsim.errors.CallError: launch takes no p=; write threads=4
    >>> launch()
    Traceback (most recent call last):
    mmsim.errors.CallError: launch() missing 1 required positional argument: 'program'; write \
launch(program, *, threads=1)
    """

    def decorate(function: F) -> F:
        if isinstance(function, type):
            function.__init__ = decorate(function.__init__)  # type: ignore[misc]
            return function

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            with Brief():
                try:
                    return function(*args, **named)
                except TypeError as error:
                    trace = error.__traceback__
                    if isinstance(error, MMSimError) or trace is None or trace.tb_next is not None:
                        raise  # the function was entered
                    raise _misfit(function, named, str(error), usage, texts) from None

        return call  # type: ignore[return-value]

    return decorate


def _misfit(
    function: Callable[..., Any],
    named: Mapping[str, Any],
    text: str,
    usage: str,
    texts: Mapping[str, str],
) -> CallError:
    """The error for a call, from the text with which Python refuses it."""
    called = signature(function)
    parameters = {name: one for name, one in called.parameters.items() if name != "self"}
    name = function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]
    surplus = [one for one in named if one not in parameters]
    if not surplus:
        plain = [one.replace(annotation=Parameter.empty) for one in parameters.values()]
        called = called.replace(parameters=plain, return_annotation=Parameter.empty)
        usage = usage or f"{name.rpartition('.')[2]}{called}"
        return CallError(f"{text.replace('.__init__', '')}; write {usage}")
    takes = f"{name} takes no {', '.join(f'{one}=' for one in surplus)}"
    advice = []
    for one in surplus:
        meant = [other for other in KEYWORDS.get(one, "").split() if other in parameters]
        if one in texts:
            advice.append(texts[one])
        elif meant:
            advice.append(f"{meant[0]}={shown(named[one])}")
        else:
            return CallError(f"{takes}; {nearest(one, parameters, usage and f'write {usage}')}")
    return CallError(f"{takes}; write {', '.join(advice)}")
