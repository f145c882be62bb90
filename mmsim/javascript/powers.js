import { bitsOfDouble, exponentOf, ratioOf, refuseValue, scaledBy } from "./numbers.js";

/* x ** y of floats, the same on every platform if y is small and whole, or half of one: for -4 ... 8, 0.5 and -0.5 the
   result is the exact one, rounded to the nearest float. Others are the mathematical library's.

   The exact result is first computed as a sum of two floats, whose error is far below the last bit. In the rare case
   that this error could matter, or that the result is not a normal float, integers of any length decide. */

const POWER_ERROR = 2 ** -92; // more than the relative error of a sum of two floats, after all operations here

const MOST_EXACT = 64; // the largest whole exponent for which integers take little time

/** x ** y as C has it. */
export const powerC = (x, y) => {
  if (x === 1 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  const isExact = Number.isInteger(y) && Math.abs(y) <= MOST_EXACT && Number.isFinite(x) && x !== 0;
  return isExact ? exactPower(x, y) : x ** y;
};

/** x ** y of floats, rounded to their type; without a value it is a NaN or infinite. */
export const powerFloat = (x, y, round) => round(powerOfDoubles(x, y));

/** The same; Python refuses it if only the result is not a finite real number. */
export const finitePowerFloat = (x, y, round) => {
  const result = round(powerOfDoubles(x, y));
  return Number.isFinite(result) || !Number.isFinite(x) || !Number.isFinite(y) ? result : refuseValue();
};

const powerOfDoubles = (x, y) => {
  const isWhole = Number.isInteger(y) && y >= -4 && y <= 8;
  if (!isWhole && Math.abs(y) !== 0.5) return powerC(x, y);
  switch (y) {
    case 0: return 1;
    case 1: return x;
    case 2: return x * x;
    case -1: return 1 / x;
    case 0.5: return Math.abs(x) === Infinity ? Infinity : Math.sqrt(x + 0);
    default:
  }
  if (!Number.isFinite(x) || x === 0 || (y === -0.5 && x < 0)) return powerC(x, y);
  let [fraction, scale] = fractionOf(x), high, low;
  if (y === -0.5) {
    const odd = scale & 1; // x = fraction * 4 ** half
    [high, low] = rootBelowOne(odd ? fraction / 2 : fraction);
    scale = -((scale + odd) / 2);
  } else {
    [high, low] = [fraction, 0];
    for (let count = Math.abs(y); count > 1; count -= 1) {
      const [top, rest] = exactProduct(high, fraction);
      [high, low] = exactSum(top, rest + low * fraction);
    }
    if (y < 0) [high, low] = inverseOf(high, low);
    scale *= y;
  }
  const error = POWER_ERROR * high, rounded = scaledBy(high + low, scale);
  const isSettled = high + (low + error) === high + (low - error);
  const isNormal = Number.isFinite(rounded) && Math.abs(rounded) > 2 ** -1021;
  return isSettled && isNormal ? rounded : exactPower(x, y);
};

/** A float as m * 2 ** e with an integer m, a BigInt. @type {(x: number) => [bigint, number]} */
export const integerRatio = (x) => {
  const exponent = Math.max(exponentOf(x), -1022), bits = bitsOfDouble(x) & 0xfffffffffffffn;
  const size = exponentOf(x) === -1023 ? bits : bits | 0x10000000000000n;
  return [x < 0 ? -size : size, exponent - 52];
};

/** x ** y for finite x other than 0, by integers of any length. */
const exactPower = (x, y) => {
  const [whole, scale] = integerRatio(x);
  if (y === -0.5) { // 1 / sqrt(x) to 200 bits and more, and one bit that says whether there are others
    const [top, bottom] = scale < 0 ? [whole, 1n << BigInt(-scale)] : [whole << BigInt(scale), 1n];
    const extra = 2n * BigInt(200 + Math.max(top.toString(2).length - bottom.toString(2).length, 0));
    const square = (bottom << extra) / top, root = rootOfBig(square);
    const sticky = root * root !== square || (bottom << extra) % top !== 0n ? 1n : 0n;
    return ratioOf(2n * root + sticky, 1n << (extra / 2n + 1n));
  }
  const power = whole ** BigInt(Math.abs(y)), shift = BigInt(Math.abs(scale * y));
  const [over, under] = y > 0 ? [power, 1n] : [1n, power];
  return scale * y < 0 ? ratioOf(over, under << shift) : ratioOf(over << shift, under);
};

/** The root of a BigInt, rounded down. */
const rootOfBig = (n) => {
  let root = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
};

/** A finite float as a fraction from 0.5 to before 1, and a power of two. */
const fractionOf = (x) => {
  const [normal, more] = exponentOf(x) === -1023 ? [x * 2 ** 64, -64] : [x, 0];
  const scale = exponentOf(normal) + 1;
  return [scaledBy(normal, -scale), scale + more];
};

/** 1 / (high + low). */
const inverseOf = (high, low) => {
  const first = 1 / high;
  const [top, rest] = exactProduct(first, high);
  return exactSum(first, (((1 - top) - rest) - first * low) / high);
};

/** 1 / sqrt(x) for 0.25 <= x < 1. */
const rootBelowOne = (x) => {
  const first = 1 / Math.sqrt(x);
  const [square, squareRest] = exactProduct(first, first);
  const [top, rest] = exactProduct(square, x);
  const error = ((1 - top) - rest) - squareRest * x;
  return exactSum(first, first * error / 2);
};

/** x * y without an error (Dekker, A floating-point technique, 1971). */
export const exactProduct = (x, y) => {
  const product = x * y;
  const [xHigh, xLow] = halvesOf(x), [yHigh, yLow] = halvesOf(y);
  return [product, ((xHigh * yHigh - product) + xHigh * yLow + xLow * yHigh) + xLow * yLow];
};

/** x as a sum of two floats of half the bits. */
const halvesOf = (x) => {
  const large = (2 ** 27 + 1) * x, high = large - (large - x);
  return [high, x - high];
};

/** x + y without an error, where x is the larger one. */
export const exactSum = (x, y) => {
  const total = x + y;
  return [total, y - (total - x)];
};
