"""Models of the addresses of the algorithms, written from their descriptions in docs/algorithms.

A module has a family. Its `MODELS` has a function for each claim: it takes the parameters of a case
and returns the quantity that the claim measures. It lists the rounds of the synchronous schedule
with the addresses of every warp, and counts their cost with `cost`. No model uses a program or a
rule of mmsim. `OPEN` in a module has the claims whose description leaves the order of the accesses
open, with the reason: there the model need not agree with the machine, but both with the claim.
"""
