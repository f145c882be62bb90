/* A function's text: its lines, the places of its nodes, and facts of the text. */
import { MMSimFault, quotedText } from "./faults.js";
import { encodedObject } from "./objects.js";
import { walkTree } from "./tree.js";

/** The error for text that isn't in the language: the fault, where it is, and what to write instead. */
export function languageError(message, place, advice = "") {
  const error = new MMSimFault("LanguageError", message, { place, advice });
  return Object.assign(error, { advice });
}

/** How many characters, as Python counts them, stand before a column. */
function charactersBefore(line, column) {
  const before = line.slice(0, column);
  return /[\ud800-\udfff]/.test(before) ? [...before].length : before.length;
}

/** A place in the lines of a file. */
export function placeIn(owner, file, lines, row, column, endColumn) {
  const text = lines[row - 1] ?? "";
  const [start, end] = [charactersBefore(text, column), charactersBefore(text, endColumn)];
  return { node: "Place", function: owner, file, line: row, column: start, end_column: end, text };
}

/** The text of one function of a file; `node` is its definition. */
export class FunctionText {
  constructor(node, file, lines, tokens) {
    this.node = node;
    this.file = file;
    this.name = node.name;
    this.fileLines = lines;
    const first = node.decorators.length ? node.decorators[0].row : node.row;
    this.source = { node: "Source", function: node.name, file, first, lines: blockFrom(lines, tokens, first) };
  }

  /** The place of a node of this function; of several lines, that of the first one. */
  place(node) {
    if (node.placed === undefined) {
      const { row, column } = node;
      const line = this.fileLines[row - 1];
      const end = node.endRow === row ? node.endColumn : line.trimEnd().length;
      node.placed = placeIn(this.name, this.file, this.fileLines, row, column, end);
    }
    return node.placed;
  }

  /** Refuse what is no plain function. */
  requireFunction() {
    if (this.node.kind === "FunctionDef") return;
    const { first, lines } = this.source;
    const place = this.place({ row: first, column: 0, endRow: first, endColumn: lines[0].length });
    const message = `${quotedText(this.name)} is no plain function`;
    throw languageError(message, place, "write a program as a function with def");
  }

  /** The names of the parameters; kinds that the language lacks are refused. */
  get parameters() {
    const { posonly, kwonly, vararg, kwarg, args } = this.node.args;
    const [odd] = [...posonly, ...kwonly, vararg, kwarg].filter(Boolean);
    if (odd) {
      const message = `the parameter '${odd.arg}' is of a kind that isn't in the language`;
      throw languageError(message, this.place(odd), "write plain parameters");
    }
    return args.map((one) => one.arg);
  }

  get key() {
    return `${this.file}:${this.source.first}:${this.name}`;
  }
}

/** The lines of the definition that begins in a row, as Python's `inspect.getblock` finds them. */
function blockFrom(lines, tokens, first) {
  let [indent, isStarted, passes, inDecorator, hasArguments, last, body] = [0, false, false, false, false, first, null];
  for (const { type, text, row, column, endColumn } of tokens) {
    if (row < first) continue;
    if (!isStarted && !inDecorator) {
      if (text === "@") inDecorator = true;
      else if (text === "def" || text === "class") isStarted = true;
      passes = true;
    } else if (text === "(") hasArguments ||= inDecorator;
    else if (text === ")") {
      if (inDecorator) inDecorator = hasArguments = false;
    } else if (type === "NEWLINE") {
      passes = false;
      last = row;
      if (inDecorator && !hasArguments) inDecorator = false;
    } else if (passes) continue;
    else if (type === "INDENT") {
      if (body === null && isStarted) body = endColumn;
      indent += 1;
      passes = true;
    } else if (type === "DEDENT") {
      indent -= 1;
      if (indent <= 0) break;
    } else if (type === "COMMENT") {
      if (body !== null && column >= body) last = row;
    } else if (indent === 0 && type !== "NL") break;
  }
  return lines.slice(first - 1, last);
}

/** The names that statements assign, one for each time. */
export function assignedIn(body) {
  const isStored = (node) => node.kind === "Name" && node.context === "Store";
  return body.flatMap((statement) => walkTree(statement).filter(isStored).map((node) => node.id));
}

/** The x of x[i][j]. */
export function rootOf(node) {
  let owner = node;
  while (owner.kind === "Subscript") owner = owner.value;
  return owner;
}

/** The indices of x[i], x[i, j] or x[i][j]. */
export function indicesOf(node) {
  let found = [];
  for (let owner = node; owner.kind === "Subscript"; owner = owner.value) {
    found = [...(owner.slice.kind === "Tuple" ? owner.slice.elts : [owner.slice]), ...found];
  }
  return found;
}

/** A literal integer, null for none, "varying" for anything else. */
export function constantIndex(node) {
  if (node === null) return null;
  if (node.kind === "Constant" && node.value.is === "int") return node.value.value;
  const isNegative = node.kind === "UnaryOp" && node.op === "USub" && node.operand.kind === "Constant";
  return isNegative && node.operand.value.is === "int" ? -node.operand.value.value : "varying";
}

/** Whether there is no expression, or the literal None. */
export const isNoneNode = (node) => node === null || (node.kind === "Constant" && node.value.is === "none");

/** The jumps that leave a loop, or its trip, in the loop's body. */
export function jumpsOf(body) {
  return body.flatMap((statement) => {
    if (statement.kind === "Break" || statement.kind === "Continue") return [statement];
    return statement.kind === "If" ? jumpsOf([...statement.body, ...statement.orelse]) : [];
  });
}

/** The default values of the last parameters of a function, by their names. */
export function defaultsOf(owner, parameters) {
  const { defaults } = owner;
  return new Map(defaults.map((value, at) => [parameters[parameters.length - defaults.length + at], value]));
}

/** Default values of parameters as encoded numbers; only numbers are accepted. */
export function defaultNumbers(owner) {
  const found = [...defaultsOf(owner, owner.text.parameters)];
  const nodes = owner.text.node.args.defaults;
  return new Map(found.map(([name, value], at) => {
    const number = encodedObject(value);
    if (number === null) {
      const place = owner.text.place(nodes[at]);
      throw languageError(`the default of '${name}' is not a number`, place, "give numbers as defaults");
    }
    return [name, number];
  }));
}
