import { shownValue, valueText } from "./faults.js";
import { layoutError, offsetsOf, wholeNumber } from "./layouts.js";

/*
 * Bank conflicts of a tile: the cost of one warp's accesses to it under a layout, phase by phase, in 32 banks of 4
 * bytes, by the rule measured on an NVIDIA H200; see `mmsim/model/questions.py` and `mmsim/model/byte_banks.py`.
 */

const TILE_THREADS = 32;
const TILE_BANKS = 32;
const TILE_BANK_BYTES = 4;
const MOST_TILE_VALUES = 2 ** 16;
/** The most elements of a tile: more bytes than any shared memory has. */
const MOST_TILE_ELEMENTS = 2 ** 24;
/** The sizes of an element in bytes. */
const ELEMENT_SIZES = [1, 2, 4, 8, 16];
/** The bytes of a row of the matrices that `ldmatrix` and `stmatrix` move. */
export const MATRIX_BYTES = 16;
export const MATRIX_KINDS = ["ldmatrix", "stmatrix"];
export const TILE_KINDS = ["read", "write", "atomic", "cas", ...MATRIX_KINDS];

/** The number of elements of a tile. */
const tileSize = (shape) => shape.reduce((product, extent) => product * extent, 1);

/** The sum of numbers. */
const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

// ------------------------------------------------------------ the rule

/** How lanes ask for elements of `size` bytes: by a number of banks, in parts of lanes, and so on. */
class ByteRule {
  constructor(size, kind) {
    const isLong = size > TILE_BANK_BYTES;
    this.banks = isLong ? (TILE_BANKS * TILE_BANK_BYTES) / size : TILE_BANKS;
    this.elements = isLong ? 1 : TILE_BANK_BYTES / size; // of a word, which count as one
    this.part = isLong ? this.banks : 0; // lanes that are served together, 0 for all
    this.pairs = isLong && kind === "read"; // parts are twice as long if lanes share addresses in pairs
    this.inTurn = kind === "atomic" || kind === "cas"; // requests for one address don't merge
    this.times = kind === "cas" ? 2 : 1;
    this.last = new Int8Array(TILE_BANKS); // of a bank, the number of its last address, -1 without
    this.before = new Int8Array(TILE_THREADS); // of an address, the number of that before it in its bank
    this.counts = new Int8Array(TILE_THREADS); // the addresses in its bank up to it
  }

  /** Whether each lane t asks for the address of lane t xor 1, or each for that of lane t xor 2. */
  isPaired(addresses) {
    return [1, 2].some((apart) => addresses.every((address, lane) => {
      const other = addresses[lane ^ apart] ?? -1;
      return address < 0 || other < 0 || address === other;
    }));
  }

  /** The phases of a request, an address for each lane, -1 for none: [{threads, addresses}]. */
  phases(request) {
    const width = this.part * (this.pairs && this.isPaired(request) ? 2 : 1) || request.length;
    const found = [];
    for (let first = 0; first < request.length; first += width) {
      const threads = [], addresses = [];
      for (let lane = first; lane < first + width && lane < request.length; lane += 1) {
        if (request[lane] < 0) continue;
        threads.push(lane);
        addresses.push(request[lane]);
      }
      if (threads.length) found.push({ threads, addresses });
    }
    return found;
  }

  /** The stages of a phase: the most different words in one bank, or for atomics the most requests. */
  stages({ addresses }) {
    const { banks, elements, inTurn, last, before, counts } = this;
    last.fill(-1);
    let most = 0;
    for (let at = 0; at < addresses.length; at += 1) {
      const word = elements === 1 ? addresses[at] : Math.floor(addresses[at] / elements), bank = word % banks;
      let other = inTurn ? -1 : last[bank];
      while (other >= 0 && Math.floor(addresses[other] / elements) !== word) other = before[other];
      if (other >= 0) continue;
      counts[at] = last[bank] < 0 ? 1 : counts[last[bank]] + 1;
      before[at] = last[bank];
      last[bank] = at;
      if (counts[at] > most) most = counts[at];
    }
    return this.times * most;
  }

  /** The stages of a phase if its elements were adjacent: the fewest that it can take. */
  least({ addresses }) {
    const places = new Map();
    for (const address of addresses) if (!places.has(address)) places.set(address, places.size);
    return this.stages({ addresses: addresses.map((address) => places.get(address)) });
  }

  /** The stages of all phases of a request, or the fewest possible ones. */
  total(request, how) {
    return this.phases(request).reduce((sum, phase) => sum + this[how](phase), 0);
  }
}

// ------------------------------------------------------------ what is asked

/** The elements that a thread accesses in one instruction, if the instruction exists. */
const vectorOf = (kind, size, vector) => {
  if (!TILE_KINDS.includes(kind)) {
    throw layoutError(`an access is one of ${TILE_KINDS.join(", ")}, not ${shownValue(kind)}`);
  }
  const isSize = (bytes) => ELEMENT_SIZES.includes(bytes);
  if (MATRIX_KINDS.includes(kind)) {
    const row = isSize(size) ? MATRIX_BYTES / size : 0;
    if (row === 0 || (vector !== 1 && vector !== row)) {
      throw layoutError(
        `${kind} moves rows of ${MATRIX_BYTES} bytes, so leave out the vector, and give an element 1, 2, 4, 8 or 16 ` +
        `bytes; not ${vector} times ${size}`
      );
    }
    return row;
  }
  if ((kind === "atomic" || kind === "cas") && (vector !== 1 || (size !== 4 && size !== 8))) {
    throw layoutError(
      `an atomic operation on shared memory has one element of 4 or 8 bytes, not ${vector} times ${size}`
    );
  }
  if (!isSize(size * vector)) {
    throw layoutError(`one access of a thread has 1, 2, 4, 8 or 16 bytes, not ${vector} times ${size}`);
  }
  return vector;
};

/** Refuse a shape that is not a tile's. */
const checkTileShape = (shape) => {
  for (const extent of shape) {
    wholeNumber(extent, `an extent of the tile's shape ${shownValue(shape)}`, 1, MOST_TILE_ELEMENTS);
  }
  if (tileSize(shape) > MOST_TILE_ELEMENTS) {
    throw layoutError(
      `a tile of shape ${shownValue(shape)} is larger than any shared memory; ask about a tile of at most ` +
      `${MOST_TILE_ELEMENTS} elements`
    );
  }
};

/** The number of the element with an index, in row-major order. */
const elementNumber = (given, shape, where) => {
  if (!Array.isArray(given)) return wholeNumber(given, `the element for ${where}`, 0, tileSize(shape) - 1);
  if (given.length !== shape.length) {
    throw layoutError(
      `the access gives ${given.length} indices for ${where}, ${shownValue(given)}; the tile's shape is ` +
      valueText(shape)
    );
  }
  let number = 0;
  given.forEach((one, axis) => {
    if (!(Number.isInteger(one) && one >= 0 && one < shape[axis])) { // the text of an error takes longest
      wholeNumber(one, `index ${axis} of the element ${shownValue(given)} for ${where}`, 0, shape[axis] - 1);
    }
    number = number * shape[axis] + one;
  });
  return number;
};

/** Element numbers in the order in which the first axis moves fastest. */
const byColumns = (shape) => {
  let found = [0], stride = tileSize(shape);
  for (const extent of shape) {
    stride /= extent;
    const before = found;
    found = [];
    for (let at = 0; at < extent; at += 1) for (const offset of before) found.push(offset + at * stride);
  }
  return found;
};

/** The vectors with given first elements, along the last axis and along the first one. */
const neighbourVectors = (firsts, shape, vector) => {
  if (vector === 1) return [firsts.map((row) => row.map((first) => [first]))];
  const count = tileSize(shape), rows = Array.from({ length: count }, (_, at) => at);
  return [rows, byColumns(shape)].map((order) => {
    const place = [];
    order.forEach((element, at) => (place[element] = at));
    return firsts.map((row) => row.map((first) => {
      const from = place[first < 0 ? count - 1 : first];
      return rows.slice(0, vector).map((more) => (more === 0 ? first : order[from + more] ?? -1));
    }));
  });
};

/** The elements of each thread's values, by a thread-value layout of CuTe, which numbers the first axis fastest. */
const elementsOfLayout = (layout, shape, vector) => {
  const { extents, text } = layout, size = tileSize(shape);
  if (extents.length !== 2) {
    throw layoutError(
      `a layout of threads and values has two axes, but ${text} has ${extents.length}; write it as ` +
      "((threads),(values)):(...)"
    );
  }
  const [threads, values] = extents;
  wholeNumber(threads, `the number of threads of ${text}`, 1, TILE_THREADS);
  if (values % vector) {
    throw layoutError(`the ${values} values of a thread in ${text} are not a whole number of vectors of ${vector}`);
  }
  const table = layout.words(), wrong = table.findIndex((element) => element >= size);
  if (wrong >= 0) {
    throw layoutError(
      `${text} gives value ${wrong % values} of thread ${Math.floor(wrong / values)} element ${table[wrong]} ` +
      `of a tile of ${size} elements`
    );
  }
  const order = byColumns(shape), numbers = (count, of) => Array.from({ length: count }, (_, at) => of(at));
  return numbers(values / vector, (value) => numbers(threads, (thread) =>
    numbers(vector, (more) => order[table[thread * values + value * vector + more]])));
};

/** Refuse wrong instructions for matrices: they move whole matrices of 8 rows. */
const checkMatrixRows = (kind, threads, elements) => {
  if (![8, 16, 32].includes(threads)) {
    throw layoutError(`${kind} takes the rows of 8, 16 or 32 threads, not of ${threads}`);
  }
  elements.forEach((row, value) => row.forEach((vector, thread) => {
    if (vector.every((element) => element >= 0)) return;
    throw layoutError(
      `${kind} needs a row from each of its ${threads} threads, but the access gives none for value ${value} of ` +
      `thread ${thread}`
    );
  }));
};

/** The address of a vector, in vectors; -1 if the thread takes no part, null if the vector isn't aligned. */
const vectorAddress = (offsets, ways, value, thread) => {
  const elements = ways[0][value][thread];
  if (elements[0] < 0) return -1;
  const first = offsets[elements[0]], vector = elements.length; // all ways begin there
  if (vector === 1) return first;
  if (first % vector !== 0) return null;
  const isAdjacent = (way) =>
    way[value][thread].every((element, at) => element >= 0 && offsets[element] === first + at);
  return ways.some(isAdjacent) ? first / vector : null;
};

/** The addresses of all vectors, by value and thread. Throws `Unaligned` for a vector that isn't aligned. */
const vectorAddresses = (offsets, ways) => ways[0].map((row, value) => row.map((elements, thread) => {
  const address = vectorAddress(offsets, ways, value, thread);
  if (address !== null) return address;
  const vector = elements.length, words = elements.filter((element) => element >= 0);
  const message =
    `value ${value} of thread ${thread} is not an aligned vector: its ${vector} elements lie at ` +
    `${words.map((element) => offsets[element]).join(", ")}; let vectors be adjacent elements that begin at a ` +
    `multiple of ${vector}`;
  throw Object.assign(layoutError(message), { kind: "Unaligned", name: "Unaligned" });
}));

/**
 * The question of what a warp's accesses to a tile of a shape cost, to be tried with any number of layouts:
 * `ask(layout)` gives `TileConflicts`; `isFree(offsets)` says whether there is no conflict, and no vector that isn't
 * aligned. `access` is a function from thread and value to an index, a number, or null if the thread takes no part; or
 * a thread-value layout of CuTe. The options are those of `mmsim.conflicts`; `size` is the bytes of an element.
 */
export const tileQuestion = (access, shape, options = {}) => {
  const { size = TILE_BANK_BYTES, kind = "read" } = options;
  checkTileShape(shape);
  wholeNumber(size, "the bytes of an element", 1);
  const vector = vectorOf(kind, size, wholeNumber(options.vector ?? 1, "a vector", 1));
  let ways, { threads = TILE_THREADS } = options;
  if (typeof access !== "function") {
    ways = [elementsOfLayout(access, shape, vector)];
    threads = ways[0][0].length;
  } else {
    wholeNumber(threads, "the number of threads", 1, TILE_THREADS);
    const values = wholeNumber(options.values ?? 1, "the number of values of a thread", 1, MOST_TILE_VALUES);
    const element = (value, thread) => {
      const given = access(thread, value);
      return given === null ? -1 : elementNumber(given, shape, `value ${value} of thread ${thread}`);
    };
    const firsts = Array.from({ length: values }, (_, value) =>
      Array.from({ length: threads }, (__, thread) => element(value, thread)));
    ways = neighbourVectors(firsts, shape, vector);
  }
  if (MATRIX_KINDS.includes(kind)) checkMatrixRows(kind, threads, ways[0]);
  const bytes = size * vector, rule = new ByteRule(bytes, kind);
  const leasts = ways[0].map((row) => rule.total(row.map(([first]) => first), "least")), least = sumOf(leasts);
  const isFreeValue = (offsets, value) => {
    const addresses = ways[0][value].map((_, thread) => vectorAddress(offsets, ways, value, thread));
    if (addresses.includes(null)) return false;
    return rule.total(addresses, "stages") === leasts[value];
  };
  return {
    shape,
    ask: (layout) => {
      const addresses = vectorAddresses(offsetsOf(layout, shape).offsets, ways);
      return new TileConflicts(kind, bytes, addresses, least, rule);
    },
    isFree: (offsets) => ways[0].every((_, value) => isFreeValue(offsets, value)),
  };
};

// ------------------------------------------------------------ the answer

/** A number of things in words. */
const countedThings = ([count, one]) => `${count} ${count === 1 ? one : `${one}s`}`;

const MOST_SPANS = 4;

/** A short text of ascending numbers: "0-2, 5" or "0, 2, 4, 6, ... 18". */
const spansText = (numbers) => {
  const spans = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else spans.push([number, number]);
  }
  const words = spans.map(([first, last]) => (last > first ? `${first}-${last}` : String(first)));
  return (words.length > MOST_SPANS + 1 ? [...words.slice(0, MOST_SPANS), `... ${words.at(-1)}`] : words).join(", ");
};

/**
 * The cost of a warp's accesses to a tile. `bytes` is the size of a thread's access in one instruction. `addresses` has
 * a row for each value: the address of each thread in units of `bytes` bytes, -1 if the thread takes no part. `least`
 * is the fewest stages that these threads could take under any layout.
 */
export class TileConflicts {
  constructor(kind, bytes, addresses, least, rule) {
    this.kind = kind;
    this.bytes = bytes;
    this.addresses = addresses;
    this.least = least;
    this.rule = rule;
    this.stages = sumOf(addresses.map((row) => rule.total(row, "stages")));
    this.free = this.stages === least;
  }

  /** The requests, one for each value with at least one thread: {value, phases: [{threads, words, stages, least}]}. */
  get requests() {
    if (this.found) return this.found;
    const { rule } = this, count = Math.max(this.bytes / TILE_BANK_BYTES, 1);
    const phase = (own) => (
      { threads: own.threads, words: this.wordsOf(own, count), stages: rule.stages(own), least: rule.least(own) }
    );
    const every = this.addresses.map((row, value) => ({ value, phases: rule.phases(row).map(phase) }));
    return (this.found = every.filter(({ phases }) => phases.length));
  }

  /** The accessed words of a phase, each with its threads, in each bank: [[bank, [[word, threads], ...]], ...]. */
  wordsOf({ threads, addresses }, count) {
    const banks = new Map();
    threads.forEach((thread, at) => {
      const first = Math.floor((addresses[at] * this.bytes) / TILE_BANK_BYTES);
      for (let word = first; word < first + count; word += 1) {
        const bank = word % TILE_BANKS;
        if (!banks.has(bank)) banks.set(bank, new Map());
        const words = banks.get(bank);
        if (!words.has(word)) words.set(word, []);
        words.get(word).push(thread);
      }
    });
    const inOrder = (map) => [...map].sort(([one], [other]) => one - other);
    return inOrder(banks).map(([bank, words]) => [bank, inOrder(words)]);
  }

  /** The phases of all requests together. */
  get phases() {
    return sumOf(this.requests.map(({ phases }) => phases.length));
  }

  /** Value, phase, bank, and the threads of each of the bank's words, if several. */
  get collisions() {
    return this.requests.flatMap(({ value, phases }) => phases.flatMap(({ words }, number) =>
      words.filter(([, own]) => own.length > 1).map(([bank, own]) => ({ value, phase: number, bank, words: own }))));
  }

  /** A line that sums up all requests. */
  get summary() {
    const { kind, bytes, requests, phases, stages, least, free } = this;
    const counts = [[requests.length, "request"], [phases, "phase"], [stages, "stage"]];
    return `${kind} of ${bytes} bytes a thread: ${counts.map(countedThings).join(", ")}, ` +
      (free ? "free of conflicts" : `${stages - least} beyond the least`);
  }

  /** Phases in conflict: values, number, threads, stages, least stages, worst banks; equal ones share an entry. */
  get inConflict() {
    const merged = new Map();
    for (const { value, phases } of this.free ? [] : this.requests) {
      phases.forEach(({ threads, words, stages, least }, number) => {
        if (stages <= least) return;
        const worst = words.filter(([, own]) => own.length > 1).length;
        const row = [number, spansText(threads), stages, least, worst], key = row.join("|");
        if (!merged.has(key)) merged.set(key, { row, values: [] });
        merged.get(key).values.push(value);
      });
    }
    return [...merged.values()].map(({ row, values }) => [spansText(values), ...row]);
  }

  /** The summary, and a table of the phases in conflict. */
  get text() {
    const titles = ["values", "phase", "threads", "stages", "least", "banks"], texts = ["values", "threads"];
    const rows = this.inConflict.map((row) => row.map(String));
    if (rows.length === 0) return this.summary;
    const widths = titles.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at].length)));
    const cell = (text, at) => (texts.includes(titles[at]) ? text.padEnd(widths[at]) : text.padStart(widths[at]));
    const lines = [titles, ...rows].map((row) => row.map(cell).join("  ").trimEnd());
    return [this.summary, ...lines].join("\n");
  }
}

// ------------------------------------------------------------ searches

/** Whether all accesses are free of conflicts under a layout, under which all vectors are aligned. */
const areFree = (questions, layout) => {
  const { offsets } = offsetsOf(layout, questions[0].shape);
  return questions.every((one) => one.isFree(offsets));
};

/** The smallest padding of rows, a multiple of `step`, that frees accesses to one tile of conflicts, or null. */
export const searchPadding = (questions, step = 1, most = 32) => {
  for (let by = 0; by <= most; by += step) {
    if (areFree(questions, { kind: "Padded", by })) return by;
  }
  return null;
};

/** All swizzles of at most 5 bits of a layout, or null, under which all accesses are free of conflicts: as data. */
export const searchSwizzles = (questions, layout = null) => {
  const found = [];
  for (let bits = 1; bits <= 5; bits += 1) {
    for (let base = 0; base < 8; base += 1) {
      for (let shift = bits; shift <= 10; shift += 1) {
        const swizzle = { kind: "Swizzle", bits, base, shift, layout };
        if (areFree(questions, swizzle)) found.push(swizzle);
      }
    }
  }
  return found;
};
