"""The papers' measurements again, on the GPU at hand."""
