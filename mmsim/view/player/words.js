/* The words: how values, elements, waits and time units are written. Nothing here touches the page. */

/** How a value is written: short in a cell, in full in its title. */
function written(value, isFloat, short) {
  if (Array.isArray(value)) { // a complex number: its parts
    const [real, imag] = value.map((part) => written(part, true, short));
    return `${real}${imag.startsWith("-") ? "" : "+"}${imag}j`;
  }
  if (typeof value === "boolean") return value ? "True" : "False";
  if (!isFloat || typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return Math.abs(value) < 1e6 || !short ? `${Object.is(value, -0) ? "-0" : value}.0` : value.toExponential(1);
  return short ? String(Number(value.toPrecision(4))) : String(value);
}

/** The index of an element in an array of some shape. */
function indexOf(shape, element) {
  const index = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(element % shape[axis]);
    element = Math.floor(element / shape[axis]);
  }
  return index;
}

/** The index of an element as it is written: [1, 2]. */
function indexText(shape, element) {
  return `[${indexOf(shape, element).join(", ")}]`;
}

/** Indices as briefly as they are read: of adjacent elements along one axis the first and the last, [2, 0–3].

    In the order of the threads; each element once. */
function indexTexts(shape, elements) {
  const runs = []; // of each its first element, how many there are, and how far it is to the next
  for (const element of new Set(elements)) {
    const run = runs.at(-1);
    const step = run ? element - run.first - (run.count - 1) * (run.step ?? 0) : 0;
    const axis = axisOf(shape, run?.first, step);
    if (run && axis >= 0 && (run.step ?? step) === step && alongAxis(shape, run.first, element, axis)) {
      run.step = step;
      run.axis = axis;
      run.count++;
    } else runs.push({ first: element, count: 1 });
  }
  return runs.map(({ first, count, step, axis }) => {
    const index = indexOf(shape, first).map(String);
    if (count > 1) index[axis] += `–${indexOf(shape, first + (count - 1) * step)[axis]}`;
    return `[${index.join(", ")}]`;
  });
}

/** The axis along which a step leads from an element to its neighbour; -1 if there is none. */
function axisOf(shape, first, step) {
  let size = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (size === step) return axis;
    size *= shape[axis];
  }
  return -1;
}

/** Whether two elements differ along one axis at most. */
function alongAxis(shape, first, second, axis) {
  const [one, other] = [indexOf(shape, first), indexOf(shape, second)];
  return one.every((part, at) => at === axis || part === other[at]);
}

/** The name of an array, with its block if there are several copies. */
function arrayName(data, array, copy) {
  const { name, shared, data: copies } = data.arrays[array];
  return shared && copies.length > 1 ? `${name} of block ${copy}` : name;
}

/** An element's name: a[1, 2], with its block for a shared array. */
function elementName(data, array, copy, element) {
  const { name, shape } = data.arrays[array];
  return `${name}${indexText(shape, element)}${arrayName(data, array, copy).slice(name.length)}`;
}

/** A number with its noun: "1 phase", "2 phases". */
function many(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Why a request takes several stages: its phases, or what it has met at its unit. */
function conflictOf(model, dispatch) {
  const { dispatches, units } = model.data;
  const phases = phasesOf(model, dispatch);
  const stages = dispatches.stages[dispatch];
  if (phases > 1) return `${many(phases, "phase")}, ${many(stages, "stage")}`;
  return units[dispatches.unit[dispatch]].met.replace("{}", stages);
}

/** The phase in which a lane of a request travels: ", phase 2 of 2", or nothing if it has one. */
function phaseText(model, dispatch, lane) {
  const phases = phasesOf(model, dispatch);
  return phases > 1 ? `, phase ${model.data.lanes.phase[lane] + 1} of ${phases}` : "";
}

/** Why a warp waits at time t: its reason, and the conflict behind it, if any. */
function explain(model, wait, t) {
  const { data } = model;
  const { dispatches, waits } = data;
  const reason = data.reasons[waits.reason[wait]];
  const unit = waits.unit[wait];
  if (reason === "round") return "round: others aren't done";
  if (reason === "barrier") return "barrier: others haven't come";
  const conflict = (d) => conflictOf(model, d);
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

/** What happens in a run at its time, in a part of a sentence. */
function story(player) {
  const { data, model, launches, stage, view: { time: t } } = player;
  const { dispatches, sites, units } = data;
  const parts = [];
  const name = stage.players.length > 1 ? `${player.run.name}: ` : "";
  if (stage.view.time > player.end) return `${name}has ended at ${player.end}`;
  if (launches.length > 1 && t === data.start) parts.push(`launch ${player.run.first + player.current + 1} of ${player.run.count}, ${data.program}, begins`);
  const list = (all, say, what) => {
    if (all.length <= 3) parts.push(...all.map(say));
    else parts.push(`${all.length} ${what}`);
  };
  if (data.rounds.includes(t)) parts.push("a round begins");
  for (const [time, block] of data.releases) if (time === t) parts.push(`the barrier of block ${block} opens`);
  list(completedAt(model, t), (d) => `warp ${dispatches.warp[d]}'s access completes`, "accesses complete");
  list(dispatchedAt(model, t), (d) => {
    const [, line, array, kind] = sites[dispatches.site[d]];
    const cost = dispatches.stages[d] === 1 ? "1 stage" : conflictOf(model, d);
    return `warp ${dispatches.warp[d]} ${kind}s ${data.arrays[array].name} through ${units[dispatches.unit[d]].name} (line ${line}, ${dispatches.lanes[d]} threads, ${cost})`;
  }, "warps are dispatched");
  if (t === player.time) parts.push("everything has drained");
  return name + (parts.join("; ") || "nothing begins or completes");
}
