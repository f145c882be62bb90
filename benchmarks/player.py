"""Time the player's page in headless Chromium: how soon it stands, how fast it steps.

    python benchmarks/player.py [--events 50000]

An event is a dispatch or a wait of the trace. The page should open in under two seconds and step at
30 frames a second or more. It needs Playwright and Debian's chromium.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

import mmsim as mm

OPENS = 5
STEPS = 300

# Steps one after the other, each drawn before the next; the milliseconds between the frames.
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

# Places all over the run, each drawn and laid out at once; the milliseconds of each.
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


def count(run: mm.Run) -> int:
    return len(run.trace.dispatches) + len(run.trace.waits)


def opened(page: Page, file: Path) -> float:
    """Seconds until the page has drawn its first time unit."""
    before = time.perf_counter()
    page.goto(file.as_uri())
    page.evaluate("new Promise((done) => requestAnimationFrame(() => done(mmsim.time)))")
    return time.perf_counter() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--events", type=int, default=50_000, help="(default: 50000)")
    events = parser.parse_args().events
    chromium = shutil.which("chromium")
    if chromium is None:
        print("there is no chromium", file=sys.stderr)
        return 2
    run = run_of(events)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        before = time.perf_counter()
        player = run.trace.player()
        player.save(file)
        written = time.perf_counter() - before
        size = file.stat().st_size / 1e6
        print(
            f"{count(run)} events, {run.time} time units; page of {size:.1f} MB in {written:.1f} s"
        )
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        times = [opened(page, file) for _ in range(OPENS)]
        print(f"opens in {statistics.median(times):.2f} s (median of {OPENS}; goal: under 2)")
        spans = page.evaluate(STEP, [run.time // 2, min(STEPS, run.time // 2)])
        slow = sorted(spans)[int(0.95 * len(spans))]
        print(
            f"steps at {1000 / statistics.mean(spans):.0f} frames a second over {len(spans)} "
            f"steps, 95% of the frames within {slow:.0f} ms (goal: 30 a second, 33 ms)"
        )
        jumps = page.evaluate(JUMP, [0, run.time, 100])
        print(f"jumps anywhere in {statistics.median(jumps):.0f} ms (median of 100)")
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
