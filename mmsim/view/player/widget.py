"""The player as a widget of a running kernel. Only this file needs anywidget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets
from anywidget import AnyWidget

from mmsim.view.player.scripts import HEIGHT, part, script


class PlayerWidget(AnyWidget):
    """The player in a notebook's cell. Page and kernel both read and set `time`, the time unit.

    A front end without widgets, or a notebook without a kernel, shows the page.
    """

    _esm = script() + part("widget.js").replace("{{HEIGHT}}", HEIGHT)
    data = traitlets.Dict().tag(sync=True)
    time = traitlets.Int().tag(sync=True)

    def __init__(self, data: dict[str, Any], page: Callable[[], str]) -> None:
        super().__init__(data=data, time=data["start"])
        self._page = page

    @traitlets.validate("time")
    def _inside(self, proposal: Any) -> int:
        """The nearest time unit of the window."""
        time: int = proposal["value"]
        nearest: int = max(self.data["start"], min(self.data["end"], time))
        return nearest

    def _repr_mimebundle_(self, **how: Any) -> Any:
        shown = super()._repr_mimebundle_(**how)
        if shown is None:
            return None
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        return {**bundle, "text/html": self._page()}, metadata
