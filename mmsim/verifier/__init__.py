"""Proofs that are written as data, verified without the prover."""
