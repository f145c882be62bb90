"""The claims on a program's time, as texts of Python that the page evaluates."""

from __future__ import annotations

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points
from itertools import islice
from typing import Any

from mmsim.claims.claim import Claim, call_with
from mmsim.claims.launch import Repeated
from mmsim.claims.registry import registered
from mmsim.frontend.program import Program
from mmsim.host.plugins import registered_in

PROGRAMS = "mmsim.programs"
CASES = 12
"""The cases of a claim in which its parameters are looked for among the sizes of a launch."""


WORDS = {"and", "or", "gcd", "isqrt", "log2", "max", "min"}
"""The words of conditions that the page knows."""


class NoTextError(Exception):
    """A condition whose text isn't found, or that the page doesn't evaluate."""


def claims_of(program: Program) -> list[dict[str, Any]]:
    """Return the registered claims on the time of this program alone, on its machines, as data.

    There is at most one for each machine: an exact one, if there is one.
    """
    if (program.function.__module__ or "").partition(".")[0] not in _packages():
        return []
    if not program.listed[1]:
        registered_in(PROGRAMS)
    family = program.listed[1].partition(".")[0]
    found: dict[str, dict[str, Any]] = {}
    for claim in registered() if family else ():
        if f"{claim.id}.".startswith(f"{family}.") and claim.quantity == "T" and not claim.printed:
            for one in _known(claim, program):
                machine = one["machine"]
                if machine not in found or claim.kind == "exact":
                    found.setdefault(machine, one)
    return list(found.values())


@cache
def _packages() -> set[str]:
    """The packages that register programs: to look for them takes milliseconds."""
    return {one.value.partition(":")[0].partition(".")[0] for one in entry_points(group=PROGRAMS)}


def _known(claim: Claim, program: Program) -> Iterator[dict[str, Any]]:
    """The claim for each machine on which it is about this program alone."""
    if claim.launches is None:
        return
    launches: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    for case in islice(claim.cases(), 400):
        made = list(call_with(claim.launches, case))
        if len(made) != 1 or isinstance(made[0], Repeated) or made[0].program is not program:
            return
        own = launches.setdefault(type(made[0].machine).__name__, [])
        if len(own) < CASES:
            own.append((case, made[0]))
    try:
        conditions = [condition(one.holds) for one in claim.requires]
    except NoTextError:
        return
    for machine, cases in launches.items():
        sources = {name: _source(name, cases) for name in claim.parameters}
        if all(sources.values()):
            yield {
                "machine": machine,
                "text": claim.text,
                "source": claim.source,
                "parameters": sources,
                "conditions": conditions,
            }


def _source(name: str, cases: list[tuple[dict[str, Any], Any]]) -> str | None:
    """The name of the size that has the value of a claim's parameter in all cases."""
    values = [case[name] for case, _ in cases]
    sizes = [_sizes(launch) for _, launch in cases]
    for source in sizes[0]:
        if [one.get(source) for one in sizes] == values:
            return source
    return None


def _sizes(launch: Any) -> dict[str, Any]:
    """The sizes of a launch by the names that the page has for them."""
    machine = launch.machine
    names = ("width", "latency", "dmms", "global_latency", "shared_latency")
    found = {name: getattr(machine, name) for name in names if hasattr(machine, name)}
    found["threads"] = launch.threads
    for array, shape in launch.arguments.items():
        if isinstance(shape, tuple):
            found[f"{array}.size"] = math.prod(shape)
            found |= {f"{array}.{axis}": extent for axis, extent in enumerate(shape)}
    return found


def condition(holds: Callable[..., bool]) -> str:
    """The expression of a condition, from the text of its function."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.getmodule(holds) or holds)))
    except (OSError, TypeError, SyntaxError):
        raise NoTextError from None
    code = holds.__code__
    names = code.co_varnames[: code.co_argcount]
    found = {
        ast.dump(one.body): one.body
        for one in ast.walk(tree)
        if isinstance(one, ast.Lambda)
        and one.lineno <= code.co_firstlineno <= (one.end_lineno or 0)
        and tuple(argument.arg for argument in one.args.args) == names
    }
    if len(found) != 1:
        raise NoTextError
    (body,) = found.values()
    text = ast.unparse(body)
    if {*re.findall(r"[a-zA-Z_.'\"]+", text)} - {*names, *WORDS}:
        raise NoTextError
    return text
