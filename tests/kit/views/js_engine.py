"""The engine in JavaScript, in a page: what it makes of a setting, next to what Python does."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields, is_dataclass
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
from mmsim.view.player.data import run_data

ACCESS = (
    *("function", "line", "array", "kind", "space"),
    *("requests", "stages", "least", "access_class"),
)
ROUND = ("start", "time", "stages", "access_class")
FAULT = ("thread", "array", "message")

AGREEMENT = """
/** The first difference of two results, null without one. A number of `near` may differ in its last bits. */
const differenceOf = (one, other, path = "", near = null) => {
  if (Object.is(one, other)) return null;
  const shown = (value) => String(JSON.stringify(value)).slice(0, 80);
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    const isNear = near && typeof one === "number" && typeof other === "number" &&
      Math.abs(one - other) <= near * Math.max(Math.abs(one), Math.abs(other));
    return isNear ? null : `${path}: ${shown(one)}, but ${shown(other)}`;
  }
  const names = Object.keys(one), others = Object.keys(other);
  if (names.length !== others.length) return `${path}: ${names.length} and ${others.length}: ${names} | ${others}`;
  for (const name of names) {
    const found = differenceOf(one[name], other[name], `${path}.${name}`, near);
    if (found !== null) return found;
  }
  return null;
};

/** Some fields of rows. */
const fieldsOnly = (rows, names) => rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));

/** What differs between a case's result in Python and here, null if nothing does. */
const disagreement = ({ setting, expected }, options = {}, near = null) => {
  const result = simulate(setting, options);
  const { error } = result;
  if ((error === null) !== (expected.error === null)) {
    return `error: ${JSON.stringify(expected.error)}, but ${JSON.stringify(error)}`;
  }
  const mine = { time: result.time, arrays: result.arrays, data: result.data && { ...result.data, findings: [] } };
  if (error === null) {
    mine.accesses = fieldsOnly(result.accesses, ACCESS_FIELDS);
    mine.rounds = fieldsOnly(result.rounds, ROUND_FIELDS);
  } else {
    mine.error = { kind: error.kind, text: error.text, index: error.index ?? [], line: error.place?.line ?? null };
    for (const name of FAULT_FIELDS) mine.error[name] = error[name];
  }
  for (const part of Object.keys(expected)) {
    const found = expected[part] === null ? null : differenceOf(expected[part], mine[part], part, near);
    if (found !== null) return found;
  }
  return null;
};
"""


class JsEngine:
    """The engine in a page of Chromium, an empty one."""

    def __init__(self, page: Any) -> None:
        page.goto("about:blank")
        self.page = page
        names = {"ACCESS_FIELDS": ACCESS, "ROUND_FIELDS": ROUND, "FAULT_FIELDS": FAULT}
        constants = "".join(f"const {name} = {json.dumps(of)};\n" for name, of in names.items())
        page.add_script_tag(content=bundle() + constants + AGREEMENT)
        self.call("useTable", table())

    def call(self, function: str, *args: Any) -> Any:
        """The result of a function of the engine; arguments and result are JSON."""
        script = f"(args) => JSON.stringify({function}(...JSON.parse(args))) ?? 'null'"
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
    """The time and the player's data of a run up to the fault that ends it; nothing before a run."""
    sizes = [setting[name] for name in ("threads", "block_size", "schedule", "max_accesses")]
    try:
        launch = Launch(machine, program, args, *sizes, shape)
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
            **{key: getattr(error, key, None) for key in FAULT},
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
