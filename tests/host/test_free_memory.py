"""What the system leaves a process: its own account, control groups, limits of the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mmsim.host import free_memory as free

GIB = 2**30
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
V2 = "30 23 0:26 {top} {point} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1 = "35 31 0:32 {top} {point} rw,relatime - cgroup cgroup rw,memory"
SYSTEMD = "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd"


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    monkeypatch.setattr(free, "limits_of_process", lambda: (None, None))


def system(root, files, groups="", mounts=()):
    """A tree of files as Linux has it, with 64 GiB free."""
    files = {
        "proc/meminfo": f"MemTotal: 999 kB\nMemAvailable: {64 * 2**20} kB\n",
        "proc/self/cgroup": groups,
        "proc/self/mountinfo": "".join(f"{mount}\n" for mount in mounts),
        **files,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


def group2(path, limit, used, cache=0, high="max"):
    """The files of a group of version 2."""
    return {
        f"{path}/memory.max": f"{limit}\n",
        f"{path}/memory.high": f"{high}\n",
        f"{path}/memory.current": f"{used}\n",
        f"{path}/memory.stat": f"anon 5\nfile 7\ninactive_file {cache}\nactive_file 9\n",
    }


def group1(path, limit, used, cache=0):
    """The files of a group of version 1."""
    return {
        f"{path}/memory.limit_in_bytes": f"{limit}\n",
        f"{path}/memory.usage_in_bytes": f"{used}\n",
        f"{path}/memory.stat": f"inactive_file 3\ntotal_inactive_file {cache}\n",
    }


def in_version_2(root, files, group="/", top="/", point="/sys/fs/cgroup"):
    mounts = [V2.format(top=top, point=point)]
    return free.available(system(root, files, f"0::{group}\n", mounts))


def test_without_limits_it_is_what_the_machine_has_free(tmp_path):
    assert in_version_2(tmp_path, group2("sys/fs/cgroup", "max", 5 * GIB)) == 64 * GIB


def test_a_group_leaves_its_limit_without_what_it_uses_but_for_its_cache(tmp_path):
    files = group2("sys/fs/cgroup", 8 * GIB, 5 * GIB, cache=GIB)
    assert in_version_2(tmp_path, files) == 4 * GIB


def test_a_throttle_is_a_limit(tmp_path):
    files = group2("sys/fs/cgroup", 8 * GIB, 5 * GIB, high=6 * GIB)
    assert in_version_2(tmp_path, files) == GIB


def test_a_group_that_is_over_its_limit_leaves_nothing(tmp_path):
    assert in_version_2(tmp_path, group2("sys/fs/cgroup", GIB, 2 * GIB)) == 0


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (("max", 8 * GIB, "max", "max"), 7 * GIB),  # a job of a batch system
        (("max", "max", "max", 3 * GIB), 2 * GIB),  # its step
        (("max", 8 * GIB, 2 * GIB, 6 * GIB), GIB),
        ((4 * GIB, 8 * GIB, "max", "max"), 3 * GIB),
    ],
)
def test_of_nested_groups_the_least_counts(tmp_path, limits, left):
    paths = ["", "/system.slice", "/system.slice/job_7", "/system.slice/job_7/step_0"]
    files = {}
    for path, limit in zip(paths, limits, strict=True):
        files |= group2(f"sys/fs/cgroup{path}", limit, GIB)
    assert in_version_2(tmp_path, files, paths[-1]) == left


def test_a_mounted_part_of_the_groups_begins_at_its_top(tmp_path):
    files = group2("mnt/my groups/b", 3 * GIB, GIB)
    point = r"/mnt/my\040groups"
    assert in_version_2(tmp_path, files, "/docker/a/b", "/docker/a", point) == 2 * GIB


@pytest.mark.parametrize("group", ["/elsewhere", "/../other"])
def test_a_group_that_cannot_be_seen_leaves_what_the_mounted_one_does(tmp_path, group):
    files = group2("sys/fs/cgroup", 3 * GIB, GIB)
    top = "/docker/a" if group == "/elsewhere" else "/"
    assert in_version_2(tmp_path, files, group, top) == 2 * GIB


def test_version_1_has_other_files(tmp_path):
    files = group1("cg/memory", 2**63 - 4096, 9 * GIB)
    files |= group1("cg/memory/slurm/uid_1", 8 * GIB, 5 * GIB, cache=GIB)
    files |= group1("cg/memory/slurm/uid_1/job_7", 2**63 - 4096, 5 * GIB)
    groups = "9:name=systemd:/x\n4:cpu,memory:/slurm/uid_1/job_7\n0::/\n"
    mounts = [SYSTEMD, V1.format(top="/", point="/cg/memory"), "broken"]
    assert free.available(system(tmp_path, files, groups, mounts)) == 4 * GIB


def test_both_versions_together(tmp_path):
    files = group1("cg/memory/a", 8 * GIB, 0) | group2("cg/unified/b", 5 * GIB, 0)
    mounts = [V1.format(top="/", point="/cg/memory"), V2.format(top="/", point="/cg/unified")]
    groups = "4:memory:/a\n0::/b\n"
    assert free.available(system(tmp_path, files, groups, mounts)) == 5 * GIB


def test_what_is_missing_or_damaged_is_no_limit(tmp_path):
    files = group2("sys/fs/cgroup", "nonsense", GIB)
    files |= {"sys/fs/cgroup/a/memory.max": GIB}  # and nothing about what is used
    assert in_version_2(tmp_path, files, "/a") == 64 * GIB


def test_the_cache_is_nothing_where_the_statistics_are_missing(tmp_path):
    files = group2("sys/fs/cgroup", 8 * GIB, 5 * GIB, cache=GIB)
    files["sys/fs/cgroup/memory.stat"] = "inactive_file"
    assert in_version_2(tmp_path, files) == 3 * GIB


def test_addresses_and_data_of_the_process_are_limited(tmp_path, monkeypatch):
    root = system(tmp_path, {"proc/self/statm": f"{GIB // PAGE} 9 9 9 0 {GIB // 2 // PAGE} 0"})
    for limits, left in [
        ((4 * GIB, None), 3 * GIB),
        ((None, 4 * GIB), 3.5 * GIB),
        ((4 * GIB, 3 * GIB), 2.5 * GIB),
        ((None, None), 64 * GIB),
        ((GIB // 2, None), 0),
    ]:
        monkeypatch.setattr(free, "limits_of_process", lambda limits=limits: limits)
        assert free.available(root) == left


def test_where_the_addresses_in_use_are_not_known_the_limit_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(free, "limits_of_process", lambda: (4 * GIB, None))
    assert free.available(system(tmp_path, {})) == 4 * GIB


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="asks the system for its pages")
def test_without_an_account_it_is_all_that_the_machine_has(tmp_path):
    assert free.available(tmp_path) == PAGE * os.sysconf("SC_PHYS_PAGES")


def test_a_system_that_says_nothing(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert free.available(tmp_path) is None


LIMITED = """
import resource, sys
import mmsim.engines.array.engine  # load it first
import numpy as np
import mmsim as mm
import test_array_watched as programs

limit = 1 << 32
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from mmsim.host.free_memory import available
from mmsim.errors import RoomError
assert available() < limit
try:
    mm.UMM(32, 5).run(programs.own_loops, np.zeros(1 << 25, int), 1, threads=1 << 25)
except RoomError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit as Linux has it")
def test_a_run_beyond_the_limit_of_addresses_is_refused():
    folder = Path(__file__).parents[1] / "engines"
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    found = subprocess.run(
        [sys.executable, "-c", LIMITED],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "'own_loops' with 33554432 threads needs about" in found
    assert "GiB are free" in found
