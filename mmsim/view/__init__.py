"""Everything that shows results: tables now, figures and the player as they come."""

from mmsim.view.tables import html, rich, text

__all__ = ["html", "rich", "text"]
