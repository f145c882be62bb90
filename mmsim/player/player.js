"use strict";
/* The player of one run, in three parts:

   the state: what the machine holds at a time unit, worked out from the run's data alone;
   the drawing: from a time unit and what is followed to what the page shows;
   the controls: from keys, buttons and clicks to a time unit.

   Text of the run (names, source, values) only ever becomes textContent or a title. */

// ------------------------------------------------------------------ the state

/** The first position in the sorted `list` whose entry is greater than `value`. */
function after(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `count` empty lists. */
function lists(count) {
  return Array.from({ length: count }, () => []);
}

/** What every time unit is worked out from: the run's data, with tables to find things quickly. */
function prepare(data) {
  const { dispatches, waits } = data;
  const count = dispatches.time.length;
  const firstLane = [];
  const byUnit = lists(data.units.length);
  const unitTimes = lists(data.units.length);
  const warpDispatches = lists(data.warps.length);
  const warpTimes = lists(data.warps.length);
  // writes[array][copy][element]: the times of its writes, and the values, in the order in which
  // they take effect.
  const writes = data.arrays.map((array) => array.data.map(() => new Map()));
  let lane = 0;
  let written = 0;
  for (let d = 0; d < count; d++) {
    firstLane.push(lane);
    byUnit[dispatches.unit[d]].push(d);
    unitTimes[dispatches.unit[d]].push(dispatches.time[d]);
    warpDispatches[dispatches.warp[d]].push(d);
    warpTimes[dispatches.warp[d]].push(dispatches.time[d]);
    const lanes = dispatches.lanes[d];
    const [, , array, kind] = data.sites[dispatches.site[d]];
    if (kind === "write") {
      // What came before the window is in the arrays already.
      if (dispatches.time[d] >= data.start) {
        const cells = writes[array][dispatches.copy[d]];
        // Within a warp the lowest-numbered thread's write stays, so it comes last.
        for (let i = lanes - 1; i >= 0; i--) {
          const element = data.lanes.element[lane + i];
          let cell = cells.get(element);
          if (!cell) cells.set(element, (cell = { times: [], values: [] }));
          cell.times.push(dispatches.time[d]);
          cell.values.push(data.written[written + i]);
        }
      }
      written += lanes;
    }
    lane += lanes;
  }
  const warpWaits = lists(data.warps.length);
  const warpWaitStarts = lists(data.warps.length);
  waits.start.forEach((start, w) => {
    warpWaits[waits.warp[w]].push(w);
    warpWaitStarts[waits.warp[w]].push(start);
  });
  const completed = dispatches.completion.map((_, d) => d);
  completed.sort((a, b) => dispatches.completion[a] - dispatches.completion[b] || a - b);
  const addresses = data.arrays.map((array) =>
    array.addresses.map((row, copy) =>
      typeof row === "number" ? array.data[copy].map((_, element) => row + element) : row,
    ),
  );
  return {
    data, firstLane, byUnit, unitTimes, warpDispatches, warpTimes, writes, warpWaits, warpWaitStarts,
    completed, completionTimes: completed.map((d) => dispatches.completion[d]), addresses,
  };
}

/** The dispatch of which a stage is in register j of a unit at time t, and which stage; or null. */
function inRegister(model, unit, j, t) {
  const { dispatches } = model.data;
  const position = after(model.unitTimes[unit], t - j) - 1;
  if (position < 0) return null;
  const dispatch = model.byUnit[unit][position];
  const stage = t - j - dispatches.time[dispatch];
  return stage < dispatches.stages[dispatch] ? { dispatch, stage } : null;
}

/** The lanes of a dispatch, of one stage if given, as numbers into the columns of `lanes`. */
function lanesOf(model, dispatch, stage) {
  const first = model.firstLane[dispatch];
  const found = [];
  for (let i = first; i < first + model.data.dispatches.lanes[dispatch]; i++) {
    if (stage === undefined || model.data.lanes.stage[i] === stage) found.push(i);
  }
  return found;
}

/** The address that a lane of a dispatch asks for. */
function addressOf(model, dispatch, lane) {
  const { dispatches, sites, lanes } = model.data;
  const array = sites[dispatches.site[dispatch]][2];
  return model.addresses[array][dispatches.copy[dispatch]][lanes.element[lane]];
}

/** The waits that cover time t, as numbers, in their order. */
function waitsAt(model, t) {
  const found = [];
  model.warpWaitStarts.forEach((starts, warp) => {
    const position = after(starts, t) - 1;
    if (position < 0) return;
    const wait = model.warpWaits[warp][position];
    if (model.data.waits.end[wait] > t) found.push(wait);
  });
  return found.sort((a, b) => a - b);
}

/** The first dispatch of a warp at time t or later, if there is one. */
function nextOf(model, warp, t) {
  return model.warpDispatches[warp][after(model.warpTimes[warp], t - 1)];
}

/** What a cell holds after the dispatches of time t. */
function valueAt(model, array, copy, element, t) {
  const cell = model.writes[array][copy].get(element);
  const position = cell ? after(cell.times, t) - 1 : -1;
  return position < 0 ? model.data.arrays[array].data[copy][element] : cell.values[position];
}

/** The dispatches that begin at time t. */
function dispatchedAt(model, t) {
  const { time } = model.data.dispatches;
  const found = [];
  for (let d = after(time, t - 1); d < time.length && time[d] === t; d++) found.push(d);
  return found;
}

/** The dispatches that complete at time t. */
function completedAt(model, t) {
  return model.completed.slice(
    after(model.completionTimes, t - 1), after(model.completionTimes, t),
  );
}

/** The machine during time unit t, as `Trace.cycles` of mmsim tells it. */
function state(model, t) {
  const { data } = model;
  const { dispatches, waits } = data;
  const registers = {};
  data.units.forEach((unit, u) => {
    registers[unit.name] = Array.from({ length: unit.latency }, (_, j) => {
      const held = inRegister(model, u, j, t);
      if (!held) return null;
      return {
        dispatch: dispatches.number[held.dispatch],
        warp: dispatches.warp[held.dispatch],
        number: held.stage,
        requests: lanesOf(model, held.dispatch, held.stage).map((lane) => [
          data.lanes.thread[lane], addressOf(model, held.dispatch, lane),
        ]),
      };
    });
  });
  const memory = {};
  data.arrays.forEach((array, a) => {
    memory[array.name] = array.data.map((row, copy) =>
      row.map((_, element) => valueAt(model, a, copy, element, t)),
    );
  });
  return {
    time: t,
    registers,
    waiting: waitsAt(model, t).map((w) => ({
      warp: waits.warp[w],
      reason: data.reasons[waits.reason[w]],
      start: waits.start[w],
      end: waits.end[w],
      unit: waits.unit[w] < 0 ? null : data.units[waits.unit[w]].name,
      line: waits.line[w],
    })),
    dispatched: dispatchedAt(model, t).map((d) => dispatches.number[d]),
    completed: completedAt(model, t).map((d) => dispatches.number[d]),
    memory,
  };
}

/** Why a warp waits at time t, in words: its reason, and the conflict behind it, if any. */
function explain(model, wait, t) {
  const { data } = model;
  const { dispatches, waits } = data;
  const reason = data.reasons[waits.reason[wait]];
  const unit = waits.unit[wait];
  if (reason === "round") return "round: others aren't done";
  if (reason === "barrier") return "barrier: others haven't come";
  const conflict = (d) =>
    data.units[unit].conflict === "bank"
      ? `bank conflict of ${dispatches.stages[d]} stages`
      : `${dispatches.stages[d]} address groups`;
  if (reason === "turn") {
    const entering = inRegister(model, unit, 0, t);
    if (!entering) return `turn at ${data.units[unit].name}`;
    const behind = `turn at ${data.units[unit].name}: behind warp ${dispatches.warp[entering.dispatch]}`;
    return dispatches.stages[entering.dispatch] > 1
      ? `${behind}, ${conflict(entering.dispatch)}` : behind;
  }
  const own = nextOf(model, waits.warp[wait], waits.start[wait]);
  if (own === undefined || dispatches.time[own] !== waits.start[wait] || dispatches.stages[own] === 1)
    return `latency of ${data.units[unit].name}`;
  const stage = t - dispatches.time[own] + 1;
  return stage <= dispatches.stages[own]
    ? `${conflict(own)}: stage ${stage} enters`
    : `latency of ${data.units[unit].name}, after ${conflict(own)}`;
}

// ------------------------------------------------------------------ the drawing

const COLOURS = [ // Okabe and Ito's, told apart by all; warp numbers stand beside them always
  "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#a6a6a6",
];
const ROWS = 64; // of memory on one page
const REGISTERS = 48; // of a pipeline drawn with the empty ones
const QUEUE = 200; // waiting warps listed
const RUNS = 3; // runs of warps shown at a source line
const REQUESTS = 8; // requests written into a register
const TALL = 2000; // warps in the timeline
const GUTTER = 44; // of the timeline, for warp numbers

const byId = (id) => document.getElementById(id);

/** A new element with a class, a text and a title. */
function make(tag, className = "", text = "", title = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== "") element.textContent = text;
  if (title) element.title = title;
  return element;
}

const model = prepare(JSON.parse(byId("data").textContent));
const { data } = model;
const view = { time: data.start, follow: null, playing: false, whole: false };

/** How a value is written: short in a cell, in full in its title. */
function written(value, isFloat, short) {
  if (!isFloat || typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return Math.abs(value) < 1e6 || !short ? `${value}.0` : value.toExponential(1);
  return short ? String(Number(value.toPrecision(4))) : String(value);
}

/** An element's name: a[1, 2], with its block for a shared array. */
function elementName(array, copy, element) {
  const { name, shape, shared } = data.arrays[array];
  const index = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(element % shape[axis]);
    element = Math.floor(element / shape[axis]);
  }
  return `${name}[${index.join(", ")}]${shared && data.arrays[array].data.length > 1 ? ` of block ${copy}` : ""}`;
}

/** Whether a dispatch is one of what is followed. */
function follows(dispatch) {
  const { follow } = view;
  if (!follow) return false;
  if (follow.kind === "warp") return data.dispatches.warp[dispatch] === follow.warp;
  if (follow.kind === "line") {
    const [name, line] = data.sites[data.dispatches.site[dispatch]];
    return line === follow.line && name === follow.function;
  }
  return data.dispatches.unit[dispatch] === follow.unit
    && lanesOf(model, dispatch).some((lane) => addressOf(model, dispatch, lane) === follow.address);
}

function badge(warp) {
  const [first, count, block] = data.warps[warp];
  const own = make(
    "button", `badge w${warp % COLOURS.length}`, `W${warp}`,
    `warp ${warp}: threads ${first} to ${first + count - 1}, block ${block}; click to follow`,
  );
  own.dataset.warp = warp;
  own.tabIndex = -1;
  if (view.follow?.kind === "warp" && view.follow.warp === warp) own.classList.add("followed");
  return own;
}

/** The source: one button for each line, and where to find those of a line number. */
const sourceLines = [];
function buildSource() {
  if (data.sources.length === 0) byId("source").append(make("p", "empty", "The trace has no source."));
  data.sources.forEach((source) => {
    byId("source").append(make("div", "file", `${source.function}, ${source.file}`));
    const indents = source.lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
    const indent = Math.min(...indents, 99);
    source.lines.forEach((text, offset) => {
      const line = source.first + offset;
      const row = make("div", "source-line");
      const button = make("button", "code", "", "click to follow this line");
      button.append(make("span", "number", String(line)), make("span", "text", text.slice(indent) || " "));
      button.addEventListener("click", () => toggle({ kind: "line", line, function: source.function }));
      const warps = make("span", "warps");
      row.append(button, warps);
      byId("source").append(row);
      sourceLines.push({ row, button, warps, line, function: source.function, shown: "" });
    });
  });
}

/** The source line that a wait is in: of the function that the warp's access there belongs to. */
function lineOf(wait) {
  const { waits, dispatches } = data;
  const line = waits.line[wait];
  const candidates = sourceLines.filter((one) => one.line === line);
  if (candidates.length < 2) return candidates[0];
  const own = nextOf(model, waits.warp[wait], waits.start[wait]);
  const name = own === undefined ? null : data.sites[dispatches.site[own]][0];
  return candidates.find((one) => one.function === name) ?? candidates[0];
}

/** Numbers in ascending order as runs of neighbours: 0 1 2 5 as [0, 2] [5, 5]. */
function runsOf(numbers) {
  const runs = [];
  for (const number of numbers) {
    if (runs.length && runs[runs.length - 1][1] === number - 1) runs[runs.length - 1][1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

function drawSource(waiting) {
  const warps = new Map();
  const place = new Map();
  for (const wait of waiting) {
    const number = data.waits.line[wait];
    const several = sourceLines.length > 0 && data.sources.length > 1;
    if (several || !place.has(number)) place.set(number, lineOf(wait));
    const line = place.get(number);
    if (!line) continue;
    if (!warps.has(line)) warps.set(line, []);
    warps.get(line).push(data.waits.warp[wait]);
  }
  for (const line of sourceLines) {
    const here = (warps.get(line) ?? []).sort((a, b) => a - b);
    const { follow } = view;
    const followed = follow?.kind === "line" && follow.line === line.line && follow.function === line.function;
    const shown = `${here.join(" ")}|${followed}|${follow?.warp}`;
    if (shown === line.shown) continue;
    line.shown = shown;
    line.row.classList.toggle("current", here.length > 0);
    line.row.classList.toggle("followed", followed);
    line.button.setAttribute("aria-pressed", String(followed));
    const runs = runsOf(here);
    line.warps.replaceChildren();
    for (const [first, last] of runs.slice(0, RUNS)) {
      line.warps.append(badge(first));
      if (last > first + 1) line.warps.append("–");
      if (last > first) line.warps.append(badge(last));
    }
    const rest = runs.slice(RUNS).reduce((sum, [first, last]) => sum + last - first + 1, 0);
    if (rest) line.warps.append(`+${rest}`);
  }
}

function drawQueue(waiting) {
  const box = byId("queue");
  if (waiting.length === 0) {
    box.replaceChildren(make("p", "empty", "No warp waits: all have ended."));
    return;
  }
  const table = make("table");
  const head = make("tr");
  for (const name of ["warp", "waits for", "from–to", "line"]) {
    const cell = make("th", "", name);
    cell.scope = "col";
    head.append(cell);
  }
  table.append(head);
  const { waits } = data;
  const inOrder = [...waiting].sort((a, b) => waits.warp[a] - waits.warp[b]);
  for (const wait of inOrder.slice(0, QUEUE)) {
    const row = make("tr");
    const who = make("td");
    who.append(badge(waits.warp[wait]));
    row.append(
      who, make("td", "", explain(model, wait, view.time)),
      make("td", "", `${waits.start[wait]}–${waits.end[wait]}`), make("td", "", String(waits.line[wait])),
    );
    table.append(row);
  }
  box.replaceChildren(table);
  if (waiting.length > QUEUE) box.append(make("p", "empty", `and ${waiting.length - QUEUE} more`));
}

/** A unit's panel: its registers, and its memory as rows of w cells. */
function buildUnit(unit, u) {
  const section = make("section", "unit");
  const heading = make("h2", "", `${unit.name} `);
  heading.append(make("small", "", unit.conflict === "bank"
    ? `${data.width} banks, latency ${unit.latency}` : `address groups of ${data.width}, latency ${unit.latency}`));
  const pipeline = make("div", "pipeline");
  const pages = make("div", "pages");
  const memory = make("div", "memory");
  memory.tabIndex = 0;
  memory.setAttribute("role", "region");
  memory.setAttribute("aria-label", `Memory of ${unit.name}`);
  section.append(
    heading, make("h3", "", "Pipeline registers"), pipeline,
    make("h3", "", unit.conflict === "bank" ? "Memory: a column is a bank" : "Memory: a row is an address group"),
    pages, memory,
  );
  byId("units").append(section);
  const cells = new Map();
  data.arrays.forEach((array, a) => array.units.forEach((of, copy) => {
    if (of === u) model.addresses[a][copy].forEach((address, element) => cells.set(address, [a, copy, element]));
  }));
  const rows = [...new Set([...cells.keys()].map((address) => Math.floor(address / data.width)))].sort((a, b) => a - b);
  const panel = { unit, u, pipeline, pages, memory, cells, rows, page: -1, shown: [], label: null };
  if (rows.length === 0) memory.append(make("p", "empty", "no array"));
  if (rows.length > ROWS) {
    panel.label = make("span");
    const back = make("button", "", "‹ rows");
    const next = make("button", "", "rows ›");
    back.addEventListener("click", () => { showPage(panel, panel.page - 1); drawMemory(panel); });
    next.addEventListener("click", () => { showPage(panel, panel.page + 1); drawMemory(panel); });
    pages.append(back, next, panel.label);
  }
  if (rows.length) {
    const label = make("label", "", "follow address");
    const input = make("input", "address");
    input.type = "number";
    input.min = 0;
    input.addEventListener("change", () => {
      if (cells.has(Number(input.value))) toggle({ kind: "cell", unit: u, address: Number(input.value) });
    });
    label.append(input);
    pages.append(label);
    showPage(panel, 0);
  }
  return panel;
}

/** Put a page of rows into a unit's table. */
function showPage(panel, page) {
  const last = Math.ceil(panel.rows.length / ROWS) - 1;
  page = Math.max(0, Math.min(last, page));
  if (page === panel.page) return;
  panel.page = page;
  panel.shown = [];
  const { unit, u } = panel;
  const table = make("table");
  const head = make("tr");
  head.append(make("th"));
  panel.loads = [];
  for (let bank = 0; bank < data.width; bank++) {
    const name = make("th", "", unit.conflict === "bank" ? `bank ${bank}` : `+${bank}`);
    if (unit.conflict === "bank") {
      panel.loads.push(make("span", "load"));
      name.append(panel.loads[bank]);
    }
    head.append(name);
  }
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  for (const number of panel.rows.slice(page * ROWS, (page + 1) * ROWS)) {
    const row = make("tr");
    const label = make("th");
    row.append(label);
    for (let bank = 0; bank < data.width; bank++) {
      const address = number * data.width + bank;
      const cell = panel.cells.get(address);
      const box = make("td", cell ? "" : "none");
      row.append(box);
      if (!cell) continue;
      if (!label.textContent) {
        const name = elementName(...cell);
        label.textContent = unit.conflict === "group" ? `group ${number} · ${name}` : name;
      }
      const who = make("span", "who");
      const value = make("span");
      box.append(who, value);
      box.dataset.unit = u;
      box.dataset.address = address;
      panel.shown.push({ box, who, value, address, cell, drawn: "" });
    }
    body.append(row);
  }
  table.append(top, body);
  panel.memory.replaceChildren(table);
  if (panel.label) panel.label.textContent = `rows ${page * ROWS + 1} to ${Math.min((page + 1) * ROWS, panel.rows.length)} of ${panel.rows.length}`;
}

function registerBox(panel, j, held) {
  const box = make("div", "register");
  box.append(make("div", "name", `register ${j + 1}`));
  if (!held) return box;
  const { dispatch, stage } = held;
  const [name, line, array, kind] = data.sites[data.dispatches.site[dispatch]];
  const who = make("div");
  who.append(badge(data.dispatches.warp[dispatch]));
  if (data.dispatches.stages[dispatch] > 1) who.append(` ${stage + 1}/${data.dispatches.stages[dispatch]}`);
  box.append(who);
  const lanes = lanesOf(model, dispatch, stage);
  const copy = data.dispatches.copy[dispatch];
  const texts = [...new Set(lanes.slice(0, 4 * REQUESTS).map((lane) => addressOf(model, dispatch, lane)))];
  const more = texts.length > REQUESTS ? ` +${texts.length - REQUESTS}` : "";
  box.append(make("div", "requests", `${kind === "read" ? "" : "→"}${data.arrays[array].name} ${texts.slice(0, REQUESTS).join(" ")}${more}`));
  box.title = [
    `warp ${data.dispatches.warp[dispatch]}, ${name}, line ${line}: ${kind}, dispatched at ${data.dispatches.time[dispatch]}, completes at ${data.dispatches.completion[dispatch]}`,
    ...lanes.slice(0, 64).map((lane) => `thread ${data.lanes.thread[lane]}: ${elementName(array, copy, data.lanes.element[lane])} at address ${addressOf(model, dispatch, lane)}`),
  ].join("\n");
  if (follows(dispatch)) box.classList.add("followed");
  return box;
}

function drawPipeline(panel) {
  const boxes = [];
  const { unit, u } = panel;
  const entering = inRegister(model, u, 0, view.time);
  if (entering) {
    const left = data.dispatches.stages[entering.dispatch] - entering.stage - 1;
    if (left > 0) {
      const box = make("div", "outside");
      box.append(make("div", "name", "still to enter"), badge(data.dispatches.warp[entering.dispatch]), ` ${left} ${left === 1 ? "stage" : "stages"}`);
      boxes.push(box);
    }
  }
  let empty = 0;
  for (let j = 0; j < unit.latency; j++) {
    const held = inRegister(model, u, j, view.time);
    if (held || unit.latency <= REGISTERS) boxes.push(registerBox(panel, j, held));
    else empty++;
    if (boxes.length > 2 * REGISTERS) break;
  }
  if (empty) boxes.push(make("p", "empty", `${unit.latency} registers; those that are empty aren't drawn`));
  panel.pipeline.replaceChildren(...boxes);
}

/** The requests of a unit on their way at the current time: address to warp, kind, newest first. */
function requested(panel) {
  const found = new Map();
  const { unit, u } = panel;
  const t = view.time;
  for (let position = after(model.unitTimes[u], t) - 1; position >= 0; position--) {
    const d = model.byUnit[u][position];
    if (data.dispatches.completion[d] <= t) {
      if (data.dispatches.time[d] < t - unit.latency - data.width) break;
      continue;
    }
    for (const lane of lanesOf(model, d)) {
      const address = addressOf(model, d, lane);
      if (!found.has(address)) found.set(address, d);
    }
  }
  return found;
}

function drawMemory(panel) {
  if (panel.rows.length === 0) return;
  const requests = requested(panel);
  const t = view.time;
  const { follow } = view;
  if (panel.unit.conflict === "bank") drawLoads(panel);
  for (const one of panel.shown) {
    const [array, copy, element] = one.cell;
    const isFloat = data.arrays[array].float;
    const value = valueAt(model, array, copy, element, t);
    const dispatch = requests.get(one.address);
    const warp = dispatch === undefined ? -1 : data.dispatches.warp[dispatch];
    const isWrite = warp >= 0 && data.sites[data.dispatches.site[dispatch]][3] === "write";
    const followed = (follow?.kind === "cell" && follow.unit === panel.u && follow.address === one.address)
      || (follow !== null && follow.kind !== "cell" && dispatch !== undefined && follows(dispatch));
    const drawn = `${value}|${warp}|${isWrite}|${followed}`;
    if (drawn === one.drawn) continue;
    one.drawn = drawn;
    one.box.className = `${warp >= 0 ? `w${warp % COLOURS.length}` : ""}${isWrite ? " changed" : ""}${followed ? " followed" : ""}`;
    one.box.style.color = warp < 0 || warp % COLOURS.length === 4 ? "" : "#000";
    one.who.textContent = warp < 0 ? "" : `W${warp} `;
    one.value.textContent = written(value, isFloat, true);
    one.box.title = `${elementName(array, copy, element)} = ${written(value, isFloat, false)}; address ${one.address}, bank ${one.address % data.width}, group ${Math.floor(one.address / data.width)}`
      + (warp < 0 ? "" : `; ${isWrite ? "written" : "read"} by warp ${warp}`);
  }
}

/** Above each bank, how many addresses the request that is entering asks of it, if more than one. */
function drawLoads(panel) {
  const asked = panel.loads.map(() => new Set());
  const entering = inRegister(model, panel.u, 0, view.time);
  for (const lane of entering ? lanesOf(model, entering.dispatch) : []) {
    const address = addressOf(model, entering.dispatch, lane);
    asked[address % data.width].add(address);
  }
  panel.loads.forEach((load, bank) => {
    const text = asked[bank].size > 1 ? `×${asked[bank].size}` : "";
    if (load.textContent === text) return;
    load.textContent = text;
    load.title = text && `the request that is entering asks bank ${bank} for ${asked[bank].size} addresses`;
  });
}

/** Turn to the page and the row of the newest request, so that it is in sight. */
function seek(panel) {
  const position = after(model.unitTimes[panel.u], view.time) - 1;
  if (position < 0 || panel.rows.length === 0) return;
  const dispatch = model.byUnit[panel.u][position];
  const address = addressOf(model, dispatch, model.firstLane[dispatch]);
  const row = after(panel.rows, Math.floor(address / data.width)) - 1;
  showPage(panel, Math.floor(row / ROWS));
  const box = panel.memory.querySelector(`[data-address="${address}"]`);
  const head = panel.memory.querySelector("thead").offsetHeight;
  const { offsetTop, offsetHeight } = box.parentElement;
  if (offsetTop - head < panel.memory.scrollTop) panel.memory.scrollTop = offsetTop - head;
  const bottom = offsetTop + offsetHeight - panel.memory.clientHeight;
  if (bottom > panel.memory.scrollTop) panel.memory.scrollTop = bottom;
}

/** The timeline: where it stands, and a picture of it without the current time. */
const timeline = { canvas: byId("timeline"), picture: document.createElement("canvas"), drawn: "", from: 0, unit: 1, row: 18, width: 0 };

/** Which time units fit, and how large they are. */
function fitTimeline() {
  const span = data.end - data.start + 1;
  timeline.width = Math.max(200, timeline.canvas.parentElement.clientWidth - 2);
  const room = timeline.width - GUTTER;
  const fit = room / span;
  const crowded = fit < 5;
  byId("zoom").hidden = !crowded;
  timeline.unit = !crowded || view.whole ? Math.min(fit, 40) : 10;
  const units = room / timeline.unit;
  if (units >= span) timeline.from = data.start;
  else if (view.time < timeline.from + 1 || view.time > timeline.from + units - 3) {
    timeline.from = Math.max(data.start, Math.min(data.end + 1 - Math.floor(units), view.time - Math.floor(units / 4)));
  }
  const warps = Math.min(data.warps.length, TALL);
  timeline.row = Math.max(2, Math.min(20, Math.floor(260 / warps)));
  if (timeline.row < 9 && warps <= 64) timeline.row = 9;
  timeline.warps = warps;
  timeline.height = warps * timeline.row + 18;
}

const x = (time) => GUTTER + (time - timeline.from) * timeline.unit;

function paintTimeline() {
  const ratio = window.devicePixelRatio || 1;
  const { picture, width, height, row } = timeline;
  const style = getComputedStyle(document.documentElement);
  const [ink, faint, line, mark] = ["--ink", "--faint", "--line", "--follow"].map((name) => style.getPropertyValue(name).trim());
  picture.width = Math.round(width * ratio);
  picture.height = Math.round(height * ratio);
  const paint = picture.getContext("2d");
  paint.scale(ratio, ratio);
  const to = timeline.from + (width - GUTTER) / timeline.unit;
  const gap = row > 6 ? 2 : row > 3 ? 1 : 0;
  paint.font = "11px system-ui, sans-serif";
  paint.textBaseline = "middle";
  const every = Math.ceil(12 / row);
  for (let warp = 0; warp < timeline.warps; warp++) {
    const y = warp * row;
    if (warp % every === 0) {
      paint.fillStyle = ink;
      paint.textAlign = "right";
      paint.fillText(`W${warp}`, GUTTER - 6, y + Math.max(row, 10) / 2);
    }
    const starts = model.warpWaitStarts[warp];
    const { waits, dispatches } = data;
    for (let i = Math.max(0, after(starts, timeline.from) - 1); i < starts.length && starts[i] < to; i++) {
      const wait = model.warpWaits[warp][i];
      const left = Math.max(GUTTER, x(waits.start[wait]));
      const right = Math.min(width, x(Math.min(waits.end[wait], data.end + 1)));
      if (right <= left) continue;
      const reason = data.reasons[waits.reason[wait]];
      if (reason === "latency") {
        paint.fillStyle = COLOURS[warp % COLOURS.length];
        paint.globalAlpha = 0.35;
        paint.fillRect(left, y + gap / 2, right - left, row - gap);
        paint.globalAlpha = 1;
      } else if (reason === "round") {
        paint.fillStyle = faint;
        paint.fillRect(left, y + row / 2 - 0.5, right - left, 1);
      } else {
        paint.strokeStyle = faint;
        paint.lineWidth = reason === "barrier" ? 2 : 1;
        const slant = reason === "barrier" ? 0 : row - gap;
        paint.save();
        paint.beginPath();
        paint.rect(left, y + gap / 2, right - left, row - gap);
        paint.clip();
        paint.beginPath();
        for (let at = left - slant; at < right; at += 5) {
          paint.moveTo(at, y + row - gap / 2);
          paint.lineTo(at + slant, y + gap / 2);
        }
        paint.stroke();
        paint.restore();
      }
    }
    paint.fillStyle = COLOURS[warp % COLOURS.length];
    for (const d of model.warpDispatches[warp]) {
      const end = dispatches.time[d] + dispatches.stages[d];
      if (dispatches.time[d] > to) break;
      if (end < timeline.from) continue;
      const left = Math.max(GUTTER, x(dispatches.time[d]));
      const wide = Math.max(1, Math.min(width, x(end)) - left - (timeline.unit > 4 ? 1 : 0));
      paint.fillRect(left, y + gap / 2, wide, row - gap);
      if (view.follow && view.follow.kind !== "warp" && follows(d)) {
        paint.strokeStyle = mark;
        paint.lineWidth = 3;
        paint.strokeRect(left, y + 1, wide, Math.max(row - 2, 2));
      }
    }
    if (view.follow?.kind === "warp" && view.follow.warp === warp) {
      paint.strokeStyle = mark;
      paint.lineWidth = 2;
      paint.strokeRect(GUTTER, y + 1, width - GUTTER - 1, Math.max(row - 2, 2));
    }
  }
  paint.strokeStyle = ink;
  paint.lineWidth = 1;
  paint.setLineDash([4, 3]);
  for (const time of boundaries) {
    if (time < timeline.from || time > to) continue;
    paint.beginPath();
    paint.moveTo(x(time), 0);
    paint.lineTo(x(time), height - 18);
    paint.stroke();
  }
  paint.setLineDash([]);
  paint.strokeStyle = line;
  paint.strokeRect(GUTTER - 0.5, -1, width, height - 17);
  // The axis: numbers at round distances, about 60 pixels apart.
  let step = 1;
  while (step * timeline.unit < 45) step *= String(step).startsWith("2") ? 2.5 : 2;
  paint.fillStyle = faint;
  paint.textAlign = "center";
  for (let time = Math.ceil(timeline.from / step) * step; time < to && time <= data.end; time += step) {
    paint.fillText(String(time), Math.max(x(time) + timeline.unit / 2, GUTTER), height - 8);
  }
}

function drawTimeline() {
  fitTimeline();
  const { canvas, width, height } = timeline;
  const key = [width, height, timeline.from, timeline.unit, theme(), JSON.stringify(view.follow), window.devicePixelRatio].join(" ");
  const ratio = window.devicePixelRatio || 1;
  if (key !== timeline.drawn) {
    timeline.drawn = key;
    paintTimeline();
    canvas.width = timeline.picture.width;
    canvas.height = timeline.picture.height;
    canvas.style.height = `${height}px`;
    canvas.style.width = `${width}px`;
  }
  const paint = canvas.getContext("2d");
  paint.setTransform(1, 0, 0, 1, 0, 0);
  paint.clearRect(0, 0, canvas.width, canvas.height);
  paint.drawImage(timeline.picture, 0, 0);
  paint.scale(ratio, ratio);
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  paint.strokeStyle = accent;
  paint.lineWidth = 2;
  paint.strokeRect(x(view.time), 1, Math.max(timeline.unit, 2), height - 19);
  canvas.setAttribute("aria-label", `Timeline of ${data.warps.length} warps, time units ${data.start} to ${data.end}; now ${view.time}`);
}

/** What happens at the current time, in a sentence. */
function story() {
  const { dispatches, sites, units } = data;
  const t = view.time;
  const parts = [];
  const list = (all, tell, what) => {
    if (all.length <= 3) parts.push(...all.map(tell));
    else parts.push(`${all.length} ${what}`);
  };
  if (rounds && boundarySet.has(t)) parts.push("a round begins");
  for (const [time, block] of data.releases) if (time === t) parts.push(`the barrier of block ${block} opens`);
  list(completedAt(model, t), (d) => `warp ${dispatches.warp[d]}'s access completes`, "accesses complete");
  list(dispatchedAt(model, t), (d) => {
    const [, line, array, kind] = sites[dispatches.site[d]];
    const stages = dispatches.stages[d];
    const cost = stages === 1 ? "1 stage"
      : units[dispatches.unit[d]].conflict === "bank" ? `bank conflict of ${stages} stages` : `${stages} address groups`;
    return `warp ${dispatches.warp[d]} ${kind}s ${data.arrays[array].name} through ${units[dispatches.unit[d]].name} (line ${line}, ${dispatches.lanes[d]} threads, ${cost})`;
  }, "warps are dispatched");
  if (t === data.time) parts.push("everything has drained");
  return `Time ${t} of ${data.time}: ${parts.join("; ") || "nothing begins or completes"}.`;
}

function draw() {
  const waiting = waitsAt(model, view.time);
  byId("now").textContent = `Time ${view.time} of ${data.time}`;
  byId("slider").value = view.time;
  byId("slider").setAttribute("aria-valuetext", `time ${view.time} of ${data.time}`);
  byId("status").textContent = view.note ? `${view.note} ${story()}` : story();
  drawSource(waiting);
  drawQueue(waiting);
  for (const panel of panels) {
    drawPipeline(panel);
    if (panel.sought !== view.time) {
      panel.sought = view.time;
      seek(panel);
    }
    drawMemory(panel);
  }
  drawTimeline();
}

// ------------------------------------------------------------------ the controls

const rounds = data.schedule === "synchronous";
const boundaries = rounds ? data.rounds : [...new Set(data.releases.map(([time]) => time))];
const boundarySet = new Set(boundaries);
const inWindow = (time) => time >= data.start && time <= data.end;
const conflictTimes = data.dispatches.time.filter((time, d) => data.dispatches.stages[d] > 1 && inWindow(time));
let accessTimes = [];

/** The times at which steps by access stop: of all accesses, or of what is followed. */
function findAccesses() {
  accessTimes = data.dispatches.time.filter((time, d) => inWindow(time) && (!view.follow || follows(d)));
}

function go(time, note = "") {
  view.time = Math.max(data.start, Math.min(data.end, Math.round(time)));
  view.note = note;
  draw();
}

const later = (times, otherwise) => times[after(times, view.time)] ?? otherwise;
const earlier = (times, otherwise) => times[after(times, view.time - 1) - 1] ?? otherwise;

const moves = {
  first: () => go(data.start),
  last: () => go(data.end),
  next: () => go(view.time + 1),
  back: () => go(view.time - 1),
  access: () => go(later(accessTimes, data.end)),
  "access-back": () => go(earlier(accessTimes, data.start)),
  round: () => go(later(boundaries, data.end)),
  "round-back": () => go(earlier(boundaries, data.start)),
  conflict: () => go(later(conflictTimes, view.time), later(conflictTimes, -1) < 0 ? "No later conflict." : ""),
  "conflict-back": () => go(earlier(conflictTimes, view.time), earlier(conflictTimes, -1) < 0 ? "No earlier conflict." : ""),
};

/** Follow something, or nothing if it is followed already. */
function toggle(follow) {
  view.follow = JSON.stringify(follow) === JSON.stringify(view.follow) ? null : follow;
  findAccesses();
  const options = byId("follow");
  options.querySelector("[data-other]")?.remove();
  const value = view.follow ? JSON.stringify(view.follow) : "";
  if (![...options.options].some((option) => option.value === value)) {
    const { kind, unit, address, line } = view.follow;
    const other = make("option", "", kind === "cell" ? cellName(unit, address) : kind === "line" ? `line ${line}` : `warp ${view.follow.warp}`);
    other.value = value;
    other.dataset.other = "";
    options.append(other);
  }
  options.value = value;
  draw();
}

function cellName(unit, address) {
  const cell = panels[unit].cells.get(address);
  return `${elementName(...cell)}, ${data.units[unit].name} ${address}`;
}

let frame = 0;
function play(on) {
  view.playing = on;
  cancelAnimationFrame(frame);
  byId("play").textContent = on ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(on));
  byId("status").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  if (view.time === data.end) go(data.start);
  let began = performance.now();
  const tick = (now) => {
    const due = Math.floor(((now - began) / 1000) * Number(byId("speed").value));
    if (due > 0) {
      began += (due * 1000) / Number(byId("speed").value);
      go(view.time + due);
    }
    if (view.time === data.end) play(false);
    else frame = requestAnimationFrame(tick);
  };
  frame = requestAnimationFrame(tick);
}

function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function switchTheme() {
  document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
  draw();
}

/** What a key means: the name of a move, or something else to do. */
function meaning(event) {
  const by = event.ctrlKey || event.metaKey ? "round" : event.shiftKey ? "access" : "";
  switch (event.key) {
    case "ArrowRight": return moves[by || "next"];
    case "ArrowLeft": return moves[by ? `${by}-back` : "back"];
    case "PageDown": return moves.round;
    case "PageUp": return moves["round-back"];
    case "Home": return moves.first;
    case "End": return moves.last;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  switch (event.key) {
    case " ": return () => play(!view.playing);
    case "c": return moves.conflict;
    case "C": return moves["conflict-back"];
    case "d": return switchTheme;
    case "Escape": return () => view.follow && toggle(view.follow);
  }
  return null;
}

function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("select, .address") || event.altKey) return;
    if (event.key === " " && event.target.closest("button")) return;
    const act = meaning(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("click", (event) => {
    // A unit's cells and all badges are drawn anew again and again: one listener serves them.
    const warp = event.target.closest("[data-warp]");
    const cell = event.target.closest("[data-address]");
    const move = event.target.closest("[data-go]");
    if (warp) toggle({ kind: "warp", warp: Number(warp.dataset.warp) });
    else if (cell) toggle({ kind: "cell", unit: Number(cell.dataset.unit), address: Number(cell.dataset.address) });
    else if (move) moves[move.dataset.go]();
  });
  byId("play").addEventListener("click", () => play(!view.playing));
  byId("theme").addEventListener("click", switchTheme);
  byId("slider").addEventListener("input", () => go(Number(byId("slider").value)));
  byId("follow").addEventListener("change", () => {
    const { value } = byId("follow");
    if (value) toggle(JSON.parse(value));
    else if (view.follow) toggle(view.follow);
  });
  byId("zoom").addEventListener("click", () => {
    view.whole = !view.whole;
    byId("zoom").setAttribute("aria-pressed", String(view.whole));
    drawTimeline();
  });
  const pointed = (event) => ({
    time: Math.floor(timeline.from + (event.offsetX - GUTTER) / timeline.unit),
    warp: Math.floor(event.offsetY / timeline.row),
    gutter: event.offsetX < GUTTER,
  });
  timeline.canvas.addEventListener("click", (event) => {
    const { time, warp, gutter } = pointed(event);
    if (!gutter) go(time);
    else if (warp < timeline.warps) toggle({ kind: "warp", warp });
  });
  timeline.canvas.addEventListener("mousemove", (event) => {
    const { time, warp, gutter } = pointed(event);
    timeline.canvas.title = "";
    if (warp >= timeline.warps) return;
    if (gutter) timeline.canvas.title = `warp ${warp}; click to follow`;
    const wait = gutter ? undefined : waitsAt(model, time).find((w) => data.waits.warp[w] === warp);
    if (wait !== undefined) {
      timeline.canvas.title = `warp ${warp}, time ${time}, line ${data.waits.line[wait]}: ${explain(model, wait, time)} (${data.waits.start[wait]} to ${data.waits.end[wait]})`;
    }
  });
  window.addEventListener("resize", drawTimeline);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
}

byId("title").textContent = `${data.program} on ${data.machine}`;
byId("subtitle").textContent = `${data.threads} threads in blocks of ${data.blockSize}, ${data.warps.length} ${data.warps.length === 1 ? "warp" : "warps"}, ${data.schedule}, ${data.time} time units`
  + (data.start > 0 || data.end < data.time ? `; shown: ${data.start} to ${data.end}` : "");
byId("boundary-name").textContent = rounds ? "a round begins" : "a barrier opens";
byId("slider").min = data.start;
byId("slider").max = data.end;
for (const speed of [1, 2, 5, 10, 30, 60, 300]) {
  const option = make("option", "", `${speed}/s`);
  option.value = speed;
  option.selected = speed === 5;
  byId("speed").append(option);
}
{
  const nothing = make("option", "", "nothing");
  nothing.value = "";
  byId("follow").append(nothing);
  data.warps.slice(0, 500).forEach((_, warp) => {
    const option = make("option", "", `warp ${warp}`);
    option.value = JSON.stringify({ kind: "warp", warp });
    byId("follow").append(option);
  });
}
for (const name of ["round", "round-back"]) document.querySelector(`[data-go="${name}"]`).disabled = boundaries.length === 0;
for (const name of ["conflict", "conflict-back"]) document.querySelector(`[data-go="${name}"]`).disabled = conflictTimes.length === 0;
buildSource();
const panels = data.units.map(buildUnit);
findAccesses();
listen();
draw();

window.mmsim = { data, state: (time) => state(model, time), get time() { return view.time; }, go };
