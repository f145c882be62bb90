"""This computer: its cores, its memory, its compiler, its installed packages, and its terminal."""
