import { launchedText } from "./grid.js";
import { printableText } from "./printing.js";
import { MOST_IN_PAGE, WAIT_REASONS, heldElements, isFloatType, playerValue } from "./record.js";

/** The name of a source file for readers; a notebook's cell is a number. */
const fileNameOf = (file) => {
  const parts = file.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length > 1 && parts.at(-2).startsWith("ipykernel_") ? "a cell of the notebook" : parts.at(-1) ?? "";
};

/** Refuse more data than a page holds; return the reason, null if there is none. */
export const tooLargeForPage = (recorder, waits, time) => {
  const { launch } = recorder;
  const { grid, machine } = launch;
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
  const always = {
    "words of memory": sum(Object.values(launch.arrays).map((array) => array.size * array.copies)),
    "columns of memory": machine.width,
    "pipeline registers": sum(machine.units(grid.blocks).map((unit) => unit.latency)),
    warps: grid.warps,
    "variables of threads": grid.threads * sum(recorder.variables.map(heldElements)),
  };
  const others = {
    "requests of threads": recorder.laneCount,
    waits: waits.warp.length,
    "values of variables": recorder.heldCount,
  };
  for (const [what, count] of Object.entries({ ...always, ...others })) {
    if (count <= MOST_IN_PAGE) continue;
    const window =
      `take a window of the time units 0 to ${time}: player(start=..., end=...), or --start and --end of mmsim step`;
    const advice = what in always ? "run it smaller, or on a smaller machine" : window;
    return `this trace has ${count} ${what}, and a page draws at most ${MOST_IN_PAGE}; ${advice}`;
  }
  return null;
};

/** The addresses of an array's copies: a copy's first one if they are consecutive. */
const addressesOfArray = ({ bases, offsets, size }) => {
  const isNext = (offset, at) => at === 0 || offset === offsets[at - 1] + 1;
  const isConsecutive = size > 0 && (offsets === null || offsets.every(isNext));
  const within = offsets ?? Array.from({ length: size }, (_, at) => at);
  return bases.map((base) => (isConsecutive ? base + within[0] : within.map((offset) => base + offset)));
};

/**
 * The player's data of a recorded run of `time` time units, whose rounds began at `rounds`, with its `waits`, and with
 * `findings` as a check gives them.
 */
export const playerData = (recorder, time, rounds, waits, findings) => {
  const { launch } = recorder;
  const { grid, machine, code, arrays } = launch;
  const { width } = machine;
  const { dispatches } = recorder;
  const named = Object.values(arrays);
  const units = machine.units(grid.blocks);
  return {
    program: printableText(code.name),
    machine: machine.repr,
    width,
    threads: grid.threads,
    blockSize: grid.blockSize,
    launched: launchedText(grid),
    shape: grid.shape && [grid.shape.block, grid.shape.grid],
    warps: Array.from({ length: grid.warps }, (_, warp) => {
      const { start, end } = grid.warpThreads(warp);
      return [start, end - start, grid.blockOfWarp(warp)];
    }),
    schedule: launch.schedule,
    start: 0,
    end: time,
    time,
    units: units.map(({ name, rule, latency }) => ({
      name,
      conflict: rule.name,
      place: rule.place,
      title: rule.title,
      met: rule.met,
      latency,
      ...rule.table(width),
    })),
    arrays: named.map((array) => ({
      table: units[array.unitOfCopy[0]].rule.table(width),
      name: printableText(array.name),
      shape: array.shape,
      shared: array.shared,
      float: isFloatType(array.dtype),
      units: array.unitOfCopy,
      addresses: addressesOfArray(array),
      data: array.bases.map((_, copy) => {
        const words = recorder.memory[array.name].slice(copy * array.size, (copy + 1) * array.size);
        return words.map(playerValue);
      }),
    })),
    sources: code.sources.map((source) => ({
      function: printableText(source.function),
      file: printableText(fileNameOf(source.file)),
      first: source.first,
      lines: source.lines.map(printableText),
    })),
    reasons: WAIT_REASONS,
    dispatches: { number: dispatches.time.map((_, number) => number), ...dispatches },
    sites: recorder.sites.map(([name, ...where]) => [printableText(name), ...where]),
    lanes: recorder.lanes,
    moved: recorder.moved,
    variables: recorder.variables.map(({ name, text, function: own, dtype, shape }) => ({
      name: printableText(name),
      text: printableText(text),
      function: printableText(own),
      float: isFloatType(dtype),
      shape,
      start: null,
    })),
    changes: recorder.changes,
    held: recorder.held,
    waits,
    findings,
    rounds,
    releases: recorder.releases.map((release) => [release.time, release.block]),
  };
};
