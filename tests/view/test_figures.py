"""Figures: what is drawn is what the run did."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import mmsim as mm
from mmsim import figures
from mmsim.claims import choose, registered
from mmsim.claims.fit import fit_numbers
from mmsim.view.figures import paper
from mmsim.view.figures.banks import step, use
from mmsim.view.figures.pipeline import fits, registers
from mmsim.view.palette import WARPS
from mmsim_algorithms.access.figures import icpp_figure_3, smm_figure_4

SCHEDULES = ("synchronous", "asynchronous")


@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@mm.program
def shuffle(T, a, b):
    s = mm.shared((4, 4))
    i, j = T.index // 4, T.index % 4
    s[i, j] = a[T.id]
    T.barrier()
    b[T.id] = s[j, i]


@mm.program
def nothing(T, a):
    x = T.id


@mm.program
def one_cell(T, a):
    a[T.id // 4]


def transposed(machine=None, **options):
    a = np.arange(64).reshape(8, 8)
    machine = machine or mm.DMM(8, 3)
    return machine.run(transpose, a, np.zeros_like(a), threads=64, **options)


def shuffled(schedule):
    return mm.HMM(2, 4, 5).run(
        shuffle,
        np.arange(32),
        np.zeros(32),
        threads=32,
        block_size=16,
        schedule=schedule,
        trace=True,
    )


def patches(axes, prefix):
    """The rectangles whose mark begins so, by the rest of the mark."""
    found = {}
    for patch in axes.patches:
        mark = patch.get_gid() or ""
        if mark.startswith(prefix):
            found[mark.removeprefix(prefix)] = patch
    return found


def text_at(axes, patch):
    left, top = patch.get_xy()
    written = [
        text.get_text()
        for text in axes.texts
        if left < text.get_position()[0] < left + 1 and top < text.get_position()[1] < top + 1
    ]
    return written[-1] if written else ""


# ------------------------------------------------------------------ one access


@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 3)])
@pytest.mark.parametrize("program", [smm_figure_4, icpp_figure_3])
def test_cells_marked_are_those_asked_for(machine, program):
    run = machine.run(program, np.arange(16), threads=8, trace=True)
    axes = figures.access(run, [0, 1])
    cells = patches(axes, "cell-")
    assert sorted(map(int, cells)) == list(range(16))  # the whole of a small memory
    asked = {
        address: (dispatch.warp, thread)
        for dispatch in run.trace.dispatches
        for thread, address in zip(dispatch.threads, dispatch.addresses, strict=True)
    }
    for address in range(16):
        cell = cells[str(address)]
        assert cell.get_xy() == (address % 4, address // 4)
        if address in asked:
            warp, thread = asked[address]
            assert text_at(axes, cell) == f"{address}\nT{thread}"
            assert cell.get_facecolor() == to_rgba(WARPS[warp])
        else:
            assert text_at(axes, cell) == str(address)
            assert cell.get_facecolor() == to_rgba("white")


@pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 3)])
def test_stages_drawn_are_those_of_the_trace(machine):
    run = machine.run(smm_figure_4, np.arange(16), threads=8, trace=True)
    axes = figures.access(run, [0, 1])
    drawn = set(patches(axes, "stage-"))
    assert drawn == {
        f"{dispatch.warp}-{stage}-{address}"
        for dispatch in run.trace.dispatches
        for address, stage in zip(dispatch.addresses, dispatch.stages, strict=True)
    }
    rows = [label.get_text() for label in axes.get_yticklabels()]
    counts = [dispatch.stage_count for dispatch in run.trace.dispatches]
    assert rows[4:] == [
        f"W({warp}), stage {stage + 1}" for warp in (0, 1) for stage in range(counts[warp])
    ]
    tops = {mark: patch.get_xy()[1] for mark, patch in patches(axes, "stage-").items()}
    order = sorted(tops, key=lambda mark: tops[mark])
    assert [mark[:3] for mark in order] == sorted(mark[:3] for mark in order)


def test_threads_that_share_a_cell_share_its_mark():
    run = mm.DMM(4, 1).run(one_cell, np.arange(8), threads=8, trace=True)
    axes = figures.access(run, 1)
    assert text_at(axes, patches(axes, "cell-")["1"]) == "1\nT4–7"


@pytest.mark.parametrize(("width", "words"), [(16, "240\nT15"), (32, "31")])
def test_wide_machines_leave_out_what_does_not_fit(width, words):
    @mm.program
    def column(T, a):
        a[T.id * T.count]

    run = mm.DMM(width, 1).run(column, np.zeros(width * width), threads=width, trace=True)
    axes = figures.access(run)
    cells = patches(axes, "cell-")
    last = cells[str(width * (width - 1))]
    assert text_at(axes, last) == words
    assert len(patches(axes, "stage-")) == width


def test_accesses_to_elements_of_several_sizes_are_drawn_one_by_one():
    """Their addresses count elements of their own size."""
    arguments = np.zeros(8), np.zeros(8, np.int32), np.zeros(8)
    run = mm.DMM(8, 3, bank_bytes=4).run(add_sizes, *arguments, threads=8, trace=True)
    with pytest.raises(mm.MMSimError, match="for elements of several sizes, of a, b; draw each"):
        figures.access(run, [0, 1])
    drawn = figures.access(run, [0, 2])
    labels = [label.get_text() for label in drawn.get_yticklabels()]
    assert labels[-2:] == ["W(0), phase 1, stage 1", "W(0), phase 2, stage 2"]
    assert labels[-3] == "W(0), phase 2, stage 2"
    assert figures.access(run, 1).get_yticklabels()[-1].get_text() == "W(0), stage 1"


def test_a_map_of_a_card_has_the_words_of_each_bank():
    """Elements of 1 byte share words, and doubles have two."""

    @mm.program
    def read(T, a, b):
        a[T.id]
        b[T.id]

    run = mm.DMM(8, 3, bank_bytes=4).run(
        read, np.zeros(8, np.int8), np.zeros(8), threads=8, trace=True
    )
    rows, words = use(run, "memory", "round")
    assert rows == list(range(8))
    assert words.T.tolist() == [[1, 1, 0, 0, 0, 0, 0, 0], [2] * 8]


def asked(axes):
    """The words whose cells are coloured."""
    white = to_rgba("#FFFFFF")
    cells = patches(axes, "cell-").items()
    return {int(word) for word, cell in cells if cell.get_facecolor() != white}


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_accesses_to_short_elements_are_drawn_by_words(dtype):
    """8 words of 4 bytes make a row: a column of them is a bank, and a row an address group."""

    @mm.program
    def read(T, a):
        s = mm.shared(96, dtype=dtype)
        s[9 * T.id] = a[T.id]

    size = np.dtype(dtype).itemsize
    run = mm.HMM(1, 8, 3, bank_bytes=4).run(read, np.zeros(64, dtype), threads=8, trace=True)
    loaded = figures.access(run, 0)
    words = 8 * size // 4
    assert asked(loaded) == set(range(words))
    assert loaded.get_yticklabels()[-1].get_text() == "W(0), stage 1"
    stored = figures.access(run, 1)
    wanted = {9 * lane * size // 4 for lane in range(8)}
    assert asked(stored) == wanted
    assert len(patches(stored, "stage-")) == len(wanted)
    places = [patch.get_xy() for patch in patches(stored, "stage-").values()]
    assert len(set(places)) == len(places)  # none covers another
    assert stored.get_xticklabels()[1].get_text() == "B[1]"


@mm.program
def add_sizes(T, a, b, c):
    c[T.id] = a[T.id] + b[T.id]


def test_an_access_that_is_not_there():
    run = mm.DMM(4, 3).run(smm_figure_4, np.arange(16), threads=8, trace=True)
    with pytest.raises(mm.MMSimError, match="has 2 dispatches, none with number 2"):
        figures.access(run, 2)
    with pytest.raises(mm.MMSimError, match="at least one"):
        figures.access(run, [])
    with pytest.raises(mm.MMSimError, match="several units, global, shared"):
        figures.access(shuffled("synchronous"), [0, 9])
    wide = mm.DMM(128, 1).run(one_cell, np.zeros(64), threads=1, trace=True)
    with pytest.raises(mm.MMSimError, match="128 banks"):
        figures.access(wide)


# ------------------------------------------------------------------ pipeline


def in_registers(run, start=0, end=None):
    """(time, row, warp) of every full register, as the trace replays it."""
    rows = {row: number for number, row in enumerate(registers(run))}
    return {
        (cycle.time, rows[unit, register], stage.warp)
        for cycle in run.trace.cycles()
        if start <= cycle.time and (end is None or cycle.time < end)
        for unit, contents in cycle.registers.items()
        for register, stage in enumerate(contents)
        if stage is not None
    }


def drawn_registers(axes):
    return {
        (int(text.get_position()[0]), int(text.get_position()[1]), int(text.get_text()))
        for text in axes.texts
    }


@pytest.mark.parametrize(
    "run",
    [
        shuffled("asynchronous"),
        shuffled("synchronous"),
        mm.DMM(4, 3).run(smm_figure_4, np.arange(16), threads=8, trace=True),
        mm.UMM(4, 3).run(smm_figure_4, np.arange(16), threads=8, trace=True),
    ],
    ids=["HMM asynchronous", "HMM", "DMM", "UMM"],
)
def test_the_pipeline_holds_what_the_trace_replays(run):
    axes = figures.pipeline(run)
    assert drawn_registers(axes) == in_registers(run)
    for bar in axes.patches:
        left, row = bar.get_xy()
        (warp,) = {
            w
            for t, r, w in drawn_registers(axes)
            if r == row and left <= t < left + bar.get_width()
        }
        assert bar.get_facecolor() == to_rgba(WARPS[warp % len(WARPS)])


def test_part_of_a_pipeline():
    run = shuffled("asynchronous")
    axes = figures.pipeline(run, 7, 20)
    assert drawn_registers(axes) == in_registers(run, 7, 20)
    assert axes.get_xlim() == (7, 20)


def test_numbers_of_more_digits_need_more_room():
    few, many = (
        shuffled("asynchronous"),
        mm.DMM(1, 1).run(one_cell, np.zeros(64), threads=200, trace=True),
    )
    assert fits(few, paper.PAGE) > 60
    assert fits(many, paper.PAGE) < 30
    assert len(figures.pipeline(many, 150, 170).texts) == 20
    with pytest.raises(mm.MMSimError, match="too many for this figure"):
        figures.pipeline(many, 150, 190)


def test_a_pipeline_too_large_to_read_is_refused():
    run = transposed(trace=True)
    assert run.time > 60
    with pytest.raises(mm.MMSimError, match="too many for this figure"):
        figures.pipeline(run)
    with pytest.raises(mm.MMSimError, match="no time units from 90 to"):
        figures.pipeline(run, 90)
    with pytest.raises(mm.MMSimError, match="registers are too many"):
        figures.pipeline(mm.DMM(4, 50).run(one_cell, np.zeros(9), threads=4, trace=True), 0, 9)


# ------------------------------------------------------------------ warps


def bars(axes, name):
    """(warp, start, end) of what is drawn as `name`."""
    found = []
    for collection in axes.collections:
        if collection.get_gid().startswith(f"{name}-"):
            for path in collection.get_paths():
                corners = path.vertices[:4]
                row = round(corners[:, 1].mean())
                assert collection.get_gid() == f"{name}-{row}"
                found.append((row, int(corners[:, 0].min()), int(corners[:, 0].max())))
    return sorted(found)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_warps_wait_as_the_trace_says(schedule):
    run = shuffled(schedule)
    axes = figures.warps(run)
    for reason in ("turn", "round", "barrier"):
        waits = [wait for wait in run.trace.waits if wait.reason == reason]
        assert bars(axes, reason) == sorted((wait.warp, wait.start, wait.end) for wait in waits)
    sending = bars(axes, "sending")
    assert sum(end - start for _, start, end in sending) == run.stages
    under_way = sum(end - start for _, start, end in sending + bars(axes, "latency"))
    assert under_way == sum(one.completion - one.time for one in run.trace.dispatches)
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"W({w})" for w in range(8)]


def test_reasons_differ_by_more_than_colour():
    axes = figures.warps(shuffled("asynchronous"))
    hatches = {
        collection.get_gid().split("-")[0]: collection.get_hatch()
        for collection in axes.collections
    }
    assert len({hatches[reason] for reason in ("turn", "barrier")}) == 2
    assert all(hatches[reason] for reason in ("turn", "barrier"))


def test_no_warps_to_draw():
    run = mm.DMM(4, 3).run(nothing, np.zeros(4), threads=4, trace=True)
    with pytest.raises(mm.MMSimError, match="nothing to draw"):
        figures.warps(run)
    many = mm.DMM(1, 1).run(one_cell, np.zeros(64), threads=65, trace=True)
    with pytest.raises(mm.MMSimError, match="65 warps are too many"):
        figures.warps(many)
    with pytest.raises(mm.MMSimError, match="no time units from 9 to 9"):
        figures.warps(shuffled("synchronous"), 9, 9)


def test_part_of_the_warps():
    run = shuffled("asynchronous")
    axes = figures.warps(run, 3, 9)
    assert axes.get_xlim() == (3, 9)
    waits = [wait for wait in run.trace.waits if wait.reason == "turn"]
    assert bars(axes, "turn") == sorted(
        (wait.warp, wait.start, wait.end) for wait in waits if wait.start < 9 and wait.end > 3
    )
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named == ["sending", "latency", "turn", "barrier"]


# ------------------------------------------------------------------ rounds and lines


@pytest.mark.parametrize("machine", [mm.DMM(8, 3), mm.UMM(8, 3)])
def test_bars_are_the_stages_of_the_rounds(machine):
    run = transposed(machine)
    axes = figures.rounds(run)
    least, wasted = axes.containers
    heights = [a.get_height() + b.get_height() for a, b in zip(least, wasted, strict=True)]
    assert heights == [row.stages for row in run.rounds]
    assert [bar.get_y() for bar in wasted] == [bar.get_height() for bar in least]
    assert sum(bar.get_height() for bar in least) == sum(row.least for row in run.accesses)
    assert all(bar.get_hatch() for bar in wasted)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0: read a", "1: write b"]


def test_runs_without_rounds_say_why():
    with pytest.raises(mm.MMSimError, match=r"no rounds, without lock step; draw lines\(run\)"):
        figures.rounds(transposed(schedule="asynchronous"))
    with pytest.raises(mm.MMSimError, match="made no memory access"):
        figures.rounds(mm.DMM(4, 3).run(nothing, np.zeros(4), threads=4))


def test_too_many_rounds():
    @mm.program
    def loop(T, a):
        for _ in range(501):
            a[T.id]

    run = mm.DMM(4, 3).run(loop, np.zeros(4), threads=4)
    with pytest.raises(mm.MMSimError, match="501 rounds are too many"):
        figures.rounds(run)
    assert run.plot().get_xlabel() == "stages"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lines_show_their_source_and_what_it_wastes(schedule):
    run = shuffled(schedule)
    axes = figures.lines(run)
    shown = [line for line in run.profile().lines if line.requests]
    least, wasted = axes.containers
    assert [bar.get_width() for bar in least] == [line.least for line in shown]
    assert [bar.get_width() for bar in wasted] == [line.wasted for line in shown]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        str(line.line) for line in shown
    ]
    texts = [text.get_text().strip() for text in axes.texts]
    assert texts[0::2] == ["s[i, j] = a[T.id]", "b[T.id] = s[j, i]"]
    assert texts[1::2] == ["16", "40, 24 wasted"]


def test_of_many_lines_the_costly_ones_are_drawn():
    source = "".join(f"    a[{1 + number % 7} * T.id]\n" for number in range(40))
    from tests.kit.generators.random_programs import define

    program = define(f"@mm.program\ndef long(T, a):\n{source}", "long")
    axes = figures.lines(mm.DMM(4, 1).run(program, np.zeros(64), threads=8))
    assert len(axes.containers[0]) == 30
    assert "the other 10 lines" in axes.get_xlabel()


def test_source_with_dollars_and_braces_is_text(tmp_path):
    from tests.kit.generators.random_programs import define

    program = define("@mm.program\ndef odd(T, a):\n    a[T.id]  # $\\frac{ $ <b>&\n", "odd")
    run = mm.DMM(4, 1).run(program, np.zeros(4), threads=4)
    figures.save(figures.lines(run), tmp_path / "odd.svg")
    assert "&lt;b&gt;&amp;" in (tmp_path / "odd.svg").read_text()


# ------------------------------------------------------------------ banks


def test_large_numbers_get_few_ticks():
    found = [step(count) for count in (1, 10, 11, 40, 51, 120, 500, 501)]
    assert found == [1, 1, 2, 5, 10, 20, 50, 100]


@pytest.mark.parametrize(
    ("sizes", "texts"),
    [
        ([2**13, 2**14, 2**16], ["8192", "16384", "65536"]),
        ([2**14, 2**16, 2**17], ["$2^{14}$", "$2^{16}$", "$2^{17}$"]),
        ([10**4, 10**5, 10**6], ["$10^{4}$", "$10^{5}$", "$10^{6}$"]),
        ([30_000, 2**17, 300_000], ["30000", "131072", "300000"]),
    ],
)
def test_the_ticks_of_an_axis_are_all_numbers_or_all_powers(sizes, texts):
    axes = figures.times(sizes, sizes)
    axes.set_yticks(sizes)
    axes.figure.draw_without_rendering()
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == texts


def cells(axes):
    return np.asarray(axes.collections[0].get_array())


def test_banks_over_time_are_the_stages_of_the_trace():
    run = transposed(trace=True)
    expected = np.zeros((8, run.time), int)
    for cycle in run.trace.cycles():
        stage = cycle.registers["memory"][0]
        if stage is not None:
            for address in {address for _, address in stage.requests}:
                expected[address % 8, cycle.time] += 1
    axes = figures.banks(run)
    assert (cells(axes) == expected).all()
    assert [label.get_text() for label in axes.get_yticklabels()] == list("01234567")
    assert axes.get_ylabel() == "bank"


def test_banks_over_rounds_add_up():
    run = transposed(trace=True)
    words = cells(figures.banks(run, over="round"))
    assert words.tolist() == [[8, 8]] * 8


def test_a_group_unit_has_groups_and_threads_at_one_word_count_once():
    run = mm.UMM(4, 3).run(one_cell, np.arange(8), threads=8, trace=True)
    axes = figures.banks(run)
    assert cells(axes)[0].tolist()[:2] == [1, 1]
    assert axes.get_ylabel() == "address group"
    hmm = shuffled("asynchronous")
    assert cells(figures.banks(hmm)).sum() == 64
    assert cells(figures.banks(hmm, "shared[1]")).sum() == 32


def test_maps_that_cannot_be_drawn():
    hmm = shuffled("asynchronous")
    with pytest.raises(mm.MMSimError, match=r"global, shared\[0\], shared\[1\] did"):
        figures.banks(hmm, "memory")
    with pytest.raises(mm.MMSimError, match="no rounds"):
        figures.banks(hmm, over="round")
    with pytest.raises(mm.MMSimError, match="over='warp'"):
        figures.banks(hmm, over="warp")
    run = mm.DMM(4, 3).run(nothing, np.zeros(4), threads=4, trace=True)
    with pytest.raises(mm.MMSimError, match="nothing to draw"):
        figures.banks(run)


# ------------------------------------------------------------------ times


@pytest.mark.parametrize("values", [(4, 8, 12), (4, 8, 64), (1, 2, 3, 4, 5, 6, 7, 8)])
def test_times_stand_next_to_the_formula(values):
    runs = [mm.UMM(4, 5).run(one_cell, np.zeros(64), threads=n) for n in values]
    axes = figures.times(values, runs, lambda n: n / 4 + 4, symbol="p", name="p/w + l - 1")
    simulated, claimed = axes.get_lines()
    assert tuple(simulated.get_xdata()) == values
    assert list(simulated.get_ydata()) == [run.time for run in runs]
    assert list(claimed.get_ydata()) == [n / 4 + 4 for n in values]
    # A formula may not hold between the values: nothing joins its points, which frame the runs.
    assert simulated.get_linestyle() == claimed.get_linestyle() == "None"
    assert (simulated.get_fillstyle(), claimed.get_fillstyle()) == ("full", "none")
    assert claimed.get_markersize() > simulated.get_markersize() > 2
    assert axes.get_xlabel() == "p"
    assert axes.get_xscale() == ("log" if values[-1] == 64 else "linear")
    assert len(figures.times(values, runs).get_lines()) == 1


def test_times_need_a_run_for_each_value():
    with pytest.raises(mm.MMSimError, match="2 values and 1 runs"):
        figures.times([1, 2], [3])


# ------------------------------------------------------------------ all of them


TRACED = [figures.access, figures.banks, figures.pipeline, figures.warps]


@pytest.mark.parametrize("figure", TRACED, ids=lambda figure: figure.__name__)
def test_a_run_without_a_trace_says_how_to_get_one(figure):
    with pytest.raises(mm.MMSimError, match=r"has no trace; run it with .*trace=True"):
        figure(transposed())


def cached():
    """A run on a machine whose global memory has sectors."""
    machine = mm.Cached(2, 4, 20, sectors=2, sector_time=3, memory_time=2)
    return machine.run(one_cell, np.zeros(64), threads=64)


FOUND = fit_numbers([{"n": n} for n in (2, 3, 4, 6, 8)], [3 * n + 5 for n in (2, 3, 4, 6, 8)])
EVERY = {
    "access": lambda run, **options: figures.access(run, 5, **options),
    "banks": figures.banks,
    "claim": lambda run, **options: figures.claim(
        choose(registered(), "SMM-L5.1")[0], "n", w=4, l=5, **options
    ),
    "conflicts": lambda run, **options: figures.conflicts(
        mm.conflicts("(32,32):(32,1)", lambda t, v: (t % 20, v)), **options
    ),
    "formulas": lambda run, **options: figures.formulas({"one": FOUND}, "n", (4, 8), **options),
    "layout": lambda run, **options: figures.layout(
        mm.layout.Padded(1), (9, 9), lambda t, v: (t % 9, t // 9), **options
    ),
    "lines": figures.lines,
    "pipeline": figures.pipeline,
    "plot": figures.plot,
    "roofline": lambda _, **options: figures.roofline(cached(), **options),
    "rounds": figures.rounds,
    "sweep": lambda run, **options: figures.sweep([{"n": 8, "time": run.time}], "n", **options),
    "terms": lambda run, **options: figures.terms(FOUND, "n", (4, 8), **options),
    "times": lambda run, **options: figures.times([8], [run], **options),
    "warps": figures.warps,
}


def test_every_figure_is_tested_here():
    assert {*EVERY, "save"} == set(figures.__all__)


@pytest.mark.parametrize("name", EVERY)
def test_figures_are_drawn_on_the_axes_given(name):
    axes = Figure().subplots()
    assert EVERY[name](shuffled("synchronous"), axes=axes) is axes


@pytest.mark.parametrize("name", EVERY)
def test_letters_can_be_read_and_nothing_is_cut_off(name):
    axes = EVERY[name](shuffled("synchronous"))
    figure = axes.figure
    figure.draw_without_rendering()
    assert figure.get_figwidth() in (paper.COLUMN, paper.PAGE)
    texts = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels(), axes.xaxis.label]
    legend = axes.get_legend()
    texts += legend.get_texts() if legend else []
    for text in texts:
        if text.get_text():
            assert text.get_fontsize() >= 7, text
    drawn, room = axes.get_tightbbox(), figure.bbox
    assert drawn.x0 >= room.x0 - 1
    assert drawn.y0 >= room.y0 - 1
    assert drawn.x1 <= room.x1 + 1
    assert drawn.y1 <= room.y1 + 1


def test_plot_takes_what_fits():
    assert shuffled("asynchronous").plot().get_xlabel() == "time unit"
    assert transposed(trace=True).plot().get_xlabel() == "round"  # too long for a pipeline
    assert transposed().plot().get_xlabel() == "round"
    assert transposed(schedule="asynchronous").plot().get_xlabel() == "stages"
    with pytest.raises(mm.MMSimError, match="made no memory access; there is nothing to draw"):
        mm.DMM(4, 3).run(nothing, np.zeros(4), threads=4).plot()


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png", ".SVG"])
def test_a_figure_is_saved_the_same_twice(tmp_path, suffix):
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    figures.save(transposed().plot(), first)
    figures.save(transposed().plot(), str(second))
    assert first.read_bytes() == second.read_bytes()
    if suffix == ".svg":
        assert "least possible" in first.read_text()  # letters, not outlines


def test_the_whole_figure_is_saved(tmp_path):
    whole = Figure()
    parts = whole.subfigures(1, 2)
    parts[0].subplots().set_title("the other half")
    figures.save(transposed().plot(axes=parts[1].subplots()), tmp_path / "whole.svg")
    assert "the other half" in (tmp_path / "whole.svg").read_text()


def test_a_figure_shows_itself_in_a_notebook_without_pyplot():
    from IPython.core.formatters import DisplayFormatter

    figure = transposed(trace=True).plot().figure
    shown, _ = DisplayFormatter().format(figure, include=["image/svg+xml"])
    drawn = shown["image/svg+xml"]
    assert drawn.lstrip().startswith("<?xml")
    assert drawn.count("<path") > 20
    assert drawn == figure._repr_svg_()
