"""A seventh set of kernels, in CUDA C and for Numba, written without a look at any prediction.

It is written and used as the fourth one, `python -m mmsim_algorithms.gpu.seventh`.
"""
