"""Odd arguments of the public interface get words of mmsim, never an error of NumPy or Python."""

import inspect
import warnings
from functools import partial

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LaunchError, LayoutError, MMSimError, shown

LAYOUTS = [
    *(mm.layout.RAS, mm.layout.RAP, mm.layout.OneP, mm.layout.R1P, mm.layout.ThreeP),
    *(mm.layout.W2P, mm.layout.OnePW2R),
]
DMM = mm.DMM(4, 2)


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


class Incomparable:
    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None


class Unreadable:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


ODD = [
    *(None, -1, 0, True, 2.5, 10**30, -(10**30), 2**63, 10**5000, float("nan"), float("inf"), 1j),
    *("4", "yes", "", "b", b"x", "x" * 1000, "a\0b"),
    *([], [1, 2], (), {}, set(), ["a"], [None], range(3), slice(3), ...),
    *(np.zeros(3), np.zeros(()), np.array(4), np.zeros((2, 2)), np.array("array"), np.ma.masked),
    *(np.float64(3), np.bool_(True), np.int64(2), np.uint64(2**63), np.datetime64("2020")),
    *(object(), len, Unprintable, Unprintable(), Incomparable(), Unreadable()),
    *(mm.layout.RAP(4), mm.DMM(4, 2)),
]


@mm.program
def copy(T, a, b):
    b[T.id] = a[T.id]


@mm.program
def put(T, a, n):
    a[T.id] = n


@mm.program
def half(T, a):
    a[T.id] = 0.5


def arrays():
    return np.arange(8), np.zeros(8, int)


def traced():
    return DMM.run(copy, *arrays(), threads=8, trace=True)


def in_words(call, *args, **options):
    """Tell whether a call is refused, after checking that this is said in few words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*args, **options)
        except MMSimError as error:
            text = str(error)
        else:
            return False
    assert len(text) < 2000
    return True


def refused(call, *args, **options):
    """Count the odd values that are refused where `...` stands."""
    count = 0
    for value in ODD:
        given = [value if arg is ... else arg for arg in args]
        named = {name: value if arg is ... else arg for name, arg in options.items()}
        count += in_words(call, *given, **named)
    return count


@pytest.mark.parametrize("name", [*inspect.signature(DMM.run).parameters][2:])
def test_keywords_of_run(name):
    options = {"threads": 8, name: ...}
    assert refused(DMM.run, copy, *arrays(), **options) > len(ODD) - 7


@pytest.mark.parametrize("name", [*inspect.signature(DMM.check).parameters][2:])
@pytest.mark.parametrize(("program", "args"), [(copy, arrays()), (half, (np.zeros(8, int),))])
def test_keywords_of_check(name, program, args):
    options = {"threads": 8, name: ...}
    count = refused(DMM.check, program, *args, **options)
    assert count > len(ODD) - 12 or (program is half and name == "unset")


@pytest.mark.parametrize(
    ("call", "name", "value", "message"),
    [
        (DMM.run, "engine", np.zeros(3), r"engine=array\(\[0., 0., 0.\]\), but engine must be"),
        (DMM.run, "schedule", np.array("synchronous"), "but schedule must be 'synchronous' or"),
        (DMM.run, "schedule", None, "schedule=None, but schedule must be 'synchronous' or"),
        (DMM.run, "trace", "yes", "trace='yes', but trace must be True or False"),
        (DMM.run, "check", np.zeros(3), "but check must be True or False"),
        (DMM.run, "threads", np.zeros(3), r"threads must be a whole number, not array\(\["),
        (DMM.run, "block_size", "4", "block_size must be a whole number, not '4'"),
        (DMM.check, "unset", 5, "unset must be the name of an array parameter, or several names"),
        (DMM.check, "unset", [None], "unset=None, but 'copy' has no such array parameter; it has"),
        (DMM.check, "unset", [np.zeros(3)], r"unset=array\(.*'copy' has no such array parameter"),
        (DMM.check, "trace", 1.0, "trace=1.0, but trace must be True or False"),
        (DMM.check, "shared_words", "x", "shared_words must be a whole number, not 'x'"),
        (DMM.check, "shared_words", -1, "shared_words=-1, but it must be at least 1"),
    ],
)
def test_what_is_said_of_a_keyword(call, name, value, message):
    with pytest.raises(LaunchError, match=message):
        call(copy, *arrays(), **{"threads": 8, name: value})


def test_counts_of_numpy_are_counts_in_a_report_too():
    report = DMM.check(half, np.zeros(8, int), threads=np.int64(8), block_size=np.int32(4))
    assert type(report.from_json(report.to_json()).threads) is int
    assert (report.threads, report.block_size) == (8, 4)


@pytest.mark.parametrize("call", [DMM.run, DMM.check])
def test_programs_and_their_arguments(call):
    assert refused(call, ..., np.zeros(8), threads=8) == len(ODD)
    assert refused(call, copy, ..., np.zeros(8, int), threads=8) > len(ODD) - 6
    assert refused(call, put, np.zeros(8), ..., threads=8) > 25
    assert refused(mm.program, ...) == len(ODD)


@pytest.mark.parametrize("machine", [mm.DMM, mm.UMM, mm.HMM])
def test_machines(machine):
    fields = list(machine.__dataclass_fields__)
    for name in fields:
        # All but a number of NumPy's, True or None for some, and texts that are names of numbers.
        names = sum(isinstance(value, str) and value.isalpha() for value in ODD)
        count = refused(machine, **{**dict.fromkeys(fields, 2), name: ...})
        assert count > len(ODD) - 3 - names


@pytest.mark.parametrize("layout", [*LAYOUTS, mm.layout.Diagonal])
def test_widths_and_seeds_of_layouts(layout):
    assert refused(layout, ...) == len(ODD) - 1  # 2, of NumPy's integers
    if layout is not mm.layout.Diagonal:
        assert refused(layout, 4, seed=...) > len(ODD) - 3
    for width in (10**30, 10**5000, 2**31):
        with pytest.raises(LayoutError, match=r"the width of a \w+ layout is at most 2147483647"):
            layout(width)
    with pytest.raises(LayoutError, match="can't hold an array of shape"):
        mm.place(np.zeros((4, 4)), layout(2**31 - 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((partial(one, 0), f"the width of a {one.__name__} layout is .*0") for one in LAYOUTS),
        (lambda: mm.layout.RAP(4, seed=0.5), "a layout's seed is .*0.5"),
        (lambda: mm.layout.RAS(4, shifts=(True, 1, 2, 3)), "a shift of a layout is a whole number"),
        (lambda: mm.layout.RAS(4, shifts="0123"), "the shifts of a layout are numbers, not '0123'"),
        (lambda: mm.place(np.zeros((4, 4)), mm.layout.RAP), "is not a layout; give one of mmsim"),
    ],
)
def test_what_is_said_of_a_layout(call, message):
    with pytest.raises(LayoutError, match=message):
        call()


@pytest.mark.parametrize("layout", [mm.layout.RAS, mm.layout.RAP])
def test_shifts_of_layouts(layout):
    def placed(shifts):
        mm.place(np.zeros((4, 4)), layout(4, shifts=shifts))

    assert refused(placed, ...) == len(ODD) - 1  # None: drawn
    for value in ODD:
        in_words(placed, [value] * 4)
        assert in_words(placed, [value] * 3)
    for shifts, message in [
        ([10**30] * 4, "a shift of a layout is at most 9223372036854775807, not 1000"),
        ([-(10**30)] * 4, "a shift of a layout is at least -9223372036854775808, not -1000"),
        ([float("nan")] * 4, "a shift of a layout is a whole number, not nan"),
        (np.array(3), r"the shifts of a layout are numbers, not array\(3\)"),
    ]:
        with pytest.raises(LayoutError, match=message):
            placed(shifts)
    with pytest.raises(LayoutError, match="are a permutation"):
        mm.layout.RAP(2**31 - 1, shifts=(0,))  # before so many numbers are listed


def test_large_shifts_rotate_as_their_remainders_do():
    far = mm.layout.RAS(4, shifts=(2**63 - 1, -(2**63), 5, -1))
    near = mm.layout.RAS(4, shifts=(3, 0, 1, 3))
    np.testing.assert_array_equal(far.offsets((4, 4)), near.offsets((4, 4)))


def test_what_is_placed():
    assert refused(mm.place, ..., mm.layout.RAW()) > 25
    assert refused(mm.place, np.zeros((4, 4)), ...) == len(ODD) - 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, IndexError, AttributeError])
def test_a_layout_of_ones_own_that_fails(error):
    class Failing:
        def offsets(self, shape):
            raise error("its text")

    with pytest.raises(LayoutError, match=r"offsets\(\(4,\)\) failed: .*line \d+: .*its text"):
        mm.place(np.zeros(4), Failing())


def test_total():
    assert refused(mm.total, ...) == len(ODD)
    for value in ODD:
        assert in_words(mm.total, [value])


@pytest.mark.parametrize("name", ["threads", "block_size", "space", "clear_shared", "lock_step"])
def test_keywords_of_cuda(name):
    assert refused(copy.cuda, *arrays(), **{"threads": 8, name: ...}) > len(ODD) - 5


def test_windows_of_players_and_files():
    run, report = traced(), DMM.check(copy, *arrays(), threads=8, trace=True)
    for owner in (run.trace, report):
        assert refused(owner.player, start=...) > len(ODD) - 4
        assert refused(owner.player, end=...) > len(ODD) - 6
    for save in (run.trace.player().save, run.to_csv):
        for path in (None, 5, "a\0b", np.zeros(3), []):
            with pytest.raises(LaunchError, match="path must be the name of a file"):
                save(path)
    for rows in ODD:
        with pytest.raises(LaunchError, match="but rows must be 'accesses' or 'rounds'"):
            run.to_csv("rows.csv", rows)


RUN = ["access", "banks", "lines", "pipeline", "plot", "roofline", "rounds", "warps"]


@pytest.mark.parametrize("figure", RUN)
def test_figures_of_runs(figure):
    draw, run = getattr(mm.figures, figure), traced()
    if figure == "roofline":
        run = mm.Cached(1, 4, 2).run(copy, *arrays(), threads=8)
    for value in ODD:
        with pytest.raises(LaunchError, match="this figure is drawn of a Run, as machine"):
            draw(value)
        if value is not None:
            with pytest.raises(LaunchError, match="axes must be Matplotlib's Axes, not"):
                draw(run, axes=value)
    for name in inspect.signature(draw).parameters:
        if name not in ("run", "axes"):
            assert refused(draw, run, **{name: ...}) > len(ODD) - 8


def test_other_figures(tmp_path):
    rows, runs = [{"n": 1, "time": 2}], [traced()]
    assert refused(mm.figures.sweep, ..., "n") == len(ODD)
    assert refused(mm.figures.sweep, rows, ...) == len(ODD)
    assert refused(mm.figures.sweep, rows, "n", ...) == len(ODD) - 1
    assert refused(mm.figures.times, ..., runs) > len(ODD) - 3
    assert refused(mm.figures.times, [1], ...) > len(ODD) - 3
    for value in ODD:
        if value is not None and not callable(value):
            assert in_words(mm.figures.times, [1], runs, formula=value)
        assert in_words(mm.figures.times, [1], [value]) or isinstance(float(value), float)
        assert in_words(mm.figures.save, value, tmp_path / "a.svg")
    assert refused(mm.figures.save, runs[0].plot(), ...) == len(ODD)


@pytest.mark.parametrize("masked", [np.ma.masked, np.ma.array(3, mask=True)])
def test_a_figure_of_times_draws_no_masked_value(masked):
    for values, times in (
        ([masked], [1]),
        ([1], [masked]),
        (np.ma.array([1, 2], mask=[0, 1]), [1, 2]),
    ):
        with pytest.raises(LaunchError, match="a figure of times is drawn of numbers, not of"):
            mm.figures.times(values, times)
    with pytest.raises(LaunchError, match="formula: a figure of times is drawn of numbers"):
        mm.figures.times([1], [1], lambda n: masked)


@pytest.mark.parametrize("name", ["grid", "path", "jobs", "retry_failed", "progress", "function"])
def test_keywords_of_sweep(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of the odd texts name a file
    run = traced()

    def swept(**options):
        given = {"function": lambda n: run, "grid": {"n": [1]}, "path": "rows.jsonl", "jobs": 1}
        mm.sweep(**{**given, "progress": False, **options})

    values = [value for value in ODD if name != "path" or not isinstance(value, str)]
    for value in values:
        in_words(swept, **{name: value})
    if name == "grid":
        for value in ODD:
            in_words(swept, grid={"n": [value]})
            in_words(swept, grid={"n": value})


def test_more_processes_than_cases_are_not_started(tmp_path, monkeypatch):
    asked = []

    def none_done(function, cases, jobs):
        asked.append(jobs)
        return iter(())

    monkeypatch.setattr("mmsim.sweeps.workers.finished", none_done)
    for jobs in (1, 2, 5000, np.int64(3)):
        with pytest.raises(KeyError):  # the rows that were not made
            mm.sweep(lambda n: None, {"n": [1, 2, 3]}, tmp_path / "rows.jsonl", jobs=jobs)
    with pytest.raises(KeyError):
        mm.sweep(lambda n: None, {"n": [1]}, tmp_path / "rows.jsonl", jobs=5000)
    assert asked == [1, 2, 3, 3, 2]


# ---------------------------------------------------------------- arrays of every kind


@pytest.mark.parametrize("engine", ["array", "events"])
@pytest.mark.parametrize(
    "source",
    [
        np.asfortranarray(np.arange(32).reshape(4, 8)),
        np.arange(64).reshape(4, 16)[:, ::2],
        np.arange(32).reshape(4, 8)[::-1, ::-1],
        np.arange(32).reshape(8, 4).T,
        np.broadcast_to(np.arange(8), (4, 8)),
        np.arange(32, dtype=np.int8).reshape(4, 8),
    ],
)
def test_arrays_that_lie_oddly_are_read_as_numpy_reads_them(source, engine):
    @mm.program
    def both(T, a, b):
        b[T.id // 8, T.id % 8] = a[T.id // 8, T.id % 8]
        a[T.id // 8, T.id % 8] = 1

    source.flags.writeable = False
    before = source.copy()
    target = np.zeros((4, 8), int, order="F")
    run = DMM.run(both, source, target, threads=32, engine=engine)
    np.testing.assert_array_equal(run.arrays["b"], before)
    np.testing.assert_array_equal(source, before)
    assert (run.arrays["a"] == 1).all()
    assert (target == 0).all()


def test_shown_is_short_and_never_fails():
    assert shown(Unprintable()) == "a Unprintable"
    assert shown(np.zeros((100, 100))).count("\n") == 0
    assert len(shown("x" * 10_000)) < 300
