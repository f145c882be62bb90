"""The player as a widget beside a running kernel. Only this file needs anywidget."""

from __future__ import annotations

from typing import Any

import traitlets
from anywidget import AnyWidget

from mmsim.player.page import Player, part, script


class PlayerWidget(AnyWidget):
    """The player in a notebook's cell: `time` is the time unit that it shows, from either side.

    Where a front end, or a notebook read without a kernel, knows no widgets, it shows the page.
    """

    _esm = script() + part("widget.js")
    data = traitlets.Dict().tag(sync=True)
    time = traitlets.Int().tag(sync=True)

    def __init__(self, player: Player) -> None:
        super().__init__(data=player.data, time=player.data["start"])
        self._player = player

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
        return {**bundle, "text/html": self._player._repr_html_()}, metadata
