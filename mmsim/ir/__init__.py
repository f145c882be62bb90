"""What every backend needs to know of a program's representation, found once for all of them."""
