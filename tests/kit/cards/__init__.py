"""Programs for a GPU, run under NVIDIA's compute-sanitizer too."""

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
OPTIONS = ("--error-exitcode", "9", "--report-api-errors", "no", "--launch-timeout", "0")
"""CuPy itself raises a call of CUDA's that fails; who runs the tools ends what hangs."""
