import { MMSimFault, quotedText, shownValue, valueText } from "./faults.js";
import { FrozenRandom } from "./random.js";

/*
 * Layouts: where element (i, j) of an array lies; see `mmsim/model/layout.py` and `mmsim/model/tiles.py`. As data, a
 * layout is {kind, ...}, with the name of Python's class and its fields; a text of CuTe is {kind: "cute", text}.
 */

/** The largest width of a rotating layout. */
const WIDEST_ROW = 2 ** 31 - 1;
/** The last word of an array, and the largest distance of adjacent elements: far beyond any memory. */
const FARTHEST_WORD = 2 ** 40;
/** Up to this word a table says which words are taken. */
const MARKED_WORDS = 2 ** 26;

/** An error about a layout. */
export const layoutError = (message) => new MMSimFault("LayoutError", message);

/** The product of extents. */
const sizeOfShape = (shape) => shape.reduce((product, extent) => product * extent, 1);

/** The whole numbers before `end`, each changed. */
const upTo = (end, change) => Array.from({ length: end }, (_, at) => change(at));

/** Return a whole number within its bounds. */
export const wholeNumber = (value, what, least, most) => {
  if (typeof value !== "bigint" && !Number.isInteger(value)) {
    throw layoutError(`${what} is a whole number, not ${shownValue(value)}`);
  }
  if (value < least) throw layoutError(`${what} is at least ${least}, not ${shownValue(value)}`);
  if (most !== undefined && value > most) throw layoutError(`${what} is at most ${most}, not ${shownValue(value)}`);
  return value;
};

/** A layout with its fields; `text` is what Python's str shows. */
class TileLayout {
  constructor(kind, fields) {
    this.kind = kind;
    this.fields = fields;
  }

  get text() {
    const fields = this.fields.map((name) => `${name}=${valueText(this[name])}`);
    return `${this.kind}(${fields.join(", ")})`;
  }

  /** The word of every element of an array of a shape, in row-major order. */
  words(shape) {
    return upTo(sizeOfShape(shape), (at) => at);
  }
}

/** Rows of `width` words, row i rotated by the shift r_i: word j of row i lies at i*w + (j + r_i) mod w. */
class Rotating extends TileLayout {
  constructor({ kind, width }, fields = ["width"]) {
    super(kind, fields);
    this.width = wholeNumber(width, `the width of a ${kind} layout`, 1, WIDEST_ROW);
  }

  words(shape) {
    const { width } = this, size = sizeOfShape(shape);
    if (shape.length === 1 ? size % width !== 0 : shape.at(-1) !== width) {
      throw layoutError(
        `${this.text} rotates rows of ${width} words, so it can't hold an array of shape ${valueText(shape)}; ` +
        `give it an array whose last extent is ${width}, or another width`
      );
    }
    const shifts = this.shiftsOf(size / width), found = [];
    for (let row = 0; row < shifts.length; row += 1) {
      for (let word = 0; word < width; word += 1) found.push(row * width + ((word + shifts[row]) % width));
    }
    return found;
  }

  /** The shifts of rows: row i is rotated by i. */
  shiftsOf(rows) {
    return upTo(rows, (row) => row);
  }
}

/** Rows whose shifts are drawn from a seed. */
class Seeded extends Rotating {
  constructor({ kind, width, seed = 0 }, fields = ["width", "seed"]) {
    super({ kind, width }, fields);
    this.seed = wholeNumber(seed, "a layout's seed", 0, 2 ** 32 - 1);
  }
}

/** A separate shift for every row, drawn or given: RAS. */
class RandomShifts extends Seeded {
  constructor(data) {
    super(data, ["width", "seed", "shifts"]);
    const shifts = data.shifts ?? null, least = -(2n ** 63n), most = 2n ** 63n - 1n;
    if (shifts !== null && !Array.isArray(shifts)) {
      throw layoutError(`the shifts of a layout are numbers, not ${shownValue(shifts)}`);
    }
    this.shifts = shifts && shifts.map((shift) => wholeNumber(shift, "a shift of a layout", least, most));
  }

  shiftsOf(rows) {
    const { shifts, width } = this;
    if (shifts === null) return this.draw(rows);
    if (shifts.length !== rows) {
      throw layoutError(`${this.text} has ${shifts.length} shifts for ${rows} rows; give one for each row`);
    }
    return shifts.map((shift) => (Number(BigInt(shift) % BigInt(width)) + width) % width);
  }

  draw(rows) {
    return new FrozenRandom(this.seed).integers(this.width, rows);
  }
}

/** The shifts are a permutation of 0..w-1: RAP. */
class PermutedShifts extends RandomShifts {
  constructor(data) {
    super(data);
    const { shifts, width } = this, sorted = shifts && [...shifts].sort((one, other) => (one < other ? -1 : 1));
    if (shifts !== null && (shifts.length !== width || sorted.some((shift, at) => shift !== at))) {
      throw layoutError(
        `the shifts of a RAP layout of width ${width} are a permutation of 0..${width - 1}, not ${valueText(shifts)}`
      );
    }
  }

  get extents() {
    return [this.width, this.width];
  }

  shiftsOf(rows) {
    const { text, width } = this;
    if (rows !== width) {
      throw layoutError(
        `${text} is a matrix of ${width} rows of ${width} words, so it can't hold ${rows} rows; ` +
        "use RAS for other numbers of rows"
      );
    }
    return super.shiftsOf(rows);
  }

  draw(rows) {
    return new FrozenRandom(this.seed).permutation(rows);
  }
}

/** RAP for w x w x w x w arrays: the paper's names, the permutations, and the shift of row (i, j, k) (RAP VII). */
const HIGHER_LAYOUTS = {
  OneP: { named: "1P", permutations: () => 1, shift: (r, w, i, j, k) => r[k] },
  R1P: { named: "R1P", permutations: () => 1, shift: (r, w, i, j, k) => r[i] + r[j] + r[k] },
  ThreeP: { named: "3P", permutations: () => 3, shift: (r, w, i, j, k) => r[i] + r[w + j] + r[2 * w + k] },
  W2P: { named: "w²P", permutations: (w) => w * w, shift: (r, w, i, j, k) => r[(i * w + j) * w + k] },
  OnePW2R: { named: "1Pw²R", permutations: () => 1, shift: (r, w, i, j, k) => r[k] + r[w + i * w + j] },
};

/** A w x w x w x w array whose row (i, j, k) is rotated by a shift of its own (RAP section VII). */
class HigherShifts extends Seeded {
  get text() {
    return `${HIGHER_LAYOUTS[this.kind].named}(width=${this.width}, seed=${this.seed})`;
  }

  get extents() {
    return Array(4).fill(this.width);
  }

  shiftsOf(rows) {
    const { kind, text, width: w } = this, { permutations, shift } = HIGHER_LAYOUTS[kind];
    if (rows !== w ** 3) {
      throw layoutError(
        `${text} is an array of ${w}*${w}*${w} rows of ${w} words, so it can't hold ${rows} rows; ` +
        "use RAS for other numbers of rows"
      );
    }
    const random = new FrozenRandom(this.seed);
    const numbers = upTo(permutations(w), () => random.permutation(w)).flat();
    if (kind === "OnePW2R") numbers.push(...random.integers(w, w * w));
    return upTo(rows, (row) => shift(numbers, w, Math.floor(row / (w * w)), Math.floor(row / w) % w, row % w));
  }
}

/** Rows that are longer than their data: each ends with `by` unused words. */
class PaddedRows extends TileLayout {
  constructor({ by = 1 }) {
    super("Padded", ["by"]);
    this.by = wholeNumber(by, "the padding of a row", 0, FARTHEST_WORD);
  }

  words(shape) {
    if (shape.length === 0) {
      throw layoutError(`${this.text} pads rows, so it can't hold a number; give an array`);
    }
    const columns = shape.at(-1);
    return upTo(sizeOfShape(shape), (at) => at + Math.floor(at / columns) * this.by);
  }
}

/** Extents or strides as CuTe prints them. */
const nestedText = (nested) => (Array.isArray(nested) ? `(${nested.map(nestedText).join(",")})` : valueText(nested));

/** The elements along an axis. */
const nestedSize = (extent) => (Array.isArray(extent) ? sizeOfShape(extent.map(nestedSize)) : extent);

/** The offset that each index along an axis adds; the first part moves fastest. */
const axisOffsets = (extent, stride) => {
  if (!Array.isArray(extent)) return upTo(extent, (at) => at * stride);
  let found = [0];
  extent.forEach((part, number) => {
    const before = found;
    found = axisOffsets(part, stride[number]).flatMap((own) => before.map((offset) => own + offset));
  });
  return found;
};

/** A stride for each axis, as a layout of CuTe. A tuple as an extent divides its axis into parts. */
class StridedTile extends TileLayout {
  constructor({ shape, stride }) {
    super("Strided", ["shape", "stride"]);
    this.shape = [shape].flat();
    this.stride = [stride].flat();
    this.checkNesting(this.shape, this.stride);
  }

  get text() {
    return `${nestedText(this.shape)}:${nestedText(this.stride)}`;
  }

  get extents() {
    return this.shape.map(nestedSize);
  }

  /** Refuse extents and strides that aren't nested in the same way, or are not numbers. */
  checkNesting(shape, stride) {
    const several = [shape, stride].filter(Array.isArray).length;
    if (several === 2 && shape.length === stride.length) {
      shape.forEach((one, at) => this.checkNesting(one, stride[at]));
    } else if (several > 0) {
      throw layoutError(`the extents and the strides of ${this.text} aren't nested in the same way`);
    } else {
      wholeNumber(shape, "an extent of a layout", 1, FARTHEST_WORD);
      wholeNumber(stride, "a stride of a layout", 0, FARTHEST_WORD);
    }
  }

  words(shape = this.extents) {
    const { extents, text } = this, [own, given] = [extents, shape].map(valueText);
    if (own !== given) {
      throw layoutError(
        `${text} is a layout of shape ${own}, so it can't hold an array of shape ${given}; ` +
        "give it an array of its own shape"
      );
    }
    const axes = this.shape.map((one, axis) => axisOffsets(one, this.stride[axis]));
    return axes.reduce((before, axis) => before.flatMap((offset) => axis.map((more) => offset + more)), [0]);
  }
}

/** The swizzle of CuTe, of an element's offset: `bits` bits, from `base` on, moved by `shift`. */
class SwizzledTile extends TileLayout {
  constructor({ bits, base, shift, layout = null }) {
    super("Swizzle", ["bits", "base", "shift", "layout"]);
    this.layout = layout && layoutOf(layout);
    this.bits = wholeNumber(bits, "the number of bits of a swizzle", 0, 31);
    this.base = wholeNumber(base, "the first bit of a swizzle", 0, 31);
    this.shift = wholeNumber(shift, "the shift of a swizzle", -31, 31);
    if (Math.abs(shift) < bits) {
      throw layoutError(
        `Swizzle<${bits},${base},${shift}> would mix bits with themselves; its shift has to be at least ${bits}, ` +
        `or at most ${-bits}`
      );
    }
  }

  get text() {
    const own = `Swizzle<${this.bits},${this.base},${this.shift}>`;
    return this.layout === null ? own : `${own} o ${this.layout.text}`;
  }

  words(shape) {
    return (this.layout ?? new TileLayout()).words(shape).map(this.swizzle());
  }

  /** The function from offsets to swizzled offsets: offset xor ((offset >> shift) & mask). */
  swizzle() {
    const up = Math.max(-this.shift, 0), down = Math.max(this.shift, 0), first = this.base + down;
    const mask = ((1n << BigInt(this.bits)) - 1n) << BigInt(first);
    const long = (offset) => {
      const whole = BigInt(offset), swizzled = whole ^ (((whole & mask) >> BigInt(down)) << BigInt(up));
      return Number(swizzled) <= Number.MAX_SAFE_INTEGER ? Number(swizzled) : swizzled;
    };
    if (up > 0 || first + this.bits > 31) return long;
    const short = Number(mask);
    return (offset) => (offset < 2 ** 31 ? offset ^ ((offset & short) >> down) : long(offset));
  }
}

/** Whether a whole number is a power of two. */
const isPowerOfTwo = (number) => number > 0 && 2 ** Math.round(Math.log2(number)) === number;

/** Word j of row i lies where word j xor (i mod `width`) lies in a plain row; `vector` adjacent words stay together. */
class XorTile extends TileLayout {
  constructor({ width = 32, vector = 1 }) {
    super("XorRows", ["width", "vector"]);
    const power = (name, value) => {
      const whole = wholeNumber(value, `the ${name} of XorRows`, 1, 2 ** 31);
      if (!isPowerOfTwo(value)) throw layoutError(`the ${name} of XorRows is a power of two`);
      return whole;
    };
    this.width = power("width", width);
    this.vector = power("vector", vector);
  }

  words(shape) {
    const columns = shape.length ? shape.at(-1) : 0, { width, vector } = this, least = width * vector;
    if (!isPowerOfTwo(columns) || columns < least) {
      throw layoutError(
        `${this.text} needs rows of a power of two of words, at least ${least}, so it can't hold an array of shape ` +
        valueText(shape)
      );
    }
    return upTo(sizeOfShape(shape), (at) => {
      const row = Math.floor(at / columns);
      return row * columns + ((at % columns) ^ ((row % width) * vector));
    });
  }
}

// ------------------------------------------------------------ CuTe's notation

const CUTE_SWIZZLE = /^S(?:wizzle|w)<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>$/;
const CUTE_POINTER = /^smem_ptr\[(8|16|32|64|128)b\]\(.*\)$/;

/** A whole number of a text or a BigInt, as a BigInt if a double can't hold it. */
export const integerOf = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));

/** Read extents or strides: JSON with round brackets and underscores. Gives null for any other text. */
const nestedOf = (text) => {
  if (!/^[\d(),_\s]+$/.test(text)) return null;
  const plain = text.replace(/\b_+(?=\d)/g, "").replaceAll("(", "[").replaceAll(")", "]");
  const exact = (digits) => (/^0./.test(digits) ? digits : `"${digits}"`); // JSON refuses a leading zero
  const read = (part) => {
    if (!Array.isArray(part)) return integerOf(part);
    if (part.length === 0) throw new SyntaxError("empty");
    return part.map(read);
  };
  try {
    const found = read(JSON.parse(plain.replace(/\d+/g, exact)));
    return Array.isArray(found) ? found : [found];
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

/** Read a layout that CuTe prints as `text`: strides, with an optional swizzle in front; as `cute` in tiles.py. */
export const cuteLayout = (text) => {
  const parts = text.trim().split(/\s+o\s+/), swizzle = CUTE_SWIZZLE.exec(parts[0]);
  /** @type {any} */
  const numbers = { kind: "Swizzle" };
  if (swizzle !== null) {
    [numbers.bits, numbers.base, numbers.shift] = swizzle.slice(1).map(integerOf);
    parts.shift();
    const pointer = parts.length === 2 ? CUTE_POINTER.exec(parts[0]) : null;
    if (pointer !== null) {
      numbers.base = integerOf(BigInt(numbers.base) - BigInt(Math.log2(Number(pointer[1])) - 3));
      parts.shift();
    } else if (parts.length === 2 && /^_?0$/.test(parts[0])) {
      parts.shift();
    }
    if (parts.length === 0) return new SwizzledTile(numbers);
  }
  const read = parts.join(" o ").split(":").map(nestedOf);
  if (read.length !== 2 || read.includes(null)) {
    throw layoutError(
      `${shownValue(text)} is not a layout of CuTe; write it as CuTe prints it, such as '(8,8):(8,1)' or ` +
      "'Swizzle<3,4,3> o (8,64):(64,1)', or give one of mmsim.layout's, as mm.layout.Padded(1)"
    );
  }
  const strided = new StridedTile({ shape: read[0], stride: read[1] });
  return swizzle === null ? strided : new SwizzledTile({ ...numbers, layout: strided });
};

/** The hardware's swizzle of 32, 64 or 128 bytes, for elements of `size` bytes. */
export const swizzleOfBytes = (row, size) => {
  if (![32, 64, 128].includes(row)) {
    throw layoutError(`swizzles have modes of 32, 64 and 128 bytes, not of ${shownValue(row)}`);
  }
  if (![1, 2, 4, 8, 16].includes(size)) {
    throw layoutError(`an element has 1, 2, 4, 8 or 16 bytes, not ${shownValue(size)}`);
  }
  return new SwizzledTile({ bits: Math.log2(row) - 4, base: 4 - Math.log2(size), shift: 3 });
};

const LAYOUT_KINDS = {
  RAW: () => new TileLayout("RAW", []),
  Diagonal: (data) => new Rotating(data),
  RAS: (data) => new RandomShifts(data),
  RAP: (data) => new PermutedShifts(data),
  Padded: (data) => new PaddedRows(data),
  Strided: (data) => new StridedTile(data),
  Swizzle: (data) => new SwizzledTile(data),
  XorRows: (data) => new XorTile(data),
  cute: ({ text }) => cuteLayout(text),
  ...Object.fromEntries(Object.keys(HIGHER_LAYOUTS).map((kind) => [kind, (data) => new HigherShifts(data)])),
};

/** The layout of data: {kind, text, words(shape), extents if it has them}. Throws a LayoutError for wrong fields. */
export const layoutOf = (data) => {
  if (data instanceof TileLayout) return data;
  if (!Object.hasOwn(LAYOUT_KINDS, data.kind)) throw layoutError(`${quotedText(String(data.kind))} is not a layout`);
  return LAYOUT_KINDS[data.kind](data);
};

/** Whether words up to `most` are distinct. */
const areDistinct = (offsets, most) => {
  if (!offsets.length || most > MARKED_WORDS) return new Set(offsets).size === offsets.length;
  const seen = new Uint8Array(most + 1);
  return offsets.every((word) => !seen[word]++);
};

/**
 * The words of the elements of an array of a shape: {offsets, words}, in row-major order, and the number of words from
 * the first to the last used one. `layout` is data, or a layout. Throws a LayoutError if it can't hold the array.
 */
export const offsetsOf = (layout, shape) => {
  const own = layoutOf(layout), offsets = own.words(shape);
  let least = Infinity, most = -Infinity;
  for (const word of offsets) {
    if (word < least) least = word;
    if (word > most) most = word;
  }
  if (offsets.length && (least !== 0 || most > FARTHEST_WORD)) {
    throw layoutError(
      `${own.text} gives the elements of shape ${valueText(shape)} the words ${least} to ${most}; the first is 0, ` +
      `the last at most ${FARTHEST_WORD}`
    );
  }
  if (!areDistinct(offsets, most)) {
    throw layoutError(`${own.text} doesn't give each element of shape ${valueText(shape)} a word of its own`);
  }
  return { offsets, words: offsets.length ? most + 1 : 0 };
};
