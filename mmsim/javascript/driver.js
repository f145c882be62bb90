import { inTurn } from "./atomics.js";
import { Tally } from "./rows.js";
import { writeOtherwise } from "./winners.js";

/** The reports of a run: the methods of `Listener`. A listener may leave some out. */
const EVENTS = [
  ...["began", "worked", "ended", "accessed", "dispatched", "roundEnded"],
  ...["met", "arrived", "released", "synced"],
];

/** The common part of both schedules: the counts, the reports, the effects on memory. */
export class Driver {
  constructor(launch, recorder, listeners) {
    this.launch = launch;
    this.grid = launch.grid;
    this.recorder = recorder;
    this.listeners = listeners;
    this.tally = new Tally(launch);
    const findsDeadlocks = listeners.some((one) => one.findsDeadlocks);
    this.changes = launch.mayChange && !findsDeadlocks ? { count: 0 } : null;
    this.hears = Object.fromEntries(EVENTS.map((event) => [event, listeners.filter((one) => one[event])]));
    /** By number of a site: another winner of its concurrent writes, "lowest" or "highest". */
    this.others = new Map();
  }

  /** Report an event to the listeners that react to it. */
  report(event, ...facts) {
    for (const listener of this.hears[event]) listener[event](...facts);
  }

  /** The words that a request's lanes receive, and those that they leave (null for a read); memory stays unchanged. */
  evaluate({ site, words, compare }, array, cells) {
    if (words === null) return { values: array.readCells(cells), left: null };
    if (site.kind === "write") return { values: null, left: words };
    const [values, left] = inTurn(site.op, array.readCells(cells), cells, words, compare, array.dtype);
    return { values, left };
  }

  /**
   * Store the words that a request leaves; the requests of its warps begin at `firsts`. `elements` and `threads` are
   * those of the lanes.
   */
  write(site, array, { cells, left, firsts, elements, threads }) {
    if (this.changes !== null && array.changedBy(cells, left)) this.changes.count += 1;
    const other = this.others.get(site.number);
    if (site.kind === "atomic") array.leave(cells, left);
    else if (other !== undefined) writeOtherwise(array, elements, threads(), left, this.grid, other);
    else {
      for (let at = 0; at < firsts.length; at++) {
        array.write(cells, left, firsts[at], at + 1 < firsts.length ? firsts[at + 1] : cells.length);
      }
    }
  }
}
