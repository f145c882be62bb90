"""Benchmarks: the speed of the simulator, compared with a measurement in the same run."""

from mmsim.bench.benchmark import Benchmark, Result, Row, Settings, Value
from mmsim.bench.repetitions import (
    BenchmarkError,
    Measured,
    alternately,
    compiled_first,
    exponent,
    timed,
)

__all__ = [
    "Benchmark",
    "BenchmarkError",
    "Measured",
    "Result",
    "Row",
    "Settings",
    "Value",
    "alternately",
    "compiled_first",
    "exponent",
    "timed",
]
