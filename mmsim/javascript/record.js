import { kindOf } from "./dtypes.js";
import { productOf } from "./grid.js";
import { sameBits } from "./memory.js";

/** The most of each that the player's data hold; more is only counted. */
export const MOST_IN_PAGE = 1_000_000;
/** The largest integer of the player's data that is no text. */
const LARGEST_EXACT = 2n ** 53n;

/** A value as the player's data have it: text for a value that isn't a JSON number, pairs for complex values. */
export const playerValue = (value) => {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? value : Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    case "bigint":
      return value === LARGEST_EXACT || value === -LARGEST_EXACT ? Number(value) : String(value);
    case "boolean":
      return value;
    default:
      return value === null || value === undefined ? null : [playerValue(value.re), playerValue(value.im)];
  }
};

/** Whether a value is a NaN, or has one for a part. */
const isNotANumber = (value) =>
  typeof value === "number"
    ? Number.isNaN(value)
    : typeof value === "object" && value !== null && (Number.isNaN(value.re) || Number.isNaN(value.im));

/** The variables and register arrays of a program, without the arrays of its memory: {name, text, function, ...}. */
const tracedVariables = ({ code, lowered, meaning }) => {
  const registers = new Set(code.locals.filter((one) => one.kind === "registers").map((one) => one.name));
  return code.variables.flatMap(({ name, text, function: own }) => {
    if (registers.has(name)) {
      return [{ name, text, function: own, dtype: lowered.arrays[name], shape: meaning.locals[name] }];
    }
    if (!(name in meaning.slots)) return [];
    return [{ name, text, function: own, dtype: lowered.variables[name], shape: null }];
  });
};

/** Finds the changes of the variables of a sequencer, whose warps are those from `first` to before `end`. */
class VariableChanges {
  constructor(recorder, frame, first, end) {
    const { grid, meaning } = recorder.launch;
    this.recorder = recorder;
    this.frame = frame;
    this.parts = [];
    const origin = grid.warpStart(first);
    for (let warp = first; warp < end; warp++) {
      this.parts.push({ warp, first: grid.warpStart(warp) - origin, end: grid.warpStart(warp + 1) - origin });
    }
    this.plain = [];
    this.arrays = [];
    recorder.variables.forEach(({ name, shape }, number) => {
      if (shape === null) {
        const slot = meaning.slots[name];
        this.plain.push({ slot, number, value: null, partial: null, held: new Array(frame.lanes).fill(null) });
      } else {
        const seen = frame.registers[name].slice(); // a frame never changes a row in place
        this.arrays.push({ name, number, seen, rows: seen.map((row) => row.slice()) });
      }
    });
  }

  /** Note the values that the frame has assigned since the last call. */
  look(now) {
    const { frame } = this;
    for (const one of this.plain) {
      const value = frame.variables[one.slot];
      const partial = frame.partial[one.slot];
      if (Object.is(value, one.value) && partial === one.partial) continue; // nor a variable's values
      one.value = value;
      one.partial = partial;
      this.compare(now, one.number, 0, one.held, this.spread(value, partial));
    }
    for (const one of this.arrays) {
      const { number, seen, rows } = one;
      const current = frame.registers[one.name];
      const isSame = (row, element) =>
        seen[element] === current[element] || row.every((value, lane) => sameBits(value, current[element][lane]));
      const areSame = rows.every(isSame);
      one.seen = current.slice();
      if (!areSame) rows.forEach((row, element) => this.compare(now, number, element, row, current[element]));
    }
  }

  /** The value of each lane, null where it isn't assigned. */
  spread(value, partial) {
    const { lanes } = this.frame;
    if (partial === null) return Array.isArray(value) ? value : new Array(lanes).fill(value);
    const found = new Array(lanes).fill(null);
    for (const lane of partial) found[lane] = Array.isArray(value) ? value[lane] : value;
    return found;
  }

  /** Note a change for each warp in which a lane has changed; `held` then has the new values. */
  compare(now, number, element, held, current) {
    for (const { warp, first, end } of this.parts) {
      let isChanged = false;
      for (let lane = first; lane < end; lane++) {
        const value = current[lane];
        const old = held[lane];
        // 0 and -0 aren't the same; a NaN is another one each time.
        if (value === old && value !== 0) continue;
        if (sameBits(value, old) && !isNotANumber(value)) continue;
        isChanged = true;
        held[lane] = value;
      }
      if (isChanged) this.recorder.changed(now, warp, number, element, current, first, end);
    }
  }
}

/** Notes all that happens in a run, in order, in the columns of the player's data. */
export class Recorder {
  constructor(launch) {
    this.launch = launch;
    this.variables = tracedVariables(launch);
    this.frames = new Map();
    this.dispatches = Object.fromEntries(
      ["time", "completion", "unit", "warp", "copy", "site", "lanes", "stages"].map((name) => [name, []])
    );
    this.lanes = { thread: [], element: [], stage: [] };
    this.moved = [];
    this.laneCount = 0;
    this.heldCount = 0;
    this.sites = [];
    this.siteNumbers = new Map();
    this.lines = []; // of the dispatches
    this.changes = { time: [], warp: [], variable: [], element: [] };
    this.held = [];
    this.arrivals = []; // {time, warp, line}
    this.releases = []; // {time, block, warps}
    this.rounds = 0;
    this.lived = new Array(launch.grid.warps).fill(0); // the rounds at whose end each warp was unfinished
    const copied = Object.values(launch.arrays).map((one) => [one.name, one.written ? one.data.slice() : one.data]);
    this.memory = Object.fromEntries(copied); // at the start
  }

  /**
   * Note the dispatch of a part of a request, as of `Synchronous.dispatches`: the lanes from `first` to before `end`.
   * Lane k is thread `start + lanes[k]`.
   */
  dispatched(part, { site, start, lanes, elements, addresses, words }) {
    const { dispatches, moved } = this;
    const { time, completion, unit, warp, copy, rule, stages, first, end } = part;
    const { thread, element, stage } = this.lanes;
    dispatches.time.push(time);
    dispatches.completion.push(completion);
    dispatches.unit.push(unit);
    dispatches.warp.push(warp);
    dispatches.copy.push(copy);
    dispatches.site.push(this.siteOf(site));
    dispatches.lanes.push(end - first);
    dispatches.stages.push(stages);
    this.lines.push(site.place.line);
    this.laneCount += end - first;
    if (this.laneCount > MOST_IN_PAGE) return;
    const stageOf = stages === 1 ? null : rule.stageOf(addresses, first, end);
    for (let at = first; at < end; at++) {
      thread.push(start + (lanes === null ? at : lanes[at]));
      element.push(elements[at]);
      stage.push(stageOf === null ? 0 : stageOf[at - first]);
      moved.push(playerValue(words[at]));
    }
  }

  /** The number of an access of the text: accesses of one kind to one array in one line count as one. */
  siteOf(site) {
    let number = this.siteNumbers.get(site);
    if (number === undefined) {
      const { function: name, line } = site.place;
      const own = [name, line, Object.keys(this.launch.arrays).indexOf(site.array), site.kind];
      const key = JSON.stringify(own);
      number = this.sites.findIndex((one) => JSON.stringify(one) === key);
      if (number < 0) number = this.sites.push(own) - 1;
      this.siteNumbers.set(site, number);
    }
    return number;
  }

  /** Note that the values of a variable have changed in a warp, whose lanes are those from `first` to before `end`. */
  changed(now, warp, variable, element, values, first, end) {
    this.heldCount += end - first;
    if (this.heldCount > MOST_IN_PAGE) return;
    this.changes.time.push(now);
    this.changes.warp.push(warp);
    this.changes.variable.push(variable);
    this.changes.element.push(element);
    for (let lane = first; lane < end; lane++) this.held.push(playerValue(values[lane]));
  }

  /** A sequencer of the warps from `first` to before `end` is about to begin. */
  began(frame, first, end) {
    this.frames.set(frame, new VariableChanges(this, frame, first, end));
  }

  /** A sequencer has done local work. */
  worked(frame, now) {
    this.frames.get(frame).look(now);
  }

  /** In lock step a round is over; `live` threads have not returned. */
  roundEnded(live) {
    const { grid } = this.launch;
    this.rounds += 1;
    if (live === true) this.lived.fill(this.rounds);
    else if (live !== false) for (const thread of live) this.lived[grid.warp[thread]] = this.rounds;
  }

  /** A warp has come to a barrier. */
  arrived(warp, line, time) {
    this.arrivals.push({ time, warp, line });
  }

  /** A barrier has released warps of a block. */
  released(block, warps, time) {
    this.releases.push({ time, block, warps });
  }
}

/** The place of the first number of a sorted list that is larger than `value`. */
const placeAfter = (list, value) => {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The reasons of waits, in the order of their numbers. */
export const WAIT_REASONS = ["turn", "latency", "round", "barrier"];

/**
 * All waits, in columns, in order of their beginning and of warps. A warp is ready for its next request when its last
 * one has completed, when a barrier releases it, or when a round begins. From then on it waits for its turn, and from
 * its dispatch on for its request. `rounds` are the times at which rounds began.
 */
export const tracedWaits = ({ dispatches, lines, arrivals, releases, lived }, rounds, warps) => {
  const waits = [];
  const wait = (warp, reason, start, end, unit, line) => {
    if (end > start) waits.push({ warp, reason, start, end, unit, line }); // else it went on immediately
  };
  const { time, completion, unit, warp } = dispatches;
  const since = new Array(warps).fill(0);
  let released = 0;
  for (let at = 0; at < time.length; at++) {
    while (released < releases.length && releases[released].time <= time[at]) { // barriers come before dispatches
      const release = releases[released++];
      for (const one of release.warps) since[one] = release.time;
    }
    const round = placeAfter(rounds, time[at]);
    const ready = Math.max(since[warp[at]], round > 0 ? rounds[round - 1] : 0);
    since[warp[at]] = completion[at];
    wait(warp[at], 0, ready, time[at], unit[at], lines[at]);
    wait(warp[at], 1, time[at], completion[at], unit[at], lines[at]);
  }
  const came = new Map();
  for (const arrival of arrivals) {
    if (!came.has(arrival.warp)) came.set(arrival.warp, { next: 0, list: [] });
    came.get(arrival.warp).list.push(arrival);
  }
  for (const release of releases) {
    for (const one of release.warps) {
      const own = came.get(one);
      const arrival = own.list[own.next++];
      wait(one, 3, arrival.time, release.time, -1, arrival.line);
    }
  }
  let first = 0;
  rounds.forEach((start, number) => {
    const done = new Map();
    let end = first;
    let over = 0;
    for (; end < time.length && (number + 1 === rounds.length || time[end] < rounds[number + 1]); end++) {
      done.set(warp[end], completion[end]);
      over = Math.max(over, completion[end]);
    }
    for (let one = 0; one < warps; one++) {
      if (number < lived[one]) wait(one, 2, done.get(one) ?? start, over, -1, lines[first]);
    }
    first = end;
  });
  waits.sort((one, other) => one.start - other.start || one.warp - other.warp);
  return Object.fromEntries(
    ["warp", "reason", "start", "end", "unit", "line"].map((name) => [name, waits.map((one) => one[name])])
  );
};

/** Whether a type holds floats. */
export const isFloatType = (type) => kindOf(type) === "f";

/** Values that a thread holds in a variable: more than one in an array of registers. */
export const heldElements = ({ shape }) => (shape === null ? 1 : productOf(shape));
