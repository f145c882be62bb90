/* Stops: what a user names as a place to stop at. */

const EXAMPLES = "conflict, W3, line 12, address 24, b[2, 3], x == 5 in thread 3";

const COMPARED = {
  "=": (a, b) => a === b, "==": (a, b) => a === b, "!=": (a, b) => a !== b,
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
};

/* How each is written, and what it means: a function from a launch to the times of its stops. */
const STOPS = [
  [/^(bank )?conflicts?$/i, ([, bank]) => (launch) => dispatchTimes(launch, (d) => (
    isConflict(launch.model, d) && (!bank || Boolean(unitOf(launch, d).columns))))],
  [/^coalescing$/i, () => (launch) => dispatchTimes(launch, (d) => isConflict(launch.model, d) && Boolean(unitOf(launch, d).rows))],
  [/^latency$/i, () => standstills],
  [/^barriers?$/i, () => meetings],
  [/^(?:warp|w)\s*(\d+)$/i, ([, warp]) => ({ model }) => model.warpTimes[Number(warp)] ?? []],
  [/^line\s*(\d+)$/i, ([, line]) => (launch) => dispatchTimes(
    launch, (d) => launch.data.sites[launch.data.dispatches.site[d]][1] === Number(line),
  )],
  [/^address\s*(\d+)(?:\s+of\s+(.+))?$/i, ([, place, name]) => (launch) => {
    const { data, model } = launch;
    return dispatchTimes(launch, (d) => (
      (name === undefined || data.units[data.dispatches.unit[d]].name === name)
      && lanesOf(model, d).some((lane) => placeOf(model, d, lane) === Number(place))));
  }],
  [/^(\w+)\s*(?:\[([\d,\s]*)\])?\s*(==?|!=|<=?|>=?)\s*([^\s]+)(?:\s+in\s+thread\s+(\d+))?$/, stopAtValue],
  [/^(\w+)\s*\[([\d,\s]+)\]$/, ([, name, index]) => (launch) => {
    const { data, model } = launch;
    const array = data.arrays.findIndex((one) => one.name === name);
    if (array < 0) return [];
    const element = elementAt(data.arrays[array].shape, index);
    return dispatchTimes(launch, (d) => data.sites[data.dispatches.site[d]][2] === array
      && lanesOf(model, d).some((lane) => data.lanes.element[lane] === element));
  }],
];

function unitOf({ data }, dispatch) {
  return data.units[data.dispatches.unit[dispatch]];
}

/** The times from which on no stage enters a pipeline, as all warps wait. */
function standstills({ data }) {
  const { time, stages } = data.dispatches;
  const found = [];
  let until = Infinity; // the stages so far have entered
  for (const d of [...time.keys()].sort((one, other) => time[one] - time[other])) {
    if (time[d] > until) found.push(until);
    until = Math.max(until === Infinity ? 0 : until, time[d] + stages[d]);
  }
  return until < data.end ? [...found, until] : found;
}

/** The times at which a first warp comes to a barrier or to the end of a round, and at which it opens or ends. */
function meetings({ data }) {
  const { schedule, rounds, releases, waits, reasons } = data;
  const opens = [...(schedule === "synchronous" ? rounds : releases.map(([at]) => at))].sort((a, b) => a - b);
  const comes = waits.start.filter((_, w) => /round|barrier/.test(reasons[waits.reason[w]])).sort((a, b) => a - b);
  return opens.flatMap((time, number) => {
    const first = comes[after(comes, number ? opens[number - 1] : -1)];
    return first < time ? [first, time] : [time];
  });
}

/** The row-major number of the element with an index, written as "2, 3"; NaN if there is none. */
function elementAt(shape, index) {
  const parts = index.split(",").map(Number);
  const within = parts.length === shape.length && parts.every((part, axis) => part < shape[axis]);
  return within ? parts.reduce((sum, part, axis) => sum * shape[axis] + part, 0) : NaN;
}

/** The times at which a variable of a thread, any if none is named, comes to hold a value like that. */
function stopAtValue([, name, index, sign, text, only]) {
  const wanted = { True: true, False: false }[text] ?? Number(text);
  const compare = COMPARED[sign];
  const thread = only === undefined ? null : Number(only);
  return ({ data, model }) => {
    const variables = new Map();
    data.variables.forEach((variable, v) => {
      if (variable.text === name) variables.set(v, index === undefined ? 0 : elementAt(variable.shape ?? [], index));
    });
    let first = 0;
    return data.changes.time.filter((_, c) => {
      const [from, count] = data.warps[data.changes.warp[c]];
      const begin = first;
      first += count;
      if (variables.get(data.changes.variable[c]) !== data.changes.element[c]) return false;
      const own = thread === null ? 0 : thread - from;
      if (own < 0 || own >= count) return false;
      return data.held.slice(begin + own, begin + (thread === null ? count : own + 1)).some((value) => (
        value !== null && compare(typeof value === "string" ? Number(value) : value, wanted)));
    });
  };
}

/** The stop that a text names: its times in the window; null if the text means none. */
function stopOf(stage, text) {
  for (const [pattern, meant] of STOPS) {
    const found = text.match(pattern);
    if (found) return { text, times: timesOf(stage, meant(found)) };
  }
  return null;
}

/** Stop at what a text names, several things with "or"; at nothing if it is empty. */
function setStops(stage, text) {
  const input = stage.part("stop");
  const texts = text.split(/\s+or\s+/).map((one) => one.trim()).filter((one) => one);
  const stops = texts.map((one) => stopOf(stage, one));
  const wrong = stops.indexOf(null);
  input.setAttribute("aria-invalid", String(wrong >= 0));
  if (wrong >= 0) stage.view.note = `Cannot stop at “${texts[wrong]}”. Examples: ${EXAMPLES}.`;
  else {
    stage.stops = stops;
    stage.times.stop = null;
    const count = moments(stage, "stop").length;
    stage.view.note = texts.length ? `${many(count, "stop")} at ${texts.join(" or ")}.` : "";
  }
  input.value = text;
  for (const name of ["stop", "stop-back"]) stage.part("controls").querySelector(`[data-go="${name}"]`).hidden = stage.stops.length === 0;
  draw(stage);
}

/** What stops at time t: "Stop: W3." */
function stoppedBy(stage, t) {
  const here = stage.stops.filter(({ times }) => times[after(times, t) - 1] === t);
  return here.length ? `Stop: ${here.map(({ text }) => text).join(", ")}.` : "";
}

/** Offer what can be written. */
function offerStops(stage) {
  const { data } = stage.players[0];
  const warp = data.warps.length - 1;
  const line = data.sites.length ? data.sites[0][1] : 1;
  const array = data.arrays[0];
  const variable = data.variables.find(({ shape }) => shape === null);
  renew(stage.part("stops"), ...[
    "conflict", "bank conflict", "coalescing", "latency", "barrier", `W${warp}`, `line ${line}`, "address 0", ...(array ? [array.name + indexText(array.shape, 0)] : []),
    ...(variable ? [`${variable.text} == 1`, `${variable.text} > 1 in thread 0`] : []),
  ].map((text) => {
    const option = make("option");
    option.value = text;
    return option;
  }));
}
