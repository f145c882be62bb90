"""Counts of a card's profiler for kernels of CUDA C++, line by line, and those of the model."""

import json
from pathlib import Path

import pytest

from mmsim.model.byte_banks import ByteBanks
from mmsim.model.conflicts import Banks
from tests.kit.cards.count_on_gpu import LEVELS, of_card, rows
from tests.kit.cards.counted import Assembled, Place, disassembled, launches, of_model, tiles

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "benchmarks/results/cuda-c/counters.json").read_text("utf-8"))
PAGE = " ".join((ROOT / "docs/reference/cuda-c.md").read_text("utf-8").split())
COUNTED = {one["launch"]: one for one in RECORD["launches"]}
KERNELS = [name for name in launches() if name.count("-") == 1]
"""The launches of different kernels; the others are theirs with other strides."""
REASONS = {
    "parts": {"stencil.cu:32", "stencil.cu:33", "mathematics.cu:13", "locks.cu:19"},
    "matrix": {"matrices.cu:31", "matrices.cu:33", "matrices.cu:47", "matrices.cu:49"},
    "bypass": {"cuda_pipeline_helpers.h:201"},
    "order": {"locks.cu:22"},
}
"""The lines whose counts differ, by the reason on the page."""
DIFFERING = {"parts": {"groups"}, "matrix": {"requests"}, "bypass": {"sectors"}}
"""The only counts that differ for a reason."""


def differing(row, level):
    """The names of the counts in which the card differs from the model."""
    memory, kind = row["access"].split()
    names = Place("", 0, memory, kind).counted
    both = zip(names, row[level], row["model"], strict=True)
    return {name for name, card, model in both if card is not None and card != model}


def of(names, level):
    """The counts of all lines of some launches, and those that differ."""
    lines = [row for name in names for row in COUNTED[name]["lines"]]
    return lines, [row for row in lines if differing(row, level)]


@pytest.mark.filterwarnings("ignore:.*printf does nothing")
@pytest.mark.parametrize("name", launches())
def test_the_model_counts_what_is_kept(name):
    kept = [(row["line"], row["access"], row["model"]) for row in COUNTED[name]["lines"]]
    model = of_model(launches()[name])
    found = [(row["line"], row["access"], row["model"]) for row in rows(model, [{}, {}])]
    assert found == [row for row in kept if any(row[2])]


def test_each_launch_was_counted():
    assert list(COUNTED) == [*launches(), *tiles()]


def test_a_difference_in_a_kernel_as_it_is_written_has_a_reason():
    _, wrong = of(launches(), "-O0")
    for row in wrong:
        (reason,) = (reason for reason, lines in REASONS.items() if row["line"] in lines)
        assert differing(row, "-O0") == DIFFERING.get(reason, differing(row, "-O0"))
    assert {row["line"] for row in wrong} == set.union(*REASONS.values())


def test_a_card_counts_fewer_groups_than_parts_have():
    _, wrong = of(KERNELS, "-O0")
    parts = [row for row in wrong if row["line"] in REASONS["parts"]]
    assert len(parts) == 5
    assert all(row["-O0"][1] < row["model"][1] for row in parts)


def test_no_request_is_unknown_in_a_kernel_as_it_is_written():
    lines, _ = of(launches(), "-O0")
    assert all(None not in row["-O0"] for row in lines)


def test_the_counters_of_the_hardware_agree_with_the_profilers():
    """They count whole launches; now and then one wavefront more."""
    names = {"wavefronts": 1, "groups": 1, "sectors": 2}
    for launch, one in COUNTED.items():
        if launch.startswith(("staging", "printing")):
            continue  # the copies, and what printf writes, are not among the lines
        for counter, value in one["hardware, -O0"].items():
            access, name = counter.rsplit(" ", 1)
            lines = [row for row in one["lines"] if row["access"] == access]
            total = sum(row["-O0"][names.get(name, 0)] for row in lines)
            if launch != "locks-swapped_sum":  # each run of it takes another number of turns
                assert total <= value <= total + 1, (launch, counter)


def test_the_page_has_the_numbers_of_the_record():
    assert f"On an {RECORD['device']}, on {RECORD['date']}," in PAGE
    assert f"{len(KERNELS)} kernels" in PAGE
    for level in LEVELS:
        lines, wrong = of(KERNELS, level)
        assert f"`{level}` | {len(lines)} | {len(lines) - len(wrong)} |" in PAGE
    _, as_written = of(KERNELS, "-O0")
    assert len(as_written) <= 0.05 * len(of(KERNELS, "-O0")[0])
    for reason, lines in REASONS.items():
        count = sum(row["line"] in lines for row in as_written)
        assert f"- {count} line{'s' * (count > 1)}: " in PAGE, reason


@pytest.mark.parametrize("file", ["staging", "matrices"])
def test_copies_and_matrices_take_the_models_wavefronts_at_each_stride(file):
    of_file = [name for name in launches() if name.startswith(f"{file}-")]
    lines, _ = of(of_file, "-O0")
    shared = [row for row in lines if row["access"].startswith("shared")]
    assert len(shared) > 30
    assert all("wavefronts" not in differing(row, "-O0") for row in shared)


def wavefronts(name, stride):
    """The wavefronts of a tile by the rules of banks.

    Tiles a and b are four matrices of 8 rows of 16 bytes. Of a tile c, lane t has words of the row
    t // 4 of each quarter: two floats, two halves, or in a column of floats one.
    """
    quarters = [(row, column) for row in (0, 8) for column in (0, 8)]
    if name.startswith("matrix"):
        rows_of = [[(row + k) * stride + column for k in range(8)] for row, column in quarters]
        return sum(
            Banks(32).stages([at // 2 + word for at in one for word in range(4)]) for one in rows_of
        )
    lanes = [(lane // 4, lane % 4 * 2) for lane in range(32)]
    places = [[((r + i) * stride + c + j) for i, j in lanes] for r, c in quarters]
    if name.startswith("half"):
        return sum(Banks(32).stages([at // 2 for at in one]) for one in places)
    if "row" in name:
        rule = ByteBanks(32).of_access(8, "write")
        return sum(rule.stages([at // 2 for at in one]) for one in places)
    across = [[(c + j + k) * stride + r + i for i, j in lanes] for r, c in quarters for k in (0, 1)]
    return sum(Banks(32).stages(one) for one in across)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", tiles())
def test_a_tile_takes_the_wavefronts_of_the_rules_of_banks(name, level):
    lines = [row for row in COUNTED[name]["lines"] if row["line"].startswith("crt/mma.hpp")]
    assert len(lines) == (1 if name.startswith("matrix") else 2)
    wanted = wavefronts(name, int(name[-2:]))
    assert [row[level][1] for row in lines] == [wanted] * len(lines)
    assert f"| {wanted} |" in PAGE


SASS = """
.text.k:
	//## File "a.cu", line 3
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;
	//## File "b.h", line 7
        /*0010*/              @!P0 STS [R5], R2 ;
        /*0020*/              @!PT LDS RZ, [RZ] ;
        /*0030*/                   LDGSTS.E.BYPASS.128 [R7], [R2.64] ;
        /*0040*/                   REDUX.SUM UR4, R1 ;
"""


class Metric:
    """Values by address."""

    def __init__(self, values):
        self.values = values

    def num_instances(self):
        return len(self.values)

    def correlation_ids(self):
        return Metric([*self.values])

    def value(self, number):
        return list(self.values if isinstance(self.values, list) else self.values.values())[number]


METRICS = {
    "inst_executed": {160 + 16 * k: 4 for k in range(5)},
    "memory_l1_wavefronts_shared": {176: 2, 208: 9},
    "memory_l1_tag_requests_global": {160: 5, 208: 6},
    "memory_l2_theoretical_sectors_global": {160: 7, 208: 8},
}


class Action:
    """The profiler's results of a launch."""

    def metric_names(self):
        return list(METRICS)

    def metric_by_name(self, name):
        return Metric(METRICS[name])


def test_the_counts_of_instructions_belong_to_their_lines():
    instructions = disassembled(SASS)["k"]
    assert instructions[1] == Assembled("b.h", 7, "@!P0 STS [R5], R2")
    assert of_card(Action(), instructions) == {
        Place("a.cu", 3, "global", "read"): [4, 5, 7],
        Place("b.h", 7, "shared", "write"): [None, 11],
        Place("b.h", 7, "global", "read"): [4, 6, 8],
    }


def test_a_row_has_what_the_model_and_each_card_count():
    place = Place("a.cu", 3, "global", "atomic")
    other = Place("a.cu", 4, "shared", "read")
    assert [*rows({place: [1, 2]}, [{}, {other: [3, 4]}])] == [
        {
            "line": "a.cu:3",
            "access": "global atomic",
            "model": [1, 2],
            "-O0": [0, 0],
            "-O3": [0, 0],
        },
        {"line": "a.cu:4", "access": "shared read", "model": [0, 0], "-O0": [0, 0], "-O3": [3, 4]},
    ]
