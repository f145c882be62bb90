"""Grade exported programs: `python -m puzzles FILE...`, in the folder that has the puzzles."""

from __future__ import annotations

import argparse
from pathlib import Path

from puzzles import puzzles
from puzzles.exported import programs_in


def main() -> None:
    """Print the grade of each program in the files, and the points of each file."""
    parser = argparse.ArgumentParser(prog="puzzles", description="Grade exported programs.")
    parser.add_argument("files", type=Path, nargs="+")
    for file in parser.parse_args().files:
        points = 0
        for name, text in programs_in(file.read_text("utf-8")).items():
            if name in puzzles():
                grade = puzzles()[name].grade(text)
                points += grade.points
                print(f"{name}: {grade}\n")
        most = sum(1 + len(one.gates) for one in puzzles().values())
        print(f"{file}: {points} of {most} points")


if __name__ == "__main__":
    main()
