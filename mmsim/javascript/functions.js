import { asInt64, bitsOfDouble, bitsOfHalf, doubleOfBits, exponentOf, halfOfBits } from "./numbers.js";
import { ratioOf, scaledBy, wrapInt64 } from "./numbers.js";
import { exactProduct, exactSum, finitePowerFloat, integerRatio, powerC, powerFloat } from "./powers.js";

/* The functions that a program can call, as far as JavaScript has none. None of them fails: without a value the result
   is a NaN or an infinity. Sine and the like are JavaScript's: they differ from NumPy's in the last bits. */

const isNegative = (x) => x < 0 || Object.is(x, -0);

export const isInfinite = (x) => Math.abs(x) === Infinity;
export const copySign = (x, y) => (isNegative(x) === isNegative(y) ? x : -x);

/** The float next to x towards y, of 16, 32 or 64 bits. */
export const nextAfter = (x, y, bits) => {
  if (x !== x || y !== y) return NaN;
  if (x === y) return bits === 16 ? x : y; // as NumPy and as C
  if (x === 0) return (y > 0 ? 1 : -1) * floatOfBits(1, bits);
  const step = x < y === x > 0 ? 1n : -1n; // bits of negative floats grow away from zero, too
  return floatOfBits(asInt64(BigInt(integerOfBits(x, bits)) + step), bits);
};

const REREAD = new DataView(new ArrayBuffer(4));

/** The integer with the bits of a float of 16, 32 or 64 bits. */
export const integerOfBits = (x, bits) => {
  if (bits === 64) return wrapInt64(bitsOfDouble(x));
  if (bits === 16) return bitsOfHalf(x);
  REREAD.setFloat32(0, x);
  return REREAD.getInt32(0);
};

/** The float with the bits of an integer, with or without a sign. */
export const floatOfBits = (x, bits) => {
  if (bits === 64) return doubleOfBits(BigInt.asIntN(64, BigInt(x)));
  if (bits === 16) return halfOfBits(Number(x));
  REREAD.setInt32(0, Number(x));
  return REREAD.getFloat32(0);
};

/** The nearest whole number, the even one of two. */
export const nearestWhole = (x) => (Math.abs(x) < 2 ** 52 ? copySign(Math.abs(x) + 2 ** 52 - 2 ** 52, x) : x);

/** The remainder of IEEE 754, of the nearest quotient; as Python's `math.remainder`. */
export const remainderOf = (x, y) => {
  if (Number.isFinite(x) && Number.isFinite(y)) {
    if (y === 0) return NaN;
    const size = Math.abs(x), by = Math.abs(y), rest = size % by, other = by - rest;
    let result = rest - 2 * ((0.5 * (size - rest)) % by);
    if (rest !== other) result = rest < other ? rest : -other;
    return isNegative(x) ? -result : result;
  }
  return x !== x || y !== y || isInfinite(x) ? NaN : x;
};

/** x * y + z, rounded once to 32 or 64 bits. */
export const fusedOf = (x, y, z, bits) => {
  const product = x * y;
  if (!Number.isFinite(x) || !Number.isFinite(y)) return product + z;
  if (!Number.isFinite(z)) return z; // also if the product is too large
  if (bits === 32) return Math.fround(oddSum(product, z)); // the product of two float32 is exact
  const [a, b, c] = [x, y, z].map(integerRatio);
  const [top, scale] = [a[0] * b[0], a[1] + b[1]], least = Math.min(scale, c[1]);
  const exact = (top << BigInt(scale - least)) + (c[0] << BigInt(c[1] - least));
  if (exact === 0n) return product + z; // IEEE 754 gives its sign
  return least < 0 ? ratioOf(exact, 1n << BigInt(-least)) : ratioOf(exact << BigInt(least), 1n);
};

/** x + y, with a last bit that says whether anything was cut off. */
const oddSum = (x, y) => {
  const total = x + y, part = total - x, rest = (x - (total - part)) + (y - part);
  if (rest === 0 || !Number.isFinite(total)) return total;
  const bits = bitsOfDouble(total);
  if (bits & 1n) return total;
  return doubleOfBits(rest > 0 === total > 0 ? bits | 1n : bits - 1n);
};

/** The root of x * x + y * y (Borges, An improved algorithm for hypot(a, b), 2019). */
export const hypotOf = (x, y) => {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return isInfinite(x) || isInfinite(y) ? Infinity : NaN;
  const a = Math.max(Math.abs(x), Math.abs(y)), b = Math.min(Math.abs(x), Math.abs(y)), unit = 2 ** -600;
  if (b <= a * 2 ** -54) return a + b;
  if (a > 2 ** 511) return hypotNear(a * unit, b * unit) / unit;
  return b < 2 ** -459 ? hypotNear(a / unit, b / unit) * unit : hypotNear(a, b);
};

/** abs(x) of a complex number. */
export const absoluteComplex = ({ re, im }) => hypotOf(re, im);

const hypotNear = (a, b) => {
  const h = Math.sqrt(a * a + b * b);
  if (h <= 2 * b) {
    const delta = h - b;
    return h - (a * (2 * delta - a) + (delta - 2 * (a - b)) * delta) / (2 * h);
  }
  const delta = h - a;
  return h - (2 * delta * (a - 2 * b) + ((4 * delta - b) * b + delta * delta)) / (2 * h);
};

// ---------------------------------------------------------------- counts of bits

/** The upper and the lower 32 of an integer's 64 bits. */
const halvesOfBits = (x) => {
  if (typeof x === "number") return [Math.floor(x / 2 ** 32) >>> 0, x >>> 0];
  return [Number(BigInt.asUintN(32, x >> 32n)), Number(BigInt.asUintN(32, x))];
};

/** An integer of 8 to 32 bits without its sign. */
const unsignedNarrow = (x, bits) => (bits === 32 ? x >>> 0 : x & ((1 << bits) - 1));

const countOfOnes = (x) => {
  let rest = x - ((x >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};

/** The number of 1 bits. */
export const popc = (x, bits) => {
  if (bits < 64) return countOfOnes(unsignedNarrow(x, bits));
  const [high, low] = halvesOfBits(x);
  return countOfOnes(high) + countOfOnes(low);
};

/** The number of 0 bits above the highest 1 bit: all bits for 0. */
export const clz = (x, bits) => {
  if (bits < 64) return Math.clz32(unsignedNarrow(x, bits)) - (32 - bits);
  const [high, low] = halvesOfBits(x);
  return high === 0 ? 32 + Math.clz32(low) : Math.clz32(high);
};

/** The place of the lowest 1 bit, counted from 1; 0 for 0. */
export const ffs = (x, bits) => {
  const lowest = (n) => (n === 0 ? 0 : 32 - Math.clz32(n & -n));
  if (bits < 64) return lowest(unsignedNarrow(x, bits));
  const [high, low] = halvesOfBits(x);
  return low !== 0 || high === 0 ? lowest(low) : 32 + lowest(high);
};

/** The bits in reverse order; the result may have a sign that the type has not, or lack one. */
export const brev = (x, bits) => {
  const reversed = (n, count) => {
    let result = 0;
    for (let bit = 0; bit < count; bit += 1) result = (result << 1) | ((n >>> bit) & 1);
    return result >>> 0;
  };
  if (bits < 64) return reversed(x, bits);
  const [high, low] = halvesOfBits(x);
  return wrapInt64((BigInt(reversed(low, 32)) << 32n) | BigInt(reversed(high, 32)));
};

// ---------------------------------------------------------------- the error function

/* After s_erf.c of FreeBSD's msun: Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at
   SunPro, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely
   granted, provided that this notice is preserved. */

const ERF_ONE = 8.45062911510467529297e-01;
const ERF_SMALL = [
  [1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02, -5.77027029648944159157e-03,
    -2.37630166566501626084e-05],
  [1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03, 1.32494738004321644526e-04,
    -3.96022827877536812320e-06],
];
const ERF_MIDDLE = [
  [-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01, 3.18346619901161753674e-01,
    -1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03],
  [1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02, 1.26171219808761642112e-01,
    1.36370839120290507362e-02, 1.19844998467991074170e-02],
];
const ERF_LARGE = [
  [-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01, -6.23753324503260060396e+01,
    -1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01, -9.81432934416914548592e+00],
  [1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02, 6.45387271733267880336e+02,
    4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00, -6.04244152148580987438e-02],
];
const ERF_LARGEST = [
  [-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01, -1.60636384855821916062e+02,
    -6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02],
  [1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03, 3.19985821950859553908e+03,
    2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01],
];

/** The quotient of two polynomials. @type {(factors: number[][], x: number) => number} */
const quotientAt = ([top, bottom], x) => {
  const at = (factors) => factors.reduceRight((sum, factor) => sum * x + factor);
  return at(top) / at(bottom);
};

/** x * erfc(x) for x >= 1.25. */
const erfcTail = (x) => {
  const near = doubleOfBits(bitsOfDouble(x) & ~0xffffffffn);
  const part = quotientAt(x < 1 / 0.35 ? ERF_LARGE : ERF_LARGEST, 1 / (x * x));
  return Math.exp(-near * near - 0.5625) * Math.exp((near - x) * (near + x) + part);
};

export const erfOf = (x) => {
  const size = Math.abs(x), sign = x < 0 ? -1 : 1;
  if (x !== x) return NaN;
  if (size < 2 ** -28) return x + 1.28379167095512586316e-01 * x;
  if (size < 0.84375) return x + x * quotientAt(ERF_SMALL, x * x);
  if (size < 1.25) return sign * (ERF_ONE + quotientAt(ERF_MIDDLE, size - 1));
  return size < 6 ? sign * (1 - erfcTail(size) / size) : sign;
};

export const erfcOf = (x) => {
  const size = Math.abs(x);
  if (x !== x) return NaN;
  if (size < 2 ** -56) return 1 - x;
  if (size < 0.84375) {
    const y = quotientAt(ERF_SMALL, x * x);
    return x < 0.25 ? 1 - (x + x * y) : 0.5 - (x * y + (x - 0.5));
  }
  if (size < 1.25) {
    const part = quotientAt(ERF_MIDDLE, size - 1);
    return x >= 0 ? 1 - ERF_ONE - part : 1 + (ERF_ONE + part);
  }
  if (x < -6) return 2;
  if (size >= 28) return 0;
  return x > 0 ? erfcTail(size) / size : 2 - erfcTail(size) / size;
};

// ---------------------------------------------------------------- the gamma function, as Python's `math` computes it

const LANCZOS = 6.024680040776729583740234375;
const LANCZOS_TOP = [
  23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
  35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
  6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
  248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
  2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
  8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
  2.5066282746310002701649081771338373386264310793408,
];
const LANCZOS_BOTTOM = [
  0, 39916800, 120543840, 150917976, 105258076, 45995730, 13339535, 2637558, 357423, 32670, 1925, 66, 1,
];

const lanczosSum = (x) => {
  if (x < 5) return quotientAt([LANCZOS_TOP, LANCZOS_BOTTOM], x);
  const at = (factors) => factors.reduce((sum, factor) => sum / x + factor, 0);
  return at(LANCZOS_TOP) / at(LANCZOS_BOTTOM);
};

/** The sine of pi * x. */
const sineOfPi = (x) => {
  const y = Math.abs(x) % 2, quarter = Math.floor(2 * y + 0.5);
  const parts = [
    () => Math.sin(Math.PI * y), () => Math.cos(Math.PI * (y - 0.5)), () => Math.sin(Math.PI * (1 - y)),
    () => -Math.cos(Math.PI * (y - 1.5)), () => Math.sin(Math.PI * (y - 2)),
  ];
  return copySign(1, x) * parts[quarter]();
};

/** As C's tgamma: infinite at zero, with its sign; NaN at negative whole numbers. */
export const gammaOf = (x) => {
  const size = Math.abs(x);
  if (size < 1e-308) return copySign(Infinity, x);
  if (!Number.isFinite(x)) return x > 0 ? Infinity : NaN;
  if (Number.isInteger(x)) {
    if (x < 0) return NaN;
    if (x <= 23) {
      let product = 1;
      for (let factor = 2; factor < x; factor += 1) product *= factor;
      return product;
    }
  }
  if (size < 1e-20) return 1 / x;
  if (size > 200) return x < 0 ? 0 / sineOfPi(x) : Infinity;
  const half = LANCZOS - 0.5, y = size + half;
  const error = size > half ? (y - size) - half : (y - half) - size, z = error * LANCZOS / y;
  const factors = size < 140 ? [powerC(y, size - 0.5)] : Array(2).fill(powerC(y, size / 2 - 0.25));
  if (x < 0) {
    const result = -Math.PI / sineOfPi(size) / size * Math.exp(y) / lanczosSum(size);
    return factors.reduce((rest, factor) => rest / factor, result - z * result);
  }
  const result = lanczosSum(size) / Math.exp(y);
  return factors.reduce((rest, factor) => rest * factor, result + z * result);
};

/** The logarithm of a normal positive number; nearly always the double that is nearest to it. */
const nearLog = (x) => {
  const above = exponentOf(x), isUpper = x / 2 ** above > Math.SQRT2, scale = above + Number(isUpper);
  const part = scaledBy(x, -scale), sum = part + 1, ratio = (part - 1) / sum;
  const [top, rest] = exactProduct(ratio, sum);
  const low = (((part - 1 - top) - rest) - ratio * (part - (sum - 1))) / sum; // what the rounded ratio lacks
  let tail = 0;
  for (let term = 25; term > 1; term -= 2) tail = tail * ratio * ratio + 1 / term;
  const [high, cut] = exactSum(scale * 6.93147180369123816490e-01, 2 * ratio); // the upper bits of log(2)
  return high + (cut + 2 * (low + ratio * ratio * ratio * tail) + scale * 1.90821492927058770002e-10);
};

/** The natural logarithm. */
export const logOf = (x) => (x >= 2 ** -1022 && x < Infinity ? nearLog(x) : Math.log(x));

/** As C's lgamma: infinite where the gamma function has a pole. */
export const lgammaOf = (x) => {
  const size = Math.abs(x);
  if (x !== x) return NaN;
  if (size === Infinity) return Infinity;
  if (Number.isInteger(x) && x <= 2) return x <= 0 ? Infinity : 0;
  if (size < 1e-20) return -Math.log(size);
  const result = nearLog(lanczosSum(size)) - LANCZOS + (size - 0.5) * (nearLog(size + LANCZOS - 0.5) - 1);
  if (x >= 0) return result;
  return 1.144729885849400174143427351353058711647 - nearLog(Math.abs(sineOfPi(size))) - nearLog(size) - result;
};

/** The functions that the text of an expression may call. */
export const OF_FUNCTIONS = {
  isInfinite, copySign, nextAfter, integerOfBits, floatOfBits, nearestWhole, remainderOf, fusedOf, hypotOf, absoluteComplex,
  popc, clz, ffs, brev, logOf, erfOf, erfcOf, gammaOf, lgammaOf, powerC, powerFloat, finitePowerFloat,
};
