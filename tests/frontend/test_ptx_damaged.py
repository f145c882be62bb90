"""Damaged kernels of PTX: they run, or an error of mmsim says why not."""

import random
import re
from contextlib import suppress

import pytest

import mmsim as mm
from mmsim.errors import LanguageError, MMSimError
from mmsim.frontend.ptx.kernel import PtxProgram
from mmsim.frontend.ptx.text import read
from tests.cudart.kernels.expected import CASES

MACHINE = mm.HMM(2, 32, 50, 5, bank_bytes=4)
INSTRUCTION = re.compile(r"\s+[@a-z].*;$")
NUMBERS = (0, 1, -1, 4, 7, 31, 32, 64, 1 << 31, -(1 << 31), 12345)
FROM = [line for case in CASES.values() for line in case.ptx.splitlines()]


def damaged(draw, lines, places):
    """Change an instruction: drop, repeat, move or replace it, or a register, type or number."""
    at, line = draw.choice(places), ""
    own = lines[at]
    registers = re.findall(r"%\w+", own)
    match draw.randrange(7):
        case 1:
            line = f"{own}\n{own}"
        case 2:
            line = draw.choice([one for one in draw.choices(FROM, k=50) if INSTRUCTION.match(one)])
        case 3 if registers:
            other = draw.choice(re.findall(r"%\w+", "\n".join(lines)))
            line = own.replace(draw.choice(registers), other, 1)
        case 4:
            type_ = f".{draw.choice('subf')}{draw.choice((16, 32, 64))}"
            line = re.sub(r"\.[subf](8|16|32|64)", type_, own, count=1)
        case 5:
            line = re.sub(r"\b\d+\b(?=[;,\]])", str(draw.choice(NUMBERS)), own, count=1)
        case 6:
            other = draw.choice(places)
            line, lines[other] = lines[other], own
    lines[at] = line


def all_end_well(draw, count):
    """Run so many damaged kernels; return the numbers of those that ran, and of those refused."""
    ran = refused = 0
    cases = list(CASES.values())
    for _ in range(count):
        case = draw.choice(cases)
        lines = case.ptx.splitlines()
        places = [at for at, line in enumerate(lines) if INSTRUCTION.match(line)]
        for _ in range(draw.choice((1, 1, 2, 3))):
            damaged(draw, lines, places)
        text = "\n".join(lines)
        refused += 1
        with suppress(MMSimError):
            program = PtxProgram(read(text), case.entry, ptx=text).with_shared(case.shared_mem)
            special = program.specialized(case.arguments())
            how = {"grid": case.grid, "block": case.block, "max_accesses": 20000}
            MACHINE.run(special.program, *special.args, schedule="asynchronous", **how)
            ran, refused = ran + 1, refused - 1
    return ran, refused


@pytest.mark.filterwarnings("ignore:.*writes nothing in the model")
@pytest.mark.parametrize("count", [50, pytest.param(20_000, marks=pytest.mark.long)])
def test_a_damaged_kernel_runs_or_is_an_error(count):
    ran, refused = all_end_well(random.Random(count), count)
    assert ran > count / 4
    assert refused > count / 4


def test_a_copy_of_another_length_than_a_part_is_refused():
    case = CASES["staging-staged4"]
    text = case.ptx.replace(", 4, 4;", ", 64, 4;")
    program = PtxProgram(read(text), case.entry, ptx=text)
    with pytest.raises(LanguageError, match="a thread copies 4, 8 or 16 bytes at once"):
        program.specialized(case.arguments())
