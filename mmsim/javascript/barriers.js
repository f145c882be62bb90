import { MMSimFault } from "./faults.js";

/** Whether a lane's test holds; `test` is a list of the lanes' tests or one for all. */
const holdsAt = (test, lane) => Boolean(Array.isArray(test) ? test[lane] : test);

/** The lanes at a barrier and those of them whose test holds, each as a number. */
const testsOf = ({ lanes, test }, count) => {
  const here = lanes === true ? count : lanes.length;
  let held = 0;
  for (let at = 0; at < here; at++) held += holdsAt(test, lanes === true ? at : lanes[at]) ? 1 : 0;
  return { here, held };
};

/** The result of `T.barrier_or`, `_and` and `_count` for `here` lanes, of which the test of `held` is true. */
const resultOfTests = (op, here, held) => (op === "count" ? held : op === "or" ? held > 0 : held === here);

/** The result for each of all threads in lock step, from the tests of its block. */
export const barrierInLockStep = ({ op, lanes, test }, blocks) => {
  const here = [];
  const held = [];
  const count = lanes === true ? blocks.length : lanes.length;
  for (let at = 0; at < count; at++) {
    const thread = lanes === true ? at : lanes[at];
    const block = blocks[thread];
    here[block] = (here[block] ?? 0) + 1;
    held[block] = (held[block] ?? 0) + (holdsAt(test, thread) ? 1 : 0);
  }
  return blocks.map((block) => resultOfTests(op, here[block] ?? 0, held[block] ?? 0));
};

/**
 * The barriers of a run whose warps run independently. A block's barrier opens when every unfinished warp of the block
 * is there, the grid's when every unfinished warp of all blocks is there. A warp that waits at one of them has not come
 * to the other. The grid's has the number of blocks for its place.
 */
export class Barriers {
  constructor(driver) {
    const { grid } = driver;
    this.driver = driver;
    this.ofGrid = grid.blocks;
    this.unfinished = new Array(grid.blocks + 1).fill(0);
    for (let block = 0; block < grid.blocks; block++) {
      const first = block * grid.warpsPerBlock;
      this.unfinished[block] = Math.min(first + grid.warpsPerBlock, grid.warps) - first;
    }
    this.unfinished[this.ofGrid] = grid.warps;
    this.waiting = this.unfinished.map(() => []);
    this.count = 0; // of the warps that wait
  }

  /** Let a warp wait at a barrier; `warp.at` is its message. */
  arrive(warp, at) {
    const place = at.scope === "grid" ? this.ofGrid : warp.block;
    this.waiting[place].push({ warp, at, since: this.driver.clock.now });
    this.count += 1;
    this.open(place);
  }

  /** Note that a warp of the block has ended; no barrier waits for it any longer. */
  finish(block) {
    for (const place of [block, this.ofGrid]) {
      this.unfinished[place] -= 1;
      this.open(place);
    }
  }

  /** Open a barrier if all have come. */
  open(place) {
    const waiting = this.waiting[place];
    if (waiting.length === 0 || waiting.length !== this.unfinished[place]) return;
    this.waiting[place] = [];
    this.count -= waiting.length;
    this.release(waiting);
  }

  /** Let warps go on, in order of their numbers, with the result of their tests. */
  release(waiting) {
    const { driver } = this;
    waiting.sort((one, other) => one.warp.warp - other.warp.warp);
    const { now } = driver.clock;
    for (let first = 0, end = 0; first < waiting.length; first = end) {
      const { block } = waiting[first].warp;
      while (end < waiting.length && waiting[end].warp.block === block) end += 1;
      const stays = waiting
        .slice(first, end)
        .map(({ warp, since, at }) => ({ warp: warp.warp, since, line: at.place.line }));
      driver.report("released", block, stays, now);
      driver.recorder?.released(block, stays.map(({ warp }) => warp), now);
    }
    const tests = {};
    for (const { warp, at } of waiting) {
      if (!at.op) continue;
      const { here, held } = testsOf(at, warp.frame.lanes);
      const sum = (tests[at.op] ??= { here: 0, held: 0 });
      sum.here += here;
      sum.held += held;
    }
    for (const { warp, at } of waiting) {
      warp.values = at.op ? resultOfTests(at.op, tests[at.op].here, tests[at.op].held) : null;
      driver.clock.complete(warp, 0);
    }
  }

  /** Report a warp that still waits at the end of a run: it waits forever. */
  refuseWaiting() {
    const least = (found) => found.reduce((one, other) => (other.warp.warp < one.warp.warp ? other : one));
    const ofGrid = this.waiting[this.ofGrid];
    const ofBlocks = this.waiting.slice(0, this.ofGrid).flat();
    if (ofGrid.length === 0 || ofBlocks.length === 0) return;
    const first = least(ofGrid);
    const other = least(ofBlocks);
    const threadOf = ({ warp }) => this.driver.grid.warpStart(warp.warp);
    throw new MMSimFault(
      "BarrierError",
      `deadlock: thread ${threadOf(first)} waits at this barrier of the grid for all unfinished warps, but thread ` +
        `${threadOf(other)} waits at the barrier of its block in line ${other.at.place.line}; let all threads of the ` +
        "grid come to the same barriers",
      { program: this.driver.launch.name, place: first.at.place, thread: threadOf(other), other: threadOf(first) }
    );
  }
}
