"""The stepping player: a run, one time unit after the other, as a page for browser and notebook.

`data` makes plain data of a trace, `page` puts it into a page; what the page shows of it is worked
out in `player.js`.
"""

from mmsim.player.data import MOST, TooLargeError
from mmsim.player.page import Player

__all__ = ["MOST", "Player", "TooLargeError"]
