"""The outcomes on GPUVerify's kernels, and the page that counts them."""

import json
import re
from collections import Counter

import pytest

from tests.kit import ROOT

DATA = json.loads(
    (ROOT / "benchmarks" / "results" / "cuda-c" / "gpuverify.json").read_text(encoding="utf-8")
)
PAGE = " ".join((ROOT / "docs" / "reference" / "cuda-c.md").read_text(encoding="utf-8").split())
KERNELS = DATA["kernels"]
WHY = Counter(one["why"] for one in KERNELS)
OUTCOMES = Counter(one["proved"] for one in KERNELS)


def agrees(verdict, label):
    return verdict == label.partition(":")[0]


def test_a_disagreement_has_a_reason_and_nothing_else_has_one():
    for one in KERNELS:
        assert agrees(one["verdict"], one["label"]) == (not one["why"]), one["name"]
        assert bool(one["finding"]) == (one["verdict"] == "xfail"), one["name"]


def test_a_kernel_is_counted_or_left_out():
    names = [one["name"] for one in KERNELS]
    assert len(names) + len(DATA["left_out"]) == 183
    assert not {*names} & {*DATA["left_out"]}


@pytest.mark.parametrize(
    ("row", "number"),
    [
        ("without calls of GPUVerify's functions", len(KERNELS)),
        ("the checker agrees with the label", WHY[""]),
        ("two threads write equal values", WHY["equal values"]),
        ("what GPUVerify's front end doesn't support", WHY["GPUVerify's front end"]),
        ("NVRTC compiles no texture references", WHY["not compiled"]),
        ("takes a pointer that was a number", WHY["null pointer"]),
        ("a read whose value nothing uses", WHY["unused value"]),
    ],
)
def test_the_table_has_the_numbers_of_the_outcomes(row, number):
    (found,) = re.findall(rf"{re.escape(row)}[^|]*\| (\d+) \|", PAGE)
    assert int(found) == number


def test_the_text_has_the_numbers_of_the_outcomes():
    agreed, own = WHY[""], WHY["GPUVerify's front end"]
    parts = (100 * agreed / len(KERNELS), 100 * agreed / (len(KERNELS) - own))
    optimized = sum(agrees(one["optimized"], one["label"]) for one in KERNELS)
    decided = 100 * (OUTCOMES["yes"] + OUTCOMES["no"]) / len(KERNELS)
    proved = [one for one in KERNELS if one["proved"] == "yes" and agrees("xfail", one["label"])]
    refuted = [one for one in KERNELS if one["proved"] == "no" and agrees("pass", one["label"])]
    assert all(one["why"] for one in (*proved, *refuted))
    for text in (
        f"Of these, {len(KERNELS)} call none",
        f"on {DATA['made']['date']}.",
        "The agreement is {:.0f}%, and {:.0f}% without".format(*parts),
        f"agrees with {optimized} labels",
        f"proves {OUTCOMES['yes']} of the {len(KERNELS)} kernels",
        f"and refutes {OUTCOMES['no']}: it decides {decided:.0f}%.",
        f"Of those that are proved, {len(proved)} have the label `xfail`",
        f"of those that are refuted, {len(refuted)} has the label `pass`.",
        f"All {len(proved) + len(refuted)} are",
    ):
        assert text in PAGE


def test_no_kernel_with_a_finding_is_proved_and_each_that_is_refuted_has_one():
    for one in KERNELS:
        assert one["proved"] != ("yes" if one["finding"] else "no"), one["name"]


def test_the_rows_of_the_table_are_all_kernels():
    assert sum(WHY.values()) == len(KERNELS)
    assert {one["proved"] for one in KERNELS} <= {"yes", "no", "undecided"}
