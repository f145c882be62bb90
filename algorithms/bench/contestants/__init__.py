"""What a benchmark of the simulator compares: the launches, and what they are held against."""
