"""The outcomes of NVIDIA's samples, and the page that counts them."""

import json
import re
from collections import Counter

import pytest

from tests.kit import ROOT

DATA = json.loads(
    (ROOT / "benchmarks" / "results" / "cuda-c" / "samples.json").read_text(encoding="utf-8")
)
PAGE = " ".join((ROOT / "docs" / "reference" / "cuda-c.md").read_text(encoding="utf-8").split())
SAMPLES, LEFT_OUT = DATA["samples"], DATA["left_out"]
VERDICTS = Counter(one["verdict"] for one in SAMPLES)
WHY = Counter(LEFT_OUT.values())


def test_each_sample_is_tried_or_left_out_once():
    names = [one["name"] for one in SAMPLES]
    assert len({*names}) == len(names)
    assert not {*names} & {*LEFT_OUT}
    assert len(names) + len(LEFT_OUT) == DATA["made"]["samples"]


def test_a_sample_that_does_not_succeed_has_a_reason_and_no_other_has_one():
    assert {*VERDICTS} <= {"success", "waived", "stopped", "failure", "untried"}
    for one in SAMPLES:
        assert (one["verdict"] == "success") == (not one["why"]), one["name"]
        assert (one["verdict"] == "untried") == (one["seconds"] is None), one["name"]
        assert one["seconds"] is None or one["seconds"] < 600, one["name"]


@pytest.mark.parametrize(
    ("row", "number"),
    [
        ("need only the runtime and one GPU", len(SAMPLES)),
        ("end with their own success", VERDICTS["success"]),
        ("end because the device lacks what they need", VERDICTS["waived"]),
        ("were stopped before their end", VERDICTS["stopped"]),
        ("fail", VERDICTS["failure"]),
        ("were not tried", VERDICTS["untried"]),
    ],
)
def test_the_table_has_the_numbers_of_the_outcomes(row, number):
    (found,) = re.findall(rf"\| {re.escape(row)}[^|]*\| (\d+) \|", PAGE)
    assert int(found) == number


def test_the_text_has_the_numbers_of_the_outcomes():
    checked = [one for one in SAMPLES if one["findings"] is not None]
    found = [one["name"] for one in checked if one["findings"]]
    for text in (
        f"Of its {DATA['made']['samples']} samples",
        f"on {DATA['made']['date']}",
        *(f"{number} {why}" for why, number in WHY.items()),
        f"`--check` was tried on {len(checked)} of them",
        f"It found something in {len(found)}",
        *(f"`{name}`" for name in found),
        *(f"`{one['name']}`" for one in SAMPLES if one["verdict"] != "success"),
    ):
        assert text in PAGE, text
