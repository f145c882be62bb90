"""`mmsim sweep`, and the figure that it draws."""

import pytest

import mmsim as mm
from mmsim.claims import registered
from mmsim.cli import main
from mmsim.cli.sweep import sweep_summary
from mmsim.errors import MMSimError
from mmsim.sweeps import read

PROGRAM = """\
import mmsim as mm

FACTOR = 2

@mm.program
def put(T, b, i, value):
    b[i] = value

@mm.program
def permute(T, a, p, b):
    put(T, b, p[T.id], FACTOR * a[T.id])

def reverse(n):
    return list(range(n))[::-1]

def letters(n):
    return "a" * n
"""
STRIDE = ["mmsim_algorithms.access:stride", "--size", "256", "512", "--threads", "64"]

NO_PERMUTATION = ["--permutation", "{file}:permute"]


@pytest.fixture
def program_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "rows.jsonl"


def claim_of(id_):
    return next(claim for claim in registered() if claim.id == id_)


def sweep(out, *words):
    return main(["sweep", *map(str, words), "--out", str(out)])


def test_every_combination_is_a_row(out, capsys):
    options = ["--machine", "dmm", "umm", "--width", 4, 8, "--schedule", "synchronous"]
    assert sweep(out, *STRIDE, *options, "asynchronous", "--jobs", 1) == 0
    rows = read(out)
    assert len(rows) == 2 * 2 * 2 * 2
    claim = claim_of("SMM-T3.1b")
    for row in rows:
        if row["machine"] == "dmm" and row["schedule"] == "synchronous":
            case = {"n": row["size"], "p": row["threads"], "w": row["width"], "l": row["latency"]}
            assert row["time"] == claim.evaluate(case)
    printed = capsys.readouterr().out
    assert "kind" in printed
    assert f"16 cases in {out}" in printed


def test_the_same_call_runs_nothing_and_a_larger_one_what_is_missing(out):
    assert sweep(out, *STRIDE, "--jobs", 1) == 0
    before = out.read_bytes()
    assert sweep(out, *STRIDE, "--jobs", 1) == 0
    assert out.read_bytes() == before
    assert sweep(out, *STRIDE, "--machine", "dmm", "hmm", "--dmms", 1, 2, "--jobs", 1) == 0
    assert out.read_bytes().startswith(before)
    assert len(read(out)) == 2 + 4  # a DMM has no number of DMMs
    assert [row.get("dmms") for row in read(out)[2:]] == [1, 1, 2, 2]


def test_programs_and_layouts(out):
    programs = ["mmsim_algorithms.rap:crsw_to", "mmsim_algorithms.rap:drdw_to"]
    assert sweep(out, *programs, "--width", 8, "--layout", "RAW", "rap", "--jobs", 1) == 0
    times = {(row["program"], row["layout"]): row["time"] for row in read(out)}
    # 8 rows by 8 banks, latency 5: two rounds of 8 stages, or one of 8 and one of 64.
    assert times["crsw_to", "RAP"] == times["drdw_to", "RAW"] == 2 * (8 + 4)
    assert times["crsw_to", "RAW"] == (8 + 4) + (64 + 4)


def test_arguments_and_permutations_in_processes_of_their_own(out, program_file):
    arguments = ["arange:{size}", "permutation:{size}", "zeros:{size}"]
    chosen = ["random", f"{program_file}:reverse", "mmsim_algorithms.permutations:shuffle"]
    words = [f"{program_file}:permute", "--arguments", *arguments, "--permutation", *chosen]
    assert sweep(out, *words, "--size", 64, 128, "--threads", "size", "--jobs", 2) == 0
    rows = read(out)
    assert len(rows) == 6
    assert {row["permutation"] for row in rows} == {"random", "reverse", "shuffle"}
    assert all(row["threads"] == row["size"] for row in rows)
    stages = {row["permutation"]: row["stages"] for row in rows if row["size"] == 64}
    assert stages["reverse"] == 6
    assert stages["shuffle"] == 8


def test_a_failed_case_is_reported_and_the_status_is_1(out, capsys):
    words = ["mmsim_algorithms.access:stride", "--block-size", 8, 1000, "--jobs", 1]
    assert sweep(out, *words, "--size", 64, "--width", 8) == 1
    assert [row["error"] for row in read(out)].count("LaunchError") == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 failed (1 LaunchError), the first: block_size=1000 is larger than" in printed
    assert sweep(out, *words, "--size", 64, "--width", 8, "--retry-failed") == 1
    assert len(read(out)) == 2


def test_a_changed_program_is_refused_until_asked(out, program_file, capsys):
    words = [f"{program_file}:permute", "--arguments", "arange:8", "permutation:8", "zeros:8"]
    words += ["--threads", 8, "--jobs", 1]
    assert sweep(out, *words) == 0
    program_file.write_text(PROGRAM.replace("FACTOR = 2", "FACTOR = 3"))
    assert sweep(out, *words) == 2
    assert "made when the function or its program had another text" in capsys.readouterr().err
    assert sweep(out, *words, "--retry-changed") == 0
    assert len(read(out)) == 1


def test_a_very_long_message_is_printed_in_short(tmp_path):
    said = "y" * 100_000
    text = sweep_summary([{"error": "ValueError", "message": said}], tmp_path / "rows.jsonl")
    assert "1 failed (1 ValueError), the first: yyy" in text
    assert len(text) < 2000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["mmsim_algorithms.access:nothing"],
            "mmsim_algorithms.access has no program 'nothing'; it has",
        ),
        (["{file}:permute"], "the program 'permute' has no example; give --arguments"),
        (
            ["{file}:permute", "--arguments", "3"],
            "give --threads, or --grid and --block, with your",
        ),
        ([*STRIDE[:1], "--threads", "size"], "--threads size needs --size"),
        ([*STRIDE, "--permutation", "random"], "--permutation is for an argument such as"),
        (
            ["{file}:permute", "--arguments", "zeros:{{n}}", "--threads", "4"],
            "'zeros:{n}' names an unknown number; there are {program}",
        ),
        (
            ["{file}:permute", "--arguments", "permutation:4", "--threads", "4", *NO_PERMUTATION],
            "is not a function of a size that gives a permutation",
        ),
        ([*STRIDE, "--width", "4294967296"], "width of a DMM must be at most"),
        ([*STRIDE, "--over", "width"], "--over and --claim are for a figure; give --plot FILE"),
        ([*STRIDE, "--plot", "a.svg"], "say with --over which parameter"),
        (
            [*STRIDE, "--plot", "a.svg", "--over", "sise"],
            "--over takes a parameter, not 'sise'; there are program, machine, width",
        ),
        ([*STRIDE, "--plot", "a.txt", "--over", "size"], "figures are saved as .svg"),
        (
            [*STRIDE, "--plot", "a.svg", "--over", "size", "--claim", "SMM-E1"],
            "--claim takes one claim; there are SMM-E1.DMM, SMM-E1.UMM",
        ),
        (
            [*STRIDE, "--plot", "a.svg", "--over", "size", "--claim", "SMM-T3.1x"],
            "no claim has the id 'SMM-T3.1x'; did you mean",
        ),
    ],
)
def test_mistakes_are_reported_before_anything_is_run(out, program_file, capsys, words, message):
    assert sweep(out, *(word.format(file=program_file) for word in words)) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_a_function_that_gives_no_permutation_fails_its_cases(out, program_file):
    words = [f"{program_file}:permute", "--arguments", "arange:4", "permutation:4", "zeros:4"]
    permutation = ["--permutation", f"{program_file}:letters"]
    assert sweep(out, *words, *permutation, "--threads", 4, "--jobs", 1) == 1
    assert read(out)[0]["error"] is not None


def test_interrupted_it_says_how_to_go_on(out, capsys, monkeypatch):
    def interrupted(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("mmsim.sweeps.workers.run_case", interrupted)
    assert sweep(out, *STRIDE, "--jobs", 1) == 130
    assert f"mmsim: interrupted; 0 of 2 rows are in {out}" in capsys.readouterr().err


# The figure.

LABEL = "SMM-T3.1b: T = n*(l + p*gcd(n/p, w)/w - 1)/p"


def test_the_plot_has_the_times_and_the_claim(out, tmp_path):
    figure = tmp_path / "stride.svg"
    options = ["--width", 8, "--jobs", 1, "--plot", figure, "--over", "size"]
    assert sweep(out, *STRIDE, *options, "--claim", "SMM-T3.1b") == 0
    text = figure.read_text(encoding="utf-8")
    for word in ("simulated", LABEL, "time units", "size"):
        assert f">{word}<" in text


def rows_of(**columns):
    """Rows of the parameters given, with a time for each."""
    count = len(columns["time"])
    return [{name: values[at] for name, values in columns.items()} for at in range(count)]


def drawn(axes):
    """The lines of a figure by their labels."""
    return {
        line.get_label(): [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]
        for line in axes.get_lines()
    }


def test_series_are_named_by_what_differs():
    rows = rows_of(
        machine=["dmm", "dmm", "umm", "umm"],
        n=[2, 1, 1, 2],
        threads=[2, 1, 1, 2],  # follows from n
        width=[4, 4, 4, 4],
        time=[12, 11, 21, 22],
    )
    lines = drawn(mm.figures.sweep(rows, "n"))
    assert lines == {"dmm": [(1, 11), (2, 12)], "umm": [(1, 21), (2, 22)]}


def test_numbers_are_shown_with_their_names():
    rows = rows_of(block_size=[1, 2], n=[1, 1], time=[3, 4])
    assert list(drawn(mm.figures.sweep(rows, "n"))) == ["block size=1", "block size=2"]


def test_the_formula_is_drawn_where_its_preconditions_hold():
    claim = claim_of("SMM-T3.1b")
    rows = rows_of(n=[64, 96, 128], p=[64, 64, 64], w=[8] * 3, l=[5] * 3, time=[1, 2, 3])
    lines = drawn(mm.figures.sweep(rows, "n", claim))
    cases = ({"n": n, "p": 64, "w": 8, "l": 5} for n in (64, 128))  # 64 doesn't divide 96
    assert lines[LABEL] == [(case["n"], float(claim.evaluate(case))) for case in cases]
    assert lines["simulated"] == [(64, 1), (96, 2), (128, 3)]


def test_one_formula_for_several_series_is_one_line():
    claim = claim_of("SMM-T3.1b")
    columns = {"n": [64, 128] * 2, "p": [64] * 4, "w": [8] * 4, "l": [5] * 4}
    rows = rows_of(machine=["dmm"] * 2 + ["umm"] * 2, **columns, time=[1, 2, 3, 4])
    assert list(drawn(mm.figures.sweep(rows, "n", claim))) == ["dmm", LABEL, "umm"]


def test_failed_cases_are_not_drawn():
    rows = rows_of(n=[1, 2], error=[None, "ValueError"], time=[5, None])
    assert drawn(mm.figures.sweep(rows, "n")) == {"simulated": [(1, 5)]}


@pytest.mark.parametrize(
    ("rows", "over", "claim", "message"),
    [
        (rows_of(n=[1], error=["E"], time=[None]), "n", None, "no row to draw"),
        (rows_of(n=[1], time=[1]), "m", None, "'m' isn't a number in every row; there are n"),
        (rows_of(n=["a"], w=[1], time=[1]), "n", None, "isn't a number in every row; there are w"),
        (rows_of(n=[1] * 9, k=range(9), time=range(1, 10)), "n", None, "9 series"),
        (rows_of(n=[1], time=[1]), "n", "SMM-T3.1b", r"needs p \(threads\) and w \(width\)"),
        (
            rows_of(n=[3], p=[2], w=[8], l=[5], time=[1]),
            "n",
            "SMM-T3.1b",
            "no row keeps the preconditions of SMM-T3.1b",
        ),
        (rows_of(n=[1], time=[1]), "n", "SMM-ST", "it can't be drawn over times"),
    ],
)
def test_what_cannot_be_drawn_is_reported(rows, over, claim, message):
    chosen = None if claim is None else claim_of(claim)
    with pytest.raises(MMSimError, match=message):
        mm.figures.sweep(rows, over, chosen)
