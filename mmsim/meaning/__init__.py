"""What a program means, and a program bound to its arguments on a machine."""
