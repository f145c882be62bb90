"""Machines: units with a rule of conflicts, threads and blocks, layouts, rounds."""
