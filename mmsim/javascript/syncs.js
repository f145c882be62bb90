import { foundAccess, madeFor, plainFinding, sameWhere, whereKey } from "./lines.js";
import { Listener, lanesOf } from "./listener.js";

/** The first line of a function's text, or that of its `def` below decorators. */
const lineOfDef = (source) => {
  const at = source.lines.findIndex((text) => /^\s*def\b/.test(text));
  return source.first + Math.max(at, 0);
};

/** A thread at a barrier, and one elsewhere, of warps that should meet each time. */
const meetApart = (warps) => {
  const found = [];
  for (let arrival = 0; warps.some((came) => came.length > arrival); arrival += 1) {
    const actions = warps.filter((came) => came.length > arrival).map((came) => came[arrival]);
    const waiting = actions.find((action) => action.kind === "barrier");
    if (waiting === undefined) continue;
    found.push(...actions.filter((action) => !sameWhere(action, waiting)).map((action) => [waiting, action]));
  }
  return found;
};

/** The lists of a map, by the number of their warp. */
const byWarp = (came) => [...came].sort(([one], [other]) => one - other);

/**
 * Finds divergent barriers: records where each warp waits, and reports the warps of a block that don't wait together.
 *
 * A barrier opens when every unfinished warp of its block waits at one. On a GPU all threads of the block, or of the
 * grid, that haven't returned must come to the *same* barrier. The behaviour is undefined if warps wait at two
 * different ones, or if a thread runs past a barrier at which others wait. A barrier of the grid counts blocks, and
 * the first thread of each counts for its block. If this thread has returned, a GPU waits forever.
 */
export class SyncCheck extends Listener {
  constructor(launch) {
    super();
    this.grid = launch.grid;
    const [source] = launch.code.sources;
    this.places = launch.meaning.sites.map((site) => site.place);
    this.number = new Map(); // of a barrier in `places`
    this.latest = new Int32Array(this.grid.threads).fill(this.places.length);
    this.places.push({ function: source.function, file: source.file, line: lineOfDef(source) });
    this.since = new Float64Array(this.grid.threads).fill(-1);
    this.came = new Map();
    this.cameOfGrid = new Map();
    this.gone = new Set(); // warps
    this.cameFirst = new Int32Array(this.grid.blocks); // of first threads, to the grid's
    this.returned = []; // the first threads of their blocks that have
    this.apart = []; // in lock step, or in a warp
  }

  accessed({ site, threads, times }) {
    const isOne = typeof times === "number";
    for (let lane = 0; lane < threads.length; lane += 1) {
      this.latest[threads[lane]] = site.number;
      this.since[threads[lane]] = isOne ? times : times[lane];
    }
  }

  met(place, here, live, time, scope) {
    const { grid } = this, { threads, block, blocks, blockSize } = grid;
    if (here === true && live === true) {
      this.note(place, null, time);
      return;
    }
    const isHere = new Uint8Array(threads), isLive = new Uint8Array(threads);
    for (const thread of lanesOf(here, threads)) isHere[thread] = 1;
    for (const thread of lanesOf(live, threads)) isLive[thread] = 1;
    const firstHere = new Int32Array(blocks).fill(-1), firstAbsent = new Int32Array(blocks).fill(-1);
    for (let thread = threads - 1; thread >= 0; thread -= 1) {
      if (isHere[thread]) firstHere[block[thread]] = thread;
      else if (isLive[thread]) firstAbsent[block[thread]] = thread;
    }
    const apart = (waits, thread, kind) => {
      const action = foundAccess(place, "barrier", waits, block[waits], time);
      this.apart.push([action, this.last(thread, kind)]);
    };
    const waiting = firstHere.find((thread) => thread >= 0), absent = firstAbsent.find((thread) => thread >= 0);
    const isApart = firstHere.map((thread, at) => (thread >= 0 && firstAbsent[at] >= 0 ? 1 : 0));
    if (scope === "grid" && absent !== undefined && !isApart.includes(1)) apart(waiting, absent, "elsewhere");
    isApart.forEach((is, at) => {
      if (is) apart(firstHere[at], firstAbsent[at], "elsewhere");
    });
    for (let at = 0; scope === "grid" && at < blocks; at += 1) {
      if (isLive[at * blockSize]) continue;
      const other = firstHere.find((thread, one) => thread >= 0 && one !== at);
      if (other !== undefined) apart(other, at * blockSize, "end");
    }
    this.note(place, lanesOf(here, threads), time);
  }

  arrived(warp, place, here, live, time, scope) {
    const { grid } = this, { start, end } = grid.warpThreads(warp), block = grid.blockOfWarp(warp);
    const lanes = lanesOf(here, end - start), threads = lanes.map((lane) => start + lane), there = new Set(lanes);
    const action = foundAccess(place, "barrier", threads[0], block, time);
    const absent = lanesOf(live, end - start).find((lane) => !there.has(lane));
    if (absent !== undefined) this.apart.push([action, this.last(start + absent)]);
    madeFor(this.came, warp, () => []).push(action);
    if (scope === "grid") {
      madeFor(this.cameOfGrid, warp, () => []).push(action);
      if (threads[0] === block * grid.blockSize) this.cameFirst[block] += 1;
    }
    this.note(place, threads, time);
  }

  ended(warp, live) {
    this.gone.add(warp);
    const { grid } = this, { start, end } = grid.warpThreads(warp), stayed = lanesOf(live, end - start);
    if (stayed.length) {
      const last = this.last(start + stayed[0], "end");
      madeFor(this.came, warp, () => []).push(last);
      madeFor(this.cameOfGrid, warp, () => []).push(last);
    }
    if (start === grid.blockOfWarp(warp) * grid.blockSize && stayed[0] !== 0) this.returned.push(start);
  }

  /** A finding for each barrier and each other place where threads were meanwhile. */
  findings() {
    const found = new Map();
    for (const actions of [...this.independentlyApart(), ...this.apart]) {
      const key = actions.map(whereKey).join();
      if (found.has(key)) found.get(key).elements += 1;
      else found.set(key, plainFinding("barrier", actions));
    }
    return [...found.values()];
  }

  /** A thread at a barrier, and one elsewhere, of warps that run independently. */
  independentlyApart() {
    const blocks = new Map();
    for (const [warp, came] of byWarp(this.came)) madeFor(blocks, this.grid.blockOfWarp(warp), () => []).push(came);
    const ofGrid = byWarp(this.cameOfGrid).map(([, came]) => came);
    return [
      ...[...blocks.values()].flatMap(meetApart),
      ...meetApart(ofGrid).filter(([waits, other]) => waits.block !== other.block),
      ...this.withoutTheirFirst(ofGrid),
    ];
  }

  /** A thread at a barrier of the grid, and the first one of another block, which returned. */
  withoutTheirFirst(came) {
    const found = [], returned = [...this.returned].sort((one, other) => one - other);
    for (let number = 0; returned.length && came.some((actions) => actions.length > number); number += 1) {
      const waiting = new Map(); // by block
      for (const actions of came) {
        const one = actions[number];
        if (one?.kind === "barrier" && !waiting.has(one.block)) waiting.set(one.block, one);
      }
      for (const thread of returned) {
        const block = this.grid.block[thread], waits = [...waiting.values()].find((one) => one.block !== block);
        if (waits !== undefined && number >= this.cameFirst[block]) found.push([waits, this.last(thread, "end")]);
      }
    }
    return found;
  }

  /** The last place of a thread. */
  last(thread, kind = "elsewhere") {
    return foundAccess(this.places[this.latest[thread]], kind, thread, this.grid.block[thread], this.since[thread]);
  }

  /** The first warp at a barrier that hasn't opened for its block; null without one. */
  waiting() {
    const { grid } = this, fewest = new Map(), unfinished = []; // barriers that all of a block's warps have come to
    for (let warp = 0; warp < grid.warps; warp += 1) if (!this.gone.has(warp)) unfinished.push(warp);
    const times = (warp) => this.came.get(warp)?.length ?? 0;
    for (const warp of unfinished) {
      const block = grid.blockOfWarp(warp);
      fewest.set(block, Math.min(fewest.get(block) ?? times(warp), times(warp)));
    }
    const first = unfinished.find((warp) => times(warp) > fewest.get(grid.blockOfWarp(warp)));
    return first === undefined ? null : this.came.get(first).at(-1);
  }

  /** Note that threads are at a barrier now; null for all. */
  note(place, threads, time) {
    const number = madeFor(this.number, place, () => this.places.push(place) - 1);
    if (threads === null) {
      this.latest.fill(number);
      this.since.fill(time);
      return;
    }
    for (const thread of threads) {
      this.latest[thread] = number;
      this.since[thread] = time;
    }
  }
}
