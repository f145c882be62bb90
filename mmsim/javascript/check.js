import { DeadlockCheck } from "./deadlock.js";
import { findingBefore, findingOfError, isOfProgram, wordText } from "./errorfindings.js";
import { findingData } from "./findings.js";
import { Lines, foundAccess, indexIn, plainFinding } from "./lines.js";
import { Listener } from "./listener.js";
import { sameBits } from "./memory.js";
import { waitsOf } from "./needs.js";
import { RaceDetector } from "./races.js";
import { SyncCheck } from "./syncs.js";
import { UnwrittenReads } from "./unwritten.js";
import { LostUpdates } from "./updates.js";
import { accessesOf } from "./walk.js";
import { WarpSyncCheck } from "./warpsync.js";
import { ConcurrentWrites } from "./winners.js";

/** Other winners of concurrent writes, and whose write then stays. */
const OTHER_WINNERS = { lowest: "the other's", highest: "the last other's" };

/** The names of random layouts that are not those of their classes. */
const LAYOUT_NAMES = { OneP: "1P", R1P: "R1P", ThreeP: "3P", W2P: "w²P", OnePW2R: "1Pw²R" };

/**
 * Looks for races, lost updates, reads of uninitialized memory, divergent barriers and missing syncs; notes concurrent
 * writes and whether the program is deadlocked. The first contents of the parameters `unset` mean nothing.
 */
export class Monitors extends Listener {
  findsDeadlocks = true;

  constructor(launch, unset = []) {
    super();
    const returns = accessesOf(launch.code.body).map((one) => one.node === "Atomic" && one.target !== null);
    const waits = waitsOf(launch.code);
    this.lines = new Lines(launch);
    this.races = new RaceDetector(launch, this.lines, returns);
    this.unwritten = new UnwrittenReads(launch, this.lines, unset);
    this.updates = new LostUpdates(launch, this.lines);
    this.barriers = new SyncCheck(launch);
    this.concurrentWrites = new ConcurrentWrites(launch, this.lines);
    this.deadlock = new DeadlockCheck(launch, waits);
    /** @type {Listener[]} */
    this.every = [this.races, this.unwritten, this.updates, this.barriers, this.concurrentWrites, this.deadlock];
    this.warpSyncs = null;
    if (launch.schedule === "asynchronous") {
      this.warpSyncs = new WarpSyncCheck(launch, this.lines, returns, waits);
      this.every.push(this.warpSyncs);
    }
  }

  accessed(access) {
    for (const one of this.every) one.accessed(access);
  }

  met(...facts) {
    this.barriers.met(...facts);
  }

  synced(threads) {
    this.warpSyncs?.synced(threads);
  }

  arrived(...facts) {
    this.barriers.arrived(...facts);
  }

  released(...facts) {
    this.races.released(...facts);
  }

  ended(warp, live) {
    this.barriers.ended(warp, live);
  }

  /**
   * All findings, races first. A line that reads too early, in a race, is reported once, as the race. So are lanes that
   * meet in a line that races as well, or whose updates get lost.
   */
  findings() {
    const key = (found, one) => JSON.stringify([found.array, one.function, one.file, one.line, one.kind]);
    const keysOf = (findings) => findings.flatMap((found) => found.accesses.map((one) => key(found, one)));
    const races = this.races.findings(), lost = this.updates.findings(), racing = new Set(keysOf(races));
    const named = new Set([...racing, ...keysOf(lost)]);
    const unwritten = this.unwritten.findings().filter((found) => !racing.has(key(found, found.accesses[0])));
    const syncs = (this.warpSyncs?.findings() ?? []).filter((found) => !keysOf([found]).some((one) => named.has(one)));
    return [...races, ...lost, ...unwritten, ...this.barriers.findings(), ...syncs];
  }
}

/** A layout in the notation of Python. */
const layoutText = ({ kind, width, seed = 0, shifts = null }) => {
  if (kind === "Diagonal") return `Diagonal(width=${width})`;
  if (kind in LAYOUT_NAMES) return `${LAYOUT_NAMES[kind]}(width=${width}, seed=${seed})`;
  const given = shifts === null ? "None" : `(${shifts.join(", ")}${shifts.length === 1 ? "," : ""})`;
  return `${kind}(width=${width}, seed=${seed}, shifts=${given})`;
};

/** The arguments whose layout rotates rows of another width than the machine's. */
const placements = ({ code, machine, layouts }) =>
  code.parameters.flatMap(({ name, place }) => {
    const layout = layouts?.[name], rows = layout?.width ?? machine.width;
    if (rows === machine.width) return [];
    const note = `${layoutText(layout)} has rows of ${rows} words, but the machine is ${machine.width} wide`;
    return [plainFinding("placement", [foundAccess(place, "declaration", 0, 0)], { array: name, note })];
  });

/** The difference that other winners make, in words; empty without one. */
const differenceOf = (arrays, again, whose) => {
  if (again.error !== null) return `if ${whose} stays, ${again.error.message}`;
  for (const [name, { data: now }] of Object.entries(again.arrays)) {
    const { data: before, shape, dtype } = arrays[name];
    const at = before.findIndex((word, element) => !sameBits(word, now[element]));
    if (at < 0) continue;
    const ends = `${name}[${indexIn(shape, at).join(", ")}] ends as ${wordText(before[at], dtype)}`;
    return `${ends}, but as ${wordText(now[at], dtype)} if ${whose} stays`;
  }
  return "";
};

/**
 * The lines whose concurrent writes change the results if another one wins: run again. Each line is tried alone; then
 * those without a difference are tried together.
 */
const winnersOf = (launch, { lines, concurrentWrites, updates }, runAgain) => {
  const difference = (some) => {
    const sites = launch.meaning.sites.filter((site) => some.includes(lines.ofSite[site.number]));
    for (const [other, whose] of Object.entries(OTHER_WINNERS)) {
      const again = runAgain(new Map(sites.map((site) => [site.number, other])));
      const note = differenceOf(launch.arrays, again, whose);
      if (note) return note;
    }
    return "";
  };
  const found = [];
  let alone = [];
  for (const [line] of concurrentWrites.found.sorted()) {
    if (updates.lost.first.has(line)) continue;
    const note = difference([line]);
    if (note) found.push(concurrentWrites.finding(line, note));
    else alone.push(line);
  }
  if (alone.length < 2 || !difference(alone)) return found;
  for (const line of [...alone]) {
    const others = alone.filter((one) => one !== line);
    if (difference(others)) alone = others;
  }
  const names = alone.map((line) => lines.sites[line].place.line).join(", ");
  const note = `${difference(alone)} (in lines ${names} together)`;
  return [...found, concurrentWrites.finding(alone[0], note)];
};

/**
 * What a check of a launch found, as the player shows it, after a run that `monitors` listened to.
 *
 * `error` ended it at `time`, or is null. `runAgain(others)` runs the launch anew without listeners; there the writes
 * of the sites in `others`, a map, have another winner, "lowest" or "highest" (`writeOtherwise`). It returns {error,
 * arrays}, those of the parameters by name. `placeOf(name, copy, element)` is the unit of an element and its place
 * there.
 */
export const checked = ({ launch, monitors, error, time, runAgain, placeOf }) => {
  const found = [...placements(launch), ...monitors.findings()];
  if (error === null) found.push(...winnersOf(launch, monitors, runAgain));
  else found.push(findingOfError(error, launch, monitors, time));
  return found.map((finding) => findingData(finding, launch.grid, launch.arrays, placeOf));
};

/** An error that types and shapes show before any thread begins, as the player shows it; nothing for another error. */
export const checkedBefore = (error, grid) =>
  isOfProgram(error) ? [findingData(findingBefore(error), grid, {}, () => null)] : [];
