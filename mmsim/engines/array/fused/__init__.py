"""Programs fused into one compiled function each: the array engine's fast path.

This package reads the representation a second time, next to `mmsim.meaning.meaning`, for programs
whose loops are the same for all threads, or count. It reports no errors: on any error it gives up,
and the interpreter runs the program again.
"""
