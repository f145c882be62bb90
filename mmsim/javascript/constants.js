/* Constant expressions at the top level of a text: arithmetic of numbers, tuples, lists and NumPy's arrays. */
import { quotedText } from "./faults.js";
import { divideComplex, floorDivideFloat, moduloFloat, multiplyComplex, sameNumber, toHalf } from "./numbers.js";
import { MISSING, boolObject, builtinNamed, complexObject, dtypeNameOf, floatObject, intObject } from "./objects.js";
import { isTable, listsOf, memberCalled, memberOf } from "./objects.js";
import { powerFloat } from "./powers.js";
import { sliceOf } from "./slices.js";
import { TABLES } from "./table.js";
import { remedyFor } from "./words.js";
import { writtenNode } from "./written.js";

/** The most items, and the most bits of an integer, that a constant may have. */
const MOST_CONSTANT_ITEMS = 2 ** 17;
const MOST_CONSTANT_BITS = 2n ** 14n;
const KINDS_OF_NUMBERS = ["bool", "int", "float", "complex"];
const WRITE_CONSTANT = "write its value: a number, a tuple of numbers, or np.array([...])";

/** Thrown for an expression that is no constant here: where, what is wrong, and what to write instead. */
export class NoConstant extends Error {
  constructor(node, message, advice = WRITE_CONSTANT) {
    super(message);
    this.node = node;
    this.advice = advice;
  }
}

/** The object that an expression stands for; `scope` gives objects by their names, or undefined. */
export function constantObject(node, scope) {
  const form = CONSTANT_FORMS[node.kind];
  if (!form) throw new NoConstant(node, `${quotedText(writtenNode(node))} is no constant`);
  return form(node, (inner, inside = scope) => constantObject(inner, inside), scope);
}

const isNumber = (object) => KINDS_OF_NUMBERS.includes(object.is);
const levelOf = (object) => KINDS_OF_NUMBERS.indexOf(object.is);
const wholeOf = ({ value }) => BigInt(value);
const floatValue = ({ value }) => Number(value);
const partsOfNumber = (object) => (object.is === "complex" ? object : { re: Number(object.value), im: 0 });
const memberNumber = (object) => (object.is === "member" && object.isNumber ? object.value : object);

function numberAt(node, object) {
  const plain = memberNumber(object);
  if (isNumber(plain)) return plain;
  throw new NoConstant(node, `${quotedText(writtenNode(node))} is not a number`);
}

function wholeAt(node, object) {
  const plain = numberAt(node, object);
  if (levelOf(plain) > 1) throw new NoConstant(node, `${quotedText(writtenNode(node))} is not an integer`);
  return wholeOf(plain);
}

/** @type {(x: bigint, y: bigint) => bigint} */
const floored = (x, y) => {
  const quotient = x / y;
  return x % y !== 0n && x < 0n !== y < 0n ? quotient - 1n : quotient;
};
const sized = (value) => (value < 0n ? -value : value).toString(2).length;

function wholePower(x, y, refuse) {
  if (y < 0n) return floatObject(powerFloat(Number(x), Number(y), sameNumber));
  if (BigInt(sized(x)) * y > MOST_CONSTANT_BITS) throw refuse("this integer is too long");
  return intObject(x ** y);
}

function shifted(x, y, refuse) {
  if (y < 0n) throw refuse("negative shift count");
  if (y > MOST_CONSTANT_BITS) throw refuse("this integer is too long");
  return x << y;
}

const WHOLE_OPERATORS = {
  Add: (x, y) => x + y, Sub: (x, y) => x - y, Mult: (x, y) => x * y, FloorDiv: floored,
  Mod: (x, y) => x - floored(x, y) * y, Pow: wholePower, LShift: shifted, RShift: (x, y) => x >> y,
  BitAnd: (x, y) => x & y, BitOr: (x, y) => x | y, BitXor: (x, y) => x ^ y,
  Div: (x, y) => floatObject(Number(x) / Number(y)),
};
const FLOAT_OPERATORS = {
  Add: (x, y) => x + y, Sub: (x, y) => x - y, Mult: (x, y) => x * y, Div: (x, y) => x / y,
  FloorDiv: (x, y) => floorDivideFloat(x, y, sameNumber), Mod: (x, y) => moduloFloat(x, y, sameNumber),
  Pow: (x, y) => powerFloat(x, y, sameNumber),
};
const COMPLEX_OPERATORS = {
  Add: (x, y) => ({ re: x.re + y.re, im: x.im + y.im }), Sub: (x, y) => ({ re: x.re - y.re, im: x.im - y.im }),
  Mult: (x, y) => multiplyComplex(x, y, sameNumber), Div: (x, y) => divideComplex(x, y, sameNumber),
};

/** x op y of numbers. */
function computed(node, op, x, y) {
  const refuse = (message) => new NoConstant(node, message);
  const level = Math.max(levelOf(x), levelOf(y));
  const isZero = y.is === "complex" ? y.re === 0 && y.im === 0 : Number(y.value) === 0;
  if (["Div", "FloorDiv", "Mod"].includes(op) && isZero) throw refuse("division by zero");
  const table = level < 2 ? WHOLE_OPERATORS : level === 2 ? FLOAT_OPERATORS : COMPLEX_OPERATORS;
  if (!Object.hasOwn(table, op)) throw refuse(`${quotedText(writtenNode(node))} is no constant`);
  if (level === 3) {
    const { re, im } = table[op](partsOfNumber(x), partsOfNumber(y));
    return complexObject(re, im);
  }
  if (level === 2) {
    const value = table[op](floatValue(x), floatValue(y));
    if (op === "Pow" && Number.isNaN(value) && !Number.isNaN(x.value)) throw refuse("this power is no real number");
    return floatObject(value);
  }
  const value = table[op](wholeOf(x), wholeOf(y), refuse);
  if (typeof value !== "bigint") return value;
  const isLogic = level === 0 && ["BitAnd", "BitOr", "BitXor"].includes(op);
  return isLogic ? boolObject(value === 1n) : intObject(value);
}

/** Whether an object counts as true. */
function isTruthy(object) {
  const plain = memberNumber(object);
  if (plain.is === "complex") return plain.re !== 0 || plain.im !== 0;
  if (isNumber(plain)) return plain.is === "float" ? plain.value !== 0 : Boolean(plain.value);
  if (plain.is === "none") return false;
  return plain.is === "str" ? plain.value !== "" : !plain.items || plain.items.length > 0;
}

const COMPARING = {
  Eq: (x, y) => x == y, NotEq: (x, y) => x != y, Lt: (x, y) => x < y, LtE: (x, y) => x <= y, // an integer may be long
  Gt: (x, y) => x > y, GtE: (x, y) => x >= y,
};

/** The items that an object gives to a loop. */
function itemsAt(node, object) {
  if (object.is === "array" && object.shape.length) return listsOf(object).items;
  if (object.items && !object.shape) return object.items;
  throw new NoConstant(node, `${quotedText(writtenNode(node))} has no items`);
}

function comprehended(node, evaluate, scope) {
  const found = [];
  const [{ target, iter, ifs }, ...others] = node.generators;
  if (others.length || target.kind !== "Name") throw new NoConstant(node, "this loop is no constant");
  for (const item of itemsAt(iter, evaluate(iter))) {
    const inside = (name) => (name === target.id ? item : scope(name));
    if (ifs.every((one) => isTruthy(evaluate(one, inside)))) found.push(evaluate(node.elt, inside));
  }
  return found;
}

const CONSTANT_FORMS = {
  Constant: ({ value }) => value,
  Name: (node, evaluate, scope) => {
    const found = scope(node.id) ?? builtinNamed(node.id);
    if (found !== MISSING) return found;
    throw new NoConstant(node, `the name ${quotedText(node.id)} means nothing here`, "define it above this line");
  },
  Attribute: (node, evaluate) => {
    const owner = evaluate(node.value);
    if (owner.is === "module" && owner.members === null) return { is: "other", type: "object", name: node.attr };
    const { attr } = node;
    if (owner.is === "array") {
      if (attr === "shape") return { is: "tuple", items: owner.shape.map(intObject) };
      if (attr === "size") return intObject(owner.items.length);
      if (attr === "ndim") return intObject(owner.shape.length);
      if (attr === "dtype") return { is: "dtype", name: owner.dtype };
    }
    if (isNumber(owner) && (attr === "real" || attr === "imag")) {
      if (owner.is === "complex") return floatObject(attr === "real" ? owner.re : owner.im);
      return attr === "real" ? owner : owner.is === "float" ? floatObject(0) : intObject(0);
    }
    const found = memberOf(owner, attr);
    if (found !== MISSING) return found;
    throw new NoConstant(node, `${quotedText(writtenNode(node))} means nothing here`);
  },
  Subscript: (node, evaluate) => {
    const owner = evaluate(node.value);
    const { slice } = node;
    if (owner.is === "enum") {
      const found = memberCalled(owner, evaluate(slice));
      if (found !== MISSING) return found;
    }
    if (owner.is === "array" && slice.kind === "Tuple") {
      return slice.elts.reduce((table, one) => itemAt(node, itemsAt(node, table), wholeAt(one, evaluate(one))), owner);
    }
    const items = itemsAt(node.value, owner);
    if (slice.kind !== "Slice") return itemAt(node, items, wholeAt(slice, evaluate(slice)));
    const bounds = [slice.lower, slice.upper, slice.step].map((one) => (one ? wholeAt(one, evaluate(one)) : null));
    if (bounds[2] === 0n || owner.is === "array") throw new NoConstant(node, "this slice is no constant");
    return { is: owner.is, items: sliceOf(items, ...bounds) };
  },
  UnaryOp: (node, evaluate) => {
    const object = evaluate(node.operand);
    if (node.op === "Not") return boolObject(!isTruthy(object));
    const number = numberAt(node.operand, object);
    if (node.op === "Invert") return intObject(~wholeAt(node.operand, number));
    const sign = node.op === "USub" ? -1 : 1;
    if (number.is === "complex") return sign < 0 ? complexObject(-number.re, -number.im) : number;
    if (number.is === "float") return floatObject(sign * number.value);
    return intObject(BigInt(sign) * wholeOf(number));
  },
  BinOp: (node, evaluate) => {
    const [left, right] = [evaluate(node.left), evaluate(node.right)];
    const ofTables = (one) => one.is === "tuple" || one.is === "list";
    if (node.op === "Add" && ofTables(left) && left.is === right.is) {
      return { is: left.is, items: bounded(node, [...left.items, ...right.items]) };
    }
    if (node.op === "Mult" && ofTables(left) !== ofTables(right)) {
      const [table, times] = ofTables(left) ? [left, wholeAt(node.right, right)] : [right, wholeAt(node.left, left)];
      const count = times < 0n ? 0n : times;
      if (count * BigInt(table.items.length) > MOST_CONSTANT_ITEMS) throw tooMany(node);
      return { is: table.is, items: Array.from({ length: Number(count) }, () => table.items).flat() };
    }
    return computed(node, node.op, numberAt(node.left, left), numberAt(node.right, right));
  },
  BoolOp: (node, evaluate) => {
    let found = MISSING;
    for (const one of node.values) {
      found = evaluate(one);
      if (isTruthy(found) === (node.op === "Or")) break;
    }
    return found;
  },
  Compare: (node, evaluate) => {
    let left = numberAt(node.left, evaluate(node.left));
    for (const [at, op] of node.ops.entries()) {
      const right = numberAt(node.comparators[at], evaluate(node.comparators[at]));
      if (!Object.hasOwn(COMPARING, op) || left.is === "complex" || right.is === "complex") {
        throw new NoConstant(node, `${quotedText(writtenNode(node))} is no constant`);
      }
      if (!COMPARING[op](left.value, right.value)) return boolObject(false);
      left = right;
    }
    return boolObject(true);
  },
  IfExp: (node, evaluate) => evaluate(isTruthy(evaluate(node.test)) ? node.body : node.orelse),
  Tuple: (node, evaluate) => ({ is: "tuple", items: listedObjects(node, evaluate) }),
  List: (node, evaluate) => ({ is: "list", items: listedObjects(node, evaluate) }),
  ListComp: (node, evaluate, scope) => ({ is: "list", items: comprehended(node, evaluate, scope) }),
  GeneratorExp: (node, evaluate, scope) => ({ is: "list", items: comprehended(node, evaluate, scope) }),
  Call: (node, evaluate, scope) => {
    const called = evaluate(node.func);
    const given = listedObjects({ elts: node.args }, evaluate);
    const named = new Map(node.keywords.map(({ arg, value }) => [arg, evaluate(value)]));
    const found = calledConstant(node, called, given, named);
    if (found !== null) return found;
    const parser = { entity: (name) => entityIn(scope, name) };
    const advice = called.module === "numpy" ? WRITE_CONSTANT : remedyFor(node.func, parser) ?? WRITE_CONSTANT;
    throw new NoConstant(node, `${quotedText(writtenNode(node.func))} is not called at the top level here`, advice);
  },
};

function entityIn(scope, name) {
  const value = scope(name) ?? builtinNamed(name);
  return value === MISSING ? { entity: "Missing" } : { entity: "Captured", value };
}

function itemAt(node, items, position) {
  const found = items.at(Number(position));
  if (found === undefined) throw new NoConstant(node, `${quotedText(writtenNode(node))} has no such item`);
  return found;
}

function listedObjects({ elts }, evaluate) {
  return elts.flatMap((one) => (one.kind === "Starred" ? itemsAt(one.value, evaluate(one.value)) : [evaluate(one)]));
}

function tooMany(node) {
  return new NoConstant(node, "this constant has too many items", "pass it to the program as an array");
}

function bounded(node, items) {
  if (items.length > MOST_CONSTANT_ITEMS) throw tooMany(node);
  return items;
}

// Calls

const MATH_OF_ONE = {
  sqrt: Math.sqrt, fabs: Math.abs, exp: Math.exp, log: Math.log, log2: Math.log2, log10: Math.log10, sin: Math.sin,
  cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan: Math.atan, sinh: Math.sinh, cosh: Math.cosh,
  tanh: Math.tanh, degrees: (x) => x * (180 / Math.PI), radians: (x) => x * (Math.PI / 180),
};
const MATH_TO_WHOLE = { floor: Math.floor, ceil: Math.ceil, trunc: Math.trunc };

/** The object that a call gives, null for a function that isn't called here. */
function calledConstant(node, called, given, named) {
  const key = `${called.module}.${called.name}`;
  if (called.is === "type" && called.module === "numpy" && dtypeNameOf(called) && given.length === 1 && !named.size) {
    return inDtype(node, numberAt(node.args[0], given[0]), called.name);
  }
  if (called.module === "numpy") return arrayCalled(node, called.name, given, named);
  if (named.size) return null;
  if (called.module === "math" && given.length === 1) {
    const { name } = called;
    if (Object.hasOwn(MATH_OF_ONE, name)) {
      return floatObject(MATH_OF_ONE[name](floatAt(node, given[0])));
    }
    if (Object.hasOwn(MATH_TO_WHOLE, name)) return wholeFloat(node, MATH_TO_WHOLE[name](floatAt(node, given[0])));
  }
  const form = BUILTIN_CALLS[key];
  return form ? form(node, given) : null;
}

function floatAt(node, object) {
  const number = numberAt(node, object);
  if (number.is === "complex") throw new NoConstant(node, `${quotedText(writtenNode(node))} takes no complex number`);
  return floatValue(number);
}

function wholeFloat(node, value) {
  if (Number.isInteger(value)) return intObject(value);
  throw new NoConstant(node, `${quotedText(writtenNode(node))} has no value`);
}

function rangeOfObjects(node, given) {
  const numbers = given.map((one) => wholeAt(node, one));
  const [start, stop, step] = numbers.length === 1 ? [0n, numbers[0], 1n] : [numbers[0], numbers[1], numbers[2] ?? 1n];
  if (!numbers.length || numbers.length > 3 || step === 0n) throw new NoConstant(node, "this range is no constant");
  const items = [];
  for (let at = start; step > 0n ? at < stop : at > stop; at += step) {
    items.push(intObject(at));
    if (items.length > MOST_CONSTANT_ITEMS) throw tooMany(node);
  }
  return { is: "list", items };
}

const extremeOf = (isBetter) => (node, given) => {
  const all = (given.length === 1 ? itemsAt(node.args[0], given[0]) : given).map((one) => numberAt(node, one));
  if (!all.length || all.some((one) => one.is === "complex")) throw new NoConstant(node, "this has no value");
  return all.reduce((best, one) => (isBetter(one.value, best.value) ? one : best));
};

const ofOne = (make) => (node, given) => (given.length === 1 ? make(node, given[0]) : null);

const BUILTIN_CALLS = {
  "builtins.range": rangeOfObjects,
  "builtins.tuple": ofOne((node, one) => ({ is: "tuple", items: itemsAt(node, one) })),
  "builtins.list": ofOne((node, one) => ({ is: "list", items: itemsAt(node, one) })),
  "builtins.len": ofOne((node, one) => intObject(itemsAt(node, one).length)),
  "builtins.min": extremeOf((x, y) => x < y),
  "builtins.max": extremeOf((x, y) => x > y),
  "builtins.sum": ofOne((node, one) =>
    itemsAt(node, one).reduce((x, y) => computed(node, "Add", x, numberAt(node, y)), intObject(0))),
  "builtins.abs": ofOne((node, one) => {
    const number = numberAt(node, one);
    if (number.is === "float") return floatObject(Math.abs(number.value));
    return number.is === "complex" ? null : intObject(wholeOf(number) < 0n ? -wholeOf(number) : wholeOf(number));
  }),
  "builtins.int": ofOne((node, one) => {
    const number = numberAt(node, one);
    return number.is === "float" ? wholeFloat(node, Math.trunc(number.value)) : intObject(wholeAt(node, number));
  }),
  "builtins.float": ofOne((node, one) => {
    const named = { inf: Infinity, "-inf": -Infinity, nan: NaN, "+inf": Infinity };
    if (one.is === "str" && Object.hasOwn(named, one.value)) return floatObject(named[one.value]);
    return floatObject(floatAt(node, one));
  }),
  "builtins.bool": ofOne((node, one) => boolObject(isTruthy(one))),
  "builtins.complex": (node, given) => {
    const numbers = given.map((one) => floatAt(node, one));
    return numbers.length === 1 || numbers.length === 2 ? complexObject(numbers[0], numbers[1] ?? 0) : null;
  },
  "math.isqrt": ofOne((node, one) => {
    const whole = wholeAt(node, one);
    if (whole < 0n || whole > 2n ** 52n) throw new NoConstant(node, "this has no value");
    return intObject(Math.floor(Math.sqrt(Number(whole))));
  }),
};

/** A number rounded to an element type. */
function inDtype(node, number, dtype) {
  const { kind, size, limits } = TABLES.types[dtype];
  if (kind === "b") return boolObject(isTruthy(number));
  if (kind === "c") {
    const { re, im } = partsOfNumber(number);
    return size === 8 ? complexObject(Math.fround(re), Math.fround(im)) : complexObject(re, im);
  }
  const value = number.is === "complex" ? NaN : number.value;
  if (kind === "f") return floatObject({ 2: toHalf, 4: Math.fround, 8: sameNumber }[size](Number(value)));
  const whole = number.is === "float" ? wholeFloat(node, Math.trunc(value)).value : BigInt(value);
  if (whole < BigInt(limits[0]) || whole > BigInt(limits[1])) {
    throw new NoConstant(node, `${whole} is out of bounds for ${dtype}`);
  }
  return intObject(whole);
}

/** A call of NumPy's that makes an array, null for others. */
function arrayCalled(node, name, given, named) {
  const [first, second] = given;
  const keys = [...named.keys()];
  if (keys.some((key) => key !== "dtype")) return null;
  const asked = (object) => {
    const dtype = object ? dtypeNameOf(object) : "";
    if (object && !dtype) throw new NoConstant(node, `${quotedText(writtenNode(node))} has no element type of mmsim's`);
    return dtype;
  };
  if (name === "dtype" && given.length === 1) return { is: "dtype", name: asked(first) };
  const positions = { array: 1, asarray: 1, zeros: 1, ones: 1, full: 2 };
  if (name === "arange") {
    const range = rangeOfObjects(node, given);
    return arrayOf(node, range, asked(named.get("dtype")));
  }
  const position = Object.hasOwn(positions, name) ? positions[name] : 0;
  if (!position || given.length < position || given.length > position + 1) return null;
  const dtype = asked(given[position] ?? named.get("dtype"));
  if (name === "array" || name === "asarray") return arrayOf(node, first, dtype);
  const shape = (isTable(first) ? itemsAt(node, first) : [first]).map((one) => Number(wholeAt(node, one)));
  const size = shape.reduce((x, y) => x * y, 1);
  if (!(size >= 0 && size <= MOST_CONSTANT_ITEMS) || shape.some((extent) => extent < 0)) throw tooMany(node);
  const fill = name === "full" ? numberAt(node, second) : floatObject(name === "ones" ? 1 : 0);
  const own = dtype || naturalDtype([fill]);
  return { is: "array", dtype: own, shape, items: Array.from({ length: size }, () => inDtype(node, fill, own)) };
}

function naturalDtype(items) {
  const level = Math.max(...items.map(levelOf), items.length ? 0 : 2);
  const isLong = items.some((one) => one.is === "int" && one.value >= 2n ** 63n);
  return isLong && level === 1 ? "uint64" : ["bool", "int64", "float64", "complex128"][level];
}

/** np.array of nested lists. */
function arrayOf(node, table, dtype) {
  if (table.is === "array") {
    const own = dtype || table.dtype;
    return { ...table, dtype: own, items: table.items.map((one) => inDtype(node, one, own)) };
  }
  const shapeOf = (object) => (isTable(object) ? [itemsAt(node, object).length, ...innerShape(object)] : []);
  const innerShape = (object) => {
    const shapes = itemsAt(node, object).map(shapeOf);
    if (new Set(shapes.map(String)).size > 1) throw new NoConstant(node, "the rows of this array differ in length");
    return shapes[0] ?? [];
  };
  const flat = (object) => (isTable(object) ? itemsAt(node, object).flatMap(flat) : [numberAt(node, object)]);
  const [shape, items] = [shapeOf(table), flat(table)];
  const own = dtype || naturalDtype(items);
  return { is: "array", dtype: own, shape, items: items.map((one) => inDtype(node, one, own)) };
}

