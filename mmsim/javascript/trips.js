/* Loops that can never end: after some trips all is again as it was, and nothing else can change. The trips of a loop
   depend on the variables of its lanes and on the memory that they read. If a trip leaves all variables as an earlier
   one has, and memory has not changed in between, then every further trip is the same, until another sequencer changes
   memory. If none does, the loop is endless. */

const FEW_TRIPS = 8; // after these a loop may be one that waits; most loops end earlier, or change something

/**
 * The trips of one loop of a sequencer; the state before an earlier one is kept. Another is kept now and then, ever
 * more rarely, so that a cycle of any length is found.
 */
export class Trips {
  constructor(changes) {
    this.changes = changes;
    this.trips = 0;
    this.until = FEW_TRIPS; // the trip whose state is kept next
    this.since = -1; // the changes of memory before the kept one
    this.state = [];
    this.first = 0; // the number of a variable that differed, the likeliest to do so again
  }

  /** Whether all is as it was before the kept trip. */
  repeat(frame, mask) {
    this.trips += 1;
    if (this.trips >= this.until) {
      this.until = this.trips + Math.max(FEW_TRIPS, Math.floor(this.trips / 4));
      this.since = this.changes.count;
      this.state = stateOf(frame, mask);
      return false;
    }
    return this.changes.count === this.since && this.isKept(frame, mask);
  }

  isKept(frame, mask) {
    const { state, first } = this;
    if (first < frame.variables.length && first < state.length && !isSame(frame.variables[first], state[first])) {
      return false;
    }
    const now = stateOf(frame, mask);
    if (now.length !== state.length) return false;
    const differs = now.findIndex((one, place) => !isSame(one, state[place]));
    if (differs >= 0) this.first = differs;
    return differs < 0;
  }
}

/** All that the further way of a sequencer depends on, but for memory; nothing of it is ever changed in place. */
const stateOf = (frame, mask) =>
  [...frame.variables, mask, frame.live, frame.idle, ...Object.values(frame.registers), ...frame.partial];

/** Whether two values are equal, bit for bit. */
const isSame = (one, other) => {
  if (Object.is(one, other)) return true;
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  if (!Array.isArray(one)) return Object.is(one.re, other.re) && Object.is(one.im, other.im);
  return one.length === other.length && one.every((part, k) => isSame(part, other[k]));
};
