"""No planted bug is proved to be absent, for the sizes of its own launch."""

import pytest

from mmsim.api.binding import bind
from mmsim.results.proved import AGAINST, MISTAKES
from tests.kit.planted import PAIRS

pytest.importorskip("z3", reason="proofs need z3-solver")

PROPERTY = {kind: about for about, kinds in AGAINST.items() for kind in kinds}
ABOUT = [one for one in PAIRS if any(found.kind in PROPERTY for found in one.finds)]


def launched(one):
    sizes = one.threads, one.block_size, None
    return bind(one.machine, one.program, one.arguments, sizes, "asynchronous", 10**5)


def own_sizes(launch, one):
    """Facts that allow the sizes of this launch alone."""
    facts = [f"threads == {one.threads}", f"width == {one.machine.width}"]
    facts += [f"block_size == {launch.grid.block_size}"]
    for name, array in launch.results().items():
        facts += [f"{name}.shape[{axis}] == {size}" for axis, size in enumerate(array.shape)]
    numbers = launch.meaning.numbers.items()
    return (*facts, *(f"{name} == {value}" for name, value in numbers if isinstance(value, int)))


def questions(one):
    from mmsim.proof.races import Questions

    launch = launched(one)
    return Questions(launch, own_sizes(launch, one), None, one.block_size is None)


@pytest.mark.parametrize("pair", ABOUT, ids=lambda pair: pair.name)
def test_a_bug_is_not_proved_to_be_absent(pair):
    opened = questions(pair.bug)
    for found in pair.finds:
        if found.kind in PROPERTY:
            assert opened.open(PROPERTY[found.kind])


@pytest.mark.long
def test_most_twins_are_proved():
    proved = [pair.name for pair in PAIRS if not any(map(questions(pair.twin).open, MISTAKES))]
    assert len(proved) >= 125, sorted({pair.name for pair in PAIRS} - set(proved))
