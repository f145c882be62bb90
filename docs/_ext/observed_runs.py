"""The runs that the code of a page starts, each as a laboratory: a link to its program.

Loaded as an extension of IPython, it adds the links to the outputs of the cells with runs.
"""

from __future__ import annotations

import functools
import html
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mmsim.api.machines import Machine
from mmsim.errors import MMSimError
from mmsim.frontend.program import Program
from mmsim.view.lab import Laboratory

PAGE = "_static/lab.html"
"""The place of the laboratory's page on the site."""
LAUNCH = ("threads", "block_size", "grid", "block")
LONGEST = 8_000
"""The most letters of a link: inputs without a rule are in it value by value."""
MOST = 2**16
"""The most requests of a run that one changes and sees run at once."""
CHANGE = "Change it in the laboratory"


class Runs:
    """The first run of each program that code with these global names has started itself."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names
        self.found: dict[str, Laboratory] = {}

    def add(self, called: Any, program: Any, args: Any, result: Any, given: dict[str, Any]) -> None:
        """Add the run of a call, if a laboratory can have it."""
        launch = {name: given.get(name) for name in LAUNCH}
        schedule = given.get("schedule") or "synchronous"
        run = getattr(result, "run", result)
        if not isinstance(program, Program) or getattr(run, "requests", 0) > MOST:
            return
        try:
            laboratory = Laboratory(program, args, called, launch, schedule)
        except MMSimError:  # another machine, or a program that has no text
            return
        if len(laboratory.fragment()) <= LONGEST:
            self.found.setdefault(program.name, laboratory)

    def links(self) -> str:
        """A paragraph that leads to what was found since the last one; empty without a run."""
        found, self.found = self.found, {}
        return links(found)

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Observe `Machine.run` and `Machine.check`."""
        originals = Machine.run, Machine.check
        self.observe()
        try:
            yield
        finally:
            Machine.run, Machine.check = originals  # type: ignore[method-assign]  # on purpose

    def observe(self) -> None:
        """Observe them from here on."""
        Machine.run = self.observing(Machine.run)  # type: ignore[method-assign]  # on purpose
        Machine.check = self.observing(Machine.check)  # type: ignore[method-assign]  # on purpose

    def observing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that adds what it is called with, if the page's code calls it."""

        @functools.wraps(method)
        def observed(machine: Machine, program: Any, *args: Any, **given: Any) -> Any:
            result = method(machine, program, *args, **given)
            if sys._getframe(1).f_globals is self.names:
                self.add(machine, program, args, result, given)
            return result

        return observed


def links(found: dict[str, Laboratory]) -> str:
    """A paragraph that leads to laboratories; empty if there is none.

    >>> links({})
    ''
    """
    places = {name: f"{PAGE}#{one.fragment()}" for name, one in found.items()}
    if len(places) == 1:
        (place,) = places.values()
        shown = f'<a href="{place}">{CHANGE}</a>'
    else:
        each = (f'<a href="{place}">{html.escape(name)}</a>' for name, place in places.items())
        shown = f"Change in the laboratory: {' '.join(each)}"
    return f'<p class="to-laboratory">{shown}</p>' if places else ""


def load_ipython_extension(shell: Any) -> None:
    """Observe the cells of a page."""
    from IPython.display import HTML, display

    runs = Runs(shell.user_global_ns)
    runs.observe()

    def after_cell(result: object) -> None:
        if shown := runs.links():
            display(HTML(shown))

    shell.events.register("post_run_cell", after_cell)
