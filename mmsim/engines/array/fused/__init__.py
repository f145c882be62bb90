"""Programs fused into one compiled function each: the array engine's fast path.

Another reader of the representation beside `mmsim.meaning.meaning`, for programs whose loops are
the same for all threads. It knows nothing of errors: where anything is amiss it gives up, and the
interpreter runs the program again.
"""
