import { Heap } from "./turns.js";

const comesEarlier = (one, other) => one.time < other.time;

/**
 * The clock of a run: events at whole time units. At one instant completions come before dispatches
 * (docs/machines.md, *The pipeline*), and each kind in the order in which its events were set. An event is an object
 * with a method `happen`.
 */
export class Clock {
  constructor() {
    this.now = 0;
    this.instants = new Heap(comesEarlier);
    this.byTime = new Map();
    this.instant = null;
  }

  /** The instant `delay` time units from now. */
  after(delay) {
    if (delay === 0 && this.instant !== null) return this.instant;
    const time = this.now + delay;
    let instant = this.byTime.get(time);
    if (instant === undefined) {
      instant = { time, completions: [], dispatches: [], completed: 0, dispatched: 0 };
      this.byTime.set(time, instant);
      this.instants.push(instant);
    }
    return instant;
  }

  /** Let an event happen `delay` time units from now, with the completions. */
  complete(event, delay) {
    this.after(delay).completions.push(event);
  }

  /** Let an event happen `delay` time units from now, with the dispatches. */
  dispatch(event, delay) {
    this.after(delay).dispatches.push(event);
  }

  /** Let up to `most` events happen; return whether none is left. */
  advance(most) {
    for (let left = most; left > 0; left--) {
      if (this.instant === null) {
        if (this.instants.size === 0) return true;
        this.instant = this.instants.pop();
        this.now = this.instant.time;
      }
      const { instant } = this;
      if (instant.completed < instant.completions.length) instant.completions[instant.completed++].happen();
      else if (instant.dispatched < instant.dispatches.length) instant.dispatches[instant.dispatched++].happen();
      else {
        this.byTime.delete(instant.time);
        this.instant = null;
      }
    }
    return false;
  }
}

/** The time at which a request completes. */
export const completionTime = (dispatched, stages, latency) => dispatched + stages + latency - 1;

/**
 * One memory unit: takes jobs, dispatches them in turn. A unit takes one stage in each time unit: a request of k stages
 * dispatched at t keeps it busy until t + k and completes at t + k + l - 1. The event is that the unit becomes free, or
 * that a job comes to the idle unit. A job has a `warp`, `count(unit)`, which returns its stages, and
 * `dispatched(unit, stages, delay)`, which lets it complete.
 */
export class MemoryUnit {
  constructor(clock, unit, number, turns) {
    this.clock = clock;
    this.number = number;
    this.turns = turns;
    this.name = unit.name;
    this.rule = unit.rule;
    this.latency = unit.latency;
    this.jobs = new Map();
    this.isIdle = true;
  }

  /** Note that a warp is ready from now on. */
  submit(job) {
    this.jobs.set(job.warp, job);
    this.turns.push(job.warp);
    if (this.isIdle) {
      this.isIdle = false;
      this.clock.dispatch(this, 0);
    }
  }

  /** Dispatch the next ready warp. */
  happen() {
    const warp = this.turns.pop();
    if (warp === null) {
      this.isIdle = true;
      return;
    }
    const job = this.jobs.get(warp);
    const stages = job.count(this);
    job.dispatched(this, stages, completionTime(0, stages, this.latency));
    this.clock.dispatch(this, stages);
  }
}
