"""The stepping player: a run, one time unit at a time, as a page for browser and notebook.

`data` makes plain data of a trace, `page` puts it into a page, `widget` into a notebook's widget.
The scripts next to them (`scripts.SCRIPTS`) compute what the
page shows.
"""

from mmsim.view.player.data import MOST, TooLargeError
from mmsim.view.player.page import Comparison, Player

__all__ = ["MOST", "Comparison", "Player", "TooLargeError"]
