"""The player's pages, of a run or of two side by side: files without a server or a network."""

from __future__ import annotations

import html
from os import PathLike
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mmsim.errors import LaunchError, MMSimError, shown
from mmsim.host.arguments import file_path, two_names
from mmsim.printable import printable
from mmsim.results.run import Run
from mmsim.results.trace import Trace
from mmsim.view.page import origin, page
from mmsim.view.player.data import run_data, window
from mmsim.view.player.scripts import HEIGHT, as_json, script

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mmsim.results.findings import Finding
    from mmsim.view.figures.notebook import Figure
    from mmsim.view.lab.page import Laboratory
    from mmsim.view.player.widget import PlayerWidget

PRESETS = ("conflict", "coalescing", "latency", "barrier")
"""The kinds of moments that a player can begin with: the choices of `show.js`."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""The policy of a page, which loads nothing from outside."""
OPENING = """\
const { textContent } = document.getElementById("data");
const how = { keys: document, page: true, embedded: window !== parent };
window.mmsim = mount(place, JSON.parse(textContent), how);"""
NAMED = ("machine", "program", "schedule")
"""The settings that name two runs if they differ."""


class Player:
    """A run to step through. A notebook shows it, `save` writes it to a file.

    A run of several launches is shown as a whole, in order. The page begins with `note`.
    `looked_for` is the text of a check without findings. `preset` is what to show first. `lab`
    makes the laboratory of the run.
    """

    def __init__(
        self,
        traces: Trace | Sequence[Trace],
        start: int = 0,
        end: int | None = None,
        findings: Sequence[Finding] = (),
        note: str = "",
        looked_for: str = "",
        preset: str | None = None,
        lab: Callable[[], Laboratory] | None = None,
    ) -> None:
        launches = [traces] if isinstance(traces, Trace) else traces
        texts = {"note": note, "looked_for": looked_for, **_show(preset)}
        self.data = {**run_data(launches, start, end, findings), **origin(), **texts}
        self._lab = lab

    def __repr__(self) -> str:
        data = self.data
        return f"<player of {data['program']}, time units {data['start']} to {data['end']}>"

    @property
    def title(self) -> str:
        """The title of the page."""
        return f"{self.data['program']} on {self.data['machine']}"

    def html(self) -> str:
        """The page as text."""
        return self._html({})

    def _html(self, more: dict[str, str]) -> str:
        values = {
            "POLICY": POLICY,
            "PLACE": "player",
            "PURPOSE": "step through this run",
            "TITLE": html.escape(self.title).encode("ascii", "xmlcharrefreplace").decode(),
            "SCRIPT": script(),
            "DATA": as_json(self.data | more),
            "MORE": "",
            "OPENING": OPENING,
        }
        return page(values)

    def widget(self) -> PlayerWidget:
        """Return the player as a widget of a notebook; read or set its `time`, the time unit shown.

        A widget needs a running kernel. A notebook without one shows the player itself, if it is
        the last value of a cell. Raises `MMSimError` if anywidget isn't installed.
        """
        try:
            import anywidget  # noqa: F401
        except ImportError:
            raise MMSimError(
                "the widget needs anywidget, which isn't installed; write pip install anywidget, "
                "or show the player without widget()"
            ) from None
        from mmsim.view.player.widget import PlayerWidget

        return PlayerWidget(self.data, self._repr_html_)

    def lab(self) -> Laboratory:
        """Return a page in which one changes the program of the run; see `Run.lab`."""
        if self._lab is None:
            raise MMSimError(
                "this player doesn't hold the program of a run; write mm.lab(program, ...), or "
                "run.lab() for the run of one launch"
            )
        return self._lab()

    def save(self, path: str | PathLike[str], *, lab: str | PathLike[str] | None = None) -> None:
        """Write the page to a file, and to another one, `lab`, the laboratory to which it leads.

        Several players may lead to one file `lab`.
        """
        file = file_path("path", path)
        more = {}
        if lab is not None:
            laboratory, place = self.lab(), file_path("lab", lab)
            laboratory.save(place)
            way = quote(Path(relpath(place, file.parent)).as_posix())
            more = {"laboratory": f"{way}#{laboratory.fragment()}"}
        # A file's name may have bytes that are not text; in the data the escape means the same.
        file.write_text(self._html(more), encoding="utf-8", errors="backslashreplace")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither it nor the notebook affects the other."""
        # The link to the repository opens a new page.
        popups = " allow-popups allow-popups-to-escape-sandbox" if "repository" in self.data else ""
        return (
            f'<iframe class="mmsim-player" title="{html.escape(repr(self)[1:-1])}" '
            f'sandbox="allow-scripts{popups}" style="width: 100%; height: {HEIGHT}; border: 0" '
            f'srcdoc="{html.escape(self.html())}"></iframe>'
        )


class Comparison(Player):
    """Two runs to step through side by side. A notebook shows it, `save` writes it to a file.

    `names` are the names of the runs. Default: the settings in which they differ.
    """

    def __init__(
        self,
        first: Run,
        second: Run,
        names: Sequence[str] | None = None,
        start: int = 0,
        end: int | None = None,
        preset: str | None = None,
    ) -> None:
        self.runs = first, second
        self.names = names_of(first, second) if names is None else two_names(names)
        longest = max(first.time, second.time)
        start, last = window(start, end, longest, "longer run")
        runs = [
            {"name": name, **run_data(run.traces, min(start, run.time), min(last, run.time))}
            for name, run in zip(self.names, self.runs, strict=True)
        ]
        self.data = {"runs": runs, "start": start, "end": last, **origin()} | _show(preset)
        self._lab = None

    @property
    def title(self) -> str:
        """The title of the page."""
        return " and ".join(self.names)

    def __repr__(self) -> str:
        return f"<{self.title}, time units {self.data['start']} to {self.data['end']}>"

    def plot(self) -> Figure:
        """Draw the warps of both runs, one above the other, over the same time."""
        from mmsim.view.figures.warps import compare

        return compare(*self.runs, names=self.names)


def _show(preset: str | None) -> dict[str, str]:
    """The moments with which a page begins, as data for it."""
    if preset not in (None, *PRESETS):
        raise LaunchError(f"preset is one of {', '.join(PRESETS)}, not {shown(preset)}")
    return {"show": preset} if preset else {}


def names_of(first: Run, second: Run) -> tuple[str, str]:
    """Names for two runs: the settings in which they differ, else their order.

    >>> import numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a):
    ...     a[T.id]
    >>> runs = [kind(4, 3).run(read, np.arange(8), threads=8) for kind in (mm.DMM, mm.UMM)]
    >>> names_of(*runs)
    ('DMM(width=4, latency=3)', 'UMM(width=4, latency=3)')
    """
    differ = [name for name in NAMED if getattr(first, name) != getattr(second, name)]
    if not differ:
        return "first run", "second run"
    one, other = (
        ", ".join(printable(str(getattr(run, name))) for name in differ) for run in (first, second)
    )
    return one, other
