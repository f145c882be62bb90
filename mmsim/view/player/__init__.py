"""The stepping player: a run, one time unit after the other, as a page for browser and notebook.

`data` makes plain data of a trace, `page` puts it into a page, `widget` into a notebook's widget;
what both show of it is worked out in the scripts beside them, which `page.SCRIPTS` lists.
"""

from mmsim.view.player.data import MOST, TooLargeError
from mmsim.view.player.page import Player

__all__ = ["MOST", "Player", "TooLargeError"]
