"""Results of runs, as plain data."""

from mmsim.ir.liveness import Registers
from mmsim.results.cache import CacheRow
from mmsim.results.events import Cycle, Dispatch, Wait
from mmsim.results.findings import Finding, FoundAccess
from mmsim.results.report import Report
from mmsim.results.rows import AccessRow, Profile, ProfileLine, RoundRow
from mmsim.results.run import Run, total
from mmsim.results.trace import Trace

__all__ = [
    "AccessRow",
    "CacheRow",
    "Cycle",
    "Dispatch",
    "Finding",
    "FoundAccess",
    "Profile",
    "ProfileLine",
    "Registers",
    "Report",
    "RoundRow",
    "Run",
    "Trace",
    "Wait",
    "total",
]
