"""Programs fused into one compiled function each: the array engine's fast path.

A reader of the representation other than `mmsim.meaning.meaning`, for programs whose loops are
the same for all threads. It knows nothing of errors: if anything is wrong it gives up, and the
interpreter runs the program again.
"""
