import { TABLES } from "./table.js";

/* A type is the name of a NumPy dtype, such as "int64". */

/** The kind of a type: "b" bools, "i" integers, "u" unsigned ones, "f" floats, "c" complex numbers. */
export const kindOf = (type) => TABLES.types[type].kind;

/** The bytes of a number of a type. */
export const sizeOf = (type) => TABLES.types[type].size;

/** Whether values are integers. */
export const isInt = (type) => "iu".includes(kindOf(type));

/** Whether values are integers or bools. */
export const isWhole = (type) => "iub".includes(kindOf(type));

/** The type of Python's arithmetic: int for bool, complex of two doubles, ... */
export const wideType = (type) => ({ f: "float64", c: "complex128" })[kindOf(type)] ?? "int64";

/** The type of the real and of the imaginary part of complex numbers of a type. */
export const partType = (type) => `float${4 * sizeOf(type)}`;

/** The least and the greatest number of a type of integers, as BigInts. */
export const limitsOf = (type) => TABLES.types[type].limits.map(BigInt);

/** Whether a type of integers holds all numbers of another one. */
export const holdsAll = (type, other) => {
  const [low, high] = limitsOf(type), [least, most] = limitsOf(other);
  return low <= least && most <= high;
};

/** The reason that numbers of these types can't be an index; null if they can. */
export const noIndex = (types) => {
  const kinds = types.map(kindOf);
  if (kinds.includes("c")) return "an address is a whole number, not a complex one; write int(z.real)";
  if (kinds.includes("f")) return "an address is a whole number, not a float; write // for a whole quotient";
  return null;
};

/** The type of an encoded number as it stands. */
export const typeOfNumber = (number) => {
  if (typeof number === "boolean") return "bool";
  if (typeof number === "number") return "int64";
  if (number.int !== undefined) return BigInt(number.int) < 2n ** 63n ? "int64" : "uint64";
  return number.complex !== undefined ? "complex128" : "float64";
};

/** NumPy's common type of some. */
export const commonType = (types) => {
  const exception = types.length === 3 ? TABLES["common of three"][types.join(" ")] : undefined;
  return exception ?? types.reduce((first, second) => TABLES.common[first][second]);
};

/** The type of an operation's result, from its row and the type in which it computes. */
export const resultType = (row, type) => {
  switch (row.result) {
    case "bool": return "bool";
    case "count": return "int64";
    case "complex": return commonType([type, "complex64"]);
    case "integer": return `int${8 * sizeOf(type)}`;
    case "floating": return `float${8 * sizeOf(type)}`;
    case "part": if (kindOf(type) === "c") return partType(type); break;
    case "quotient": if (isWhole(type)) return "float64"; break;
    default:
  }
  return row.gives ?? type;
};
