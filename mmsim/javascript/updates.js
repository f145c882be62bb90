import { Concerned, LanesOfCells, accessAt, elementFinding, madeFor } from "./lines.js";
import { Listener, cellOf } from "./listener.js";
import { sameBits } from "./memory.js";
import { updatesOf } from "./needs.js";

/**
 * Finds lost updates: threads read an element, and each writes a value computed from the old one.
 *
 * Only one of them takes effect, whether or not the words that they write are equal. Two updates of one element meet
 *
 * - in one request of a warp, and under the synchronous schedule in one round;
 * - under the synchronous schedule also if a thread writes after another one, and had read before that.
 *
 * Under the asynchronous schedule, unordered updates of different warps are data races.
 */
export class LostUpdates extends Listener {
  constructor(launch, lines) {
    super();
    this.lines = lines;
    this.arrays = launch.arrays;
    this.isLockStep = launch.schedule === "synchronous";
    this.blocks = launch.grid.block;
    this.updates = updatesOf(launch.code);
    this.now = 0;
    this.last = new Map(); // by the site of a read, for each thread: the cells of its last read, and the time
    for (const site of [...this.updates.values()].flatMap((update) => update.reads)) {
      const { vector } = launch.meaning.sites[site], { threads } = launch.grid;
      const cells = new Int32Array(threads * vector).fill(-1);
      this.last.set(site, { cells, when: new Float64Array(threads), vector });
    }
    this.updated = new Map(); // by array, for each cell: the time, the thread and the word of its last update
    this.touched = new Map();
    this.lost = new Concerned(); // cell, two threads, their times
  }

  accessed(access) {
    this.now += 1;
    const { site, array, threads, elements } = access, last = this.last.get(site.number);
    if (last === undefined) {
      if (this.updates.has(site.number)) this.update(access, this.updates.get(site.number));
      return;
    }
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane];
      last.cells[thread * last.vector + (lane % last.vector)] = cellOf(array, elements[lane], this.blocks[thread]);
      last.when[thread] = this.now;
    }
  }

  /** Note a write of this kind: its lanes that have read the same element are updates. */
  update(access, { reads, isHarmless }) {
    const { site, array, threads, elements, values, times } = access;
    const line = this.lines.ofSite[site.number], timeOf = (lane) => (this.isLockStep ? times[lane] : times);
    const touched = madeFor(this.touched, array.name, () => new LanesOfCells(array));
    touched.begin(elements.length);
    const lanes = [], cells = [], read = [];
    for (let lane = 0; lane < elements.length; lane += 1) {
      const thread = threads[lane], cell = cellOf(array, elements[lane], this.blocks[thread]);
      const time = this.readBy(thread, cell, reads);
      if (!time) continue;
      lanes.push(lane);
      cells.push(cell);
      read.push(time);
      const other = touched.of(cell);
      touched.set(cell, lane);
      if (other >= 0 && !(isHarmless && sameBits(values[lane], values[other]))) {
        this.lost.note(line, array, cell, threads[other], thread, timeOf(other), timeOf(lane));
      }
    }
    if (!this.isLockStep || !lanes.length) return;
    const { when, who, what } = madeFor(this.updated, array.name, () => {
      const size = array.size * array.copies;
      return { when: new Float64Array(size), who: new Int32Array(size), what: new Array(size).fill(0) };
    });
    lanes.forEach((lane, at) => { // those that write a value computed from a word that was updated meanwhile
      const cell = cells[at];
      if (when[cell] <= read[at] || who[cell] === threads[lane]) return;
      if (isHarmless && sameBits(what[cell], values[lane])) return;
      this.lost.note(line, array, cell, threads[lane], who[cell], timeOf(lane), -1);
    });
    for (let at = lanes.length - 1; at >= 0; at -= 1) { // of one element the lowest-numbered thread's value stays
      const cell = cells[at], lane = lanes[at];
      when[cell] = this.now;
      who[cell] = threads[lane];
      what[cell] = values[lane];
    }
  }

  /** When a thread last read a cell by one of these sites; 0 if it hasn't. */
  readBy(thread, cell, reads) {
    let latest = 0;
    for (const site of reads) {
      const { cells, when, vector } = this.last.get(site);
      if (when[thread] <= latest) continue;
      for (let at = thread * vector; at < (thread + 1) * vector; at += 1) {
        if (cells[at] === cell) latest = when[thread];
      }
    }
    return latest;
  }

  /** A finding for each line whose updates get lost, in the order of the text. */
  findings() {
    return this.lost.sorted().map(([line, [cell, one, other, time, otherTime]]) => {
      const site = this.lines.sites[line], elements = this.lost.count(line);
      const accesses = [[one, time], [other, otherTime]].map(([thread, when]) =>
        accessAt(site, thread, this.blocks[thread], when));
      return elementFinding("lost-update", this.arrays[site.array], cell, accesses, { elements });
    });
  }
}
