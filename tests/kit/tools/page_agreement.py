"""Random programs in the engine of the page: each must give what the event engine gives.

    python -m tests.kit.tools.page_agreement [--count 20000] [--seed 0]

Draws so many programs, a hundred of each seed, and runs each under both schedules in Chromium and
in Python. Time, accesses, rounds, arrays and the player's data, with its reasons and variables,
must be the same to the last bit, or the error in every word. As many as three of ten others are
checked under both: the findings must be the same. Prints each program that differs. Exits with
status 0 if none does, else with 1.
"""

from __future__ import annotations

import argparse
import shutil
import sys

from playwright.sync_api import sync_playwright

from tests.kit.generators.race_free_programs import CANDIDATES, SCHEDULES
from tests.kit.generators.random_programs import RandomCase, cases, drawn
from tests.kit.views.js_engine import JsEngine, both_findings, machine_of, random_case, sizes_of

TOGETHER, CHECKED = 100, 30
"""The programs of a seed that are run, and those that are checked."""
MOST = 2000  # accesses of a program that is checked


def differences(engine: JsEngine, case: RandomCase, check: bool) -> list[str]:
    """The differences of a program, in words."""
    found = []
    for schedule in SCHEDULES:
        if check:
            sizes = sizes_of(case, schedule)
            args = tuple(case.arguments)
            here, there = both_findings(
                engine, machine_of(case), case.program, args, max_accesses=MOST, **sizes
            )
            said = None if here == there else f"finds {here}, not {there}"
        else:
            said = engine.disagreement(random_case(case, schedule))
        if said is not None:
            found.append(f"{schedule}: {said}\n{case.describe()}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000, help="programs (default: 20000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("there is no chromium", file=sys.stderr)
        return 1
    run = checked = wrong = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        engine = JsEngine(browser.new_page())
        for seed in range(given.seed, given.seed + -(-given.count // TOGETHER)):
            of_seed = min(TOGETHER, given.count - run)
            plain = drawn(cases(), of_seed, seed)
            careless = drawn(CANDIDATES, of_seed * CHECKED // TOGETHER, seed)
            every = [(case, False) for case in plain] + [(case, True) for case in careless]
            for case, check in every:
                for text in differences(engine, case, check):
                    print(f"seed {seed}, {text}\n", flush=True)
                    wrong += 1
            run, checked = run + len(plain), checked + len(careless)
            print(f"{run} programs run, {checked} checked: {wrong} differences", flush=True)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
