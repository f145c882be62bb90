"""Everything that shows results: tables, figures and the player."""

from mmsim.view import cases as cases  # they enter their tables
from mmsim.view import difference as difference
from mmsim.view.tables import html, rich, text

__all__ = ["html", "rich", "text"]
