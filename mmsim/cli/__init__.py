"""The command line: `mmsim verify`, `mmsim run`, `mmsim bench`."""

from mmsim.cli.main import main

__all__ = ["main"]
