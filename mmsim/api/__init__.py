"""The names that users type: machines that run programs, results that show themselves.

Lower floors define machines and results as plain data. The classes here add what needs a higher
floor: run, draw, print, step through, save.
"""
