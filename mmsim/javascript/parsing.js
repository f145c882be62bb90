/*
 * A function that is being parsed: the meaning of its names, its refusals, and the statements that it builds.
 *
 * The kind of a name may show only after its use: a later line may assign an array to a variable, or use a parameter as
 * an array. Then parsing begins again with this knowledge. An access inside an expression becomes a statement in front
 * of it, in Python's order of evaluation.
 */
import { chosenPart } from "./aliases.js";
import { quotedText } from "./faults.js";
import { MISSING, builtinNamed, memberCalled, memberOf } from "./objects.js";
import { MISSING_NAME, NO_ARRAY, RESTART, aliasOf, assignNode, isAlias, roleOf, varNode, viewOf } from "./scope.js";
import { assignedIn, languageError } from "./source.js";
import { TABLES } from "./table.js";
import { adviceForKind, withArticle } from "./words.js";
import { writtenNode } from "./written.js";

const INT_LEAST = -(2n ** 63n);
const INT_MOST = 2n ** 64n - 1n;
/** Bits of the largest integer that a message prints. */
const MOST_BITS_SHOWN = 256;

/** The statements of a block and of those inside. */
function* statementsInside(block) {
  for (const one of block) {
    yield one;
    for (const name of ["then", "orelse", "prelude", "body"]) if (one[name]) yield* statementsInside(one[name]);
  }
}

const writesRegistersIn = (block) => {
  for (const one of statementsInside(block)) if (one.node === "RegisterWrite") return true;
  return false;
};

/** Whether an expression reads a register array. */
function readsRegisters(value) {
  if (value.node === "RegisterRead") return true;
  return Object.values(value).some((held) => {
    if (Array.isArray(held)) return held.some((one) => one?.node && readsRegisters(one));
    return Boolean(held?.node) && held.node !== "Place" && readsRegisters(held);
  });
}

/** The program itself, or a helper at one of its calls. */
export class FunctionBase {
  /**
   * `owner` is the function itself, `bound` gives the meaning of its own names. A helper has a `scope` that it leaves
   * where it returns, and a variable for its value, called `givenName`. `looping` says whether its call is in a loop.
   */
  constructor(unit, owner, bound, scope = null, givenName = "", looping = false) {
    this.unit = unit;
    this.owner = owner;
    this.bound = bound;
    this.scope = scope;
    this.givenName = givenName;
    this.looping = looping;
    this.text = owner.text;
    this.counts = new Map();
    for (const name of assignedIn(owner.text.node.body)) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.assigned = [...this.counts.keys()];
    this.block = [];
    this.depth = this.loops = 0;
    this.declared = new Map();
    this.within = [];
    this.given = null;
    this.leaves = false;
  }

  // What `CallParser` has

  /** The value of a call. @returns {any} */
  call(node) {
    throw this.refuseKind(node);
  }

  /** The function that an object from outside is, null if it is none. @returns {any} */
  helperOf(object) {
    return null;
  }

  // Places and refusals

  place(node) {
    return this.text.place(node);
  }

  refuse(node, message, advice = "") {
    return languageError(message, this.place(node), advice);
  }

  /** Refuse the thread in the place of an array. */
  refuseNoArray(node) {
    if (!this.isThread(node)) return;
    const advice = "a program's first parameter is the thread: write def name(T, ...)";
    throw this.refuse(node, `${quotedText(writtenNode(node))} is the thread, not an array`, advice);
  }

  /** The error for a node outside of the language. */
  refuseKind(node, isStatement = false) {
    const [what, advice] = adviceForKind(node.kind, isStatement);
    return this.refuse(node, `${what} isn't in the language of programs`, advice);
  }

  // Names

  isThread(node) {
    return node.kind === "Name" && this.entity(node.id).entity === "Thread";
  }

  /** The meaning of a name here; names of this function hide those outside. */
  entity(name) {
    const own = this.bound.get(name);
    if (own !== undefined) return own;
    const found = this.owner.globals.get(name) ?? builtinNamed(name);
    return found === MISSING ? MISSING_NAME : { entity: "Captured", value: found };
  }

  /** The outside object of a name or a dotted name, else `MISSING`. */
  captured(node) {
    if (node.kind === "Name") {
      const found = this.entity(node.id);
      return found.entity === "Captured" ? found.value : MISSING;
    }
    if (node.kind === "Attribute") return memberOf(this.captured(node.value), node.attr);
    if (node.kind === "Subscript" && node.slice.kind === "Constant") {
      return memberCalled(this.captured(node.value), node.slice.value);
    }
    return MISSING;
  }

  /** The array or part that `node` names, null if it names something else. Such a use makes a parameter an array. */
  array(node) {
    if (node.kind !== "Name") return null;
    const found = this.entity(node.id);
    if (found.entity === "Parameter") this.use(found, "array", node);
    else if (found.entity === "NoArray") {
      const message = `${quotedText(node.id)} may not name one array here`;
      throw this.refuse(node, message, "assign an array to it on every path to this line");
    } else if (found.entity === "Variable") this.learn(node.id, roleOf(this.place(node)));
    return this.standsFor(found);
  }

  /** Whether an expression certainly names an array. */
  isArray(node) {
    if (node.kind !== "Name") return false;
    const found = this.entity(node.id);
    return found.entity === "Alias" || (found.entity === "Parameter" && found.use === "array");
  }

  /** Begin again with the kind of a name that this function assigns, or another one. */
  learn(name, role, owner = this.owner) {
    this.unit.setRole(owner, name, role);
    throw RESTART;
  }

  /** Begin again with a parameter as an array; `wrong` is the error if it is not one. */
  learnArray(parameter, wrong) {
    const { arrays } = this.unit.known;
    if (arrays.has(parameter)) throw arrays.get(parameter);
    arrays.set(parameter, wrong);
    throw RESTART;
  }

  /** The kind of a name that this function assigns, null for a number. */
  role(name) {
    return this.unit.role(this.owner, name);
  }

  /** Record the use of a parameter; after a different use, begin again. */
  use(parameter, use, node) {
    if (parameter.use !== "unused" && parameter.use !== use) {
      const before = parameter.usedAt ? parameter.usedAt.line : 0;
      const message = `${quotedText(parameter.name)} is used as ${withArticle(use)} here and as `
        + `${withArticle(parameter.use)} in line ${before}`;
      this.learnArray(parameter.name, this.refuse(node, message, "a parameter is either an array or a number"));
    }
    if (parameter.use === "unused") Object.assign(parameter, { use, usedAt: this.place(node) });
  }

  /** The unique name of a variable that is being assigned. */
  variable(node) {
    const found = this.bound.get(node.id) ?? MISSING_NAME;
    if (found.entity === "Variable") return found.name;
    if (found.entity === "Thread") {
      throw this.refuse(node, `${quotedText(node.id)} is the thread; it can't be assigned`);
    }
    if (["Alias", "NoArray", "Parameter"].includes(found.entity)) {
      const message = `${quotedText(node.id)} is the name of an array already`;
      throw this.refuse(node, message, "give every array and variable a name of its own");
    }
    throw new Error(`unbound ${node.id}`); // every assigned name is bound at the start
  }

  isOfArrays(name) {
    const role = this.role(name);
    return role !== null && role.shape === null;
  }

  /** What the names of this function that stand for arrays mean now. */
  arrayNames() {
    return new Map(this.assigned.filter((name) => this.isOfArrays(name)).map((name) => [name, this.bound.get(name)]));
  }

  /** The array that a name stands for, null if there is none. */
  standsFor(found) {
    if (found.entity === "Parameter") return aliasOf([viewOf(found.name)]);
    return found.entity === "Alias" ? found : null;
  }

  /** Bind every name that the function assigns, unless it is bound already. */
  bindVariables() {
    for (const name of this.assigned) {
      if (this.bound.has(name)) continue;
      const role = this.role(name);
      const meaning = this.isOfArrays(name) ? NO_ARRAY : this.unit.several(name, this.owner.name, role?.shape ?? null);
      this.bound.set(name, meaning);
    }
  }

  // Statements

  emit(statement) {
    this.block.push(statement);
  }

  /** A variable without a name in the text. */
  temporary() {
    return this.unit.unique("t");
  }

  /** `value` in a separate variable, unless nothing can change it. */
  spill(value, place) {
    if (["Const", "Number", "ThreadField", "Extent"].includes(value.node)) return value;
    const name = this.temporary();
    this.emit(assignNode(name, value, place));
    return varNode(name, place);
  }

  /** A value with its numbers in separate variables. */
  spillAll(value, place) {
    if (Array.isArray(value)) return value.map((part) => this.spillAll(part, place));
    return isAlias(value) ? value : this.spill(value, place);
  }

  /** What `make` gives, and the statements that it emits, kept apart from the current block. */
  aside(make) {
    const outer = this.block;
    const statements = (this.block = []);
    const found = make();
    this.block = outer;
    return [found, statements];
  }

  /** An expression and the statements in front of it. */
  apart(node) {
    return this.aside(() => this.expression(node));
  }

  /** Operands from left to right. Values that a later one's call could change are kept. */
  operands(...nodes) {
    let values = [];
    for (const node of nodes) values = this.followed(values, node);
    return values;
  }

  /** Operands and one more after them. */
  followed(values, node) {
    const [value, statements] = this.apart(node);
    const kept = this.kept(values, statements, node);
    this.block.push(...statements);
    return [...kept, value];
  }

  /** Values that `statements` can't change any more. */
  kept(values, statements, node) {
    if (!writesRegistersIn(statements)) return [...values];
    const place = this.place(node);
    return values.map((one) => (readsRegisters(one) ? this.spill(one, place) : one));
  }

  writesRegisters(statements) {
    return writesRegistersIn(statements);
  }

  /** A chain's value so far: after many operators in a variable, so that it stays flat. */
  link(value, position, place) {
    return position % TABLES.vocabulary.limits.longest === 0 ? this.spill(value, place) : value;
  }

  /** What `make` gives, one level further down in the program. */
  nested(node, make) {
    const { unit } = this;
    const { deepest } = TABLES.vocabulary.limits;
    unit.depth += 1;
    if (unit.depth > deepest) {
      const message = `this is nested more than ${deepest} levels deep`;
      throw this.refuse(node, message, "take it apart into several statements");
    }
    const found = make();
    unit.depth -= 1;
    return found;
  }

  /** Put an access of an array at the end: one for each view that it may be, behind tests. */
  emitFor(array, operands, make, place) {
    const kept = array.parts.length > 1 ? operands.map((one) => this.spill(one, place)) : [...operands];
    this.emit(chosenPart(array, (view) => make(view, kept), place));
  }

  /** The expression of one number. */
  expression(node) {
    const lower = this.expressionForms[node.kind];
    if (lower === undefined) throw this.refuseKind(node);
    return this.nested(node, () => this.single(lower.call(this, node), node));
  }

  /** A value that must be one number. */
  single(value, node) {
    if (Array.isArray(value)) {
      const message = `${quotedText(writtenNode(node))} is a tuple of ${value.length} values where a number must stand`;
      throw this.refuse(node, message, "assign its values to names, as in x, y = ..., or choose one by its number");
    }
    if (!isAlias(value)) return value;
    const { arrays } = this.unit.known;
    const doubtful = value.parts.find((part) => !part.index.length && arrays.has(part.array));
    if (doubtful) throw arrays.get(doubtful.array);
    const message = `the array ${quotedText(writtenNode(node))} stands where a number must`;
    throw this.refuse(node, message, "read an element of it");
  }

  statements(nodes) {
    for (const node of nodes) {
      const lower = this.statementForms[node.kind];
      if (lower === undefined) throw this.refuseKind(node, true);
      lower.call(this, node);
    }
  }

  /** A block inside a loop or a branch. */
  inner(nodes) {
    if (!nodes.length) return [];
    this.depth += 1;
    const [, block] = this.aside(() => this.nested(nodes[0], () => this.statements(nodes)));
    this.depth -= 1;
    return block;
  }

  /** The function's body. */
  body() {
    this.statements(this.text.node.body);
    return this.block;
  }

  /** A number written in the program, encoded from an object. */
  constantOf(object, encoded, node) {
    if (object.is === "int" && (object.value < INT_LEAST || object.value > INT_MOST)) {
      const bits = (object.value < 0n ? -object.value : object.value).toString(2).length;
      const shown = bits > MOST_BITS_SHOWN ? `of ${bits} bits` : object.value.toString();
      const message = `the integer ${shown} doesn't fit into 64 bits`;
      throw this.refuse(node, message, "programs compute with integers from -2^63 to 2^64 - 1");
    }
    return { node: "Const", value: encoded };
  }
}

/** What parses each kind of node; the program's parser fills them. */
FunctionBase.prototype.expressionForms = {};
FunctionBase.prototype.statementForms = {};
