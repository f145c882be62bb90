"""Everything that shows results: tables, figures and the player."""

from mmsim.view.forms import html, rich, text

__all__ = ["html", "rich", "text"]
