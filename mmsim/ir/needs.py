"""The earlier accesses for which a warp waits before an access: those with used values.

A warp that may have several requests under way sends the next one without waiting for the earlier
ones, unless their values are *used* in between: by an index, a condition, a write to memory or an
exchange. A value that is computed from the word of a read or an atomic, or copied to variables
and register arrays, is used where the result is.

The sites whose values a name may hold follow from the program's text alone, over all paths of a
thread. So do the sites whose values are used between one access and the next. A register
array is one name for all of its elements.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmsim.ir import nodes as ir
from mmsim.ir.graph import NO_SITE, Graph, Step
from mmsim.ir.walk import names, parts


def needs(body: ir.Block, sites: int) -> tuple[frozenset[int], ...]:
    """For each access of a numbered program the sites for whose requests it waits.

    >>> from mmsim import program
    >>> @program
    ... def scatter(T, a, b, d):
    ...     place, value = d[T.id], a[T.id]
    ...     b[place] = value
    >>> [sorted(one) for one in needs(scatter.code.body, 3)]
    [[], [], [0, 1]]
    """
    graph = Graph(body)
    steps = graph.steps
    held: list[dict[str, frozenset[int]]] = [{} for _ in steps]
    used: list[frozenset[int]] = [frozenset() for _ in steps]
    found: list[frozenset[int]] = [frozenset()] * sites
    reached, waiting = {graph.entry}, {graph.entry}
    while waiting:
        at = max(waiting)  # a step has a higher number than those that follow it
        waiting.remove(at)
        step = steps[at]
        uses = used[at].union(*(_held(held[at], (value,)) for value in _operated(step)))
        if step.site != NO_SITE:
            found[step.site] |= uses
            uses = frozenset()
        after = _assigned(step, held[at])
        for following in step.next:
            more = uses - used[following]
            gained = _join(held[following], after)
            if more or gained or following not in reached:
                used[following] |= more
                reached.add(following)
                waiting.add(following)
    return tuple(found)


def _operated(step: Step) -> Iterable[ir.Expr]:
    """The expressions of a step whose values it needs itself, not only for a result."""
    yield from step.asks
    if step.value is None:
        return
    if step.target is None or step.exchanged:
        yield step.value
    for part in parts(step.value):
        if isinstance(part, ir.RegisterRead):
            yield from part.index


def _held(held: dict[str, frozenset[int]], values: tuple[ir.Expr, ...]) -> frozenset[int]:
    """The sites whose values may be in expressions."""
    nothing: frozenset[int] = frozenset()
    return nothing.union(*(held.get(name, nothing) for name in names(values)))


def _assigned(step: Step, held: dict[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    """The values that the names may hold after a step."""
    after = {name: of for name, of in held.items() if name not in step.ends}
    if step.target is None:
        return after
    new: frozenset[int] = frozenset()
    if step.reads:
        new = frozenset([step.site])
    elif step.value is not None and not step.exchanged:
        new = _held(held, (step.value,))
    if new or step.target in after:
        after[step.target] = after.get(step.target, frozenset()) | new
    return after


def _join(held: dict[str, frozenset[int]], more: dict[str, frozenset[int]]) -> bool:
    """Add the values that names may hold on another path; return whether any is new."""
    gained = False
    for name, of in more.items():
        before = held.get(name, frozenset())
        if not of <= before:
            held[name] = before | of
            gained = True
    return gained
