import { MMSimFault } from "./faults.js";
import { productOf } from "./grid.js";
import { zeroOf } from "./numbers.js";

/** The most words of all shared arrays together. */
const LARGEST_ADDRESS = 2 ** 62;

/** Whether two values have the same bits; all NaNs have the same ones here. */
export const sameBits = (one, other) =>
  Object.is(one, other) ||
  (typeof one === "object" && one !== null && typeof other === "object" && other !== null &&
    Object.is(one.re, other.re) && Object.is(one.im, other.im));

/**
 * One array parameter, or one shared array with a copy for each block. `bases` are the first addresses of the copies,
 * `unitOfCopy` the numbers of their units. `offsets` are a layout's word offsets in row-major order, null for 0, 1, 2,
 * ... `source` are the first contents, null for a shared array. A copy takes `words` words. The contents of all copies
 * are one list, copy by copy, in row-major order: an element's place in it is its *cell*.
 */
export class ArrayInMemory {
  constructor({ name, shape, dtype, written, words, bases, unitOfCopy, offsets = null, source = null }) {
    this.name = name;
    this.shape = shape;
    this.dtype = dtype;
    this.written = written;
    this.words = words;
    this.bases = bases;
    this.unitOfCopy = unitOfCopy;
    this.offsets = offsets;
    this.source = source;
    this.size = productOf(this.shape);
    this.shared = this.source === null;
    this.copies = this.bases.length;
    this.contents = null;
  }

  /** Whether each copy is in the shared memory of its block's DMM. */
  get ownUnits() {
    return this.unitOfCopy[0] > 0;
  }

  /** The contents, made on first access; those of a parameter that isn't written are the caller's. */
  get data() {
    if (this.contents === null) {
      this.contents = this.shared
        ? new Array(this.copies * this.size).fill(zeroOf(this.dtype))
        : this.written ? this.source.slice() : this.source;
    }
    return this.contents;
  }

  /** The addresses of elements that threads of one block request. */
  addresses(elements, block) {
    const { offsets } = this;
    const base = this.bases[this.shared ? block : 0];
    if (offsets === null && base === 0) return elements;
    const found = new Array(elements.length);
    for (let at = 0; at < elements.length; at++) {
      found[at] = base + (offsets === null ? elements[at] : offsets[elements[at]]);
    }
    return found;
  }

  /** The addresses of elements that threads of several blocks request; `blocks` are those of the lanes. */
  addressesOfLanes(elements, blocks) {
    if (!this.shared) return this.addresses(elements, 0);
    const { offsets, bases } = this;
    const found = new Array(elements.length);
    for (let at = 0; at < elements.length; at++) {
      found[at] = bases[blocks[at]] + (offsets === null ? elements[at] : offsets[elements[at]]);
    }
    return found;
  }

  /** The cells of elements; `blocks` is one block, or the blocks of the lanes. */
  cells(elements, blocks) {
    if (!this.shared || blocks === 0) return elements;
    const { size } = this;
    const found = new Array(elements.length);
    if (typeof blocks === "number") {
      for (let at = 0; at < elements.length; at++) found[at] = elements[at] + size * blocks;
    } else {
      for (let at = 0; at < elements.length; at++) found[at] = elements[at] + size * blocks[at];
    }
    return found;
  }

  /** The values of elements; `blocks` is one block, or the blocks of the lanes. */
  read(elements, blocks) {
    return this.readCells(this.cells(elements, blocks));
  }

  /** The values of cells. */
  readCells(cells) {
    const { data } = this;
    const found = new Array(cells.length);
    for (let at = 0; at < cells.length; at++) found[at] = data[cells[at]];
    return found;
  }

  /** Store the words that an atomic access leaves; of one cell the last lane's stays. */
  leave(cells, left) {
    const { data } = this;
    for (let at = 0; at < cells.length; at++) data[cells[at]] = left[at];
  }

  /**
   * Store the words of the lanes of one warp, from `first` to before `end`: of one cell that of the lowest-numbered
   * thread stays.
   */
  write(cells, left, first, end) {
    const { data } = this;
    for (let at = end - 1; at >= first; at--) data[cells[at]] = left[at];
  }

  /** Whether words are other than those in their cells. */
  changedBy(cells, left) {
    const { data } = this;
    return cells.some((cell, at) => !sameBits(data[cell], left[at]));
  }
}

/**
 * All arrays of a launch at their addresses, by name. `parameters` are {name, shape, dtype, data, offsets, written,
 * words}, `shared` {name, shape, dtype}. Arrays lie in this order, each from the next multiple of the width on; shared
 * arrays lie in their DMM's memory in the order of its blocks, or behind the parameters where there is one memory.
 */
export const layOut = (machine, grid, parameters, shared) => {
  const line = machine.width;
  const upTo = (words) => Math.ceil(words / line) * line;
  const arrays = Object.create(null);
  let free = 0;
  for (const { name, shape, dtype, data, offsets, written, words } of parameters) {
    const base = upTo(free);
    free = base + words;
    const place = { bases: [base], unitOfCopy: [0] };
    arrays[name] = new ArrayInMemory({ name, shape, dtype, written, words, offsets, source: data, ...place });
  }
  const sizes = shared.map(({ shape }) => upTo(productOf(shape)));
  const ofBlock = sizes.reduce((sum, size) => sum + size, 0);
  if (grid.blocks * ofBlock > LARGEST_ADDRESS) {
    throw new MMSimFault(
      "RoomError",
      `the shared arrays of ${grid.blocks.toLocaleString("en-US")} blocks have more words than can be numbered; ` +
        "take smaller arrays"
    );
  }
  const blocks = Array.from({ length: shared.length > 0 ? grid.blocks : 0 }, (_, block) => block);
  const { dmms } = machine;
  const base = dmms > 0 ? 0 : upTo(free);
  let before = 0;
  shared.forEach(({ name, shape, dtype }, number) => {
    const own = before;
    const bases = blocks.map((block) => base + own + (dmms > 0 ? Math.floor(block / dmms) : block) * ofBlock);
    const unitOfCopy = blocks.map((block) => (dmms > 0 ? 1 + (block % dmms) : 0));
    arrays[name] = new ArrayInMemory({ name, shape, dtype, written: true, words: productOf(shape), bases, unitOfCopy });
    before += sizes[number];
  });
  return arrays;
};
