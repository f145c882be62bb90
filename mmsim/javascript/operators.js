import { holdsAll, isInt, isWhole, kindOf, limitsOf, sizeOf } from "./dtypes.js";
import { OF_FUNCTIONS } from "./functions.js";
import { OF_NUMBERS } from "./numbers.js";
import { expressionsOf } from "./walk.js";
import { rowOf } from "./table.js";

/* The operations of the lowered form as texts of JavaScript: Python's table of rows says what they are called. */

/** All functions that such a text may call, by their names. */
const CALLED = { ...OF_NUMBERS, ...OF_FUNCTIONS };

const isWide = (type) => isInt(type) && sizeOf(type) === 8;
const isComplex = (type) => kindOf(type) === "c";
const endingOf = (type) => (kindOf(type) === "u" ? "Uint64" : "Int64");

/** An integer that may lie beyond a type of 8 to 32 bits, wrapped around. */
const wrappedText = (type, text) => {
  const bits = 8 * sizeOf(type);
  if (kindOf(type) === "u") return bits === 32 ? `(${text} >>> 0)` : `(${text} & ${2 ** bits - 1})`;
  return bits === 32 ? `(${text} | 0)` : `(${text} << ${32 - bits} >> ${32 - bits})`;
};

/** The function that rounds to a type of floats, or to that of the parts of complex numbers. */
const roundingOf = (type) =>
  ({ float16: "toHalf", float32: "Math.fround", complex64: "Math.fround" })[type] ?? "sameNumber";

const roundedText = (type, text) => (type === "float64" ? text : `${roundingOf(type)}(${text})`);

/** The truth of a value. */
export const truthText = (type, text) => {
  if (type === "bool") return text;
  return isComplex(type) ? `isTrueComplex(${text})` : `(${text} !== 0)`;
};

/** A value of a type converted to another one. */
const castText = (held, type, text) => {
  if (type === held) return text;
  if (type === "bool") return truthText(held, text);
  if (isComplex(type)) {
    if (isComplex(held)) return `roundedComplex(${text}, ${roundingOf(type)})`;
    return `complexOf(${castText(held, type === "complex64" ? "float32" : "float64", text)}, 0)`;
  }
  if (isComplex(held)) return castText(held === "complex64" ? "float32" : "float64", type, `${text}.re`);
  if (held === "bool") return `(${text} ? 1 : 0)`;
  if (isInt(type) && isInt(held)) {
    if (holdsAll(type, held)) return text;
    if (isWide(type)) return `as${endingOf(type)}(${text})`;
    return wrappedText(type, isWide(held) ? `lowBits(${text})` : text);
  }
  if (isInt(type)) {
    const [low, high] = limitsOf(type);
    return `integerOfFloat(${text}, ${Number(low)}, ${Number(high + 1n)})`; // powers of two
  }
  if (isWide(held) && type === "float32") return `singleOfInteger(${text})`;
  if (isWide(held)) return roundedText(type, `Number(${text})`);
  return holdsFloats(type, held) ? text : roundedText(type, text);
};

/** Whether a type of floats holds all numbers of a type. */
const holdsFloats = (type, held) =>
  kindOf(held) === "f" ? sizeOf(type) >= sizeOf(held) : type === "float64" || (type === "float32" && sizeOf(held) < 4);

/** The text of a sum, a product, a quotient, ... of two numbers of a type. */
const arithmeticText = ({ kind, js, sign }, type, x, y, isUniform) => {
  if (isComplex(type)) return `${js}Complex(${x}, ${y}, ${roundingOf(type)})`;
  if (kind === "quotient" && isWhole(type)) {
    return isWide(type) ? `quotient${isUniform && type === "int64" ? "Exact" : "Wide"}(${x}, ${y})` : `(${x} / ${y})`;
  }
  if (kindOf(type) === "f") {
    const isSigned = kind === "sum" || kind === "quotient";
    return isSigned ? roundedText(type, `(${x} ${sign} ${y})`) : `${js}Float(${x}, ${y}, ${roundingOf(type)})`;
  }
  if (type === "bool") return { "&": `(${x} && ${y})`, "|": `(${x} || ${y})`, "^": `(${x} !== ${y})` }[sign];
  if (isWide(type)) return `${js}${endingOf(type)}(${x}, ${y})`;
  return wrappedText(type, narrowText({ kind, js, sign }, type, x, y));
};

/** The same of integers of 8 to 32 bits, before it is wrapped around. */
const narrowText = ({ kind, js, sign }, type, x, y) => {
  switch (kind) {
    case "sum": return sign === "*" ? `Math.imul(${x}, ${y})` : `(${x} ${sign} ${y})`;
    case "division": return sign === "%" ? `moduloNarrow(${x}, ${y})` : `Math.floor(${x} / ${y})`;
    case "power": return `powerNarrow(${x}, ${y})`;
    case "bits": return `(${x} ${sign} ${y})`;
    default: {
      const ending = sign === ">>" && kindOf(type) === "u" ? "Unsigned" : "Narrow";
      return `${js}${ending}(${x}, ${y}, ${8 * sizeOf(type)})`;
    }
  }
};

/** The text of an operation of one number. */
const unaryText = ({ kind, js, sign, refused }, held, x) => {
  switch (kind) {
    case "not": return `!${truthText(held, x)}`;
    case "check":
      if (sign === "< 0") return `nonNegative(${x})`;
      return isComplex(held) ? `nonZeroComplex(${x})` : `nonZero(${x})`;
    case "same": return x;
    default:
  }
  if (isComplex(held)) return roundedIfSingle(held, `${js}Complex(${x})`, kind);
  if (kindOf(held) === "f") return kind === "sign" ? `(-${x})` : `Math.abs(${x})`;
  if (held === "bool") return `!${x}`;
  if (kind === "absolute" && kindOf(held) === "u") return x;
  if (isWide(held)) return `${js}${endingOf(held)}(${x})`;
  return wrappedText(held, kind === "absolute" ? `Math.abs(${x})` : `(${sign}${x})`);
};

/** The text of a complex number's negative, or of its absolute value. */
const roundedIfSingle = (held, text, kind) =>
  kind === "absolute" && held === "complex64" ? `Math.fround(${text})` : text;

/** The text of a function. */
const functionText = ({ takes, js }, op, held, type, texts) => {
  if (takes === "complex" && !isComplex(held)) return op === "imag" ? castText("bool", held, "false") : texts[0];
  const names = { x: texts[0], y: texts[1], z: texts[2], bits: 8 * sizeOf(held) };
  const text = `(${js.replace(/\b(x|y|z|bits)\b/g, (name) => names[name])})`;
  if (kindOf(type) === "f") return roundedText(type, text);
  if (!isInt(type) || type === "int64") return text;
  return isWide(type) ? `asUint64(${text})` : wrappedText(type, text);
};

/**
 * The text of an operation: `held` is the type of its first operand, `type` that of the result, `texts` are those of
 * the operands. `isUniform` says that all lanes agree: then integers are divided as Python divides them, else as NumPy
 * does.
 */
export const operationText = (value, held, type, texts, isUniform) => {
  const row = rowOf(value), [x, y] = texts;
  switch (row.kind) {
    case "cast": return castText(held, type, x);
    case "function": return functionText(row, value.op, held, type, texts);
    case "extreme": case "index": return `${row.js}(${x}, ${y})`;
    case "compare": {
      if (!isComplex(held)) return `(${x} ${{ "==": "===", "!=": "!==" }[value.op] ?? value.op} ${y})`;
      return `${value.op === "!=" ? "!" : ""}isEqualComplex(${x}, ${y})`;
    }
    default:
      return texts.length === 1 ? unaryText(row, held, x) : arithmeticText(row, held, x, y, isUniform);
  }
};

/** Whether an operation may have no value, apart from its operands; `of` gives types. */
export const mayRefuse = (value, of) => {
  const row = rowOf(value);
  if (row.kind === "cast" && row.gives !== null && isInt(row.gives)) {
    return kindOf(of(expressionsOf(value)[0])) === "f";
  }
  return row.kind === "check" || row.checked !== null;
};

/** The message about an operation without a value. */
export const refusalOf = (value) => {
  const row = rowOf(value);
  if (row.kind === "check") return row.refused;
  if (row.kind === "power") return "this power is not a finite real number";
  return `${value.op}(...) of a float that ${value.op === "int" ? "64 bits" : "it"} can't hold`;
};

/** A number in a text of JavaScript; null for a complex one. */
export const literalText = (value) => {
  if (typeof value === "object") return null;
  if (typeof value === "bigint") return `(${value}n)`;
  if (Object.is(value, -0)) return "(-0)";
  return value < 0 ? `(${value})` : String(value);
};

const MADE = new Map();
const MOST_MADE = 4096; // then all are forgotten: a page may see programs without end

/** The function whose text this is, made once for each text. */
export const compiledText = (text) => {
  let made = MADE.get(text);
  if (made === undefined) {
    const names = [...new Set(text.match(/[A-Za-z_]\w*/g))].filter((name) => Object.hasOwn(CALLED, name));
    made = new Function(...names, `"use strict"; return ${text};`)(...names.map((name) => CALLED[name]));
    if (MADE.size >= MOST_MADE) MADE.clear();
    MADE.set(text, made);
  }
  return made;
};

const OPERANDS = ["x", "y", "z"];

/** The function that computes an operation of single values. */
export const computingOf = (value, held, type, isUniform) =>
  compiledText(`(x, y, z) => ${operationText(value, held, type, OPERANDS.slice(0, rowOf(value).arity), isUniform)}`);
