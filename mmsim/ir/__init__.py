"""The common part of all backends: a program's representation and its analyses."""
