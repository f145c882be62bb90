/* Numbers as programs have them: bools; integers as a Number if it is safe, else as a BigInt; floats, rounded to their
   type; complex numbers as frozen {re, im}. Results are never the integer -0. */

const MOST_SAFE = Number.MAX_SAFE_INTEGER;
const BIG_SAFE = BigInt(MOST_SAFE);
const TWO_32 = 2 ** 32;

/** Thrown where an operation has no value; evaluation finds the message, the place and the thread. */
export const REFUSED = Object.freeze({ refused: true });

/** Say that there is no value. */
export const refuseValue = () => { throw REFUSED; };

/** A complex number. */
export const complexOf = (re, im) => Object.freeze({ re, im });

/** A BigInt as an integer of a program. */
const canonical = (n) => (n <= BIG_SAFE && n >= -BIG_SAFE ? Number(n) : n);

/** Any BigInt, wrapped around to 64 bits with a sign. */
export const wrapInt64 = (n) => canonical(BigInt.asIntN(64, n));

/** Any BigInt, wrapped around to 64 bits without a sign. */
export const wrapUint64 = (n) => canonical(BigInt.asUintN(64, n));

/** The number that a JSON value stands for: see `mmsim.javascript.representation`. */
export const decodedNumber = (number) => {
  if (typeof number !== "object" || number === null) return number;
  if (number.int !== undefined) return canonical(BigInt(number.int));
  if (number.float !== undefined) return floatOf(number.float);
  return complexOf(...number.complex.map(floatOf));
};

const floatOf = (part) => (typeof part === "number" ? part : { nan: NaN, inf: Infinity, "-inf": -Infinity }[part]);

/** The zero of a type. */
export const zeroOf = (type) => {
  if (type.startsWith("complex")) return complexOf(0, 0);
  return type === "bool" ? false : 0;
};

// ---------------------------------------------------------------- 64-bit integers

export const addInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    const sum = x + y;
    if (sum <= MOST_SAFE && sum >= -MOST_SAFE) return sum;
  }
  return wrapInt64(BigInt(x) + BigInt(y));
};

export const subtractInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    const difference = x - y;
    if (difference <= MOST_SAFE && difference >= -MOST_SAFE) return difference;
  }
  return wrapInt64(BigInt(x) - BigInt(y));
};

export const multiplyInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    const product = x * y;
    if (product <= MOST_SAFE && product >= -MOST_SAFE) return product + 0;
  }
  return wrapInt64(BigInt(x) * BigInt(y));
};

export const addUint64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number" && x + y <= MOST_SAFE) return x + y;
  return wrapUint64(BigInt(x) + BigInt(y));
};

export const subtractUint64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number" && x >= y) return x - y;
  return wrapUint64(BigInt(x) - BigInt(y));
};

export const multiplyUint64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number" && x * y <= MOST_SAFE) return x * y;
  return wrapUint64(BigInt(x) * BigInt(y));
};

/** x // y of BigInts. @type {(x: bigint, y: bigint) => bigint} */
const floorOfBig = (x, y) => {
  const quotient = x / y;
  return x % y !== 0n && x < 0n !== y < 0n ? quotient - 1n : quotient;
};

/** x // y of Numbers: the rounded quotient of two safe integers has the same floor as the exact one. */
export const floorDivideInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") return Math.floor(x / y) + 0;
  return wrapInt64(floorOfBig(BigInt(x), BigInt(y)));
};

export const floorDivideUint64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") return Math.floor(x / y);
  return wrapUint64(BigInt(x) / BigInt(y));
};

/** x % y with the sign of y, of safe integers. */
export const moduloNarrow = (x, y) => {
  const rest = x % y;
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest + 0;
};

export const moduloInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    const rest = x % y;
    return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest + 0;
  }
  const [long, by] = [BigInt(x), BigInt(y)];
  return wrapInt64(long - floorOfBig(long, by) * by);
};

export const moduloUint64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") return x % y;
  return wrapUint64(BigInt(x) % BigInt(y));
};

export const negateInt64 = (x) => (typeof x === "number" ? 0 - x : wrapInt64(-x));
export const negateUint64 = (x) => (x === 0 ? 0 : wrapUint64(-BigInt(x)));
export const absoluteInt64 = (x) => (typeof x === "number" ? Math.abs(x) : wrapInt64(x < 0n ? -x : x));
export const invertInt64 = (x) => subtractInt64(-1, x);
export const invertUint64 = (x) => wrapUint64(~BigInt(x));

/** x ** y by squaring; y isn't negative. */
const powerOf = (multiply) => (x, y) => {
  let result = 1, base = x, rest = BigInt(y);
  while (rest > 0n) {
    if (rest & 1n) result = multiply(result, base);
    base = multiply(base, base);
    rest >>= 1n;
  }
  return result;
};

export const powerInt64 = powerOf(multiplyInt64);
export const powerUint64 = powerOf(multiplyUint64);

/** x ** y modulo 2 ** 32; y isn't negative. */
export const powerNarrow = powerOf(Math.imul);

/* Bits of integers: of safe ones the lower 32 and the others apart. */
const joinedBits = (high, low) => {
  const whole = high * TWO_32 + (low >>> 0);
  return whole >= -MOST_SAFE ? whole : BigInt(whole);
};

export const bitAndInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    if ((x | 0) === x && (y | 0) === y) return x & y;
    return joinedBits(Math.floor(x / TWO_32) & Math.floor(y / TWO_32), x & y);
  }
  return wrapInt64(BigInt(x) & BigInt(y));
};

export const bitOrInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    if ((x | 0) === x && (y | 0) === y) return x | y;
    return joinedBits(Math.floor(x / TWO_32) | Math.floor(y / TWO_32), x | y);
  }
  return wrapInt64(BigInt(x) | BigInt(y));
};

export const bitXorInt64 = (x, y) => {
  if (typeof x === "number" && typeof y === "number") {
    if ((x | 0) === x && (y | 0) === y) return x ^ y;
    return joinedBits(Math.floor(x / TWO_32) ^ Math.floor(y / TWO_32), x ^ y);
  }
  return wrapInt64(BigInt(x) ^ BigInt(y));
};

export const bitAndUint64 = (x, y) => asUint64(bitAndInt64(x, y));
export const bitOrUint64 = (x, y) => asUint64(bitOrInt64(x, y));
export const bitXorUint64 = (x, y) => asUint64(bitXorInt64(x, y));

export const shiftLeftInt64 = (x, y) => {
  if (y >= 64) return 0;
  if (typeof x === "number") {
    const shifted = x * 2 ** y;
    if (shifted <= MOST_SAFE && shifted >= -MOST_SAFE) return shifted;
  }
  return wrapInt64(BigInt(x) << BigInt(y));
};

export const shiftLeftUint64 = (x, y) => {
  if (y >= 64) return 0;
  return typeof x === "number" && x * 2 ** y <= MOST_SAFE ? x * 2 ** y : wrapUint64(BigInt(x) << BigInt(y));
};

export const shiftRightInt64 = (x, y) => {
  const distance = y < 64 ? y : 63;
  return typeof x === "number" ? Math.floor(x / 2 ** distance) : wrapInt64(x >> BigInt(distance));
};

export const shiftRightUint64 = (x, y) => {
  if (y >= 64) return 0;
  return typeof x === "number" ? Math.floor(x / 2 ** y) : wrapUint64(x >> BigInt(y));
};

/* The same for 8 to 32 bits; the result is still to be wrapped around. */
export const shiftLeftNarrow = (x, y, bits) => (y < bits ? x << y : 0);
export const shiftRightNarrow = (x, y, bits) => x >> (y < bits ? y : bits - 1);
export const shiftRightUnsigned = (x, y, bits) => (y < bits ? x >>> y : 0);

// ---------------------------------------------------------------- operations of any type

export const minimum = (x, y) => (y < x ? y : x);
export const maximum = (x, y) => (y > x ? y : x);
export const fromEnd = (index, extent) => (index < 0 ? addInt64(index, extent) : index);

/** x / y of integers as NumPy has it for arrays: the quotient of two doubles. */
export const quotientWide = (x, y) => Number(x) / Number(y);

/** x / y of integers as Python has it: the exact quotient, rounded. */
export const quotientExact = (x, y) => {
  if (typeof x === "number" && typeof y === "number") return x / y;
  return ratioOf(BigInt(x), BigInt(y));
};

/** The double nearest to a quotient of BigInts, the even one of two. @type {(top: bigint, bottom: bigint) => number} */
export const ratioOf = (top, bottom) => {
  if (top === 0n) return bottom < 0n ? -0 : 0;
  const isNegative = top < 0n !== bottom < 0n;
  const [x, y] = [top < 0n ? -top : top, bottom < 0n ? -bottom : bottom];
  const bits = (n) => n.toString(2).length;
  // 55 bits of the quotient or one more, but none below the least double; the last one says whether there are others
  const shift = Math.min(55 - (bits(x) - bits(y)), 1076);
  const [over, under] = shift >= 0 ? [x << BigInt(shift), y] : [x, y << BigInt(-shift)];
  const whole = over / under;
  const sticky = over % under === 0n ? whole : whole | 1n;
  const size = scaledBy(Number(roundedBig(sticky, shift)), -shift);
  return isNegative ? -size : size;
};

/** An integer of at most 57 bits with a last bit that stands for all others, rounded to those of a double. */
const roundedBig = (n, shift) => {
  const length = n.toString(2).length;
  const drop = BigInt(Math.max(length - 53, shift - 1074, 0)); // a double has no bit below 2 ** -1074
  if (drop === 0n) return n;
  const rest = n & ((1n << drop) - 1n), half = 1n << (drop - 1n), kept = n >> drop;
  return (rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept) << drop;
};

/** x * 2 ** power without rounding in between. */
export const scaledBy = (x, power) => {
  let [result, rest] = [x, power];
  for (; rest > 1000; rest -= 1000) result *= 2 ** 1000;
  for (; rest < -1000; rest += 1000) result *= 2 ** -1000;
  return result * 2 ** rest;
};

// ---------------------------------------------------------------- floats

const BITS_BUFFER = new DataView(new ArrayBuffer(8));

/** The bits of a double as a BigInt with a sign. */
export const bitsOfDouble = (x) => {
  BITS_BUFFER.setFloat64(0, x);
  return BITS_BUFFER.getBigInt64(0);
};

/** The double with these bits. */
export const doubleOfBits = (bits) => {
  BITS_BUFFER.setBigInt64(0, bits);
  return BITS_BUFFER.getFloat64(0);
};

/** The power of two of a finite double's first bit; below the normal ones -1023. */
export const exponentOf = (x) => {
  BITS_BUFFER.setFloat64(0, x);
  return ((BITS_BUFFER.getUint16(0) >> 4) & 0x7ff) - 1023;
};

/** A double rounded to float16. */
export const toHalf = (x) => {
  const size = Math.abs(x);
  if (!(size > 0 && size < Infinity)) return x;
  const unit = 2 ** (Math.max(exponentOf(x), -14) - 10);
  const nearest = (x / unit + 6755399441055744 - 6755399441055744) * unit; // to even: the sum has no room for more bits
  if (nearest === 0) return x < 0 ? -0 : 0;
  return Math.abs(nearest) < 65520 ? nearest : Math.sign(x) * Infinity;
};

/** The bits of a float16 as an integer with a sign. */
export const bitsOfHalf = (x) => {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0, size = Math.abs(x);
  let bits = 0x7e00;
  if (size === Infinity) bits = 0x7c00;
  else if (size < 2 ** -14) bits = size / 2 ** -24;
  else if (size === size) bits = ((exponentOf(size) + 15) << 10) + (size / 2 ** (exponentOf(size) - 10) - 1024);
  return ((sign | bits) << 16) >> 16;
};

/** The float16 with these bits. */
export const halfOfBits = (bits) => {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, rest = bits & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + rest) * 2 ** (exponent - 25) : rest * 2 ** -24);
};

/** A 64-bit integer as float32, rounded once. */
export const singleOfInteger = (x) => {
  if (typeof x === "number") return Math.fround(x);
  const size = x < 0n ? -x : x, last = size & 0xffffn; // far below the last bit of a float32
  const sticky = last === 0n ? size : size - last + 1n * 0x8000n;
  return Math.fround((x < 0n ? -1 : 1) * Number(sticky));
};

/** A float as an integer from `low` to before `beyond`, towards zero. */
export const integerOfFloat = (x, low, beyond) => {
  const whole = Math.trunc(x);
  if (!(whole >= low && whole < beyond)) throw REFUSED;
  return Math.abs(whole) <= MOST_SAFE ? whole + 0 : BigInt(whole);
};

/** The lowest 32 bits of an integer. */
export const lowBits = (x) => (typeof x === "number" ? x | 0 : Number(BigInt.asIntN(32, x)));

/** An integer with a sign as 64 bits without one, and back. */
export const asUint64 = (x) => (x >= 0 ? x : wrapUint64(BigInt(x)));
export const asInt64 = (x) => (typeof x === "number" ? x : wrapInt64(x));

/** x // y and x % y of floats as Python and NumPy have them; `round` is that of their type. */
export const floorDivideFloat = (x, y, round) => {
  if (y === 0) return round(x / y);
  let rest = x % y;
  let quotient = round(round(x - rest) / y);
  if (rest !== 0 && y < 0 !== rest < 0) {
    rest = round(rest + y);
    quotient = round(quotient - 1);
  }
  if (quotient === 0) return signedZero(x / y);
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? round(floor + 1) : floor;
};

export const moduloFloat = (x, y, round) => {
  const rest = x % y;
  if (y === 0) return rest;
  if (rest === 0) return signedZero(y);
  return y < 0 !== rest < 0 ? round(rest + y) : rest;
};

const signedZero = (x) => (x < 0 || Object.is(x, -0) ? -0 : 0);

/** A number as it is: the rounding of doubles. */
export const sameNumber = (x) => x;

// ---------------------------------------------------------------- complex numbers; `round` is that of their parts

export const addComplex = (x, y, round) => complexOf(round(x.re + y.re), round(x.im + y.im));
export const subtractComplex = (x, y, round) => complexOf(round(x.re - y.re), round(x.im - y.im));
export const negateComplex = (x) => complexOf(-x.re, -x.im);
export const isEqualComplex = (x, y) => x.re === y.re && x.im === y.im;
export const isTrueComplex = (x) => x.re !== 0 || x.im !== 0;
export const roundedComplex = (x, round) => complexOf(round(x.re), round(x.im));
export const conjugateOf = (x) => complexOf(x.re, -x.im);

/** (a + bi)(c + di) = (ac - bd) + (ad + bc)i. */
export const multiplyComplex = (x, y, round) => complexOf(
  round(round(x.re * y.re) - round(x.im * y.im)), round(round(x.re * y.im) + round(x.im * y.re)),
);

/** x / y by Smith's method (Comm. ACM 5, 1962, p. 435), rounded as NumPy rounds it. */
export const divideComplex = ({ re: a, im: b }, { re: c, im: d }, round) => {
  const size = Math.abs(c);
  if (c === 0 && d === 0) return complexOf(round(a / size), round(b / size));
  const isFirst = size >= Math.abs(d);
  const [large, small] = isFirst ? [c, d] : [d, c];
  const ratio = round(small / large), scale = round(1 / round(large + round(small * ratio)));
  const [first, second] = isFirst
    ? [a + round(b * ratio), b - round(a * ratio)]
    : [round(a * ratio) + b, round(b * ratio) - a];
  return complexOf(round(round(first) * scale), round(round(second) * scale));
};

/** Numbers that pass a check: a divisor isn't 0, a distance or an exponent isn't negative. */
export const nonZero = (x) => (x === 0 ? refuseValue() : x);
export const nonZeroComplex = (x) => (isTrueComplex(x) ? x : refuseValue());
export const nonNegative = (x) => (x < 0 ? refuseValue() : x);

/** A number of an index in its range. */
export const inRange = (x, extent) => (x >= 0 && x < extent ? x : refuseValue());

/** An integer that a type with these limits holds. */
export const within = (x, low, high) => (x >= low && x <= high ? x : refuseValue());

/** The functions of this file that the text of an expression may call. */
export const OF_NUMBERS = {
  addInt64, subtractInt64, multiplyInt64, addUint64, subtractUint64, multiplyUint64, floorDivideInt64,
  floorDivideUint64, moduloInt64, moduloUint64, moduloNarrow, negateInt64, negateUint64, absoluteInt64, invertInt64,
  invertUint64, powerInt64, powerUint64, powerNarrow, bitAndInt64, bitOrInt64, bitXorInt64, bitAndUint64, bitOrUint64,
  bitXorUint64, shiftLeftInt64, shiftLeftUint64, shiftRightInt64, shiftRightUint64, shiftLeftNarrow, shiftRightNarrow,
  shiftRightUnsigned, minimum, maximum, fromEnd, quotientWide, quotientExact, toHalf, singleOfInteger, integerOfFloat,
  lowBits, asInt64, asUint64, floorDivideFloat, moduloFloat, sameNumber, complexOf, addComplex, subtractComplex,
  negateComplex, isEqualComplex, isTrueComplex, roundedComplex, conjugateOf, multiplyComplex, divideComplex, nonZero,
  nonZeroComplex, nonNegative, inRange, within,
};

// ---------------------------------------------------------------- texts

/** A float as Python's repr shows it; without a point if `isPart` of a complex number. */
const textOfFloat = (x, isPart = false) => {
  if (x !== x) return "nan";
  if (Math.abs(x) === Infinity) return x > 0 ? "inf" : "-inf";
  const size = Math.abs(x), sign = x < 0 || Object.is(x, -0) ? "-" : "";
  if (size !== 0 && !(size >= 1e-4 && size < 1e16)) {
    const [digits, power] = size.toExponential().split("e");
    return `${sign}${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return `${sign}${size}${Number.isInteger(size) && !isPart ? ".0" : ""}`;
};

/** A value of a type as a message shows it: as Python's `str`, floats of all types as doubles. */
export const textOf = (value, type) => {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (type.startsWith("complex")) {
    const [re, im] = [textOfFloat(value.re, true), textOfFloat(value.im, true)];
    return Object.is(value.re, 0) ? `${im}j` : `(${re}${im[0] === "-" ? "" : "+"}${im}j)`;
  }
  return type.startsWith("float") ? textOfFloat(value) : String(value);
};
