"""This computer: its cores, its memory, its compiler, what it has installed, and who waits."""
