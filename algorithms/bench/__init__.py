"""The simulator measured on the papers' algorithms, for `mmsim bench`: a module is a benchmark.

What they share and what the simulator is held against is in `contestants`.
"""
