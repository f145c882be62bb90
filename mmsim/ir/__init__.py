"""What every backend asks of a program's representation, found once for all of them."""
