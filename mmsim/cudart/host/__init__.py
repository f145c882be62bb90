"""Whole programs of CUDA C++, whose host code runs on a runtime of mmsim."""
