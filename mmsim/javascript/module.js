/*
 * The top level of a text: imports, constants and functions. Functions under `@mm.program` are programs, the others
 * helpers that programs call. Nothing else may stand there.
 */
import { NoConstant, constantObject } from "./constants.js";
import { MMSimFault, quotedText } from "./faults.js";
import { encodedObject, isBuiltin, moduleNamed } from "./objects.js";
import { codeOfProgram, returnsValue } from "./program.js";
import { FunctionText, languageError, placeIn } from "./source.js";
import { NotPython, linesOfText } from "./tokens.js";
import { treeOf } from "./tree.js";
import { writtenNode } from "./written.js";

const TOP = "<module>";
const KNOWN_MODULES = "import mmsim, math or numpy, and write helpers and constants into this text";

/**
 * The programs of a text: `{programs: {name: Code}, helpers: [names], lines}`. `file` is the name that places give.
 *
 * Throws an `MMSimFault`: a "SyntaxError" for a text that isn't Python, a "LanguageError" for one that isn't in the
 * language of programs.
 */
export function programsOf(text, file = "program.py") {
  const lines = linesOfText(text);
  let tree;
  try {
    tree = treeOf(lines);
  } catch (error) {
    if (!(error instanceof NotPython)) throw error;
    const { message, row, column, end } = error;
    throw new MMSimFault("SyntaxError", message, { place: placeIn(TOP, file, lines, row, column, end) });
  }
  const top = new TopLevel(lines, file, tree);
  try {
    top.run(tree.body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw top.refuse({ row: 1, column: 0, endRow: 1, endColumn: 0 }, "the text is nested too deeply");
  }
  return { programs: top.programs, helpers: top.helpers, lines };
}

class TopLevel {
  constructor(lines, file, tree) {
    this.lines = lines;
    this.file = file;
    this.tokens = tree.tokens;
    this.programs = {};
    this.helpers = [];
    /** @type {[string, any][]} */
    const own = [["__name__", { is: "str", value: TOP }], ["__builtins__", { is: "other", type: "dict" }]];
    this.globals = new Map(own);
  }

  refuse(node, message, advice = "") {
    const end = node.endRow === node.row ? node.endColumn : (this.lines[node.row - 1] ?? "").trimEnd().length;
    return languageError(message, placeIn(TOP, this.file, this.lines, node.row, node.column, end), advice);
  }

  run(body) {
    for (const node of body) {
      const form = this[node.kind];
      if (!form) throw this.refuseStatement(node);
      form.call(this, node, this.globals);
    }
  }

  refuseStatement(node) {
    const names = { If: "if", For: "for", While: "while", With: "with", Try: "try", Delete: "del" };
    const what = names[node.kind] ?? `Python's ${quotedText(node.kind)}`;
    const message = `${what} isn't read at the top level of this text`;
    return this.refuse(node, message, "leave imports, constants and functions there alone");
  }

  /** The object of a constant expression. */
  constant(node, scope = this.globals) {
    const find = (name) => scope.get(name) ?? this.globals.get(name);
    try {
      return constantObject(node, find);
    } catch (error) {
      if (!(error instanceof NoConstant)) throw error;
      throw this.refuse(error.node.row ? error.node : node, error.message, error.advice);
    }
  }

  Pass() {}

  /** `if __name__ == "__main__":` is for Python alone, as in a module that is imported. */
  If(node) {
    if (writtenNode(node.test) !== "__name__ == '__main__'" || node.orelse.length) throw this.refuseStatement(node);
  }

  Expr(node) {
    const { value } = node;
    if (value.kind === "Constant" && value.value.is === "str") return; // a docstring
    const advice = "leave imports, constants and functions there alone; the page runs the program";
    throw this.refuse(node, "this statement isn't read at the top level of this text", advice);
  }

  Import(node, scope) {
    for (const { name, asname } of node.names) {
      const module = moduleNamed(name);
      if (module === null) throw this.refuse(node, `the module ${quotedText(name)} isn't known here`, KNOWN_MODULES);
      if (asname) scope.set(asname, module);
      else scope.set(name.split(".")[0], moduleNamed(name.split(".")[0]) ?? module);
    }
  }

  ImportFrom(node, scope) {
    const { module: name, level, names } = node;
    const module = level || name === null ? null : moduleNamed(name);
    if (module === null) {
      const text = quotedText(".".repeat(level) + (name ?? ""));
      throw this.refuse(node, `the module ${text} isn't known here`, KNOWN_MODULES);
    }
    for (const { name: own, asname } of names) {
      if (own === "*") throw this.refuse(node, "import * isn't read here", "import the names that the text uses");
      if (name === "__future__") continue;
      const found = module.members === null ? { is: "other", type: "object", name: own } : module.members.get(own);
      if (found === undefined) throw this.refuse(node, `${quotedText(name)} has no ${quotedText(own)}`, KNOWN_MODULES);
      scope.set(asname ?? own, found);
    }
  }

  Assign(node, scope) {
    const object = this.constant(node.value, scope);
    for (const target of node.targets) this.assign(target, object, scope);
  }

  AnnAssign(node, scope) {
    if (node.value !== null) this.assign(node.target, this.constant(node.value, scope), scope);
  }

  assign(target, object, scope) {
    if (target.kind === "Name") scope.set(target.id, object);
    else if (target.kind === "Tuple" && object.items?.length === target.elts.length && !object.shape) {
      target.elts.forEach((one, at) => this.assign(one, object.items[at], scope));
    } else throw this.refuse(target, `${quotedText(writtenNode(target))} can't be assigned here`, "assign names");
  }

  FunctionDef(node, scope) {
    const text = new FunctionText(node, this.file, this.lines, this.tokens);
    const defaults = node.args.defaults.map((one) => this.constant(one, scope));
    let found = { is: "function", name: node.name, text, globals: this.globals, defaults };
    for (const decorator of [...node.decorators].reverse()) found = this.decorated(found, decorator, scope);
    scope.set(node.name, found);
  }

  AsyncFunctionDef(node, scope) {
    this.FunctionDef(node, scope);
  }

  /** What a decorator makes of a function. */
  decorated(object, decorator, scope) {
    const isExample = decorator.kind === "Attribute" && decorator.attr === "example";
    if (isExample && this.constant(decorator.value, scope).is === "program") return object;
    const known = this.constant(decorator, scope);
    if (isBuiltin(known, "staticmethod")) return object;
    if (known.is === "word" && known.module === "mmsim" && known.name === "program") return this.program(object);
    const message = `${quotedText(writtenNode(decorator))} is no decorator of programs`;
    throw this.refuse(decorator, message, "put mm.program alone");
  }

  /** The program, or the helper, that a function is under `mm.program`. */
  program(owner) {
    if (owner.is === "program") return owner;
    owner.text.requireFunction();
    if (returnsValue(owner) === null) this.programs[owner.name] = codeOfProgram(owner);
    else this.helpers.push(owner.name);
    return { is: "program", function: owner };
  }

  /** A class that holds constants, or an enumeration. */
  ClassDef(node, scope) {
    const bases = node.bases.map((one) => this.constant(one, scope));
    const isEnum = bases.length === 1 && bases[0].module === "enum";
    if ((bases.length && !isEnum) || node.keywords.length || node.decorators.length) {
      throw this.refuse(node, "this class isn't read here", "write a class of constants, without bases");
    }
    const members = new Map();
    const kinds = ["Pass", "Expr", "Assign", "AnnAssign", "FunctionDef"];
    for (const inner of node.body) {
      if (!kinds.includes(inner.kind)) throw this.refuseStatement(inner);
      this[inner.kind](inner, members);
    }
    const found = { is: isEnum ? "enum" : "class", name: node.name, members };
    if (isEnum) {
      for (const [name, value] of members) {
        const isNumber = bases[0].name === "IntEnum" && encodedObject(value) !== null;
        members.set(name, { is: "member", owner: found, name, value, isNumber });
      }
    }
    scope.set(node.name, found);
  }
}
