/*
 * Calls: of words such as atomics, of Python's own functions, and of helpers, with their returns.
 *
 * A helper is parsed at each of its calls. A return of a program ends the thread; that of a helper ends one of its
 * calls.
 */
import { aliasExtent } from "./aliases.js";
import { quotedText } from "./faults.js";
import { LoopParser, leaveNode } from "./loops.js";
import { MISSING, floatObject, isBuiltin } from "./objects.js";
import { RETURNED, binaryNode, callNode, constNode, elementOfView, hasArrays, isAlias, leavesOf } from "./scope.js";
import { roleOf, sameShape, shapeOfValue, statementNode, varNode } from "./scope.js";
import { defaultNumbers, defaultsOf, isNoneNode, languageError, rootOf } from "./source.js";
import { TABLES } from "./table.js";
import { argumentsOf, atomicNode, functionOfPython, noValue, remedyFor, wordFor } from "./words.js";
import { writtenNode } from "./written.js";

const ARGUMENT_COUNTS = ["no number", "one number", "two numbers", "three numbers"];

/** The value of a call, at the place of the call. */
function placedAt(value, place) {
  if (Array.isArray(value)) return value.map((part) => placedAt(part, place));
  return value.node === "Var" ? varNode(value.name, place) : value;
}

/** A float in Python's notation, NaN with `isFloat` false for none. */
function floatIn(text) {
  const trimmed = text.trim();
  const named = /^([+-]?)(inf|infinity|nan)$/i.exec(trimmed);
  if (named) {
    const size = /^nan$/i.test(named[2]) ? NaN : Infinity;
    return named[1] === "-" ? -size : size;
  }
  const isNumber = /^[+-]?(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?$/.test(trimmed);
  return isNumber ? Number(trimmed.replaceAll("_", "")) : null;
}

/** The calls of one function, and its own returns. */
export class CallParser extends LoopParser {
  /** The word for a called expression, of a program or of Python. */
  calledWord(node) {
    return wordFor(node, this) ?? functionOfPython(this.captured(node));
  }

  /** The value of a call. */
  call(node) {
    const called = node.func;
    const place = this.place(node);
    const word = this.calledWord(called);
    if (word?.word === "Effect") {
      if (!word.hasValue) throw noValue(word, called, this);
      const result = varNode(this.temporary(), place);
      this.effect(word, node, result.name);
      return result;
    }
    if (word?.word === "Intrinsic") return this.intrinsic(word, node);
    if (word?.word === "Atomic") {
      const target = this.temporary();
      this.atomic(node, word, target);
      return varNode(target, place);
    }
    if (word?.word === "Maker") {
      const advice = `write name = ${word.called}(...) at the top level of the function`;
      throw this.refuse(node, `${word.called} stands inside an expression`, remedyFor(called, this) || advice);
    }
    if (word?.word === "Vectors") {
      throw this.refuse(node, "the vectors of an array have an index", `write ${writtenNode(node)}[i]`);
    }
    if (word !== null) {
      throw this.refuse(node, `${quotedText(writtenNode(called))} is a number`, "write it without ()");
    }
    const captured = this.captured(called);
    if (isBuiltin(captured, "min") || isBuiltin(captured, "max")) return this.leastOrMost(node, captured.name);
    if (isBuiltin(captured, "divmod")) return this.divmodOf(node);
    if (isBuiltin(captured, "len")) return this.lengthOf(node);
    if (called.kind === "Attribute" && called.attr === "conjugate" && captured === MISSING) {
      return this.conjugate(node, called); // the method of a number
    }
    const returned = this.inline(node, this.callee(node));
    if (returned === null) throw this.refuse(node, `${quotedText(writtenNode(called))} returns nothing`);
    return returned;
  }

  /** The statement of a word, after its operands. */
  effect(word, node, target) {
    const name = word.noun || writtenNode(node.func);
    const place = this.place(node);
    const given = argumentsOf(node, name, word.parameters, this);
    this.emit(word.emit(target, this.operands(...given), place));
  }

  /** The statement for an atomic. */
  atomic(node, word, target) {
    const called = writtenNode(node.func);
    const place = this.place(node);
    const count = word.parameters.length;
    if (node.args.length !== count || node.keywords.length) {
      const advice = `write ${called}(${word.parameters.join(", ")})`;
      throw this.refuse(node, `${called} takes ${count} arguments`, advice);
    }
    const why = "which no other thread sees";
    const array = this.inMemory(node.args[0], called, why, "change it by an assignment");
    let operands = this.atomicIndex(node.args[1]);
    for (const one of node.args.slice(2)) operands = this.followed(operands, one);
    const make = (part, given) => {
      const at = given.slice(0, -1);
      const compare = word.op === "cas" ? at.pop() : null;
      const index = elementOfView(part, at);
      return atomicNode({ target, op: word.op, array: part.array, index, compare, value: given.at(-1), place });
    };
    this.emitFor(array, operands, make, place);
  }

  /** The numbers of an atomic's index; for a tuple, those in it. */
  atomicIndex(node) {
    if (node.kind === "Tuple" && node.elts.length) return this.operands(...node.elts);
    if (node.kind === "Name" && this.entity(node.id).entity === "Tuple") {
      throw this.refuse(node, `${quotedText(node.id)} is a tuple`, "write its numbers, as in (i, j)");
    }
    return this.operands(node);
  }

  /** The value of a function without an effect. */
  intrinsic(word, node) {
    if (!word.arities.includes(node.args.length) || node.keywords.length) {
      const takes = word.arities.map((arity) => ARGUMENT_COUNTS[arity]).join(" or ");
      throw this.refuse(node, `${writtenNode(node.func)} takes ${takes} here`);
    }
    const ofText = this.floatOfText(node);
    if (ofText !== null) return ofText;
    return word.value(this.operands(...node.args), this.place(node));
  }

  /** min(...) and max(...). */
  leastOrMost(node, op) {
    if (node.args.length < 2 || node.keywords.length) {
      throw this.refuse(node, `${op} takes two or more numbers here`);
    }
    const place = this.place(node);
    let [first, ...rest] = this.operands(...node.args);
    rest.forEach((other, at) => {
      first = this.link(binaryNode(op, first, other, place), at + 1, place);
    });
    return first;
  }

  /** z.conjugate(). */
  conjugate(node, called) {
    if (node.args.length || node.keywords.length) {
      throw this.refuse(node, `${writtenNode(called)} takes no number here`);
    }
    const number = this.expression(called.value);
    return callNode("conjugate", [number], this.place(node));
  }

  /** divmod(x, y). */
  divmodOf(node) {
    if (node.args.length !== 2 || node.keywords.length) throw this.refuse(node, "divmod takes two numbers");
    const place = this.place(node);
    const operands = this.operands(...node.args);
    const [left, right] = operands.map((one) => this.spill(one, place));
    return [binaryNode("//", left, right, place), binaryNode("%", left, right, place)];
  }

  /** float('inf') and other floats in the form of a text; null for any other call. */
  floatOfText(call) {
    const [node] = call.args;
    if (node?.kind !== "Constant" || node.value.is !== "str") return null;
    if (!isBuiltin(this.captured(call.func), "float")) return null;
    const value = floatIn(node.value.value);
    if (value === null) {
      const message = `${quotedText(node.value.value)} is not a float`;
      throw this.refuse(node, message, "write float('inf') or float('nan')");
    }
    const { is } = floatObject(value);
    const shown = Number.isFinite(value) ? value : Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    return constNode({ [is]: shown });
  }

  /** len(a) of an array, a tuple or a table. */
  lengthOf(node) {
    if (node.args.length === 1 && !node.keywords.length) {
      const [owner] = node.args;
      let array = this.array(owner);
      if (array === null && owner.kind === "Subscript" && this.array(rootOf(owner))) {
        array = this.alias(owner, roleOf(this.place(owner)));
      }
      if (array !== null) return aliasExtent(array, 0, null, this.place(node));
      if (this.givesTuple(owner) || owner.kind === "Attribute") {
        const value = this.value(owner);
        if (Array.isArray(value)) return constNode(value.length);
      }
      this.refuseNoArray(owner);
    }
    throw this.refuse(node, "len takes an array, a tuple or a table");
  }

  /** The function that a call inlines, null for none. */
  helperOf(called) {
    if (called.is === "program") return called.function;
    return called.is === "function" ? called : null;
  }

  /** The helper of a call; every other call is refused. */
  callee(node) {
    const target = this.captured(node.func);
    const helper = this.helperOf(target);
    if (helper !== null) return helper;
    const text = quotedText(writtenNode(node.func));
    let advice = remedyFor(node.func, this);
    const known = TABLES.vocabulary.advice;
    if (target.is === "builtin" && Object.hasOwn(known, target.module)) {
      throw this.refuse(node.func, `${text} isn't in the language of programs`, known[target.module]);
    }
    if (target === MISSING) {
      advice ||= "define the function above the program";
      if (node.func.kind === "Name" && this.bound.has(node.func.id)) {
        advice = `${text} is a name of this function; give that another name`;
      }
      throw this.refuse(node.func, `${text} is not a function here`, advice);
    }
    const others = "call min, max, abs, divmod, len, int, float, complex, bool or a function of the language";
    throw this.refuse(node.func, `the call of ${text} isn't in the language of programs`, advice || others);
  }

  /** Inline a call; return its value, null if it has none. */
  inline(node, helper) {
    const { unit } = this;
    this.checkCall(node, helper);
    const { text, name } = helper;
    text.requireFunction();
    const given = this.helperArguments(node, helper);
    const scope = unit.unique(name);
    const value = unit.unique(`${name}_value`);
    const looping = this.looping || this.loops > 0;
    /** @type {any} */
    const Parser = this.constructor;
    const inner = new Parser(unit, helper, new Map(), scope, value, looping);
    for (const [parameter, argument] of given) inner.bound.set(parameter, this.argument(parameter, argument, inner));
    inner.bindVariables();
    unit.sources.set(text.key, text.source);
    unit.stack.push(helper);
    const body = inner.body();
    unit.stack.pop();
    if (looping) this.emit(inner.forget(given));
    if (inner.leaves) this.emit(statementNode("Scope", { name: scope, body }));
    else this.block.push(...body);
    return inner.given === null ? null : placedAt(inner.given, this.place(node));
  }

  /** Parameter names, with the arguments of the call: nodes, or objects as `{captured}`. */
  helperArguments(node, helper) {
    const { parameters } = helper.text;
    const name = quotedText(helper.name);
    const [most, count] = [parameters.length, node.args.length];
    if (count > most) throw this.refuse(node, `${name} takes ${most} arguments, not ${count}`);
    const given = new Map(node.args.map((one, at) => [parameters[at], one]));
    for (const { arg, value } of node.keywords) {
      if (arg === null) {
        throw this.refuse(value, "** isn't in the language", "write the arguments one by one");
      }
      if (!parameters.includes(arg) || given.has(arg)) {
        throw this.refuse(node, `${name} can't take ${quotedText(arg)} here`);
      }
      given.set(arg, value);
    }
    for (const [parameter, object] of defaultsOf(helper, parameters)) {
      if (!given.has(parameter)) given.set(parameter, { captured: object });
    }
    const missing = parameters.find((one) => !given.has(one));
    if (missing !== undefined) throw this.refuse(node, `the call of ${name} lacks ${quotedText(missing)}`);
    return given;
  }

  /** The start of a call in a loop: none of its names keep their old values. */
  forget(given) {
    const own = this.assigned.filter((name) => !given.has(name)).map((name) => this.bound.get(name));
    const names = own.filter((one) => one.entity === "Variable" || one.entity === "Tuple");
    const values = [...names.map((one) => this.variablesOf(one, this.text.node)), this.given ?? []];
    const variables = leavesOf(values).filter((leaf) => leaf.node === "Var").map((leaf) => leaf.name);
    const registers = [...this.declared.values()].filter((one) => one.kind === "registers").map((one) => one.name);
    return statementNode("Forget", { names: variables, registers });
  }

  /** Refuse recursion, and more calls than a program may have. */
  checkCall(node, helper) {
    if (this.unit.stack.includes(helper)) {
      throw this.refuse(node, `${quotedText(helper.name)} calls itself`, "write a loop instead of recursion");
    }
    const most = TABLES.vocabulary.limits.calls;
    this.unit.calls += 1;
    if (this.unit.calls > most) {
      const advice = "a call stands for the function's body; call fewer functions from functions";
      throw this.refuse(node, `the program grows to more than ${most} calls`, advice);
    }
  }

  /** The meaning of the parameter `name` of an inlined function. */
  argument(name, given, own) {
    const isAssigned = own.assigned.includes(name);
    if (given.captured !== undefined) { // a default
      if (!isAssigned) return { entity: "Captured", value: given.captured };
      const value = constNode(defaultNumbers(own.owner).get(name));
      return this.valueArgument(name, value, own, own.place(own.text.node));
    }
    const role = own.role(name);
    if (role !== null && role.shape === null) return this.alias(given, role);
    if (given.kind === "Name") {
      const found = this.entity(given.id);
      if (!isAssigned && !["Variable", "Tuple", "Missing"].includes(found.entity)) return found;
      if (found.entity === "Thread") {
        const message = `${quotedText(own.owner.name)} assigns its parameter ${quotedText(name)}`;
        throw own.refuse(own.text.node, message);
      }
    }
    const [value, place] = [this.value(given), this.place(given)];
    if (!Array.isArray(value) && isAlias(value)) {
      if (isAssigned) own.learn(name, roleOf(place));
      return value;
    }
    return this.valueArgument(name, value, own, place);
  }

  /** A number or a tuple that an inlined function gets. */
  valueArgument(name, given, own, place) {
    let value = given;
    const [shape, role] = [shapeOfValue(value), own.role(name)];
    const isAssigned = own.assigned.includes(name);
    if (Array.isArray(value)) {
      if (hasArrays(value)) {
        throw languageError("a tuple of arrays is handed to a function", place, "hand the arrays one by one");
      }
      if (isAssigned && role === null) own.learn(name, roleOf(place, shape));
      if (role !== null && !sameShape(role.shape, shape)) {
        const message = `${quotedText(name)} of ${quotedText(own.owner.name)} is given tuples of several sizes`;
        throw languageError(message, place, "write a function for each size");
      }
    }
    const meaning = this.unit.several(name, own.owner.name, shape);
    if (meaning.entity === "Tuple") value = this.spillAll(value, place);
    else if (!isAssigned) {
      const known = this.launchConstant(value);
      if (known !== null) this.unit.constants.set(meaning.name, known);
    }
    this.setAll(this.variablesOf(meaning, own.text.node), value, place);
    return meaning;
  }

  /** Return, with a value or without one; in the program this ends the thread. */
  returned(node) {
    const place = this.place(node);
    if (this.scope === null) {
      this.emit(statementNode("Return", { place, message: null, value: null }));
      return;
    }
    const isLast = this.depth === 0 && node === this.text.node.body.at(-1);
    if (!isNoneNode(node.value)) {
      const role = this.role(RETURNED);
      this.give(role === null ? this.value(node.value) : this.alias(node.value, role), node, isLast);
    }
    if (isLast) return; // the end of the function anyway
    this.leaves = true;
    this.emit(leaveNode(this.scope, place));
  }

  /** Keep the value that a function returns. */
  give(given, node, isLast) {
    let value = given;
    const place = this.place(node);
    if (hasArrays(value)) {
      if (!isLast || this.given !== null) {
        const advice = "return arrays in the function's last line alone";
        throw this.refuse(node, "an array is returned from more than one place", advice);
      }
      this.given = this.spillAll(value, place);
      return;
    }
    const [numbers, shape, own] = [leavesOf(value), shapeOfValue(value), this.owner.name];
    if (this.given === null) {
      if (isLast && numbers.every((one) => one.node === "Number")) {
        this.given = value; // parameters, which may turn out to be arrays
        return;
      }
      this.given = varNode(this.givenName, place);
      if (shape !== null) this.given = this.variablesOf(this.unit.several(this.givenName, own, shape), node);
    }
    if (!sameShape(shapeOfValue(this.given), shape)) {
      const message = `${quotedText(own)} returns something of another size elsewhere`;
      throw this.refuse(node, message, "return a number everywhere, or a tuple of one size");
    }
    if (numbers.length > 1) value = this.spillAll(value, place);
    this.setAll(this.given, value, place);
  }
}
