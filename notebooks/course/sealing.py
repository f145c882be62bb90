"""The right answers of a notebook, worked out in a kernel and sealed there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import classroom
import nbformat
from classroom import RIGHT, judged
from execute import kernel
from sealed import Sealed, seal

from course.reading import Role, parts, read, solutions


class Recorder:
    """Stands for `check` in a kernel: keeps what it is called with."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[dict[str, object]] = []

    def check(
        self,
        answer: object,
        right: object | Callable[[object], str | None],
        *,
        unit: str = "",
        atol: float = 0,
        rtol: float = 0,
    ) -> None:
        """Seal the right answer, unless it is a function, which holds no answer."""
        salt = f"{self.name} {len(self.found) + 1}"
        made = None if callable(right) else asdict(seal(right, salt, atol, rtol))
        said = judged(answer, right, unit, atol, rtol)
        self.found.append({"said": said, "sealed": made})


def record(name: str) -> Recorder:
    """Let the notebook that runs in this kernel record its checks."""
    recorder = Recorder(name)
    classroom.check = recorder.check
    return recorder


def sealed_answers(path: Path) -> dict[str, Sealed | None]:
    """The right answers, by exercise; None where a function looks at the answer.

    The notebook is executed with its solutions, which have to be right.
    """
    notebook, right = read(path), solutions(path)
    sources, names = [f"from course.sealing import record; recorder_ = record({path.stem!r})"], []
    for part in parts(notebook):
        if part.role is Role.EXERCISE:
            sources += [part.cell.source, right[part.exercise]]
            names.append(part.exercise)
        elif part.role is not Role.TEXT:
            sources.append(part.cell.source)
    sources.append("import json; print(json.dumps(recorder_.found))")
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    with kernel(notebook) as client:
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
    found = json.loads(notebook.cells[-1].outputs[-1].text)
    for name, one in zip(names, found, strict=True):
        if one["said"] != RIGHT:
            raise ValueError(f"{path.stem}, the solution of exercise {name}: {one['said']}")
    return {
        name: Sealed(**(one["sealed"] | {"hashes": tuple(one["sealed"]["hashes"])}))
        if one["sealed"]
        else None
        for name, one in zip(names, found, strict=True)
    }
