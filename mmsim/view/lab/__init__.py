"""The laboratory: a page in which one changes a program and its machine, and sees the run."""

from mmsim.view.lab.page import Laboratory

__all__ = ["Laboratory"]
