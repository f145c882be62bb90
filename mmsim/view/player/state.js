/* The state: what the machine holds at a time unit, worked out from the run's data alone. */

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

/** How many values a thread holds in a variable: more than one in an array of registers. */
function elementsOf(variable) {
  return (variable.shape ?? []).reduce((product, extent) => product * extent, 1);
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
  for (let d = 0; d < count; d++) {
    firstLane.push(lane);
    byUnit[dispatches.unit[d]].push(d);
    unitTimes[dispatches.unit[d]].push(dispatches.time[d]);
    warpDispatches[dispatches.warp[d]].push(d);
    warpTimes[dispatches.warp[d]].push(dispatches.time[d]);
    const lanes = dispatches.lanes[d];
    const [, , array, kind] = data.sites[dispatches.site[d]];
    if (kind !== "read") {
      // What came before the window is in the arrays already.
      if (dispatches.time[d] >= data.start) {
        const cells = writes[array][dispatches.copy[d]];
        // Of one request's writes the lowest-numbered thread's stays, so it comes last; atomics
        // come in the order of the lanes.
        for (let n = 0; n < lanes; n++) {
          const i = kind === "write" ? lanes - 1 - n : n;
          const element = data.lanes.element[lane + i];
          let cell = cells.get(element);
          if (!cell) cells.set(element, (cell = { times: [], values: [] }));
          cell.times.push(dispatches.time[d]);
          cell.values.push(data.moved[lane + i]);
        }
      }
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
  // changes[variable]: of each warp and element the times of its changes, and where in `held` the
  // values of its threads begin.
  const changes = data.variables.map(() => new Map());
  const warpChangeTimes = lists(data.warps.length);
  let held = 0;
  data.changes.time.forEach((time, c) => {
    const warp = data.changes.warp[c];
    const variable = data.changes.variable[c];
    const key = warp * elementsOf(data.variables[variable]) + data.changes.element[c];
    let found = changes[variable].get(key);
    if (!found) changes[variable].set(key, (found = { times: [], firsts: [] }));
    found.times.push(time);
    found.firsts.push(held);
    warpChangeTimes[warp].push(time);
    held += data.warps[warp][1];
  });
  return {
    data, firstLane, byUnit, unitTimes, warpDispatches, warpTimes, writes, warpWaits, warpWaitStarts,
    completed, completionTimes: completed.map((d) => dispatches.completion[d]), addresses, changes,
    warpChangeTimes, warpFirsts: data.warps.map(([first]) => first),
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

/** In how many phases a dispatch is served, in turn. */
function phasesOf(model, dispatch) {
  return model.data.dispatches.phases?.[dispatch] ?? 1;
}

/** Whether a dispatch takes more stages than its phases, one each at least. */
function isConflict(model, dispatch) {
  return model.data.dispatches.stages[dispatch] > phasesOf(model, dispatch);
}

/** The address that a lane of a dispatch asks for. */
function addressOf(model, dispatch, lane) {
  const { dispatches, sites, lanes } = model.data;
  const array = sites[dispatches.site[dispatch]][2];
  return model.addresses[array][dispatches.copy[dispatch]][lanes.element[lane]];
}

/** Where an address of an array lies in its unit: the address, or where banks have bytes its byte.

    There arrays count their addresses in elements of their own size. */
function placeIn(data, array, address) {
  return address * (data.arrays[array].bytes ?? 1);
}

/** Where what a lane of a dispatch asks for lies in its unit. */
function placeOf(model, dispatch, lane) {
  const { dispatches, sites } = model.data;
  return placeIn(model.data, sites[dispatches.site[dispatch]][2], addressOf(model, dispatch, lane));
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

/** The warp of a thread. */
function warpOf(model, thread) {
  return after(model.warpFirsts, thread) - 1;
}

/** What a thread holds in a variable at time t: the value, null if not assigned, and since when. */
function heldAt(model, variable, element, thread, t) {
  const { data } = model;
  const warp = warpOf(model, thread);
  const { start, shape } = data.variables[variable];
  const elements = elementsOf(data.variables[variable]);
  const found = model.changes[variable].get(warp * elements + element);
  const position = found ? after(found.times, t) - 1 : -1;
  if (position >= 0) {
    const value = data.held[found.firsts[position] + thread - model.warpFirsts[warp]];
    return { value, since: found.times[position] };
  }
  const first = shape === null ? null : 0;
  return { value: start === null ? first : start[thread * elements + element], since: null };
}

/** The accesses of a thread that were dispatched up to time t, the newest first: dispatch and lane.
    Of a vector there is one for each element. */
function accessesOf(model, thread, t, most) {
  const warp = warpOf(model, thread);
  const found = [];
  for (let i = after(model.warpTimes[warp], t) - 1; i >= 0 && found.length < most; i--) {
    const dispatch = model.warpDispatches[warp][i];
    for (const lane of lanesOf(model, dispatch)) {
      if (model.data.lanes.thread[lane] === thread) found.push({ dispatch, lane });
    }
  }
  return found;
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

/** The machine during time unit t, as `Trace.cycles` of mmsim gives it. */
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
  const variables = {};
  data.variables.forEach((variable, v) => {
    const all = Array.from({ length: elementsOf(variable) }, (_, element) => element);
    variables[variable.name] = Array.from({ length: data.threads }, (_, thread) => {
      const values = all.map((element) => heldAt(model, v, element, thread, t).value);
      return variable.shape === null ? values[0] : values;
    });
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
    variables,
  };
}
