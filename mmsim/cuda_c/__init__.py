"""Writes programs as CUDA C; needs no GPU."""
