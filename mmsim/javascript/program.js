/* From a function to its representation. */
import { CallParser } from "./calls.js";
import { MMSimFault, quotedText } from "./faults.js";
import { isBuiltin } from "./objects.js";
import { RESTART, THREAD_NAME, TextUnit, assignNode, nothingKnown } from "./scope.js";
import { defaultNumbers, isNoneNode, languageError, rootOf } from "./source.js";
import { childNodes } from "./tree.js";

const ACCESS_KINDS = new Set(["Load", "Store", "VectorLoad", "VectorStore", "Atomic"]);

/** Parses the program itself, or a helper at one of its calls. */
class ProgramParser extends CallParser {
  nothing() {}

  /** An expression on a separate line: a call, or an element that is read and dropped. */
  alone(node) {
    const { value } = node;
    if (value.kind === "Constant" && value.value.is === "str") return; // a docstring
    if (value.kind === "Call" && this.calledAlone(value)) return;
    if (value.kind === "Subscript" && this.isVector(value)) {
      this.readVector(value);
      return;
    }
    if (value.kind === "Subscript" && this.array(rootOf(value)) !== null) {
      const [array, index] = this.element(value);
      if (!array.parts.some((part) => this.unit.isRegisters(part.array))) {
        this.touch(array, index, this.place(value));
        return;
      }
    }
    this.apart(value); // refuses everything outside of the language
    const advice = "statements assign, read an element of an array, branch, loop, call or wait";
    throw this.refuse(node, "this statement does nothing", advice);
  }

  /** Whether a call is a statement: a word's, or a helper's, whose value is dropped. */
  calledAlone(call) {
    const word = this.calledWord(call.func);
    if (word?.word === "Effect") this.effect(word, call, null);
    else if (word?.word === "Atomic") this.atomic(call, word, null);
    else {
      const captured = this.captured(call.func);
      if (word !== null || ["min", "max", "divmod", "len"].some((name) => isBuiltin(captured, name))) return false;
      this.inline(call, this.callee(call));
    }
    return true;
  }
}

Object.assign(ProgramParser.prototype, {
  expressionForms: {
    Constant: ProgramParser.prototype.literal, Name: ProgramParser.prototype.name,
    Attribute: ProgramParser.prototype.attribute, UnaryOp: ProgramParser.prototype.unary,
    BinOp: ProgramParser.prototype.binary, BoolOp: ProgramParser.prototype.boolOp,
    Compare: ProgramParser.prototype.comparison, IfExp: ProgramParser.prototype.choice,
    Subscript: ProgramParser.prototype.subscript, Call: ProgramParser.prototype.call,
  },
  statementForms: {
    Assign: ProgramParser.prototype.assignment, AnnAssign: ProgramParser.prototype.annotated,
    AugAssign: ProgramParser.prototype.augmented, If: ProgramParser.prototype.branch,
    While: ProgramParser.prototype.whileLoop, For: ProgramParser.prototype.forLoop,
    Break: ProgramParser.prototype.jump, Continue: ProgramParser.prototype.jump,
    Pass: ProgramParser.prototype.nothing, Return: ProgramParser.prototype.returned,
    Expr: ProgramParser.prototype.alone,
  },
});

/** The place where a function returns a value, null if it returns none: then it is no helper. */
export function returnsValue(owner) {
  const { node } = owner.text;
  const pending = [...node.body];
  while (pending.length) {
    const one = pending.pop();
    if (one.kind === "Return" && !isNoneNode(one.value)) return owner.text.place(one);
    const isStatement = ["If", "For", "While", "With", "Try", "TryStar", "Match", "AsyncFor", "AsyncWith"];
    const isPart = ["ExceptHandler", "match_case", "withitem"];
    if (isStatement.includes(one.kind) || isPart.includes(one.kind)) pending.push(...childNodes(one));
  }
  return null;
}

/** The representation of a program, or a LanguageError at the first fault. */
export function codeOfProgram(owner) {
  try {
    return parsedProgram(owner);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { text } = owner;
    const { first, lines } = text.source;
    const place = text.place({ row: first, column: 0, endRow: first, endColumn: lines[0].length });
    const message = `an expression or a block of ${quotedText(owner.name)} is nested too deeply`;
    throw languageError(message, place, "take it apart into several statements");
  }
}

function parsedProgram(owner) {
  const { text, name } = owner;
  const { parameters } = text;
  if (!parameters.length) {
    const advice = `its first parameter is the thread: def ${name}(T, ...)`;
    throw languageError(`the program ${quotedText(name)} has no parameter`, text.place(text.node), advice);
  }
  const defaults = defaultNumbers(owner);
  const known = nothingKnown();
  for (;;) {
    const unit = new TextUnit(name, known);
    unit.sources.set(text.key, text.source);
    unit.stack.push(owner);
    try {
      return parsedOnce(new ProgramParser(unit, owner, new Map([[parameters[0], THREAD_NAME]])), defaults);
    } catch (error) {
      if (error !== RESTART) throw error; // else the kind of one more name or parameter is known; so this ends
    }
  }
}

function parsedOnce(parser, defaults) {
  const { unit, text } = parser;
  const uses = text.node.args.args
    .filter((node) => !parser.bound.has(node.arg))
    .map((node) => parameterOf(node, parser, defaults.get(node.arg) ?? null));
  parser.bindVariables();
  let body;
  try {
    body = parser.body();
  } catch (error) {
    if (error instanceof MMSimFault) throw unit.doubtful ?? error;
    throw error;
  }
  if (unit.doubtful !== null) throw unit.doubtful;
  return {
    node: "Code",
    name: unit.name,
    parameters: uses.map(({ name, use, default: value, place }) =>
      ({ node: "Parameter", name, use, default: value, place, type: null, shape: null })),
    locals: unit.locals,
    variables: unit.variables,
    body: withNumbers(body),
    sources: [...unit.sources.values()],
    arithmetic: "python",
  };
}

/** A parameter of the program, bound to the initial meaning of its name. */
function parameterOf(node, parser, value) {
  const { unit } = parser;
  const name = node.arg;
  unit.taken.add(name);
  unit.parameters.push(name);
  const place = parser.text.place(node);
  const parameter = { entity: "Parameter", name, place, default: value, use: "unused", usedAt: null };
  if (unit.known.arrays.has(name)) Object.assign(parameter, { use: "array", usedAt: place });
  const role = parser.role(name);
  if (parser.assigned.includes(name) && role === null) {
    Object.assign(parameter, { use: "number", usedAt: place });
    const variable = unit.variable(name, unit.name);
    parser.bound.set(name, variable);
    // the program assigns it: a variable of each thread
    parser.emit(assignNode(variable.name, { node: "Number", name }, place));
  } else if (role === null || role.shape === null) {
    parser.bound.set(name, parameter);
    // its name holds arrays, from the beginning
    if (role !== null) Object.assign(parameter, { use: "array", usedAt: role.place });
  }
  return parameter;
}

/** A program with numbered statements, and separately numbered accesses. */
function withNumbers(body) {
  let [numbers, sites] = [0, 0];
  const block = (statements) => statements.map((statement) => {
    const one = { ...statement, number: numbers };
    numbers += 1;
    for (const name of ["prelude", "then", "orelse"]) if (one[name]) one[name] = block(one[name]);
    if (one.body) one.body = block(one.body);
    if (ACCESS_KINDS.has(one.node)) {
      one.site = sites;
      sites += 1;
    }
    return one;
  });
  return block(body);
}
