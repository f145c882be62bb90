"""The checker: what is wrong with a program, found on the simulator before a GPU shows it."""
