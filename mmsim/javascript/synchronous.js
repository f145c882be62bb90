import { barrierInLockStep } from "./barriers.js";
import { Driver } from "./driver.js";
import { Request, Spinning } from "./frame.js";
import { refuseSpinning } from "./spinning.js";
import { Heap } from "./turns.js";
import { completionTime } from "./units.js";

/** The order of dispatches at several units: by time, then in the order in which they were set. */
const isDispatchedEarlier = (one, other) =>
  one.time < other.time || (one.time === other.time && one.order < other.order);

/** One sequencer drives all threads; each memory instruction is a round. Barriers do nothing. */
export class Synchronous extends Driver {
  constructor(launch, recorder, listeners) {
    super(launch, recorder, listeners);
    this.now = 0;
    this.frame = launch.frame(null, this.changes);
    this.steps = launch.meaning.start(this.frame);
    this.isSpinning = false; // a loop was seen to repeat
    this.last = null; // the latest read since then
    this.whole = null; // the parts of all lanes
    this.values = undefined;
    this.sequencers = launch.machine.reached(this.grid.blocks);
    this.free = new Map(); // when each unit of the last round is free, for a trace
    this.report("began", this.frame, [0, this.grid.warps]);
    recorder?.began(this.frame, 0, this.grid.warps);
  }

  /** Run up to `most` rounds and barriers; return whether the program has ended. */
  advance(most) {
    for (let left = most; left > 0; left--) {
      const { value: want, done } = this.steps.next(this.values);
      this.values = undefined;
      if (want instanceof Spinning) {
        this.spin(want);
        continue;
      }
      this.report("worked", this.frame, this.now);
      this.recorder?.worked(this.frame, this.now);
      if (done) return true;
      if (want instanceof Request) this.values = this.round(want);
      else this.meet(want);
    }
    return false;
  }

  /** Come to a barrier: it only computes. */
  meet(want) {
    this.report("met", want.place, want.lanes, this.frame.live, this.now, want.scope);
    if (want.op) this.values = barrierInLockStep(want, this.grid.block);
  }

  /** Refuse a loop that repeats without end. */
  spin(want) {
    if (this.isSpinning) refuseSpinning(this.launch, this.frame, want, this.last);
    this.isSpinning = true;
    this.last = null;
  }

  /** The warps with an active lane, in order, and the place of the first lane of each. */
  partsOf(lanes) {
    const { grid } = this;
    if (lanes === null) {
      return (this.whole ??= {
        warps: Array.from({ length: grid.warps }, (_, warp) => warp),
        firsts: Array.from({ length: grid.warps }, (_, warp) => grid.warpStart(warp)),
      });
    }
    const warps = [];
    const firsts = [];
    let end = 0;
    for (let at = 0; at < lanes.length; at++) {
      if (lanes[at] < end) continue;
      const warp = grid.warp[lanes[at]];
      end = grid.warpStart(warp + 1);
      warps.push(warp);
      firsts.push(at);
    }
    return { warps, firsts };
  }

  /** Dispatch every warp with an active lane once, in order of warp id; return the values read. */
  round(request) {
    const { grid, launch } = this;
    const { site, elements, lanes } = request;
    if (site.kind !== "write") this.last = request;
    const array = launch.arrays[site.array];
    const count = elements.length;
    const { warps, firsts } = this.partsOf(lanes);
    const blocks = !array.shared ? 0 : lanes === null ? grid.block : lanes.map((lane) => grid.block[lane]);
    const addresses = array.addressesOfLanes(elements, blocks);
    const cells = array.cells(elements, blocks);
    const { values, left } = this.evaluate(request, array, cells);
    const threads = () => lanes ?? grid.id;
    const parts = this.dispatches(site, array, addresses, warps, firsts);
    if (this.listeners.length > 0) {
      const times = new Array(count);
      parts.forEach((part) => times.fill(part.time, part.first, part.end));
      const round = this.tally.rounds.length;
      const own = { site, array, threads: threads(), elements, values: left, warp: -1, times };
      this.access = { ...own, interval: round, gridInterval: 0 };
      this.report("accessed", this.access);
    }
    if (left !== null) this.write(site, array, { cells, left, firsts, elements, threads });
    if (this.recorder !== null) {
      const asked = { site, start: 0, lanes, elements, addresses, words: left === null ? values : left };
      for (const part of parts) this.recorder.dispatched(part, asked);
    }
    this.end(site, addresses, parts);
    return values;
  }

  /** The dispatches of a round, in order: {warp, unit, rule, time, stages, first, end, completion}. */
  dispatches(site, array, addresses, warps, firsts) {
    const parts = [];
    const queues = new Map();
    for (let at = 0; at < warps.length; at++) {
      const first = firsts[at];
      const end = at + 1 < firsts.length ? firsts[at + 1] : addresses.length;
      const copy = array.shared ? this.grid.blockOfWarp(warps[at]) : 0;
      const number = array.unitOfCopy[copy];
      const unit = this.sequencers[number];
      const rule = unit.rule.served(site.kind);
      const stages = rule.stages(addresses, first, end);
      const part = { warp: warps[at], copy, unit: number, rule, time: this.now, stages, first, end, completion: 0 };
      let queue = queues.get(number);
      if (queue === undefined) queues.set(number, (queue = { time: this.now, latency: unit.latency }));
      part.time = queue.time;
      part.completion = completionTime(queue.time, stages, queue.latency);
      queue.time += stages;
      parts.push(part);
    }
    if (this.recorder === null) return parts;
    const found = queues.size > 1 ? this.inOrder(parts, queues) : parts;
    this.free = new Map();
    for (const { unit } of found) {
      this.free.delete(unit); // the order is that of each unit's last dispatch
      this.free.set(unit, queues.get(unit).time);
    }
    return found;
  }

  /** Dispatches of several units in the order in which they happen. */
  inOrder(parts, queues) {
    for (const queue of queues.values()) queue.parts = [];
    for (const part of parts) queues.get(part.unit).parts.push(part);
    const heap = new Heap(isDispatchedEarlier);
    let order = 0;
    // A unit that becomes free now was to look for the next request before this round began; an idle one looks after it.
    const early = [...this.free].filter(([unit, time]) => time === this.now && queues.has(unit)).map(([unit]) => unit);
    for (const unit of new Set([...early, ...queues.keys()])) {
      heap.push({ time: this.now, order: order++, queue: queues.get(unit), next: 0 });
    }
    const found = [];
    while (heap.size > 0) {
      const { queue, next } = heap.pop();
      found.push(queue.parts[next]);
      const after = queue.parts[next + 1];
      if (after !== undefined) heap.push({ time: after.time, order: order++, queue, next: next + 1 });
    }
    return found;
  }

  /** End a round: count it, and go on to its last completion. */
  end(site, addresses, parts) {
    const start = this.now;
    let stages = 0;
    let least = 0;
    for (const part of parts) {
      stages += part.stages;
      least += site.vector > 1 ? part.rule.fewest(addresses, part.first, part.end, part.stages) : 1;
      this.now = Math.max(this.now, part.completion);
    }
    this.tally.round(site, start, this.now - start, parts.length, stages, least);
    this.recorder?.roundEnded(this.frame.live);
    this.report("roundEnded", this.access, start, this.now, this.frame.live);
  }
}
