"""Benchmarks: the speed of the simulator, compared with a measurement in the same run."""

from mmsim.bench.benchmark import Benchmark, BenchmarkError, Result, Row, Settings, Value
from mmsim.bench.compiling import compiled_first
from mmsim.bench.growth import exponent
from mmsim.bench.repetitions import Measured, alternately, timed

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
