"""The GPU's own counters compared with the model's stages: `mmsim.gpu.counters`.

Shared memory is served in wavefronts, as many as the model's congestion. For a request to global
memory the address groups are looked up one by one, as on the UMM. The hardware counts both.

A kernel with all arrays in shared memory also copies them there and back. It is launched once with
no repetition and once with one, and the difference is the program's.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from mmsim.api.kernels import kernel
from mmsim.cuda_c.body import Space
from mmsim.cuda_c.kernels import WARP, Kernel
from mmsim.cuda_c.writer import STATIC_BYTES
from mmsim.errors import LaunchError
from mmsim.frontend.numba.kernel import as_program
from mmsim.frontend.program import Program
from mmsim.gpu import ncu
from mmsim.gpu.counted import Launches, save
from mmsim.gpu.expected import Expected, Place, expected, machine_of
from mmsim.gpu.ncu import NoCounters, Profiled
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import cupy
from mmsim.gpu.signed import facts
from mmsim.gpu.words import narrowed
from mmsim.host.plugins import registered_in

GROUP = "mmsim.programs"
METRICS: Mapping[Place, str] = {
    ("shared", "read"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    ("shared", "write"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    ("shared", "atomic"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    ("global", "read"): "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum",
    ("global", "write"): "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum",
}
NAME = "mmsim_counted_"
"""The prefix of the names of counted kernels; no other kernel has it."""


@dataclass(frozen=True)
class Count:
    """The counts of hardware and model for a program's accesses of a kind in one memory.

    `words` are the sizes of its words in bytes. `why` gives the reason of a difference: "" without
    a difference, None for an unknown reason; `guess` is then the wrong prediction, if any.
    """

    program: str
    machine: str
    memory: str
    kind: str
    words: str
    hardware: int
    model: int
    why: str | None
    guess: str = ""

    @property
    def equal(self) -> bool:
        return self.hardware == self.model

    @property
    def verdict(self) -> str:
        """ "equal", the explanation, or "unexplained"."""
        if self.equal:
            return "equal"
        if self.why is not None:
            return self.why
        return f"unexplained; {self.guess}" if self.guess else "unexplained"

    def row(self) -> Row:
        """Itself as plain data."""
        return {
            "program": self.program,
            "machine": self.machine,
            "memory": self.memory,
            "kind": self.kind,
            "word bytes": self.words,
            "hardware": self.hardware,
            "model": self.model,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Counters:
    """The counts of some programs, and the reasons to leave others out, by program and machine."""

    counts: tuple[Count, ...]
    left_out: Mapping[str, str]

    @property
    def equal(self) -> int:
        return sum(count.equal for count in self.counts)

    @property
    def explained(self) -> int:
        return sum(not count.equal and count.why is not None for count in self.counts)

    @property
    def unexplained(self) -> int:
        return len(self.counts) - self.equal - self.explained


@dataclass(frozen=True)
class Case:
    """A program's kernel in one space, under a unique name, and its expected counts."""

    program: str
    kernel: Kernel
    expected: Mapping[Place, Expected]

    @property
    def repeats(self) -> tuple[int, ...]:
        """The repetitions of each launch."""
        return (0, 1) if self.kernel.space == "shared" else (1,)


def registered_programs() -> list[Program]:
    """The programs with an example that installed packages name.

    A package names a function that returns its programs in the entry point group `mmsim.programs`:

        [project.entry-points."mmsim.programs"]
        mine = "my_algorithms:programs"
    """
    return registered_in(GROUP)


def counters(programs: Iterable[Program]) -> Counters:
    """Compare the GPU's own counters with the model's stages, for programs with an example.

    The examples are those for width 32, with arrays in words of 4 bytes if the values allow.
    Wavefronts of shared memory are compared with the stages of the DMM, address groups of global
    memory and wavefronts of `mm.shared` arrays with those of the HMM. NVIDIA's profiler `ncu`
    counts. Programs that can't be launched in this way, because they take several blocks or too
    much memory, are left out.

    Raises `NoGPU` without a GPU, `mmsim.gpu.ncu.NoCounters` if its counters can't be read.
    """
    cp = cupy()
    profiler = ncu.find()
    facts = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    most_shared = int(facts.get("sharedMemPerBlockOptin", STATIC_BYTES))
    cases, left_out = prepare(programs, most_shared)
    launches = measure(profiler, cases) if cases else []
    return Counters(tuple(compare(cases, launches)), left_out)


def to_record(counters: Counters, command: str) -> Record:
    """The counts as data, with the facts needed to interpret them."""
    known = {
        **facts(command),
        "ncu": ncu.version(ncu.find()),
        "left out": dict(counters.left_out),
    }
    return Record("counters", known, tuple(count.row() for count in counters.counts))


def prepare(programs: Iterable[Program], most_shared: int) -> tuple[list[Case], dict[str, str]]:
    """The cases to count, and the programs that can't be counted.

    `most_shared` is the largest shared memory of a block in bytes. Raises the error of `prepare`
    for a program without an example.
    """
    cases: list[Case] = []
    left_out: dict[str, str] = {}
    for program in map(as_program, programs):
        name = f"{program.function.__module__}:{program.name}"
        example = program.prepare(WARP)
        arguments = tuple(narrowed(value) for value in example.arguments)
        for space in get_args(Space):
            try:
                written = kernel(
                    program,
                    *arguments,
                    **example.launch,
                    space=space,
                    clear_shared=space == "shared",  # also done for no repetition
                )
                if written.shared_bytes > most_shared:
                    raise LaunchError(
                        f"the arrays take {written.shared_bytes} bytes of shared memory, but a "
                        f"block has at most {most_shared}"
                    )
                known = expected(program, arguments, example.launch, written)
            except LaunchError as error:
                left_out[f"{name} on the {_machine(space)}"] = str(error)
                continue
            cases.append(Case(name, renamed(written, f"{NAME}{len(cases)}"), known))
    return cases, left_out


def _machine(space: Space) -> str:
    return type(machine_of(space)).__name__


def renamed(written: Kernel, name: str) -> Kernel:
    """The same kernel under another name."""
    head = re.compile(rf"(__global__ void ){re.escape(written.name)}\(")
    source, times = head.subn(rf"\g<1>{name}(", written.source)
    assert times == 1, written.source
    return replace(written, name=name, source=source)


def measure(profiler: str, cases: Sequence[Case]) -> list[Profiled]:
    """The profiler's counts of the cases' launches."""
    launches = [(case.kernel, case.repeats) for case in cases]
    return profiled(profiler, launches, list(METRICS.values()))


def profiled(profiler: str, launches: Iterable[Launches], metrics: Sequence[str]) -> list[Profiled]:
    """Launch kernels under the profiler, in a separate process; return the counts in their order.

    Their names must begin with `NAME`.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "kernels.npz"
        save(file, launches)
        return ncu.profile(profiler, NAME, metrics, folder, "mmsim.gpu.counted", str(file))


def compare(cases: Iterable[Case], launches: Iterable[Profiled]) -> list[Count]:
    """The counts of the launches with the expected ones, without places that no access touched.

    Raises `NoCounters` if a launch or a metric is missing.
    """
    by_name: dict[str, list[Profiled]] = defaultdict(list)
    for launch in launches:
        by_name[launch.kernel].append(launch)
    found = []
    for case in cases:
        own = by_name[case.kernel.name]
        if len(own) != len(case.repeats):
            raise NoCounters(
                f"ncu counted {len(own)} launches of {case.program}, not {len(case.repeats)}; "
                "run it again"
            )
        for place, known in case.expected.items():
            hardware = _hardware(case, own, METRICS[place])
            if hardware or known.model:
                found.append(_count(case, place, known, hardware))
    return found


def _hardware(case: Case, launches: Sequence[Profiled], metric: str) -> int:
    """A metric of one repetition."""
    if not all(metric in launch.metrics for launch in launches):
        raise NoCounters(f"ncu gave no {metric} for {case.program}; this GPU may not count it")
    values = [launch.metrics[metric] for launch in launches]
    return values[-1] - (values[0] if len(values) == 2 else 0)


def _count(case: Case, place: Place, known: Expected, hardware: int) -> Count:
    guess = f"{'; '.join(known.reasons)}: {known.predicted}" if known.reasons else ""
    return Count(
        case.program,
        _machine(case.kernel.space),
        *place,
        ", ".join(map(str, known.sizes)),
        hardware,
        known.model,
        known.why(hardware),
        guess,
    )
