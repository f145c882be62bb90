import { sameBits } from "./memory.js";

/**
 * Receives the events of a run; a subclass reacts to them. If one `findsDeadlocks`, a loop that never ends goes on
 * until it has seen enough of it.
 *
 * An access is one memory instruction: a warp's request, or those of all warps in a round. It has a `site` and an
 * `array`, and an entry for each active lane, by thread number, in `threads`, `elements`, `values` (the words that a
 * write or an atomic stores, null for a read). `warp` is -1 for a round, and `times` then has the dispatch of each
 * lane; else it is a number. `interval` are the barriers that the warp has passed, or the rounds so far,
 * `gridInterval` the barriers of the grid among them.
 */
export class Listener {
  findsDeadlocks = false;

  /** A memory instruction is about to take effect; reads may have been done. */
  accessed(access) {}

  /** A unit has dispatched a warp's request, which was ready since then; its data moved. */
  dispatched(access, unit, ready, stages) {}

  /** A round of lock step is over; threads that `live` have not returned. */
  roundEnded(access, start, time, live) {}

  /** In lock step the threads `here` come to a barrier, of all those that `live`. */
  met(place, here, live, time, scope) {}

  /** Lanes of a warp that runs independently come to a barrier, of all those that `live`. */
  arrived(warp, place, here, live, time, scope) {}

  /** Lanes of a warp that runs independently come to `mm.warp.sync()`. */
  synced(threads) {}

  /** A block's barrier lets its warps go on: {warp, since, line}, by warp number. */
  released(block, stays, time) {}

  /** A sequencer of such warps is about to begin. */
  began(frame, warps) {}

  /** A sequencer has done local work, up to its next access or barrier, or to its end. */
  worked(frame, time) {}

  /** A warp that runs independently has ended; threads that `live` have not returned. */
  ended(warp, live) {}
}

/** The number of an element, counted over all copies of its array. */
export const cellOf = (array, element, block) => (array.shared ? block * array.size + element : element);

/** Whether each lane of an access stores another word than its element has. */
export const changesOf = ({ array, threads, elements, values }, blockOf) =>
  Array.from(elements, (element, lane) =>
    !sameBits(array.data[cellOf(array, element, blockOf[threads[lane]])], values[lane]));

/** The lanes of a mask, in ascending order: all, some or none of `count`. */
export const lanesOf = (mask, count) =>
  mask === true ? Array.from({ length: count }, (_, lane) => lane) : mask === false ? [] : mask;
