"""A program in the place of NVIDIA's profiler."""

import sys


def fake_ncu(folder, body):
    """A program called ncu, in Python, that finds its arguments in `args`."""
    file = folder / "ncu"
    file.write_text(
        f"#!{sys.executable}\nimport os, pathlib, sys\nargs = sys.argv[1:]\n"
        "if '--log-file' in args:\n"
        "    log = pathlib.Path(args[args.index('--log-file') + 1])\n"
        f"{body}\n"
    )
    file.chmod(0o755)
    return str(file)
