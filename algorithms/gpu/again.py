"""Predict a kept ICPP-T2 again, by the machine it was measured with and today's rules.

`python -m mmsim_algorithms.gpu.again FILE` changes what is predicted in the record, not what was
measured, and notes the date. It needs no GPU, but for the largest sizes 8 GiB and some minutes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.icpp_tables import permutation, predicted_time

kept_permutation = lru_cache(maxsize=1)(permutation)


def predict_again(record: Record) -> Record:
    """The record with new predictions, row by row."""
    calibration = Calibration.from_dict(dict(record.facts["calibration"]))
    rows = []
    for row in record.rows:
        P = kept_permutation(str(row["permutation"]), int(row["sqrt n"] or 0))
        time = predicted_time(calibration, str(row["type"]), str(row["algorithm"]), P)
        rows.append({**row, "predicted": time})
    today = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(record, facts={**record.facts, "predicted": today}, rows=tuple(rows))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(predict_again(Record.read(file)).to_json(), encoding="utf-8")
