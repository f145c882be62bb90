"""Proofs for all sizes: costs of programs, and programs without errors."""
