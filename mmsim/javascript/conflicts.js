/** Up to this width the banks of a rule have a table; wider memories use a map. */
const TABLE_WIDTH = 1 << 14;
/** Up to this many addresses sorting them by insertion is fastest. */
const FEW_ADDRESSES = 40;

let sortingRoom = new Float64Array(1024);

/** The addresses from `first` to before `end`, sorted, in a list that the next call overwrites. */
const sortedAddresses = (addresses, first, end) => {
  const count = end - first;
  if (sortingRoom.length < count) sortingRoom = new Float64Array(2 * count);
  const sorted = sortingRoom;
  if (count > FEW_ADDRESSES) {
    for (let at = 0; at < count; at++) sorted[at] = addresses[first + at];
    sorted.subarray(0, count).sort();
    return sorted;
  }
  for (let at = 0; at < count; at++) {
    const address = addresses[first + at];
    let place = at;
    while (place > 0 && sorted[place - 1] > address) {
      sorted[place] = sorted[place - 1];
      place -= 1;
    }
    sorted[place] = address;
  }
  return sorted;
};

/** The number of distinct addresses, which `sortedAddresses` then holds at the beginning. */
const distinctAddresses = (addresses, first, end) => {
  const sorted = sortedAddresses(addresses, first, end);
  let count = 0;
  for (let at = 0; at < end - first; at++) {
    if (count === 0 || sorted[at] !== sorted[count - 1]) sorted[count++] = sorted[at];
  }
  return count;
};

/** The positions from `first` to before `end`, counted from 0, in order of address and then of position. */
const orderOfAddresses = (addresses, first, end) => {
  const order = [];
  let ascends = true;
  for (let at = first; at < end; at++) {
    order.push(at - first);
    if (at > first && addresses[at] < addresses[at - 1]) ascends = false;
  }
  return ascends ? order : order.sort((one, other) => addresses[first + one] - addresses[first + other]);
};

/**
 * A rule by which the words of one warp's request conflict, for a unit of width `width`. A rule has the names of
 * Python's `Conflict` and
 *
 * - `cell(address)`: the bank or the group of an address;
 * - `stages(addresses, first, end)`: the stages of the request with the addresses from `first` to before `end`;
 * - `stageOf(addresses, first, end)`: the stage, counted from 0, in which each of them travels;
 * - `ofAtomics()`: the rule for atomic accesses.
 *
 * A request of one stage travels in stage 0.
 */
export class Conflict {
  constructor(width) {
    this.width = width;
    this.free = ""; // the class of accesses without conflicts
    /** @type {Conflict | null} */
    this.atomics = null; // the rule for atomics, once it is asked for
  }

  /** The bank or the group of an address. @returns {number} */
  cell(address) {
    throw new Error(`no cell of ${address}`);
  }

  /** The rule for an access of a kind. The papers' memories treat the words of a vector as any others. */
  served(kind) {
    return kind === "atomic" ? this.ofAtomics() : this;
  }

  /**
   * The rule for atomics: a stage lasts as long as the most requests for one of its addresses.
   * @returns {Conflict}
   */
  ofAtomics() {
    return (this.atomics ??= new InTurn(this));
  }

  /** The fewest stages that a request of vectors can take, which takes `stages`. */
  fewest(addresses, first, end, stages) {
    const filled = Math.ceil(distinctAddresses(addresses, first, end) / this.width);
    return Math.min(Math.max(1, filled), stages);
  }

  /** The class of accesses with `stages` stages, at best `least`. */
  classify(least, stages) {
    return stages > least ? "casual" : this.free;
  }

  /** The table of the rule for a memory drawn in rows of `width` words: see `Conflict.table`. */
  table(width) {
    const columns = Array.from({ length: width }, (_, at) => this.cell(at));
    const inRows = [0, 1, 2].map((row) => columns.map((_, at) => this.cell(row * width + at)));
    return {
      columns: inRows.every((row) => row.every((cell, at) => cell === columns[at])) ? columns : null,
      rows: inRows.every((row, number) => row.every((cell) => cell === number)),
    };
  }
}

/** By bank: the congestion, as in the DMM. */
export class Banks extends Conflict {
  constructor(width) {
    super(width);
    this.name = this.place = "bank";
    this.free = "conflict-free";
    this.met = "bank conflict of {} stages";
    this.title = `${width} banks`;
    this.request = 0; // counts, so that no table has to be cleared
    const size = width <= TABLE_WIDTH ? width : 0;
    this.asked = new Float64Array(size); // by bank, the request that asked last
    this.held = new Float64Array(size); // its address, or the number of its addresses
  }

  cell(address) {
    return address % this.width;
  }

  ofAtomics() {
    return (this.atomics ??= new BanksInTurn(this.width));
  }

  /** Stages are one if no bank has two addresses, which is common and fast to see. */
  stages(addresses, first, end) {
    const { width, asked, held } = this;
    if (width > TABLE_WIDTH) return this.congestion(addresses, first, end);
    const request = ++this.request;
    for (let at = first; at < end; at++) {
      const address = addresses[at];
      const bank = address % width;
      if (asked[bank] !== request) {
        asked[bank] = request;
        held[bank] = address;
      } else if (held[bank] !== address) {
        return this.congestion(addresses, first, end);
      }
    }
    return 1;
  }

  /** The most distinct addresses in one bank. */
  congestion(addresses, first, end) {
    const count = distinctAddresses(addresses, first, end);
    const filled = this.counter();
    let most = 0;
    for (let at = 0; at < count; at++) most = Math.max(most, filled(sortingRoom[at] % this.width) + 1);
    return most;
  }

  /** A function that counts the calls for each bank; it returns the calls before. */
  counter() {
    const { asked, held } = this;
    if (this.width > TABLE_WIDTH) {
      const counts = new Map();
      return (bank) => {
        const before = counts.get(bank) ?? 0;
        counts.set(bank, before + 1);
        return before;
      };
    }
    const request = ++this.request;
    return (bank) => {
      if (asked[bank] !== request) {
        asked[bank] = request;
        held[bank] = 0;
      }
      return held[bank]++;
    };
  }

  /** Within a bank, stages are filled in ascending order of address. */
  stageOf(addresses, first, end) {
    const stages = new Array(end - first).fill(0);
    const filled = this.counter();
    let last = -1;
    let stage = 0;
    for (const at of orderOfAddresses(addresses, first, end)) {
      const address = addresses[first + at];
      if (address !== last) stage = filled(address % this.width);
      last = address;
      stages[at] = stage;
    }
    return stages;
  }
}

/** By bank, for atomics: the most requests in one bank, for the same or different addresses. */
export class BanksInTurn extends Banks {
  constructor(width) {
    super(width);
    this.name = "bank in turn";
  }

  ofAtomics() {
    return this;
  }

  stages(addresses, first, end) {
    let most = 0;
    const filled = this.counter();
    for (let at = first; at < end; at++) most = Math.max(most, filled(addresses[at] % this.width) + 1);
    return most;
  }

  /** Within a bank in ascending order of address; requests for one address by lane. */
  stageOf(addresses, first, end) {
    const stages = new Array(end - first).fill(0);
    const filled = this.counter();
    for (const at of orderOfAddresses(addresses, first, end)) stages[at] = filled(addresses[first + at] % this.width);
    return stages;
  }
}

/** By address group: the number of groups of a request, as in the UMM. */
export class Groups extends Conflict {
  constructor(width) {
    super(width);
    this.name = "group";
    this.place = "address group";
    this.free = "coalesced";
    this.met = "{} address groups";
    this.title = `address groups of ${width}`;
  }

  cell(address) {
    return Math.floor(address / this.width);
  }

  stages(addresses, first, end) {
    let count = 1;
    let group = this.cell(addresses[first]);
    for (let at = first + 1; at < end; at++) {
      const next = this.cell(addresses[at]);
      if (next === group) continue;
      if (next < group) return this.distinctGroups(addresses, first, end);
      group = next;
      count += 1;
    }
    return count;
  }

  /** The number of groups of addresses in any order. */
  distinctGroups(addresses, first, end) {
    const sorted = sortedAddresses(addresses, first, end);
    let count = 0;
    let group = -1;
    for (let at = 0; at < end - first; at++) {
      const next = this.cell(sorted[at]);
      if (next !== group) count += 1;
      group = next;
    }
    return count;
  }

  /** The groups come in ascending order. */
  stageOf(addresses, first, end) {
    const stages = new Array(end - first).fill(0);
    let stage = -1;
    let last = -1;
    for (const at of orderOfAddresses(addresses, first, end)) {
      const group = this.cell(addresses[first + at]);
      if (group !== last) stage += 1;
      last = group;
      stages[at] = stage;
    }
    return stages;
  }
}

/**
 * Another rule, for atomics: each stage lasts for the most requests for one of its words. For one address group this
 * is the most requests for one address; for a request it is the sum over its groups.
 */
export class InTurn extends Conflict {
  constructor(rule) {
    super(rule.width);
    this.rule = rule;
    this.name = `${rule.name} in turn`;
    const { place, free, met, title } = rule;
    Object.assign(this, { place, free, met, title });
  }

  cell(address) {
    return this.rule.cell(address);
  }

  ofAtomics() {
    return this;
  }

  stages(addresses, first, end) {
    return end - first === 1 ? 1 : Math.max(...this.stageOf(addresses, first, end)) + 1;
  }

  stageOf(addresses, first, end) {
    const merged = this.rule.stageOf(addresses, first, end);
    const asked = new Map(); // by address, as one address has one stage
    const lasts = [];
    const turns = merged.map((stage, at) => {
      const turn = asked.get(addresses[first + at]) ?? 0;
      asked.set(addresses[first + at], turn + 1);
      lasts[stage] = Math.max(lasts[stage] ?? 0, turn + 1);
      return turn;
    });
    const before = [0];
    for (const last of lasts) before.push(before.at(-1) + last);
    return merged.map((stage, at) => before[stage] + turns[at]);
  }
}
