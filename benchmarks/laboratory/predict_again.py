"""Predict kept results again, by their own machine and today's rules.

`python -m benchmarks.laboratory.predict_again FILE...` changes the predictions in a record, not the
measurements, and notes the date. It needs no GPU, but the largest sizes of ICPP-T2 need 8 GiB and
some minutes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.experiment import Conditions, choose_experiment
from mmsim.gpu.record import Record


def predict_again(record: Record) -> Record:
    """Return the record with new predictions, row by row; rows without a cell stay unchanged."""
    calibration = Calibration.from_dict(dict(record.facts["calibration"]))
    rows = list(record.rows)
    for cell in choose_experiment(record.experiment).cells(Conditions(calibration)):
        for place, row in enumerate(rows):
            if cell.about.items() <= row.items():
                rows[place] = {**row, **cell.predict()}
    today = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(record, facts={**record.facts, "predicted": today}, rows=tuple(rows))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(predict_again(Record.read(file)).to_json(), encoding="utf-8")
