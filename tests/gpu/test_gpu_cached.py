"""The machine with a cache that stands for a card, and what is kept of its predictions."""

import re
from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from benchmarks.laboratory.cached_machine import section as cached
from benchmarks.laboratory.predictions import NEAR, Predictions
from mmsim.errors import FormatError
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu import consecutive
from mmsim_algorithms.gpu.cache_calibrated import (
    CHOSEN,
    RULES,
    Measured,
    cached_machine,
    cached_numbers,
    milliseconds,
)
from mmsim_algorithms.gpu.cached_predictions import COUNTS, KEPT, TIMES, Machines, predicted, tasks
from mmsim_algorithms.gpu.consecutive import taken
from mmsim_algorithms.gpu.kept import Results, errors, launched, pick
from mmsim_algorithms.gpu.kernel_sets import SETS
from mmsim_algorithms.gpu.launched import QUICK, SIDE
from mmsim_algorithms.gpu.permuting import SEVERAL
from mmsim_algorithms.gpu.steps import Step
from tests.kit.cards.played import after_launches

KEPT_RESULTS = Results.read()


def measured(record=KEPT_RESULTS["cache"]):
    return Measured(record, KEPT_RESULTS.card)


def changed(number, **fields):
    """The kept record with other fields in the rows of a number."""
    record = KEPT_RESULTS["cache"]
    rows = [{**row, **fields} if row["number"] == number else row for row in record.rows]
    return replace(record, rows=tuple(rows))


def test_each_number_comes_of_its_row():
    """By hand, of the kept record; a time unit is a tenth of a picosecond."""
    of = measured()
    found = {rule.name: rule.value(of) for rule in RULES}
    hit = of.row("random write hits")
    assert found["tag_time"] == round(10 * of.row("random read hits")["ps"])
    assert found["write_time"] == round(
        10 * hit["ps"] * hit["counted"] / hit["lts__t_tag_requests.sum"]
    )
    partial = of.row("partial writes", words=1)
    fills = partial["dram__sectors_read.sum"] / partial["counted"]
    assert found["fill_time"] == round(10 * (partial["ps"] - hit["ps"]) / fills)
    assert found["memory_time"] == round(
        20 * (of.row("memory, reads")["ps"] + of.row("memory, writes")["ps"])
    )
    for number, prefix in (("multiprocessors", ""), ("multiprocessors, written", "write_")):
        lines, in_turn = (of.row(number, blocks=1, stride=stride) for stride in (32, 1))
        assert found[f"{prefix}port_time"] == round(10 * lines["ps"])
        assert found[f"{prefix}wire_time"] == round(40 * in_turn["ps"])
    assert found["global_latency"] + found["miss_latency"] == pytest.approx(
        10 * of.row("miss latency")["ps"], abs=1
    )
    assert (found["fetch"], found["under_way"], found["resident"]) == (2, 32, 2048)
    assert found["capacity"] == 60 * 2**20
    one, many = (
        of.row("atomics", words_of_a_line=1, lines=lines)["ps"] for lines in (1, 60 * 2**20 // 1024)
    )
    assert found["atomic_time"] == round(10 * one)
    assert found["slices"] == round(one / many)


@pytest.mark.parametrize(
    ("number", "name"),
    [
        *(("random read hits", "tag_time"), ("read hits", "sector_time")),
        *(("write hits", "cross_time"), ("memory, reads", "memory_time")),
        *(("runs, read", "row_time"), ("partial writes", "fill_time")),
        *(("hit latency", "global_latency"), ("miss latency", "miss_latency")),
        *(("multiprocessors", "port_time"), ("multiprocessors", "wire_time")),
        ("multiprocessors, written", "write_port_time"),
        *(("multiprocessors, written", "write_wire_time"), ("atomics", "atomic_time")),
    ],
)
def test_a_slower_point_makes_a_slower_number(number, name):
    (rule,) = [rule for rule in RULES if rule.name == name]
    slower = changed(number, ps=1e6)
    assert rule.value(measured(slower)) > rule.value(measured())


def test_a_record_that_lacks_a_row_is_refused():
    record = KEPT_RESULTS["cache"]
    for left in ("hit latency", "fetches"):
        rows = tuple(row for row in record.rows if row["number"] != left)
        with pytest.raises(FormatError, match=left):
            cached_machine(replace(record, rows=rows), KEPT_RESULTS.card)
    with pytest.raises(FormatError, match="no time"):
        cached_machine(changed("hit latency", ps=None), KEPT_RESULTS.card)
    none = changed("random write hits", **{"lts__t_tag_requests.sum": None})
    with pytest.raises(FormatError, match="lts__t_tag_requests"):
        cached_machine(none, KEPT_RESULTS.card)


def test_the_machine_has_all_numbers():
    machine = cached_machine(KEPT_RESULTS["cache"], KEPT_RESULTS.card)
    numbers = cached_numbers(KEPT_RESULTS["cache"], KEPT_RESULTS.card)
    assert set(CHOSEN) <= set(numbers) <= {rule.name for rule in RULES} | set(CHOSEN)
    assert all(getattr(machine, name) == number for name, number in numbers.items())
    assert milliseconds([10**10, 0], KEPT_RESULTS.card) == pytest.approx(
        1 + 2 * KEPT_RESULTS.card.launch_ns * 1e-6
    )


def test_the_page_explains_each_number():
    """In the order of the rules; those that the record doesn't show have no line."""
    page = cached(KEPT_RESULTS).partition("\nNot measured: ")[0]
    lines = re.findall(r"^\| (\w+) \| ([\d., ]+) \| \w.* \|$", page, re.M)
    shown = [rule for rule in RULES if rule.value(measured()) is not None]
    assert [name for name, _ in lines] == [rule.name for rule in shown]
    assert dict(lines)["tag_time"] == f"{measured().ps('random read hits'):.1f}"


@mm.program
def doubled(T, a, b, n):
    b[T.id] = a[T.id] * n


def small(**numbers):
    return mm.Cached(2, 8, 20, sectors=4, miss_latency=100, halves=2, **numbers)


def test_launches_find_what_others_left_if_they_are_timed():
    """b is where the first launch left it, and a, which the second one writes, is elsewhere."""
    arrays = {"a": np.arange(16), "b": np.zeros(16, int), "c": np.zeros(16, int)}
    steps = [Step(doubled, (*names, 2), 16, 8) for names in (("a", "b"), ("b", "c"), ("c", "a"))]
    machine = small(capacity=1024, ways=4)
    timed, alone = (taken(machine, steps, arrays, timed=one) for one in (True, False))
    reads = [[one.rows[0].memory_reads for one in found] for found in (timed, alone)]
    assert reads == [[8, 0, 0], [8, 8, 8]]
    written = sum(row.memory_writes for one in timed for row in one.rows)
    assert written > 0  # lines of the other array make room
    assert sum(row.memory_writes for one in alone for row in one.rows) == 0
    assert arrays["b"].sum() == 0


@mm.program
def exchanged(T, a, b):
    b[T.id] = mm.atomic.exch(a, T.id // 2, T.id)


@pytest.mark.parametrize("timed", [True, False])
def test_launches_whose_atomics_are_ordered_find_what_others_left_too(timed):
    """The second and third find a and b; the fourth, which orders nothing, does so, too."""
    arrays = {name: np.zeros(16, int) for name in "abc"}
    steps = [Step(exchanged, ("a", "b"), 16, 8)] * 3 + [Step(doubled, ("b", "c", 2), 16, 8)]
    found = taken(small(capacity=1024, ways=4), steps, arrays, timed=timed)
    times = [one.time for one in found]
    reads = [sum(row.memory_reads for row in one.rows) for one in found]
    if timed:
        assert times[0] > times[1] == times[2]
        assert reads == [4, 0, 0, 0]
    else:
        assert times[0] == times[1] == times[2]
        assert reads == [4, 4, 4, 8]


@pytest.mark.parametrize("ways", [1, 4])
def test_both_engines_leave_the_same_to_the_next_launch(monkeypatch, ways):
    steps = [Step(doubled, (*names, 2), 16, 8) for names in (("a", "b"), ("b", "c"), ("c", "a"))]
    arrays = {name: np.arange(16) for name in "abc"}
    machine = small(capacity=256, ways=ways, fetch=2, memory_time=3, fill_time=2, cross_time=1)
    found = taken(machine, steps, arrays, timed=True)
    run = consecutive.launch
    monkeypatch.setattr(consecutive, "launch", lambda one, *rest: run(one, "events", *rest[1:]))
    assert taken(machine, steps, arrays, timed=True) == found


TOGETHER = (
    *("warps", "normal, shared memory", "doubles", "integers"),
    *("doubles, a warp a row", "doubles, shared tiles", "a merge", "floats, blocks"),
)
"""Data of the kernels whose threads exchange words, meet at barriers or use shared atomics."""


@pytest.mark.parametrize(
    "case",
    [
        case
        for which in ("unseen", "third")
        for case in SETS[which].cases(QUICK)
        if case.data in TOGETHER
    ],
    ids=lambda case: case.data,
)
def test_threads_that_work_together_run_on_a_machine_with_a_cache(case):
    """With the arrays that NumPy computes; each launch asks for sectors."""
    machine = mm.Cached(4, 32, 20, sectors=8, miss_latency=100, capacity=1 << 16, ways=4)
    launched = case.make()
    runs, arrays = after_launches(machine, launched, engine="array")
    assert all(sum(row.sectors for row in run.cache) > 0 for run in runs)
    assert all((arrays[one] == words).all() for one, words in launched.expected.items())


@pytest.mark.parametrize("which", list(SETS))
def test_times_and_counts_of_all_kernels_are_predicted(which):
    about = [(task.what, task.group.about) for task in tasks(which)]
    own = [{**case.about, "side": SIDE} for case in SETS[which].cases(SIDE)]
    for what in (TIMES, COUNTS):
        got = [group for one, group in about if one == what]
        assert sorted(map(str, got)) == sorted(map(str, own))


def kept(which):
    return Record.read(KEPT / f"{which}.json")


PREDICTED = [which for which in ("icpp", *SETS) if (KEPT / f"{which}.json").exists()]


@pytest.mark.parametrize("which", PREDICTED)
def test_predictions_are_kept_with_their_machine(which):
    record = kept(which)
    assert record.facts["machine"] == repr(Machines.kept().cached)
    assert (KEPT / f"{which}.json").read_text() == record.to_json()
    assert record.experiment == f"{which}-cached"


def test_small_launches_are_counted_as_they_are_kept():
    machines = Machines.kept()
    rows = list(kept("icpp").rows)
    for task in list(tasks("icpp", [256])):
        about = task.group.about
        if task.what == COUNTS and (about["algorithm"], about["type"]) == ("S-designated", "float"):
            assert predicted(task, machines) == [
                row for row in rows if task.about.items() <= row.items()
            ]


@pytest.mark.long
def test_small_times_are_what_is_kept():
    machines = Machines.kept()
    rows = list(kept("icpp").rows)
    for task in list(tasks("icpp", [256])):
        if task.what == TIMES:
            (now,) = predicted(task, machines)
            (then,) = [row for row in rows if task.about.items() <= row.items()]
            assert now["predicted"] == then["predicted"]


@pytest.mark.parametrize("which", [one for one in SETS if one in PREDICTED])
def test_the_times_of_kernels_are_those_that_are_kept(which):
    known = {
        (row["kernel"], row["data"]): row["predicted"]
        for row in kept(which).rows
        if row["what"] == TIMES
    }
    rows = KEPT_RESULTS[SETS[which].experiment].rows
    assert {(row["kernel"], row["data"]): row["predicted"] for row in rows} == known


def test_the_permutations_are_predicted_as_the_page_says():
    icpp = Predictions.kept("icpp", KEPT_RESULTS)
    rows = icpp.times()
    assert len(rows) == len(launched(KEPT_RESULTS["ICPP-T2"].rows, SEVERAL)) == 180
    for side, most in ((1024, 0.25), (2048, 0.40), (4096, 0.40), (8192, 0.40)):
        found = errors(pick(rows, sqrt_n=side))
        assert found
        assert max(map(abs, found)) < most
        assert sum(map(abs, found)) / len(found) < 0.15
    text = cached(KEPT_RESULTS)
    assert "Of 180 cells" in text


def test_most_counts_of_the_permutations_are_right():
    launches = Predictions.kept("icpp", KEPT_RESULTS).launches()
    right = {
        title: sum(off is not None and abs(off) <= NEAR for off in (row[title] for row in launches))
        for title in ("L1 sectors", "L2 sectors read", "L2 misses", "crossings")
    }
    assert len(launches) == right["L1 sectors"] == 180
    assert min(right["L2 sectors read"], right["L2 misses"]) > 160
    assert right["crossings"] > 110


def mean_error(which, folder=KEPT):
    found = errors(Predictions.kept(which, KEPT_RESULTS, folder).times())
    assert len(found) == 16
    return sum(map(abs, found)) / len(found)


def test_later_sets_of_kernels_are_predicted_as_the_page_says():
    """Their first predictions are kept, and the page has their errors, too."""
    assert mean_error("third", KEPT / "first") < 0.20
    assert mean_error("unseen", KEPT / "first") < 0.201
    text = cached(KEPT_RESULTS)
    for which in ("unseen", "third"):
        assert mean_error(which) < 0.21
        for folder in (KEPT, KEPT / "first"):
            assert f"{mean_error(which, folder):.2%}" in text
    assert " ".join(text.split()).count("This is not the first prediction. ") == 2


def test_most_hit_rates_are_near():
    """Within 5 points, and 5% of few launches of each set are not."""
    for which, few in (("icpp", 0.05), ("kernels", 0.15), ("unseen", 0.1), ("third", 0.15)):
        rates = Predictions.kept(which, KEPT_RESULTS).hit_rates()
        assert len(rates) > 20
        assert sum(abs(one) > NEAR for one in rates) <= few * len(rates)
