import { VectorClocks } from "./clocks.js";
import { accessAt, elementFinding } from "./lines.js";
import { Listener, cellOf } from "./listener.js";
import { sameBits } from "./memory.js";

/** The columns of noted accesses; `next` is an earlier one of the same cell. */
const RACE_COLUMNS = ["cell", "next", "line", "thread", "word", "time", "interval", "gridInterval", "releases", "view"];

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
    this.noted = Object.fromEntries(RACE_COLUMNS.map((name) => [name, []]));
    this.best = new Map();
  }

  /** Note one access for each element that a warp's request touches, of its lowest-numbered thread. */
  accessed(access) {
    const { site, array, threads, elements, values, times, interval, gridInterval } = access;
    const [releases, view] = this.clocks.needed ? this.clocks.accessed(access) : [0, 0];
    const latest = this.latest.get(array.name), isWrite = site.kind === "write";
    if (latest === undefined || (this.isLockStep && !isWrite)) return;
    const { noted, warps } = this, begin = noted.cell.length, line = this.lines.ofSite[site.number];
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane], cell = cellOf(array, elements[lane], this.blocks[thread]), before = latest[cell];
      if (before >= begin && warps[noted.thread[before]] === warps[thread]) continue;
      latest[cell] = noted.cell.length;
      noted.cell.push(cell);
      noted.next.push(before);
      noted.line.push(line);
      noted.thread.push(thread);
      noted.word.push(isWrite ? values[lane] : 0);
      noted.time.push(this.isLockStep ? times[lane] : times);
      noted.interval.push(interval);
      noted.gridInterval.push(gridInterval);
      noted.releases.push(releases);
      noted.view.push(view);
    }
    if (this.isLockStep) this.dropOrdered(latest, begin);
  }

  released(block, stays) {
    this.clocks.released(stays.map((stay) => stay.warp));
  }

  /** Forget a round, noted from `begin` on, if it has no race: it gets nothing else. */
  dropOrdered(latest, begin) {
    const { noted } = this, { cell, next, word } = noted;
    for (let at = begin; at < cell.length; at += 1) {
      if (next[at] >= begin && !sameBits(word[at], word[next[at]])) return;
    }
    for (let at = cell.length - 1; at >= begin; at -= 1) latest[cell[at]] = next[at];
    for (const name of RACE_COLUMNS) noted[name].length = begin;
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

  /** Look for races of one cell, whose accesses end with the one noted at `last`. */
  look(array, cell, last) {
    const { noted, warps, blocks } = this, every = [];
    for (let at = last; at >= 0; at = noted.next[at]) every.push(at);
    every.reverse();
    if (!this.mayRace(every, warps)) return;
    const { interval, gridInterval, thread } = noted;
    if (this.isLockStep) {
      this.races(array, cell, every, warps, (one, other) => interval[one] - interval[other]);
      return;
    }
    this.races(array, cell, every, warps, (one, other) =>
      interval[one] - interval[other] || blocks[thread[one]] - blocks[thread[other]]);
    this.races(array, cell, every, blocks, (one, other) => gridInterval[one] - gridInterval[other]);
  }

  /** Whether accesses of a cell have two actors and two that conflict: two kinds, or writes of two values. */
  mayRace(every, actors) {
    const { thread, line, word } = this.noted, { sites } = this.lines, [first] = every;
    const kind = sites[line[first]].kind, actor = actors[thread[first]];
    if (every.every((at) => actors[thread[at]] === actor)) return false;
    return every.some((at) => sites[line[at]].kind !== kind || (kind === "write" && !sameBits(word[at], word[first])));
  }

  /**
   * Note the pairs of a cell that race, in groups of accesses that `order` does not tell apart; they are unordered if
   * their actors differ. Not all pairs: for each pair of lines at least the lowest-numbered threads.
   */
  races(array, cell, every, actors, order) {
    const { line, thread, word, releases, view } = this.noted, { sites } = this.lines, { clocks, warps } = this;
    const sorted = [...every].sort((one, other) =>
      order(one, other) || line[one] - line[other] || thread[one] - thread[other] || one - other);
    const races = (one, other) => {
      const kind = sites[line[one]].kind, isOfOneKind = kind === sites[line[other]].kind;
      if (actors[thread[one]] === actors[thread[other]]) return false;
      if (isOfOneKind && (kind !== "write" || sameBits(word[one], word[other]))) return false;
      return !clocks.needed || !(
        clocks.happenedBefore(view[other], warps[thread[one]], releases[one]) ||
        clocks.happenedBefore(view[one], warps[thread[other]], releases[other])
      );
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
    const { line, thread, word } = this.noted, kept = [];
    for (let begin = 0, end; begin < group.length; begin = end) {
      for (end = begin + 1; end < group.length && line[group[end]] === line[group[begin]]; ) end += 1;
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
    const { line, thread } = this.noted, pair = line[one] * this.lines.sites.length + line[other];
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
    const isBefore = thread[one] - thread[found.one] || thread[other] - thread[found.other] || distance - found.distance;
    if (found.cell === cell && isBefore < 0) Object.assign(found, { one, other, distance });
  }

  /** The finding of a race. */
  found({ array, cell, one, other, count }) {
    const { noted, blocks } = this;
    const [site, otherSite] = [one, other].map((at) => this.lines.sites[noted.line[at]]);
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
