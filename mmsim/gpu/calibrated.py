"""The machines that stand for one GPU: the cost of its memory, in time units."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

from mmsim.api.machines import DMM, HMM, UMM
from mmsim.cuda_c.kernels import WARP
from mmsim.errors import FormatError, MachineError
from mmsim.gpu.record import Record
from mmsim.model.machines import LARGEST


@dataclass(frozen=True)
class Calibration:
    """The cost of one GPU's memory, and the machines built from it.

    In shared memory a time unit is `cycles_per_stage` clock cycles, and a request without delays
    takes `shared_latency` of them; a clock cycle lasts `cycle_ps` picoseconds. In global
    memory a time unit is the time of one address group of 32 words of 4 bytes, `group_ps`
    picoseconds of the whole GPU, and a request takes `global_latency` of them. `multiprocessors`
    are its DMMs. `launch_ns` is the duration of an almost empty launch without the
    latency of its accesses.
    """

    device: str
    multiprocessors: int
    cycles_per_stage: float
    cycle_ps: float
    shared_latency: int
    group_ps: float
    global_latency: int
    launch_ns: float

    @property
    def dmm(self) -> DMM:
        """The DMM that stands for a multiprocessor's shared memory."""
        return DMM(WARP, self.shared_latency)

    @property
    def umm(self) -> UMM:
        """The UMM that stands for the global memory."""
        return UMM(WARP, self.global_latency)

    @property
    def hmm(self) -> HMM:
        """The HMM that stands for the GPU; its shared memories take the global memory's unit."""
        return HMM(self.multiprocessors, WARP, self.global_latency, self.shared_latency)

    def milliseconds(self, time_units: float, launches: int = 1) -> float:
        """The duration of time units of the UMM or HMM, and of launches, on this GPU."""
        return time_units * self.group_ps * 1e-9 + launches * self.launch_ns * 1e-6

    @staticmethod
    def read(file: Path) -> Calibration:
        """The calibration that `mmsim gpu calibrate --json` saved, or a `FormatError`."""
        rows = Record.read(file).rows
        if len(rows) != 1:
            raise FormatError(f"{file} holds no calibration: it has {len(rows)} rows, not one")
        return Calibration.from_dict(dict(rows[0]))

    @staticmethod
    def from_dict(found: dict[str, Any]) -> Calibration:
        """A calibration from its plain data. Raises `FormatError` for anything else."""
        kinds = get_type_hints(Calibration)
        if found.keys() != kinds.keys():
            raise FormatError(f"this is not a calibration: its fields aren't {', '.join(kinds)}")
        for name, value in found.items():
            whole = type(value) is int and abs(value) <= LARGEST
            number = whole or (type(value) is float and math.isfinite(value))
            if not {str: type(value) is str, int: whole, float: number}[kinds[name]]:
                raise FormatError(f"this is not a calibration: its {name} can't be {value!r:.80}")
        calibration = Calibration(**found)
        try:
            _ = calibration.dmm, calibration.umm, calibration.hmm
        except MachineError as error:
            raise FormatError(f"this is not a calibration: {error}") from None
        return calibration

    def to_dict(self) -> dict[str, Any]:
        """Its fields as plain data."""
        return asdict(self)
