"""The checker: it finds a program's mistakes on the simulator before a GPU shows them."""
