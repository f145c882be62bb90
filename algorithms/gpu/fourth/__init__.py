"""A fourth set of kernels, in CUDA C and for Numba: predicted first, then measured on a card.

The predicted machine was not fitted to them. `python -m mmsim_algorithms.gpu.fourth` predicts,
measures and compares.
"""
