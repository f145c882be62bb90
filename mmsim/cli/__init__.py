"""The command line. `main` runs a command; each command has a module."""

from mmsim.cli.main import main

__all__ = ["main"]
