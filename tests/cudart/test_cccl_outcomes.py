"""The outcomes on algorithms of CUB and Thrust, and the page that counts them."""

import json
import re

import pytest

from tests.kit import ROOT

FOLDER = ROOT / "tests" / "cudart" / "programs"
DATA = json.loads(
    (ROOT / "benchmarks" / "results" / "cuda-c" / "cccl.json").read_text(encoding="utf-8")
)
PAGE = (ROOT / "docs" / "reference" / "cuda-c.md").read_text(encoding="utf-8")
CASES = DATA["cases"]
RIGHT = {name for one in CASES if one["right"] for name in one["algorithms"]}
ROWS = {
    "cub_reduce": "`cub::DeviceReduce`, `DeviceSegmentedReduce`",
    "cub_scan": "`cub::DeviceScan`",
    "cub_select": "`cub::DeviceSelect`, `DevicePartition`, `DeviceRunLengthEncode`, "
    "`DeviceHistogram`, `DeviceAdjacentDifference`",
    "cub_sort": "`cub::DeviceRadixSort`, `DeviceMergeSort`, `DeviceMerge`, `DeviceTopK`",
    "cub_segmented": "`cub::DeviceSegmentedSort`, `DeviceSegmentedRadixSort`",
    "thrust_numbers": "`thrust::transform`, reductions, scans, selections, moves",
    "thrust_order": "`thrust::sort`, `merge`, searches, operations of sets",
    "device_scope": "`cooperative_groups`, `cuda::barrier`, `cuda::pipeline`, `cuda::atomic_ref`",
}
LARGE = 1 << 20
FINDINGS = [
    "RunLengthEncode::NonTrivialRuns",
    "MergeSort::SortKeys",
    "MergeSort::StableSortPairs",
    "Merge::MergeKeys",
    "stable_sort",
    "merge",
    "set_union",
    "set_intersection",
    "set_difference",
    "set_symmetric_difference",
]


def of(program):
    return [one for one in CASES if one["program"] == program]


def algorithms(cases):
    return len({name for one in cases for name in one["algorithms"]})


def tiles(program):
    """The elements of the tile of each case."""
    text = (FOLDER / f"{program}.cu").read_text("utf-8")
    return {name: int(tile) for name, tile in re.findall(r'\{"([^"]+)", (\d+), ', text)}


def around(key):
    """The cases with a size on each side of their tile, and the tile, in such a list of sizes."""
    return [
        one
        for one in CASES
        for tile in [tiles(one["program"])[one["case"]]]
        if {tile - 1, tile, tile + 1} <= {*one[key]}
    ]


@pytest.mark.parametrize("program", ROWS)
def test_a_row_of_the_table_has_the_numbers_of_the_outcomes(program):
    (row,) = re.findall(rf"^\| {re.escape(ROWS[program])} \|(.*)\|$", PAGE, re.MULTILINE)
    own = of(program)
    given = (own, *([one for one in own if one[key]] for key in ("right", "engines", "checker")))
    assert [int(cell) for cell in row.split("|")] == [algorithms(part) for part in given]


def test_the_text_has_the_numbers_of_the_outcomes():
    text = " ".join(PAGE.split())
    large = [one for one in CASES if one["seconds"] is not None]
    assert f"call {algorithms(CASES)} algorithms" in text
    assert len(RIGHT) == algorithms(CASES)
    assert f"one more) {algorithms(around('right'))} were tried" in text
    assert f"{algorithms(around('checker'))} of these checked" in text
    assert f"At 2^20 elements, {algorithms(large)} were tried" in text
    seconds = sorted(one["seconds"] for one in large)
    assert f"between {seconds[0]} and {seconds[-1]} seconds" in text
    assert all(LARGE in one["right"] for one in large)
    both = [one for one in large if LARGE in one["engines"] and LARGE in one["checker"]]
    assert f"{algorithms(both)} of these were checked there, too, and ran on both engines" in text
    assert [one["case"] for one in CASES if one["findings"]] == FINDINGS


def test_the_cases_are_those_of_the_programs():
    assert {one["program"] for one in CASES} == ROWS.keys()
    for program in ROWS:
        assert list(tiles(program)) == [one["case"] for one in of(program)]
