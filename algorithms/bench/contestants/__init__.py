"""The parts of a benchmark of the simulator: the launches, and the simulator's contestants."""
