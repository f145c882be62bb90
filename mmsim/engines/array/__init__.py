"""The array engine: all warps at once."""
