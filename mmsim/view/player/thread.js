/* A chosen thread: what it holds in its variables and registers, and the elements it touches. */

const LANES = 64; // threads of the warp to click on
const ELEMENTS = 64; // of an array of registers
const ACCESSES = 12; // the latest

function buildThread(player) {
  const input = player.part("thread");
  input.addEventListener("change", () => choose(player, Math.round(Number(input.value))));
  walkable(player.part("lanes"), ".lane");
  walkable(player.part("held"), ".element");
  player.part("lanes").addEventListener("click", (event) => {
    const lane = event.target.closest("[data-thread]");
    if (lane) choose(player, Number(lane.dataset.thread));
  });
}

/** Show what a thread holds. */
function choose(player, thread) {
  player.view.thread = Math.max(0, Math.min(player.data.threads - 1, thread || 0));
  if (player.stage.ready) drawThread(player);
}

function drawThread(player) {
  const { data, model, view } = player;
  const { thread, time } = view;
  const warp = warpOf(model, thread);
  const [first, count, block] = data.warps[warp];
  const input = player.part("thread");
  if (player.root.activeElement !== input) input.value = thread;
  // The warp's latest request and change: until the next one, the panel stays as it is.
  const latest = model.warpDispatches[warp][after(model.warpTimes[warp], time) - 1];
  const underway = latest !== undefined && data.dispatches.completion[latest] > time;
  const changed = model.warpChangeTimes[warp][after(model.warpChangeTimes[warp], time) - 1];
  const drawn = JSON.stringify([thread, view.follow, latest, underway, changed, changed === time]);
  if (drawn === player.threadDrawn) return;
  player.threadDrawn = drawn;
  player.part("thread-is").replaceChildren(
    `of ${data.threads}: lane ${thread - first} of `, badge(player, warp), `, block ${block}, index ${thread - block * data.blockSize} there${position(data, thread, block)}`,
  );
  const asking = new Map(underway ? lanesOf(model, latest).map((lane) => [data.lanes.thread[lane], lane]) : []);
  let above = "";
  const lanes = Array.from({ length: Math.min(count, LANES) }, (_, lane) => {
    const own = first + lane;
    const phase = asking.has(own) ? phaseText(model, latest, asking.get(own)) : above;
    const heading = phase === above ? [] : [make("span", "phase", phase.slice(2))];
    above = phase;
    const button = make(
      "button", `lane ${asking.has(own) ? colourClass(warp) : ""}`, String(own),
      `thread ${own}${asking.has(own) ? ", with a request on its way" : ""}; click to see what it holds`,
    );
    button.dataset.thread = own;
    button.tabIndex = -1;
    button.setAttribute("aria-pressed", String(own === thread));
    return [...heading, button];
  }).flat();
  const more = count > LANES ? [make("span", "empty", `and ${count - LANES} more`)] : [];
  renew(player.part("lanes"), ...lanes, ...more);
  renew(player.part("held"), ...variablesOf(player), ...accessTable(player));
}

/** threadIdx and blockIdx of a thread, where the launch has a shape. */
function position(data, thread, block) {
  if (data.shape === null) return "";
  const [ofBlock, ofGrid] = data.shape;
  const index = along(thread - block * data.blockSize, ofBlock);
  return `; threadIdx (${index.join(", ")}), blockIdx (${along(block, ofGrid).join(", ")})`;
}

/** The place of a number along x, y and z: x counts first, then y, then z. */
function along(number, [columns, rows]) {
  const line = Math.floor(number / columns);
  return [number % columns, line % rows, Math.floor(line / rows)];
}

/** The variables of the chosen thread, function by function; then its arrays of registers. */
function variablesOf(player) {
  const { data, model, view: { thread, time } } = player;
  if (data.variables.length === 0) return [make("p", "empty", "The program has no variables.")];
  const table = make("table", "variables");
  const calls = new Map(); // how often a function's variable of one name has come already
  const functions = new Set(data.variables.map((variable) => variable.function));
  let above = null;
  const arrays = [];
  data.variables.forEach((variable, v) => {
    const key = JSON.stringify([variable.function, variable.text]);
    calls.set(key, (calls.get(key) ?? 0) + 1);
    const call = calls.get(key) > 1 ? `, call ${calls.get(key)}` : "";
    if (variable.shape !== null) {
      arrays.push(...registersOf(player, v, `${variable.text}${functions.size > 1 ? ` of ${variable.function}${call}` : ""}`));
      return;
    }
    const group = `${variable.function}${call}`;
    if (functions.size > 1 && group !== above) {
      const row = make("tr");
      const head = make("th", "function", group);
      head.colSpan = 3;
      row.append(head);
      table.append(row);
    }
    above = group;
    const { value, since } = heldAt(model, v, 0, thread, time);
    const row = make("tr");
    const name = make("th", "", variable.text);
    name.scope = "row";
    row.append(name, heldCell("td", variable, value, since, time), make("td", "empty since", value === null || since === null ? "" : `since ${since}`));
    row.dataset.variable = variable.name;
    table.append(row);
  });
  return [...(table.children.length ? [table] : []), ...arrays];
}

/** A value that a thread holds; marked where it is new. */
function heldCell(tag, variable, value, since, time) {
  if (value === null) return make(tag, "value empty", "not assigned");
  const cell = make(tag, `value${since === time ? " changed" : ""}`, written(value, variable.float, true));
  cell.title = `${written(value, variable.float, false)}${since === null ? "" : `, since ${since}`}`;
  return cell;
}

/** An array of registers of the chosen thread. */
function registersOf(player, v, name) {
  const { data, model, view: { thread, time } } = player;
  const variable = data.variables[v];
  const box = make("div", "registers");
  box.dataset.variable = variable.name;
  const elements = elementsOf(variable);
  for (let element = 0; element < Math.min(elements, ELEMENTS); element++) {
    const { value, since } = heldAt(model, v, element, thread, time);
    const one = make("span", "held");
    one.append(make("span", "index", indexText(variable.shape, element)), heldCell("span", variable, value, since, time));
    box.append(one);
  }
  if (elements > ELEMENTS) box.append(make("span", "empty", `and ${elements - ELEMENTS} more`));
  return [make("h3", "", `Registers ${name}`), box];
}

/** What the chosen thread has read and written, the newest first. */
function accessTable(player) {
  const { data, model, view: { thread, time } } = player;
  const { dispatches } = data;
  const heading = make("h3", "", "Accesses, the newest first");
  const found = accessesOf(model, thread, time, ACCESSES + 1);
  if (found.length === 0) return [heading, make("p", "empty", "none yet")];
  const table = make("table", "accesses");
  for (const { dispatch, lane } of found.slice(0, ACCESSES)) {
    const [, line, array, kind] = data.sites[dispatches.site[dispatch]];
    const value = written(data.moved[lane], data.arrays[array].float, true);
    const name = elementName(data, array, dispatches.copy[dispatch], data.lanes.element[lane]);
    const address = addressOf(model, dispatch, lane);
    const button = make("button", "element", name, `address ${address} of ${data.units[dispatches.unit[dispatch]].name}; click to follow`);
    button.dataset.unit = dispatches.unit[dispatch];
    button.dataset.place = placeOf(model, dispatch, lane);
    button.tabIndex = -1;
    const what = make("td");
    what.append(kind === "atomic" ? "changes " : `${kind}s `, button, ` ${kind === "read" ? "→" : "←"} ${value}`);
    const underway = dispatches.completion[dispatch] > time;
    const row = make("tr", underway ? "underway" : "");
    row.append(
      make("td", "", `${dispatches.time[dispatch]}–${dispatches.completion[dispatch]}`), what,
      make("td", "", `line ${line}${phaseText(model, dispatch, lane)}${underway ? ", on its way" : ""}`),
    );
    table.append(row);
  }
  return [heading, table, ...(found.length > ACCESSES ? [make("p", "empty", "and earlier ones")] : [])];
}
