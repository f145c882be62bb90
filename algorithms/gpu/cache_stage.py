"""Launches the points of `cache_points` on the GPU at hand, and times them.

`python -m mmsim_algorithms.gpu.cache_stage` launches those that are counted, in their order, for a
profiler.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from mmsim.cuda_c.kernels import Kernel
from mmsim.gpu.calibration import random_cycle
from mmsim.gpu.counting import NAME, renamed
from mmsim.gpu.record import Row
from mmsim.gpu.replay import compiled, cupy, device, elapsed
from mmsim_algorithms.gpu.cache_point import LINE, Point
from mmsim_algorithms.gpu.cache_points import SCRATCH, ZEROS, Card, chain_lines, counted
from mmsim_algorithms.gpu.cache_programs import walk

SAMPLES = 5
PASSES = 3
"""The size of the array that passes through the cache first, as a multiple of the cache."""
Launch = Callable[[], None]
METRICS = (
    "gpu__time_duration.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "lts__t_tag_requests.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_read_lookup_hit.sum",
    "lts__t_sectors_op_read_lookup_miss.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_write_lookup_hit.sum",
    "lts__t_sectors_op_write_lookup_miss.sum",
    "lts__t_sectors_op_red.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__d_sectors.sum",
    "lts__d_sectors_fill_device.sum",
    "dram__sectors_read.sum",
    "dram__sectors_write.sum",
)
"""Sectors that the multiprocessors request; tags that the cache looks up, and hits;
sectors that cross between its halves; sectors of its data; sectors from and to the memory. The time
is that under the profiler, in nanoseconds."""


class Stage:
    """The arrays of all points on the GPU at hand, and their compiled kernels."""

    def __init__(self, cp: Any) -> None:
        self.cp = cp
        properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
        self.card = Card(int(properties["multiProcessorCount"]), device().cache_bytes)
        self.functions: dict[tuple[str, str], Any] = {}
        self.out = cp.zeros(1024, dtype=np.int32)

    @cached_property
    def scratch(self) -> Any:
        return self.cp.zeros(SCRATCH, dtype=np.int32)

    @cached_property
    def zeros(self) -> Any:
        return self.cp.zeros(ZEROS, dtype=np.int32)

    @cached_property
    def chain(self) -> Any:
        """A cycle through all lines in random order, in the first word of each."""
        return self.cp.asarray(chain(chain_lines(self.card)))

    @cached_property
    def other(self) -> Any:
        """The array that passes through the cache."""
        return self.cp.zeros(PASSES * self.card.cache_bytes // 4, dtype=np.int32)

    @cached_property
    def read_other(self) -> Launch:
        """Reads the other array, so that the cache holds nothing else."""
        lines = self.other.size // LINE
        times = -(-lines // self.card.threads)
        point = Point("", {}, walk, (lines, LINE), (times, times), self.card.threads)
        return self.ready(point.kernel, (self.other, self.cp.asarray(point.p(times))))

    def ready(self, written: Kernel, passed: tuple[Any, ...]) -> Launch:
        """A launch with all slow steps done before; one text is compiled once."""
        key = written.name, written.source
        if key not in self.functions:
            self.functions[key] = compiled(self.cp, written)
        function = self.functions[key]

        def launch() -> None:
            function(written.grid, written.block, passed)

        return launch

    def of_point(self, point: Point, times: int, name: str | None = None) -> Launch:
        """Launch a point with `times` repetitions; its kernel may get another name."""
        written = point.kernel
        if name is not None:
            written = renamed(written, name)
        p = self.cp.asarray(point.p(times))
        array = getattr(self, point.array)
        if point.wide:
            array = array.view(np.int64)
        return self.ready(written, (array, p) if point.array == "scratch" else (array, self.out, p))

    def before(self, point: Point) -> Launch:
        """Launch the preparation of a point, before it is timed."""
        if point.before == "written":
            other = self.other
            return lambda: other.fill(1)
        if point.before == "read":
            return self.read_other
        return self.of_point(point, point.times[1])

    def milliseconds(self, point: Point, times: int) -> list[float]:
        """The times of launches with `times` repetitions."""
        before, launch = self.before(point), self.of_point(point, times)
        before()
        launch()
        found = []
        for _ in range(SAMPLES):
            before()
            found.append(elapsed(self.cp, launch))
        return found

    def measure(self, point: Point) -> Row:
        """The picoseconds of an access, from the medians of both times; the times themselves."""
        few, many = (self.milliseconds(point, times) for times in point.times)

        def ps(early: float, late: float) -> float:
            return round((late - early) * 1e9 / point.between, 4)

        return {
            "number": point.number,
            **point.about,
            "accesses": point.between,
            "times": f"{point.times[0]} and {point.times[1]}",
            "ps": ps(statistics.median(few), statistics.median(many)),
            "low": ps(max(few), min(many)),
            "high": ps(min(few), max(many)),
            "few ms": round(statistics.median(few), 6),
            "many ms": round(statistics.median(many), 6),
        }

    def count(self, point: Point) -> None:
        """Launch a point for the profiler, after its preparation."""
        self.before(point)()
        self.of_point(point, point.times[1], counted_name(point))()
        self.cp.cuda.Device().synchronize()


def counted_name(point: Point) -> str:
    """The name of the kernel that is counted."""
    return f"{NAME}{point.program.name}"


def chain(lines: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The chain through `lines` lines: a place is the first word of a line.

    >>> (chain(3)[::LINE] // LINE).tolist()
    [2, 0, 1]
    """
    found = np.zeros(lines * LINE, np.int32)
    found[::LINE] = LINE * random_cycle(lines)
    return found


def main() -> None:
    """Launch each point that is counted once, after the launch that prepares the cache."""
    stage = Stage(cupy())
    for point in counted(stage.card):
        stage.count(point)


if __name__ == "__main__":
    main()
