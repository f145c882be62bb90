import { Asynchronous } from "./asynchronous.js";
import { Monitors, checked, checkedBefore } from "./check.js";
import { MMSimFault } from "./faults.js";
import { kindOf } from "./dtypes.js";
import { makeGrid } from "./grid.js";
import { makeLaunch } from "./launch.js";
import { makeMachine } from "./machines.js";
import { playerData, tooLargeForPage } from "./playerdata.js";
import { Recorder, tracedWaits } from "./record.js";
import { profileOf } from "./rows.js";
import { Synchronous } from "./synchronous.js";

/** The lanes that rounds or events concern between two calls of `progress`, about. */
const LANES_AT_ONCE = 1 << 18;

/** A driver of a launch, before its first event. */
const driverOf = (launch, recorder = null, listeners = [], others = new Map()) => {
  const driver = new (launch.schedule === "synchronous" ? Synchronous : Asynchronous)(launch, recorder, listeners);
  driver.others = others;
  return driver;
};

/** A fault with a thread's place in a launch that has a shape. */
const placedFault = (error, grid) => {
  const position = error.program === null ? null : grid.position(error.thread);
  return position === null ? error : new MMSimFault(error.kind, error.message, { ...error, position });
};

/** Run a driver to its end, in steps; return the fault that ended it, null without one. */
function* drive(driver) {
  const { threads, width } = driver.grid;
  const lanes = driver.launch.schedule === "synchronous" ? threads : Math.min(threads, width);
  const most = Math.ceil(LANES_AT_ONCE / (lanes + 16));
  try {
    while (!driver.advance(most)) yield driver.now;
    return null;
  } catch (error) {
    if (error instanceof MMSimFault) return placedFault(error, driver.grid);
    throw error;
  }
}

/** How JSON has values of a type: the inverse of `decodedNumber`. */
const encodingOf = (dtype) => {
  const float = (part) => (Number.isFinite(part) ? part : Number.isNaN(part) ? "nan" : part > 0 ? "inf" : "-inf");
  switch (kindOf(dtype)) {
    case "f":
      return (value) => ({ float: float(value) });
    case "c":
      return ({ re, im }) => ({ complex: [float(re), float(im)] });
    default:
      return (value) => (typeof value === "bigint" ? { int: String(value) } : value);
  }
};

/** The contents of the array parameters by name, as JSON has them. */
const encodedArrays = ({ arrays, parameters }) =>
  Object.fromEntries(
    parameters.map((name) => {
      const { dtype, shape, data } = arrays[name];
      return [name, { dtype, shape, data: data.map(encodingOf(dtype)) }];
    })
  );

/** A fault as plain data. */
const faultData = ({ kind, text, message, place, thread, other, array, index }) =>
  ({ kind, text, message, place, thread, other, array, index });

/** The result of a setting that no run came of. */
const refusedResult = (error, findings) => {
  const nothing = { data: null, tooLarge: null, arrays: null, accesses: [], rounds: [], profile: null };
  return { time: 0, ...nothing, findings, error: faultData(error) };
};

/** Run a launch anew with other winners of concurrent writes; the launch keeps its memory. */
const runAgain = (launch, others) => {
  const kept = Object.values(launch.arrays).map((array) => array.contents);
  launch.rewind();
  const steps = drive(driverOf(launch, null, [], others));
  let step = steps.next();
  while (!step.done) step = steps.next();
  const arrays = Object.fromEntries(launch.parameters.map((name) => [name, { data: launch.arrays[name].data }]));
  Object.values(launch.arrays).forEach((array, at) => (array.contents = kept[at]));
  return { error: step.value, arrays };
};

/** Run a launch that monitors listen to, and find what is wrong with it. */
function* checkedRun(launch, recorder) {
  const monitors = new Monitors(launch);
  const driver = driverOf(launch, recorder, [monitors]);
  const error = yield* drive(driver);
  const placeOf = (name, copy, element) => {
    const { unitOfCopy, bases, offsets } = launch.arrays[name];
    return [unitOfCopy[copy], bases[copy] + (offsets === null ? element : offsets[element])];
  };
  const again = (others) => runAgain(launch, others);
  const findings = () => checked({ launch, monitors, error, time: driver.now, runAgain: again, placeOf });
  return { driver, error, findings };
}

/** The fault that `make` throws, null without one. */
const faultOf = (make) => {
  try {
    make();
    return null;
  } catch (error) {
    if (error instanceof MMSimFault) return error;
    throw error;
  }
};

/**
 * Run a setting step by step; each step yields the time so far, and the last one returns the result. With `check` it
 * has findings; without `record` it has times and rows alone, and takes far less time.
 */
export function* simulation(setting, { record = true, check = false } = {}) {
  /** @type {ReturnType<typeof makeLaunch>} */
  let launch;
  const refused = faultOf(() => (launch = makeLaunch(setting)));
  if (refused !== null) {
    const { threads, block_size: size, shape, machine } = setting;
    const isOfProgram = check && refused.program !== null;
    const grid = isOfProgram ? makeGrid(threads, size ?? null, makeMachine(machine).width, 1, shape ?? null) : null;
    return refusedResult(refused, isOfProgram ? checkedBefore(refused, grid) : []);
  }
  const recorder = record ? new Recorder(launch) : null;
  let findings = [];
  let driver;
  let error;
  if (check && !launch.mayChange) {
    const run = yield* checkedRun(launch, recorder);
    ({ driver, error } = run);
    findings = run.findings();
  } else {
    if (check) {
      findings = (yield* checkedRun(launch, null)).findings();
      launch.rewind();
    }
    driver = driverOf(launch, recorder);
    error = yield* drive(driver);
  }
  const time = driver.now;
  const accesses = driver.tally.accesses();
  const { rounds } = driver.tally;
  const own = { time, accesses, rounds, findings, error: error && faultData(error) };
  if (recorder === null) return { ...own, profile: null, arrays: null, data: null, tooLarge: null };
  const lines = profileOf(launch.code.sources, accesses, rounds, launch.schedule);
  const starts = rounds.map((round) => round.start);
  const waits = tracedWaits(recorder, starts, launch.grid.warps);
  const tooLarge = tooLargeForPage(recorder, waits, time);
  return {
    ...own,
    profile: { lines, registers: launch.registers },
    arrays: error === null ? encodedArrays(launch) : null,
    data: tooLarge === null ? playerData(recorder, time, starts, waits, findings) : null,
    tooLarge,
  };
}

/**
 * Run a setting; return {time, data, tooLarge, arrays, accesses, rounds, profile, findings, error}. `data` are the
 * player's data, null if they are more than a page draws; `tooLarge` then says why. Of a run that an error ended they
 * are those up to it. `progress` is called with the time so far; the run ends early, with null, as soon as `stopped`
 * returns true.
 */
export const simulate = (setting, { progress = null, stopped = null, ...options } = {}) => {
  const steps = simulation(setting, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    progress?.(step.value);
    if (stopped?.()) return null;
  }
};
