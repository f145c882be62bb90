"""Malformed input for the front end and for the readers of files; `make fuzz` runs it."""
