"""The page about the model and a real GPU is made from the kept results, and is up to date."""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.laboratory.page import TABLES, main, page
from benchmarks.laboratory.rendering import TEMPLATES
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu import kept as kept_module
from mmsim_algorithms.gpu.figures import svg_of
from mmsim_algorithms.gpu.kept import (
    Results,
    contest,
    errors,
    factor,
    launched,
    number,
    pick,
)
from mmsim_algorithms.gpu.permuting import PAPER, SEVERAL, SHORT
from mmsim_algorithms.reports.distributions import kept_distributions

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = Results.read()
TABLE_2 = launched(RESULTS["ICPP-T2"].rows, SEVERAL)


@cache
def text():
    """The page as it is made of the kept results."""
    return page(RESULTS)


def prose():
    """The page's words, in one line."""
    return " ".join(text().split())


# What the page may say in digits of its own: no results, but what the hardware, the model or a
# paper fixes.
FACTS = (
    *("8 words of 4 bytes, each", "a sector serves 4", "a sector takes 4", "4 times the mean"),
    *("multiprocessor 0", "of 4 bytes", "of 8 bytes", "are 8 bytes wide", "be 8 bytes wide"),
    *("4-byte word", "the 64 bytes above", "fetches 64 bytes", "runs of 16 words"),
    *("in 32 banks", "among 32 banks", "over 32 banks", "16 banks", "in one of 16", "16 + 16"),
    *("width 32", "with stride 1", "32 x 32 words", "GTX 680", "Figure 7"),
    *("predicted/measured - 1", "n/2 words apart", "n/32 · (1 + bytes/4) + n/4", "√n = 8192"),
    *("a mean of 15%, none over 40%, and 54 of 60", "aim was 20%", "more than 15%"),
    *("within 15%", "within 5%", "more than 5%", "over 5%"),
)
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w])")


def test_the_page_is_what_the_results_make_it():
    saved = (DOCS / "metal.md").read_text(encoding="utf-8")
    assert saved == text(), "run make metal"


def test_nothing_in_the_wheel_needs_the_laboratory():
    for folder in ("mmsim", "algorithms"):
        for path in (DOCS.parent / folder).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            assert not re.search(r"^\s*(from|import) (benchmarks|jinja2)\b", source, re.M), path


def test_the_page_stands_in_the_readme():
    assert "docs/metal.md" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


TEXTS = [*TEMPLATES.glob("*.md"), *(Path(kept_module.__file__).parent / "texts").glob("*.md")]
"""The pages' prose, with places for numbers."""


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_no_result_is_typed(file):
    left = re.sub(r"{{.*?}}|{%.*?%}|{[^}]*}", "", file.read_text(encoding="utf-8"), flags=re.S)
    left = " ".join(left.split())
    for fact in FACTS:
        left = left.replace(fact, "")
    assert not NUMBER.findall(left), left


def changed(results, **factors):
    """The results with the times of some experiments multiplied."""
    records = dict(results.records)
    for name, times in factors.items():
        record = records[name.replace("_", "-")]
        rows = [
            {**row, "measured": times(index) * number(row, "measured")}
            for index, row in enumerate(record.rows)
        ]
        records[record.experiment] = Record(record.experiment, record.facts, tuple(rows))
    return Results(records)


@pytest.mark.parametrize(
    ("experiment", "beginnings"),
    [
        (
            "CFP_T2",
            ["Over all", "Float: 16", "Double: 16", "The conflict-free"],
        ),
        ("RAP_T3", ["Over all", "Float: 9", "Double: 9", "RAP makes"]),
        ("CFP_F7", ["Many arrays", "The mean absolute error up to"]),
        (
            "ICPP_T2",
            [
                *("At √n = 4096 and 8192 the model", "One algorithm stands out"),
                *("Below √n = 4096", "Random, bit reversal", "The most expensive is"),
                *("It is within", "Today the scheduled", "Scheduled moves"),
                "The fastest algorithm",
            ],
        ),
        ("ICPP_T3", ["One random permutation"]),
    ],
)
def test_other_times_give_other_sentences(experiment, beginnings):
    before = text().split("\n\n")
    after = page(changed(RESULTS, **{experiment: lambda i: 2 + i % 7})).split("\n\n")
    for beginning in beginnings:
        (old,) = [part for part in before if part.startswith(beginning)]
        new = [part for part in after if part.startswith(beginning)]
        assert new != [old], beginning


def test_the_errors_of_shared_memory():
    rows = [*RESULTS["CFP-T2"].rows, *RESULTS["RAP-T3"].rows]
    off = [abs(row["predicted"] / row["measured"] - 1) for row in rows]
    assert f"off by {sum(off) / len(off):.1%} on average and by {max(off):.1%} at most" in prose()


def test_the_errors_of_coalesced_cells():
    large = [row for row in TABLE_2 if row["sqrt n"] >= 4096 and row["coalesced"]]
    everything = [abs(row["predicted"] / row["measured"] - 1) for row in large]
    mean = f"{sum(everything) / len(everything):.1%}"
    assert f"off by {mean} on average over all {len(large)} coalesced cells" in prose()
    shuffle = [
        row["predicted"] / row["measured"] - 1
        for row in large
        if row["permutation"] == "shuffle" and row["algorithm"] == "S-designated"
    ]
    assert f"off by +{min(shuffle):.0%} to +{max(shuffle):.0%}" in prose()
    scheduled = [abs(off) for off in errors(pick(large, algorithm="scheduled"))]
    assert f"| scheduled | {len(scheduled)} |" in text()
    assert f"{sum(scheduled) / len(scheduled):.1%} | {max(scheduled):.1%} |" in text()


def test_the_winners():
    cells = {}
    for row in TABLE_2:
        cells.setdefault((row["type"], row["permutation"], row["sqrt n"]), []).append(row)
    won = [
        (kind, name, side)
        for (kind, name, side), rows in cells.items()
        if min(rows, key=lambda row: row["measured"])["algorithm"] == "scheduled"
    ]
    assert f"wins {len(won)} of {len(cells)} cells" in prose()
    for kind, name, side in won:
        assert f"{name.replace('_', ' ')} ({kind}) at √n = {side}" in prose()


@pytest.mark.parametrize("shape", [SEVERAL, SHORT, PAPER], ids=lambda shape: shape.name)
def test_a_launch_has_each_cell_once(shape):
    rows = launched(RESULTS["ICPP-T2"].rows, shape)
    cells = [(r["type"], r["permutation"], r["sqrt n"], r["algorithm"]) for r in rows]
    sizes = 5 if shape is PAPER else 6
    assert len(cells) == len(set(cells)) == 2 * 5 * 3 * sizes


def test_table_3_is_of_as_many_permutations_as_the_paper_s():
    rows = RESULTS["ICPP-T3"].rows
    assert len({row["seed"] for row in rows}) == 1000 == kept_distributions().count
    for algorithm in ("D-designated", "S-designated", "scheduled"):
        times = [row["measured"] for row in pick(rows, algorithm=algorithm)]
        assert len(times) == 1000
        mean = f"{sum(times) / 1000:.4f}"
        assert mean in next(line for line in text().splitlines() if line.startswith("| average"))


def test_a_contest_has_a_winner_only_where_all_times_are_known():
    rows = [
        {"algorithm": "D-designated", "measured": 3.0, "paper ms": None},
        {"algorithm": "S-designated", "measured": 2.0, "paper ms": 1.0},
        {"algorithm": "scheduled", "measured": 1.0, "paper ms": 1.0},
    ]
    found = contest(rows, lambda row: row["measured"])
    assert (found.winner, found.ahead) == ("scheduled", 2.0)
    assert contest(rows, lambda row: row["paper ms"]) is None


def test_what_the_page_says_in_words_holds():
    steps = RESULTS["CFP-F7"].rows
    for name in ("D-designated", "conflict-free"):  # "It does"
        time = {row["arrays"]: row["measured"] for row in pick(steps, algorithm=name)}
        d = RESULTS.calibration("CFP-F7").multiprocessors
        first = [time[k] for k in time if k <= d]
        assert max(first) / min(first) < 1.05
        assert time[d + 1] / time[d] == pytest.approx(2, rel=0.05)
    large = [row for row in TABLE_2 if row["sqrt n"] >= 4096]
    shuffle = pick(large, permutation="shuffle", algorithm="S-designated")
    others = [row for row in large if row["coalesced"] and row not in shuffle]
    assert min(errors(shuffle)) > max(map(abs, errors(others)))  # "One algorithm stands out"
    casual = [row for row in large if not row["coalesced"]]
    reads = pick(casual, algorithm="S-designated")
    assert min(map(factor, reads)) > 1  # "The model overcharges casual reads"
    flat = pick(RESULTS["CFP-T2"].rows, type="double", algorithm="conflict-free")
    times = [row["measured"] for row in flat]
    assert max(times) > 1.1 * min(times)  # "In double it doesn't"


def test_the_counts():
    rows = RESULTS["counters"].rows
    equal = sum(row["hardware"] == row["model"] for row in rows)
    assert f"{equal} of {len(rows)} counts are equal" in prose()
    assert f"{len(rows) - equal} differ:" in prose()


def test_every_count_that_differs_has_a_reason():
    rows = RESULTS["counters"].rows
    for row in rows:
        assert (row["verdict"] == "equal") == (row["hardware"] == row["model"])
        assert not row["verdict"].startswith("unexplained"), row
    assert len(rows) > 20 * sum(row["verdict"] != "equal" for row in rows)


def test_random_programs():
    rows = RESULTS["random-programs"].rows
    assert f"{len({row['number'] for row in rows})} random programs" in prose()
    assert f"In {sum(row['equal'] for row in rows)} of {len(rows)} every array" in prose()
    for tool, said in RESULTS["random-programs"].facts["sanitizer"].items():
        assert f"| `{tool}` | {said} |" in text()


def test_device_driver_date_and_command_are_named():
    for record in RESULTS.records.values():
        facts = record.facts
        assert f"{facts['device']} (driver {facts['driver']}, CUDA {facts['cuda']})" in prose()
        assert f"| {record.experiment} | `{facts['command']}` | {facts['date']} |" in text()


def test_every_figure_is_there_and_in_the_page():
    assert {file.name for file in (DOCS / "figures").glob("metal-*.svg")} == {
        f"metal-{name}.svg" for name in TABLES
    }
    assert re.findall(r"\]\((figures/[^)]+)\)", text()) == [
        f"figures/metal-{name}.svg" for name in TABLES
    ]


def test_figures_are_drawn_again_like_those_kept_and_the_same_each_time():
    drawn = {f"metal-{name}.svg": svg_of(RESULTS, name) for name in TABLES}
    assert drawn["metal-CFP-T2.svg"] == svg_of(RESULTS, "CFP-T2")
    for name, text in drawn.items():
        new, kept = (
            ElementTree.fromstring(one.encode())
            for one in (text, (DOCS / "figures" / name).read_text(encoding="utf-8"))
        )
        for attribute in ("width", "height"):
            sizes = [float(root.attrib[attribute].removesuffix("pt")) for root in (new, kept)]
            assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_axes_have_their_rows_and_distinguish_them():
    from mmsim_algorithms.gpu.plots import predicted_against_measured, time_of_arrays

    rows = RESULTS["RAP-T3"].rows
    ax = predicted_against_measured(rows, by="transpose", unit="cycles", title="a")
    points = [
        line for line in ax.get_lines() if len(line.get_xdata()) and line.get_marker() != "None"
    ]
    assert sum(len(line.get_xdata()) for line in points) == len(rows)
    assert len({(line.get_marker(), line.get_color()) for line in points}) == 3
    assert ax.get_xlabel() == "measured [cycles]"
    assert re.fullmatch(r"a\nmean absolute error \d\.\d%", ax.get_title())
    ax = time_of_arrays(RESULTS["CFP-F7"].rows, 132)
    flat = [line for line in ax.get_lines() if line.get_marker() == "None"]
    assert len(flat) == 2 * 4  # algorithms and steps
    assert all(len(set(line.get_ydata())) == 1 for line in flat)


def test_the_command_prints_the_page_or_writes_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.laboratory.page.svg_of", lambda *_: "<svg/>")
    main([])
    assert capsys.readouterr().out == text()
    main([str(tmp_path)])
    assert (tmp_path / "metal.md").read_text(encoding="utf-8") == text()
    assert (tmp_path / "metal-counters.md").exists()
    assert len(list((tmp_path / "figures").iterdir())) == len(TABLES)
