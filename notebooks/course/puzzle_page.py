"""The puzzles' page: a laboratory with tasks, gates, hints and a score. It holds no solution.

`python -m course.puzzle_page FILE`, in notebooks/, makes it alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from puzzles import Puzzle, puzzles
from puzzles.exported import program_of, whole
from puzzles.puzzle import SHOWN

from course.reading import notebooks, read, title
from mmsim.names import everything
from mmsim.view.lab.page import POLICY, Laboratory
from mmsim.view.lab.scripts import in_ascii, script, work
from mmsim.view.page import filled, origin
from mmsim.view.player.scripts import UNNEEDED, as_json

FOLDER = Path(__file__).parent / "templates" / "puzzles"


def puzzle_page() -> str:
    """The page as text."""
    classes = {number: title(read(path)) for number, path in enumerate(notebooks(), 1)}
    data = {
        "puzzles": list(map(shown, puzzles().values())),
        "classes": classes,
        "origin": origin(),
    }
    files = UNNEEDED.sub("", "\n".join(map(part, ("gates.js", "puzzles.js"))))
    own = f"const openPuzzles = (() => {{\n{files}\nreturn openPuzzles;\n}})();\n"
    values = {
        "POLICY": POLICY,
        "STYLE": part("puzzles.css"),
        "SCRIPT": script() + in_ascii(own),
        "WORK": work(everything()),
        "DATA": as_json(data),
    }
    return filled(part("page.html"), values)


def shown(puzzle: Puzzle) -> dict[str, Any]:
    """A puzzle as the page has it: with a laboratory, and the arguments of all cases."""
    setting = puzzle.setting()
    del setting["cases"]
    setups = [setup_of(puzzle, case) for case in range(SHOWN)]
    arguments = [setup.pop("arguments") for setup in setups]
    return setting | {"program": puzzle.program, "setup": setups[0], "arguments": arguments}


def setup_of(puzzle: Puzzle, case: int) -> dict[str, Any]:
    """The laboratory of a case, with the text of the starter as it is written."""
    launch = {"threads": puzzle.threads, "block_size": puzzle.block_size}
    program = program_of(puzzle.starter, puzzle.program)
    arguments = tuple(puzzle.arguments(case))
    made = Laboratory(
        program, arguments, puzzle.machine, launch | {"grid": None, "block": None}, puzzle.schedule
    )
    return made.setup | {"text": whole(puzzle.starter)}


def part(name: str) -> str:
    """The text of a file of the page."""
    return (FOLDER / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="course.puzzle_page", description="Make the page.")
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(puzzle_page(), encoding="utf-8")
