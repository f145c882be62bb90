"""The simulator measured on the papers' algorithms, for `mmsim bench`."""

from algorithms.bench import cudasim, engines, growth, permuting

BENCHMARKS = [
    permuting.SCHEDULED,
    permuting.DESIGNATED,
    cudasim.BENCHMARK,
    engines.BENCHMARK,
    growth.BENCHMARK,
]
