/*
 * The meaning of names inside a function of the language.
 *
 * A name is the thread's, a variable, a parameter, an array of the program, or something captured from outside. An
 * entity says in `entity` which of these it is.
 */
import { decodedNumber } from "./numbers.js";

export const THREAD_NAME = { entity: "Thread" };
export const NO_ARRAY = { entity: "NoArray" };
export const MISSING_NAME = { entity: "Missing" };
/** Stands for the value that a function returns; no variable has this name. */
export const RETURNED = "return";
/** Begins parsing again, with what is known of the names by then. */
export const RESTART = { name: "Restart" };

/** @typedef {{ node: string, [field: string]: any }} ProgramNode a node of a program's representation */

/** @type {(value: any) => ProgramNode} */
export const constNode = (value) => ({ node: "Const", value });
/** @type {(name: string, place: any) => ProgramNode} */
export const varNode = (name, place) => ({ node: "Var", name, place });
export const unaryNode = (op, operand, place) => ({ node: "Unary", op, operand, place });
export const binaryNode = (op, left, right, place) => ({ node: "Binary", op, left, right, place });
export const compareNode = (op, left, right, place) => ({ node: "Compare", op, left, right, place });
export const callNode = (op, operands, place) => ({ node: "Call", op, operands, place });
/** @type {(array: string, axis: any, rank: number | null, place: any) => ProgramNode} */
export const extentNode = (array, axis, rank, place) => ({ node: "Extent", array, axis, rank, place });
export const chooseNode = (test, then, other) => ({ node: "Choose", test, then, other });

/** A statement without its number. */
export const statementNode = (node, fields) => ({ node, ...fields, number: -1 });
export const accessNode = (node, fields) => ({ node, ...fields, number: -1, site: -1 });
export const assignNode = (target, value, place) => statementNode("Assign", { target, value, place });
export const ifNode = (test, then, orelse, place) => statementNode("If", { test, then, orelse, place });

/** The selector of an alias with one part. */
export const FIRST_PART = constNode(0);

const sameConstant = (one, other) => {
  const [x, y] = [decodedNumber(one), decodedNumber(other)];
  const parts = (value) => (typeof value === "object" ? [value.re, value.im] : [value, 0]);
  const [[a, b], [c, d]] = [parts(x), parts(y)];
  return (a == c || (Number.isNaN(a) && Number.isNaN(c))) && b == d;
};

/** Whether two nodes, or lists of them, are equal as Python's. */
export function sameNode(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((part, at) => sameNode(part, other[at]));
  }
  if (one.node !== other.node) return false;
  if (one.node === "Const") return sameConstant(one.value, other.value);
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => sameNode(one[key], other[key]));
}

export const isConstant = (node, value) => node.node === "Const" && sameConstant(node.value, value);

// Parts of arrays

/** Elements of an axis: `count` of them from `start` on, every `step`-th. */
export const spanOf = (start, step, count, place) => ({ span: true, start, step, count, place });

function summed(op, left, right, place) {
  if (isConstant(right, 0)) return left;
  return isConstant(left, 0) && op === "+" ? right : binaryNode(op, left, right, place);
}

function scaledIndex(left, right, place) {
  if (isConstant(left, 1)) return right;
  return isConstant(right, 1) ? left : binaryNode("*", left, right, place);
}

/** The element of the axis at number `index` of a span, from its end if negative. */
function spanAt({ start, step, count, place }, index) {
  let at = index;
  const number = index.node === "Const" ? decodedNumber(index.value) : null;
  if (number !== null && (typeof number === "object" ? number.re : number) < 0) {
    at = summed("+", count, index, place);
  } else if (!["Const", "ThreadField", "Extent"].includes(index.node)) {
    const below = compareNode("<", index, constNode(0), place);
    at = chooseNode(below, summed("+", count, index, place), index);
  }
  return summed("+", start, scaledIndex(step, at, place), place);
}

function spanWithin({ start, step, place }, inner) {
  const first = summed("+", start, scaledIndex(step, inner.start, place), place);
  return spanOf(first, scaledIndex(step, inner.step, place), inner.count, place);
}

/** An array under its unique name, with its leading axes restricted, each by an index or a span. */
export const viewOf = (array, index = []) => ({ array, index });
export const spansOf = (view) => view.index.filter((one) => one.span);
export const fixedAxes = (view) => view.index.filter((one) => !one.span).length;

/** A part, restricted by more indices or spans. */
export function restrictedView(view, index) {
  const given = [...index];
  const found = view.index.map((one) => {
    if (!one.span || !given.length) return one;
    const inner = given.shift();
    return inner.span ? spanWithin(one, inner) : spanAt(one, inner);
  });
  return viewOf(view.array, [...found, ...given]);
}

/** The indices of an element of the array, by those of the element of this part. */
export const elementOfView = (view, index) =>
  restrictedView(view, index).index.map((one) => (one.span ? one.start : one));

/** The meaning of a name of arrays: one of `parts`, by the value of `which`. */
export const aliasOf = (parts, which = FIRST_PART) => ({ entity: "Alias", parts, which });
export const isAlias = (value) => value.entity === "Alias";
export const restrictedAlias = (alias, index) =>
  aliasOf(alias.parts.map((part) => restrictedView(part, index)), alias.which);

// Values: a node, an alias, or a list of values (a tuple)

/** The numbers and arrays of a value, from left to right. */
export const leavesOf = (value) => (Array.isArray(value) ? value.flatMap(leavesOf) : [value]);
export const hasArrays = (value) => leavesOf(value).some(isAlias);
/** The structure of a value: null for a number, a list for a tuple. */
export const shapeOfValue = (value) => (Array.isArray(value) ? value.map(shapeOfValue) : null);
export const sameShape = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The data of one program's parsing, for all its functions; `known` is from earlier parsing. */
export class TextUnit {
  constructor(name, known) {
    this.name = name;
    this.known = known;
    this.sources = new Map();
    this.locals = [];
    this.variables = [];
    this.taken = new Set();
    this.stack = [];
    this.parameters = [];
    this.constants = new Map();
    this.doubtful = null; // an error, unless names are known
    this.calls = this.loops = this.trips = this.depth = 0;
    this.last = new Map(); // the last number of each name
  }

  /** The arrays so far: parameters come first, then arrays as they are declared. */
  get arrays() {
    return [...this.parameters, ...this.locals.map((local) => local.name)];
  }

  isRegisters(array) {
    return this.locals.some((local) => local.name === array && local.kind === "registers");
  }

  /** `name`, or `name_2`, `name_3`, ... if it is taken. */
  unique(name) {
    let [candidate, number] = [name, this.last.get(name) ?? 1];
    if (number > 1) candidate = `${name}_${number}`;
    while (this.taken.has(candidate)) {
      number += 1;
      candidate = `${name}_${number}`;
    }
    this.last.set(name, number);
    this.taken.add(candidate);
    return candidate;
  }

  /** A variable, or an array, that `owner` calls `text`, under a unique name. */
  variable(text, owner) {
    const name = this.unique(text.replace(/\]+$/, "").replace(/[^\p{L}\p{N}_]+/gu, "_"));
    this.variables.push({ node: "Variable", name, text, function: owner });
    return { entity: "Variable", name };
  }

  /** Variables for the values of a tuple that `owner` calls `text`, or for a number. */
  several(text, owner, shape) {
    if (shape === null) return this.variable(text, owner);
    return { entity: "Tuple", items: shape.map((part, at) => this.several(`${text}[${at}]`, owner, part)) };
  }

  role(owner, name) {
    return this.known.roles.get(owner)?.get(name) ?? null;
  }

  setRole(owner, name, role) {
    if (!this.known.roles.has(owner)) this.known.roles.set(owner, new Map());
    this.known.roles.get(owner).set(name, role);
  }
}

/** What is known of a program from earlier parsing. */
export const nothingKnown = () => ({ roles: new Map(), arrays: new Map(), keys: new Map() });

/** The kind of a name without a number: arrays if `shape` is null, else tuples of that shape. */
export const roleOf = (place, shape = null, declared = false) => ({ place, shape, declared });
