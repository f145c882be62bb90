import { Barriers } from "./barriers.js";
import { Driver } from "./driver.js";
import { Request, Spinning } from "./frame.js";
import { refuseSpinning } from "./spinning.js";
import { GroupsInTurn, WarpsInTurn } from "./turns.js";
import { Clock, MemoryUnit } from "./units.js";

const ONE_WARP = [0];

/** Every warp has its own sequencer and runs as soon as it can. */
export class Asynchronous extends Driver {
  constructor(launch, recorder, listeners) {
    super(launch, recorder, listeners);
    const { grid, machine } = launch;
    this.clock = new Clock();
    this.units = machine.reached(grid.blocks).map((unit, number) => {
      const hasGroups = machine.dmms > 0 && unit.dmm === null;
      const turns = hasGroups ? new GroupsInTurn((warp) => grid.dmmOfWarp(warp)) : new WarpsInTurn();
      return new MemoryUnit(this.clock, unit, number, turns);
    });
    this.barriers = new Barriers(this);
    this.running = 0; // the warps that have begun and not ended
    this.spinning = new Map(); // by warp, its requests when a loop first repeated
    this.spinningAt = -1; // the changes of memory then; the next one lets them go on
    this.clock.complete({ happen: () => this.begin() }, 0);
  }

  get now() {
    return this.clock.now;
  }

  /** Begin all blocks; a warp may end immediately. */
  begin() {
    const { warps, warpsPerBlock } = this.grid;
    for (let first = 0; first < warps; first += warpsPerBlock) {
      const end = Math.min(first + warpsPerBlock, warps);
      this.running += end - first;
      for (let number = first; number < end; number++) new WarpJob(this, number).begin();
    }
  }

  /** Let up to `most` events happen; return whether the program has ended. */
  advance(most) {
    if (!this.clock.advance(most)) return false;
    this.barriers.refuseWaiting();
    return true;
  }

  /** End the run with an error, after all earlier events of this instant. */
  fail(error) {
    const end = () => {
      throw error;
    };
    this.clock.complete({ happen: end }, 0);
  }

  /** Note that a warp repeats a loop; refuse it if no other warp can change memory. */
  spins(warp, at) {
    if (this.changes.count !== this.spinningAt) {
      this.spinning.clear();
      this.spinningAt = this.changes.count;
    }
    const before = this.spinning.get(warp.warp);
    if (before === undefined) {
      this.spinning.set(warp.warp, warp.sent);
      warp.read = null;
    } else if (before === warp.sent) refuseSpinning(this.launch, warp.frame, at, null);
    else if (this.spinning.size === this.running - this.barriers.count) {
      refuseSpinning(this.launch, warp.frame, at, warp.read);
    }
  }
}

/**
 * One warp: local work at no time, then the next request or barrier. The event is that it goes on: a completion, or the
 * release from a barrier. `passed` counts barriers, `passedByGrid` those of the grid among them; `values` are the words
 * that its request has read, or the result of a barrier.
 */
class WarpJob {
  constructor(driver, number) {
    this.driver = driver;
    this.warp = number;
    this.block = driver.grid.blockOfWarp(number);
    this.start = driver.grid.warpStart(number);
    this.passed = 0;
    this.passedByGrid = 0;
    this.sent = 0; // requests
    this.read = null; // the latest one that is no plain write
    this.values = null;
    this.request = null;
    this.array = null;
    this.addresses = null;
    this.rule = null;
    this.ready = 0;
  }

  /** Make the warp's sequencer, and run it to its first request or barrier. */
  begin() {
    const { driver } = this;
    this.frame = driver.launch.frame(this.warp, driver.changes);
    this.steps = driver.launch.meaning.start(this.frame);
    driver.report("began", this.frame, [this.warp, this.warp + 1]);
    driver.recorder?.began(this.frame, this.warp, this.warp + 1);
    if (driver.hears.synced.length > 0) this.frame.synced = (lanes) => this.synced(lanes);
    this.happen();
  }

  /** Work up to the next request or barrier, and go on there. */
  happen() {
    const { driver } = this;
    let want = null;
    try {
      let step = this.steps.next(this.values ?? undefined);
      this.values = null;
      while (step.value instanceof Spinning) {
        driver.spins(this, step.value);
        step = this.steps.next();
      }
      if (!step.done) want = step.value;
    } catch (error) {
      driver.fail(error);
      return;
    }
    driver.report("worked", this.frame, driver.clock.now);
    driver.recorder?.worked(this.frame, driver.clock.now);
    if (want === null) this.end();
    else if (want instanceof Request) this.send(want);
    else this.wait(want);
  }

  /** Send a request to its unit. */
  send(request) {
    const { driver } = this;
    this.request = request;
    this.sent += 1;
    if (request.site.kind !== "write") this.read = request;
    this.ready = driver.clock.now;
    this.array = driver.launch.arrays[request.site.array];
    this.addresses = this.array.addresses(request.elements, this.block);
    driver.units[this.array.unitOfCopy[this.array.shared ? this.block : 0]].submit(this);
  }

  /** The stages of the request at a unit. */
  count(unit) {
    this.rule = unit.rule.served(this.request.site.kind);
    return this.rule.stages(this.addresses, 0, this.addresses.length);
  }

  /** Move the data; the warp gets the words that it reads when the request has completed. */
  dispatched(unit, stages, delay) {
    const { driver, request, array, addresses } = this;
    const { site, elements, lanes } = request;
    const { now } = driver.clock;
    const least = site.vector > 1 ? this.rule.fewest(addresses, 0, addresses.length, stages) : 1;
    driver.tally.count(site, 1, stages, least);
    const cells = array.cells(elements, this.block);
    const { values, left } = driver.evaluate(request, array, cells);
    const threads = () => elements.map((_, at) => this.start + (lanes === null ? at : lanes[at]));
    let access = null;
    if (driver.listeners.length > 0) {
      const own = { site, array, threads: threads(), elements, values: left, warp: this.warp, times: now };
      access = { ...own, interval: this.passed, gridInterval: this.passedByGrid };
      driver.report("accessed", access);
    }
    if (left !== null) driver.write(site, array, { cells, left, firsts: ONE_WARP, elements, threads });
    if (access !== null) driver.report("dispatched", access, unit, this.ready, stages);
    if (driver.recorder !== null) {
      const { warp, rule, start } = this;
      const copy = array.shared ? this.block : 0;
      const times = { time: now, stages, completion: now + delay };
      const asked = { site, start, lanes, elements, addresses, words: left === null ? values : left };
      const part = { warp, copy, unit: unit.number, rule, first: 0, end: elements.length, ...times };
      driver.recorder.dispatched(part, asked);
    }
    this.values = values;
    driver.clock.complete(this, delay);
  }

  /** Come to a barrier. */
  wait(at) {
    const { driver } = this;
    driver.report("arrived", this.warp, at.place, at.lanes, this.frame.live, driver.clock.now, at.scope);
    driver.recorder?.arrived(this.warp, at.place.line, driver.clock.now);
    this.passed += 1;
    if (at.scope === "grid") this.passedByGrid += 1;
    driver.barriers.arrive(this, at);
  }

  /** Note that lanes have come to `mm.warp.sync()`. */
  synced(lanes) {
    const threads = [];
    const count = lanes === true ? this.frame.lanes : lanes.length;
    for (let at = 0; at < count; at++) threads.push(this.start + (lanes === true ? at : lanes[at]));
    this.driver.report("synced", threads);
  }

  /** End the warp. */
  end() {
    this.driver.report("ended", this.warp, this.frame.live);
    this.driver.barriers.finish(this.block);
    this.driver.running -= 1;
  }
}
