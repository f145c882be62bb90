"""The meaning of a program, and a program bound to its arguments on a machine."""
