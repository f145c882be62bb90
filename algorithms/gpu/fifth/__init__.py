"""A fifth set of kernels, in CUDA C and for Numba: predicted first, then measured on a card.

It is written and used as the fourth one, `python -m mmsim_algorithms.gpu.fifth`.
"""
