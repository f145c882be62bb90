"""The engine in JavaScript, in a page: what it makes of a setting, next to what Python does."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import astuple, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.engines.events.engine import drive, driver_of, trace_of
from mmsim.engines.events.recorder import Recorder
from mmsim.javascript.bundle import bundle
from mmsim.javascript.representation import number, plain
from mmsim.javascript.table import table
from mmsim.meaning.launch import Launch
from mmsim.model.layout import RAW, offsets_of
from mmsim.model.threads import Shape
from mmsim.names import everything
from mmsim.printable import printable_lines
from mmsim.results.report import Report
from mmsim.view.player.data import run_data
from tests.kit.generators.random_programs import RandomCase, RefDMM, RefHMM, RefUMM

ACCESS = (
    *("function", "line", "array", "kind", "space"),
    *("requests", "stages", "least", "access_class"),
)
ROUND = ("start", "time", "stages", "access_class")
FAULT = ("thread", "array", "message")
KINDS = {RefDMM: mm.DMM, RefUMM: mm.UMM, RefHMM: mm.HMM}

AGREEMENT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
"""The script that compares a result with the expected one, in the page."""


class JsEngine:
    """The engine in a page of Chromium, an empty one."""

    def __init__(self, page: Any) -> None:
        page.goto("about:blank")
        self.page = page
        names = {"ACCESS_FIELDS": ACCESS, "ROUND_FIELDS": ROUND}
        constants = "".join(f"const {name} = {json.dumps(of)};\n" for name, of in names.items())
        page.add_script_tag(content=f"{bundle()}{constants}{AGREEMENT}")
        self.call("useTable", table(everything()))

    def call(self, function: str, *args: Any) -> Any:
        """The result of a function of the engine; arguments and result are JSON."""
        script = f"(args) => JSON.stringify(({function})(...JSON.parse(args))) ?? 'null'"
        return json.loads(self.page.evaluate(script, json.dumps(args)))

    def disagreement(self, case: dict[str, Any], **options: Any) -> str | None:
        """The first difference between a case of `case_of` and the result here."""
        found: str | None = self.call("disagreement", case, options)
        return found


def setting_of(
    machine: mm.Machine,
    program: Any,
    args: tuple[Any, ...],
    *,
    threads: int,
    block_size: int | None = None,
    schedule: str = "synchronous",
    shape: Shape | None = None,
    max_accesses: int = 100_000,
) -> dict[str, Any]:
    """A launch as the page has it, with the program's representation for its text."""
    names = [one.name for one in program.code.parameters]
    numbers = "width", "latency", "dmms", "global_latency", "shared_latency"
    kind = {"kind": type(machine).__name__}
    return {
        "code": plain(program.code),
        "machine": kind | {key: getattr(machine, key) for key in numbers if hasattr(machine, key)},
        "threads": threads,
        "block_size": block_size,
        "shape": shape and {"grid": list(shape.grid), "block": list(shape.block)},
        "schedule": schedule,
        "arguments": [_argument(*one) for one in zip(names, args, strict=False)],
        "max_accesses": max_accesses,
    }


def _argument(name: str, value: Any) -> dict[str, Any]:
    placed = getattr(value, "layout", None)
    if placed is None and not isinstance(value, np.ndarray):
        return {"name": name, "value": number(value.item() if hasattr(value, "item") else value)}
    array = np.asarray(value if placed is None else value.data)
    found = {"name": name, "dtype": array.dtype.name, "shape": list(array.shape)}
    found["data"] = [number(one) for one in array.ravel().tolist()]
    if placed is None or isinstance(placed, RAW):
        return found
    if is_dataclass(placed) and type(placed).__module__ == RAW.__module__:
        own = {one.name: getattr(placed, one.name) for one in fields(placed)}
        return found | {"layout": {"kind": type(placed).__name__} | own}
    return found | {"offsets": offsets_of(placed, array.shape).ravel().tolist()}


def _before_fault(
    machine: mm.Machine,
    program: Any,
    args: tuple[Any, ...],
    shape: Shape | None,
    setting: dict[str, Any],
) -> dict[str, Any]:
    """The time and the player's data up to the fault that ends a run; nothing before a run."""
    threads, size, schedule = (setting[name] for name in ("threads", "block_size", "schedule"))
    most = setting["max_accesses"]
    try:
        launch = Launch(machine, program, args, threads, size, schedule, most, shape)
        recorder = Recorder(launch)
        driver = driver_of(launch, recorder)
    except mm.MMSimError:
        return {}
    with suppress(mm.MMSimError):
        drive(driver)
    trace = trace_of(driver, recorder, driver.now)
    return {"time": driver.now, "data": trace and run_data([trace])}


def case_of(
    machine: mm.Machine, program: Any, args: tuple[Any, ...], **sizes: Any
) -> dict[str, Any]:
    """A setting, and what Python's event engine makes of it."""
    setting = setting_of(machine, program, args, **sizes)
    shape = sizes.pop("shape", None)
    if shape is not None:
        del sizes["threads"], sizes["block_size"]
        sizes |= {"grid": shape.grid, "block": shape.block}
    expected: dict[str, Any] = {"error": None}
    try:
        run = machine.run(program, *args, engine="events", trace=True, **sizes)
    except mm.MMSimError as error:
        expected |= _before_fault(machine, program, args, shape, setting)
        place, index = getattr(error, "place", None), getattr(error, "index", None)
        expected["error"] = {
            "kind": type(error).__name__,
            "text": str(error),
            "index": list(index or []),
            "line": None if place is None else place.line,
            **{key: getattr(error, key) for key in FAULT if hasattr(error, key)},
        }
        return {"setting": setting, "expected": expected}
    expected |= {"time": run.time, "data": run_data([run.trace])}
    expected["arrays"] = {
        name: {
            "dtype": held.dtype.name,
            "shape": list(held.shape),
            "data": [number(one) for one in held.ravel().tolist()],
        }
        for name, held in run.arrays.items()
    }
    expected["accesses"] = [{key: getattr(row, key) for key in ACCESS} for row in run.accesses]
    expected["rounds"] = [{key: getattr(row, key) for key in ROUND} for row in run.rounds]
    return {"setting": setting, "expected": expected}


def machine_of(case: RandomCase) -> mm.Machine:
    """The machine of a random case."""
    return KINDS[type(case.machine_spec)](*astuple(case.machine_spec))


def sizes_of(case: RandomCase, schedule: str) -> dict[str, Any]:
    """The launch of a random case, as `setting_of` takes it."""
    sizes = {"threads": case.threads, "block_size": case.block_size, "schedule": schedule}
    shape = case.shape and Shape(*map(tuple, case.shape))
    return sizes | ({} if shape is None else {"shape": shape})


def random_case(case: RandomCase, schedule: str) -> dict[str, Any]:
    """A random program for `JsEngine.disagreement`."""
    how = sizes_of(case, schedule)
    return case_of(machine_of(case), case.program, tuple(case.arguments), **how)


def findings_of(report: Report) -> list[dict[str, Any]]:
    """The findings of a report as the player's data has them."""
    if report.record is not None:
        found: list[dict[str, Any]] = run_data([report.record], findings=report.findings)[
            "findings"
        ]
        return found
    return [
        {
            "title": one.title,
            "element": one.element,
            "note": printable_lines(one.note),
            "advice": one.advice,
            "cell": None,
            "accesses": [
                {"text": str(access), "thread": access.thread, "time": access.time}
                for access in one.accesses
            ],
        }
        for one in report.findings
    ]


def both_findings(
    engine: JsEngine,
    machine: mm.Machine,
    program: Any,
    args: tuple[Any, ...],
    *,
    max_accesses: int,
    **sizes: Any,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The findings of the engine in the page, and those of `Machine.check`."""
    setting = setting_of(machine, program, args, max_accesses=max_accesses, **sizes)
    shape = sizes.pop("shape", None)
    if shape is not None:
        sizes = {"grid": shape.grid, "block": shape.block, "schedule": sizes["schedule"]}
    report = machine.check(program, *args, max_accesses=max_accesses, trace=True, **sizes)
    options = {"check": True, "record": False}
    return engine.call("simulate", setting, options)["findings"], findings_of(report)
