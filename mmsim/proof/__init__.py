"""Proofs for all sizes: what a program costs, and that it has no error, with symbols for numbers."""
