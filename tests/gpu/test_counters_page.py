"""The page of counters: what is predicted of each launch, next to what the card counted of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.laboratory import counters_page, predictions
from benchmarks.laboratory.cached_machine import section as cached
from benchmarks.laboratory.predictions import COUNTED, TITLES, Predictions, reason, wrong
from mmsim.gpu.record import Record
from mmsim.ir import nodes
from mmsim.ir.walk import accesses
from mmsim.results.cache import RESOURCES
from mmsim_algorithms.gpu import cached_predictions
from mmsim_algorithms.gpu.cached_predictions import KEPT, Machines
from mmsim_algorithms.gpu.consecutive import Taken
from mmsim_algorithms.gpu.kept import FOLDER, Results
from mmsim_algorithms.gpu.kernel_sets import of_each_kind
from tests.kit.views.markdown import lines

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = Results.read()


@cache
def text():
    return plain(counters_page.page(RESULTS))


def plain(page):
    """With plain spaces."""
    return page.replace("\N{NO-BREAK SPACE}", " ")


def section(title, level="###"):
    return re.split(
        rf"^#{{2,{len(level)}}} ", text().partition(f"{level} {title}\n")[2], flags=re.M
    )[0]


def rows_of(file):
    return json.loads(file.read_text(encoding="utf-8"))["rows"]


def only(rows, **about):
    about = {name.replace("_", " "): value for name, value in about.items()}
    (row,) = (row for row in rows if about.items() <= row.items())
    return row


def test_the_page_is_what_the_results_make_it():
    saved = (DOCS / "metal-counters.md").read_text(encoding="utf-8")
    assert saved == counters_page.page(RESULTS), "run make metal"


def test_the_page_about_the_card_leads_to_it():
    assert "](metal-counters.md)" in (DOCS / "metal.md").read_text(encoding="utf-8")
    assert "](metal-counters.md#the-kernels)" in (DOCS / "metal.md").read_text(encoding="utf-8")
    assert "\n## The kernels\n" in text()


def test_the_values_of_a_launch_are_those_that_are_kept():
    """By hand: predicted / counted, for each word."""
    about = {"algorithm": "S-designated", "permutation": "random", "type": "double"}
    about["sqrt n"] = side = 512
    own = only(rows_of(KEPT / "icpp.json"), what="counts", **about)
    time = only(rows_of(KEPT / "icpp.json"), what="time", **about)
    card = only(rows_of(FOLDER / "icpp-counters.json"), **about)
    measured = only(rows_of(FOLDER / "ICPP-T2.json"), launch="several words", **about)
    asked = sum(
        card[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"] for op in ("ld", "st", "red")
    )
    expected = [
        (own["sectors asked"], asked),
        (own["tags"], card["lts__t_tag_requests.sum"]),
        (own["sectors read"], card["lts__t_sectors_op_read.sum"]),
        (own["read hits"], card["lts__t_sectors_op_read_lookup_hit.sum"]),
        (own["read misses"], card["lts__t_sectors_op_read_lookup_miss.sum"]),
        (own["crossings"], card["lts__t_sectors_srcunit_ltcfabric.sum"]),
        (own["memory reads"], card["dram__sectors_read.sum"]),
        (own["memory writes"], card["dram__sectors_write.sum"]),
    ]
    (line,) = lines(section(f"√n = {side}"), "S-designated", "random", "double")
    assert [cell.strip("*") for cell in line[6:]] == [
        f"{one / side**2:.3f} / {other / side**2:.3f}" for one, other in expected
    ]
    for cell, (one, other) in zip(line[6:], expected, strict=True):
        assert cell.startswith("**") == (other >= 10_000 and abs(one / other - 1) > 0.05)
    assert line[3] == ""
    times = [float(part) for part in line[4].split(" / ")]
    assert times == pytest.approx([time["predicted"], measured["measured"]], rel=5e-3)
    assert line[5] == time["bound"]


def test_several_launches_have_their_sums_and_the_time():
    found = lines(section("√n = 256"), "scheduled", "all", "float")
    assert [line[3] for line in found] == ["all 5", *"01234"]
    assert found[0][4]
    assert all(line[4] == "" for line in found[1:])
    for place in range(6, len(found[0])):
        values = [[float(one) for one in line[place].strip("*").split(" / ")] for line in found]
        for together, *parts in zip(*values, strict=True):
            assert together == pytest.approx(sum(parts), abs=3e-3)
    rows = rows_of(FOLDER / "ICPP-T2.json")
    times = [
        row["measured"]
        for row in rows
        if row["algorithm"] == "scheduled"
        and (row["type"], row["sqrt n"], row["launch"]) == ("float", 256, "several words")
    ]
    measured = float(found[0][4].split(" / ")[1])
    assert measured == pytest.approx(sum(times) / 5, rel=5e-3)


def test_every_launch_and_every_kernel_has_a_line():
    found = [Predictions.kept(which, RESULTS) for which in ("icpp", *counters_page.KERNELS)]
    icpp, kernels, *later = found
    pairs = [pair for one in (icpp, kernels, *filter(None, later)) for pair in one.pairs()]
    numbered = [line for line in text().splitlines() if re.search(r"\| \d+ \|  \|  \|", line)]
    alone = [
        line for line in text().splitlines() if re.search(r"\|  \| [\d.]+ / [\d.]+ \| [a-z?]", line)
    ]
    assert len(numbered) + len(alone) == len(pairs)
    assert len(icpp.pairs()) == len(icpp.counted)
    for row in kernels.measured:
        assert lines(section("The kernels", "##"), row["kernel"], row["data"])


def test_a_count_that_the_profiler_lacks_is_a_question():
    records = dict(RESULTS.records)
    record = records["kernels-counters"]
    lacking = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"
    rows = tuple({**row, lacking: None} for row in record.rows)
    records["kernels-counters"] = replace(record, rows=rows)
    page = plain(counters_page.page(Results(records)))
    (line,) = lines(page, "stencil", "5 points")
    assert line[5].endswith(" / ?")
    assert "?" not in line[6]
    kernels = Predictions.kept("kernels", Results(records))
    assert all(row["L1 sectors"] is None for row in kernels.launches())


def test_each_count_is_explained():
    assert tuple(counters_page.MEANINGS) == TITLES
    for one in COUNTED:
        (line,) = lines(text(), one.title)
        assert line[2] == " + ".join(f"`{metric}`" for metric in one.metrics)
        assert line[1]


def test_hits_and_misses_mean_the_same_on_both():
    """The sums are near, and as much more than the sectors read."""
    off = []
    for own, card in Predictions.kept("icpp", RESULTS).pairs():
        counted = sum(card[f"lts__t_sectors_op_read_lookup_{one}.sum"] for one in ("hit", "miss"))
        off.append(abs((own["read hits"] + own["read misses"]) / counted - 1))
        if own["permutation"] == "random" and own["algorithm"] == "S-designated":
            more = own["read hits"] + own["read misses"] - own["sectors read"]
            brought = counted - card["lts__t_sectors_op_read.sum"]
            if own["sqrt n"] >= 4096:
                assert more == pytest.approx(brought, rel=0.01)
            if (own["sqrt n"], own["type"]) == (8192, "float"):
                assert f"by {more:,.0f}, predicted, and by {brought:,.0f}," in " ".join(
                    text().split()
                )
    assert f"sums of hits and misses is {sum(off) / len(off):.1%}" in " ".join(text().split())


def test_the_multiprocessors_of_the_card_ask_for_the_same_sectors():
    (asked,) = (one for one in COUNTED if one.title == "L1 sectors")
    for own, card in Predictions.kept("icpp", RESULTS).pairs():
        if own["permutation"] in ("identical", "all", "bit_reversal", "transpose"):
            assert own[asked.field] == asked.counted(card), own


def test_no_launch_uses_the_old_value_of_an_atomic():
    """Another metric would count it: one that returns a value isn't a reduction."""
    steps = [(case.about, step) for case in of_each_kind(64) for step in case.make().steps]
    found = [
        (about, one.target)
        for about, step in steps
        for one in accesses(step.program.code.body)
        if isinstance(one, nodes.Atomic)
    ]
    assert {about["kernel"] for about, _ in found} == {"histogram"}
    assert {target for _, target in found} == {None}


def off(**counts):
    named = {title.replace("_", " "): value for title, value in counts.items()}
    return {**dict.fromkeys(TITLES, 0.0), **named}


def test_a_count_in_the_direction_of_the_time_is_wrong():
    launches = [off(crossings=0.16), off(crossings=-0.1, L2_misses=-0.5, L2_hits=0.9)]
    assert reason(0.2, launches, "tags") == "L2 hits +90% and crossings +16% (L2 misses -50%)"
    assert reason(-0.2, launches, "tags") == "L2 misses -50% (L2 hits +90% and crossings +16%)"


def test_else_the_rate_of_what_binds_is():
    assert reason(0.2, [off(crossings=0.15)], "memory") == "the rate of memory"
    assert reason(0.2, [off(crossings=-0.2)], "latency") == "the latency (crossings -20%)"
    few = [dict.fromkeys(TITLES)]
    assert reason(0.2, few, "ports") == "the rate of ports"
    assert reason(0.2, [], "ports") == "not counted"


@pytest.mark.parametrize("which", ["icpp", "kernels"])
def test_every_time_that_is_far_off_has_a_reason_and_no_other(which):
    predictions = Predictions.kept(which, RESULTS)
    far = [row for row in predictions.times() if abs(row["predicted"] / row["measured"] - 1) > 0.15]
    said = wrong(predictions)
    beginning = f"{len(far)} times are off by more than 15%."
    assert said.startswith(f"{beginning} The columns are as above.\n")
    assert wrong(predictions, explained=True).startswith(f'{beginning} The column "bound by" names')
    table = [line for line in said.splitlines() if line.startswith("|")][2:]
    assert len(table) == len(far)
    for row, line in zip(far, table, strict=True):
        *_, bound, why = (cell.strip() for cell in line.split("|")[1:-1])
        assert bound == row["bound"]
        assert why
    assert said.partition("\n\n")[2] in cached(RESULTS)


def test_without_times_that_are_far_off_nothing_is_said(monkeypatch):
    monkeypatch.setattr(predictions, "FAR", 10.0)
    assert wrong(Predictions.kept("kernels", RESULTS)) == ""


def test_what_binds_launches_is_what_binds_them_longest(monkeypatch):
    """Not what binds the longest of them."""
    found = [Taken(50, ("tags",)), Taken(30, ("wires",)), Taken(40, ("wires",))]
    monkeypatch.setattr(cached_predictions, "taken", lambda *_, **__: found)
    monkeypatch.setattr(cached_predictions, "busy", lambda rows, numbers: rows)
    monkeypatch.setattr(
        cached_predictions, "bound", lambda times, whole, time: times[0] if time > 1 else "?"
    )
    assert Machines.kept().timed([], {})[1] == "wires"
    del found[2]
    assert Machines.kept().timed([], {})[1] == "tags"


def test_every_kept_time_says_what_binds_it():
    for which in ("icpp", "kernels"):
        rows = Record.read(KEPT / f"{which}.json").rows
        binds = {row["bound"] for row in rows if row["what"] == "time"}
        assert binds <= {*RESOURCES, "latency"}
        assert len(binds) > 1
