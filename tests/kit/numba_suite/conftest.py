"""Modules that are run by `run.py` in processes of its own, and collected by no other tests."""

collect_ignore_glob = ["*.py"]
