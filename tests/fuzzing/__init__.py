"""Hostile input for the front end and for the readers of files; `tests/fuzz.py` is the command."""
