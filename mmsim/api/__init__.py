"""The names that users type: machines that run programs, results that show themselves.

The floors below know machines and results as plain data. The classes here are those, and can do
what only a higher floor knows how to do: run, draw, print, step through, save.
"""
