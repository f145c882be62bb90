"""Everything that shows results: tables, figures and the player."""

from mmsim.view.tables import html, rich, text

__all__ = ["html", "rich", "text"]
