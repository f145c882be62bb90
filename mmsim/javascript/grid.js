import { MMSimFault } from "./faults.js";

/** From this many threads on, the bytes of their numbers can't be counted. */
const MOST_THREADS = 2 ** 59;

/** An error about the arguments of a launch. */
export const launchError = (message) => new MMSimFault("LaunchError", message);

/** A number in a message, as Python shows it. */
export const shownNumber = (value) => (value === true ? "True" : value === false ? "False" : String(value));

/** Refuse a count that is not a whole number from `least` on. */
export const requireWhole = (name, value, least = 1) => {
  if (!Number.isInteger(value)) throw launchError(`${name} must be a whole number, not ${shownNumber(value)}`);
  if (value < least) throw launchError(`${name}=${value}, but it must be at least ${least}`);
};

/** The product of extents. */
export const productOf = (extents) => extents.reduce((product, extent) => product * extent, 1);

/** Extents as a text, without the last axes that have one place: [2, 1, 4] is "2 x 1 x 4", [8, 1, 1] is "8". */
const extentsText = (extents) => {
  const used = Math.max(0, extents.findLastIndex((extent) => extent > 1));
  return extents.slice(0, used + 1).join(" x ");
};

/** A shape as a text. */
const shapeText = ({ grid, block }) =>
  productOf(grid) === 1
    ? `one block of ${extentsText(block)}`
    : `a grid of ${extentsText(grid)} blocks of ${extentsText(block)}`;

/** The threads of a launch as a text. */
export const launchedText = ({ threads, blockSize, shape }) =>
  `${threads} threads in ${shape ? shapeText(shape) : `blocks of ${blockSize}`}`;

/** The place of a number along x, y and z. */
const placeAlong = (number, [x, y]) => {
  const rest = Math.floor(number / x);
  return [number % x, rest % y, Math.floor(rest / y)];
};

/** An array of `count` numbers, each computed from its place. */
const numbersBy = (count, of) => {
  const found = [];
  for (let at = 0; at < count; at++) found.push(of(at));
  return found;
};

/**
 * The partition of `threads` threads into blocks and warps of `width`, on `dmms` DMMs. A block is `blockSize`
 * consecutive threads, a warp is `width` consecutive threads of a block; the last ones may be smaller. `shape` is null
 * for a launch without extents along y and z, else {grid, block}.
 */
export class Grid {
  constructor(threads, blockSize, width, dmms, shape) {
    this.threads = threads;
    this.blockSize = blockSize;
    this.width = width;
    this.dmms = dmms;
    this.shape = shape;
    this.blocks = Math.ceil(threads / blockSize);
    this.dmmsUsed = Math.min(dmms, this.blocks);
    this.warpsPerBlock = Math.ceil(blockSize / width);
    this.warps = Math.floor(threads / blockSize) * this.warpsPerBlock + Math.ceil((threads % blockSize) / width);
    this.extents = shape ?? { grid: [this.blocks, 1, 1], block: [blockSize, 1, 1] };
    this.columns = {};
  }

  /** The axes along which a block, and the grid, have more than one place. */
  get sides() {
    return [this.extents.block, this.extents.grid].map((extents) => extents.map((extent) => extent > 1));
  }

  /** The fields of T that all threads share, by name. */
  get uniform() {
    const fields = { count: this.threads, block_size: this.blockSize, blocks: this.blocks };
    for (const [name, extents] of [["blockDim", this.extents.block], ["gridDim", this.extents.grid]]) {
      ["x", "y", "z"].forEach((axis, at) => (fields[`${name}.${axis}`] = extents[at]));
    }
    return fields;
  }

  /** The block of a warp. */
  blockOfWarp(warp) {
    return Math.floor(warp / this.warpsPerBlock);
  }

  /** The DMM of a warp. */
  dmmOfWarp(warp) {
    return this.blockOfWarp(warp) % this.dmms;
  }

  /** The first thread of a warp; that of the number of warps is the number of threads. */
  warpStart(warp) {
    if (warp >= this.warps) return this.threads;
    const block = this.blockOfWarp(warp);
    return block * this.blockSize + (warp - block * this.warpsPerBlock) * this.width;
  }

  /** The thread ids of a warp: from `start` to before `end`. */
  warpThreads(warp) {
    return { start: this.warpStart(warp), end: this.warpStart(warp + 1) };
  }

  /** threadIdx and blockIdx of a thread, if the launch has a shape. */
  position(thread) {
    if (!this.shape || thread === null) return null;
    const block = Math.floor(thread / this.blockSize);
    return [placeAlong(thread % this.blockSize, this.extents.block), placeAlong(block, this.extents.grid)];
  }

  /** A column of every thread, made on first access. */
  column(name, of) {
    return (this.columns[name] ??= numbersBy(this.threads, of));
  }

  /** The id of every thread. */
  get id() {
    return this.column("id", (thread) => thread);
  }

  /** The block of every thread. */
  get block() {
    return this.column("block", (thread) => Math.floor(thread / this.blockSize));
  }

  /** The index of every thread in its block. */
  get index() {
    return this.column("index", (thread) => thread % this.blockSize);
  }

  /** The warp of every thread. */
  get warp() {
    const { blockSize, width, warpsPerBlock } = this;
    return this.column(
      "warp",
      (thread) => Math.floor(thread / blockSize) * warpsPerBlock + Math.floor((thread % blockSize) / width)
    );
  }

  /** The lane of every thread: its place in its warp. */
  get lane() {
    return this.column("lane", (thread) => (thread % this.blockSize) % this.width);
  }
}

/** Refuse a shape with other numbers of threads. */
const refuseShape = (shape, threads, blockSize) => {
  for (const extents of [shape.grid, shape.block]) {
    for (const extent of extents) if (!Number.isInteger(extent)) requireWhole("an extent", extent);
    if (extents.length !== 3 || extents.some((extent) => extent < 1)) {
      throw launchError(`there is no shape ${shapeText(shape)}`);
    }
  }
  if (productOf(shape.block) !== blockSize || productOf(shape.grid) * blockSize !== threads) {
    throw launchError(`${shapeText(shape)} does not have ${threads} threads in blocks of ${blockSize}`);
  }
};

/** The grid of a launch, or a LaunchError for a wrong number. Without a block size all threads are one block. */
export const makeGrid = (threads, blockSize, width, dmms, shape = null) => {
  requireWhole("threads", threads);
  if (threads >= MOST_THREADS) {
    throw new MMSimFault("RoomError", `threads=${BigInt(threads)} are more threads than any memory holds`);
  }
  const size = blockSize ?? threads;
  requireWhole("block_size", size);
  if (size > threads) {
    throw launchError(
      `block_size=${size} is larger than threads=${threads}; ` +
        `give a block_size of at most ${threads}, or none for one block`
    );
  }
  if (shape) refuseShape(shape, threads, size);
  const isLine = !shape || [...shape.grid.slice(1), ...shape.block.slice(1)].every((extent) => extent === 1);
  return new Grid(threads, size, width, dmms, isLine ? null : shape);
};
