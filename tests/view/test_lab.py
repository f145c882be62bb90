"""The laboratory: its setup from Python, and its page in a real Chromium, held against Python.

The browser's tests skip themselves where Playwright or Debian's chromium is missing.
"""

import base64
import json
import pickle
import re
import subprocess
import sys
import zlib
from contextlib import suppress
from functools import partial
from itertools import islice
from math import isqrt

import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.claims.claim import call_with
from mmsim.cli import main
from mmsim.errors import LaunchError, MMSimError
from mmsim.view.lab.claims import NoTextError, condition
from mmsim.view.lab.inputs import describe
from mmsim.view.lab.scripts import SCRIPTS, WORK, part
from mmsim_algorithms import claims, programs
from mmsim_algorithms import transpose as transposes
from mmsim_algorithms.dmm_permutation.programs import destination_designated
from mmsim_algorithms.prefix_sums import look_back
from tests.kit.views import axe
from tests.kit.views.states import until

LONGEST = 900_000
"""The bytes that a page may have."""


@mm.program
def transpose(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@mm.program
def shared_sum(T, a, b, k):
    s = mm.shared(T.block_size, mm.float32)
    s[T.index] = a[T.id] * k
    T.barrier()
    if T.index == 0:
        total = 0.0
        for i in range(T.block_size):
            total += s[i]
        b[T.block] = total


def transposing(machine=None, **how):
    a = np.arange(16).reshape(4, 4)
    machine = machine or mm.DMM(4, 3)
    return mm.lab(transpose, a, np.zeros_like(a), threads=16, machine=machine, **how)


def summing():
    a = np.random.RandomState(3).random_sample(16).astype(np.float32)
    return mm.lab(shared_sum, a, np.zeros(2), 2, threads=16, block_size=8, machine=mm.HMM(2, 4, 5))


def time_of(program, *args, machine, **how):
    return machine.run(program, *args, **how).time


@pytest.fixture
def opened(show):
    def opened(lab, **options):
        page = show(lab, **options)
        page.locator("#verdict b").wait_for()
        return page

    return opened


@pytest.fixture(scope="module")
def kept(shared_page, tmp_path_factory):
    """A page of `transposing()`, which tests share, and what went wrong or was fetched there."""
    path = tmp_path_factory.mktemp("laboratory") / "page.html"
    transposing().save(path)
    page, wrong = shared_page, []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(path.as_uri())
    until(page, "window.laboratory?.link")
    page.on("request", lambda request: wrong.append(request.url))
    return page, wrong


@pytest.fixture
def page(kept):
    """The page of `transposing()` with the setup that it had at first: its address has no link."""
    page, wrong = kept
    wrong.clear()
    settled(page, lambda: page.evaluate(WITHOUT_LINK))
    yield page
    assert [said for said in wrong if not said.startswith(("data:", "blob:"))] == []


WITHOUT_LINK = """() => {
  mmsim.go(0);
  history.replaceState(null, "", location.pathname);
  dispatchEvent(new HashChangeEvent("hashchange"));
}"""
FOLLOW = "link => { location.hash = link; }"
TAKE = """setup => laboratory.change(own => {
  for (const name of Object.keys(own)) delete own[name];
  Object.assign(own, setup);
})"""


def time_on(page):
    """The time that the page says, when no run is under way."""
    return int(page.locator("#verdict b").inner_text().replace(",", ""))


def settled(page, act):
    """Do something that changes the setup, and wait for the run."""
    before = page.evaluate("laboratory.runs")
    act()
    until(page, f"laboratory.runs > {before}")


# ------------------------------------------------------------------ Python


def test_inputs_are_described_so_that_they_have_a_meaning_for_other_sizes():
    setup = transposing().setup
    assert setup["sizes"] == {"n": 4}
    assert setup["launch"] == {"threads": "n * n", "block_size": ""}
    assert setup["machine"] == {"kind": "DMM", "width": 4, "latency": 3}
    a, b = setup["arguments"]
    assert a == {"name": "a", "kind": "range", "shape": "n, n", "dtype": "int64"}
    assert b == {"name": "b", "kind": "zeros", "shape": "n, n", "dtype": "int64"}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.ones(8, np.float32), {"kind": "ones", "dtype": "float32"}),
        (np.arange(8)[::-1], {"kind": "reversed", "dtype": "int64"}),
        (np.random.RandomState(4).permutation(8), {"kind": "permutation", "seed": "4"}),
        (np.random.RandomState(2).random_sample(8), {"kind": "random", "low": "0", "seed": "2"}),
        (np.array([3, 1, 4, 1, 5, 9, 2, 6]), {"kind": "values", "values": "3 1 4 1 5 9 2 6"}),
        (
            mm.place(np.arange(64).reshape(8, 8), mm.layout.Padded(2)),
            {"layout": {"kind": "Padded", "by": "2"}},
        ),
        (
            mm.place(np.arange(8), mm.layout.Diagonal(4)),
            {"layout": {"kind": "Diagonal", "width": "w"}},
        ),
        (mm.place(np.arange(8), mm.layout.RAW()), {"kind": "range"}),
    ],
)
def test_an_array_is_recognized(value, found):
    described = describe("x", value, {"n": 8, "w": 4})
    assert described["shape"] in ("n", "n, n")
    assert {key: described[key] for key in found} == found


def test_numbers_and_types_are_kept():
    assert describe("k", 5, {"n": 4}) == {"name": "k", "value": "5"}
    assert describe("k", np.float32(0.5), {}) == {"name": "k", "value": "0.5", "dtype": "float32"}
    assert describe("k", 4, {"n": 4}) == {"name": "k", "value": "n"}


def test_a_run_has_the_laboratory_of_its_launch():
    a = np.arange(16).reshape(4, 4)
    how = {"threads": 16, "schedule": "asynchronous", "trace": True}
    run = mm.UMM(4, 3).run(transpose, a, np.zeros_like(a), **how)
    expected = mm.lab(
        *(transpose, a, np.zeros_like(a)),
        threads=16,
        machine=mm.UMM(4, 3),
        schedule=how["schedule"],
    )
    assert run.lab().setup == expected.setup
    again = pickle.loads(pickle.dumps(run))
    assert again == run
    untraced = mm.UMM(4, 3).run(transpose, a, np.zeros_like(a), threads=16)
    for other in (again, untraced, mm.Run.from_json(run.to_json()), mm.total([run, run])):
        with pytest.raises(MMSimError, match=r"this run (doesn't hold its program|.*has no trace)"):
            other.lab()
    with pytest.raises(MMSimError, match="this player doesn't hold the program of a run"):
        mm.compare(run, run).lab()


def test_a_players_page_leads_to_the_laboratory_of_its_run(new_page, tmp_path):
    a = np.arange(16).reshape(4, 4)
    run = mm.UMM(4, 3).run(transpose, a, np.zeros_like(a), threads=16, trace=True)
    assert run.player().lab().setup == run.lab().setup
    (tmp_path / "of players").mkdir()
    place = tmp_path / "of players" / "player.html"
    run.trace.player().save(place, lab=tmp_path / "#1.html")
    page = new_page()
    page.goto(place.as_uri())
    page.get_by_role("link", name="Change it in the laboratory").click()
    page.locator("#verdict b").wait_for()
    assert time_on(page) == run.time
    run.player().save(tmp_path / "player.html")
    page.goto((tmp_path / "player.html").as_uri())
    assert page.get_by_role("link", name="Change it in the laboratory").count() == 0


def test_a_kernel_of_numba_has_no_laboratory():
    @cuda.jit
    def copy(a, b):
        b[cuda.grid(1)] = a[cuda.grid(1)]

    run = mm.DMM(4, 3).run(copy, np.arange(8), np.zeros(8), threads=8, trace=True)
    with pytest.raises(LaunchError, match="a laboratory has a program"):
        run.lab()


def test_what_no_page_can_show_is_refused():
    a = np.zeros((4, 4))
    with pytest.raises(LaunchError, match="a laboratory has a DMM, a UMM or an HMM"):
        mm.lab(transpose, a, a.copy(), threads=8, machine=mm.DMM(4, 3, bank_bytes=4))
    with pytest.raises(LaunchError, match="takes a program"):
        mm.lab(len, a, threads=8)
    with pytest.raises(LaunchError, match="threads are missing"):
        mm.lab(transpose, a, a)
    with pytest.raises(LaunchError, match="is not a machine"):
        mm.lab(transpose, a, a, threads=8, machine="DMM")


def test_a_program_without_arguments_has_those_of_its_example():
    lab = mm.lab(transposes.diagonal)
    assert repr(lab) == "<laboratory of diagonal on DMM(width=4, latency=3)>"
    assert lab.setup["launch"] == {"threads": "p", "block_size": ""}
    assert lab.setup["sizes"] == {"n": 4, "p": 16}


def test_a_claim_comes_with_its_conditions():
    (known,) = mm.lab(transposes.diagonal).setup["claims"]
    assert known["source"] == "SMM, Lemma 5.1"
    sources = {"n": "a.size", "p": "threads", "w": "width", "l": "latency"}
    assert known["parameters"] == sources
    assert condition(lambda n, w: isqrt(n) % w == 0 < w - 1) == "isqrt(n) % w == 0 < w - 1"
    with pytest.raises(NoTextError):
        condition(eval("lambda n: n > 1"))
    assert "claims" not in transposing().setup
    # A claim's cases have more than its launches take.
    assert "claims" not in mm.lab(look_back, machine=mm.HMM(2, 4, 10)).setup


def altered(case):
    return case, {name: n + 1 if type(n) is int else n for name, n in case.items()}


def test_the_page_evaluates_claims_as_python_does(new_page):
    asked, expected = [], []
    known = [one for one in claims() if one.id.startswith(("CONV-", "STENCIL-"))]
    for claim in known:
        for case in islice(claim.cases(), 2):
            numbers = {name: case[name] for name in claim.parameters}
            asked.append((claim.text.partition("= ")[2], numbers))
            expected.append(float(claim.evaluate(case)))
            for one in claim.requires:
                with suppress(NoTextError):
                    asked += [(condition(one.holds), own) for own in altered(case)]
                    expected += [call_with(one.holds, own) for own in altered(case)]
    page = new_page()
    page.add_script_tag(content=part("expressions.js"))
    each = "(one) => { try { return calculated(...one); } catch { return null; } }"
    found = page.evaluate(f"(all) => all.map({each})", asked)
    unknown = {text for (text, _), value in zip(asked, found, strict=True) if value is None}
    assert unknown == set()
    assert found == pytest.approx(expected)


def test_the_page_is_one_file_that_fetches_nothing():
    text = transposing().html()
    assert len(text.encode()) < LONGEST
    assert not re.search(
        r"""\b(src|href)=["'](?!data:)""", re.sub(r"<script.*?</script>", "", text, flags=re.S)
    )
    assert "default-src 'none'" in text
    run = mm.DMM(4, 3).run(transpose, *np.zeros((2, 4, 4)), threads=16, trace=True)
    heads = [
        re.sub('content="default-src .*"', "", one.partition("<title>")[0])
        for one in (text, run.player().html())
    ]
    assert heads[0] == heads[1]


def test_a_notebook_shows_the_page_in_a_frame():
    assert transposing()._repr_html_().startswith('<iframe class="mmsim-laboratory" ')


def test_the_command_writes_a_page(tmp_path, capsys):
    page = tmp_path / "lab.html"
    call = ["lab", "mmsim_algorithms.transpose:diagonal", "--width", "4", "--latency", "3"]
    assert main([*call, "--html", str(page)]) == 0
    assert "<laboratory of diagonal on DMM(width=4, latency=3)>" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_takes_a_file_with_one_program(tmp_path, capsys):
    file = tmp_path / "one.py"
    text = "import mmsim as mm\n\n\n@mm.program\ndef copy(T, a):\n    a[T.id] = 0\n"
    file.write_text(text + '\n\nif __name__ == "__main__":\n    assert False\n')
    page = str(tmp_path / "lab.html")
    assert main(["lab", str(file), "zeros:8", "--threads", "8", "--html", page]) == 0
    assert "<laboratory of copy on " in capsys.readouterr().out
    file.write_text(f"{text}{text[20:].replace('copy', 'other')}")
    assert main(["lab", str(file), "zeros:8", "--threads", "8", "--html", page]) != 0
    assert "lacks ':NAME'; write MODULE:NAME or FILE.py:NAME" in capsys.readouterr().err


def test_scripts_share_a_scope_without_two_names_of_one_thing():
    """Those of the page with the player's, too: all are joined."""
    from mmsim.view.player import scripts as player

    names = [
        name
        for text in [
            *map(part, (f"{one}.js" for one in SCRIPTS)),
            *(player.part(f"{one}.js") for one in player.SCRIPTS),
        ]
        for name in re.findall(
            r"^(?:async )?(?:function\*?|const|let|class) (\w+)", text, re.MULTILINE
        )
    ]
    assert sorted(set(names)) == sorted(names)
    assert set(WORK) - {"work"} <= set(SCRIPTS)


# ------------------------------------------------------------------ the page


MACHINES = {"DMM": mm.DMM(4, 3), "UMM": mm.UMM(4, 3), "HMM": mm.HMM(2, 4, 7, 2)}


def shipped_programs_have_the_times_of_python(page, chosen):
    """In one page, which takes over the setup of each program in turn."""
    for program in chosen:
        machine = MACHINES[program.listed[0].partition(",")[0]]
        example = program.prepare(machine.width, seed=3)
        for schedule in ("synchronous", "asynchronous"):
            how = {"schedule": schedule, **example.launch}
            lab = mm.lab(program, *example.arguments, machine=machine, **how)
            settled(page, partial(page.evaluate, TAKE, lab.setup))
            run = machine.run(program, *example.arguments, **how)
            name = f"{program.function.__module__}:{program.name}, {schedule}"
            assert page.evaluate("laboratory.result.time") == run.time, name
            assert page.locator(".fault:visible").count() == 0, name


def test_some_programs_have_the_times_of_python(page):
    shipped_programs_have_the_times_of_python(page, programs()[::31])


@pytest.mark.long
def test_all_programs_have_the_times_of_python(page):
    shipped_programs_have_the_times_of_python(page, programs())


def test_the_run_is_that_of_python(opened):
    page = opened(transposing())
    a = np.arange(16).reshape(4, 4)
    run = mm.DMM(4, 3).run(transpose, a, np.zeros_like(a), threads=16, trace=True)
    assert time_on(page) == run.time
    data, expected = page.evaluate("mmsim.data"), run.trace.player().data
    for one in (data["waits"], expected["waits"]):
        one.pop("line")  # of another file
    for name in ("dispatches", "waits", "lanes", "moved", "held", "changes", "rounds", "arrays"):
        assert data[name] == json.loads(json.dumps(expected[name])), name


def test_another_text_has_another_time(page):
    text = page.locator("#text")
    straight = time_on(page)
    changed = text.input_value().replace("b[j, i] = a[i, j]", "b[i, j] = a[i, j]")
    settled(page, lambda: text.fill(changed))
    copied = time_on(page)
    assert copied < straight
    assert "fewer" in page.locator("#verdict").inner_text()
    assert page.locator("#title").inner_text().startswith("transpose on a DMM")


def test_the_text_has_new_parameters(page):
    text = page.locator("#text")
    changed = (
        text.input_value()
        .replace("T, a, b)", "T, a, b, shift)")
        .replace("a[i, j]", "a[i, j] + shift")
    )
    settled(page, lambda: text.fill(changed))
    settled(page, lambda: page.get_by_label("shift: value").fill("5"))
    assert page.evaluate("laboratory.result.arrays.b.data")[:2] == [5, 9]


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_machine_width_and_latency_change_the_run(page, schedule):
    a = np.arange(16).reshape(4, 4)
    if schedule == "asynchronous":
        settled(page, page.get_by_role("button", name=schedule, exact=True).click)
    settled(page, lambda: page.get_by_label("width, as a number").fill("2"))
    settled(page, lambda: page.get_by_label("latency, as a number").fill("7"))
    how = {"threads": 16, "schedule": schedule}
    assert time_on(page) == mm.DMM(2, 7).run(transpose, a, np.zeros_like(a), **how).time
    settled(page, page.get_by_role("button", name="UMM", exact=True).click)
    assert time_on(page) == mm.UMM(2, 7).run(transpose, a, np.zeros_like(a), **how).time
    settled(page, page.get_by_role("button", name="HMM", exact=True).click)
    assert time_on(page) == mm.HMM(2, 2, 7, 1).run(transpose, a, np.zeros_like(a), **how).time


@pytest.mark.parametrize(
    ("kind", "layout"),
    [
        ("Padded", mm.layout.Padded(1)),
        ("Diagonal", mm.layout.Diagonal(4)),
        ("RAP", mm.layout.RAP(4, seed=0)),
        ("XorRows", mm.layout.XorRows(4)),
        ("Swizzle", mm.layout.Swizzle(2, 0, 2)),
    ],
)
def test_layouts_change_the_run(page, kind, layout):
    a = np.arange(16).reshape(4, 4)
    settled(page, lambda: page.get_by_label("a: layout", exact=True).select_option(kind))
    placed = mm.place(a, layout)
    assert time_on(page) == mm.DMM(4, 3).run(transpose, placed, np.zeros_like(a), threads=16).time


def test_sizes_have_sliders_and_arrays_follow_them(page):
    settled(page, lambda: page.get_by_label("n, as a number").fill("6"))
    a = np.arange(36).reshape(6, 6)
    assert time_on(page) == mm.DMM(4, 3).run(transpose, a, np.zeros_like(a), threads=36).time
    slider = page.get_by_label("n", exact=True)
    settled(page, lambda: slider.press("ArrowRight"))
    assert page.evaluate("laboratory.setup.sizes.n") == 7


def test_a_mistake_names_its_line_and_the_player_keeps_the_run_before(page):
    text = page.locator("#text")
    good = text.input_value()
    settled(page, lambda: text.fill(good.replace("T.id %", "T.idd %")))
    fault = page.locator("#program-error")
    assert fault.inner_text().startswith("Line 6:")
    assert page.locator("#gutter button.wrong").inner_text() == "6"
    assert text.get_attribute("aria-invalid") == "true"
    assert page.locator("#stale").is_visible()
    assert page.locator("#title").is_visible()
    settled(page, lambda: text.fill(good))
    assert fault.is_hidden()
    assert page.locator("#stale").is_hidden()


def test_an_index_out_of_range_names_line_and_thread(page):
    text = page.locator("#text")
    settled(page, lambda: text.fill(text.input_value().replace("b[j, i] =", "b[j + 1, i] =")))
    assert re.match(r"Line 7, thread 3: ", page.locator("#program-error").inner_text())


def test_a_wrong_field_says_so_beside_it(page):
    shape = page.get_by_label("a: shape")
    settled(page, lambda: shape.fill("n, n +"))
    assert shape.get_attribute("aria-invalid") == "true"
    assert "is not a size" in page.locator("#field-fault").inner_text()
    settled(page, lambda: shape.fill("n, n"))
    assert page.locator("#field-fault").count() == 0
    settled(page, lambda: page.get_by_label("a: layout", exact=True).select_option("RAP"))
    settled(page, lambda: page.get_by_label("n, as a number").fill("5"))
    assert "rotates rows of 4 words" in page.locator("#field-fault").inner_text()


def test_the_player_keeps_its_place(opened):
    page = opened(transposing())
    page.evaluate("mmsim.go(7); mmsim.choose(5)")
    page.locator("#queue .badge").first.click()
    followed = page.locator("#follow").input_value()
    settled(page, lambda: page.get_by_label("latency, as a number").fill("4"))
    assert page.evaluate("mmsim.time") == 7
    assert page.locator("#follow").input_value() == followed
    page.evaluate("mmsim.go(1e9)")
    settled(page, lambda: page.get_by_label("latency, as a number").fill("2"))
    assert page.evaluate("mmsim.time") == time_on(page)


# All elements of the player: what they are, are called, and say.
DRAWN = """[...laboratory.player.stage.root.querySelectorAll("#whole *")].map((one) => [
  one.tagName, one.className, one.title, one.hidden, one.disabled ?? null,
  [...one.childNodes].map(({ data }) => data?.trim() ?? "").join(""),
].join("|"))"""


def test_a_run_in_place_of_another_looks_as_if_it_were_the_first(opened, new_page):
    """Through another machine, findings, a mistake, and memories of other and of the same form."""
    page = opened(transposing())
    racing = transposing().setup["text"].replace("b[j, i]", "b[0, i]")
    changes = [
        "own.machine = { kind: 'HMM', dmms: 2, width: 4, global_latency: 5, shared_latency: 1 }",
        f"own.text = {json.dumps(racing)}",
        "own.text = own.text.replace('b[0', 'b[9')",
        "own.sizes.n = 8",
        "own.machine = { kind: 'UMM', width: 4, latency: 2 }",
        "own.text = own.text.replace('b[9', 'b[j')",
        "own.machine.latency = 3",
        "own.launch.threads = '8'",
    ]
    player = page.evaluate_handle("laboratory.player")
    for change in changes:
        link = page.evaluate("laboratory.link")
        act = partial(page.evaluate, f"laboratory.change((own) => {{ {change}; }})")
        settled(page, act)
        until(page, f"laboratory.link !== {json.dumps(link)}")
    assert page.evaluate("(player) => player === laboratory.player", player)
    other = new_page()
    other.goto(page.url.split("#")[0] + page.evaluate("laboratory.link"))
    until(other, "window.laboratory?.runs > 0")
    assert page.evaluate(DRAWN) == other.evaluate(DRAWN)


def test_another_text_leaves_alone_what_stays_the_same(opened):
    page = opened(transposing())
    page.evaluate("mmsim.go(3)")
    found = "laboratory.player.stage.root.querySelector('%s')"
    cell, *others = [
        page.evaluate_handle(found % name)
        for name in ("td[data-place]", ".lane + .lane", "#follow option + option", "#stops option")
    ]
    text = "own.text = own.text.replace('a[i, j]', 'a[i, j] + 1')"
    settled(page, lambda: page.evaluate(f"laboratory.change((own) => {{ {text}; }})"))
    page.evaluate("mmsim.go(1e9)")
    assert cell.evaluate("(cell) => cell.isConnected && cell.title").startswith("a[0, 0] = 0")
    last = "[...laboratory.player.stage.root.querySelectorAll('td[data-place]')].at(-1).title"
    assert page.evaluate(last).startswith("b[3, 3] = 16")
    assert [other.evaluate("(one) => one.isConnected") for other in others] == [True] * 3


def test_the_link_is_the_laboratory(opened, page):
    text = page.locator("#text")
    settled(page, lambda: text.fill(text.input_value() + "\n" * 3))
    settled(page, lambda: page.get_by_label("width, as a number").fill("3"))
    settled(page, lambda: page.get_by_label("b: layout", exact=True).select_option("Padded"))
    page.evaluate("mmsim.go(9)")
    until(page, "laboratory.setup.view.includes('t=9')")
    page.wait_for_timeout(400)
    setup, time, link = (
        page.evaluate("laboratory.setup"),
        time_on(page),
        page.evaluate("laboratory.link"),
    )
    again = opened(summing(), address=link)
    assert again.evaluate("laboratory.setup") == setup
    assert time_on(again) == time
    assert again.evaluate("mmsim.time") == 9


def setup_of_link(link):
    """The contents of a link, in its order."""
    packed = link.removeprefix("#").removeprefix("lab=")
    return json.loads(
        zlib.decompress(
            base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS
        )
    )


def test_python_makes_the_same_link_for_the_page_of_any_laboratory(page):
    a = np.random.RandomState(1).randint(0, 9, 12).reshape(3, 4)
    placed = mm.place(np.zeros((4, 3)), mm.layout.Padded(2))
    options = {"threads": 12, "machine": mm.DMM(4, 3), "schedule": "asynchronous"}
    odd = mm.lab(transpose, a, placed, **options)
    for laboratory in (odd, summing()):
        link, before = f"#{laboratory.fragment()}", page.evaluate("laboratory.link")
        settled(page, partial(page.evaluate, FOLLOW, link))
        until(page, f"laboratory.link !== {json.dumps(before)}")
        by_page, by_python = (
            setup_of_link(one) for one in (page.evaluate("laboratory.link"), link)
        )
        assert by_page | {"view": ""} == by_python
        assert by_python["text"] == laboratory.setup["text"]
        if laboratory is odd:
            assert time_on(page) == time_of(transpose, a, placed, **options)


def test_a_link_keeps_letters_of_all_scripts_and_leaves_out_sizes_without_a_use():
    laboratory = transposing()
    laboratory.setup["text"] += "# größer, 大\n"
    laboratory.setup["sizes"]["q"] = 3
    setup = setup_of_link(laboratory.fragment())
    assert setup == laboratory.setup | {"sizes": {"n": 4}}


def test_reset_leads_back_to_the_link_even_if_the_page_was_loaded_again(new_page, tmp_path):
    transposing().save(tmp_path / "lab.html")
    page = new_page()
    page.goto(f"{(tmp_path / 'lab.html').as_uri()}#{summing().fragment()}")
    until(page, "laboratory.link")
    time, before = time_on(page), page.evaluate("laboratory.link")
    settled(page, lambda: page.get_by_label("width, as a number").fill("2"))
    until(page, f"laboratory.link !== {json.dumps(before)}")
    page.reload()
    until(page, "laboratory.link")
    assert time_on(page) != time
    settled(page, lambda: page.get_by_role("button", name="Reset", exact=True).click())
    assert time_on(page) == time
    assert page.evaluate("laboratory.setup.program") == "shared_sum"


def test_a_program_of_60_lines_has_a_link_below_2000_letters(opened):
    lines = [
        f"    x{i} = a[(T.id + {i}) % a.size] * {i % 7} + b[T.id // {i + 1}]" for i in range(54)
    ]
    page = opened(transposing())
    text = (
        "import mmsim as mm\n\n\n@mm.program\ndef transpose(T, a, b):\n"
        + "\n".join(lines)
        + "\n    b[T.id] = x1\n"
    )
    text = text.replace("a.shape", "a")
    before = page.evaluate("laboratory.link")
    page.evaluate("text => laboratory.change(setup => { setup.text = text; })", text)
    until(page, f"laboratory.link !== {json.dumps(before)}")
    assert len(text.splitlines()) == 60
    assert len(page.evaluate("laboratory.link")) < 2000


def test_a_damaged_link_is_said(opened):
    page = opened(transposing(), address="#lab=AAAA")
    assert "damaged" in page.locator("#stale").inner_text()
    assert time_on(page) == 24


@pytest.mark.parametrize("make", [transposing, summing])
def test_the_file_of_python_prints_the_same_time(page, make, tmp_path):
    settled(page, partial(page.evaluate, TAKE, make().setup))
    settled(page, lambda: page.get_by_label("a: filled with").select_option("random"))
    settled(page, lambda: page.get_by_label("a: layout", exact=True).select_option("Padded"))
    settled(page, page.get_by_role("button", name="asynchronous", exact=True).click)
    time, text = time_on(page), page.evaluate("laboratory.python()")
    path = tmp_path / "exported.py"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) == time
    write(page, text)  # what only Python runs may stand there
    assert time_on(page) == time


def test_the_file_of_python_has_arrays_with_names_of_sizes(page, tmp_path):
    """An array p next to p threads, and imports that have to come first."""
    settled(page, partial(page.evaluate, TAKE, mm.lab(destination_designated).setup))
    path = tmp_path / "exported.py"
    path.write_text(page.evaluate("laboratory.python()"), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) == time_on(page)


def test_sums_with_shared_memory_and_barriers(page):
    settled(page, partial(page.evaluate, TAKE, summing().setup))
    a = np.random.RandomState(3).random_sample(16).astype(np.float32)
    how = {"threads": 16, "block_size": 8}
    run = mm.HMM(2, 4, 5).run(shared_sum, a, np.zeros(2), 2, **how)
    assert time_on(page) == run.time
    b = [one["float"] for one in page.evaluate("laboratory.result.arrays.b.data")]
    assert b == run.arrays["b"].tolist()


def test_the_curve_is_measured_and_a_point_becomes_the_run(opened):
    page = opened(mm.lab(transposes.diagonal))
    until(page, "laboratory.curve?.points.size === laboratory.curve.values.length")
    points = dict(page.evaluate("[...laboratory.curve.points]"))
    a = np.arange(16).reshape(4, 4)
    for width, time in points.items():
        run = mm.DMM(width, 3).run(transposes.diagonal, a, np.zeros_like(a), threads=16)
        assert run.time == time
    assert "SMM, Lemma 5.1" in page.locator("#curve-claim").inner_text()
    assert page.locator("#curve .claim").count() == 1
    point = page.get_by_role("button", name="w = 2:")
    point.focus()
    settled(page, lambda: page.keyboard.press("Enter"))
    assert time_on(page) == points[2]
    assert page.get_by_label("width, as a number").input_value() == "2"


def test_a_link_has_the_claims_of_its_program_as_long_as_it_is_that_program(opened):
    laboratory = mm.lab(transposes.diagonal)
    page = opened(transposing(), address=f"#{laboratory.fragment()}")
    page.locator("#curve .claim").wait_for()
    assert "SMM, Lemma 5.1" in page.locator("#curve-claim").inner_text()
    until(page, "laboratory.link")
    link = page.evaluate("laboratory.link")
    assert setup_of_link(link)["claims"] == laboratory.setup["claims"]
    assert len(link) < 2000
    page.evaluate("laboratory.change((setup) => { setup.text += '# other\\n'; })")
    page.locator("#curve .claim").wait_for(state="detached")
    until(page, f"laboratory.link !== {json.dumps(link)}")
    assert "claims" not in setup_of_link(page.evaluate("laboratory.link"))


def test_a_curve_that_a_change_interrupted_is_measured_when_one_goes_back(page):
    page.evaluate(
        """async () => {
          const change = (width) => laboratory.change((setup) => {
            setup.sizes.n = 24;
            setup.machine.width = width;
          });
          const before = laboratory.curve;
          change(8);
          while (laboratory.curve === before) await new Promise((done) => setTimeout(done));
          change(4);
          change(8);
        }"""
    )
    until(page, "laboratory.curve.points.size === laboratory.curve.values.length")


def test_findings_come_with_the_run(page):
    settled(page, partial(page.evaluate, TAKE, transposing(schedule="asynchronous").setup))
    text = page.locator("#text")
    settled(page, lambda: text.fill(text.input_value().replace("b[j, i] =", "b[0, 0] =")))
    assert page.locator("#findings li").count() > 0


TILES = [
    (mm.layout.RAW(), "RAW", "32x32", "float", [("write", "rows"), ("read", "columns")]),
    (mm.layout.Padded(1), "padded 1", "32x32", "float", [("read", "columns")]),
    (mm.layout.Swizzle(3, 3, 3), "128B", "64x64", "half", [("ldmatrix", "columns")]),
]


@pytest.mark.parametrize(("layout", "text", "tile", "kind", "accesses"), TILES)
def test_tiles_cost_what_conflicts_says(opened, layout, text, tile, kind, accesses, capsys):
    page = opened(transposing())
    asked = {"layout": text, "tile": tile, "type": kind, "vector": "1", "accesses": accesses}
    page.evaluate(
        "tile => laboratory.change(one => { one.mode = 'tile'; one.tile = tile; })", asked
    )
    until(page, "laboratory.tile")
    wanted = [word for access, way in accesses for word in (f"--{access}", way)]
    status = main(["conflicts", text, "--tile", tile, "--type", kind, *wanted])
    said = capsys.readouterr().out
    stages = sum(int(one) for one in re.findall(r"(\d+) stages?, ", said))
    assert time_on(page) == stages
    assert ("free of conflicts" in page.locator("#verdict").inner_text()) == (status == 0)
    assert page.locator("#columns").is_hidden()


def test_a_padding_that_is_found_frees_the_tile(opened, page):
    page.get_by_role("button", name="Tile", exact=True).click()
    page.get_by_role("button", name="padded 1", exact=True).click()
    page.locator("#verdict .fewer").wait_for()
    assert page.get_by_label("layout of the tile").input_value() == "padded 1"
    assert page.locator("#tile-banks .conflict").count() == 0
    page.wait_for_timeout(400)
    again = opened(summing(), address=page.evaluate("laboratory.link"))
    assert again.get_by_label("layout of the tile").input_value() == "padded 1"
    page.get_by_label("layout of the tile").fill("padded x")
    page.locator("#field-fault").wait_for()
    page.get_by_role("button", name="Program", exact=True).click()
    page.locator("#title").wait_for()


def test_the_editor_by_keyboard(page):
    text = page.locator("#text")
    text.focus()
    text.evaluate("area => area.setSelectionRange(area.value.length, area.value.length)")
    page.keyboard.type("def f():")
    page.keyboard.press("Enter")
    page.keyboard.type("pass")
    assert text.input_value().endswith("def f():\n    pass")
    page.keyboard.press("Tab")
    assert text.input_value().endswith("pass    ")
    page.keyboard.press("Shift+Tab")
    assert text.input_value().endswith("def f():\npass    ")
    time = page.evaluate("mmsim.time")
    page.keyboard.press("Space")
    assert page.evaluate("mmsim.time") == time  # Space is for the text, not for the player
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').shadowRoot.activeElement.id") != "text"


def test_the_picture_is_an_svg_and_a_png(opened):
    page = opened(transposing())
    picture = page.evaluate("laboratory.picture()")
    assert picture["text"].startswith("<svg ")
    assert "transpose on a DMM" in picture["text"]
    page.locator("#share").click()
    for kind, beginning in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator(f"#save-{kind}").click()
        path = download.value.path()
        assert path.read_bytes().startswith(beginning)


def test_the_notebook_s_frame_runs_too(opened, new_page):
    page = new_page()
    page.set_content(transposing()._repr_html_())
    frame = page.frame_locator("iframe")
    frame.locator("#verdict b").wait_for()
    assert frame.locator("#verdict b").inner_text().isdecimal()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_barrier(opened, scheme, width):
    script = axe.needed()
    page = opened(transposing(), color_scheme=scheme, viewport={"width": width, "height": 720})
    page.evaluate("mmsim.go(9)")
    assert axe.violations(page, script) == []
    text = page.locator("#text")
    settled(page, lambda: text.fill(text.input_value().replace("T.id %", "T.idd %")))
    assert axe.violations(page, script) == []
    page.locator("#share").click()
    assert axe.violations(page, script) == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_is_wider_than_the_page(opened, width):
    page = opened(transposing(), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# ------------------------------------------------------------------ what once went wrong


def write(page, text):
    settled(page, lambda: page.locator("#text").fill(text))


def test_inputs_come_back_with_their_parameters_and_a_renamed_one_keeps_its_own(page):
    text = page.locator("#text").input_value()
    write(
        page,
        text.replace("(T, a, b)", "(T, source, b)")
        .replace("a.", "source.")
        .replace("a[", "source["),
    )
    assert [(one["name"], one["kind"]) for one in page.evaluate("laboratory.setup.arguments")] == [
        ("source", "range"),
        ("b", "zeros"),
    ]
    write(page, "import mmsim as mm\n\n\n@mm.program\ndef other(T):\n    x = T.id\n")
    assert page.evaluate("laboratory.setup.arguments") == []
    write(page, text)
    assert [one["kind"] for one in page.evaluate("laboratory.setup.arguments")] == [
        "range",
        "zeros",
    ]


def test_a_curve_that_a_change_ended_is_measured_when_the_change_is_taken_back(page):
    page.evaluate(
        """async () => {
          const set = (latency) => laboratory.change((own) => { own.machine.latency = latency; });
          const { runs } = laboratory;
          set(9);
          while (laboratory.runs === runs) await new Promise((done) => setTimeout(done));
          set(10);
          set(9);
        }"""
    )
    until(page, "laboratory.curve.whole && laboratory.curve.shape.includes('\"latency\":9')")
    assert page.evaluate("laboratory.curve.points.size === laboratory.curve.values.length")
    assert page.locator("#curve-note").inner_text() == ""


def test_the_mark_of_waiting_warps_stays_when_its_line_is_written_anew(page):
    text = page.locator("#text").input_value()
    write(page, text.replace("b[j, i] = a[i, j]", "b[j, i] = a[i, j]  # here"))
    assert page.locator("#paint .here").inner_text().strip().endswith("# here")


def test_a_run_that_a_mistake_ends_is_not_compared(page):
    text = page.locator("#text").input_value()
    write(page, text.replace("b[j, i]", "b[j + 1, i]"))
    assert page.locator("#verdict").inner_text() == "6 time units to the mistake"
    write(page, text)
    assert page.locator("#verdict").inner_text() == "24 time units"


def test_a_mistake_does_not_move_the_player_nor_name_lines_of_the_run_before(page):
    top = page.locator("#title").bounding_box()["y"]
    write(page, "\n" + page.locator("#text").input_value() + "(")
    assert "before the mistake" in page.locator("#stale").inner_text()
    assert page.locator("#title").bounding_box()["y"] == top
    assert page.locator("#costs .cost:visible, #gutter .badge:visible").count() == 0


def test_what_is_said_aloud_is_said_once(page):
    write(page, page.locator("#text").input_value() + "(")
    page.evaluate(
        """() => {
          const root = document.getElementById("laboratory").shadowRoot;
          window.said = 0;
          new MutationObserver((all) => { window.said += all.length; })
            .observe(root.getElementById("program-error"), { childList: true, subtree: true });
        }"""
    )
    settled(page, lambda: page.locator("#text").press_sequentially("  "))
    assert page.evaluate("said") == 0


def test_a_reset_can_be_undone(page):
    text = page.locator("#text").input_value() + "# mine"
    write(page, text)
    settled(page, page.locator("#reset").click)
    assert page.locator("#text").input_value() != text
    settled(page, page.get_by_role("button", name="Undo reset").click)
    assert page.locator("#text").input_value() == text
    settled(page, page.locator("#reset").click)
    settled(page, lambda: page.get_by_label("width, as a number").fill("8"))
    assert page.locator("#reset").inner_text() == "Reset"


def test_the_focus_stays_in_a_player_that_is_made_anew(page):
    page.locator("#play").focus()
    settled(page, lambda: page.evaluate("laboratory.change((own) => { own.machine.width = 2; })"))
    assert page.evaluate("laboratory.player.stage.root.activeElement.id") == "play"


def test_a_number_that_is_left_empty_is_the_last_one(page):
    width = page.get_by_label("width, as a number")
    width.fill("")
    width.press("Tab")
    assert width.input_value() == "4"


def test_a_layout_s_mistake_is_at_its_field(page):
    settled(
        page,
        lambda: page.evaluate(
            """laboratory.change((own) => {
              own.arguments[1].layout = { kind: "Padded", by: "-1" };
            })"""
        ),
    )
    assert "at least 0, not -1" in page.locator("#inputs .field-fault").inner_text()


def test_a_tile_s_mistake_is_at_its_field(page):
    settled(page, page.locator("#mode-tile").click)
    settled(page, lambda: page.get_by_label("access 2: how").fill("column"))
    assert page.locator(".access").nth(1).locator(".field-fault").count() == 1
    assert page.locator("#tile-found").inner_text() == ""
    settled(page, lambda: page.get_by_label("access 2: how").fill("columns"))
    settled(page, lambda: page.get_by_label("rows and columns of the tile").fill("32x"))
    assert page.get_by_label("rows and columns of the tile").get_attribute("aria-invalid") == "true"


def test_a_machine_too_wide_to_draw_has_its_time(opened):
    page = opened(transposing())
    wide = "(own) => { own.machine.width = 1000000; }"
    settled(page, lambda: page.evaluate(f"laboratory.change({wide})"))
    assert "too large for the player" in page.locator("#stale").inner_text()
    assert time_on(page) == time_of(
        transpose,
        np.arange(16).reshape(4, 4),
        np.zeros((4, 4), int),
        threads=16,
        machine=mm.DMM(1000000, 3),
    )
    page.locator("#share").click()
    assert page.locator("#save-svg").is_disabled()


@pytest.mark.parametrize(
    "wrong",
    [
        {"machine": {"kind": "constructor"}},
        {"machine": {"kind": "DMM", "width": "4); print(1) #", "latency": 3}},
        {"sizes": None},
        {"sizes": {"n = 4; print(1) #": 4}},
        {"launch": {"threads": 4, "block_size": ""}},
        {"arguments": [{"name": "a", "kind": "valueOf", "shape": "n", "dtype": "int64"}]},
        {"arguments": [{"name": "a", "kind": "range", "shape": "n", "dtype": "x"}]},
        {"view": {"x": 1}},
        {"program": {"toString": 1}},
        {"tile": {"layout": "RAW"}},
        {"claims": [{"text": "T = n"}]},
    ],
)
def test_a_link_that_is_no_laboratory_is_refused(page, wrong):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps(transposing().setup | wrong).encode()) + packer.flush()
    letters = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    settled(page, partial(page.evaluate, FOLLOW, f"#lab={letters}"))
    assert "damaged" in page.locator("#stale").inner_text()
    assert page.evaluate("laboratory.setup.machine.width") == 4


def test_the_file_of_python_of_a_program_called_main(page, tmp_path):
    write(page, page.locator("#text").input_value().replace("def transpose", "def main"))
    file = tmp_path / "main.py"
    file.write_text(page.evaluate("laboratory.python()"))
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert done.stdout == "24\n"


def test_a_worker_that_does_not_hear_of_the_next_run_is_replaced(page):
    page.evaluate(
        """async () => {
          const runner = new laboratory.Runner(`const serve = (scope) => {
            scope.onmessage = ({ data }) => {
              while (data.stuck);
              scope.postMessage({ id: data.id, said: 1 });
            };
          };`);
          runner.ask({ stuck: true });
          window.answer = null;
          runner.ask({}).then((answer) => { window.answer = answer; });
        }"""
    )
    until(page, "answer?.said === 1")
