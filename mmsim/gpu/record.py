"""Results measured on a GPU, kept as plain data with the facts needed to interpret them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmsim.errors import FormatError

Row = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True)
class Record:
    """Rows of one experiment on one GPU.

    `facts` are the device, its driver, the date, the command and the versions, and anything else
    that belongs to all rows (a calibrated machine, say).
    """

    experiment: str
    facts: Mapping[str, Any]
    rows: tuple[Row, ...]

    def to_json(self) -> str:
        """The record as JSON, one row a line."""
        rows = ",\n".join("    " + json.dumps(dict(row)) for row in self.rows)
        head = json.dumps({"experiment": self.experiment, **self.facts}, indent=2)
        return head.removesuffix("\n}") + ',\n  "rows": [\n' + rows + "\n  ]\n}\n"

    @staticmethod
    def read(file: Path) -> Record:
        """A record from its JSON. Raises `FormatError` for anything else."""
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            experiment, rows = found.pop("experiment"), tuple(map(dict, found.pop("rows")))
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise FormatError(f"{file} holds no record of a GPU's results: {error!r}") from None
        return Record(experiment, found, rows)
