"""The page about CUDA C++ says what the kept measurements on a card say."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "benchmarks/results/cuda-c/card.json").read_text("utf-8"))
PAGE = " ".join((ROOT / "docs/reference/cuda-c.md").read_text("utf-8").split())

KINDS = ("random kernels", "newer random kernels")


def test_the_page_has_the_numbers_of_the_record():
    random, newer = (RECORD[name] for name in KINDS)
    known = RECORD["kernels with known results"]
    assert f"On an {RECORD['device']}, on {known['date']}," in PAGE
    assert f"{known['as expected']} of {known['runs']}, from CUDA C++ and from PTX" in PAGE
    kernels, equal = f"{random['kernels']:,}", f"{random['equal to the bit']:,}"
    assert f"Of {kernels} random kernels {equal} left the same bits" in PAGE
    assert f"the model, on {random['date']}." in PAGE
    assert f"Of {newer['kernels']:,} further random kernels, on {newer['date']}," in PAGE
    assert f"{newer['equal to the bit']:,} left the same bits" in PAGE


@pytest.mark.parametrize("name", KINDS)
def test_the_record_gives_a_reason_for_each_difference(name):
    random = RECORD[name]
    why = [one["why"] for one in random["differing"]]
    assert len(why) == random["kernels"] - random["equal to the bit"]
    assert set(why) == random["why"].keys()
    assert random["equal on both engines"] == random["kernels"]


def test_the_page_has_the_mistake_of_the_assembler():
    (mistake,) = RECORD["mistakes of the assembler"]
    assert f"`{mistake['code']}`" in PAGE
