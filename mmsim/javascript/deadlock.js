import { madeFor } from "./lines.js";
import { Listener, cellOf, changesOf } from "./listener.js";

/** A number of its own for the threads and elements of a request; two such of 32 bits, as one of 53. */
const hashOf = (number, threads, elements) => {
  let one = number ^ 0x9e3779b9, other = number ^ 0x85ebca6b;
  for (const column of [threads, elements]) {
    for (let at = 0; at < column.length; at += 1) {
      one = Math.imul(one ^ column[at], 0x01000193);
      other = Math.imul((other << 5) ^ (other >>> 27) ^ column[at], 0x9e3779b1);
    }
    one ^= column.length;
  }
  return (one >>> 0) * 0x200000 + (other >>> 11);
};

/**
 * Finds deadlocks: memory doesn't change any more, and a warp goes on reading.
 *
 * A write or an atomic that changes memory is *progress*. So is every access outside of `while` loops. Within a
 * `while` loop, a line makes progress by an access to elements that it hasn't touched since memory changed last. The
 * reads must be a wait (`waitsOf`): a loop that no other thread could end is an endless program.
 *
 * `waiting` has the last read of each thread that waits, for each line of its waits, the latest last; `idle` is the
 * last read that waits for nothing.
 */
export class DeadlockCheck extends Listener {
  findsDeadlocks = true;

  constructor(launch, waits) {
    super();
    this.enough = Math.floor(launch.maxAccesses / 4);
    this.waits = waits;
    this.grid = launch.grid;
    this.isLockStep = launch.schedule === "synchronous";
    this.touched = new Set(); // accesses and elements since memory changed last
    this.taken = new Map(); // by array, cells that an atomic waits for
    this.requests = 0;
    this.waiting = new Map(); // by thread and site
    this.idle = null;
  }

  accessed(access) {
    if (this.progresses(access)) {
      this.requests = 0;
      this.idle = null;
      this.waiting.clear();
      return;
    }
    this.requests += 1;
    const { site } = access;
    if (site.kind === "write") return;
    const read = this.read(access, 0);
    if (!this.waits.isWait[site.number]) {
      this.idle = read;
      return;
    }
    const key = `${read.thread} ${site.number}`;
    this.waiting.delete(key);
    this.waiting.set(key, read);
  }

  /** One lane of a request, and the requests without progress before it. */
  read({ site, array, threads, elements, times }, lane) {
    const thread = threads[lane], block = this.grid.block[thread];
    return {
      site, thread, block, cell: cellOf(array, elements[lane], block),
      time: typeof times === "number" ? times : times[lane], number: this.requests,
    };
  }

  /** The holder of the lock that a thread waits for, if their warp can't go on without it; null without one. */
  holder(one) {
    const holder = this.taken.get(one.site.array)?.get(one.cell) ?? null, { warp } = this.grid;
    return holder && (this.isLockStep || warp[holder.thread] === warp[one.thread]) ? holder : null;
  }

  /** Whether this request changed anything. */
  progresses(access) {
    const { site, array, threads, elements } = access, isInLoop = this.waits.loop[site.number] !== null;
    if (!isInLoop && !this.touched.size) return true;
    if (site.kind !== "read") {
      const changes = changesOf(access, this.grid.block);
      if (changes.includes(true)) {
        this.touched.clear();
        if (this.waits.isWait[site.number]) {
          const taken = madeFor(this.taken, array.name, () => new Map());
          for (let lane = elements.length - 1; lane >= 0; lane -= 1) { // the first lane won it
            if (!changes[lane]) continue;
            const read = this.read(access, lane);
            taken.set(read.cell, read);
          }
        }
        return true;
      }
    }
    if (!isInLoop) return true;
    const request = hashOf(site.number, threads, elements);
    const isKnown = this.touched.has(request);
    this.touched.add(request);
    return !isKnown;
  }

  /** Whether no progress has been made for too long, and a thread reads. */
  isReached() {
    return this.requests >= this.enough && this.readers().length > 0;
  }

  /** The threads that wait, the latest first. */
  readers() {
    return [...this.waiting.values()].reverse().filter((one) => this.readsOn(one));
  }

  /** A thread that reads but waits for nothing; null if there was progress, or none reads. */
  idler() {
    return this.requests >= this.enough && this.idle !== null && this.readsOn(this.idle) ? this.idle : null;
  }

  /** Whether a thread went on reading. */
  readsOn(one) {
    return this.requests - one.number < Math.floor(this.enough / 2);
  }
}
