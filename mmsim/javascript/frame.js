import { zeroOf } from "./numbers.js";

/* The state of one sequencer: a set of lanes that runs a program in SIMD fashion. A mask is true for all lanes, false
   for none, else a sorted array of the active ones. A value is an array with an entry for each lane, or one for all.
   Neither is ever changed in place. */

/** The number of lanes of a mask that isn't false. */
export const countOf = (mask, lanes) => (mask === true ? lanes : mask.length);

/** The first lane of a mask. */
export const firstOf = (mask) => (mask === true ? 0 : mask[0]);

/** The lanes of either mask. */
export const unionOf = (first, second, lanes) => {
  if (first === false || second === true || first === second) return second;
  if (second === false || first === true) return first;
  const found = [];
  let here = 0, there = 0;
  while (here < first.length && there < second.length) {
    const [one, other] = [first[here], second[there]];
    if (one <= other) here += 1;
    if (other <= one) there += 1;
    found.push(one < other ? one : other);
  }
  for (; here < first.length; here += 1) found.push(first[here]);
  for (; there < second.length; there += 1) found.push(second[there]);
  return found.length === lanes ? true : found;
};

/** The lanes of `mask` that aren't in `gone`. */
export const withoutLanes = (mask, gone, lanes) => {
  if (gone === true || mask === false) return false;
  if (gone === false) return mask;
  const found = [];
  let at = 0;
  const count = countOf(mask, lanes);
  for (let k = 0; k < count; k += 1) {
    const lane = mask === true ? k : mask[k];
    while (at < gone.length && gone[at] < lane) at += 1;
    if (gone[at] !== lane) found.push(lane);
  }
  return found.length ? found : false;
};

/** The lanes of a mask where a test holds, and the others. `test` is one truth value or has one for each lane of it. */
export const partedBy = (mask, test) => {
  if (!Array.isArray(test)) return test ? [mask, false] : [false, mask];
  const yes = [], no = [];
  for (let k = 0; k < test.length; k += 1) {
    const lane = mask === true ? k : mask[k];
    if (test[k]) yes.push(lane);
    else no.push(lane);
  }
  if (no.length === 0) return [mask, false];
  return yes.length === 0 ? [false, mask] : [yes, no];
};

/** The entries of a value at the lanes of a mask. */
export const gathered = (value, mask) => {
  if (mask === true || !Array.isArray(value)) return value;
  const found = new Array(mask.length);
  for (let k = 0; k < mask.length; k += 1) found[k] = value[mask[k]];
  return found;
};

/** A value with an entry for each lane, from one with an entry for each lane of a mask; `nothing` stands elsewhere. */
export const spreadOut = (value, mask, lanes, nothing) => {
  if (mask === true || !Array.isArray(value)) return value;
  const found = new Array(lanes).fill(nothing);
  for (let k = 0; k < mask.length; k += 1) found[mask[k]] = value[k];
  return found;
};

/**
 * One memory access, as it is given to the engine: for each active lane the row-major number of its element, and of a
 * write or an atomic the word. `lanes` are the positions of these lanes, null for all. A vector has an entry for each
 * of its elements. The engine sends back the words read, and the old ones of an atomic.
 */
export class Request {
  constructor(site, elements, lanes, words, compare) {
    this.site = site;
    this.elements = elements;
    this.lanes = lanes;
    this.words = words;
    this.compare = compare;
  }
}

/** The lanes at a barrier; with an `op` the engine sends back the result of their tests, for each lane. */
export class Waiting {
  constructor(place, lanes, scope, op, test) {
    Object.assign(this, { place, lanes, scope, op, test });
  }
}

/** Unless others change memory, these lanes repeat a loop forever. */
export class Spinning {
  constructor(place, lanes) {
    Object.assign(this, { place, lanes });
  }
}

/**
 * Variables, registers and masks of the lanes of one sequencer. `variables[slot]` is null until a lane assigns it.
 * `partial[slot]` holds the lanes that have assigned it, null if all have; `passed[slot]` are some of them that have
 * read it. `live` are the lanes that haven't returned, `idle` those that are known to have nothing more to do. `steps`
 * counts accesses and trips of loops. `registers[array][element]` has the word of each lane. With `changes`, the
 * sequencer says that it is spinning.
 */
export class Frame {
  constructor(lanes, fields, slots, registers) {
    this.lanes = lanes;
    this.fields = fields;
    this.registers = registers;
    this.variables = new Array(slots).fill(null);
    this.partial = new Array(slots).fill(null);
    this.passed = new Array(slots).fill(null);
    this.live = true;
    this.idle = false;
    this.steps = 0;
    this.changes = null;
    this.offsets = {};
    this.synced = null;
  }

  /** The thread id of a lane. */
  thread(lane) {
    return this.fields.id[lane];
  }

  /** Whether all active lanes have assigned a variable. */
  covers(slot, mask) {
    const known = this.partial[slot];
    if (this.variables[slot] === null) return false;
    if (known === null || this.passed[slot] === mask) return true;
    if (withoutLanes(mask, known, this.lanes) !== false) return false;
    this.passed[slot] = mask; // masks are never changed in place
    return true;
  }

  /** Set a variable at the active lanes; `value` has an entry for each of them, or is one for all. */
  put(slot, value, mask, nothing = 0) {
    const { variables, partial, lanes } = this;
    if (mask === true) {
      variables[slot] = value;
      partial[slot] = null;
      return;
    }
    const old = variables[slot];
    if (old === null) {
      variables[slot] = spreadOut(value, mask, lanes, nothing);
      partial[slot] = mask;
      return;
    }
    const found = Array.isArray(old) ? old.slice() : new Array(lanes).fill(old);
    if (Array.isArray(value)) for (let k = 0; k < mask.length; k += 1) found[mask[k]] = value[k];
    else for (let k = 0; k < mask.length; k += 1) found[mask[k]] = value;
    variables[slot] = found;
    if (partial[slot] !== null) {
      const known = unionOf(partial[slot], mask, lanes);
      partial[slot] = known === true ? null : known;
    }
  }

  /** Make a variable unassigned at the active lanes. */
  forget(slot, mask) {
    this.passed[slot] = null;
    if (this.variables[slot] === null) return;
    const known = withoutLanes(this.partial[slot] ?? true, mask, this.lanes);
    if (known === false) this.variables[slot] = null;
    this.partial[slot] = known === false ? null : known;
  }
}

/** The number of lanes and the needed fields of T, for one warp or (null) for all threads. */
export const frameFields = (grid, warp, needed) => {
  const { start, end } = warp === null ? { start: 0, end: grid.threads } : grid.warpThreads(warp);
  const own = (column) => (warp === null ? column : column.slice(start, end));
  const fields = { id: own(grid.id) };
  if (needed.has("block")) fields.block = warp !== null ? grid.blockOfWarp(warp) : grid.blocks > 1 ? grid.block : 0;
  if (needed.has("warp")) fields.warp = warp !== null ? warp : grid.warps > 1 ? grid.warp : 0;
  for (const name of ["index", "lane"]) if (needed.has(name)) fields[name] = own(grid[name]);
  return [end - start, fields];
};

/** Registers that hold zeros: a row of all lanes for each element. */
export const zeroRegisters = (size, lanes, type) => {
  const row = new Array(lanes).fill(zeroOf(type));
  return Array.from({ length: size }, () => row); // rows are never changed in place
};
