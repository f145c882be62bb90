"""The array engine: all warps together."""
