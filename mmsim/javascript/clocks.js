import { cellOf, changesOf } from "./listener.js";
import { madeFor } from "./lines.js";

/** The larger of each two numbers of rows. */
const largerOf = (one, other) => one.map((number, at) => Math.max(number, other[at]));

/** The rows that words of arrays carry, by array and cell. */
class LeftRows {
  arrays = new Map();

  /** The rows of an array's cells. */
  of(name) {
    return madeFor(this.arrays, name, () => new Map());
  }
}

/**
 * The order by atomics: a warp that receives another warp's word knows all that this had done.
 *
 * An atomic that changes a word *releases* it, one whose old value is used *acquires* it. Each warp counts its
 * releases. Its vector clock holds the releases of every other warp that come before it: a row of `views`. `needed`
 * says whether the program has an atomic that could order anything; otherwise all stays at 0.
 */
export class VectorClocks {
  constructor(launch, returns) {
    this.grid = launch.grid;
    this.returns = returns;
    this.needed = launch.schedule === "asynchronous" && returns.includes(true);
    if (!this.needed) return;
    this.releases = new Int32Array(this.grid.warps);
    this.views = [new Int32Array(this.grid.warps).fill(-1)];
    this.view = new Int32Array(this.grid.warps);
    this.left = new LeftRows();
  }

  /** Note a warp's request; return the warp's count of releases and the number of its view. */
  accessed(access) {
    const { site, array, warp, threads, elements } = access;
    if (site.kind !== "atomic") return [this.releases[warp], this.view[warp]];
    const left = this.left.of(array.name), blocks = this.grid.block;
    const cells = Array.from(elements, (element, lane) => cellOf(array, element, blocks[threads[lane]]));
    if (this.returns[site.number]) {
      this.learn(warp, [...new Set(cells)].map((cell) => left.get(cell)).filter(Boolean));
    }
    const count = this.releases[warp], view = this.view[warp];
    const changes = changesOf(access, blocks);
    if (changes.includes(true)) {
      const own = this.own(warp);
      cells.forEach((cell, lane) => {
        if (!changes[lane]) return;
        const before = left.get(cell);
        left.set(cell, before ? largerOf(before, own) : own);
      });
      this.releases[warp] += 1;
    }
    return [count, view];
  }

  /** Note that a barrier has released these warps: each now knows all that they knew. */
  released(warps) {
    if (!this.needed) return;
    const joined = warps.map((warp) => this.own(warp)).reduce(largerOf);
    for (const warp of warps) this.learn(warp, [joined]);
  }

  /** Whether an access with this view comes after one of this warp and count. */
  happenedBefore(view, warp, count) {
    return this.views[view][warp] >= count;
  }

  /** The knowledge of a warp, its own work included. */
  own(warp) {
    const own = this.views[this.view[warp]].slice();
    own[warp] = this.releases[warp];
    return own;
  }

  /** Add the knowledge of others to a warp's. */
  learn(warp, rows) {
    const old = this.views[this.view[warp]];
    const known = rows.reduce(largerOf, old);
    if (known.some((number, at) => number !== old[at])) {
      this.view[warp] = this.views.length;
      this.views.push(known);
    }
  }
}

/**
 * Counts the events of each warp, syncs and atomics, and keeps those that each lane knows.
 *
 * `known.get(warp)[i * lanes + j]` is the latest event of lane i that lane j knows of: the earlier work of lane i
 * precedes the next work of lane j. If all lanes of a warp know of the same events, this is `allKnow[warp]`.
 */
export class LaneClocks {
  constructor(launch, returns) {
    this.grid = launch.grid;
    this.returns = returns;
    this.acquires = returns.includes(true);
    this.events = new Int32Array(this.grid.warps);
    this.allKnow = new Int32Array(this.grid.warps);
    this.known = new Map();
    this.left = new LeftRows();
  }

  /** Note that lanes of a warp come to a sync. */
  synced(threads) {
    const warp = this.grid.warp[threads[0]], { start, end } = this.grid.warpThreads(warp), lanes = end - start;
    const event = (this.events[warp] += 1);
    if (threads.length === lanes) {
      this.allKnow[warp] = event;
      this.known.delete(warp);
      return;
    }
    const known = this.ofWarp(warp), there = Array.from(threads, (thread) => thread - start);
    for (let lane = 0; lane < lanes; lane += 1) {
      const latest = Math.max(...there.map((other) => known[lane * lanes + other]));
      for (const other of there) known[lane * lanes + other] = latest;
    }
    for (const lane of there) for (const other of there) known[lane * lanes + other] = event;
  }

  /** Note an atomic of a warp, its lanes in ascending order. */
  accessed(access) {
    if (!this.acquires) return;
    const { site, array, warp, threads, elements } = access, blocks = this.grid.block;
    const { start, end } = this.grid.warpThreads(warp), lanes = end - start;
    const event = (this.events[warp] += 1);
    const known = this.ofWarp(warp), changes = changesOf(access, blocks);
    const leftBy = madeFor(this.left.arrays, warp, () => new LeftRows()).of(array.name);
    for (let at = 0; at < threads.length; at += 1) {
      const cell = cellOf(array, elements[at], blocks[threads[at]]), lane = threads[at] - start;
      const left = leftBy.get(cell);
      if (left && this.returns[site.number]) {
        for (let one = 0; one < lanes; one += 1) {
          known[one * lanes + lane] = Math.max(known[one * lanes + lane], left[one]);
        }
      }
      if (!changes[at]) continue;
      const own = new Int32Array(lanes);
      for (let one = 0; one < lanes; one += 1) own[one] = known[one * lanes + lane];
      own[lane] = event;
      leftBy.set(cell, left ? largerOf(left, own) : own);
    }
  }

  /** For two threads of a warp, the first's latest event that the second knows. */
  latest(warp, first, second) {
    const known = this.known.get(warp);
    if (!known) return this.allKnow[warp];
    const { start, end } = this.grid.warpThreads(warp);
    return known[(first - start) * (end - start) + second - start];
  }

  /** What the lanes of a warp know, apart. */
  ofWarp(warp) {
    return madeFor(this.known, warp, () => {
      const { start, end } = this.grid.warpThreads(warp);
      return new Int32Array((end - start) ** 2).fill(this.allKnow[warp]);
    });
  }
}
