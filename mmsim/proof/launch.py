"""The launches of claims, by their former place."""

from mmsim.claims.launch import SymbolicLaunch as SymbolicLaunch
