"""The metrics of NVIDIA's profiler for the second-level cache and the memory."""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.gpu import ncu

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


def counts(launch: ncu.Profiled, counted: Sequence[str]) -> dict[str, int | None]:
    """The counts of a launch, None for a metric without a value."""
    return {name: launch.metrics.get(name) for name in counted}
