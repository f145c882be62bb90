"""The outcomes of programs of courses and benchmarks, and the page that counts them."""

import json
import re
from collections import Counter

import pytest

from tests.kit import ROOT

DATA = json.loads(
    (ROOT / "benchmarks" / "results" / "cuda-c" / "courses.json").read_text(encoding="utf-8")
)
PAGE = " ".join((ROOT / "docs" / "reference" / "cuda-c.md").read_text(encoding="utf-8").split())
SUITES, PROGRAMS, LEFT_OUT = DATA["suites"], DATA["programs"], DATA["left_out"]
VERDICTS = ("success", "mistake", "stopped", "failure")


def test_each_program_is_tried_once():
    names = [(one["suite"], one["name"]) for one in PROGRAMS]
    assert len({*names}) == len(names)
    assert {one["suite"] for one in PROGRAMS} == {*SUITES}
    assert {name.partition(":")[0] for name in LEFT_OUT} <= {*SUITES}


def test_a_program_that_does_not_succeed_has_a_reason_and_no_other_has_one():
    for one in PROGRAMS:
        assert one["verdict"] in VERDICTS, one["name"]
        assert (one["verdict"] == "success") == (not one["why"]), one["name"]


@pytest.mark.parametrize("suite", [*SUITES, "all"])
def test_the_table_has_the_numbers_of_the_outcomes(suite):
    own = [one for one in PROGRAMS if suite in (one["suite"], "all")]
    verdicts = Counter(one["verdict"] for one in own)
    title = "all" if suite == "all" else f"[{SUITES[suite]['name']}]({SUITES[suite]['address']})"
    (row,) = re.findall(rf"\| {re.escape(title)} \|((?: \d+ \|){{6}})", PAGE)
    found = sum(bool(one["findings"]) for one in own)
    assert [*map(int, row.split("|")[:6])] == [
        len(own),
        *(verdicts[one] for one in VERDICTS),
        found,
    ]


def test_the_text_names_what_did_not_succeed_and_counts_what_was_left_out():
    assert f"by hand on {DATA['made']['date']}" in PAGE
    for why, number in Counter(LEFT_OUT.values()).items():
        assert f"{number} {why}" in PAGE, why
    for one in PROGRAMS:
        if one["verdict"] != "success" or one["findings"]:
            assert f"`{one['name'].rpartition('/')[2]}`" in PAGE, one["name"]
