"""The papers' figures, drawn again from runs of the programs."""
