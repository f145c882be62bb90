import { VectorClocks } from "./clocks.js";
import { LanesOfCells, accessAt, elementFinding, madeFor } from "./lines.js";
import { Listener, cellOf } from "./listener.js";
import { sameBits } from "./memory.js";

/** The columns of noted accesses; `next` is an earlier one of the same cell. */
const NOTED_COLUMNS = ["next", "thread", "word", "time", "report"];
/** The columns of the reports by which they came. */
const REPORT_COLUMNS = ["line", "interval", "gridInterval", "releases", "view"];

/** Empty columns of these names. */
const emptyColumns = (names) => Object.fromEntries(names.map((name) => [name, []]));

/**
 * Finds the data races of a run.
 *
 * Two accesses to one element of one copy of an array *race* if threads of different warps make them, at least one of
 * them writes, and nothing orders them:
 *
 * - under the asynchronous schedule, a barrier between two accesses of one block orders them: their warps had passed
 *   different numbers of barriers. Only a barrier of the grid orders accesses of different blocks;
 * - under the asynchronous schedule, atomics order what comes before and after them (`VectorClocks`);
 * - under the synchronous schedule, only accesses of one round are unordered.
 *
 * Two atomics don't race, nor do two writes of the same bits. If lanes of a warp write one element in one request, the
 * lowest-numbered thread's value stays, so the others' values count for nothing.
 */
export class RaceDetector extends Listener {
  constructor(launch, lines, returns) {
    super();
    this.launch = launch;
    this.lines = lines;
    this.isLockStep = launch.schedule === "synchronous";
    this.warps = launch.grid.warp;
    this.blocks = launch.grid.block;
    this.clocks = new VectorClocks(launch, returns);
    this.latest = new Map(); // by array that is written: the place of the latest noted access of each cell
    for (const site of launch.meaning.sites) {
      const array = launch.arrays[site.array];
      if (site.kind !== "read" && !this.latest.has(array.name)) {
        this.latest.set(array.name, new Int32Array(array.size * array.copies).fill(-1));
      }
    }
    this.noted = emptyColumns(NOTED_COLUMNS);
    this.reports = emptyColumns(REPORT_COLUMNS);
    this.touched = new Map(); // in lock step, by array
    this.best = new Map();
  }

  accessed(access) {
    const { site, array, interval, gridInterval } = access;
    const [releases, view] = this.clocks.needed ? this.clocks.accessed(access) : [0, 0];
    const latest = this.latest.get(array.name);
    if (latest === undefined || (this.isLockStep && !(site.kind === "write" && this.hasRace(access)))) return;
    const report = { line: this.lines.ofSite[site.number], interval, gridInterval, releases, view };
    for (const name of REPORT_COLUMNS) this.reports[name].push(report[name]);
    this.noteLanes(access, latest, this.reports.line.length - 1);
  }

  /** Note one access for each element that a warp's request touches, of its lowest-numbered thread. */
  noteLanes({ site, array, threads, elements, values, times }, latest, report) {
    const { noted, warps, blocks, isLockStep } = this, begin = noted.next.length, isWrite = site.kind === "write";
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane], cell = cellOf(array, elements[lane], blocks[thread]), before = latest[cell];
      if (before >= begin && warps[noted.thread[before]] === warps[thread]) continue;
      latest[cell] = noted.next.length;
      noted.next.push(before);
      noted.thread.push(thread);
      noted.word.push(isWrite ? values[lane] : 0);
      noted.time.push(isLockStep ? times[lane] : times);
      noted.report.push(report);
    }
  }

  /** Whether two warps write different values to one element in a round. */
  hasRace({ array, threads, elements, values }) {
    const { warps, blocks } = this, touched = madeFor(this.touched, array.name, () => new LanesOfCells(array));
    touched.begin(elements.length);
    for (let lane = 0; lane < elements.length; lane += 1) {
      const cell = cellOf(array, elements[lane], blocks[threads[lane]]), before = touched.of(cell);
      if (before >= 0) {
        if (warps[threads[before]] === warps[threads[lane]]) continue;
        if (!sameBits(values[before], values[lane])) return true;
      }
      touched.set(cell, lane);
    }
    return false;
  }

  released(block, stays) {
    this.clocks.released(stays.map((stay) => stay.warp));
  }

  /** A finding for each pair of lines that race for elements of an array, in their order. */
  findings() {
    this.best.clear();
    for (const [name, array] of Object.entries(this.launch.arrays)) {
      const latest = this.latest.get(name);
      if (latest === undefined) continue;
      for (let cell = 0; cell < latest.length; cell += 1) {
        if (latest[cell] >= 0 && this.noted.next[latest[cell]] >= 0) this.look(array, cell, latest[cell]);
      }
    }
    return [...this.best].sort(([one], [other]) => one - other).map(([, race]) => this.found(race));
  }

  /** The line of a noted access. */
  lineOf(at) {
    return this.reports.line[this.noted.report[at]];
  }

  /** The first site of the line of a noted access. */
  siteOf(at) {
    return this.lines.sites[this.lineOf(at)];
  }

  /** Whether atomics order a noted access before another one. */
  isBefore(one, other) {
    const { noted: { thread, report }, reports: { view, releases } } = this;
    return this.clocks.happenedBefore(view[report[other]], this.warps[thread[one]], releases[report[one]]);
  }

  /** Look for races of one cell, whose accesses end with the one noted at `last`. */
  look(array, cell, last) {
    const { noted, warps, blocks } = this, every = [];
    for (let at = last; at >= 0; at = noted.next[at]) every.push(at);
    every.reverse();
    if (!this.mayRace(every, warps)) return;
    const { thread, report } = noted;
    const later = (column) => (one, other) => column[report[one]] - column[report[other]];
    const inInterval = later(this.reports.interval);
    const inBlock = (one, other) => blocks[thread[one]] - blocks[thread[other]];
    if (this.isLockStep) {
      this.races(array, cell, every, warps, inInterval);
      return;
    }
    this.races(array, cell, every, warps, (one, other) => inInterval(one, other) || inBlock(one, other));
    this.races(array, cell, every, blocks, later(this.reports.gridInterval));
  }

  /** Whether accesses of a cell have two actors and two that conflict: two kinds, or writes of two values. */
  mayRace(every, actors) {
    const { thread, word } = this.noted, [first] = every, kind = this.siteOf(first).kind, actor = actors[thread[first]];
    if (every.every((at) => actors[thread[at]] === actor)) return false;
    return every.some((at) => this.siteOf(at).kind !== kind || (kind === "write" && !sameBits(word[at], word[first])));
  }

  /**
   * Note the pairs of a cell that race, in groups of accesses that `order` does not distinguish; they are unordered if
   * their actors differ. Not all pairs: for each pair of lines at least the lowest-numbered threads.
   */
  races(array, cell, every, actors, order) {
    const { thread, word } = this.noted, { clocks } = this;
    const sorted = [...every].sort((one, other) =>
      order(one, other) || this.lineOf(one) - this.lineOf(other) || thread[one] - thread[other] || one - other);
    const races = (one, other) => {
      const { kind } = this.siteOf(one), isOfOneKind = kind === this.siteOf(other).kind;
      if (actors[thread[one]] === actors[thread[other]]) return false;
      if (isOfOneKind && (kind !== "write" || sameBits(word[one], word[other]))) return false;
      return !clocks.needed || !(this.isBefore(one, other) || this.isBefore(other, one));
    };
    for (let begin = 0, end; begin < sorted.length; begin = end) {
      for (end = begin + 1; end < sorted.length && order(sorted[begin], sorted[end]) === 0; ) end += 1;
      let group = sorted.slice(begin, end);
      if (group.length < 2 || !this.mayRace(group, actors)) continue;
      if (!clocks.needed) group = this.needed(group, actors); // else any pair may be ordered
      for (let distance = 1; distance < group.length; distance += 1) {
        for (let at = 0; at + distance < group.length; at += 1) {
          if (races(group[at], group[at + distance])) this.note(array, cell, group[at], group[at + distance], distance);
        }
      }
    }
  }

  /**
   * The few accesses of each line of a group that decide every race, by thread number.
   *
   * An access (w, v) of another line needs the first access here with another actor than w and other bits than v. It is
   * one of these: the first of all, (w1, v1); for accesses with actor w1, the first with another actor, and the first
   * after this with other bits too; for accesses with bits v1, the first with other bits, and the first after this with
   * another actor too.
   */
  needed(group, actors) {
    const { thread, word } = this.noted, kept = [];
    for (let begin = 0, end; begin < group.length; begin = end) {
      for (end = begin + 1; end < group.length && this.lineOf(group[end]) === this.lineOf(group[begin]); ) end += 1;
      const own = group.slice(begin, end);
      const otherActor = (at, one) => actors[thread[at]] !== actors[thread[one]];
      const otherBits = (at, one) => !sameBits(word[at], word[one]);
      const first = own[0];
      const byActor = own.find((at) => otherActor(at, first)) ?? first;
      const byBits = own.find((at) => otherBits(at, first)) ?? first;
      const needed = [
        first, byActor, own.find((at) => otherActor(at, first) && otherBits(at, byActor)),
        byBits, own.find((at) => otherBits(at, first) && otherActor(at, byBits)),
      ];
      kept.push(...own.filter((at) => needed.includes(at)));
    }
    return kept;
  }

  /** Note a race of a cell; the first element of two lines stays, with its lowest-numbered threads. */
  note(array, cell, one, other, distance) {
    const { thread } = this.noted, pair = this.lineOf(one) * this.lines.sites.length + this.lineOf(other);
    const found = this.best.get(pair);
    const race = { array, cell, latest: cell, count: 1, one, other, distance };
    if (found === undefined) {
      this.best.set(pair, race);
      return;
    }
    if (found.latest !== cell) {
      found.latest = cell;
      found.count += 1;
    }
    const order = thread[one] - thread[found.one] || thread[other] - thread[found.other];
    if (found.cell === cell && (order || distance - found.distance) < 0) Object.assign(found, { one, other, distance });
  }

  /** The finding of a race. */
  found({ array, cell, one, other, count }) {
    const { noted, blocks } = this;
    const [site, otherSite] = [one, other].map((at) => this.siteOf(at));
    const [block, otherBlock] = [one, other].map((at) => blocks[noted.thread[at]]);
    const isAtomic = site.kind === "atomic" || otherSite.kind === "atomic";
    const accesses = [
      accessAt(site, noted.thread[one], block, noted.time[one]),
      accessAt(otherSite, noted.thread[other], otherBlock, noted.time[other]),
    ];
    const scope = this.isLockStep ? "round" : block === otherBlock ? "interval" : "blocks";
    return elementFinding(isAtomic ? "beside-atomic" : "race", array, cell, accesses, { scope, elements: count });
  }
}
