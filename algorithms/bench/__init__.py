"""The simulator measured on the papers' algorithms, for `mmsim bench`: a module is a benchmark.

`contestants` has their common parts and the simulator's contestants.
"""
