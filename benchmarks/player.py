"""Time the player's page in headless Chromium: how soon it stands, how fast it steps.

    python benchmarks/player.py [--events 50000 500000]
    python benchmarks/player.py --write old.html
    python benchmarks/player.py --pages old.html new.html

An event is a dispatch or a wait of the trace. A page of 50,000 events should open within 0.27
seconds, one of 500,000 within 1.5, and 95% of the frames should take at most 17 ms, which is a
frame of a screen of 60 Hz. The smallest number of events is measured as two runs side by side too.
`--write` writes the player of a transpose at width 32, and `--pages` steps through such pages, of
several versions, in turn. It needs Playwright, Debian's chromium, and a computer that does nothing
else.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

import mmsim as mm
from mmsim.view.player import Player

OPENS = 9
STEPS = 300
GOALS = {50_000: 0.27, 500_000: 1.5}
"""Seconds in which a page of so many events should open."""
TURNS = 5
"""The number of measurements of each of several pages, in turn."""
FRAME = 17
"""Milliseconds that 95% of the frames should take at most."""

# Consecutive steps, each drawn before the next; the milliseconds between the frames.
STEP = """async ([from, steps]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const spans = [];
  let before = await frame();
  for (let step = 1; step <= steps; step++) {
    mmsim.go(from + step);
    const now = await frame();
    spans.push(now - before);
    before = now;
  }
  return spans;
}"""

# Consecutive steps, each drawn and laid out immediately; the milliseconds of each.
LAID_OUT = """([from, steps]) => Array.from({ length: steps }, (_, step) => {
  const before = performance.now();
  mmsim.go(from + step);
  document.body.offsetHeight;
  return performance.now() - before;
})"""

# Places all over the run, each drawn and laid out immediately; the milliseconds of each.
JUMP = """([start, end, jumps]) => Array.from({ length: jumps }, (_, jump) => {
  const before = performance.now();
  mmsim.go(start + ((jump * 7919) % (end - start + 1)));
  document.body.offsetHeight;
  return performance.now() - before;
})"""


@mm.program
def shuffle(T: mm.Thread, a: mm.Array, b: mm.Array, P: mm.Array, turns: int) -> None:
    """Every thread moves one word to a place of its own, again and again."""
    for turn in range(turns):
        b[P[T.id]] = a[T.id] + turn


def run_of(events: int) -> mm.Run:
    """A run of about so many events: 32 warps of 4 threads, 3 accesses a turn."""
    P = np.random.RandomState(0).permutation(128)

    def run(turns: int) -> mm.Run:
        return mm.DMM(4, 8).run(
            shuffle,
            np.arange(128),
            np.zeros(128),
            P,
            turns,
            threads=128,
            schedule="asynchronous",
            trace=True,
        )

    return run(max(1, round(4 * events / count(run(4)))))


@mm.program
def across(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Transpose: warps read rows, and write columns, each of one bank."""
    row, column = T.id // 32, T.id % 32
    b[column, row] = a[row, column]


def tile() -> mm.Run:
    """A transpose of a tile of 32 x 32 words."""
    a = np.arange(1024).reshape(32, 32)
    return mm.DMM(32, 8).run(across, a, np.zeros_like(a), threads=1024, trace=True)


def count(run: mm.Run) -> int:
    return len(run.trace.dispatches) + len(run.trace.waits)


def opened(page: Page, file: Path) -> float:
    """Seconds until the page has drawn its first time unit."""
    before = time.perf_counter()
    page.goto(file.as_uri())
    page.evaluate("new Promise((done) => requestAnimationFrame(() => done(mmsim.time)))")
    return time.perf_counter() - before


def measure(page: Page, file: Path, last: int, goal: float | None) -> None:
    """Print how soon a page opens and how fast it steps."""
    times = [opened(page, file) for _ in range(OPENS)]
    wanted = "" if goal is None else f"; goal: {goal}"
    print(f"  opens in {statistics.median(times):.2f} s (median of {OPENS}{wanted})")
    spans = sorted(page.evaluate(STEP, [last // 2, min(STEPS, last // 2)]))
    print(
        f"  steps at {1000 / statistics.mean(spans):.0f} frames a second over {len(spans)} steps, "
        f"95% of the frames within {spans[int(0.95 * len(spans))]:.0f} ms (goal: {FRAME})"
    )
    jumps = page.evaluate(JUMP, [0, last, 100])
    print(f"  jumps anywhere in {statistics.median(jumps):.0f} ms (median of 100)")


def in_turn(browser: Browser, files: Sequence[Path]) -> None:
    """Print how fast pages of the same run step: of each the median of several turns."""
    found: dict[Path, list[list[float]]] = {file: [] for file in files}
    for _ in range(TURNS):
        for file in files:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.resolve().as_uri())
            page.evaluate(STEP, [0, 30])
            spans = sorted(page.evaluate(STEP, [40, 120]))
            page.evaluate(LAID_OUT, [40, 20])
            worked = sorted(page.evaluate(LAID_OUT, [60, 120]))
            found[file].append([spans[int(0.95 * 120)], worked[60], worked[int(0.95 * 120)]])
            page.close()
    for file, turns in found.items():
        frame, half, most = (statistics.median(column) for column in zip(*turns, strict=True))
        print(
            f"{file.name}: 95% of the frames within {frame:.0f} ms; a step is drawn and laid out "
            f"in {half:.1f} ms (median of 120), 95% of them within {most:.1f} ms"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--events", type=int, nargs="+", default=list(GOALS), help="(default: 50000 500000)"
    )
    parser.add_argument("--write", type=Path, help="write the page of a transpose at width 32")
    parser.add_argument("--pages", type=Path, nargs="+", help="step through pages in turn")
    given = parser.parse_args()
    events = sorted(given.events)
    if given.write:
        tile().player().save(given.write)
        return 0
    chromium = shutil.which("chromium")
    if chromium is None:
        print("there is no chromium", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        if given.pages:
            in_turn(browser, given.pages)
            return 0
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        for number in events:
            run = run_of(number)
            players: dict[str, Callable[[], Player]] = {"": run.player}
            if number == events[0]:
                players["two runs side by side, each "] = partial(mm.compare, run, run)
            for what, make in players.items():
                before = time.perf_counter()
                make().save(file)
                written = time.perf_counter() - before
                print(
                    f"{what}{count(run)} events, {run.time} time units; page of "
                    f"{file.stat().st_size / 1e6:.1f} MB in {written:.1f} s"
                )
                measure(page, file, run.time, None if what else GOALS.get(number))
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
