"""The rules of the machines and of the language, tested on every engine.

The modules named here run once for each of them, with `run`'s default engine set to it. "fused" is
the array engine's compiled path, taken wherever a program has one, however small, and left
uncompiled: the text that would be compiled runs as Python.

`browser` and `show` are a real Chromium for the tests of the player.
"""

from __future__ import annotations

import gc
import shutil
from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mmsim.engines import selection
from mmsim.engines.array import engine as array
from mmsim.engines.array.fused import build, execute, tiering
from tests.kit.long_variants import LONG

# A loaded machine is slow, not wrong; and programs take long to draw, some in vain.
settings.register_profile(
    "mmsim", deadline=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("mmsim")

ON_EVERY_ENGINE = {
    "test_bad_input",
    "test_language_arithmetic",
    "test_language_meaning",
    "test_layouts",
    "test_numba_forms",
    "test_numba_kernels",
    "test_numba_known",
    "test_numba_records",
    "test_numba_threads",
    "test_numba_tuples",
    "test_timing_rules",
}

IN_ONE_PROCESS = {
    "tests/docs/test_course.py": "kernels",
    "tests/docs/test_notebooks.py": "kernels",
    "tests/docs/test_site.py": "kernels",
    **{
        f"tests/view/test_player{part}.py": "players"
        for part in (
            "",
            "_axe",
            "_embedded",
            "_kinds",
            "_lecture",
            "_runs",
            "_stops",
            "_widget",
            "_work",
        )
    },
    "tests/view/test_shown_figures.py": "players",
    "tests/gpu/test_counters_page.py": "the page about a card",
    "tests/gpu/test_metal.py": "the page about a card",
    "tests/monitors/test_planted.py": "planted bugs",
    "tests/monitors/test_planted_on_gpu.py": "planted bugs",
}
"""Beginnings of tests' names, and what they share: one process does it, once. As it does each file.

Kernels of notebooks share the choice of ports: of two begun at one time both may pick the same.
"""

FIRST = [
    "kernels",
    "players",
    "tests/cli/test_interrupts.py",
    "tests/claims/test_papers.py",
    "tests/papers/test_models.py",
    "tests/sweeps/test_sweep.py",
    "tests/view/test_terminal.py",
    "tests/view/test_lab.py",
    "tests/docs/test_docs.py",
    "tests/gpu/test_gpu_experiments.py",
    "tests/gpu/test_cuda_emulated.py",
    "tests/frontend/test_numba_calls.py",
    "planted bugs",
]
"""What takes longest begins first, and then files of few tests: those of many take little each."""


def pytest_configure(config):
    """A warning in our own code is an error; one in a library is not ours to fix."""
    names = {path.stem for path in Path(__file__).parent.glob("*/*.py")}
    own = "|".join(sorted({"mmsim", "mmsim_algorithms", "tests", *names}))
    config.addinivalue_line("filterwarnings", rf"error:::({own})(\.|$)")


def group_of(name):
    """What a process takes as one piece: a file, or those that share something.

    So each of its fixtures, programs and compiled kernels is made once.
    """
    for beginning, group in IN_ONE_PROCESS.items():
        if name.startswith(beginning):
            return group
    return name.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadgroup`; the marks of pytest-xdist 3.8 have no effect with pytest 9.2."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

        def _assign_work_unit(self, node):
            if not any(self.assigned_work.values()):
                order = {group: place for place, group in enumerate(FIRST)}
                left = sorted(
                    self.workqueue.items(),
                    key=lambda one: (order.get(one[0], len(order)), len(one[1])),
                )
                self.workqueue = OrderedDict(left)
            super()._assign_work_unit(node)

    return ByGroup(config, log)


def pytest_ignore_collect(collection_path, config):
    """Leave out a file of long tests alone: it is imported only where they are run."""
    if config.option.markexpr != "not long" or collection_path.suffix != ".py":
        return None
    all_long = "\npytestmark = pytest.mark.long\n" in collection_path.read_text("utf-8")
    return True if all_long else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from looking at thousands of tests while there are more and more.

    Nor does it look at them afterwards.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.removeprefix("tests/") in LONG:
            item.add_marker(pytest.mark.long)


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__ in ON_EVERY_ENGINE:
        metafunc.parametrize("engine_used", ["events", "array", "fused"], indirect=True)


@pytest.fixture(autouse=True)
def engine_used(request):
    """Set the default engine for a test of `ON_EVERY_ENGINE`."""
    name = getattr(request, "param", None)
    if name is None:
        return
    monkeypatch = request.getfixturevalue("monkeypatch")
    monkeypatch.setattr(selection, "default_engine", "events" if name == "events" else "array")
    if name == "fused":
        take_the_fused_path(monkeypatch)


def take_the_fused_path(monkeypatch):
    """Take the array engine's fused path wherever a program has one, and leave it uncompiled."""
    monkeypatch.setattr(array, "FEW", 0)
    monkeypatch.setattr(tiering.Tiering, "at_once", lambda self: True)
    monkeypatch.setattr(execute.Execution, "_ready", lambda self: build.plain(self.text.kernel))


@pytest.fixture
def uncompiled(monkeypatch):
    """What Numba would compile runs as Python: done sooner where a program is used once."""
    monkeypatch.setattr(execute.Execution, "_ready", lambda self: build.plain(self.text.kernel))


BROWSERS = {}
"""The Chromium that runs, with Playwright, by the folder of the tests that share it."""
EMPTY = {}
"""The pages of each of them that no test shows anything on."""


@pytest.fixture(scope="module")
def browser(request):
    """A real Chromium. The tests that ask for it skip themselves where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright isn't installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    folder = request.node.path.parent
    if folder not in BROWSERS:
        running = playwright.sync_playwright().start()
        started = running.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        BROWSERS[folder] = started, running
    return BROWSERS[folder][0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """End a folder's browser after its last test: others could not use an event loop next to it."""
    for folder in list(BROWSERS):
        if nextitem is None or nextitem.path.parent != folder:
            started, running = BROWSERS.pop(folder)
            EMPTY.pop(started, None)
            started.close()
            running.stop()


@pytest.fixture(scope="module")
def shared_page(browser):
    """An empty page, which the tests of a file share: they begin with what it shows."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    yield page
    page.close()


@pytest.fixture
def new_page(browser):
    """Gives an empty page, which later tests use again: Chromium takes long to make a new one.

    So it must not be left with scripts, routes or a clock that the next document has, too.
    """
    empty, taken = EMPTY.setdefault(browser, []), []

    def take(*, viewport=None, color_scheme="light", reduced_motion="no-preference"):
        page = empty.pop() if empty else browser.new_page()
        taken.append(page)
        page.set_viewport_size(viewport or {"width": 1280, "height": 720})
        page.emulate_media(media="null", color_scheme=color_scheme, reduced_motion=reduced_motion)
        return page

    yield take
    for page in taken:
        page.goto("about:blank")
        page.mouse.move(0, 0)
        empty.append(page)


@pytest.fixture
def show(browser, new_page, tmp_path):
    """Opens a player; afterwards, that nothing went wrong there and nothing was fetched.

    `before` is a script that runs before those of the page, on a page of its own, as with `alone`;
    `on` is the page of a player before, which is shown no more.
    """
    saved, pages, wrong, asked = [], {}, [], []
    heard = {
        "console": lambda message: wrong.append(message.text),
        "pageerror": lambda error: wrong.append(str(error)),
        "request": lambda request: asked.append(request.url),
    }

    def show(player, *, address="", before="", alone=False, on=None, **options):
        path = tmp_path / f"page{len(saved)}.html"
        player.save(path)
        saved.append(path)
        own = alone or before
        shown = on or (browser.new_page(**options) if own else new_page(**options))
        if not on:
            pages[shown] = own
            for event, hear in heard.items():
                shown.on(event, hear)
        if before:
            shown.add_init_script(before)
        shown.goto(path.as_uri() + address)
        return shown

    yield show
    for shown, own in pages.items():
        if own:
            shown.close()
        else:
            for event, hear in heard.items():
                shown.remove_listener(event, hear)
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == len(saved)
