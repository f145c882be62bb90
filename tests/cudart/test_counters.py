"""Counts of a card's profiler for kernels of CUDA C++, line by line, and those of the model."""

import json
from pathlib import Path

import pytest

from tests.kit.cards.count_on_gpu import LEVELS, compared, of_card, predicted, rows
from tests.kit.cards.counted import Assembled, Place, disassembled, launches, of_model, tiles
from tests.kit.cards.unseen import CASES as UNSEEN

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "benchmarks/results/cuda-c/counters.json").read_text("utf-8"))
PAGE = " ".join((ROOT / "docs/reference/cuda-c.md").read_text("utf-8").split())
COUNTED = {one["launch"]: one for one in RECORD["launches"]}
OTHERS = {
    one["launch"]: one
    for one in json.loads((ROOT / "benchmarks/results/cuda-c/unseen.json").read_text("utf-8"))[
        "launches"
    ]
}
"""The counts of kernels as others write them."""
KERNELS = [name for name in launches() if name.count("-") == 1]
"""The launches of different kernels; the others are theirs with other strides."""
BARRIERS = "cuda/__ptx/instructions/generated/mbarrier_"
REASONS = {
    "bypass": {"cuda_pipeline_helpers.h:201"},
    "source": {"pipelines.cu:56"},
    "zeros": {"pipelines.cu:44"},
    "barrier": {f"{BARRIERS}{one}" for one in ("arrive.h:38", "init.h:17", "try_wait.h:18")},
    "order": {"locks.cu:22"},
}
"""The lines whose counts differ, by the reason on the page."""
DIFFERING = {
    "bypass": {"sectors"},
    "source": {"wavefronts"},
}
"""The only counts that differ for a reason."""
GENERIC = ("singles", "double")
"""The tiles whose accesses of wmma the assembler leaves generic: no line has their counts."""


def differing(row, level, counted="model"):
    """The names of the counts in which the card differs from the model, or from what it predicted.

    The requests of local memory are compared with the hardware's counter: see `hardware_agrees`.
    """
    memory, kind = row["access"].split()
    names = Place("", 0, memory, kind).counted
    both = zip(names, row[level], row.get(counted, row["model"]), strict=True)
    unequal = {name for name, card, model in both if card is not None and card != model}
    return unequal - {"requests"} if memory == "local" else unequal


def of(names, level):
    """The counts of all lines of some launches, and those that differ."""
    lines = [row for name in names for row in COUNTED[name]["lines"]]
    return lines, [row for row in lines if differing(row, level)]


def some_long(names, quick):
    """Parameters of a test, of which only some are quick."""
    return [one if one in quick else pytest.param(one, marks=pytest.mark.long) for one in names]


FEW_TILES = [one for one in tiles() if "row" in one and one.endswith(("16", "_8"))]


@pytest.mark.filterwarnings("ignore:.*printf does nothing")
@pytest.mark.parametrize(
    "name", some_long(launches(), [*(launches().keys() - tiles().keys()), *FEW_TILES])
)
def test_the_model_counts_what_is_kept(name):
    kept = [(row["line"], row["access"], row["model"]) for row in COUNTED[name]["lines"]]
    model = of_model(launches()[name])
    found = [(row["line"], row["access"], row["model"]) for row in rows(model, [{}, {}])]
    assert found == [row for row in kept if any(row[2])]


def test_each_launch_was_counted():
    assert list(COUNTED) == [*launches()]
    assert list(OTHERS) == [*UNSEEN]


def test_a_difference_in_a_kernel_as_it_is_written_has_a_reason():
    _, wrong = of(launches().keys() - tiles().keys(), "-O0")
    for row in wrong:
        (reason,) = (reason for reason, lines in REASONS.items() if row["line"] in lines)
        assert differing(row, "-O0") == DIFFERING.get(reason, differing(row, "-O0"))
    assert {row["line"] for row in wrong} == set.union(*REASONS.values())


def test_no_request_is_unknown_in_a_kernel_as_it_is_written():
    lines, _ = of(launches(), "-O0")
    assert all(None not in row["-O0"] for row in lines)


def hardware_agrees(launch, one):
    """Assert that the hardware's counters of a launch have the sums of its lines, or one more.

    In local memory it counts the model's requests: one for each word.
    """
    for counter, value in one["hardware, -O0"].items():
        access, name = counter.rsplit(" ", 1)
        lines = [row for row in one["lines"] if row["access"] == access]
        if access.startswith("local") and not lines:
            continue  # what the model has in registers
        total = 0
        for row in lines:
            is_missing = launch.startswith(GENERIC) and not any(row["-O0"])
            counts = row["model" if is_missing or access.startswith("local") else "-O0"]
            total += counts[Place("", 0, *access.split()).counted.index(name)]
        assert total <= value <= total + 1, (launch, counter)


def is_compared(launch):
    """Return whether a launch's lines have all that the hardware counts of it."""
    if launch.startswith(("staging", "printing", "pipelines")):
        return False  # the copies, and what printf writes, are not among the lines
    return launch != "locks-swapped_sum"  # each run of it takes another number of turns


def test_the_counters_of_the_hardware_agree_with_the_profilers():
    """They count whole launches; now and then one wavefront more."""
    for launch, one in (COUNTED | OTHERS).items():
        if is_compared(launch):
            hardware_agrees(launch, one)


def test_the_hardware_counts_the_requests_of_each_launch_with_local_memory():
    found = 0
    for launch, one in (COUNTED | OTHERS).items():
        rows_of = [row for row in one["lines"] if row["access"].startswith("local")]
        found += len(rows_of)
        assert not rows_of or (
            is_compared(launch) and "local read requests" in one["hardware, -O0"]
        )
    assert found > 20


def test_the_page_has_the_numbers_of_the_record():
    dates = sorted({one["date"] for one in RECORD["launches"]})
    assert f"On an {RECORD['device']}, on {' and '.join(dates)}," in PAGE
    assert f"{len(KERNELS)} kernels" in PAGE
    for level in LEVELS:
        lines, wrong = of(KERNELS, level)
        assert f"`{level}` | {len(lines)} | {len(lines) - len(wrong)} |" in PAGE
    _, as_written = of(KERNELS, "-O0")
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


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", tiles())
def test_a_tile_takes_the_models_wavefronts(name, level):
    lines = [row for row in COUNTED[name]["lines"] if row["line"].startswith("crt/mma.hpp")]
    assert len(lines) == (2 if name.startswith(("float", "half", "double_")) else 1)
    for row in lines:
        if name.startswith(GENERIC):
            assert row[level] == [0, 0]  # see the hardware's counters
        else:
            assert row[level][1] == row["model"][1]
        assert f"| {row['model'][1]} |" in PAGE


def test_unseen_kernels_take_what_was_predicted():
    """A prediction that isn't what the model counts today is kept next to that."""
    lines = [row for one in OTHERS.values() for row in one["lines"]]
    wrong = [row for row in lines if differing(row, "-O0", "predicted")]
    assert all(differing(row, "-O0", "predicted") == {"groups"} for row in wrong)
    assert [row for row in lines if "predicted" in row] == wrong
    assert f"With `-O0` the {len(wrong)} others" in PAGE
    kernels = len({(one.file, one.function) for one in UNSEEN.values()})
    assert f"{kernels} kernels in {len(OTHERS)} launches" in PAGE
    for level in LEVELS:
        equal = [
            sum(not differing(row, level, counted) for row in lines)
            for counted in ("predicted", "model")
        ]
        assert f"`{level}` | {len(lines)} | {equal[0]} | {equal[1]} |" in PAGE


FEW_UNSEEN = {one.file: name for name, one in UNSEEN.items()}


@pytest.mark.parametrize("name", some_long(UNSEEN, FEW_UNSEEN.values()))
def test_the_model_counts_what_is_kept_of_unseen_kernels(name):
    kept = [row for row in OTHERS[name]["lines"] if any(row["model"])]
    found = compared(UNSEEN[name], [], {})["lines"]
    assert [(row["line"], row["access"], row["model"]) for row in kept] == [
        (row["line"], row["access"], row["model"]) for row in found
    ]


def test_a_prediction_keeps_what_a_card_counted():
    name = "vector_add-vector_add"
    kept = COUNTED[name]
    older = [row | {"model": [0] * len(row["model"])} for row in kept["lines"]]
    assert predicted(launches()[name], kept | {"lines": older}) == kept


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
