import { LaneClocks } from "./clocks.js";
import { Concerned, accessAt, elementFinding, madeFor } from "./lines.js";
import { Listener, cellOf, changesOf } from "./listener.js";

/** For each kind of access the kinds that may not follow it without a sync. */
const UNORDERED_AFTER = { read: ["write", "atomic"], write: ["read", "write", "atomic"], atomic: ["read", "write"] };

/**
 * Finds lanes that exchange through memory without `mm.warp.sync()`, in warps that run independently.
 *
 * In the models the lanes of a warp run together; the threads of a GPU don't. So two lanes that touch one element in
 * different requests, at least one of them writing, are unordered unless one of these lies between: a barrier, a sync
 * of both lanes, an atomic by which one follows the other (`LaneClocks`). Nothing is needed between
 *
 * - two atomics, though an atomic is a write and a read;
 * - two writes of the same value;
 * - a write and a read that waits for it in a loop (`waitsOf`);
 * - a write and a read by a lane that has itself written the element, in the same request.
 */
export class WarpSyncCheck extends Listener {
  constructor(launch, lines, returns, waits) {
    super();
    this.grid = launch.grid;
    this.blocks = launch.grid.block;
    this.lines = lines;
    this.waits = waits;
    this.arrays = launch.arrays;
    const { sites } = launch.meaning, having = (test) => new Set(sites.filter(test).map((site) => site.array));
    const written = having((site) => site.kind !== "read"), plain = having((site) => site.kind !== "atomic");
    this.watched = new Set([...written].filter((name) => plain.has(name)));
    this.latest = { read: new Map(), write: new Map(), atomic: new Map() }; // by array
    this.requests = { line: [], interval: [], events: [], time: [] };
    // The latest plain write of each thread: the number of the request, and the elements.
    this.own = ["request", "begin", "end"].map(() => new Int32Array(launch.grid.threads).fill(-1));
    this.clocks = new LaneClocks(launch, returns);
    this.found = new Concerned(); // cell, two threads, their times, block
  }

  synced(threads) {
    this.clocks.synced(threads);
  }

  accessed(access) {
    if (!this.watched.size) return;
    const { site, array, warp } = access, events = this.clocks.events[warp];
    if (site.kind === "atomic") this.clocks.accessed(access);
    if (!this.watched.has(array.name)) return;
    const waits = this.waits.isWait[site.number];
    for (const earlier of waits ? [] : UNORDERED_AFTER[site.kind]) {
      const latest = this.latest[earlier].get(array.name);
      if (latest === undefined) continue;
      for (const one of [latest.lowest, latest.highest]) this.look(access, one, earlier);
    }
    if (site.kind !== "read" || !waits) this.note(access, events);
  }

  /** Note that a warp touches these elements, each lane after so many events. */
  note({ site, array, threads, elements, interval, times }, events) {
    const latest = madeFor(this.latest[site.kind], array.name, () => new LatestLanes(array, site.kind === "write"));
    const { requests, own: [request, begin, end], blocks } = this, number = requests.line.length;
    requests.line.push(this.lines.ofSite[site.number]);
    requests.interval.push(interval);
    requests.events.push(events);
    requests.time.push(times);
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane], cell = cellOf(array, elements[lane], blocks[thread]);
      latest.note(cell, thread, number);
      if (site.kind !== "write") continue;
      if (request[thread] !== number) [request[thread], begin[thread]] = [number, cell];
      end[thread] = cell + 1;
    }
  }

  /** Look for other lanes of the warp that touched the elements before, unordered. */
  look(access, { thread: others, request: numbers }, earlier) {
    const { site, array, warp, threads, elements, interval, times } = access;
    const { start, end } = this.grid.warpThreads(warp), { requests, blocks } = this;
    const [ownRequest, ownBegin, ownEnd] = this.own;
    let changes = null;
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane], cell = cellOf(array, elements[lane], blocks[thread]), other = others[cell];
      if (other === thread || other < start || other >= end) continue;
      const number = numbers[cell];
      if (requests.interval[number] !== interval) continue;
      if (site.kind === "write" && earlier === "write") {
        changes ??= changesOf(access, blocks);
        if (!changes[lane]) continue;
      }
      if (earlier === "write" && site.kind !== "write" && ownRequest[thread] === number) {
        if (ownBegin[thread] <= cell && cell < ownEnd[thread]) continue;
      }
      if (this.clocks.latest(warp, other, thread) > requests.events[number]) continue;
      const pair = requests.line[number] * this.lines.sites.length + this.lines.ofSite[site.number];
      this.found.note(pair, array, cell, other, thread, requests.time[number], times, blocks[thread]);
    }
  }

  /** A finding for each pair of lines, in the order of the text. */
  findings() {
    const { sites } = this.lines;
    return this.found.sorted().map(([pair, [cell, one, other, before, now, block]]) => {
      const [site, otherSite] = [Math.floor(pair / sites.length), pair % sites.length].map((line) => sites[line]);
      const accesses = [accessAt(site, one, block, before), accessAt(otherSite, other, block, now)];
      return elementFinding("warp-sync", this.arrays[site.array], cell, accesses, { elements: this.found.count(pair) });
    });
  }
}

/**
 * The lowest and the highest thread of the latest request that touched each element.
 *
 * If this is one thread, the second is the latest other thread of an earlier request. If a kind is `alone`, a request
 * replaces all earlier ones.
 */
class LatestLanes {
  constructor({ size, copies }, isAlone) {
    this.isAlone = isAlone;
    const column = () => new Int32Array(size * copies).fill(-1);
    this.lowest = { thread: column(), request: column() };
    this.highest = { thread: column(), request: column() };
  }

  /** Note a lane of a request, in ascending order. */
  note(cell, thread, request) {
    const { lowest, highest } = this;
    if (lowest.request[cell] !== request && !this.isAlone) {
      if (lowest.thread[cell] !== thread) {
        highest.thread[cell] = lowest.thread[cell];
        highest.request[cell] = lowest.request[cell];
      }
    } else {
      highest.thread[cell] = thread;
      highest.request[cell] = request;
    }
    if (lowest.request[cell] !== request) {
      lowest.thread[cell] = thread;
      lowest.request[cell] = request;
    }
  }
}
