"""No random program is proved to be free of what its check finds."""

from dataclasses import astuple

import pytest
from hypothesis import given, settings

import mmsim as mm
from mmsim.api.binding import bind
from mmsim.engines.check import bank_conflicts
from mmsim.model.threads import asked
from mmsim.results.proved import AGAINST, MISTAKES
from tests.kit.generators.draws import draws
from tests.kit.generators.race_free_programs import CANDIDATES
from tests.kit.generators.random_programs import RefDMM, RefHMM, RefOwn, RefUMM
from tests.kit.oracle.own_machines import OwnMachine

pytest.importorskip("z3", reason="proofs need z3-solver")

KINDS = {RefDMM: mm.DMM, RefUMM: mm.UMM, RefHMM: mm.HMM, RefOwn: OwnMachine}


def own_sizes(launch, shape):
    """Facts that allow the sizes of a launch alone."""
    grid = launch.grid
    facts = {name: size for name, size in grid.uniform.items() if "." in name}
    if shape is None:
        facts = {"threads": grid.threads, "block_size": grid.block_size}
    facts["width"] = grid.width
    for name, array in launch.results().items():
        facts |= {f"{name}.shape[{axis}]": size for axis, size in enumerate(array.shape)}
    facts |= {name: n for name, n in launch.meaning.numbers.items() if type(n) is int}
    return tuple(f"{name} == {size}" for name, size in facts.items())


@settings(max_examples=draws(4), deadline=None)
@given(CANDIDATES)
def test_what_is_found_is_not_proved_to_be_absent(case):
    from mmsim.proof.races import Questions

    machine = KINDS[type(case.machine_spec)](*astuple(case.machine_spec))
    sizes, args = asked(**case.launch), tuple(case.arguments)
    report = machine.check(
        case.program, *args, **case.launch, schedule="asynchronous", max_accesses=3000
    )

    launch = bind(machine, case.program, args, sizes, "asynchronous", 3000)
    facts = own_sizes(launch, sizes[2])
    opened = Questions(launch, facts, sizes[2], sizes[1] is None)
    for about in MISTAKES:
        assert opened.open(about) or not any(one.kind in AGAINST[about] for one in report.findings)
    if bank_conflicts(launch):
        assert Questions(launch, facts, sizes[2], sizes[1] is None).conflicts()
