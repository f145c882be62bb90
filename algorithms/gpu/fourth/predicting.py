"""Predicts a set of kernels by the machine that stands for an H200, and signs what it predicts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import mmsim as mm
from mmsim import cuda
from mmsim.gpu import signed
from mmsim.gpu.record import Record, Row
from mmsim_algorithms.gpu.fourth.case import CODES, CUDA_C, DIGEST, Case


def command(name: str, arguments: str) -> str:
    """The command of the set of this name, with arguments."""
    return f"python -m mmsim_algorithms.gpu.{name} {arguments}"


def predict(name: str, file: Path, cases: Iterable[Case], processes: int = 1) -> None:
    """Predict the cases of a set that the file lacks, in both codes, and save after each one."""
    card = mm.H200()
    facts = {"command": command(name, f"--predict {file.name}"), "machine": repr(card)}
    record = begun(file, Record(f"{name.upper()}-predicted", facts, ()))
    lacking = [
        (case, code)
        for case in cases
        for code in CODES
        if not any(case.about(code).items() <= row.items() for row in record.rows)
    ]
    import joblib  # takes long to import

    workers = joblib.Parallel(processes, return_as="generator")
    for row in workers(joblib.delayed(predicted)(card, case, code) for case, code in lacking):
        record = signed.sign(replace(record, rows=(*record.rows, row)))
        file.write_text(record.to_json(), encoding="utf-8")
        print(f"{row['job']}, {row['way']}, {row['code']}: {row['seconds']} s", flush=True)


def begun(file: Path, new: Record) -> Record:
    """The record in the file if the same machine made it, a new one without a file."""
    if not file.exists():
        return new
    record = Record.read(file)
    why = signed.broken(record)
    if why is None and not {**new.facts, signed.RULES: signed.rules()}.items() <= (
        record.facts.items()
    ):
        why = "it was made with another machine"
    if why is not None:
        raise SystemExit(f"{file}: {why}; remove it first")
    return record


def predicted(card: mm.Card, case: Case, code: str) -> Row:
    """The predicted milliseconds of one launch, its parts, and the seconds this took."""
    data = case.data(case.size)
    begin = time.process_time()
    kernel = mm.RawKernel(case.code, case.name) if code == CUDA_C else case.numba_kernel(cuda)
    grid, block = case.extents
    found = card.predict(kernel, *data.arguments, grid=grid, block=block)
    parts = {f"of {part}": round(ms, 6) for part, ms in found.parts.items()}
    return {
        **case.about(code),
        "predicted": round(found.milliseconds, 6),
        "bound": found.bound,
        **parts,
        "seconds": round(time.process_time() - begin, 2),
        DIGEST: case.digest(code, data),
    }
